"""The types of Spark, each with the values at its edges."""

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

LENGTH: Final = 6
"""How many values a type has, nulls at their end among them."""


@attrs.frozen
class ValuesOfType:
    """A type, and expressions of SQL for some of its values.

    Args:
        name: In SQL.
        values: Values that differ, but for those in ``equal``.
        equal: For a value that is equal to another one, though it looks different, the place of
            that one.
        summable: Whether all of them add up without an overflow.
    """

    name: str
    values: Sequence[str]
    equal: Mapping[int, int] = attrs.field(factory=dict)
    summable: bool = True

    @property
    def array(self) -> str:
        """An array of all values, nulls at its end."""
        nulls = ["null"] * (LENGTH - len(self.values))
        values: Sequence[str] = (*self.values, *nulls)
        if self.name != "time(6)":  # to which Spark casts nothing by default
            values = [f"cast({value} as {self.name})" for value in values]
        return f"array({', '.join(values)})"

    @property
    def numbers(self) -> str:
        """An array of the place of each value, the same of equal ones; null of nulls."""
        places = range(len(self.values))
        numbers = [str(self.equal.get(place, place)) for place in places]
        return f"array({', '.join([*numbers, *['-1'] * (LENGTH - len(numbers))])})"


_NAN = "float('NaN')", "double('NaN')"
_OTHER_NAN = "-float('NaN')", "-double('NaN')"
_LAST = "9999-12-31 23:59:59.999999"

TYPES: Final[Sequence[ValuesOfType]] = (
    ValuesOfType("boolean", ("true", "false")),
    ValuesOfType("tinyint", ("-128Y", "127Y")),
    ValuesOfType("smallint", ("-32768S", "7S")),
    ValuesOfType("int", ("-2147483648", "2147483647")),
    ValuesOfType("bigint", ("-9223372036854775808L", "7L")),
    ValuesOfType(
        "float",
        (_NAN[0], "float('-0.0')", "float('0.0')", "float('-Infinity')", _OTHER_NAN[0]),
        {2: 1, 4: 0},
    ),
    ValuesOfType(
        "double", (_NAN[1], "-0.0D", "0.0D", "double('Infinity')", _OTHER_NAN[1]), {2: 1, 4: 0}
    ),
    ValuesOfType("decimal(5,2)", ("999.99", "-0.01", "0.02")),
    ValuesOfType("decimal(38,18)", ("-9999999999999999.999999999999999999", "0.5", "0.25")),
    ValuesOfType("decimal(38,38)", (f"0.{'3' * 38}", "0", f"0.{'0' * 37}1")),
    ValuesOfType("decimal(38,0)", ("9" * 38, f"-{'9' * 38}"), summable=False),
    ValuesOfType("string", ("'7'", "'1.5'", "'NaN'", "' 8 '")),
    ValuesOfType("varchar(8)", ("''", "'żółw 🐢'", r"'a\u0000b'", "'A'", "'a'"), summable=False),
    ValuesOfType("char(3)", ("'a'", "'ab '", "'é'"), summable=False),
    ValuesOfType("string collate UTF8_LCASE", ("'7'", "'8'")),
    ValuesOfType("string collate UNICODE_CI_RTRIM", ("'7'", "'8'")),
    ValuesOfType("binary", ("x''", "x'00ff'", "x'00'")),
    ValuesOfType("date", ("date'0001-01-01'", "date'1582-10-04'", "date'9999-12-31'")),
    ValuesOfType(
        "timestamp",
        (
            "timestamp'0001-01-02 00:00:00Z'",
            "timestamp'1582-10-04 23:59:59.000001Z'",
            "timestamp'2024-11-03 05:30:00.000009Z'",
            "timestamp'2024-11-03 06:30:00.000009Z'",
            "timestamp'9999-12-30 23:59:59.999999Z'",
        ),
    ),
    ValuesOfType(
        "timestamp_ntz",
        (
            "timestamp_ntz'0001-01-01 00:00:00'",
            "timestamp_ntz'1582-10-10 12:00:00'",
            "timestamp_ntz'2024-03-10 02:30:00.000001'",
            f"timestamp_ntz'{_LAST}'",
        ),
    ),
    ValuesOfType("time(6)", ("time'00:00:00'", "time'23:59:59.999999'")),
    ValuesOfType(
        "interval day to second",
        ("interval '-1 02:03:04.000005' day to second", "interval '7' day"),
    ),
    ValuesOfType("interval year to month", ("interval '1-2' year to month", "interval '-3' month")),
    ValuesOfType("variant", ("parse_json('1')", "parse_json('[null]')")),
    ValuesOfType(
        "array<double>",
        (
            "array(double('NaN'), -0.0D)",
            "array(-double('NaN'), 0.0D)",
            "array(null, 1D)",
            "array()",
        ),
        {1: 0},
    ),
    ValuesOfType("array<array<decimal(38,18)>>", ("array(array(0.5), null)", "array(array())")),
    ValuesOfType(
        "struct<n:int,t:timestamp>",
        (
            "named_struct('n', 1, 't', timestamp'2024-01-01 00:00:00.000001Z')",
            "named_struct('n', null, 't', null)",
        ),
    ),
    ValuesOfType(
        "struct<x:double,y:array<float>>",
        (
            "named_struct('x', -0.0D, 'y', array(float('NaN'), float('0.0')))",
            "named_struct('x', 0.0D, 'y', array(-float('NaN'), float('-0.0')))",
            "named_struct('x', 1D, 'y', null)",
        ),
        {1: 0},
    ),
    ValuesOfType("map<string,double>", ("map('a', -0.0D, 'b', double('NaN'))", "map()")),
    ValuesOfType(
        "map<timestamp,array<binary>>",
        ("map(timestamp'1582-10-04 00:00:00Z', array(x'00', null))", "map()"),
    ),
    ValuesOfType("void", ()),
    ValuesOfType("array<map<int,string>>", ("array(map(1, 'x', 2, null))", "array(null)")),
)

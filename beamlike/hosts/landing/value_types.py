"""The types of columns, as far as tables differ in what they hold, and what a table refuses."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final, Literal, get_args

from beamlike.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa

ValueType = Literal[
    "bool",
    "int",
    "float",
    "string",
    "bytes",
    "date",
    "time",
    "instant",
    "local",
    "interval",
    "decimal",
    "list",
    "struct",
    "map",
    "null",
    "variant",
]
"""``instant`` is Spark's ``timestamp``, a moment; ``local`` is its ``timestamp_ntz``, what a clock
on some wall shows."""

USUAL: Final[frozenset[ValueType]] = frozenset(get_args(ValueType)) - {
    *("time", "interval", "null", "variant"),
}
"""What nearly every table holds."""

_SPARK_NAMES = {"instant": "timestamp", "local": "timestamp_ntz", "null": "void"}


def value_type(dtype: "pa.DataType") -> ValueType | None:
    """What a column of Arrow holds; None: nothing that Spark has a type for."""
    import pyarrow.types as pt

    if pt.is_timestamp(dtype):
        return "local" if dtype.tz is None else "instant"
    if pt.is_struct(dtype):
        # As Spark hands a variant over, see `toArrow`.
        notes = (dtype.field(index).metadata or {} for index in range(dtype.num_fields))
        return "variant" if any(b"variant" in note for note in notes) else "struct"
    tests: dict[ValueType, tuple[Callable[[pa.DataType], bool], ...]] = {
        "bool": (pt.is_boolean,),
        "int": (pt.is_integer,),
        "float": (pt.is_floating,),
        "string": (pt.is_string, pt.is_large_string, pt.is_string_view),
        "bytes": (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary, pt.is_binary_view),
        "date": (pt.is_date,),
        "time": (pt.is_time,),
        "interval": (pt.is_duration, pt.is_interval),
        "decimal": (pt.is_decimal,),
        "map": (pt.is_map,),
        "list": (pt.is_list, pt.is_large_list, pt.is_fixed_size_list),
        "null": (pt.is_null,),
    }
    return next(
        (held for held, of_type in tests.items() if any(test(dtype) for test in of_type)), None
    )


def item_types(dtype: "pa.DataType") -> "list[pa.DataType]":
    """The types of the items of a list, the fields of a struct, the keys and values of a map."""
    match value_type(dtype):
        case "list":
            return [dtype.value_type]
        case "struct":
            return [field.type for field in dtype]
        case "map":
            return [dtype.key_type, dtype.item_type]
    return []


def check_types(
    schema: "pa.Schema", columns: Collection[ValueType], nested: Collection[ValueType], target: str
) -> None:
    """Refuse columns that a table cannot hold so that their values come back as they were.

    Args:
        columns: What a column of the table may be.
        nested: What may be inside of a list, a struct or a map.
    """
    from beamlike.runtime.row_metadata import types_in

    for field in schema:
        for depth, dtype in enumerate(types_in(field.type)):
            held = value_type(dtype)
            if held is None or held not in (nested if depth else columns):
                inside = f"{field.type}, and {_name(dtype)} inside of it" if depth else ""
                raise ColumnError(
                    f"upsert_into: column {field.name!r} is {inside or _name(dtype)}, which a "
                    f"table of {target} cannot hold unchanged; {_way_out(held)}"
                )


def _name(dtype: "pa.DataType") -> str:
    held = value_type(dtype)
    return str(dtype) if held is None else f"{_SPARK_NAMES.get(held, held)} ({dtype} in Arrow)"


def _way_out(held: ValueType | None) -> str:
    match held:
        case "interval":
            return (
                "make a number or a text of it before, such as "
                'F.unix_micros(F.timestamp_seconds(F.lit(0)) + F.col("x")) or '
                'F.col("x").cast("string")'
            )
        case "variant":
            return 'make a text of it before, such as F.to_json(F.col("x"))'
        case "null":
            return 'give it a type before, such as F.col("x").cast("string")'
        case _:
            return 'cast it before, such as F.col("x").cast("string"), or write to another table'


def in_utc(dtype: "pa.DataType") -> "pa.DataType":
    """A type whose instants are in UTC, and times of day in microseconds, at any depth.

    Spark hands instants over in the zone of its session; the microseconds are the same.
    """
    import pyarrow as pa

    from beamlike.runtime.row_metadata import with_parts

    match value_type(dtype):
        case "instant":
            return pa.timestamp("us", tz="UTC")
        case "time":
            return pa.time64("us")
        case "list":
            dtype = pa.list_(dtype.value_field)  # of each make
    return with_parts(dtype, in_utc)

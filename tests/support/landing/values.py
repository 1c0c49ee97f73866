"""Values of each type of Spark with its edges, and what becomes of them in a table."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import attrs
import pyarrow as pa

import beamlike as bl
from beamlike.errors import ColumnError
from tests.support.landing.changes import SCHEMA, put
from tests.support.landing.places import Place

_INSTANT: Final = pa.timestamp("us", tz="UTC")
_NOTE: Final = {b"variant": b"true"}
_VARIANT: Final = pa.struct(
    [pa.field("value", pa.binary()), pa.field("metadata", pa.binary(), metadata=_NOTE)]
)


@attrs.frozen
class Case:
    """A type, as Spark calls it and as it comes in Arrow, and values of it besides null."""

    spark: str
    arrow: pa.DataType
    values: Sequence[Any]


def _utc(*fields: int) -> datetime:
    return datetime(*fields, tzinfo=UTC)  # type: ignore[misc, arg-type]


CASES: Final = (
    Case("boolean", pa.bool_(), [True, False]),
    Case("tinyint", pa.int8(), [-128]),
    Case("smallint", pa.int16(), [32767]),
    Case("int", pa.int32(), [-(2**31)]),
    Case("bigint", pa.int64(), [-(2**63), 2**63 - 1]),
    Case("float", pa.float32(), [0.5, math.nan, math.inf]),
    Case("double", pa.float64(), [0.1, 5e-324, -0.0, math.nan, -math.inf]),
    Case(
        "decimal(38,18)",
        pa.decimal128(38, 18),
        [Decimal("0.000000000000000001"), Decimal("-99999999999999999999.999999999999999999")],
    ),
    Case("string", pa.string(), ["", "ünï 🎈", "a\0b", "NULL"]),
    Case("binary", pa.binary(), [b"", b"\0\xff"]),
    Case("date", pa.date32(), [date(1, 1, 1), date(9999, 12, 31)]),
    Case("time", pa.time64("ns"), [time(23, 59, 59, 999999)]),
    Case("timestamp", _INSTANT, [_utc(1, 1, 2), _utc(9999, 12, 30, 23, 59, 59, 999999)]),
    Case("timestamp_ntz", pa.timestamp("us"), [datetime(2026, 3, 29, 2, 30), datetime(1, 1, 1)]),
    Case("interval day to second", pa.duration("us"), [timedelta(microseconds=-1)]),
    Case("array<double>", pa.list_(pa.float64()), [[], [math.nan, -math.inf, None]]),
    Case("array<string>", pa.list_(pa.string()), [["a\0b", "ü"]]),
    Case("array<timestamp>", pa.list_(_INSTANT), [[_utc(2026, 3, 29, 2, 30)]]),
    Case("array<timestamp_ntz>", pa.list_(pa.timestamp("us")), [[datetime(2026, 3, 29, 2, 30)]]),
    Case("array<interval day to second>", pa.list_(pa.duration("us")), [[timedelta(1)]]),
    Case(
        "struct<n:smallint,d:decimal(3,1)>",
        pa.struct([("n", pa.int16()), ("d", pa.decimal128(3, 1))]),
        [{"n": 1, "d": Decimal("0.1")}, {"n": None, "d": None}],
    ),
    Case("array<struct<b:binary>>", pa.list_(pa.struct([("b", pa.binary())])), [[{"b": b"\xff"}]]),
    Case("map<date,int>", pa.map_(pa.date32(), pa.int32()), [[(date(2026, 5, 4), 1)]]),
    Case("variant", _VARIANT, [{"value": b"\x0c\x01", "metadata": b"\x01\0\0"}]),
    Case("void", pa.null(), []),
)


def became(case: Case, place: Place, table: str) -> list[tuple[Any, str]]:
    """What became of each value, null among them: itself, and in words.

    They are written twice, as a pane that comes again does: put, and then changed.
    """
    values = [*case.values, None]
    write = bl.upsert_into(place.target, "user", dead_letters=f"{table}_lost")
    for number in range(2):
        try:
            write(_micro_batch(case, values), number)
        except ColumnError as error:
            if not all(part in str(error) for part in ("'value'", type(place.target).__name__)):
                raise
            return [(value, "refused") for value in values]
    rows = {row["user"]: row["value"] for row in place.read(table)}
    letters = {row["element"]: row["error"] for row in place.read(f"{table}_lost")}
    assert all("'value'" in error for error in letters.values())
    assert len(rows) + len(letters) == len(values)
    return [
        (value, _compared(value, rows[f"{index}"]) if f"{index}" in rows else "dead letter")
        for index, value in enumerate(values)
    ]


def _micro_batch(case: Case, values: Sequence[Any]) -> pa.Table:
    pane = put(None, 0, 10, 1)
    own: Mapping[str, Any] = {name: pane[name] for name in ("window", "timestamp", "pane")}
    users = [f"{index}" for index in range(len(values))]
    columns = {
        "user": pa.array(users),
        "window": pa.array([own["window"]] * len(values), SCHEMA.field("window").type),
        "value": pa.array(values, case.arrow),
        "timestamp": pa.array([own["timestamp"]] * len(values), _INSTANT),
        "pane": pa.array([own["pane"]] * len(values), SCHEMA.field("pane").type),
        "dropped": pa.nulls(len(values), SCHEMA.field("dropped").type),
    }
    return pa.table(columns)


def _compared(value: Any, read: Any) -> str:
    return "same" if shown(value) == shown(read) else shown(read)


def shown(value: Any) -> str:
    """A value in words that are the same for equal values of one type, and no others."""
    match value:
        case memoryview():
            return shown(bytes(value))
        case datetime() if value.tzinfo is not None:
            return f"{value.astimezone(UTC).replace(tzinfo=None)} UTC"
        case date() | time() | Decimal():
            return str(value)
        case timedelta():
            return f"{value // timedelta(microseconds=1)} µs"
        case None:
            return "null"
        case dict():
            fields = ", ".join(f"{name}: {shown(item)}" for name, item in value.items())
            return f"{{{fields}}}"
        case list() | tuple():
            return f"[{', '.join(map(shown, value))}]"
        case bytes():
            return f"X'{value.hex()}'"
    return repr(value)

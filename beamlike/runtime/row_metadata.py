"""The hidden column that goes with each row between the groupings of one query.

It says what kind of row it is. Most rows are data: they carry their event time, and after a
grouping their window; where no grouping can follow, they carry nothing and the column is null.
Other rows have no other columns and only pass through: a row that was dropped before, the report of
a shard's watermark, a row that was left out and still moves the watermark. Such rows survive what
users do to columns, because every operation keeps this one.

Settings of a Spark session choose the types in which Arrow holds the other columns:
``spark.sql.session.timeZone`` the zone of timestamps, which is not part of an instant, and
``spark.sql.execution.arrow.useLargeVarTypes`` how long texts are counted. The values are the same,
and `canonical` gives them the types that plans, saved state and tables name.

==============  ======  ================================================================
field           type    holds
==============  ======  ================================================================
``kind``        string  null for data, else one of the kinds below
``ts``          bigint  event time of a row, in ticks of its query
``problem``     string  why the time of a row of a source cannot be read, or believed
``part``        string  the part of a source that a row comes from, if parts have watermarks of
                        their own; null for a row that moves them all
``start``,      bigint  the window that a grouping gave the row, in ticks; null if none did
``end``
``shard``       int     position of the shard that reports
``watermark``   bigint  its output watermark, in ticks
``dropped``     struct  what was dropped, see `beamlike.runtime.output`
==============  ======  ================================================================
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, Self, TypeVar

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.events import RowProblem

MARKS: Final = "__beamlike"
"""The name of the column."""
EVENT_TIME: Final = "__beamlike_event_time"
TICKS: Final = "__beamlike_ticks"
MOVES: Final = "__beamlike_moves"
OF_SOURCES: Final = (MARKS, EVENT_TIME, TICKS, MOVES)
"""Columns that rows of a source have until they reach the first grouping."""

DROPPED_ROW: Final = "dropped"
REPORT: Final = "report"
LEFT_OUT: Final = "left out"


@attrs.frozen
class TimeTypes:
    """The types of the columns that show event times, of instants or of wall-clock times.

    Args:
        timestamp: A time.
        window: The bounds of a window.
        dropped: What was dropped.
        marks: The hidden column.
    """

    timestamp: pa.DataType
    window: pa.DataType
    dropped: pa.DataType
    marks: pa.DataType

    @classmethod
    def of(cls, timestamp: pa.DataType) -> Self:
        """The types of columns whose times have this type."""
        text, number = pa.string(), pa.int64()
        window = pa.struct([("start", timestamp), ("end", timestamp)])
        dropped = pa.struct(
            [
                *(("stage", text), ("reason", text)),
                *(("timestamp", timestamp), ("watermark", timestamp), ("missed_ms", number)),
                *(("window", window), ("nearest_session", window)),
                *(("count", number), ("error", text), ("element", text)),
            ]
        )
        marks = pa.struct(
            [
                *(("kind", text), ("ts", number), ("problem", text), ("part", text)),
                *(("start", number), ("end", number)),
                *(("shard", pa.int32()), ("watermark", number), ("dropped", dropped)),
            ]
        )
        return cls(timestamp, window, dropped, marks)


def time_types(wall_clock: bool) -> TimeTypes:
    """The types of wall-clock times, which are in no zone, or of instants."""
    return _WALL_CLOCK if wall_clock else _INSTANTS


_INSTANTS: Final = TimeTypes.of(pa.timestamp("us", tz="UTC"))
_WALL_CLOCK: Final = TimeTypes.of(pa.timestamp("us"))

BAD_ROWS: Final = tuple(problem.value for problem in RowProblem)
"""The reasons for which a row never reaches a machine."""

SOURCE_MARKS: Final = ("kind", "ts")
STAGE_MARKS: Final = (*SOURCE_MARKS, "start", "end", "shard", "watermark", "dropped")
"""Fields that the packer reads, from rows of a source and from those of a grouping."""


def table_of(columns: Sequence[Any], schema: pa.Schema) -> pa.Table:
    """Columns, of values of Python or as arrays, as a table with these names and types."""
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def readable_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of a column. What Python has none for, a date after the year 9999, is a text."""
    try:
        return column.to_pylist()  # type: ignore[no-any-return]
    except (OverflowError, ValueError):
        return [_readable_value(column.slice(index, 1)) for index in range(len(column))]


def _readable_value(column: pa.ChunkedArray | pa.Array) -> Any:
    try:
        return column.to_pylist()[0]
    except (OverflowError, ValueError):
        with suppress(pa.ArrowException):
            return pc.cast(column, pa.string()).to_pylist()[0]
        return f"{column.type} that Python has no value for"


Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def canonical(rows: Rows) -> Rows:
    """The rows with each instant in UTC, and texts and bytes in their usual types, at any depth.

    Timestamps without a zone stay as they are: they are not instants. Rows that have these types
    come back themselves.
    """
    schema = rows.schema
    wanted = [_canonical_field(field) for field in schema]
    return rows if wanted == list(schema) else rows.cast(pa.schema(wanted, schema.metadata))


def canonical_type(dtype: pa.DataType) -> pa.DataType:
    """The type that equal values have under all settings.

    >>> str(canonical_type(pa.list_(pa.timestamp("us", "Europe/Berlin"))))
    'list<item: timestamp[us, tz=UTC]>'
    >>> str(canonical_type(pa.large_string()))
    'string'
    """
    if pa.types.is_timestamp(dtype):
        return dtype if dtype.tz is None else pa.timestamp(dtype.unit, "UTC")
    if pa.types.is_large_string(dtype):
        return pa.string()
    if pa.types.is_large_binary(dtype):
        return pa.binary()
    return with_parts(dtype, canonical_type)


def _canonical_field(field: pa.Field) -> pa.Field:
    return field.with_type(canonical_type(field.type))


def with_parts(dtype: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """A struct, a map or a list with its parts changed; any other type as it is."""

    def changed(field: pa.Field) -> pa.Field:
        return field.with_type(change(field.type))

    if pa.types.is_struct(dtype):
        return pa.struct([*map(changed, dtype)])
    if pa.types.is_map(dtype):
        return pa.map_(changed(dtype.key_field), changed(dtype.item_field), dtype.keys_sorted)
    if pa.types.is_list(dtype):
        return pa.list_(changed(dtype.value_field))
    if pa.types.is_large_list(dtype):
        return pa.large_list(changed(dtype.value_field))
    return dtype


def types_in(dtype: pa.DataType) -> Iterator[pa.DataType]:
    """A type, and all types inside of it."""
    yield dtype
    parts = [dtype.field(index).type for index in range(dtype.num_fields)]
    for part in (dtype.key_type, dtype.item_type) if pa.types.is_map(dtype) else parts:
        yield from types_in(part)

"""SQL that makes rows of a source, and columns for the packer.

Every input row gets the packer's columns, with a reason if it cannot be grouped.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.errors import ColumnError
from beamlike.hosts.frames import EventTimes, StageInput
from beamlike.hosts.spark.sql_columns import (
    as_json,
    column,
    columns_of,
    mark,
    readable,
    type_of,
    value_expression,
)
from beamlike.machine.events import UNREADABLE_RECORD, RowProblem
from beamlike.machine.input_clocks import FURTHEST_ZONE_HOURS, is_far_ahead
from beamlike.runtime.row_metadata import (
    EVENT_TIME,
    LEFT_OUT,
    MARKS,
    MOVES,
    TICKS,
    time_types,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# -- rows of a source ------------------------------------------------------------------------


_INSTANT = T.TimestampType()
"""By the name ``timestamp`` a session may mean one without a zone, ``spark.sql.timestampType``."""
_DATED = r"^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}"


def event_time(df: "DataFrame", timestamp: str) -> "Column":
    """The event time of each row as Spark's timestamp; null if it cannot be read.

    A wall-clock time, which is in no zone, counts as if it were in UTC.
    """
    dtype = type_of(df, timestamp, "timestamp")
    raw = column(timestamp)
    if isinstance(dtype, T.StringType):
        if not dtype.isUTF8BinaryCollation():  # Spark knows no pattern under most collations
            raw = F.collate(raw, "UTF8_BINARY")
        # Spark reads a bare time of day as today, and a bare year as its first of January: both
        # are taken for mistakes.
        return F.when(raw.rlike(_DATED), raw.try_cast(_INSTANT))
    if isinstance(dtype, T.TimestampNTZType):
        return F.when(F.year(raw).between(1, 9999), F.timestamp_micros(_wall_clock_micros(raw)))
    if isinstance(dtype, T.TimestampType | T.DateType):
        return raw.cast(_INSTANT)
    raise ColumnError(
        f"timestamp: column {timestamp!r} is {dtype.simpleString()}; make it a timestamp first, "
        f'for example df.withColumn("{timestamp}", F.timestamp_millis("{timestamp}"))'
    )


def _wall_clock_micros(wall_clock: "Column") -> "Column":
    """Microseconds from 1970-01-01 00:00 to a wall-clock time, which is in no zone."""
    # A cast to a timestamp would take it for a time of the session's zone, where an hour of a day
    # in spring is not there and one in autumn is there twice.
    day = F.unix_date(wall_clock.cast("date")).cast("long")
    minutes = (day * 24 + F.hour(wall_clock)) * 60 + F.minute(wall_clock)
    seconds = F.date_part(F.lit("SECOND"), wall_clock)  # a decimal with all that is finer
    return minutes * 60_000_000 + (seconds * 1_000_000).cast("long")


def source_rows(
    df: "DataFrame",
    times: EventTimes,
    moves: "DataFrame | None" = None,
    now: "Column | None" = None,
) -> "DataFrame":
    """``df`` with the hidden column, and with Spark's watermark on its event time.

    Args:
        times: Its event times. How far they lie ahead is judged by the timestamp of the
            micro-batch: Spark keeps that in the checkpoint, so a replay judges the same. A row that
            is ahead moves the watermark to that timestamp at most, see `machine.input_clocks`.
        moves: A stream of event times that move the watermark and are not rows of the source.
        now: Processing time; None: the timestamp of the micro-batch.
    """
    timestamp, delay, max_ahead, part = times.column, times.delay, times.max_ahead, times.part
    columns_of(df).check_source()
    in_ticks = F.unix_micros if times.resolution.micros == 1 else F.unix_millis
    wall_clock = isinstance(type_of(df, timestamp, "timestamp"), T.TimestampNTZType)
    timed = df.withColumns({EVENT_TIME: event_time(df, timestamp)})
    raw, instant = column(timestamp), column(EVENT_TIME)
    if moves is not None:
        marked = moves.toDF(EVENT_TIME).withColumn(MOVES, F.lit(True))
        timed = timed.unionByName(marked, allowMissingColumns=True)
    moving = instant
    if max_ahead is not None:
        # A row moves the watermark to its own time, but to now at most. What lies too far ahead of
        # now lies too far ahead of that.
        limit = batch_timestamp() if now is None else now
        if wall_clock:
            limit = limit + F.expr(f"interval {FURTHEST_ZONE_HOURS} hours")
        moved = F.least(instant, limit)
        far = is_far_ahead(F.unix_micros(instant), F.unix_micros(moved), max_ahead * 1_000)
        moving = F.when(~far, moved)  # Spark's watermark does not see the others
    # The time as a number is a column of its own below the watermark: Spark does not merge
    # computations across one, and would make the hidden column there just to take it apart again.
    timed = timed.withColumns({TICKS: in_ticks(instant), EVENT_TIME: moving})
    if delay is not None:
        timed = timed.withWatermark(EVENT_TIME, f"{delay} milliseconds")
    problem = F.when(raw.isNull(), F.lit(RowProblem.NULL_TIMESTAMP.value))
    problem = problem.when(column(TICKS).isNull(), F.lit(RowProblem.BAD_TIMESTAMP.value))
    if max_ahead is not None:
        problem = problem.when(instant.isNull(), F.lit(RowProblem.FAR_FUTURE.value))
    known = {"ts": column(TICKS), "problem": problem}
    if part is not None:
        known["part"] = F.coalesce(column(part).cast("string"), F.lit(""))
    if moves is not None:
        known["kind"] = F.when(column(MOVES), F.lit(LEFT_OUT))
        if part is not None:
            known["part"] = F.when(column(MOVES).isNull(), known["part"])
    return timed.withColumn(MARKS, _marks(known, wall_clock)).drop(EVENT_TIME, TICKS, MOVES)


def batch_timestamp() -> "Column":
    """The timestamp of the micro-batch, as an expression that is the same in all micro-batches.

    Spark puts ``current_timestamp()`` into the code that it generates, as a number. With it the
    code would differ between micro-batches, and each would compile it anew and run it cold.
    ``zip_with`` is called from that code and is not part of it. Its arrays are constants, because
    an array that is made for each row would take most of the time.
    """
    constant = F.array(F.lit(0))
    return F.zip_with(constant, constant, lambda left, other: F.current_timestamp()).getItem(0)


def _marks(known: Mapping[str, "Column"], wall_clock: bool) -> "Column":
    """The hidden column with these fields, all others null."""
    fields = from_arrow_schema(pa.schema(list(time_types(wall_clock).marks)))
    return F.struct(
        *(
            known.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name)
            for field in fields
        )
    )


# -- rows for the packer ---------------------------------------------------------------------


def packer_columns(stage_input: StageInput) -> "DataFrame":
    """The columns that the packer reads, see `beamlike.runtime.packing.packed`.

    The event time is passed on as a plain number. Were the watermark's own column still there,
    Spark would drop late rows before the machine could judge them.
    """
    df: DataFrame = stage_input.rows
    plan, inputs = stage_input.plan, stage_input.values
    # First of all: such a row must not move a watermark, whatever else is wrong with it.
    far_future = F.lit(RowProblem.FAR_FUTURE.value)
    reason = F.when(mark("problem") == far_future, far_future)
    reason = reason.when(mark("problem").isin(*UNREADABLE_RECORD), mark("problem"))
    for name in plan.keys:
        reason = reason.when(column(name).isNull(), F.lit(RowProblem.NULL_KEY.value))
        reason = reason.when(_clean_key(df, name).isNull(), F.lit(RowProblem.BAD_KEY.value))
    reason = reason.when(mark("problem").isNotNull(), mark("problem"))
    expressions = [value_expression(df, needed) for needed in inputs.values()]
    for needed, expression in zip(inputs.values(), expressions, strict=True):
        unreadable = column(needed.source).isNotNull() & expression.isNull()
        reason = reason.when(unreadable, F.lit("bad_value"))
    # Spark computes the reason twice. With a projection of its own for the reason it would infer
    # constraints of each alias of each column, and not end where many columns are aggregated.
    columns = {name: (column(name), df.schema[name].dataType) for name in stage_input.shown}
    element = as_json(columns)
    # Numbered, because not every name can be the name of a column on the way to Python.
    keys = [_clean_key(df, name).alias(f"key_{index}") for index, name in enumerate(plan.keys)]
    values = [expression.alias(f"value_{index}") for index, expression in enumerate(expressions)]
    hashed = F.xxhash64(*(_clean_key(df, name) for name in plan.keys)) if plan.keys else F.lit(0)
    return df.select(
        *keys,
        *values,
        hashed.cast("long").alias("hash"),
        reason.alias("reason"),
        F.when(reason.isNotNull(), element).alias("element"),
        *(mark(name).alias(name) for name in stage_input.marks),
    )


def _clean_key(df: "DataFrame", name: str) -> "Column":
    """Minus zero is zero, as a key; a time that cannot be read is null."""
    key, dtype = column(name), df.schema[name].dataType
    if isinstance(dtype, T.FractionalType):
        return F.when(key == 0, F.abs(key)).otherwise(key)
    return readable(key, dtype)

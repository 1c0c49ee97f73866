"""Binds a call to the columns of a DataFrame.

Two things come out: the plan, and the SQL that turns any input row into the packer's columns,
with a reason for each row that cannot be grouped.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.errors import ColumnError
from beamlike.hosts.spark.aggregates import part_of
from beamlike.hosts.spark.corrections import corrected, rows_that_stand, withdrawn_input
from beamlike.hosts.spark.equality import check_key
from beamlike.hosts.spark.inputs import (
    Input,
    arrow_type,
    column,
    duplicate,
    mark,
    readable,
    type_of,
)
from beamlike.hosts.spark.scripted_time import MOVES, scripted_time
from beamlike.machine.clocks import Clocks, InputClock, SourceClock, is_far_ahead
from beamlike.machine.events import RowProblem
from beamlike.model.aggregates import Aggregate
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.look_up import SIDE, LookUp
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan, PlanOptions
from beamlike.runtime.row_metadata import LEFT_OUT, MARKS, MARKS_TYPE, marks_read

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_EVENT_TIME = "__beamlike_event_time"
_MILLIS = "__beamlike_millis"
_WATERMARK_MARK = "spark.watermarkDelayMs"
"""How Spark marks the column of a watermark."""


def bind(
    df: "DataFrame",
    strategy: WindowingStrategy,
    key: Sequence[str],
    aggregate: Mapping[str, Aggregate],
    window_input: Sequence[str],
    carry: Sequence[str],
    options: PlanOptions,
    *,
    corrects: bool = False,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a grouping over ``df``, and the inputs of its aggregates by value name.

    Columns in ``window_input`` and ``carry`` are passed on as inputs that no aggregate reads. A
    window function is given its columns as they are, whatever an aggregate makes of them; those
    inputs are called as their columns are. The plan ``corrects`` if some rows withdraw others.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        UnsupportedError: Rows withdraw others, and an aggregate cannot take a value back.
    """
    keys = key_types(df, key)
    inputs = {
        name: Input(name, type_of(df, name, "window_input"), cast=False) for name in window_input
    }
    parts = [part_of(df, name, wanted, inputs) for name, wanted in aggregate.items()]
    for name in carry:
        inputs.setdefault(name, Input(name, type_of(df, name, "carry"), cast=False))
    withdrawn = withdrawn_input(inputs) if corrects else 0
    values = {
        name: arrow_type(given.kind, given.source, "aggregate") for name, given in inputs.items()
    }
    if corrects:
        pairs = zip(parts, aggregate.values(), strict=True)
        kinds = list(values.values())
        parts = [corrected(part, wanted, withdrawn, kinds) for part, wanted in pairs]
        parts.append(rows_that_stand(withdrawn))
    plan = Plan(strategy, keys, values, tuple(parts), **options)
    check_names(df, plan, "rename the key column with withColumnRenamed, or the aggregate")
    return plan, inputs


def bind_look_up(
    df: "DataFrame",
    strategy: WindowingStrategy,
    side: WindowingStrategy,
    key: Sequence[str],
    shown: Sequence[str],
    hidden: Sequence[str],
    how: Literal["left", "inner"],
    options: PlanOptions,
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a look-up, and its inputs by value name.

    Args:
        df: Rows of the main input, with the column for side rows.
        strategy: The main input's.
        side: The side input's.
        shown: The columns of the main input that the result has.
        hidden: Those that only its window function needs.
        how: See `LookUp`.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
        WindowingError: The windows do not go together.
    """
    keys = key_types(df, key)
    inputs = {
        name: Input(name, type_of(df, name, "main"), cast=False) for name in (*shown, *hidden, SIDE)
    }
    values = {name: arrow_type(given.kind, name, "main") for name, given in inputs.items()}
    does = LookUp(
        strategy.window_fn,
        side.window_fn,
        strategy.allowed_lateness,
        how,
        {name: values[name] for name in (*shown, *hidden)},
        {field.name: field.type for field in values[SIDE].value_type},
        frozenset(hidden),
        options.get("on_error", "drop"),
        side.trigger,
        side.allowed_lateness,
    )
    plan = Plan(strategy, keys, values, (), does=does, **options)
    check_names(df, plan, "rename it with select() or with_columns() before")
    return plan, inputs


def check_names(df: "DataFrame", plan: Plan, advice: str) -> None:
    """Refuse a result with two columns of one name.

    Raises:
        ColumnError: With what to change.
    """
    shown = [*OutputTable(plan).shown, "dropped"]
    for name in shown:
        if duplicate(df, name, shown):
            raise ColumnError(
                f"the result would have two columns called {name!r} (it has {', '.join(shown)}); "
                f"{advice}"
            )


def key_types(df: "DataFrame", names: Sequence[str]) -> dict[str, pa.DataType]:
    """The types of a key's columns.

    Raises:
        ColumnError: A column is missing, named twice, or cannot be a key.
    """
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise ColumnError(f"key: column {twice[0]!r} is named twice; leave one out")
    return {name: _key_type(df, name) for name in names}


def _key_type(df: "DataFrame", name: str) -> pa.DataType:
    check_key(df, name, "key")
    return arrow_type(type_of(df, name, "key"), name, "key")


# -- rows of a source ------------------------------------------------------------------------


def watermark_of(df: "DataFrame") -> tuple[str, int] | None:
    """The column that carries a stream's watermark, and its delay (ms); None if none does."""
    for field in df.schema.fields:
        if _WATERMARK_MARK in field.metadata:
            return field.name, int(field.metadata[_WATERMARK_MARK])
    return None


_DATED = r"^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}"


def event_time(df: "DataFrame", timestamp: str) -> "Column":
    """The event time of each row as Spark's timestamp; null if it cannot be read.

    Raises:
        ColumnError: The column is missing or no time.
    """
    kind = type_of(df, timestamp, "timestamp")
    raw = column(timestamp)
    if isinstance(kind, T.StringType):
        if not kind.isUTF8BinaryCollation():  # Spark knows no pattern under most collations
            raw = F.collate(raw, "UTF8_BINARY")
        # Spark reads a bare time of day as today, and a bare year as its first of January: both
        # are taken for mistakes.
        return F.when(raw.rlike(_DATED), F.try_to_timestamp(raw))
    if isinstance(kind, T.TimestampType | T.TimestampNTZType | T.DateType):
        return raw.cast("timestamp")
    raise ColumnError(
        f"timestamp: column {timestamp!r} is {kind.simpleString()}; make it a timestamp first, "
        f'for example df.withColumn("{timestamp}", F.timestamp_millis("{timestamp}"))'
    )


def source_rows(
    df: "DataFrame",
    timestamp: str,
    delay: int | None,
    max_ahead: int | None = None,
    part: str | None = None,
) -> "DataFrame":
    """``df`` with the hidden column, and with Spark's watermark on its event time.

    Args:
        timestamp: The event-time column.
        delay: How far it may be out of order (ms); None: no watermark is to be set.
        max_ahead: How far ahead of the micro-batch's own timestamp it may lie (ms): Spark keeps
            that in the checkpoint, so a replayed micro-batch judges as before. A row that is ahead
            moves the watermark to that timestamp at most, see `beamlike.machine.clocks`. None: as
            far as it likes, as in bounded data.
        part: The column that names the part of the source that a row comes from.

    Raises:
        ColumnError: The column is missing or no time; a name is taken that is needed here.
    """
    for name in (_EVENT_TIME, _MILLIS, MOVES, MARKS):
        if name in df.columns:
            raise ColumnError(f"the name {name!r} is needed here; rename that column of df")
    timed = df.withColumns({_EVENT_TIME: event_time(df, timestamp)})
    raw, instant = column(timestamp), column(_EVENT_TIME)
    time = scripted_time()
    if time is not None and delay is not None:
        clock = SourceClock(delay, max_ahead=max_ahead)
        timed = time.with_moves(timed, timestamp, _EVENT_TIME, clock)
    moving = instant
    if max_ahead is not None:
        # A row moves the watermark to its own time, but to now at most. What lies too far ahead of
        # now lies too far ahead of that.
        moved = F.least(instant, batch_timestamp() if time is None else time.now)
        far = is_far_ahead(F.unix_millis(instant), F.unix_millis(moved), max_ahead)
        moving = F.when(~far, moved)  # Spark's watermark does not see the others
    # The time as a number is a column of its own below the watermark: Spark does not merge
    # computations across one, and would make the hidden column there just to take it apart again.
    timed = timed.withColumns({_MILLIS: F.unix_millis(instant), _EVENT_TIME: moving})
    if delay is not None:
        timed = timed.withWatermark(_EVENT_TIME, f"{delay} milliseconds")
    problem = F.when(raw.isNull(), F.lit(RowProblem.NULL_TIMESTAMP.value))
    problem = problem.when(column(_MILLIS).isNull(), F.lit(RowProblem.BAD_TIMESTAMP.value))
    if max_ahead is not None:
        problem = problem.when(instant.isNull(), F.lit(RowProblem.FAR_FUTURE.value))
    known = {"ts": column(_MILLIS), "problem": problem}
    if part is not None:
        known["part"] = F.coalesce(column(part).cast("string"), F.lit(""))
    if MOVES in timed.columns:
        known["kind"] = F.when(column(MOVES), F.lit(LEFT_OUT))
        if part is not None:
            known["part"] = F.when(column(MOVES).isNull(), known["part"])
    return timed.withColumn(MARKS, _marks(known)).drop(_EVENT_TIME, _MILLIS, MOVES)


def batch_timestamp() -> "Column":
    """The timestamp of the micro-batch, as an expression that reads the same in each of them.

    Spark puts ``current_timestamp()`` into the code that it generates, as a number. So the code
    would differ between micro-batches, and each of them would compile it anew and run it cold.
    ``zip_with`` is no part of that code: it is called. Its arrays are constants, as one that is
    made for each row takes most of the time.
    """
    constant = F.array(F.lit(0))
    return F.zip_with(constant, constant, lambda one, other: F.current_timestamp()).getItem(0)


def source_of(
    df: "DataFrame", timestamp: str, delay: int | None, max_ahead: int | None
) -> SourceClock | None:
    """How Spark's watermark follows these rows, see `source_rows`; None if they do not say."""
    if delay is not None:
        return SourceClock(delay, max_ahead=max_ahead)
    present = watermark_of(df)
    if not df.isStreaming or present is None or present[0] != timestamp:
        return None
    return SourceClock(present[1])


def _marks(known: Mapping[str, "Column"]) -> "Column":
    """The hidden column with these fields, all others null."""
    fields = from_arrow_schema(pa.schema(list(MARKS_TYPE)))
    return F.struct(
        *(known.get(it.name, F.lit(None)).cast(it.dataType).alias(it.name) for it in fields)
    )


def without_window(df: "DataFrame") -> "DataFrame":
    """The same rows, in no window."""
    loose = F.col(MARKS).withField("start", F.lit(None).cast("long"))
    return df.withColumn(MARKS, loose.withField("end", F.lit(None).cast("long")))


def clocks_of(clocks: Iterable[InputClock | None]) -> Clocks | None:
    """The clocks of several inputs; None if the only one uses Spark's."""
    own = tuple(clock for clock in clocks if clock is not None)
    return Clocks(own) if own else None


def clocks_beside(side: Clocks | None, main: Clocks | None) -> Clocks | None:
    """The clocks of a side input and after them those of a main input; None in bounded data."""
    if side is None or main is None:
        return main or side
    return Clocks((*side.inputs, *main.inputs), frozenset(range(len(side.inputs))))


# -- rows for the packer ---------------------------------------------------------------------


def packer_columns(
    df: "DataFrame",
    plan: Plan,
    inputs: Mapping[str, Input],
    timestamp: str | None,
    hidden_columns: Container[str] = (),
    by_part: bool = False,
) -> "DataFrame":
    """The columns that the packer reads, see `beamlike.hosts.spark.pack`.

    The event time is passed on as a plain number. Were the watermark's own column still there,
    Spark would drop late rows before the machine could judge them.

    Args:
        df: Rows with the hidden column.
        timestamp: The event-time column of a source, shown with rows that cannot be grouped;
            None after a grouping.
        hidden_columns: Columns that are not shown with them.
        by_part: Whether the parts of the source have watermarks of their own.
    """
    # First of all: such a row must not move a watermark, whatever else is wrong with it.
    far_future = F.lit(RowProblem.FAR_FUTURE.value)
    reason = F.when(mark("problem") == far_future, far_future)
    for name in plan.keys:
        reason = reason.when(column(name).isNull(), F.lit(RowProblem.NULL_KEY.value))
        reason = reason.when(_clean_key(df, name).isNull(), F.lit(RowProblem.BAD_KEY.value))
    reason = reason.when(mark("problem").isNotNull(), mark("problem"))
    for given in inputs.values():
        unreadable = column(given.source).isNotNull() & given.expression.isNull()
        reason = reason.when(unreadable, F.lit("bad_value"))
    shown = [*plan.keys, *(given.source for given in inputs.values())]
    if timestamp in df.columns:
        shown.insert(len(plan.keys), timestamp)
    shown_struct = F.struct(
        *(column(name) for name in dict.fromkeys(shown) if name not in hidden_columns)
    )
    element = F.to_json(shown_struct, {"ignoreNullFields": "false", "timeZone": "UTC"})
    # Numbered, because not every name can be the name of a column on the way to Python.
    keys = [_clean_key(df, name).alias(f"key_{at}") for at, name in enumerate(plan.keys)]
    values = [given.expression.alias(f"value_{at}") for at, given in enumerate(inputs.values())]
    hashed = F.xxhash64(*(_clean_key(df, name) for name in plan.keys)) if plan.keys else F.lit(0)
    return df.select(
        *keys,
        *values,
        hashed.cast("long").alias("hash"),
        reason.alias("reason"),
        F.when(reason.isNotNull(), element).alias("element"),
        *(mark(name).alias(name) for name in marks_read(timestamp, by_part)),
    )


def _clean_key(df: "DataFrame", name: str) -> "Column":
    """Minus zero is zero, as a key; a time that cannot be read is null."""
    key, kind = column(name), df.schema[name].dataType
    if isinstance(kind, T.FractionalType):
        return F.when(key == 0, F.abs(key)).otherwise(key)
    return readable(key, kind)

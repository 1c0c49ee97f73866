"""DataFrame in, DataFrame of panes out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, get_args

from beamlike.errors import ColumnError, UnsupportedError, WindowingError
from beamlike.model.aggregates import Aggregate
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    WindowingStrategy,
)
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import WindowFn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["split", "windowed"]

Output = Literal["panes", "dropped", "all"]
OnError = Literal["drop", "fail"]


def windowed(
    df: "DataFrame",
    *,
    key: str | Sequence[str],
    timestamp: str,
    window: WindowFn,
    aggregate: Mapping[str, Aggregate],
    watermark: DurationLike | None = None,
    trigger: Trigger | None = None,
    accumulation: AccumulationMode | str | None = None,
    allowed_lateness: DurationLike | None = None,
    timestamp_combiner: TimestampCombiner | str = TimestampCombiner.END_OF_WINDOW,
    closing_behavior: ClosingBehavior | str = ClosingBehavior.FIRE_IF_NON_EMPTY,
    on_time_behavior: OnTimeBehavior | str = OnTimeBehavior.FIRE_ALWAYS,
    late_check: LateCheck | str = LateCheck.ASSIGNED,
    output: Output = "panes",
    on_error: OnError = "drop",
    carry: str | Sequence[str] = (),
    wake_every: DurationLike = "5 seconds",
    shards: int = 8,
    buckets: int = 64,
    name: str = "beamlike",
) -> "DataFrame":
    """Group a DataFrame by key and window, and emit a row for each pane that Beam would emit.

    A duration is ``"10 minutes"``, ``"1h 30m"``, a timedelta, or an int, which counts
    milliseconds.

    A trigger that waits on processing time has to be woken while no data arrives. It adds a
    source of ticks to the query, one row every ``wake_every``, which ``numInputRows`` counts. A
    micro-batch that takes longer than that never lets ``processAllAvailable`` return. Spark does
    not continue a checkpoint when such a trigger is added or removed.

    Args:
        df: Streaming or batch. In a batch one bundle holds all data of a key, and the
            watermark then goes straight to infinity.
        key: Key column or columns of any plain type; an empty list makes one group.
        timestamp: The event-time column: a timestamp, a date, or a string in Spark's format that
            begins with a date, such as ``"2013-01-01 05:15:00"`` or ``"2013-01-01T05:15:00Z"``.
            Without a zone, the session's time zone applies.
        window: `FixedWindows`, `SlidingWindows`, `Sessions`, `GlobalWindows`, calendar windows
            such as `CalendarDays`, or a `WindowFn` of your own. It is given the time of a row
            and no value, so a gap that depends on the element is for scenarios only.
        aggregate: Output name to aggregate: ``{"n": bl.count(), "delay": bl.mean("delay")}``.
        watermark: How far event time may be out of order: the watermark trails the greatest
            event time seen by this much. None: ``df`` has a watermark already. Batch needs none.
        trigger: Default: at the end of the window, then for each late bundle.
        accumulation: ``"discarding"``, ``"accumulating"`` or ``"retracting"``; required as soon
            as a window can emit several panes. Retracting adds a boolean column ``retraction``:
            such a row withdraws the pane that it repeats.
        allowed_lateness: How long after its end a window still accepts data. Default 0;
            required with a trigger, outside the global window.
        timestamp_combiner: What a pane's ``timestamp`` is: ``"end_of_window"`` (its last
            millisecond), or the ``"earliest"`` or ``"latest"`` of its new elements in time.
        closing_behavior: Whether the last pane is emitted when nothing is new:
            ``"fire_if_non_empty"`` (no) or ``"fire_always"``.
        on_time_behavior: The same for the on-time pane: ``"fire_always"`` (as in Beam) or
            ``"fire_if_non_empty"``.
        late_check: What decides that a row is too late: ``"assigned"``, its own window before any
            merging, as in Beam; ``"merged"``, its session after merging; ``"element"``, its
            timestamp.
        output: ``"panes"``; ``"dropped"`` for the rows that no pane took, with the reason;
            ``"all"`` for both in one frame, told apart by `split`.
        on_error: What to do with a row without key or readable timestamp, or with a value that
            cannot be read: ``"drop"`` delivers it as dropped, ``"fail"`` stops the query.
        carry: Columns that a dropped row's ``element`` shows besides the key and the inputs of the
            aggregates, so that it can be found again or sent once more.
        wake_every: How late a processing-time trigger may fire while no data arrives. Without such
            a trigger it has no effect.
        shards: How many groups the keys are spread over: the most tasks that can work at once.
        buckets: State blobs in each shard. Shards and buckets belong to a checkpoint.
        name: Under which Spark's query progress reports the counts of panes and drops; give
            each grouping of one query its own.

    Returns:
        The key columns; ``window`` (struct of start and end, both null for the global window);
        the aggregates; ``timestamp``; ``pane`` (struct of timing, index, nonspeculative_index,
        is_first, is_last). With ``"all"`` and ``"dropped"`` also ``dropped`` (struct of reason,
        timestamp, missed_ms, element as JSON); the reason is ``expired``, ``closed``,
        ``null_key``, ``bad_key``, ``null_timestamp``, ``bad_timestamp`` or ``bad_value``. An
        instant that SQL cannot show is null.

    Raises:
        WindowingError: The windowing makes no sense, as Beam judges it.
        UnsafeTriggerError: The trigger can finish and lose data.
        ColumnError: A column is missing or has a type that cannot be used.
        UnsupportedError: Sessions whose gap depends on the element.
        EnvironmentProblem: The session's Spark or state store cannot run this.

    Source: Beam ``Window.into(...).triggering(...)`` followed by ``Combine.perKey``.
    """
    from beamlike.hosts.spark import session

    session.check_spark_version()
    keys = _check_inputs(df, key, aggregate)
    carried = _column_names(carry, "carry")
    if not isinstance(window, WindowFn):
        raise WindowingError(
            f'window must be a window function such as FixedWindows("1 hour"), got {window!r}'
        )
    strategy = WindowingStrategy.declared(
        window,
        trigger=trigger,
        accumulation=accumulation,
        allowed_lateness=allowed_lateness,
        timestamp_combiner=timestamp_combiner,
        closing_behavior=closing_behavior,
        on_time_behavior=on_time_behavior,
        late_check=late_check,
        unbounded=df.isStreaming,
    )
    _check_choice("output", output, get_args(Output))
    _check_choice("on_error", on_error, get_args(OnError))
    for argument, number in (("shards", shards), ("buckets", buckets)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise WindowingError(f"{argument} must be a whole number of 1 or more, got {number!r}")
    if not isinstance(name, str) or not name:
        raise WindowingError(f'name must be a text such as "sales per hour", got {name!r}')
    delay = None if watermark is None else duration_ms(watermark, "watermark")
    wake = duration_ms(wake_every, "wake_every")
    if wake == 0:
        raise WindowingError('wake_every must be more than 0 ms; give one such as "5 seconds"')

    if isinstance(window, Sessions) and callable(window.gap):
        raise UnsupportedError(
            f"{window} asks each element for its gap, and a row of a DataFrame is no single value "
            "that could be asked; use one gap for all, or a TestStream for such scenarios"
        )

    from beamlike.hosts.spark import bind, query
    from beamlike.hosts.spark.values import no_value, reading

    strategy = strategy.configured(reading(window, no_value))
    plan, inputs = bind.bind(
        df, strategy, keys, timestamp, aggregate, carried, shards, buckets, on_error
    )
    timed = bind.with_event_time(df, timestamp)
    if not df.isStreaming:
        everything = query.bounded(bind.packer_columns(timed, plan, inputs, timestamp), plan)
    else:
        session.check_state_store(df.sparkSession)
        _check_watermark(bind.has_watermark(df), watermark)
        if delay is not None:
            timed = timed.withWatermark(bind.EVENT_TIME, f"{delay} milliseconds")
        everything = query.streaming(
            bind.packer_columns(timed, plan, inputs, timestamp), plan, wake
        )
        everything = everything.observe(name, *query.counters())
    if output == "all":
        return everything
    panes, dropped = split(everything)
    return panes if output == "panes" else dropped


def split(everything: "DataFrame") -> tuple["DataFrame", "DataFrame"]:
    """The panes and the dropped rows of a frame made with ``output="all"``.

    For ``foreachBatch``, so that one query writes both::

        def save(batch, batch_id):
            batch.persist()  # or Spark runs the grouping once for each of the two
            panes, dropped = bl.split(batch)
            ...
            batch.unpersist()

    Raises:
        ColumnError: The frame was made otherwise.
    """
    from pyspark.sql import functions as F

    if "dropped" not in getattr(everything, "columns", ()):
        raise ColumnError(
            'split takes a frame made with windowed(..., output="all"); this one has no column '
            "'dropped'"
        )
    panes = everything.filter(F.col("dropped").isNull()).drop("dropped")
    return panes, everything.filter(F.col("dropped").isNotNull())


def _check_inputs(df: object, key: object, aggregate: object) -> list[str]:
    """The key columns, once everything is of the kind that the signature says."""
    from pyspark.sql import DataFrame

    if not isinstance(df, DataFrame):
        raise ColumnError(f"df must be a DataFrame of Spark, got {df!r}")
    keys = _column_names(key, "key")
    example = 'such as {"n": bl.count()}'
    if not isinstance(aggregate, Mapping):
        raise ColumnError(f"aggregate must map names to aggregates, {example}, got {aggregate!r}")
    if not aggregate:
        raise ColumnError(f"aggregate must name at least one aggregate, {example}")
    for name in aggregate:
        if not isinstance(name, str) or not name:
            raise ColumnError(f"aggregate: a column's name must be a text, got {name!r}")
    return keys


def _column_names(given: object, argument: str) -> list[str]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise ColumnError(f"{argument} must be a column's name or a list of names, got {given!r}")
    return list(names)


def _check_watermark(present: bool, wanted: object) -> None:
    if not present and wanted is None:
        raise WindowingError(
            "watermark is missing, and without one no window of a stream ever ends; add "
            'watermark="10 minutes", or as long as rows may be out of order. If df.withWatermark '
            "was called before, keep its column until here"
        )
    if present and wanted is not None:
        raise WindowingError(
            f"df has a watermark already, and watermark={wanted!r} would be a second one; leave "
            "one of the two out"
        )


def _check_choice(argument: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        known = ", ".join(repr(choice) for choice in choices)
        raise WindowingError(f"{argument} must be one of {known}, got {value!r}")

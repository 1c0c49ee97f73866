"""DataFrame in, DataFrame of panes out."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack, cast, get_args

from beamlike.api.arguments import (
    A_KEY,
    A_TIMESTAMP,
    AN_AGGREGATE,
    aggregates,
    check_choice,
    check_name,
    check_watermark,
    column_names,
    jump_ms,
    positive_duration,
    warn_of_numbers,
)
from beamlike.api.dataframe.inputs import Inputs, InputSource, Reject, Rows, without_rejected
from beamlike.api.dataframe.stage import group_rows, stage_options, warn_of
from beamlike.errors import ColumnError, WindowingError
from beamlike.hosts.finding import frames_of, opened
from beamlike.hosts.frames import EventTimes
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock
from beamlike.model.aggregates import Aggregate
from beamlike.model.graph import Edge, ReadNode, WindowNode
from beamlike.model.options import by_name
from beamlike.model.resolution import ResolutionLike, resolution_of
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import strategy_of_call
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import (
    BUCKETS,
    DEFAULT_RESOLUTION,
    MAX_AHEAD,
    SHARDS,
    STAGE,
    WAKE_EVERY,
    MachineName,
    OnError,
    Render,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


Output = Literal["panes", "dropped", "all"]


@by_name(
    "windowed",
    WindowingError,
    key=A_KEY,
    timestamp=A_TIMESTAMP,
    aggregate=AN_AGGREGATE,
    keywords=StrategyParts.__annotations__,
)
def windowed(
    df: "DataFrame",
    *,
    key: str | Sequence[str],
    timestamp: str,
    aggregate: Mapping[str, Aggregate],
    watermark: DurationLike | None = None,
    max_ahead: DurationLike | None = MAX_AHEAD,
    max_jump: DurationLike | None = None,
    idle_after: DurationLike | None = None,
    window: WindowFn | None = None,
    window_input: str | Sequence[str] = (),
    strategy: WindowingStrategy | None = None,
    output: Output = "panes",
    render: Render = "retractions",
    on_error: OnError = "drop",
    max_failures: float | None = None,
    reject: Reject | None = None,
    carry: str | Sequence[str] = (),
    name: str = STAGE,
    wake_every: DurationLike = WAKE_EVERY,
    lift: bool = False,
    hot_key_fanout: int | None = None,
    shards: int = SHARDS,
    buckets: int = BUCKETS,
    machine: MachineName = "auto",
    record: int = 0,
    resolution: ResolutionLike = DEFAULT_RESOLUTION,
    **parts: Unpack[StrategyParts],
) -> "DataFrame":
    """Group rows by key and window, and emit a row for each pane that Beam would emit.

    In short::

        panes = bl.windowed(
            clicks,
            key="user",
            timestamp="at",
            watermark="10 minutes",
            window=bl.FixedWindows("1 hour"),
            aggregate={"clicks": bl.count()},
        )

    A duration is ``"10 minutes"``, ``"1h 30m"``, a timedelta, or an int, which counts
    milliseconds.

    A trigger on processing time has to fire while no data arrives, too. It adds a
    source of ticks to the query, one row every ``wake_every``, which ``numInputRows`` counts. A
    micro-batch that takes longer than that never lets ``processAllAvailable`` return. Spark does
    not continue a checkpoint when such a trigger is added or removed.

    What to group:
        df: A DataFrame, streaming or batch, or a table of pyarrow, for which ``beamlike[local]``
            is enough: it is a batch, and the result is a table, too. In a batch one bundle holds
            all data of a key, and the watermark then goes straight to infinity.
        key: Key column or columns of any plain type, without collation; an empty list makes one
            group.
        timestamp: The event-time column: a timestamp, a date, or a string in Spark's format that
            begins with a date, such as ``"2013-01-01 05:15:00"`` or ``"2013-01-01T05:15:00Z"``.
            Without a zone, the session's time zone applies, for a table UTC.
        aggregate: Output name to aggregate: ``{"n": bl.count(), "delay": bl.mean("delay")}``.
        watermark: How far event time may be out of order: the watermark trails the greatest
            event time seen by this much. None: ``df`` has a watermark already. Batch needs none.
        max_ahead: How far ahead of the clock the event time of a stream's row may lie. A row beyond
            that is dropped as ``far_future`` and does not move the watermark; one that is ahead by
            less moves it to the clock at most, so that one wrong clock does not end all other
            windows. The clock is the timestamp of the micro-batch, which a replay repeats.
            Times in the past are always fine. None: any time counts, and moves the watermark as it
            is. No effect on a batch, nor where ``df`` has a watermark of its own: Spark has
            moved it already.
        max_jump: How far ahead of all rows before it a row of a stream may lie and move the
            watermark at once. The watermark stays at a row that is further ahead for as long as
            rows come before the gap: the row is an element like any other, the progress has
            ``watermark_held``, and a warning names the row. Once none of these has come for
            ``idle_after``, the source goes on after the gap. So one row, one key or one part of the
            input cannot end the windows of the others. At least ``watermark``, which has to be said
            here. None: any row moves the watermark. No effect on a batch.
        idle_after: For ``max_jump``: after how much processing time without a row before the gap
            the watermark goes on after it. None: five minutes.

    Windows:
        window: `FixedWindows`, `SlidingWindows`, `Sessions`, `GlobalWindows`, calendar windows
            such as `CalendarDays`, or a `WindowFn` of your own. Sessions exactly one gap apart
            stay apart, unless ``Sessions(gap, merge_touching=True)`` joins them as Spark's
            ``session_window`` does.
        window_input: Column or columns whose values the window function and the trigger are
            given, for gaps that depend on the row, ``Sessions(gap_of)`` with
            ``window_input="page"``, and for `AfterDelta`. Several columns make a tuple. By
            default a window function sees the time of a row and no value.
        strategy: All parts in one value, `WindowingStrategy`, in place of ``window`` and of each
            argument under triggers and panes.

    Triggers and panes:
        trigger: Default: at the end of the window, then for each late bundle.
        accumulation: ``"discarding"``, ``"accumulating"`` or ``"retracting"``; required as soon
            as a window can emit several panes. For retracting see ``render``.
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
            timestamp; ``"retain"``, as assigned, but sessions that a row in time can touch stay.
        unchanged: Whether a retracting pane that would put the same value back is emitted all the
            same, ``"re_emit"``, or left out together with its retraction, ``"omit"``.

    Results:
        output: ``"panes"``; ``"dropped"`` for the rows that no pane took, with the reason;
            ``"all"`` for both in one frame, which `split` separates.
        render: How retracting panes look. ``"retractions"``: a boolean column ``retraction``;
            such a row withdraws the pane that it repeats. ``"changelog"``: a column ``change``,
            ``"upsert"`` or ``"delete"`` of the result for key and window. ``"upserts"``: the same
            for key and ``session_identity``, a text that stays as a session grows.
        on_error: What to do with a row without key or readable timestamp, with a value that
            cannot be read, for which a function of your own raises, or that makes an aggregate
            outgrow its type: ``"drop"`` delivers it as dropped, ``"fail"`` stops the query.
        max_failures: With ``"drop"``, the greatest share of calls of your own functions that may
            fail, so that a misspelt name does not look like no data. Each shard counts its
            elements and its panes from a failure on; of 20 or more, a greater share stops the
            query with what the function raised. Default 0.9; 1 never stops it.
        reject: Conditions by reason: ``{"negative": "price < 0"}``, as SQL or columns. A row that
            meets one is dropped for that reason, whatever ``on_error`` says. The first one that it
            meets counts. It still moves the watermark. For a row without key or readable
            timestamp that remains the reason.
        carry: Columns that a dropped row's ``element`` shows besides the key and the inputs of the
            aggregates, so that it can be found again or sent once more. Needs ``output`` ``"all"``
            or ``"dropped"``.

    Operation:
        name: Under which Spark's query progress reports the counts of panes and drops; give
            each grouping of one query its own.
        wake_every: How late a processing-time trigger may fire while no data arrives. Without such
            a trigger it has no effect.
        lift: Combine rows by key and window where they are read, before they cross the network,
            as Beam does for ``CombinePerKey``. For windows that do not merge. What comes too late
            is then dropped as one row for all that were combined, with their ``count`` and
            without the elements. The order of arrival is not kept, as with the next.
        hot_key_fanout: Spread rows over so many groups first, whatever their key, each of which
            combines its own: for keys that get more rows than one task can take. Late rows are
            dropped one by one, as always.
        shards: How many groups the keys are spread over: the maximum of parallel tasks.
        buckets: How many parts the keys of each shard are in. On the reference machine a step
            looks only at the parts with new rows or with something due. Shards and buckets belong
            to a checkpoint.
        machine: ``"auto"`` takes the columnar machine, which steps all keys of a shard at once,
            wherever it can, and the reference machine for the rest, such as a window function of
            your own; `explain_plan` shows which and why. ``"reference"`` always takes that one, and
            ``"columnar"`` refuses what needs it. They emit the same panes and save the same
            state, so a query may change between them.
        record: Each shard keeps the rows that it was sent, beside its state, so that ``beamlike
            capture`` can make a test of what a key got. It is the most bytes of a shard's record,
            after which the oldest rows make room; 0: nothing is recorded. It may change at each
            start. Costs a second copy of the rows that arrive.
        resolution: What times count inside: ``"microseconds"``, as timestamps of Spark do, or
            ``"milliseconds"``, as Beam's do, which cuts what is finer, and where the last instant
            of a window is a millisecond before its end. A query that starts from a checkpoint of
            milliseconds goes on in these.

    Returns:
        The key columns; ``window`` (struct of start and end, both null for the global window);
        the aggregates; ``timestamp``; ``pane`` (struct of timing, index, nonspeculative_index,
        is_first, is_last); what ``render`` adds. With ``"all"`` and ``"dropped"`` also ``dropped``:
        a struct of ``stage`` (``name``), ``reason``, the element's ``timestamp``, the
        ``watermark`` at that time, ``missed_ms``, its own ``window``, the
        ``nearest_session`` that it missed, ``count`` (1 for a row), ``error`` of a function of
        your own, and ``element`` as JSON. The reason is ``expired``, ``closed``, ``failed``,
        ``null_key``, ``bad_key``, ``null_timestamp``, ``bad_timestamp``, ``far_future``,
        ``bad_value``, or one of ``reject``. An instant that SQL cannot show is null.

    Raises:
        WindowingError: The windowing is invalid, as in Beam; ``carry`` without dropped rows, or
            ``window_input`` that nothing reads.
        UnsafeTriggerError: The trigger can finish and lose data.
        ColumnError: A column is missing or has a type that cannot be used.
        CombineError: A declared type of an aggregate cannot be read or does not fit.
        TimeError: A duration cannot be read.
        UnsupportedError: Sessions whose gap depends on the element, or a trigger that looks at
            values, without ``window_input``;
            ``machine="columnar"`` for what only the other one can do.
        EnvironmentProblem: The session's Spark or state store cannot run this.

    Warns:
        UnwiseStrategyWarning: The trigger never fires on a stream, or the state of a key grows
            for ever; with the line to change.
        DurationWarning: A duration is a number that is no whole number of seconds, as the gap of
            ``Sessions(30)``; with the text to write.

    Source: Beam ``Window.into(...).triggering(...)`` followed by ``Combine.perKey``.
    """
    df, unit = opened(df), resolution_of(resolution)
    frames = frames_of(df)
    keys, carried = column_names(key, "key"), column_names(carry, "carry")
    wanted = aggregates(aggregate)
    strategy = strategy_of_call("windowed", window, strategy, parts, unbounded=df.isStreaming)
    warn_of_numbers(
        "windowed",
        strategy=strategy,
        watermark=watermark,
        max_ahead=max_ahead,
        max_jump=max_jump,
        idle_after=idle_after,
        wake_every=wake_every,
    )
    check_choice("output", output, get_args(Output))
    if carried and output == "panes":
        raise WindowingError(
            f'carry={carry!r} shows columns with dropped rows, and output="panes" delivers none; '
            'add output="all", or leave carry out'
        )
    check_name(name)
    options = stage_options(
        strategy,
        name,
        on_error=on_error,
        max_failures=max_failures,
        render=render,
        lift=lift,
        hot_key_fanout=hot_key_fanout,
        shards=shards,
        buckets=buckets,
        machine=machine,
        record=record,
    )
    options["has_downstream"] = False
    delay = None if watermark is None else duration_ms(watermark, "watermark")
    ahead = None if max_ahead is None else duration_ms(max_ahead, "max_ahead")
    wake = positive_duration("wake_every", wake_every)
    silence = None if idle_after is None else positive_duration("idle_after", idle_after)
    jump = jump_ms(max_jump, delay)
    if jump is None and silence is not None:
        raise WindowingError(
            "idle_after says when the watermark goes on after a gap that max_jump has held it at; "
            "add max_jump, or leave it out: a single input waits for no other"
        )

    present = None
    if df.isStreaming:
        warn_of(strategy)
        frames.check_stream(df)
        present = frames.watermark_of(df)
        check_watermark(present is not None, watermark)
        if jump is not None and delay is None:
            raise WindowingError(
                "max_jump holds the watermark of windowed, and df has one of Spark's, which has "
                "moved already; leave df.withWatermark out and say watermark= here"
            )
    else:
        delay = None
    # Without a delay nothing here moves the watermark: there is nothing to guard.
    ahead = None if delay is None else ahead
    rows = frames.source_rows(df, EventTimes(timestamp, delay, ahead, resolution=unit))
    wall_clock = frames.columns_of(df).is_wall_clock(timestamp)
    clock = None
    if delay is not None and jump is not None:
        clock = SourceClock(delay, silence, max_ahead=ahead, max_jump=jump)
        options["clocks"] = Clocks((clock,))
    elif delay is not None:
        options["source"] = SourceClock(delay, max_ahead=ahead)
    elif present is not None and present[0] == timestamp:
        options["source"] = SourceClock(present[1])
    source = InputSource(timestamp, clock, unit, wall_clock)
    read = ReadNode(f"rows by {timestamp!r}", (), source, not df.isStreaming)
    put = WindowNode("window", (Edge(read),), strategy.window_fn)
    grouped = group_rows(
        without_rejected(Inputs((Rows(rows, put),)), reject),
        strategy,
        key=keys,
        aggregate=wanted,
        carry=carried,
        window_input=column_names(window_input, "window_input"),
        wake_every_ms=wake,
        options=options,
    )
    everything = frames.everything(grouped.frame)
    if output == "all":
        return cast("DataFrame", frames.result(everything))
    shown = frames.panes(everything) if output == "panes" else frames.split(everything)[1]
    return cast("DataFrame", frames.result(shown))


def split(everything: "DataFrame") -> tuple["DataFrame", "DataFrame"]:
    """The panes and the dropped rows of a frame that has both.

    That is one made with ``windowed(..., output="all")``, or `Stream.everything`.

    For ``foreachBatch``, so that one query writes both::

        def save(batch, batch_id):
            batch.persist()  # or Spark runs the grouping once for each of the two
            panes, dropped = bl.split(batch)
            ...
            batch.unpersist()

    Raises:
        ColumnError: The frame was made otherwise.
    """
    frame = opened(everything)
    if "dropped" not in getattr(frame, "columns", ()):
        raise ColumnError(
            'split takes a frame made with windowed(..., output="all"); this one has no column '
            "'dropped'"
        )
    frames = frames_of(frame)
    panes, dropped = map(frames.result, frames.split(frame))
    return panes, dropped

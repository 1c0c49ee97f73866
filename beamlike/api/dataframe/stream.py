"""A stream of rows with event times and windows: grouped, joined, grouped again, in one query.

`Stream` is what Beam calls a collection. Every verb returns a new one and nothing runs until
its `Stream.rows` are written somewhere. Each input has a watermark of its own. A grouping
downstream of another one gets its output watermark, so panes arrive there on time.

Source: Beam ``PCollection``, ``Window``, ``GroupByKey``, ``Flatten``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Unpack, get_args

import attrs

from beamlike.api.arguments import (
    A_KEY,
    A_TIMESTAMP,
    AN_AGGREGATE,
    aggregates,
    check_choice,
    check_idle,
    check_watermark,
    column_names,
    jump_ms,
    positive_duration,
    warn_of_numbers,
)
from beamlike.api.dataframe.inputs import Inputs, InputSource, Reject, Rows, without_rejected
from beamlike.api.dataframe.key_clocks import key_clock_of
from beamlike.api.dataframe.keyed import KeyedSteps
from beamlike.api.dataframe.regrouping import warn_of_times
from beamlike.api.dataframe.stage import group_rows, stage_name, stage_options, warn_of
from beamlike.errors import ColumnError, WindowingError
from beamlike.hosts.finding import frames_of, opened
from beamlike.hosts.frames import EventTimes
from beamlike.machine.input_clocks import Idle, SourceClock
from beamlike.model.aggregates import Aggregate
from beamlike.model.graph import Edge, ReadNode, WindowNode
from beamlike.model.options import by_name
from beamlike.model.readable import Readable
from beamlike.model.resolution import ResolutionLike, resolution_of
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.strategy_arguments import check_alone, check_lateness
from beamlike.model.strategy_parts import StrategyParts
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.options import (
    BUCKETS,
    DEFAULT_RESOLUTION,
    MAX_AHEAD,
    SHARDS,
    WAKE_EVERY,
    MachineName,
    OnError,
    Render,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.runtime.frame_columns import FrameColumns


@by_name("stream", WindowingError, timestamp=A_TIMESTAMP)
def stream(
    df: "DataFrame",
    *,
    timestamp: str,
    watermark: DurationLike | None = None,
    max_ahead: DurationLike | None = MAX_AHEAD,
    idle_after: DurationLike | None = None,
    idle: Literal["release", "advance"] = "release",
    watermark_by: str | None = None,
    max_jump: DurationLike | None = None,
    resolution: ResolutionLike = DEFAULT_RESOLUTION,
) -> "Stream":
    """Rows with event times, in the global window until `Stream.window` is called.

    Args:
        df: A DataFrame, streaming or bounded, or a table of pyarrow, which is bounded: then
            `Stream.rows` is a table, too. The watermark of bounded rows goes straight to infinity.
        timestamp: The event-time column, see `beamlike.windowed`.
        watermark: How far event time may be out of order: this input's own watermark trails its
            greatest event time by this much. None: ``df`` has ``withWatermark`` on the event-time
            column. Bounded data needs none.
        max_ahead: How far ahead of the clock the event time of a stream's row may lie, see
            `beamlike.windowed`: a row beyond that does not move the watermark, and the next
            grouping drops it as ``far_future``; one that is ahead by less moves it to the clock at
            most. None: any time counts, and moves the watermark as it is.
        idle_after: After how much processing time without a row this input is idle; None:
            never, and stages downstream wait for its watermark. No effect on bounded data. The
            query is woken for it: each quarter of that time, each 5 seconds at most and each minute
            at least, or as ``wake_every`` of a grouping says.
        idle: What happens then: ``"release"``, the other inputs no longer wait for it, and if all
            are idle the greatest of their watermarks counts; ``"advance"``, its watermark follows
            the clock, so that windows end although no row comes. A row that comes late after that
            may be dropped. Needs ``idle_after``.
        watermark_by: The column that names the part of the input that a row comes from, such as
            Kafka's ``partition``: text or a whole number. Each part then has a watermark of its
            own, and that of the input is the least of them. A part that delivers nothing for
            ``idle_after`` no longer holds the others back, until it delivers again; it is logged,
            and `beamlike state` lists it. When all parts are idle, the greatest of their watermarks
            counts. Needs ``idle_after``. Each shard keeps a few bytes for
            each part. None: one watermark, by the greatest event time of all rows, so that what a
            part delivers behind the others may be late.
        max_jump: How far ahead of all rows before it a row of a stream may lie and move the
            watermark at once. The watermark stays at a row that is further ahead for as long as
            rows come before the gap: the row is an element like any other, the progress has
            ``watermark_held``, and a warning names the row. Once none of these has come for
            ``idle_after``, or five minutes without one, the source goes on after the gap. So one
            row, one key or one part of the input cannot end the windows of the others. At least
            ``watermark``. None: any row moves the watermark.
        resolution: What times count in all that follows, see `beamlike.windowed`.

    Raises:
        ColumnError: The event-time column is missing or no time; a column is called ``dropped``;
            ``watermark_by`` is missing, or neither text nor a whole number.
        WindowingError: A stream without watermark, or with one on another column; ``"advance"``,
            ``watermark_by`` or ``max_jump`` without ``idle_after``; a ``max_jump`` shorter than
            ``watermark``.
        TimeError: A duration cannot be read.
        EnvironmentProblem: The session's Spark or state store cannot run this.

    Source: Beam's timestamped ``Read`` and its splits; Flink ``WatermarkStrategy.withIdleness``.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def per_hour(orders):
    ...     rows = bl.stream(orders, timestamp="at", watermark="10 minutes")
    ...     hours = rows.window(bl.FixedWindows("1 hour"))
    ...     return hours.group("item", {"n": bl.count()})
    >>> query = QueryTest(per_hour, "item string, at timestamp")
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, {"item": "tea", "at": "12:07:00"})
    >>> [(row["item"], row["n"]) for row in query.advance_watermark_to_infinity()]
    [('tea', 2)]
    """
    df, unit = opened(df), resolution_of(resolution)
    frames = frames_of(df)
    columns = frames.columns_of(df)
    warn_of_numbers(
        "stream",
        watermark=watermark,
        max_ahead=max_ahead,
        idle_after=idle_after,
        max_jump=max_jump,
    )
    columns.check_free(columns.schema.names, "df")
    check_choice("idle", idle, get_args(Literal["release", "advance"]))
    delay = None if watermark is None else duration_ms(watermark, "watermark")
    ahead = None if max_ahead is None else duration_ms(max_ahead, "max_ahead")
    silence = None if idle_after is None else positive_duration("idle_after", idle_after)
    check_idle(idle == "advance", silence)
    jump = jump_ms(max_jump, delay)
    if watermark_by is not None:
        _check_parts(columns, watermark_by, silence)
    if not df.isStreaming:
        rows, known = frames.source_rows(df, EventTimes(timestamp, resolution=unit)), 0
    else:
        frames.check_stream(df)
        present = frames.watermark_of(df)
        check_watermark(present is not None, watermark)
        if present is not None and present[0] != timestamp:
            raise WindowingError(
                f"the watermark of df is on column {present[0]!r} and timestamp is {timestamp!r}; "
                "leave df.withWatermark out and say watermark= here"
            )
        times = EventTimes(timestamp, delay, ahead, watermark_by, unit)
        rows = frames.source_rows(df, times)
        known = present[1] if present is not None else delay or 0
    by_part = watermark_by is not None and df.isStreaming
    clock = SourceClock(known, silence, Idle(idle), ahead, by_part, max_jump=jump)
    source = InputSource(timestamp, clock, unit, columns.is_wall_clock(timestamp))
    node = ReadNode(f"stream by {timestamp!r}", (), source, not df.isStreaming)
    return Stream(WindowingStrategy.unwindowed(), Inputs((Rows(rows, node),)))


def _check_parts(columns: "FrameColumns", name: str, silence: int | None) -> None:
    """Refuse a column that cannot name the parts of an input."""
    import pyarrow as pa

    from beamlike.runtime.sql_types import type_text

    field = columns.field(name, "watermark_by")
    if not pa.types.is_string(field.type) and not pa.types.is_integer(field.type):
        raise ColumnError(
            f"watermark_by: column {name!r} is {type_text(field)}; give one of text or whole "
            "numbers, such as Kafka's partition"
        )
    if silence is None:
        raise WindowingError(
            f"watermark_by={name!r} needs idle_after, because a part that falls silent would hold "
            'the others back for ever; add idle_after="5 minutes", or as long as no row may mean '
            "nothing"
        )


@attrs.frozen(eq=False, repr=False)
class Stream(KeyedSteps, metaclass=Readable):
    """Rows with event times and a windowing strategy, streaming or bounded.

    ``strategy`` is what the next grouping follows. Make one with `stream`, `flatten`,
    `co_group`, `join` or `look_up`. ``inputs`` is for those: rows with what only they need.

    >>> import beamlike as bl
    >>> from beamlike.testing import QueryTest
    >>> def busy_hours(orders):
    ...     rows = bl.stream(orders, timestamp="at", watermark="0 s")
    ...     hours = rows.window(bl.FixedWindows("1 hour"))
    ...     return hours.group("item", {"n": bl.count()}).group([], {"items": bl.count()})
    >>> query = QueryTest(busy_hours, "item string, at timestamp")
    >>> rows = query.send({"item": "tea", "at": "12:01:00"}, {"item": "milk", "at": "12:07:00"})
    >>> [row["items"] for row in query.advance_watermark_to_infinity()]
    [2]
    """

    strategy: WindowingStrategy
    inputs: Inputs

    def __repr__(self) -> str:
        return f"Stream({', '.join(self.columns)}; {self.strategy})"

    # -- looking at it -----------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.inputs.columns

    @property
    def rows(self) -> "DataFrame":
        """The rows as a plain DataFrame: after a grouping a row for each pane."""
        frames = self.inputs.frames
        rows: DataFrame = frames.result(frames.data(self.inputs.union))
        return rows

    @property
    def everything(self) -> "DataFrame":
        """The rows, and beside them all that was dropped on the way here, see `split`."""
        frames = self.inputs.frames
        everything: DataFrame = frames.result(frames.everything(self.inputs.union))
        return everything

    @property
    def dropped(self) -> "DataFrame":
        """What was dropped upstream; ``dropped.stage`` is the name of the grouping."""
        frames = self.inputs.frames
        everything = frames.everything(self.inputs.union)
        dropped: DataFrame = frames.result(frames.split(everything)[1])
        return dropped

    # -- windows -----------------------------------------------------------------------------

    @by_name("Stream.window", WindowingError, keywords=StrategyParts.__annotations__)
    def window(
        self,
        window: WindowFn | None = None,
        *,
        strategy: WindowingStrategy | None = None,
        **parts: Unpack[StrategyParts],
    ) -> "Stream":
        """Set parts of the strategy; None leaves a part as it is.

        With a window function each row is put into windows anew, by its event time, which for
        a pane is its timestamp. Without one rows keep the windows they are in::

            hours = rows.window(bl.FixedWindows("1 hour"), allowed_lateness="6 hours")

        Windows:
            window: How rows are put into windows.
            strategy: All parts in one value, in place of ``window`` and of any other.

        Triggers and panes, as of `beamlike.windowed`:
            trigger: When panes are emitted.
            accumulation: Whether a pane holds what is new or everything so far.
            allowed_lateness: How long after its end a window still accepts data.
            timestamp_combiner: Which event time a pane is stamped with.
            closing_behavior: Whether an empty last pane is emitted.
            on_time_behavior: Whether an empty on-time pane is emitted.
            late_check: What decides that a row is too late.
            unchanged: Whether a pane with an unchanged value comes out again, where panes are
                withdrawn.

        Raises:
            WindowingError: As `WindowingStrategy.configured`; an allowed lateness that is shorter
                than the one before, as it never shrinks. ``strategy`` may have any.
            TimeError: The allowed lateness cannot be read.

        Warns:
            UnwiseStrategyWarning: The rows are panes that are stamped with the end of their window,
                and the new windows would not be those of their elements, such as sessions.

        Source: Beam ``Window.into`` and ``Window.configure``; Scio's ``WindowOptions``.
        """
        lateness = parts.get("allowed_lateness")
        trigger = parts.get("trigger")
        warn_of_numbers("Stream.window", window, trigger, strategy, allowed_lateness=lateness)
        if strategy is None:
            check_lateness(self.strategy, lateness)
            strategy = self.strategy.configured(window, **parts)
            if window is None:
                return attrs.evolve(self, strategy=strategy)
        else:
            check_alone("Stream.window", strategy, window, parts)
        warn_of_times(self.inputs, strategy.window_fn)
        return put_into(self, strategy)

    def remerge(self) -> "Stream":
        """The same windows, to be merged once more by the next grouping.

        Source: Beam Java ``Window.remerge``.
        """
        return attrs.evolve(self, strategy=self.strategy.remerge())

    # -- grouping ----------------------------------------------------------------------------

    @by_name("Stream.group", WindowingError, key=A_KEY, aggregate=AN_AGGREGATE)
    def group(
        self,
        key: str | Sequence[str],
        aggregate: Mapping[str, Aggregate],
        *,
        carry: str | Sequence[str] = (),
        window_input: str | Sequence[str] = (),
        render: Render = "retractions",
        on_error: OnError = "drop",
        max_failures: float | None = None,
        reject: Reject | None = None,
        wake_every: DurationLike = WAKE_EVERY,
        lift: bool = False,
        hot_key_fanout: int | None = None,
        shards: int = SHARDS,
        buckets: int = BUCKETS,
        machine: MachineName = "auto",
        record: int = 0,
        watermark_per_key: bool = False,
        name: str | None = None,
    ) -> "Stream":
        """Group by key and window: a row for each pane that Beam would emit.

        The result has the columns of `beamlike.windowed`, whose arguments these are. Its
        strategy is the same with the continuation of the trigger; sessions count as merged.

        Args:
            watermark_per_key: Each key has the watermark that the input would have if it sent the
                rows of this key alone: its windows end by it, and its rows are late by it, however
                far other keys are. For keys that are devices with clocks and delays of their own.
                A key that falls silent keeps its windows open, unless the input says
                ``idle="advance"``: then its watermark follows the clock after ``idle_after``. It
                groups rows of one source, key by key on the reference machine, and remembers each
                key for ever. What comes out can be written, and not grouped again. No effect on
                bounded data.
            name: The name of this grouping in drops and in the query's progress. Default:
                ``beamlike``, and ``beamlike 2`` and so on for those that follow. Streams that
                were grouped apart can meet later only if these groupings have names of their own.

        Raises:
            WindowingError: What Beam refuses at a grouping; a name that is taken.
            UnsafeTriggerError: The trigger can finish and lose data.
            ColumnError: A column is missing or has a type that cannot be used.
            CombineError: A declared type of an aggregate cannot be read or does not fit.
            TimeError: A duration cannot be read.
            UnsupportedError: Rows that withdraw others, and sessions or an aggregate that cannot
                take them back; accumulating panes of a grouping before that emits several for a
                window; sessions whose gap depends on the element, without ``window_input``;
                ``watermark_per_key`` with rows of a grouping, of several inputs or with
                ``watermark_by``, or with ``hot_key_fanout``; rows of a grouping with it.

        Warns:
            UnwiseStrategyWarning: As `beamlike.windowed`.

        Source: Beam ``GroupByKey``, ``Combine.perKey``.

        >>> import beamlike as bl
        >>> from beamlike.testing import QueryTest
        >>> def per_hour(readings):
        ...     rows = bl.stream(readings, timestamp="at", watermark="0 s")
        ...     hours = rows.window(bl.FixedWindows("1 hour"))
        ...     return hours.group("device", {"n": bl.count()}, watermark_per_key=True)
        >>> query = QueryTest(per_hour, "device string, at timestamp")
        >>> rows = query.send({"device": "a", "at": "12:05:00"}, {"device": "b", "at": "03:05:00"})
        >>> [(row["device"], row["n"]) for row in query.send({"device": "b", "at": "04:00:00"})]
        [('b', 1)]
        """
        keys, wanted = column_names(key, "key"), aggregates(aggregate)
        warn_of_numbers("Stream.group", wake_every=wake_every)
        self.strategy.check_groupable(unbounded=self.inputs.is_streaming)
        if self.inputs.is_streaming:
            warn_of(self.strategy)
        label = stage_name(name, self.inputs.stages)
        options = stage_options(
            self.strategy,
            label,
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
        options["clocks"] = self.inputs.clocks
        options["reports"] = self.inputs.is_streaming
        if watermark_per_key:
            options["key_clock"] = key_clock_of(self.inputs, label, hot_key_fanout)
            options["reports"] = False
        panes = group_rows(
            without_rejected(self.inputs, reject),
            self.strategy,
            key=keys,
            aggregate=wanted,
            carry=column_names(carry, "carry"),
            window_input=column_names(window_input, "window_input"),
            wake_every_ms=positive_duration("wake_every", wake_every),
            options=options,
        )
        return Stream(self.strategy.after_grouping(), Inputs((panes,)))


def put_into(stream: Stream, strategy: WindowingStrategy) -> Stream:
    """The rows of a stream, put anew into the windows of a strategy."""
    loose = stream.inputs.changed_by(stream.inputs.frames.without_window)
    put = (
        attrs.evolve(rows, node=WindowNode("window", (Edge(rows.node),), strategy.window_fn))
        for rows in loose.rows
    )
    return Stream(strategy, Inputs(tuple(put)))

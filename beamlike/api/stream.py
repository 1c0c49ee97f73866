"""A stream of rows with event times and windows: grouped, joined, grouped again, in one query.

`Stream` is what Beam calls a collection. Every verb returns a new one and nothing runs until
its `Stream.rows` are written somewhere. Each input has a watermark of its own, and a grouping
that follows another one is told that one's output watermark, so panes arrive there on time.

Source: Beam ``PCollection``, ``Window``, ``GroupByKey``, ``Flatten``.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import attrs

from beamlike.api.arguments import (
    aggregates,
    check_choice,
    check_dataframe,
    check_name,
    check_watermark,
    column_names,
    counted,
    positive_duration,
)
from beamlike.api.stage import (
    Branch,
    Grouped,
    OnError,
    Render,
    check_render,
    early_combining,
    group_rows,
    warn_of,
)
from beamlike.errors import ColumnError, WindowingError
from beamlike.machine.clocks import Idle, SourceClock, StageClock
from beamlike.model.aggregates import Aggregate
from beamlike.model.compatible import check_flatten
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    Unchanged,
    WindowingStrategy,
)
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import WindowFn

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from beamlike.hosts.spark.plan import PlanOptions

__all__ = ["Stream", "check_streams", "flatten", "stage_name", "stages_of", "stream"]


def stream(
    df: "DataFrame",
    *,
    timestamp: str,
    watermark: DurationLike | None = None,
    idle_after: DurationLike | None = None,
    idle: Literal["release", "advance"] = "release",
) -> "Stream":
    """Rows with event times, in the global window until `Stream.window` says otherwise.

    Args:
        df: Streaming or bounded. The watermark of a bounded one goes straight to infinity.
        timestamp: The event-time column, see `beamlike.windowed`.
        watermark: How far event time may be out of order: this input's own watermark trails its
            greatest event time by this much. None: ``df`` says it with ``withWatermark`` on the
            event-time column. Bounded data needs none.
        idle_after: After how much processing time without a row this input counts as silent;
            None: never, and what follows waits for it.
        idle: What happens then: ``"release"``, the other inputs no longer wait for it, and if all
            are silent nothing moves; ``"advance"``, its watermark goes on with the clock, so that
            windows end although no row comes. A row that comes late after that may be dropped.

    Raises:
        ColumnError: The event-time column is missing or no time.
        WindowingError: A stream without watermark, or with one on another column.
        TimeError: A duration cannot be read.
        EnvironmentProblem: The session's Spark or state store cannot run this.

    Source: Beam's timestamped ``Read``; Flink ``WatermarkStrategy.withIdleness``.
    """
    from beamlike.hosts.spark import bind, session

    session.check_spark_version()
    check_dataframe(df)
    check_choice("idle", idle, get_args(Literal["release", "advance"]))
    delay = None if watermark is None else duration_ms(watermark, "watermark")
    silence = None if idle_after is None else positive_duration("idle_after", idle_after)
    if not df.isStreaming:
        rows, known = bind.source_rows(df, timestamp, None), 0
    else:
        session.check_state_store(df.sparkSession)
        present = bind.watermark_of(df)
        check_watermark(present is not None, watermark)
        if present is not None and present[0] != timestamp:
            raise WindowingError(
                f"the watermark of df is on column {present[0]!r} and timestamp is {timestamp!r}; "
                "leave df.withWatermark out and say watermark= here"
            )
        rows = bind.source_rows(df, timestamp, delay)
        known = present[1] if present is not None else delay or 0
    clock = SourceClock(known, silence, Idle(idle))
    return Stream(WindowingStrategy.unwindowed(), (Branch(rows, clock, timestamp),))


@attrs.frozen(eq=False, repr=False)
class Stream:
    """Rows with event times and a windowing strategy, streaming or bounded.

    ``strategy`` is what the next grouping follows. Make one with `stream`, `flatten`,
    `co_group`, `join` or `look_up`.
    """

    strategy: WindowingStrategy
    _branches: tuple[Branch, ...]

    def __repr__(self) -> str:
        return f"Stream({', '.join(self.columns)}; {self.strategy})"

    # -- looking at it -----------------------------------------------------------------------

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        from beamlike.hosts.spark.marks import MARKS

        return [name for name in self._branches[0].rows.columns if name != MARKS]

    @property
    def rows(self) -> "DataFrame":
        """The rows as a plain DataFrame: after a grouping a row for each pane."""
        from beamlike.hosts.spark.marks import MARKS, is_data

        return self._union().filter(is_data()).drop(MARKS)

    @property
    def everything(self) -> "DataFrame":
        """The rows, and beside them all that was dropped on the way here, see `split`."""
        return Grouped.everything_of(self._union())

    @property
    def dropped(self) -> "DataFrame":
        """What was dropped on the way here; ``dropped.stage`` says by which grouping."""
        from pyspark.sql import functions as F

        return self.everything.filter(F.col("dropped").isNotNull())

    def _union(self) -> "DataFrame":
        frame = self._branches[0].rows
        for branch in self._branches[1:]:
            frame = frame.unionByName(branch.rows)
        return frame

    # -- row by row --------------------------------------------------------------------------

    def where(self, condition: "Column | str") -> "Stream":
        """Only the rows for which a condition holds.

        As in Beam, a row that is left out still moves the watermark of its source. To keep
        rows from moving it, filter the DataFrame before `stream`.
        """
        from pyspark.sql import functions as F

        from beamlike.hosts.spark.marks import LEFT_OUT, MARKS, is_data

        holds = F.expr(condition) if isinstance(condition, str) else condition
        leave = is_data() & ~F.coalesce(holds, F.lit(False))
        kind = F.when(leave, F.lit(LEFT_OUT)).otherwise(F.col(f"{MARKS}.kind"))
        return self._each(lambda df: df.withColumn(MARKS, F.col(MARKS).withField("kind", kind)))

    def select(self, *columns: "Column | str") -> "Stream":
        """Other columns, as ``DataFrame.select``. Event time and window stay what they are."""
        from beamlike.hosts.spark.marks import MARKS

        return self._each(lambda df: df.select(*columns, MARKS))

    def with_columns(self, columns: Mapping[str, "Column"]) -> "Stream":
        """More columns, as ``DataFrame.withColumns``. Event time and window stay."""
        return self._each(lambda df: df.withColumns(dict(columns)))

    def _each(self, change: Callable[["DataFrame"], "DataFrame"]) -> "Stream":
        changed = (attrs.evolve(it, rows=change(it.rows)) for it in self._branches)
        return attrs.evolve(self, branches=tuple(changed))

    # -- windows -----------------------------------------------------------------------------

    def window(
        self,
        window: WindowFn | None = None,
        *,
        trigger: Trigger | None = None,
        accumulation: AccumulationMode | str | None = None,
        allowed_lateness: DurationLike | None = None,
        timestamp_combiner: TimestampCombiner | str | None = None,
        closing_behavior: ClosingBehavior | str | None = None,
        on_time_behavior: OnTimeBehavior | str | None = None,
        late_check: LateCheck | str | None = None,
        unchanged: Unchanged | str | None = None,
    ) -> "Stream":
        """Set these parts of the strategy; None leaves a part as it is.

        With a window function each row is put into windows anew, by its event time, which for
        a pane is its timestamp. Without one rows keep the windows they are in.

        Raises:
            WindowingError: As `WindowingStrategy.configured`.
            TimeError: The allowed lateness cannot be read.

        Source: Beam ``Window.into`` and ``Window.configure``; Scio's ``WindowOptions``.
        """
        strategy = self.strategy.configured(
            window,
            trigger=trigger,
            accumulation=accumulation,
            allowed_lateness=allowed_lateness,
            timestamp_combiner=timestamp_combiner,
            closing_behavior=closing_behavior,
            on_time_behavior=on_time_behavior,
            late_check=late_check,
            unchanged=unchanged,
        )
        if window is None:
            return attrs.evolve(self, strategy=strategy)
        from beamlike.hosts.spark.bind import without_window

        loose = (
            attrs.evolve(it, rows=without_window(it.rows), window_fn=None) for it in self._branches
        )
        return Stream(strategy, tuple(loose))

    def remerge(self) -> "Stream":
        """The same windows, to be merged once more by the next grouping.

        Source: Beam Java ``Window.remerge``.
        """
        return attrs.evolve(self, strategy=self.strategy.remerge())

    # -- grouping ----------------------------------------------------------------------------

    def group(
        self,
        key: str | Sequence[str],
        aggregate: Mapping[str, Aggregate],
        *,
        carry: str | Sequence[str] = (),
        window_input: str | Sequence[str] = (),
        render: Render = "retractions",
        on_error: OnError = "drop",
        wake_every: DurationLike = "5 seconds",
        lift: bool = False,
        hot_key_fanout: int | None = None,
        shards: int = 8,
        buckets: int = 64,
        name: str | None = None,
    ) -> "Stream":
        """Group by key and window: a row for each pane that Beam would emit.

        The result has the columns of `beamlike.windowed`, whose arguments these are. Its
        strategy is the same with the continuation of the trigger; sessions count as merged.

        Args:
            name: The name of this grouping in drops and in the query's progress. Default:
                ``beamlike``, and ``beamlike 2`` and so on for those that follow. Streams that
                were grouped apart can meet later only if these groupings have names of their own.

        Raises:
            WindowingError: What Beam refuses at a grouping; a name that is taken.
            UnsafeTriggerError: The trigger can finish and lose data.
            ColumnError: A column is missing or has a type that cannot be used.
            CombineError: A declared type of an aggregate cannot be read or does not fit.
            TimeError: A duration cannot be read.
            UnsupportedError: Rows that withdraw others; sessions whose gap depends on the
                element, without ``window_input``.

        Warns:
            UnwiseStrategyWarning: As `beamlike.windowed`.

        Source: Beam ``GroupByKey``, ``Combine.perKey``.
        """
        from beamlike.hosts.spark import bind

        keys, wanted = column_names(key, "key"), aggregates(aggregate)
        self.strategy.check_groupable(unbounded=self._branches[0].rows.isStreaming)
        if self._branches[0].rows.isStreaming:
            warn_of(self.strategy)
        check_choice("on_error", on_error, get_args(OnError))
        check_choice("render", render, get_args(Render))
        check_render(render, self.strategy)
        taken = stages_of(self._branches)
        own = stage_name(name, taken)
        options: PlanOptions = {
            "shards": counted("shards", shards),
            "buckets": counted("buckets", buckets),
            "on_error": on_error,
            "name": own,
            "render": render,
            "clocks": bind.clocks_of(branch.clock for branch in self._branches),
            **early_combining(self.strategy, lift, hot_key_fanout),
            "reports": self._branches[0].rows.isStreaming,
        }
        grouped = group_rows(
            self._branches,
            self.strategy,
            key=keys,
            aggregate=wanted,
            carry=column_names(carry, "carry"),
            window_input=column_names(window_input, "window_input"),
            wake_every_ms=positive_duration("wake_every", wake_every),
            options=options,
        )
        branch = Branch(
            grouped.rows,
            StageClock(shards),
            retracting=self.strategy.accumulation is AccumulationMode.RETRACTING,
            stages={**taken, own: object()},
        )
        return Stream(self.strategy.after_grouping(), (branch,))


def stages_of(branches: Iterable[Branch]) -> dict[str, object]:
    """All groupings that some rows went through.

    Raises:
        WindowingError: Two of them have one name. Spark could not tell their counters apart.
    """
    stages: dict[str, object] = {}
    for branch in branches:
        for name, one in branch.stages.items():
            if stages.setdefault(name, one) is not one:
                raise WindowingError(
                    f"two groupings of this query are called {name!r}; give one of them another "
                    'name, for example group(..., name="orders per hour")'
                )
    return stages


def stage_name(wanted: str | None, taken: Collection[str], usual: str = "beamlike") -> str:
    """The name of a stage; ``usual`` and a number if none is wanted.

    Raises:
        WindowingError: It is no name, or taken.
    """
    if wanted is None:
        numbered = (f"{usual} {number}" for number in range(2, len(taken) + 3))
        return next(name for name in (usual, *numbered) if name not in taken)
    check_name(wanted)
    if wanted in taken:
        raise WindowingError(
            f"name={wanted!r} is taken by a grouping before this one; give each its own"
        )
    return wanted


def flatten(streams: Sequence[Stream] | Mapping[str, Stream]) -> Stream:
    """Several streams as one. Each row keeps its windows; the first stream's strategy goes on.

    The watermark of the result is the least of those of its inputs.

    Args:
        streams: At least one, all with the same columns; a mapping also gives them names for
            error messages.

    Raises:
        WindowingError: Windows or triggers that do not fit, see `beamlike.check_flatten`.
        ColumnError: The columns differ.

    Source: Beam ``Flatten``, Scio ``union`` and ``unionAll``.
    """
    named: dict[str, Stream] = (
        dict(streams)
        if isinstance(streams, Mapping)
        else {f"input {at}": given for at, given in enumerate(streams)}
    )
    check_streams(named)
    strategy = check_flatten({name: given.strategy for name, given in named.items()})
    (first_name, first), *others = named.items()
    for name, other in others:
        _check_columns(first_name, first, name, other)
    branches = (
        attrs.evolve(branch, window_fn=branch.window_fn or given.strategy.window_fn)
        for given in named.values()
        for branch in given._branches
    )
    return Stream(strategy, tuple(branches))


def check_streams(named: Mapping[str, Any]) -> None:
    if not named:
        raise WindowingError("at least one stream is needed, got none")
    for name, given in named.items():
        if not isinstance(given, Stream):
            raise WindowingError(
                f"{name} must be a Stream, made with bl.stream(df, timestamp=...), got {given!r}"
            )
    stages_of(branch for given in named.values() for branch in given._branches)
    kinds = {given._branches[0].rows.isStreaming for given in named.values()}
    if len(kinds) > 1:
        raise WindowingError(
            "streaming and bounded rows cannot go together in one grouping, because Spark cannot "
            "union them; read the bounded ones as a stream, too"
        )


def _check_columns(first_name: str, first: Stream, name: str, other: Stream) -> None:
    known, given = (
        {
            field.name: field.dataType.simpleString()
            for field in stream._branches[0].rows.schema.fields
        }
        for stream in (first, other)
    )
    for column in dict.fromkeys([*known, *given]):
        if known.get(column) != given.get(column):
            raise ColumnError(
                f"the streams of a Flatten need the same columns: {column!r} is "
                f"{known.get(column, 'missing')} in {first_name} and "
                f"{given.get(column, 'missing')} in {name}; use select() or with_columns() before"
            )

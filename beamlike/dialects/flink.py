"""Windows as in Flink's DataStream API.

    totals = (
        key_by()
        .window(EventTimeSessionWindows.with_gap("3 seconds"))
        .allowed_lateness("10 seconds")
        .trigger(PurgingTrigger.of(EventTimeTrigger.create()))
        .side_output_late_data()
        .reduce(lambda one, other: one + other)
    )

Sessions merge if they overlap or touch. An element is too late if its window, after merging, is
over by more than the lateness. A window fires at its end and then for every late element; what
was emitted before for sessions that merge later stays.

In the model: ``Sessions(gap, merge_touching=True)``, ``late_check="merged"``,
``AfterWatermark(late=AfterCount(1))``, accumulating, or discarding where it purges. After Flink's
watermark nothing at or before it will come; after the model's, nothing before it.

Source: Flink ``KeyedStream``, ``WindowedStream``.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import attrs

from beamlike.api.arguments import A_KEY, column_names
from beamlike.dialects.arguments import check_combine, check_function, check_kind
from beamlike.dialects.flink_evictors import CountEvictor, DeltaEvictor, Evictor, TimeEvictor
from beamlike.dialects.flink_harness import Harness, WindowFunction
from beamlike.dialects.flink_triggers import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeoutTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    Trigger,
)
from beamlike.dialects.flink_words import (
    Assigner,
    EventTimeSessionWindows,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    merge_windows,
)
from beamlike.dialects.folds import Kept, OfKept, Reduce, Then
from beamlike.dialects.frames import (
    A_VALUE,
    GROUP_OPTIONS,
    GroupOptions,
    aggregate_of,
    arriving,
    by_event_time,
    dropped_once,
    grouped,
    millis_later,
    reason_of,
    shown,
)
from beamlike.errors import UnsupportedError, WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.options import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    by_name,
)
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.windowfns import GlobalWindows as ModelGlobalWindows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Assigner",
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountEvictor",
    "CountTrigger",
    "DeltaEvictor",
    "DeltaTrigger",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "GlobalWindows",
    "KeyedStream",
    "NeverTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "ProcessingTimeoutTrigger",
    "PurgingTrigger",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TimeEvictor",
    "TimeWindow",
    "Trigger",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "WindowFunction",
    "WindowedOperator",
    "WindowedStream",
    "key_by",
    "merge_windows",
    "window_all",
]

_AN_ASSIGNER = 'TumblingEventTimeWindows.of("1 minute")'


def key_by() -> "KeyedStream":
    """Elements that come with their keys. Source: Flink ``DataStream.keyBy``."""
    return KeyedStream()


def window_all(assigner: Assigner) -> "WindowedStream":
    """All elements together in windows. They come without keys.

    Raises:
        WindowingError: This is no assigner.

    Source: Flink ``DataStream.windowAll``.
    """
    check_kind("window_all", assigner, Assigner, _AN_ASSIGNER)
    return WindowedStream(assigner, assigner.default_trigger, keyed=False)


@attrs.frozen
class KeyedStream:
    """A stream with keys. Source: Flink ``KeyedStream``."""

    def window(self, assigner: Assigner) -> "WindowedStream":
        """Its elements in windows.

        Raises:
            WindowingError: This is no assigner.
        """
        check_kind("window", assigner, Assigner, _AN_ASSIGNER)
        return WindowedStream(assigner, assigner.default_trigger)


@attrs.frozen
class WindowedStream:
    """Windows that wait for their function. Source: Flink ``WindowedStream``."""

    assigner: Assigner
    when: Trigger
    lateness: int = 0
    late_output: bool = False
    eviction: Evictor | None = None
    keyed: bool = True

    def trigger(self, trigger: Trigger) -> "WindowedStream":
        """When the windows fire, in place of the assigner's own trigger.

        Raises:
            WindowingError: It is for windows in the other time, or these windows merge and it
                cannot; or it is no trigger.
        """
        check_kind("trigger", trigger, Trigger, "CountTrigger.of(3)")
        by_clock = self.assigner.processing_time
        when = trigger.by_clock or trigger if by_clock else trigger
        time = "processing" if by_clock else "event"
        if when.windows not in (None, time):
            raise WindowingError(
                f"a trigger for windows in {when.windows} time never fires in windows in {time} "
                f"time; use one for these, or windows in {when.windows} time"
            )
        if self.assigner.window_fn.is_merging and not when.merges:
            raise WindowingError(
                f"{when.trigger} cannot be used with {self.assigner.window_fn}, which merge: it "
                "keeps what belongs to one window; use windows that do not merge"
            )
        return attrs.evolve(self, when=when)

    def allowed_lateness(self, lateness: DurationLike) -> "WindowedStream":
        """How long after its end a window takes elements.

        Raises:
            WindowingError: In processing time, where nothing is late.
            TimeError: The duration cannot be read, or is negative.
        """
        by = duration_ms(lateness, "allowed_lateness")
        if by and self.assigner.processing_time:
            raise WindowingError(
                f"allowed_lateness({lateness!r}) has no meaning in processing time, where nothing "
                "is late; leave it out, or use windows in event time"
            )
        return attrs.evolve(self, lateness=by)

    def side_output_late_data(self) -> "WindowedStream":
        """Elements that are too late come out as rows of the kind ``late``, not ``dropped``."""
        return attrs.evolve(self, late_output=True)

    def evictor(self, evictor: Evictor) -> "WindowedStream":
        """Which elements are removed at each firing, before the function runs or after. They are
        kept one by one.

        Raises:
            WindowingError: It looks at event times, and these windows do not; or it is no evictor.
        """
        check_kind("evictor", evictor, Evictor, "CountEvictor.of(3)")
        if evictor.by_event_time and self.assigner.processing_time:
            raise WindowingError(
                f"{type(evictor).__name__} looks at event times, and windows in processing time do "
                "not; use another evictor, or windows in event time"
            )
        return attrs.evolve(self, eviction=evictor)

    def reduce(
        self,
        function: Callable[[Any, Any], Any],
        window_function: WindowFunction | None = None,
    ) -> "WindowedOperator":
        """Elements made one by a function of two.

        Args:
            function: Of two elements.
            window_function: ``(key, window, result) -> value`` of the row that comes out.

        Raises:
            CombineError: One of them is no function.
        """
        check_function("reduce function", function, "two elements")
        _check_window_function("reduce window_function", window_function)
        return self._combined(Reduce(function), window_function)

    def aggregate(
        self, combine: CombineFn, window_function: WindowFunction | None = None
    ) -> "WindowedOperator":
        """A combine function of this package over the elements. With an evictor it is asked at
        each firing, of those that are left.

        Args:
            combine: The function.
            window_function: As of `reduce`.

        Raises:
            CombineError: The first is no combine function, or the second no function.
        """
        check_combine("aggregate", combine)
        _check_window_function("aggregate window_function", window_function)
        return self._combined(combine, window_function)

    def apply(self, function: Callable[[list[Any]], Any]) -> "WindowedOperator":
        """A function of the list of all elements, in order of arrival.

        Raises:
            CombineError: It is no function.
        """
        check_function("apply", function, "a list of elements")
        return WindowedOperator(self, Then(self._elements(), function))

    def process(self, function: WindowFunction) -> "WindowedOperator":
        """``(key, window, elements) -> value``, of all elements in order of arrival.

        Raises:
            CombineError: It is no function.

        Source: Flink ``ProcessWindowFunction``.
        """
        check_function("process", function, "a key, a window and a list of elements")
        return WindowedOperator(self, self._elements(), function)

    def _combined(
        self, combine: CombineFn, window_function: WindowFunction | None
    ) -> "WindowedOperator":
        if self.eviction is not None:  # what is combined cannot be taken out again
            kept = self._elements()
            combine = OfKept(keep=kept.keep, before=kept.before, after=kept.after, of=combine)
        return WindowedOperator(self, combine, window_function)

    def _elements(self) -> Kept:
        evictor = self.eviction
        if evictor is None:
            return Kept()
        if evictor.do_evict_after:
            return Kept(after=evictor)
        return Kept(keep=evictor) if evictor.at_once else Kept(before=evictor)


def _check_window_function(argument: str, function: WindowFunction | None) -> None:
    if function is not None:
        check_function(argument, function, "a key, a window and a result")


@attrs.frozen
class WindowedOperator:
    """Windows with their function. Source: Flink ``WindowOperator``."""

    windowed: WindowedStream
    combine: CombineFn
    window_function: WindowFunction | None = None

    @property
    def strategy(self) -> WindowingStrategy:
        """The windowing in the words of the model.

        Where the trigger does not fire at the end of a window, what is left then comes out as the
        window's last pane; Flink drops it, and so does `harness`.
        """
        when, lateness = self.windowed.when, self.windowed.lateness
        again = not when.purging
        cleanup = self._fires_at_cleanup and not (when.forgets_end and lateness == 0)
        return WindowingStrategy(
            self.windowed.assigner.window_fn,
            when.trigger,
            AccumulationMode.DISCARDING if when.purging else AccumulationMode.ACCUMULATING,
            lateness,
            closing_behavior=(
                ClosingBehavior.FIRE_ALWAYS
                if again and cleanup
                else ClosingBehavior.FIRE_IF_NON_EMPTY
            ),
            on_time_behavior=(
                OnTimeBehavior.FIRE_ALWAYS
                if again and when.refires
                else OnTimeBehavior.FIRE_IF_NON_EMPTY
            ),
            late_check=LateCheck.MERGED,
        )

    @property
    def fires_at_end(self) -> bool:
        """Whether what is left of a window at its end is emitted. If not, it is dropped."""
        return self.windowed.when.at_end or self._fires_at_cleanup

    @property
    def _fires_at_cleanup(self) -> bool:
        # The global window is never cleaned up.
        in_global = isinstance(self.windowed.assigner.window_fn, ModelGlobalWindows)
        return self.windowed.when.at_cleanup and not in_global

    @by_name(
        "WindowedOperator.on_dataframe", WindowingError, GROUP_OPTIONS, key=A_KEY, value=A_VALUE
    )
    def on_dataframe(
        self,
        df: "DataFrame",
        *,
        key: str | Sequence[str],
        value: str | Sequence[str],
        timestamp: str | None = None,
        returns: str | None = None,
        watermark: DurationLike | None = None,
        tick: DurationLike = "1 second",
        **options: Unpack[GroupOptions],
    ) -> "DataFrame":
        """The operator over a DataFrame, streaming or bounded; see `beamlike.dialects.frames`.

        ``end`` is the first instant after a window, and ``timestamp`` the millisecond before it.
        Elements that are in none of their windows have the kind ``late`` if they are asked for,
        and else ``dropped``; their ``timestamp`` is their own. Those between sliding windows, which
        Flink asks whether they are late, are in no row.

        Args:
            key: The key's columns, ``()`` after `window_all`. Rows without a key are dropped.
            value: The column of the elements; of several, elements are tuples.
            timestamp: The column with the event time. In processing time the time of arrival, or
                None for that of the micro-batch.
            returns: The type of the result as DDL; not needed for the combine functions of this
                package whose type is known.
            watermark: How far event time may be out of order, as in ``forBoundedOutOfOrderness``.
            tick: In processing time: after how long without a row time follows the clock.
            options: See `Stream.group`.

        Raises:
            WindowingError: ``timestamp`` or ``watermark`` is missing.
            CombineError: ``returns`` is missing.
            ColumnError: A column is missing or has a type that cannot be used.
            UnsupportedError: A function of the window, which would run after the query.
        """
        if key and not self.windowed.keyed:
            raise WindowingError(
                f"on_dataframe key={key!r}: window_all(...) has elements without keys; say key=(), "
                "or key_by().window(...)"
            )
        if self.window_function is not None:
            raise UnsupportedError(
                "a function of key and window is not run over a DataFrame; apply(...) a function "
                "of the elements, and compute with the columns key, start and end"
            )

        columns = column_names(value, "value")
        if self.windowed.assigner.processing_time:
            rows = arriving(df, timestamp, tick)
        elif timestamp is None:
            raise WindowingError(
                "timestamp is missing, because these windows are in event time; name the column "
                "that has it, or use windows in processing time"
            )
        else:
            rows = by_event_time(df, timestamp, watermark)
        from pyspark.sql import functions as F

        strategy, aggregate = self.strategy, aggregate_of(self.combine, columns, returns)
        everything = grouped(rows, strategy, aggregate, key=key, value=columns, options=options)
        everything = dropped_once(everything, strategy)
        is_drop = F.col("dropped").isNotNull()
        if not self.fires_at_end:
            # The last pane of a window is what is left of it: triggers of Flink never finish.
            everything = everything.filter(is_drop | ~F.col("pane.is_last"))
        is_late = is_drop & F.col("dropped.reason").isin("expired", "closed")
        late = "late" if self.windowed.late_output else "dropped"
        last = millis_later(F.col("window.end"), -1)
        return shown(
            everything,
            key,
            kind=F.when(is_late, late).when(is_drop, "dropped").otherwise("value"),
            timestamp=F.when(is_drop, F.col("dropped.timestamp")).otherwise(last),
            reason=F.when(is_late & F.lit(late == "late"), None).otherwise(reason_of()),
        )

    def harness(self) -> Harness:
        """The operator in memory, to be fed element by element."""
        return Harness(self)

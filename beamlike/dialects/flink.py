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

from collections.abc import Callable
from typing import Any

import attrs

from beamlike.dialects.flink_operator import Windowed, WindowedOperator, WindowFunction
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
    CountEvictor,
    DeltaEvictor,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    ProcessingTimeSessionWindows,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeEvictor,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from beamlike.dialects.folds import Kept, OfKept, Reduce, Then
from beamlike.dialects.stages import check_combine, check_function, check_kind
from beamlike.errors import WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.time import DurationLike, duration_ms

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
    "Trigger",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "WindowFunction",
    "WindowedOperator",
    "WindowedStream",
    "key_by",
    "window_all",
]


def key_by() -> "KeyedStream":
    """Elements that come with their keys. Source: Flink ``DataStream.keyBy``."""
    return KeyedStream()


def window_all(assigner: Assigner) -> "WindowedStream":
    """All elements together in windows. They come without keys.

    Raises:
        WindowingError: This is no assigner.

    Source: Flink ``DataStream.windowAll``.
    """
    return _windowed("window_all", assigner, keyed=False)


@attrs.frozen
class KeyedStream:
    """A stream with keys. Source: Flink ``KeyedStream``."""

    def window(self, assigner: Assigner) -> "WindowedStream":
        """Its elements in windows.

        Raises:
            WindowingError: This is no assigner.
        """
        return _windowed("window", assigner)


@attrs.frozen
class WindowedStream(Windowed):
    """Windows that wait for their function. Source: Flink ``WindowedStream``."""

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
    ) -> WindowedOperator:
        """Elements made one by a function of two.

        Args:
            function: Of two elements.
            window_function: ``(key, window, result) -> value`` of the row that comes out.

        Raises:
            CombineError: One of them is no function.
        """
        check_function("reduce function", function, "two elements")
        return self._combined("reduce", Reduce(function), window_function)

    def aggregate(
        self, combine: CombineFn, window_function: WindowFunction | None = None
    ) -> WindowedOperator:
        """A combine function of this package over the elements. With an evictor it is asked at
        each firing, of those that are left.

        Args:
            combine: The function.
            window_function: As of `reduce`.

        Raises:
            CombineError: The first is no combine function, or the second no function.
        """
        check_combine("aggregate", combine)
        return self._combined("aggregate", combine, window_function)

    def apply(self, function: Callable[[list[Any]], Any]) -> WindowedOperator:
        """A function of the list of all elements, in order of arrival.

        Raises:
            CombineError: It is no function.
        """
        check_function("apply", function, "a list of elements")
        return WindowedOperator(self, Then(self._elements(), function))

    def process(self, function: WindowFunction) -> WindowedOperator:
        """``(key, window, elements) -> value``, of all elements in order of arrival.

        Raises:
            CombineError: It is no function.

        Source: Flink ``ProcessWindowFunction``.
        """
        check_function("process", function, "a key, a window and a list of elements")
        return WindowedOperator(self, self._elements(), function)

    def _combined(
        self, verb: str, combine: CombineFn, function: WindowFunction | None
    ) -> WindowedOperator:
        if function is not None:
            check_function(f"{verb} window_function", function, "a key, a window and a result")
        if self.eviction is not None:  # what is combined cannot be taken out again
            kept = self._elements()
            combine = OfKept(keep=kept.keep, before=kept.before, after=kept.after, of=combine)
        return WindowedOperator(self, combine, function)

    def _elements(self) -> Kept:
        evictor = self.eviction
        if evictor is None:
            return Kept()
        if evictor.do_evict_after:
            return Kept(after=evictor)
        return Kept(keep=evictor) if evictor.at_once else Kept(before=evictor)


def _windowed(argument: str, assigner: Assigner, *, keyed: bool = True) -> WindowedStream:
    check_kind(argument, assigner, Assigner, 'TumblingEventTimeWindows.of("1 minute")')
    return WindowedStream(assigner, assigner.default_trigger, keyed=keyed)

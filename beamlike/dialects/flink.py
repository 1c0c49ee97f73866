"""Windows in the words of Flink's DataStream API.

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
was given out before for sessions that merge later stays.

In the model: ``Sessions(gap, merge_touching=True)``, ``late_check="merged"``,
``AfterWatermark(late=AfterCount(1))``, accumulating, or discarding where it purges. Flink's
watermark says that nothing at or before it will come; the model's, that nothing before it will.

Source: Flink ``KeyedStream``, ``WindowedStream``, ``WindowOperator``.
"""

from collections.abc import Callable
from typing import Any

import attrs

from beamlike.dialects.flink_harness import Harness
from beamlike.dialects.flink_words import (
    Assigner,
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    Evictor,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    Trigger,
    TumblingEventTimeWindows,
)
from beamlike.dialects.folds import Kept, Reduce, Then
from beamlike.errors import WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.strategy import (
    AccumulationMode,
    LateCheck,
    OnTimeBehavior,
    WindowingStrategy,
)
from beamlike.model.time import DurationLike, duration_ms

__all__ = [
    "Assigner",
    "CountEvictor",
    "CountTrigger",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "GlobalWindows",
    "KeyedStream",
    "NeverTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "SlidingEventTimeWindows",
    "TimeEvictor",
    "Trigger",
    "TumblingEventTimeWindows",
    "WindowedOperator",
    "WindowedStream",
    "key_by",
]


def key_by() -> "KeyedStream":
    """Elements that come with their keys. Source: Flink ``DataStream.keyBy``."""
    return KeyedStream()


@attrs.frozen
class KeyedStream:
    """A stream with keys. Source: Flink ``KeyedStream``."""

    def window(self, assigner: Assigner) -> "WindowedStream":
        """Its elements in windows."""
        return WindowedStream(assigner, assigner.default_trigger)


@attrs.frozen
class WindowedStream:
    """Windows that wait for their function. Source: Flink ``WindowedStream``."""

    assigner: Assigner
    when: Trigger
    lateness: int = 0
    late_output: bool = False
    eviction: Evictor | None = None

    def trigger(self, trigger: Trigger) -> "WindowedStream":
        """When the windows fire, in place of the assigner's own trigger."""
        return attrs.evolve(self, when=trigger)

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
        """Which elements are forgotten before the function runs. They are kept one by one."""
        return attrs.evolve(self, eviction=evictor)

    def reduce(self, function: Callable[[Any, Any], Any]) -> "WindowedOperator":
        """Elements made one by a function of two."""
        reduction = Reduce(function)
        if self.eviction is None:
            return WindowedOperator(self, reduction)
        return self._kept(lambda values: reduction.extract(reduction.add((), values, ())))

    def aggregate(self, combine: CombineFn) -> "WindowedOperator":
        """A combine function of this package over the elements.

        Raises:
            WindowingError: With an evictor, which needs a function of all elements.
        """
        if self.eviction is not None:
            raise WindowingError(
                f"aggregate({combine}) with an evictor: what is combined cannot be taken out "
                "again; use apply(...) with a function of the list of elements"
            )
        return WindowedOperator(self, combine)

    def apply(self, function: Callable[[list[Any]], Any]) -> "WindowedOperator":
        """A function of the list of all elements, in order of arrival."""
        return self._kept(function)

    def _kept(self, function: Callable[[list[Any]], Any]) -> "WindowedOperator":
        return WindowedOperator(self, Then(Kept(self.eviction), function))


@attrs.frozen
class WindowedOperator:
    """Windows with their function. Source: Flink ``WindowOperator``."""

    windowed: WindowedStream
    combine: CombineFn

    @property
    def strategy(self) -> WindowingStrategy:
        """The same in the words of the model.

        Where the trigger does not fire at the end of a window, what is left then comes out as the
        window's last pane; Flink forgets it, and so does `harness`.
        """
        when = self.windowed.when
        return WindowingStrategy(
            self.windowed.assigner.window_fn,
            when.trigger,
            AccumulationMode.DISCARDING if when.purging else AccumulationMode.ACCUMULATING,
            self.windowed.lateness,
            on_time_behavior=OnTimeBehavior.FIRE_IF_NON_EMPTY,
            late_check=LateCheck.MERGED,
        )

    def harness(self) -> Harness:
        """The operator in memory, to be fed element by element."""
        return Harness(
            self.strategy,
            self.combine,
            processing_time=self.windowed.assigner.processing_time,
            fires_at_end=self.windowed.when.at_end,
            late_output=self.windowed.late_output,
        )

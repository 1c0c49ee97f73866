"""Flink's window assigners, triggers and evictors, each with what it is in the model.

Source: Flink ``streaming.api.windowing``: ``assigners``, ``triggers``, ``evictors``.
"""

from typing import Self

import attrs

from beamlike.dialects.folds import Stamp
from beamlike.errors import TriggerError, UnsupportedError, WindowError
from beamlike.model.options import whole_number
from beamlike.model.sessions import GapOf, Sessions
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.triggers import AfterCount, AfterWatermark, Never, Repeatedly
from beamlike.model.triggers import Trigger as ModelTrigger
from beamlike.model.windowfns import FixedWindows, SlidingWindows, WindowFn
from beamlike.model.windowfns import GlobalWindows as ModelGlobalWindows

__all__ = [
    "Assigner",
    "CountEvictor",
    "CountTrigger",
    "EventTimeSessionWindows",
    "EventTimeTrigger",
    "Evictor",
    "GlobalWindows",
    "NeverTrigger",
    "ProcessingTimeSessionWindows",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "SlidingEventTimeWindows",
    "TimeEvictor",
    "Trigger",
    "TumblingEventTimeWindows",
]

# -- triggers --------------------------------------------------------------------------------


@attrs.frozen
class Trigger:
    """When a window's contents are given to its function.

    Args:
        trigger: The trigger of the model.
        at_end: Whether it fires at the end of the window. If not, what nobody fired for is
            forgotten with the window.
        purging: Whether the contents are forgotten at each firing.
    """

    trigger: ModelTrigger
    at_end: bool
    purging: bool = False


_AT_END = AfterWatermark(late=AfterCount(1))


class EventTimeTrigger:
    """Fires when the watermark passes the end of the window, and then for every element."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(_AT_END, at_end=True)


class ProcessingTimeTrigger:
    """Fires when the clock passes the end of the window. For windows in processing time."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(_AT_END, at_end=True)


class CountTrigger:
    """Fires whenever so many elements have come since it fired last."""

    @staticmethod
    def of(count: int) -> Trigger:
        """The trigger for this number of elements.

        Raises:
            TriggerError: The count is no whole number of 1 or more.
        """
        whole_number(count, 1, "CountTrigger count", TriggerError)
        return Trigger(Repeatedly(AfterCount(count)), at_end=False)


class NeverTrigger:
    """Never fires."""

    @staticmethod
    def create() -> Trigger:
        """The trigger."""
        return Trigger(Never(), at_end=False)


class PurgingTrigger:
    """Fires as another trigger does, and empties the window; its bounds stay."""

    @staticmethod
    def of(trigger: Trigger) -> Trigger:
        """That trigger, purging."""
        return attrs.evolve(trigger, purging=True)


# -- assigners -------------------------------------------------------------------------------


@attrs.frozen
class Assigner:
    """Which windows an element is in, in event time or in processing time."""

    window_fn: WindowFn
    default_trigger: Trigger
    processing_time: bool = False


class EventTimeSessionWindows:
    """Sessions that end with a silence. Elements exactly one gap apart are one session."""

    @staticmethod
    def with_gap(gap: DurationLike) -> Assigner:
        """Sessions that end ``gap`` after their last element.

        Raises:
            WindowError: The gap is 0.
            TimeError: The gap cannot be read.
        """
        return Assigner(Sessions(gap, merge_touching=True), EventTimeTrigger.create())

    @staticmethod
    def with_dynamic_gap(gap_of: GapOf) -> Assigner:
        """A gap for each element, from its value. The furthest end counts.

        Flink loses data where an element's own window equals a session that has merged from
        others; nothing is lost here.
        """
        return Assigner(Sessions(gap_of, merge_touching=True), EventTimeTrigger.create())


class ProcessingTimeSessionWindows:
    """Sessions by time of arrival. Event times are not looked at, and nothing is late."""

    @staticmethod
    def with_gap(gap: DurationLike) -> Assigner:
        """Sessions that end ``gap`` after their last element.

        Raises:
            WindowError: The gap is 0.
            UnsupportedError: The gap is 1 ms: a session would be over as it begins.
            TimeError: The gap cannot be read.
        """
        if duration_ms(gap, "ProcessingTimeSessionWindows gap") == 1:
            raise UnsupportedError(
                "ProcessingTimeSessionWindows with a gap of 1 ms end in the millisecond in which "
                "they begin, and the clock is not finer than that; give a gap of 2 ms or more"
            )
        sessions = Sessions(gap, merge_touching=True)
        return Assigner(sessions, ProcessingTimeTrigger.create(), processing_time=True)


class TumblingEventTimeWindows:
    """Windows of one size, end to end."""

    @staticmethod
    def of(size: DurationLike, offset: DurationLike = 0) -> Assigner:
        """Windows of this size that begin at multiples of it, and ``offset`` later.

        Raises:
            WindowError: The size is 0, or the offset is not less than the size.
            TimeError: A duration cannot be read.
        """
        return Assigner(FixedWindows(size, offset), EventTimeTrigger.create())


class SlidingEventTimeWindows:
    """Windows of one size, one beginning with every slide."""

    @staticmethod
    def of(size: DurationLike, slide: DurationLike, offset: DurationLike = 0) -> Assigner:
        """Windows of this size that begin at multiples of ``slide``, and ``offset`` later.

        Raises:
            WindowError: Size or slide is 0, or the offset is not less than the slide.
            TimeError: A duration cannot be read.
        """
        return Assigner(SlidingWindows(size, slide, offset), EventTimeTrigger.create())


class GlobalWindows:
    """One window for everything, which never fires unless a trigger is given."""

    @staticmethod
    def create() -> Assigner:
        """The window."""
        return Assigner(ModelGlobalWindows(), NeverTrigger.create())


# -- evictors --------------------------------------------------------------------------------


class Evictor:
    """Which elements are not given to the function, and forgotten. Asked before it runs."""

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        raise NotImplementedError


@attrs.frozen
class CountEvictor(Evictor):
    """Keeps the newest elements by order of arrival."""

    max_count: int

    @classmethod
    def of(cls, max_count: int) -> Self:
        """Keeps so many.

        Raises:
            WindowError: It is no whole number of 1 or more.
        """
        return cls(whole_number(max_count, 1, "CountEvictor max_count", WindowError))

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        return elements[-self.max_count :]


@attrs.frozen
class TimeEvictor(Evictor):
    """Keeps the elements whose time is less than so many milliseconds before the latest."""

    window_size: int

    @classmethod
    def of(cls, window_size: DurationLike) -> Self:
        """Keeps those of so long before the latest.

        Raises:
            WindowError: The duration is 0, which would leave nothing.
            TimeError: The duration cannot be read.
        """
        size = duration_ms(window_size, "TimeEvictor window_size")
        if size == 0:
            raise WindowError('TimeEvictor needs more than 0 ms; give a size such as "2 seconds"')
        return cls(size)

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        latest = max((stamp.timestamp for stamp in elements), default=0)
        return tuple(stamp for stamp in elements if stamp.timestamp > latest - self.window_size)

"""Flink's window assigners and evictors, each with what it is in the model.

Source: Flink ``streaming.api.windowing.assigners``, ``streaming.api.windowing.evictors``.
"""

from datetime import timedelta
from typing import ClassVar, Self

import attrs

from beamlike.dialects.flink_triggers import (
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    Trigger,
)
from beamlike.dialects.folds import Stamp
from beamlike.dialects.stages import check_function
from beamlike.errors import WindowError
from beamlike.model.extra_triggers import DeltaOf
from beamlike.model.options import whole_number
from beamlike.model.sessions import GapOf, Sessions
from beamlike.model.time import DurationLike, duration_ms, show_duration
from beamlike.model.triggers import Never
from beamlike.model.windowfns import FixedWindows, SlidingWindows, WindowFn
from beamlike.model.windowfns import GlobalWindows as ModelGlobalWindows


@attrs.frozen
class Assigner:
    """Which windows an element is in, in event time or in processing time."""

    window_fn: WindowFn
    default_trigger: Trigger
    processing_time: bool = False


def _offset(offset: DurationLike, period: DurationLike, name: str) -> int:
    """Where windows begin (ms) that begin once in a period; an offset may be negative."""
    text = offset.strip() if isinstance(offset, str) else ""
    is_before = (
        text.startswith("-")
        or (isinstance(offset, int) and offset < 0)
        or (isinstance(offset, timedelta) and offset < timedelta(0))
    )
    length = text.removeprefix("-") or (-offset if is_before else offset)  # type: ignore[operator]
    start = duration_ms(length, f"{name} offset")
    every = duration_ms(period, name)
    if start >= every:
        raise WindowError(
            f"{name} offset must be less than how often windows begin, got "
            f"{show_duration(start)} and {show_duration(every)}"
        )
    return -start % every if is_before else start


class _Windows:
    """The window assigners of one kind of windows, in one of both times."""

    processing_time: ClassVar[bool] = False

    @classmethod
    def _assigner(cls, window_fn: WindowFn) -> Assigner:
        by_clock = cls.processing_time
        trigger = ProcessingTimeTrigger.create() if by_clock else EventTimeTrigger.create()
        return Assigner(window_fn, trigger, processing_time=by_clock)


class EventTimeSessionWindows(_Windows):
    """Sessions that end after a gap. Elements exactly one gap apart are one session."""

    @classmethod
    def with_gap(cls, gap: DurationLike) -> Assigner:
        """Sessions that end ``gap`` after their last element.

        Raises:
            WindowError: The gap is 0.
            TimeError: The gap cannot be read.
        """
        return cls._assigner(Sessions(gap, merge_touching=True))

    @classmethod
    def with_dynamic_gap(cls, gap_of: GapOf) -> Assigner:
        """A gap for each element, from its value. The furthest end counts.

        Flink loses data where an element's own window equals a session that has merged from
        others; nothing is lost here.
        """
        return cls._assigner(Sessions(gap_of, merge_touching=True))


class ProcessingTimeSessionWindows(EventTimeSessionWindows):
    """Sessions by time of arrival. Event times are not looked at, and nothing is late."""

    processing_time = True


class TumblingEventTimeWindows(_Windows):
    """Windows of one size, end to end."""

    @classmethod
    def of(cls, size: DurationLike, offset: DurationLike = 0) -> Assigner:
        """Windows of this size that begin at multiples of it, and ``offset`` later or, if
        that is negative, before.

        Raises:
            WindowError: The size is 0, or the offset is not less than the size.
            TimeError: A duration cannot be read.
        """
        plain = FixedWindows(size)
        return cls._assigner(FixedWindows(size, _offset(offset, plain.size, "tumbling windows")))


class TumblingProcessingTimeWindows(TumblingEventTimeWindows):
    """Windows of one size, end to end, by time of arrival."""

    processing_time = True


class SlidingEventTimeWindows(_Windows):
    """Windows of one size, one beginning with every slide."""

    @classmethod
    def of(cls, size: DurationLike, slide: DurationLike, offset: DurationLike = 0) -> Assigner:
        """Windows of this size that begin at multiples of ``slide``, and ``offset`` later or,
        if that is negative, before.

        Raises:
            WindowError: Size or slide is 0, or the offset is not less than the slide.
            TimeError: A duration cannot be read.
        """
        plain = SlidingWindows(size, slide)
        start = _offset(offset, plain.period, "sliding windows")
        return cls._assigner(SlidingWindows(size, slide, start))


class SlidingProcessingTimeWindows(SlidingEventTimeWindows):
    """Windows of one size, one beginning with every slide, by time of arrival."""

    processing_time = True


class GlobalWindows:
    """One window for everything."""

    @staticmethod
    def create() -> Assigner:
        """The window, which never fires unless a trigger is given."""
        return Assigner(ModelGlobalWindows(), NeverTrigger.create())

    @staticmethod
    def create_with_end_of_stream_trigger() -> Assigner:
        """The window, which fires once, as the stream ends."""
        return Assigner(ModelGlobalWindows(), Trigger(Never(), at_end=True))


@attrs.frozen
class Evictor:
    """Which elements are removed at each firing: from all that are there, in order of arrival,
    to those that stay.

    Args:
        do_evict_after: Asked after the function has run, and not before.
    """

    do_evict_after: bool = attrs.field(default=False, kw_only=True)

    at_once: ClassVar[bool] = False
    """Whether what it leaves out it would leave out at any later time. Such a one need not wait
    for a firing."""
    by_event_time: ClassVar[bool] = False
    """Whether it looks at event times."""

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        raise NotImplementedError


@attrs.frozen
class CountEvictor(Evictor):
    """Keeps the newest elements by order of arrival."""

    max_count: int

    at_once = True

    @classmethod
    def of(cls, max_count: int, do_evict_after: bool = False) -> Self:
        """Keeps so many.

        Raises:
            WindowError: It is no whole number of 1 or more.
        """
        count = whole_number(max_count, 1, "CountEvictor max_count", WindowError)
        return cls(count, do_evict_after=do_evict_after)

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        return elements[-self.max_count :]


@attrs.frozen
class TimeEvictor(Evictor):
    """Keeps the elements whose time is less than so many milliseconds before the latest."""

    window_size: int

    at_once = True
    by_event_time = True

    @classmethod
    def of(cls, window_size: DurationLike, do_evict_after: bool = False) -> Self:
        """Keeps those of so long before the latest.

        Raises:
            WindowError: The duration is 0, which would leave nothing.
            TimeError: The duration cannot be read.
        """
        size = duration_ms(window_size, "TimeEvictor window_size")
        if size == 0:
            raise WindowError('TimeEvictor needs more than 0 ms; give a size such as "2 seconds"')
        return cls(size, do_evict_after=do_evict_after)

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        latest = max((stamp.timestamp for stamp in elements), default=0)
        return tuple(stamp for stamp in elements if stamp.timestamp > latest - self.window_size)


@attrs.frozen
class DeltaEvictor(Evictor):
    """Keeps the elements that are less than a threshold away from the newest."""

    threshold: float
    delta_function: DeltaOf

    @classmethod
    def of(cls, threshold: float, delta_function: DeltaOf, do_evict_after: bool = False) -> Self:
        """Keeps those by ``(value, newest value) -> distance``.

        Raises:
            WindowError: The threshold is no number of more than 0, and would leave nothing; or
                there is no function.
        """
        check_function("DeltaEvictor delta_function", delta_function, "two values", WindowError)
        if not isinstance(threshold, int | float) or not threshold > 0:
            raise WindowError(f"DeltaEvictor needs a threshold of more than 0, got {threshold!r}")
        return cls(threshold, delta_function, do_evict_after=do_evict_after)

    def __call__(self, elements: tuple[Stamp, ...]) -> tuple[Stamp, ...]:
        if not elements:
            return elements
        newest = elements[-1].value
        return tuple(
            element
            for element in elements
            if self.delta_function(element.value, newest) < self.threshold
        )

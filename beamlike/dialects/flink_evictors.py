"""Flink's evictors: which elements of a window are removed at a firing.

Source: Flink ``streaming.api.windowing.evictors``.
"""

from typing import ClassVar, Self

import attrs

from beamlike.dialects.arguments import check_function
from beamlike.dialects.folds import Stamp
from beamlike.errors import WindowError
from beamlike.model.extra_triggers import DeltaOf
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms


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

"""Apex's window and trigger options, each with what it is in the model.

Source: Apex Malhar ``WindowOption``, ``TriggerOption``, ``InnerJoin``, ``CoGroup``.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from beamlike.errors import TriggerError, WindowError, WindowingError
from beamlike.model.combine import CombineFn
from beamlike.model.options import AccumulationMode, whole_number
from beamlike.model.sessions import Sessions
from beamlike.model.time import DurationLike
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

__all__ = ["CoGroup", "InnerJoin", "TriggerOption", "WindowOption"]


@attrs.frozen
class WindowOption:
    """Which windows an element is in."""

    window_fn: WindowFn

    @classmethod
    def global_window(cls) -> "WindowOption":
        """One window for ever."""
        return cls(GlobalWindows())

    @classmethod
    def time_windows(cls, duration: DurationLike) -> "WindowOption":
        """Windows of one length, end to end.

        Raises:
            WindowError: The duration is 0.
            TimeError: It cannot be read.
        """
        return cls(FixedWindows(duration))

    @classmethod
    def sliding_time_windows(cls, duration: DurationLike, slide_by: DurationLike) -> "WindowOption":
        """Windows of one length, one beginning with every slide.

        Raises:
            WindowError: One of them is 0, or the length is no multiple of the slide.
            TimeError: One of them cannot be read.
        """
        windows = SlidingWindows(duration, slide_by)
        if windows.size % windows.period:
            raise WindowError(
                f"sliding_time_windows need a duration that is a multiple of slide_by, got "
                f"duration={windows.size} ms and slide_by={windows.period} ms"
            )
        return cls(windows)

    @classmethod
    def session_windows(cls, min_gap: DurationLike) -> "WindowOption":
        """Sessions that end with a silence. Elements exactly one gap apart are two sessions; in
        Apex, if they come out of order, one.

        Raises:
            WindowError: The gap is 0.
            TimeError: It cannot be read.
        """
        return cls(Sessions(min_gap))


@attrs.frozen
class TriggerOption:
    """When windows fire. Nothing at all is fired unless it is asked for.

    Times between firings are not here: Apex fires then whether anything is new or not, in its own
    rhythm for each window.
    """

    on_time: bool = False
    early_count: int | None = None
    late_count: int | None = None
    mode: AccumulationMode = AccumulationMode.DISCARDING
    only_updated: bool = False

    @classmethod
    def at_watermark(cls) -> "TriggerOption":
        """Once the watermark is past the end of the window."""
        return cls(on_time=True)

    def with_early_firings_at_every(self, count: int) -> "TriggerOption":
        """Whenever so many elements have come, while the window is not over.

        Raises:
            TriggerError: The count is no whole number of 1 or more.
        """
        whole_number(count, 1, "with_early_firings_at_every count", TriggerError)
        return attrs.evolve(self, early_count=count)

    def with_late_firings_at_every(self, count: int) -> "TriggerOption":
        """Likewise, once it is over.

        Raises:
            TriggerError: The count is no whole number of 1 or more.
        """
        whole_number(count, 1, "with_late_firings_at_every count", TriggerError)
        return attrs.evolve(self, late_count=count)

    def discarding_fired_panes(self) -> "TriggerOption":
        """A firing empties the window: the default."""
        return attrs.evolve(self, mode=AccumulationMode.DISCARDING)

    def accumulating_fired_panes(self) -> "TriggerOption":
        """A firing keeps everything."""
        return attrs.evolve(self, mode=AccumulationMode.ACCUMULATING)

    def accumulating_and_retracting_fired_panes(self) -> "TriggerOption":
        """Likewise, and first withdraws what was fired before."""
        return attrs.evolve(self, mode=AccumulationMode.RETRACTING)

    def firing_only_updated_panes(self) -> "TriggerOption":
        """No firing with the value of the one before.

        Raises:
            WindowingError: Panes are discarded, and none is known to compare with.
        """
        if self.mode is AccumulationMode.DISCARDING:
            raise WindowingError(
                "firing_only_updated_panes() compares with the pane before, which "
                "discarding_fired_panes() does not keep; ask for accumulating_fired_panes() first"
            )
        return attrs.evolve(self, only_updated=True)


@attrs.frozen
class CoGroup(CombineFn):
    """The values of two streams, each side once: a list for each stream.

    Elements are ``(stream, value)`` with streams 1 and 2. The sides are sets, as in Apex.

    Source: Apex Malhar ``CoGroup``.
    """

    def create(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return (), ()

    def add(
        self, accumulator: tuple[Any, Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        one, other = accumulator
        one = _once((*one, *(value for stream, value in values if stream == 1)))
        return one, _once((*other, *(value for stream, value in values if stream != 1)))

    def merge(
        self, first: tuple[Any, Any], second: tuple[Any, Any]
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return _once((*first[0], *second[0])), _once((*first[1], *second[1]))

    def extract(self, accumulator: tuple[Any, Any]) -> list[list[Any]]:
        return [list(side) for side in accumulator]


@attrs.frozen
class InnerJoin(CoGroup):
    """Every pair of a value of the one stream and a value of the other.

    Source: Apex Malhar ``InnerJoin``.
    """

    def extract(self, accumulator: tuple[Any, Any]) -> list[list[Any]]:
        one, other = accumulator
        return [[left, right] for left in one for right in other]


def _once(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))

"""Which part of a source is read: positions are claimed one after the other.

Nothing here splits a source while it is read, but a source of one's own asks for each position
whether it may go on.

Source: Beam Python ``io.range_trackers``, ``iobase.RangeTracker``.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from beamlike.errors import PipelineError, PipelineTypeError

__all__ = [
    "LexicographicKeyRangeTracker",
    "OffsetRangeTracker",
    "OrderedPositionRangeTracker",
    "RangeTracker",
    "UnsplittableRangeTracker",
]


class RangeTracker:
    """A range of positions, and how far it was read. Source: Beam ``RangeTracker``."""

    SPLIT_POINTS_UNKNOWN: ClassVar[Any] = object()

    def start_position(self) -> Any:
        """The first position."""
        raise NotImplementedError(f"{type(self).__name__} does not define start_position")

    def stop_position(self) -> Any:
        """The first position after it."""
        raise NotImplementedError(f"{type(self).__name__} does not define stop_position")

    def try_claim(self, position: Any) -> bool:
        """Whether what is at a position may be read."""
        raise NotImplementedError(f"{type(self).__name__} does not define try_claim")

    def set_current_position(self, position: Any) -> None:
        """Say that something between two positions that are claimed is read."""
        raise NotImplementedError(f"{type(self).__name__} does not define set_current_position")

    def try_split(self, position: Any) -> Any:
        """Give up what is after a position. Nothing here asks for it."""
        return None

    def fraction_consumed(self) -> float:
        """The share that was read, from 0 to 1."""
        raise NotImplementedError(f"{type(self).__name__} does not define fraction_consumed")

    def split_points(self) -> tuple[Any, Any]:
        """How many parts were read, and how many are left."""
        return 0, self.SPLIT_POINTS_UNKNOWN

    def set_split_points_unclaimed_callback(self, callback: Callable[[Any], Any]) -> None:
        """Say what knows how many parts are left."""


class OffsetRangeTracker(RangeTracker):
    """A range of whole numbers, such as bytes of a file or lines.

    >>> tracker = OffsetRangeTracker(0, 2)
    >>> [tracker.try_claim(at) for at in (0, 1, 2)]
    [True, True, False]

    Args:
        start: The first.
        end: The first after it.

    Source: Beam ``OffsetRangeTracker``.
    """

    OFFSET_INFINITY: ClassVar[float] = float("inf")

    def __init__(self, start: int, end: float) -> None:
        if start is None or end is None:
            raise PipelineError("Start and stop offset must not be None; give two whole numbers")
        if not isinstance(start, int):
            raise PipelineTypeError(f"start must be a whole number, got {start!r}")
        if end != self.OFFSET_INFINITY and not isinstance(end, int):
            raise PipelineTypeError(f"end must be a whole number, got {end!r}")
        if start > end:
            raise PipelineError(f"start must not be after the end, got {start} and {end}")
        self._start, self._stop = start, end
        self._last = -1
        self._claimed = 0
        self._unclaimed: Callable[[Any], Any] | None = None

    def start_position(self) -> int:
        return self._start

    def stop_position(self) -> float:
        return self._stop

    @property
    def last_record_start(self) -> int:
        """The position that was claimed last."""
        return self._last

    def _check(self, position: int) -> None:
        if position < self._last:
            raise PipelineError(
                f"Trying to return a record [starting at {position}] which is before the last-"
                f"returned record [starting at {self._last}]; claim positions in their order"
            )
        if self._last == -1 and position < self._start:
            raise PipelineError(
                f"the first record [starting at {position}] must be at or after the start "
                f"position, {self._start}"
            )

    def try_claim(self, position: int) -> bool:
        if position == self._last:
            raise PipelineError(
                f"a split point at {position} was claimed twice; claim each position once"
            )
        self._check(position)
        if position >= self._stop:
            return False
        self._last = position
        self._claimed += 1
        return True

    def set_current_position(self, position: int) -> None:
        self._check(position)
        self._last = position

    def fraction_consumed(self) -> float:
        if self._last == -1:
            return 0.0
        if self._stop == self.OFFSET_INFINITY:
            return 0.0
        return self.position_to_fraction(self._last, self._start, self._stop)

    def position_to_fraction(self, pos: float, start: float, stop: float) -> float:
        """The share of a range before a position."""
        return (pos - start) / (stop - start) if start != stop else 0.0

    def position_at_fraction(self, fraction: float) -> int:
        """The position before which there is a share of the range."""
        if self._stop == self.OFFSET_INFINITY:
            raise PipelineError("a range without an end has no share of it; give it an end")
        return -int(-(self._start + fraction * (self._stop - self._start)) // 1)

    def split_points(self) -> tuple[Any, Any]:
        before = max(0, self._claimed - 1)
        left = self._unclaimed(self._stop) if self._unclaimed else None
        return before, self.SPLIT_POINTS_UNKNOWN if left is None else left + 1

    def set_split_points_unclaimed_callback(self, callback: Callable[[Any], Any]) -> None:
        self._unclaimed = callback


class OrderedPositionRangeTracker(RangeTracker):
    """A range of positions that sort. None: from the beginning, or to the end.

    Source: Beam ``OrderedPositionRangeTracker``.
    """

    def __init__(self, start_position: Any = None, stop_position: Any = None) -> None:
        self._start, self._stop, self._last = start_position, stop_position, None

    def start_position(self) -> Any:
        return self._start

    def stop_position(self) -> Any:
        return self._stop

    def try_claim(self, position: Any) -> bool:
        if self._last is not None and position < self._last:
            raise PipelineError(
                f"Positions must be claimed in order: claim {position!r} attempted after claim "
                f"{self._last!r}"
            )
        if self._start is not None and position < self._start:
            raise PipelineError(f"Claim {position!r} is before start position {self._start!r}")
        if self._stop is not None and position >= self._stop:
            return False
        self._last = position
        return True

    def set_current_position(self, position: Any) -> None:
        self._last = position

    def fraction_consumed(self) -> float:
        return 0.0


class LexicographicKeyRangeTracker(OrderedPositionRangeTracker):
    """A range of texts. Source: Beam ``LexicographicKeyRangeTracker``."""


class UnsplittableRangeTracker(RangeTracker):
    """Another range, which is never split. Source: Beam ``UnsplittableRangeTracker``."""

    def __init__(self, range_tracker: RangeTracker) -> None:
        self._range = range_tracker

    def start_position(self) -> Any:
        return self._range.start_position()

    def stop_position(self) -> Any:
        return self._range.stop_position()

    def try_claim(self, position: Any) -> bool:
        return self._range.try_claim(position)

    def set_current_position(self, position: Any) -> None:
        self._range.set_current_position(position)

    def fraction_consumed(self) -> float:
        return self._range.fraction_consumed()

    def split_points(self) -> tuple[Any, Any]:
        return 0, 1

    def set_split_points_unclaimed_callback(self, callback: Callable[[Any], Any]) -> None:
        self._range.set_split_points_unclaimed_callback(callback)

"""Parts of the work that one element asks for, and who has claimed how much of one.

A splittable ``DoFn`` asks its tracker before each position, see
`beamlike.api.pipelines.splittable`. A tracker can give up the rest of its restriction.

Source: Beam Python ``iobase.RestrictionTracker``, ``io.restriction_trackers``.
"""

from collections.abc import Iterator
from typing import Any

import attrs

from beamlike.api.pipelines.io.range_trackers import OffsetRangeTracker
from beamlike.errors import PipelineError

__all__ = [
    "OffsetRange",
    "OffsetRestrictionTracker",
    "RestrictionProgress",
    "RestrictionTracker",
    "UnsplittableRestrictionTracker",
]


class RestrictionProgress:
    """How much of a restriction is done, as a share or as an amount of work.

    Args:
        fraction: The share that is done, from 0 to 1.
        completed: The work that is done, in any unit.
        remaining: The work that is left, in the same unit.

    Source: Beam ``RestrictionProgress``.
    """

    def __init__(
        self,
        *,
        fraction: float | None = None,
        completed: float | None = None,
        remaining: float | None = None,
    ) -> None:
        if fraction is None and (completed is None or remaining is None):
            raise PipelineError(
                "RestrictionProgress needs fraction=, or both completed= and remaining="
            )
        self._fraction, self._completed, self._remaining = fraction, completed, remaining

    @property
    def completed_work(self) -> float:
        """The work that is done; the share, if nothing else is known."""
        return _known(self._completed, self._fraction)

    @property
    def remaining_work(self) -> float:
        """The work that is left; the share, if nothing else is known."""
        if self._remaining is not None:
            return self._remaining
        return 1 - _known(self._fraction)

    @property
    def total_work(self) -> float:
        """All of the work."""
        return self.completed_work + self.remaining_work

    @property
    def fraction_completed(self) -> float:
        """The share that is done, from 0 to 1."""
        if self._fraction is not None:
            return self._fraction
        return self.completed_work / self.total_work if self.total_work else 1.0

    @property
    def fraction_remaining(self) -> float:
        """The share that is left, from 0 to 1."""
        return 1 - self.fraction_completed


def _known(*values: float | None) -> float:
    return next((it for it in values if it is not None), 0.0)


class RestrictionTracker:
    """Which part of a restriction is claimed. Subclasses define all but `current_progress`.

    Source: Beam ``RestrictionTracker``.
    """

    def current_restriction(self) -> Any:
        """The restriction, without what was given up."""
        raise NotImplementedError(f"{type(self).__name__} does not define current_restriction")

    def current_progress(self) -> RestrictionProgress:
        """How much of it is done. Nothing here asks for it."""
        raise NotImplementedError(f"{type(self).__name__} does not define current_progress")

    def check_done(self) -> bool | None:
        """Raise an error if a part is neither claimed nor given up."""
        raise NotImplementedError(f"{type(self).__name__} does not define check_done")

    def try_split(self, fraction_of_remainder: float) -> tuple[Any, Any] | None:
        """Give up the rest: the restriction that stays and the one that is given up.

        Args:
            fraction_of_remainder: The share of the rest that is kept, from 0 to 1.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define try_split")

    def try_claim(self, position: Any) -> bool:
        """Whether the work at this position may be done."""
        raise NotImplementedError(f"{type(self).__name__} does not define try_claim")

    def is_bounded(self) -> bool:
        """Whether the work ends."""
        raise NotImplementedError(f"{type(self).__name__} does not define is_bounded")


@attrs.frozen(repr=False)
class OffsetRange:
    """Whole numbers from a start to the one before a stop.

    >>> list(OffsetRange(0, 10).split(4))
    [OffsetRange(0, 4), OffsetRange(4, 8), OffsetRange(8, 10)]

    Args:
        start: The first.
        stop: The first after it.

    Raises:
        PipelineError: The stop is before the start.

    Source: Beam ``OffsetRange``.
    """

    start: int
    stop: int

    def __attrs_post_init__(self) -> None:
        if self.start > self.stop:
            raise PipelineError(
                "Start offset must be not be larger than the stop offset. "
                f"Received {self.start} and {self.stop} respectively."
            )

    def __repr__(self) -> str:
        return f"OffsetRange({self.start}, {self.stop})"

    def split(
        self, desired_num_offsets_per_split: int, min_num_offsets_per_split: int = 1
    ) -> Iterator["OffsetRange"]:
        """Parts of about the same size; a small one at the end is added to the one before.

        Args:
            desired_num_offsets_per_split: How many numbers are in a part.
            min_num_offsets_per_split: How many are in one at least.
        """
        size, at = max(desired_num_offsets_per_split, min_num_offsets_per_split), self.start
        while at < self.stop:
            end = min(at + size, self.stop)
            left = self.stop - end
            if left < desired_num_offsets_per_split // 4 or left < min_num_offsets_per_split:
                end = self.stop
            yield OffsetRange(at, end)
            at = end

    def split_at(self, split_pos: int) -> tuple["OffsetRange", "OffsetRange"]:
        """What is before a number, and the rest."""
        return OffsetRange(self.start, split_pos), OffsetRange(split_pos, self.stop)

    def new_tracker(self) -> OffsetRangeTracker:
        """A tracker for a source."""
        return OffsetRangeTracker(self.start, self.stop)

    def size(self) -> int:
        """How many numbers there are."""
        return self.stop - self.start


class OffsetRestrictionTracker(RestrictionTracker):
    """Claims the numbers of an `OffsetRange`, in ascending order.

    >>> tracker = OffsetRestrictionTracker(OffsetRange(0, 2))
    >>> [tracker.try_claim(at) for at in (0, 1, 2)]
    [True, True, False]

    Args:
        offset_range: All of the work.

    Source: Beam ``OffsetRestrictionTracker``.
    """

    def __init__(self, offset_range: OffsetRange) -> None:
        if not isinstance(offset_range, OffsetRange):
            raise PipelineError(
                f"OffsetRestrictionTracker needs an OffsetRange, got {offset_range!r}; write "
                "OffsetRange(start, stop)"
            )
        self._range = offset_range
        self._attempt: int | None = None

    def start_position(self) -> int:
        """The first number."""
        return self._range.start

    def stop_position(self) -> int:
        """The first number after the last."""
        return self._range.stop

    def current_restriction(self) -> OffsetRange:
        return self._range

    def current_progress(self) -> RestrictionProgress:
        if not self._range.size():
            return RestrictionProgress(fraction=1.0)
        done = (
            0 if self._attempt is None else min(self._attempt, self._range.stop) - self._range.start
        )
        return RestrictionProgress(
            completed=float(done), remaining=float(self._range.size() - done)
        )

    def check_done(self) -> bool:
        attempt = self._range.start - 1 if self._attempt is None else self._attempt
        if self._range.size() and attempt < self._range.stop - 1:
            raise ValueError(
                f"OffsetRestrictionTracker is not done since work in range [{attempt + 1}, "
                f"{self._range.stop}) has not been claimed; claim it with try_claim, or give it "
                "up with defer_remainder"
            )
        return True

    def try_claim(self, position: int) -> bool:
        if self._attempt is not None and position <= self._attempt:
            raise ValueError(
                "Positions claimed should strictly increase. Trying to claim position "
                f"{position} while last claim attempt was {self._attempt}."
            )
        if position < self._range.start:
            raise ValueError(
                "Position to be claimed cannot be smaller than the start position of the range. "
                f"Tried to claim position {position} for the range [{self._range.start}, "
                f"{self._range.stop})"
            )
        self._attempt = position
        return position < self._range.stop

    def try_split(self, fraction_of_remainder: float) -> tuple[OffsetRange, OffsetRange] | None:
        at = self._range.start - 1 if self._attempt is None else self._attempt
        split = at + max(1, int((self._range.stop - at) * fraction_of_remainder))
        if split >= self._range.stop:
            return None
        self._range, rest = self._range.split_at(split)
        return self._range, rest

    def is_bounded(self) -> bool:
        return True


class UnsplittableRestrictionTracker(RestrictionTracker):
    """Another tracker, whose restriction is done as a whole or given up as a whole.

    Args:
        underling_tracker: The other one. The name is Beam's.

    Source: Beam ``UnsplittableRestrictionTracker``.
    """

    def __init__(self, underling_tracker: RestrictionTracker) -> None:
        self._tracker = underling_tracker

    def try_split(self, fraction_of_remainder: float) -> tuple[Any, Any] | None:
        # A restriction that is given up before it is begun is not split.
        return self._tracker.try_split(fraction_of_remainder) if not fraction_of_remainder else None

    def current_restriction(self) -> Any:
        return self._tracker.current_restriction()

    def current_progress(self) -> RestrictionProgress:
        return self._tracker.current_progress()

    def check_done(self) -> bool | None:
        return self._tracker.check_done()

    def try_claim(self, position: Any) -> bool:
        return self._tracker.try_claim(position)

    def is_bounded(self) -> bool:
        return self._tracker.is_bounded()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._tracker, name)

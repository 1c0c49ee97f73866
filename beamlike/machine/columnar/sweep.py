"""Which windows become one: a sweep over the windows of all keys, sorted by start.

Source: Beam Java, ``MergeOverlappingIntervalWindows``; the bounds are those of `Sessions`.
"""

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import Bools, Ints, within
from beamlike.machine.columnar.order import (
    greatest_so_far,
    order_of,
    order_of_windows,
    starts_of_runs,
)
from beamlike.model.sessions import Sessions

__all__ = ["Runs", "Sweep"]


@attrs.frozen(eq=False)
class Runs:
    """Windows that become one, run by run.

    ``order`` has the windows sorted, ``run`` says for each of them, in that order, which run it
    belongs to. Each run has its key and its span, and ``merges`` says that it has windows other
    than its span.
    """

    order: Ints
    run: Ints
    key: Ints
    start: Ints
    end: Ints
    merges: Bools

    @classmethod
    def cut(cls, order: Ints, opens: Bools, key: Ints, start: Ints, end: Ints) -> "Runs":
        """Sorted windows, cut where the next run begins."""
        first, run = np.nonzero(opens)[0], np.cumsum(opens) - 1
        starts, ends = start[first], np.maximum.reduceat(end, first) if len(first) else end
        merges = np.zeros(len(first), np.bool_)
        merges[run[(start != starts[run]) | (end != ends[run])]] = True
        return cls(order, run, key[first], starts, ends, merges)


class Sweep:
    """How sessions merge."""

    def __init__(self, window_fn: Sessions) -> None:
        self._longest, self._most = window_fn.max_duration, window_fn.max_elements
        self._is_bounded = self._longest is not None or self._most is not None
        self._touching = window_fn.merge_touching

    @property
    def is_bounded(self) -> bool:
        """Whether windows that overlap may stay apart."""
        return self._is_bounded

    @property
    def merges_touching(self) -> bool:
        """Whether windows that only touch merge."""
        return self._touching

    def runs(self, key: Ints, start: Ints, end: Ints, size: Ints | None) -> Runs:
        """The windows that become one, of all keys.

        Args:
            key: Of each window, in any order; windows may be there several times.
            start: Likewise (ms).
            end: Likewise (ms).
            size: How many elements each holds; None if there is no bound to it.
        """
        if not self.is_bounded:
            order = order_of(key, start)
            key, start, end = key[order], start[order], end[order]
            return Runs.cut(order, self._opens(key, start, end), key, start, end)
        order = order_of_windows(key, start, end)
        key, start, end = key[order], start[order], end[order]
        new = starts_of_runs(key, start, end)
        first = np.nonzero(new)[0]
        held = None if size is None else np.add.reduceat(size[order], first)
        opens = np.zeros(len(key), np.bool_)
        opens[first] = self._cut(key[first], start[first], end[first], held)
        return Runs.cut(order, opens, key, start, end)

    def _cut(self, key: Ints, start: Ints, end: Ints, size: Ints | None) -> Bools:
        """Where runs begin, of different windows in order.

        Where nothing is near enough, a run begins in any case; what lies between is searched for
        all stretches at once, one run of each in each round.
        """
        opens = self._opens(key, start, end)
        stretch = np.cumsum(opens) - 1
        count = len(opens)
        last = np.append(np.nonzero(opens)[0][1:], count)[stretch] if count else stretch
        far = self._far(stretch, start, last)
        total = None if size is None else np.cumsum(size)
        begins = np.nonzero(opens)[0]
        is_near = np.less_equal if self._touching else np.less
        while len(begins := begins[last[begins] > begins + 1]):
            lengths = far[begins] - begins
            row = np.repeat(begins, lengths) + within(lengths)
            nth = np.repeat(np.arange(len(begins)), lengths)
            first = np.cumsum(lengths) - lengths
            fits = np.ones(len(row), np.bool_)
            fits[1:] = is_near(start[row[1:]], greatest_so_far(nth, end[row])[:-1])
            if self._longest is not None:
                fits &= end[row] - np.repeat(start[begins], lengths) <= self._longest
            if total is not None and size is not None:
                before = total[begins] - size[begins]
                fits &= total[row] - np.repeat(before, lengths) <= self._most
            fits[first] = True
            ends = np.minimum.reduceat(np.where(fits, count, row), first)
            begins = ends[ends < count]
            opens[begins] = True
        return opens

    def _far(self, stretch: Ints, start: Ints, last: Ints) -> Ints:
        """Up to which row, excluded, a run that begins at each row has to be searched."""
        far = last
        if self._most is not None:
            far = np.minimum(far, np.arange(len(far)) + self._most + 1)
        if self._longest is not None and len(start):
            low = int(start.min())
            width = (int(start.max()) - low + self._longest).bit_length()
            if width + len(start).bit_length() < 63:
                at = (stretch << width) + (start - low)
                far = np.minimum(far, np.searchsorted(at, at + self._longest) + 1)
        return far

    def _opens(self, key: Ints, start: Ints, end: Ints) -> Bools:
        """Where windows in order are near enough to none before them."""
        opens = starts_of_runs(key)
        if len(key):
            is_apart = np.greater if self._touching else np.greater_equal
            reach = greatest_so_far(np.cumsum(opens), end)
            opens[1:] |= is_apart(start[1:], reach[:-1])
        return opens

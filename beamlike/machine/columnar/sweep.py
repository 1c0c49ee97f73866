"""Which windows become one: a sweep over the windows of all keys, sorted by start.

Source: Beam Java, ``MergeOverlappingIntervalWindows``; the bounds are those of `Sessions`.
"""

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    WindowRows,
    greatest_so_far,
    order_of,
    order_of_windows,
    starts_of_runs,
    within,
)
from beamlike.model.session_merging import ENDED
from beamlike.model.sessions import Sessions


@attrs.frozen(eq=False)
class Runs(WindowRows):
    """Windows grouped into runs. Each run merges to one window, which is a row here.

    ``order`` sorts the windows that were given: it has their places. ``run[i]`` is the run of the
    i-th window in that order. ``merges`` says which runs have windows other than their result.
    """

    order: Ints
    run: Ints
    merges: Bools

    @classmethod
    def cut(
        cls, order: Ints, opens: Bools, key: Ints, start: Ints, end: Ints, reach: Ints | None = None
    ) -> "Runs":
        """Runs of sorted windows.

        Args:
            opens: Which windows begin a run.
            reach: The end that each window gives its run at least; None: its own end.
        """
        first, run = np.nonzero(opens)[0], np.cumsum(opens) - 1
        reach = end if reach is None else reach
        starts, ends = start[first], np.maximum.reduceat(reach, first) if len(first) else end
        merges = np.zeros(len(first), np.bool_)
        merges[run[(start != starts[run]) | (end != ends[run])]] = True
        return cls(key[first], starts, ends, order, run, merges)


class Sweep:
    """Merges sessions as their window function does."""

    def __init__(self, window_fn: Sessions) -> None:
        self._longest, self._most = window_fn.max_duration, window_fn.max_elements
        self.merges_touching = window_fn.merge_touching
        """Whether windows that only touch merge."""
        self._last = window_fn.resolution.end_of_global_window
        self._gap: int | None = None  # known only where events may end sessions
        if window_fn.ends_with is not None and isinstance(window_fn.gap, int):
            self._gap = window_fn.gap
        bounds = (self._gap, self._longest, self._most)
        self.is_bounded = any(bound is not None for bound in bounds)
        """Whether windows that overlap may stay apart."""

    def sizes(self, start: Ints, end: Ints) -> Ints:
        """The size of each of these windows if it holds one element, see `Sessions.size_of`."""
        sizes = np.ones(len(start), np.int64)
        if self._gap is not None:
            sizes[(end <= self._last) & (end - start < self._gap)] += ENDED
        return sizes

    def runs(self, key: Ints, start: Ints, end: Ints, size: Ints | None) -> Runs:
        """The runs of windows of all keys, which may come in any order, and more than once.

        ``size`` is the size of each window, see `sizes`; None if sizes do not matter.
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
        windows = self._windows(key[first], start[first], end[first], held)
        opens[first], reach = self._cut(windows)
        return Runs.cut(order, opens, key, start, end, reach[np.cumsum(new) - 1])

    def _windows(self, key: Ints, start: Ints, end: Ints, size: Ints | None) -> "_OpenWindows":
        count = len(key)
        if self._gap is None or size is None:
            return _OpenWindows(key, start, end, size, np.zeros(count, np.bool_), end)
        ended = size >= ENDED
        last = np.where(end > self._last, self._last, end - self._gap)
        return _OpenWindows(key, start, end, size % ENDED, ended, np.where(ended, end - 1, last))

    def _cut(self, windows: "_OpenWindows") -> tuple[Bools, Ints]:
        """Which windows begin a run, and the end that each gives its run at least.

        The windows are sorted, and each is there once. A window that is near none before it begins
        a run in any case; the windows from it to the next such one are a stretch. A stretch may be
        several runs. Each round finds the next run of every stretch.
        """
        key, start, end, size = windows.key, windows.start, windows.end, windows.size
        opens = self._opens(key, start, end)
        stretch = np.cumsum(opens) - 1
        count, reach = len(opens), end.copy()
        last = np.append(np.nonzero(opens)[0][1:], count)[stretch] if count else stretch
        far = self._far(stretch, windows, last)
        total = None if size is None else np.cumsum(size)
        begins = np.nonzero(opens)[0]
        is_near = np.less_equal if self.merges_touching else np.less
        while len(begins := begins[last[begins] > begins + 1]):
            lengths = far[begins] - begins
            row = np.repeat(begins, lengths) + within(lengths)
            nth = np.repeat(np.arange(len(begins)), lengths)
            first = np.cumsum(lengths) - lengths
            fits = np.ones(len(row), np.bool_)
            fits[1:] = is_near(start[row[1:]], greatest_so_far(nth, end[row])[:-1])
            if self._longest is not None:
                fits &= end[row] - np.repeat(start[begins], lengths) <= self._longest
            if self._gap is not None:
                fits, ended_at, reaches = _ended(windows, row, nth, first, fits)
            if total is not None and size is not None and self._most is not None:
                before = total[begins] - size[begins]
                fits &= total[row] - np.repeat(before, lengths) <= self._most
            fits[first] = True
            ends = np.minimum.reduceat(np.where(fits, count, row), first)
            if self._gap is not None:
                inside = np.maximum(row, ended_at) < np.repeat(ends, lengths)
                reach[row[inside]] = reaches[inside]
            begins = ends[ends < count]
            opens[begins] = True
        return opens, reach

    def _far(self, stretch: Ints, windows: "_OpenWindows", last: Ints) -> Ints:
        """For each row, the row before which a run that begins there must end."""
        far, start, count = last, windows.start, len(windows.start)
        if self._most is not None:
            far = np.minimum(far, np.arange(count) + self._most + 1)
        if not count or (self._longest is None and self._gap is None):
            return far
        reach = greatest_so_far(stretch, windows.end)
        low = int(start.min())
        width = max(int(reach.max()) - low, int(start.max()) - low + (self._longest or 0))
        if width.bit_length() + count.bit_length() >= 63:
            return far
        of_stretch = stretch << width.bit_length()
        place = of_stretch + (start - low)
        if self._longest is not None:
            far = np.minimum(far, np.searchsorted(place, place + self._longest) + 1)
        if self._gap is not None:
            rows = np.where(windows.ended, np.arange(count), count)
            stop = np.minimum(np.minimum.accumulate(rows[::-1])[::-1], last - 1)
            far = np.minimum(far, np.searchsorted(place, of_stretch + (reach[stop] - low)) + 1)
        return far

    def _opens(self, key: Ints, start: Ints, end: Ints) -> Bools:
        """Which of these sorted windows are near none of their key before them."""
        opens = starts_of_runs(key)
        if len(key):
            is_apart = np.greater if self.merges_touching else np.greater_equal
            reach = greatest_so_far(np.cumsum(opens), end)
            opens[1:] |= is_apart(start[1:], reach[:-1])
        return opens


@attrs.frozen(eq=False)
class _OpenWindows(WindowRows):
    """Sorted windows, each once. ``size`` is how many elements each holds, None if that does not
    matter; ``ended`` whether an event has ended it; ``latest`` its latest event time (ticks)."""

    size: Ints | None
    ended: Bools
    latest: Ints


def _ended(
    windows: _OpenWindows, row: Ints, nth: Ints, first: Ints, fits: Bools
) -> tuple[Bools, Ints, Ints]:
    """Cut runs at the first of their windows that an event has ended, see `merge_overlapping`.

    Args:
        windows: All windows.
        row: The candidates for the runs that are searched, run by run, as rows of ``windows``.
        nth: The number of the run of each candidate.
        first: Where the candidates of each run begin.
        fits: Which candidates would fit if no window had ended.

    Returns:
        For each candidate: whether it fits; the row of the first ended window of its run, or its
        own row if none has ended; and the end that it gives its run if that window is in the run.
    """
    start, end, latest = windows.start[row], windows.end[row], windows.latest[row]
    position = np.arange(len(row))
    place = np.minimum.reduceat(np.where(windows.ended[row], position, len(row)), first)
    has_end = place < len(row)
    stop = np.where(has_end, end[np.minimum(place, len(row) - 1)], 0)[nth]
    place, has_end = place[nth], has_end[nth]
    before = has_end & (position <= place)
    # A window before it that has elements from later keeps its end.
    reach = np.where(before, np.where(latest >= stop, end, stop), end)
    greatest = np.maximum.reduceat(np.where(before, reach, NOTHING), first)[nth]
    after = has_end & (position > place)
    return (
        np.where(after, (start < greatest) & (latest < greatest), fits),
        np.where(has_end, row[np.minimum(place, len(row) - 1)], row),
        np.where(after, greatest, reach),
    )

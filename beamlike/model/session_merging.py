"""Which windows of sessions become one: plans of merges, of windows in order of start and end.

Source: Beam Java, ``MergeOverlappingIntervalWindows``; the bounds and the ends are those of
`beamlike.model.sessions.Sessions`.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windowfns import Merge
from beamlike.model.windows import IntervalWindow, bounds

ENDED: Final = 2**40
"""What an end event counts for in the size of a window, besides 1: a window of that size or more
has ended, and what is left of its size is how many elements it holds."""


def merge_overlapping(
    windows: Iterable[IntervalWindow],
    longest: int | None = None,
    sizes: Mapping[IntervalWindow, int] | None = None,
    most: int | None = None,
    *,
    touching: bool = False,
) -> tuple[Merge, ...]:
    """The plan that joins every run of windows that overlap into its span.

    Args:
        windows: In any order.
        longest: No span becomes longer (ms): the window that would make it so begins the next
            run. None: no limit.
        sizes: How many elements each window holds. Needed with ``most``.
        most: No run of several windows gets more elements, likewise.
        touching: A window also belongs to a run that ends where it begins.

    Source: Beam Java, ``MergeOverlappingIntervalWindows``.

    >>> overlapping = [IntervalWindow(20, 30), IntervalWindow(0, 10), IntervalWindow(5, 20)]
    >>> merge_overlapping(overlapping)[0].into
    IntervalWindow(start=0, end=20)
    """
    runs: list[list[IntervalWindow]] = []
    start = reach = held = 0
    for window in sorted(set(windows), key=bounds):
        # Only the last run is considered. A window that would make it too long would make those
        # before it too long as well; and runs that are neighbours have spans of their own,
        # where a window that found room in an earlier run might make two spans equal.
        fits = longest is None or window.end - start <= longest
        size = sizes[window] if sizes is not None else 0
        if most is not None and held + size > most:
            fits = False
        near = window.start <= reach if touching else window.start < reach
        if runs and near and fits:
            runs[-1].append(window)
            reach, held = max(reach, window.end), held + size
        else:
            runs.append([window])
            start, reach, held = window.start, window.end, size
    return tuple(
        Merge(tuple(run), IntervalWindow(run[0].start, max(window.end for window in run)))
        for run in runs
        if len(run) > 1
    )


def last_instant(window: IntervalWindow, gap: int, last: int) -> int:
    """The latest event time of the elements of a session that no event has ended; ``last`` is the
    last instant of the global window."""
    return last if window.end > last else window.end - gap


@attrs.define
class _Run:
    """Windows that become one: ``end`` is where their span ends so far (ms), ``held`` how many
    elements it has, and ``ended`` whether an event ended it."""

    windows: list[IntervalWindow]
    end: int
    held: int
    ended: bool

    @property
    def start(self) -> int:
        return self.windows[0].start


def merge_ending(
    gap: int,
    longest: int | None,
    sizes: Mapping[IntervalWindow, int],
    most: int | None,
    *,
    touching: bool = False,
    last: int = END_OF_GLOBAL_WINDOW,
) -> tuple[Merge, ...]:
    """The plan where some windows have ended: those of a size of `ENDED` or more.

    A run ends with the first such window in it: its span then ends there, unless one before has
    elements from later. After that only windows join whose elements are all from before that end.

    Args:
        gap: Of the sessions (ms).
        longest: As for `merge_overlapping`, as for the next three.
        sizes: For each window how many elements it holds, and `ENDED` for each end event.
        most: No run of several windows gets more elements.
        touching: A window also belongs to a run that ends where it begins, unless that has ended.
        last: The last instant of the global window, which cuts windows short.

    >>> click, logout = IntervalWindow(0, 10), IntervalWindow(4, 5)
    >>> merge_ending(10, None, {click: 1, logout: 1 + ENDED}, None)[0].into
    IntervalWindow(start=0, end=5)
    """
    runs: list[_Run] = []
    for window in sorted(sizes, key=bounds):
        ends, held = divmod(sizes[window], ENDED)
        run = runs[-1] if runs else None
        if run is None or not (
            _is_near(run, window, gap, last, touching=touching, ended=ends > 0)
            and (longest is None or window.end - run.start <= longest or run.ended)
            and (most is None or run.held + held <= most)
        ):
            runs.append(_Run([window], window.end, held, ends > 0))
            continue
        if not run.ended:
            run.end = _end_with(run, window, gap, last) if ends else max(run.end, window.end)
            run.ended = ends > 0
        run.windows.append(window)
        run.held += held
    return tuple(
        Merge(tuple(run.windows), IntervalWindow(run.start, run.end))
        for run in runs
        if len(run.windows) > 1
    )


def _is_near(
    run: _Run, window: IntervalWindow, gap: int, last: int, *, touching: bool, ended: bool
) -> bool:
    if not run.ended:
        return window.start <= run.end if touching else window.start < run.end
    latest = window.end - 1 if ended else last_instant(window, gap, last)
    return window.start < run.end and latest < run.end


def _end_with(run: _Run, end_event: IntervalWindow, gap: int, last: int) -> int:
    """Where a run ends that this window ends."""
    later = (
        window.end for window in run.windows if last_instant(window, gap, last) >= end_event.end
    )
    return max([end_event.end, *later])

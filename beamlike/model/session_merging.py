"""Which windows of sessions become one: plans of merges, of windows in order of start and end.

Source: Beam Java, ``MergeOverlappingIntervalWindows``; the bounds and the ends are those of
`beamlike.model.sessions.Sessions`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

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
    gap: int = 0,
    last: int = END_OF_GLOBAL_WINDOW,
) -> tuple[Merge, ...]:
    """The plan that joins every run of windows that overlap into its span.

    Some windows may have ended: those of a size of `ENDED` or more. A run ends with the first such
    window in it: its span then ends there, unless one before has elements from later. After that
    only windows join whose elements are all from before that end.

    Args:
        windows: In any order.
        longest: No span becomes longer (ms): the window that would make it so begins the next
            run. None: no limit.
        sizes: How many elements each window holds, and `ENDED` for each end event. Needed with
            ``most``.
        most: No run of several windows gets more elements, likewise.
        touching: A window also belongs to a run that ends where it begins, unless that has ended.
        gap: Of the sessions (ms). Needed where some windows have ended.
        last: The last instant of the global window, which cuts windows short.

    Source: Beam Java, ``MergeOverlappingIntervalWindows``.

    >>> overlapping = [IntervalWindow(20, 30), IntervalWindow(0, 10), IntervalWindow(5, 20)]
    >>> merge_overlapping(overlapping)[0].into
    IntervalWindow(start=0, end=20)

    >>> sizes = {IntervalWindow(0, 10): 1, IntervalWindow(4, 5): 1 + ENDED}
    >>> merge_overlapping(sizes, sizes=sizes, gap=10)[0].into
    IntervalWindow(start=0, end=5)
    """
    merges: list[Merge] = []
    run: list[IntervalWindow] = []
    start = reach = held = 0
    ended = False
    for window in sorted(set(windows), key=bounds):
        # Only the last run is considered. A window that would make it too long would make those
        # before it too long as well; and runs that are neighbours have spans of their own,
        # where a window that found room in an earlier run might make two spans equal.
        ends = size = 0
        if sizes is not None:
            ends, size = divmod(sizes[window], ENDED)
        if ended:
            latest = window.end - 1 if ends else last_instant(window, gap, last)
            joins = window.start < reach and latest < reach
        else:
            joins = window.start < reach or (touching and window.start == reach)
            joins = joins and (longest is None or window.end - start <= longest)
        if run and joins and (most is None or held + size <= most):
            if not ended:
                reach = _end_with(run, window, gap, last) if ends else max(reach, window.end)
            run.append(window)
            held, ended = held + size, ended or ends > 0
            continue
        if len(run) > 1:
            merges.append(Merge(tuple(run), IntervalWindow(start, reach)))
        run, start, reach, held, ended = [window], window.start, window.end, size, ends > 0
    if len(run) > 1:
        merges.append(Merge(tuple(run), IntervalWindow(start, reach)))
    return tuple(merges)


def last_instant(window: IntervalWindow, gap: int, last: int) -> int:
    """The latest event time of the elements of a session that no event has ended; ``last`` is the
    last instant of the global window."""
    return last if window.end > last else window.end - gap


def _end_with(run: Sequence[IntervalWindow], end_event: IntervalWindow, gap: int, last: int) -> int:
    """Where a run ends that this window ends."""
    later = (window.end for window in run if last_instant(window, gap, last) >= end_event.end)
    return max([end_event.end, *later])

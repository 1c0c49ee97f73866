"""Where a window function would see the end of a window, and not when its elements were.

A pane is stamped with the end of its window by default. What puts it into windows anew goes by that
time. Days of hourly panes are the days of their elements; sessions of them are not, and neither
are windows that an hour does not lie in.
"""

from collections.abc import Callable, Iterable, Iterator

from beamlike.model.calendar import CalendarWindows
from beamlike.model.graph import GroupNode, Node, ways_back
from beamlike.model.options import TimestampCombiner
from beamlike.model.sessions import Sessions
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

_HOUR = 3_600_000


def loses_times(before: WindowFn, after: WindowFn) -> bool:
    """Whether windows of panes (``after``) are not those of their elements, where panes are stamped
    with the end of their window (``before``).

    Sessions that come into fixed windows are not meant: they have no better time than one of their
    own, and are in the window in which they end. Of window functions of users nothing is known.

    >>> loses_times(FixedWindows("1 hour"), Sessions("5 minutes"))
    True
    >>> loses_times(FixedWindows("1 hour"), FixedWindows("1 day"))
    False
    """
    if isinstance(after, GlobalWindows) or not isinstance(after, _LOOKING):
        return False
    if isinstance(after, Sessions) or isinstance(before, GlobalWindows):
        return True
    if not isinstance(before, _CUT):
        return False
    return not all(_is_edge(before, edge) for edge in _edges(after))


def stamped_with_ends(
    node: Node, sets_times: Callable[[Node], bool] = lambda _node: False
) -> list[GroupNode]:
    """The groupings from which the elements at a node have the end of a window as their time.

    Args:
        node: The node.
        sets_times: Which nodes give elements another time.
    """

    def is_end(before: Node) -> bool:
        # The earliest or latest of times that are ends of windows is one, too.
        ends = TimestampCombiner.END_OF_WINDOW
        stamps = isinstance(before, GroupNode) and before.strategy.timestamp_combiner is ends
        return stamps or sets_times(before)

    ends = (before for before, _ in ways_back(node, is_end))
    return list(dict.fromkeys(before for before in ends if isinstance(before, GroupNode)))


_CUT = (FixedWindows, SlidingWindows, CalendarWindows)
_LOOKING = (*_CUT, Sessions)


def _edges(window_fn: WindowFn) -> Iterator[int]:
    """Where windows begin and end (ms), for some from 1970 to 2033.

    The samples are at all times of day and year, so that those in a time zone are on both sides of
    the changes of its clocks.
    """
    for number in range(180):
        for window in _assigned(window_fn, number * (128 * 24 + 5) * _HOUR + number**2 * 61_007):
            yield from window


def _is_edge(window_fn: WindowFn, instant: int) -> bool:
    """Whether windows end at this instant (ms)."""
    if isinstance(window_fn, SlidingWindows):
        return (instant - window_fn.offset - window_fn.size) % window_fn.period == 0
    return any(start == instant for start, _ in _assigned(window_fn, instant))


def _assigned(window_fn: WindowFn, instant: int) -> Iterable[tuple[int, int]]:
    return [(window.start, window.end) for window in window_fn.assign(instant)]

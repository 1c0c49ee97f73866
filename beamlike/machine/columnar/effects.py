"""Panes, drops and merges in columns as the values that the reference machine would have emitted.

For uses that follow single windows: narratives, renderings of retractions, comparisons.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from beamlike.machine.columnar.arrays import NOTHING
from beamlike.machine.columnar.columns import TIMINGS, Drops, Merges, Panes
from beamlike.machine.events import Drop, DropReason, Item, Lifted, Merged, Pane
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.windows import IntervalWindow, Window, window_of

_TIMINGS = tuple(Timing(name) for name in TIMINGS)


def panes_of(panes: Panes, values: Iterable[Any]) -> Iterator[tuple[int, Pane]]:
    """Each pane with the number of its key; ``values`` are theirs."""
    columns = (
        *(panes.key, panes.start, panes.end, panes.timestamp, panes.timing, panes.index),
        *(panes.nonspeculative, panes.is_last),
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    sessions: Iterable[Window | None] = [None] * len(panes.key)
    retracts: Iterable[bool] = [False] * len(panes.key)
    if panes.retraction is not None and panes.session_start is not None:
        assert panes.session_end is not None, "a session has two ends"
        retracts = panes.retraction.tolist()
        sessions = map(window_of, panes.session_start.tolist(), panes.session_end.tolist())
    for row, value, retraction, session in zip(rows, values, retracts, sessions, strict=True):
        key, start, end, timestamp, timing, index, nonspeculative, is_last = row
        info = PaneInfo(_TIMINGS[timing], index, nonspeculative, index == 0, is_last)
        yield key, Pane(window_of(start, end), value, timestamp, info, retraction, session)


def infos_of(panes: Panes) -> Iterator[PaneInfo]:
    """The pane info of each pane: one object for all equal ones."""
    columns = (panes.timing, panes.index, panes.nonspeculative, panes.is_last)
    known: dict[tuple[int, int, int, bool], PaneInfo] = {}
    for row in zip(*(column.tolist() for column in columns), strict=True):
        info = known.get(row)
        if info is None:
            timing, index, nonspeculative, is_last = row
            info = PaneInfo(_TIMINGS[timing], index, nonspeculative, index == 0, is_last)
            known[row] = info
        yield info


def drops_of(drops: Drops, items: Sequence[Item], watermark: int) -> Iterator[Drop]:
    """Each drop; ``items`` are the elements that were dropped."""
    columns = (drops.start, drops.end, drops.missed_by, drops.nearly_start, drops.nearly_end)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for item, (start, end, missed, nearly_start, nearly_end) in zip(items, rows, strict=True):
        closed = missed == NOTHING
        yield Drop(
            item,
            window_of(start, end),
            DropReason.CLOSED if closed else DropReason.EXPIRED,
            None if closed else missed,
            None if nearly_start == NOTHING else window_of(nearly_start, nearly_end),
            watermark,
            item.count if isinstance(item, Lifted) else 1,
        )


def merges_of(merges: Merges) -> Iterator[tuple[int, Merged]]:
    """Each merge with the number of its key."""
    parts = map(IntervalWindow, merges.part_start.tolist(), merges.part_end.tolist())
    columns = (merges.key, merges.start, merges.end, merges.lengths)
    for key, start, end, length in zip(*(it.tolist() for it in columns), strict=True):
        yield key, Merged(tuple(islice(parts, length)), IntervalWindow(start, end))

"""What the columnar machine takes in, keeps and gives out, in columns.

It remembers a row for each window of each key. The columns are the fields of the reference
machine's `WindowState` and `KeyState`, whose cards say what each holds, what happens to it when
windows merge, and when it is cleared. Panes, drops and merges become the values that the reference
machine would have emitted, for uses that follow single windows: narratives, renderings of
retractions, comparisons.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any, Self

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    Lists,
    WindowRows,
    nothing,
)
from beamlike.machine.columnar.folds.base import Accumulators, Fold, Values
from beamlike.machine.columnar.folds.corrected import shown
from beamlike.machine.columnar.leaves import Nodes
from beamlike.machine.events import Drop, DropReason, Item, Lifted, Merged, Pane
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.windows import IntervalWindow, Window, window_of

NO_PANE = -1
"""In ``timing``: no pane was emitted yet. Else the position in `TIMINGS`."""

TIMINGS = ("EARLY", "ON_TIME", "LATE")


@attrs.frozen(eq=False)
class UnretractedPanes:
    """Panes that were emitted and not withdrawn, one in each row; ``values`` as in `Panes`."""

    start: Ints
    end: Ints
    values: tuple[Values, ...]
    timestamp: Ints
    timing: Ints
    index: Ints
    nonspeculative: Ints
    is_last: Bools
    session_start: Ints
    session_end: Ints

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def none(cls, folds: Sequence[Fold]) -> Self:
        """A record without rows."""
        no, never = nothing(0), np.zeros(0, np.bool_)
        values = tuple(fold.extract(fold.create(0)) for fold in shown(folds))
        return cls(no, no, values, no, no, no, no, never, no, no)


@attrs.frozen(eq=False)
class Table(WindowRows):
    """Windows, and what is remembered of them.

    ``unretracted_panes`` holds a list of `UnretractedPanes` for each window (as `PickedRows`), in
    retracting mode only. ``processing_timers`` holds a list of processing times for each window,
    ascending; it is kept only where a timer matters although its trigger no longer waits for it.
    Else the timers of a window are the targets of its triggers that the clock has not passed.
    ``size`` is kept only if the window function needs to know how many elements a window holds.
    """

    trigger: Nodes
    accumulators: tuple[Accumulators, ...]
    new_elements: Ints
    hold: Ints
    end_timer_set: Bools
    timing: Ints
    index: Ints
    nonspeculative: Ints
    unretracted_panes: Lists | None = None
    processing_timers: Lists | None = None
    size: Ints | None = None

    @property
    def closed(self) -> Bools:
        """The trigger finished: the window only waits for its expiry and accepts nothing."""
        return self.trigger.finished

    @property
    def last(self) -> Ints:
        """The last instant of each window."""
        return self.end - 1


@attrs.frozen(eq=False)
class Merges(WindowRows):
    """Windows that merged. Each row is the window that several became.

    ``lengths`` says how many windows each was made of. ``part_start`` and ``part_end`` are the
    bounds of those windows: first all parts of the first row, in order of start and end, then those
    of the second, and so on.
    """

    lengths: Ints
    part_start: Ints
    part_end: Ints

    @property
    def merged_away(self) -> int:
        """How many windows the merges removed: of three that become one, two."""
        return len(self.part_start) - len(self.key)


@attrs.frozen(eq=False)
class State:
    """All keys of a pass. ``output_watermark`` is each key's output watermark, by its number.

    ``merges`` says which live windows became part of another in the last bundle; None after any
    other event.
    """

    watermark: int
    clock: int
    output_watermark: Ints
    table: Table
    merges: Merges | None = None


@attrs.frozen(eq=False)
class Panes(WindowRows):
    """Panes that came out, in columns; ``values`` has a column for each fold.

    In retracting mode ``retraction`` says which of them withdraw an earlier pane, right before
    the pane that replaces it, and ``session_start`` and ``session_end`` are the session's name;
    else they are None.
    """

    values: tuple[Values, ...]
    timestamp: Ints
    timing: Ints
    index: Ints
    nonspeculative: Ints
    is_last: Bools
    retraction: Bools | None = None
    session_start: Ints | None = None
    session_end: Ints | None = None


@attrs.frozen(eq=False)
class FirstRows(WindowRows):
    """Elements that go on as they are: ``row`` is the element's place in the bundle."""

    row: Ints


@attrs.frozen(eq=False)
class Drops:
    """Elements that a window did not accept: ``row`` is the element's place in the bundle.

    ``missed_by`` is `NOTHING` where the window was closed, ``nearest_start`` where no live session
    would have taken the element in.
    """

    row: Ints
    start: Ints
    end: Ints
    missed_by: Ints
    nearest_start: Ints
    nearest_end: Ints

    @classmethod
    def near_nothing(cls, row: Ints, start: Ints, end: Ints, missed_by: Ints | None = None) -> Self:
        """Drops without a nearest session. Without ``missed_by``, the window was closed."""
        none = nothing(len(row))
        return cls(row, start, end, none if missed_by is None else missed_by, none, none)


_TIMINGS = tuple(Timing(name) for name in TIMINGS)


def panes_of(panes: Panes, values: Iterable[Any]) -> Iterator[tuple[int, Pane]]:
    """Each pane with the number of its key; ``values`` are theirs."""
    sessions: Iterable[Window | None] = repeat(None, len(panes.key))
    retracts: Iterable[bool] = repeat(False, len(panes.key))
    if panes.retraction is not None and panes.session_start is not None:
        assert panes.session_end is not None, "a session has two ends"
        retracts = panes.retraction.tolist()
        sessions = map(window_of, panes.session_start.tolist(), panes.session_end.tolist())
    windows = map(window_of, panes.start.tolist(), panes.end.tolist())
    parts = windows, values, panes.timestamp.tolist(), infos_of(panes), retracts, sessions
    yield from zip(panes.key.tolist(), map(Pane, *parts), strict=True)


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
    columns = (drops.start, drops.end, drops.missed_by, drops.nearest_start, drops.nearest_end)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for item, (start, end, missed, nearest_start, nearest_end) in zip(items, rows, strict=True):
        closed = missed == NOTHING
        yield Drop(
            item,
            window_of(start, end),
            DropReason.CLOSED if closed else DropReason.EXPIRED,
            None if closed else missed,
            None if nearest_start == NOTHING else window_of(nearest_start, nearest_end),
            watermark,
            item.count if isinstance(item, Lifted) else 1,
        )


def merges_of(merges: Merges) -> Iterator[tuple[int, Merged]]:
    """Each merge with the number of its key."""
    parts = map(IntervalWindow, merges.part_start.tolist(), merges.part_end.tolist())
    columns = (merges.key, merges.start, merges.end, merges.lengths)
    for key, start, end, length in zip(*(column.tolist() for column in columns), strict=True):
        yield key, Merged(tuple(islice(parts, length)), IntervalWindow(start, end))

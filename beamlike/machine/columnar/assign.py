"""What a bundle brings: elements with their windows, as columns.

The window functions are those of beamlike.
"""

from functools import singledispatch

import attrs
import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    WindowRows,
    concat,
    later,
    lengths_of,
    order_of,
    take,
    within,
)
from beamlike.machine.columnar.folds.base import Accumulators, ElementsByWindow, Fold, Values
from beamlike.model.calendar import CalendarWindows
from beamlike.model.resolution import Resolution
from beamlike.model.sessions import Sessions
from beamlike.model.texts import WINDOW_FNS
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOWS


@attrs.frozen(eq=False)
class AssignedRows:
    """A row for each window of each element: which element it is, and the window."""

    row: Ints
    start: Ints
    end: Ints


def check_assignable(window_fn: WindowFn) -> None:
    """Refuse a window function that has to be called for each element.

    Raises:
        UnsupportedError: The function or its gap is a user's own.
    """
    known = tuple(WINDOW_FNS.values())
    if type(window_fn) not in known:
        # One that is made from beamlike's is shown like it.
        made_from = isinstance(window_fn, known)
        whose = f"yours, {type(window_fn).__name__}," if made_from else "yours"
        raise UnsupportedError(f"{window_fn} calls a function of {whose} for one element at a time")
    if isinstance(window_fn, Sessions) and callable(window_fn.gap):
        raise UnsupportedError(
            f"the gap of {window_fn} is a function of yours, which is called for one element "
            "at a time"
        )


def assign(window_fn: WindowFn, timestamps: Ints, is_end: Bools | None = None) -> AssignedRows:
    """The windows of elements, element by element; see `check_assignable`.

    Args:
        is_end: Which elements end their session; None is refused where events may end sessions.
    """
    assigned = _assigned(window_fn, timestamps)
    if not isinstance(window_fn, Sessions) or window_fn.ends_with is None:
        return assigned
    if is_end is None:
        raise UnsupportedError(f"{window_fn} looks at values, and here are event times alone")
    start, end = assigned.start, assigned.end
    return AssignedRows(assigned.row, start, np.where(is_end, start + 1, end))


@singledispatch
def _assigned(window_fn: WindowFn, timestamps: Ints) -> AssignedRows:
    """Assign windows; each of beamlike's window functions is registered here."""
    raise NotImplementedError(window_fn)


def _within_time(timestamps: Ints, unit: Resolution) -> Ints:
    # Elements of the last day of time belong to the instant before it.
    return np.minimum(timestamps, unit.end_of_global_window)


def _rows(timestamps: Ints) -> Ints:
    return np.arange(len(timestamps), dtype=np.int64)


def _cut(start: Ints, size: int, unit: Resolution) -> Ints:
    """The ends of windows; none is beyond the end of the global window."""
    return later(start, size, unit.end_of_global_window + 1)


def _since_start(timestamps: Ints, offset: int, length: int) -> Ints:
    """The time since the last multiple of a length, counted from an offset (ticks)."""
    return (timestamps % length - offset) % length


@_assigned.register
def _(window_fn: FixedWindows, timestamps: Ints) -> AssignedRows:
    timestamps = _within_time(timestamps, window_fn.resolution)
    start = timestamps - _since_start(timestamps, window_fn.offset, window_fn.size)
    return AssignedRows(_rows(timestamps), start, _cut(start, window_fn.size, window_fn.resolution))


@_assigned.register
def _(window_fn: SlidingWindows, timestamps: Ints) -> AssignedRows:
    timestamps = _within_time(timestamps, window_fn.resolution)
    last = timestamps - _since_start(timestamps, window_fn.offset, window_fn.period)
    # How many windows back there is still one that holds the element.
    back = (last - timestamps + window_fn.size - 1) // window_fn.period
    counts = np.maximum(back + 1, 0)
    row = np.repeat(_rows(timestamps), counts)
    start = last[row] - within(counts) * window_fn.period
    return AssignedRows(row, start, _cut(start, window_fn.size, window_fn.resolution))


@_assigned.register
def _(window_fn: Sessions, timestamps: Ints) -> AssignedRows:
    assert isinstance(window_fn.gap, int), "see `check_assignable`"
    timestamps = _within_time(timestamps, window_fn.resolution)
    return AssignedRows(
        _rows(timestamps), timestamps, _cut(timestamps, window_fn.gap, window_fn.resolution)
    )


@_assigned.register
def _(window_fn: GlobalWindows, timestamps: Ints) -> AssignedRows:
    window = GLOBAL_WINDOWS[window_fn.resolution]
    start = np.full(len(timestamps), window.start, np.int64)
    return AssignedRows(_rows(timestamps), start, np.full(len(timestamps), window.end, np.int64))


@_assigned.register
def _(window_fn: CalendarWindows, timestamps: Ints) -> AssignedRows:
    # Few windows for many elements: each is worked out once and found again by search.
    order = np.argsort(timestamps, kind="stable")
    timestamps = timestamps[order]
    start, end = np.empty(len(timestamps), np.int64), np.empty(len(timestamps), np.int64)
    place = 0
    while place < len(timestamps):
        (window,) = window_fn.assign(int(timestamps[place]))
        beyond = max(place + 1, int(np.searchsorted(timestamps, window.end)))
        start[order[place:beyond]], end[order[place:beyond]] = window.start, window.end
        place = beyond
    return AssignedRows(_rows(timestamps), start, end)


@attrs.frozen(eq=False)
class Incoming(WindowRows):
    """A row for each element with each of its windows, in order of arrival.

    ``row`` is the element's place in the bundle. ``count`` says how many elements it stands for,
    None: one; ``judged`` whether it was judged for lateness before, None: no; and ``merged``
    whether some of its elements had other windows before, None: no.
    """

    row: Ints
    timestamps: Ints
    count: Ints | None = None
    judged: Bools | None = None
    merged: Bools | None = None


@attrs.frozen(eq=False)
class Arrivals:
    """Elements of one bundle for each key, in order of arrival.

    ``values`` has a column for each fold, None for one that needs none. ``start`` and ``end``
    are those of the window that an element comes in, `NOTHING` for one that the window function
    assigns to its windows; None if it assigns all of them. ``is_end`` says which elements end their
    session, None if none can.
    """

    key: Ints
    timestamps: Ints
    values: tuple[Values | None, ...]
    start: Ints | None = None
    end: Ints | None = None
    is_end: Bools | None = None

    def incoming(self, window_fn: WindowFn) -> Incoming:
        """The elements with their windows."""
        assigned = self._assigned(window_fn)
        row = assigned.row
        return Incoming(self.key[row], assigned.start, assigned.end, row, self.timestamps[row])

    def _assigned(self, window_fn: WindowFn) -> AssignedRows:
        timestamps, start, end, is_end = self.timestamps, self.start, self.end, self.is_end
        if start is None or end is None:
            return assign(window_fn, timestamps, is_end)
        comes_in_window = start != NOTHING
        if comes_in_window.all():
            return AssignedRows(np.arange(len(timestamps)), start, end)
        rows, unassigned = np.nonzero(comes_in_window)[0], np.nonzero(~comes_in_window)[0]
        is_end = None if is_end is None else is_end[unassigned]
        assigned = assign(window_fn, timestamps[unassigned], is_end)
        rows_of_both = concat(
            [
                attrs.evolve(assigned, row=unassigned[assigned.row]),
                AssignedRows(rows, start[rows], end[rows]),
            ]
        )
        return take(rows_of_both, order_of(rows_of_both.row))

    def added(
        self, folds: tuple[Fold, ...], held: tuple[Accumulators, ...], row: Ints, first: Ints
    ) -> tuple[Accumulators, ...]:
        """The accumulators of windows with the elements of these rows, which lie window by
        window; ``first`` is where those of each begin."""
        counts, timestamps = lengths_of(first, len(row)), self.timestamps[row]
        values = (None if value is None else take(value, row) for value in self.values)
        return tuple(
            fold.add(before, ElementsByWindow(column, timestamps, first, counts))
            for fold, before, column in zip(folds, held, values, strict=True)
        )


@attrs.frozen(eq=False)
class LiftedArrivals(WindowRows):
    """Elements that were combined before they arrived, in order of arrival; see `Lifted`.

    Each row stands for ``count`` elements of one window, the latest of them at ``timestamps``.
    ``judged`` says which were judged for lateness where they were combined, and ``merged`` which
    came in other windows, too. ``accumulators`` are those of each fold.
    """

    timestamps: Ints
    count: Ints
    judged: Bools
    merged: Bools
    accumulators: tuple[Accumulators, ...]

    def incoming(self, window_fn: WindowFn) -> Incoming:
        """The elements with their windows."""
        windows, row = (self.key, self.start, self.end), np.arange(len(self), dtype=np.int64)
        return Incoming(*windows, row, self.timestamps, self.count, self.judged, self.merged)

    def added(
        self, folds: tuple[Fold, ...], held: tuple[Accumulators, ...], row: Ints, first: Ints
    ) -> tuple[Accumulators, ...]:
        """As `Arrivals.added`."""
        return tuple(
            fold.grown(before, take(parts, row), first)
            for fold, before, parts in zip(folds, held, self.accumulators, strict=True)
        )


ArrivingBundle = Arrivals | LiftedArrivals
"""Elements one by one, or all of them combined before."""

"""The windows of a bundle's elements, for the built-in window functions, as columns."""

from functools import singledispatch

import attrs
import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import Ints
from beamlike.model.calendar import CalendarWindows
from beamlike.model.sessions import Sessions
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW

__all__ = ["Assigned", "assign"]


@attrs.frozen(eq=False)
class Assigned:
    """A row for each window of each element: which element it is, and the window."""

    row: Ints
    start: Ints
    end: Ints


@singledispatch
def assign(window_fn: WindowFn, at: Ints) -> Assigned:
    """The windows of elements with these event times (ms), element by element.

    Raises:
        UnsupportedError: The window function is a user's own.
    """
    raise UnsupportedError(f"the columnar machine cannot ask {window_fn}")


def _within_time(at: Ints) -> Ints:
    # Elements of the last day of time belong to the instant before it.
    return np.minimum(at, END_OF_GLOBAL_WINDOW)


def _rows(at: Ints) -> Ints:
    return np.arange(len(at), dtype=np.int64)


def _cut(start: Ints, size: int) -> Ints:
    """Where windows end: none goes beyond the end of the global window."""
    return np.minimum(start + size, END_OF_GLOBAL_WINDOW + 1)


@assign.register
def _(window_fn: FixedWindows, at: Ints) -> Assigned:
    at = _within_time(at)
    start = at - (at - window_fn.offset) % window_fn.size
    return Assigned(_rows(at), start, _cut(start, window_fn.size))


@assign.register
def _(window_fn: SlidingWindows, at: Ints) -> Assigned:
    at = _within_time(at)
    last = at - (at - window_fn.offset) % window_fn.period
    # How many windows back there is still one that holds the element.
    back = (last - at + window_fn.size - 1) // window_fn.period
    counts = np.maximum(back + 1, 0)
    row = np.repeat(_rows(at), counts)
    nth = np.arange(len(row), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    start = last[row] - nth * window_fn.period
    return Assigned(row, start, _cut(start, window_fn.size))


@assign.register
def _(window_fn: Sessions, at: Ints) -> Assigned:
    if not isinstance(window_fn.gap, int):
        raise UnsupportedError(
            f"the columnar machine cannot ask each element for its gap: {window_fn}"
        )
    at = _within_time(at)
    return Assigned(_rows(at), at, _cut(at, window_fn.gap))


@assign.register
def _(window_fn: GlobalWindows, at: Ints) -> Assigned:
    start = np.full(len(at), GLOBAL_WINDOW.start, np.int64)
    return Assigned(_rows(at), start, np.full(len(at), GLOBAL_WINDOW.end, np.int64))


@assign.register
def _(window_fn: CalendarWindows, at: Ints) -> Assigned:
    # Few windows for many elements: each is worked out once and found again by search.
    start, end = np.empty(len(at), np.int64), np.empty(len(at), np.int64)
    left = np.argsort(at, kind="stable")
    while len(left):
        (window,) = window_fn.assign(int(at[left[0]]))
        inside = int(np.searchsorted(at[left], window.end))
        inside = max(inside, 1)
        start[left[:inside]], end[left[:inside]] = window.start, window.end
        left = left[inside:]
    return Assigned(_rows(at), start, end)

"""What a window function gets to see of a row of a DataFrame.

A plan carries a row as a tuple of columns, which is no user's value: the user names the columns
that the window function is given.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.model.copies import own_copy
from beamlike.model.rescaled import window_fn_in
from beamlike.model.resolution import Resolution
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import IntervalWindow, Window

Read = Callable[[Any], Any]


def no_value(columns: Any) -> None:
    """A row of a DataFrame has columns and no value."""


@attrs.frozen
class Picked:
    """Some columns of a row: one as it is, several as a tuple."""

    at: tuple[int, ...]

    def __call__(self, columns: tuple[Any, ...]) -> Any:
        if len(self.at) == 1:
            return columns[self.at[0]]
        return tuple(columns[at] for at in self.at)


def read_by(window_fn: WindowFn) -> tuple[WindowFn, Read | None]:
    """The window function that `reading` was given, and how it reads; None: it is given values."""
    if isinstance(window_fn, _ReadingMerging):
        return window_fn.window_fn, window_fn.read
    return window_fn, None


def reading(window_fn: WindowFn, read: Read) -> WindowFn:
    """The same window function over elements that are stored as columns."""
    if isinstance(window_fn, MergingWindowFn):
        return _ReadingMerging(window_fn, read, window_fn.resolution)
    return _Reading(window_fn, read, window_fn.resolution)


@attrs.frozen
class _Reading(WindowFn):
    window_fn: WindowFn
    read: Read
    resolution: Resolution

    def in_resolution(self, resolution: Resolution) -> WindowFn:
        return reading(window_fn_in(self.window_fn, resolution), self.read)

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        seen = None if value is None else own_copy(self.read(value))
        return self.window_fn.assign(timestamp, seen)

    @property
    def longest_own_window(self) -> int | None:
        return self.window_fn.longest_own_window

    def __str__(self) -> str:
        return str(self.window_fn)


@attrs.frozen
class _ReadingMerging(MergingWindowFn):
    window_fn: MergingWindowFn
    read: Read
    resolution: Resolution

    def in_resolution(self, resolution: Resolution) -> WindowFn:
        return reading(window_fn_in(self.window_fn, resolution), self.read)

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        seen = None if value is None else own_copy(self.read(value))
        return self.window_fn.assign(timestamp, seen)

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        return self.window_fn.merge(windows)

    def size_of(self, window: IntervalWindow) -> int:
        return self.window_fn.size_of(window)

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        return self.window_fn.merge_sized(sizes)

    @property
    def merge_touching(self) -> bool:
        return self.window_fn.merge_touching

    @property
    def needs_sizes(self) -> bool:
        return self.window_fn.needs_sizes

    @property
    def longest_own_window(self) -> int | None:
        return self.window_fn.longest_own_window

    def __str__(self) -> str:
        return str(self.window_fn)

"""Window functions and triggers in the ticks of a query, those of users among them.

Those of beamlike say it themselves (`in_resolution`). Those of users know milliseconds: they are
asked with the millisecond in which an instant lies, and what they answer is taken for whole ones.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.model.copies import is_of_user, own_copy
from beamlike.model.resolution import MILLISECONDS, Resolution, finest_of
from beamlike.model.trigger_base import Trigger
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GLOBAL_WINDOWS, GlobalWindow, IntervalWindow, Window


def window_fn_in(window_fn: WindowFn, resolution: Resolution) -> WindowFn:
    """A window function as a query calls it that counts so, unless a duration is finer."""
    if window_fn.resolution is resolution:
        return window_fn
    whose = type(window_fn).in_resolution.__module__
    if is_of_user(window_fn) and whose.partition(".")[0] == "beamlike":
        # It may be made from one of beamlike's, and do something else.
        return of_milliseconds(window_fn, resolution)
    return window_fn.in_resolution(resolution) or of_milliseconds(window_fn, resolution)


def of_milliseconds(window_fn: WindowFn, resolution: Resolution) -> WindowFn:
    """A window function that knows milliseconds, as a query calls it that counts finer."""
    per_tick = resolution.per_ms // window_fn.resolution.per_ms
    if isinstance(window_fn, MergingWindowFn):
        return WrappedMerging(window_fn, resolution, per_tick)
    return Wrapped(window_fn, resolution, per_tick)


def reading(window_fn: WindowFn, read: Callable[[Any], Any]) -> WindowFn:
    """A window function over elements that are stored as columns; ``read`` makes of these the value
    that it is given."""
    if isinstance(window_fn, MergingWindowFn):
        return WrappedMerging(window_fn, window_fn.resolution, read=read)
    return Wrapped(window_fn, window_fn.resolution, read=read)


def resolution_needed(trigger: Trigger) -> Resolution:
    """The finest of the resolutions that a trigger and those in it have."""
    units = (node.resolution for node in trigger.walk())
    return finest_of(unit for unit in units if isinstance(unit, Resolution))


# -- window functions of users -----------------------------------------------------------------


def coarse(window: Window, per_ms: int) -> Window:
    """The milliseconds of a window, at least one; windows of whole milliseconds are exact."""
    if per_ms == 1:
        return window
    if isinstance(window, GlobalWindow):
        return GLOBAL_WINDOWS[MILLISECONDS]
    start = window.start // per_ms
    return IntervalWindow(start, max(window.end // per_ms, start + 1))


def _fine(window: Window, resolution: Resolution) -> Window:
    if isinstance(window, GlobalWindow):
        return GLOBAL_WINDOWS[resolution]
    return IntervalWindow(window.start * resolution.per_ms, window.end * resolution.per_ms)


@attrs.frozen
class Wrapped(WindowFn):
    """A window function as a query calls it, which has elements of another form, or finer ticks.

    Args:
        window_fn: What is called.
        resolution: What the times of the query count.
        per_tick: How many ticks of the query are one of the function's.
        read: From an element to the value that the function is given; None: the element itself.
    """

    window_fn: Any
    resolution: Resolution
    per_tick: int = 1
    read: Callable[[Any], Any] | None = None

    def in_resolution(self, resolution: Resolution) -> WindowFn:
        window_fn = window_fn_in(self.window_fn, resolution)
        return window_fn if self.read is None else reading(window_fn, self.read)

    def assign(self, timestamp: int, value: Any = None) -> Any:
        if value is not None and self.read is not None:
            value = own_copy(self.read(value))
        elif value is not None and is_of_user(self.window_fn):
            value = own_copy(value)
        windows = self.window_fn.assign(timestamp // self.per_tick, value)
        if self.per_tick == 1:
            return windows
        return tuple(_fine(window, self.resolution) for window in windows)

    @property
    def longest_own_window(self) -> int | None:
        longest: int | None = self.window_fn.longest_own_window
        return None if longest is None else longest * self.per_tick

    def __str__(self) -> str:
        return str(self.window_fn)


@attrs.frozen
class WrappedMerging(Wrapped, MergingWindowFn):
    """A merging window function, see `Wrapped`."""

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        return self._fine(self.window_fn.merge(map(self._coarse, windows)))

    def size_of(self, window: IntervalWindow) -> int:
        size: int = self.window_fn.size_of(self._coarse(window))
        return size

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        coarse_sizes = {self._coarse(window): size for window, size in sizes.items()}
        return self._fine(self.window_fn.merge_sized(coarse_sizes))

    @property
    def merge_touching(self) -> bool:
        return bool(self.window_fn.merge_touching)

    @property
    def needs_sizes(self) -> bool:
        return bool(self.window_fn.needs_sizes)

    def _coarse(self, window: IntervalWindow) -> IntervalWindow:
        return IntervalWindow(window.start // self.per_tick, window.end // self.per_tick)

    def _fine(self, merges: Iterable[Merge]) -> tuple[Merge, ...]:
        def fine(window: IntervalWindow) -> IntervalWindow:
            return IntervalWindow(window.start * self.per_tick, window.end * self.per_tick)

        return tuple(Merge(tuple(map(fine, merge.sources)), fine(merge.into)) for merge in merges)

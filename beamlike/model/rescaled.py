"""Window functions and triggers in the ticks of a query, those of users among them.

Those of beamlike say it themselves (`in_resolution`). Those of users know milliseconds: they are
asked with the millisecond in which an instant lies, and what they answer is taken for whole ones.
"""

import copy
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.model.copies import is_of_user
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.delays import AlignTo, Delay
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.triggers import AfterProcessingTime, AfterWatermark, Trigger
from beamlike.model.windowfns import Merge, MergingWindowFn, WindowFn
from beamlike.model.windows import GLOBAL_WINDOWS, GlobalWindow, IntervalWindow, Window


def window_fn_in(window_fn: WindowFn, resolution: Resolution) -> WindowFn:
    """A window function as a query calls it that counts so.

    Raises:
        TimeError: A duration is finer than the ticks.
    """
    if window_fn.resolution is resolution:
        return window_fn
    if isinstance(window_fn, _InMilliseconds | _MergingInMilliseconds):
        return window_fn.window_fn
    whose = type(window_fn).in_resolution.__module__
    if is_of_user(window_fn) and whose.partition(".")[0] == "beamlike":
        # It may be made from one of beamlike's, and do something else.
        return of_milliseconds(window_fn, resolution)
    return window_fn.in_resolution(resolution) or of_milliseconds(window_fn, resolution)


def of_milliseconds(window_fn: WindowFn, resolution: Resolution) -> WindowFn:
    """A window function that knows milliseconds, as a query calls it that counts finer."""
    if isinstance(window_fn, MergingWindowFn):
        return _MergingInMilliseconds(window_fn, resolution)
    return _InMilliseconds(window_fn, resolution)


def trigger_in(trigger: Trigger, resolution: Resolution) -> Trigger:
    """A trigger as a query asks it that counts so.

    Raises:
        TimeError: A duration is finer than the ticks.
    """
    match trigger:
        case CustomTrigger():
            return _custom_in(trigger, resolution)
        case AfterProcessingTime(transforms=transforms):
            changed = copy.copy(trigger)
            of_query = tuple(each.in_resolution(resolution) for each in transforms)
            object.__setattr__(changed, "transforms", of_query)
            return changed
        case AfterWatermark(early=early, late=late):
            return AfterWatermark(
                early and trigger_in(early, resolution), late and trigger_in(late, resolution)
            )
        case _ if trigger.children:
            make: Callable[..., Trigger] = type(trigger)
            return make(*(trigger_in(child, resolution) for child in trigger.children))
    return trigger


def resolution_needed(trigger: Trigger) -> Resolution:
    """The finest of the resolutions that a trigger and those in it have."""
    found = [_own_resolution(node) for node in trigger.walk()]
    return max(found, key=lambda each: each.per_ms)


def _own_resolution(trigger: Trigger) -> Resolution:
    if isinstance(trigger, AfterProcessingTime):
        transforms: tuple[Delay | AlignTo, ...] = trigger.transforms
        return max(
            (each.resolution for each in transforms), key=lambda it: it.per_ms, default=MILLISECONDS
        )
    own = getattr(trigger, "resolution", MILLISECONDS)
    return own if isinstance(own, Resolution) else MILLISECONDS


def _custom_in(trigger: CustomTrigger[Any], resolution: Resolution) -> Trigger:
    if hasattr(trigger, "in_resolution"):
        changed: Trigger = trigger.in_resolution(resolution)
        return changed
    if trigger.arguments:
        return trigger  # one of beamlike's, without durations
    seen = copy.copy(trigger)
    object.__setattr__(seen, "_per_ms", resolution.per_ms)
    return seen


# -- window functions of users -----------------------------------------------------------------


def coarse(window: Window, per_ms: int) -> Window:
    """The milliseconds of a window, at least one; windows of whole milliseconds are exact."""
    if isinstance(window, GlobalWindow):
        return GLOBAL_WINDOWS[MILLISECONDS]
    start = window.start // per_ms
    return IntervalWindow(start, max(window.end // per_ms, start + 1))


def _fine(window: Window, resolution: Resolution) -> Window:
    if isinstance(window, GlobalWindow):
        return GLOBAL_WINDOWS[resolution]
    return _fine_interval(window, resolution)


def _fine_interval(window: IntervalWindow, resolution: Resolution) -> IntervalWindow:
    return IntervalWindow(window.start * resolution.per_ms, window.end * resolution.per_ms)


@attrs.frozen
class _InMilliseconds(WindowFn):
    """A window function of a user's, where a query counts finer."""

    window_fn: WindowFn
    resolution: Resolution

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        windows = self.window_fn.assign(timestamp // self.resolution.per_ms, value)
        return tuple(_fine(window, self.resolution) for window in windows)

    @property
    def longest_own_window(self) -> int | None:
        longest = self.window_fn.longest_own_window
        return None if longest is None else longest * self.resolution.per_ms

    def __str__(self) -> str:
        return str(self.window_fn)


@attrs.frozen
class _MergingInMilliseconds(MergingWindowFn):
    """A merging window function of a user's, where a query counts finer."""

    window_fn: MergingWindowFn
    resolution: Resolution

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        windows = self.window_fn.assign(timestamp // self.resolution.per_ms, value)
        return tuple(_fine_interval(window, self.resolution) for window in windows)

    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        return self._fine(self.window_fn.merge(map(self._coarse, windows)))

    def size_of(self, window: IntervalWindow) -> int:
        return self.window_fn.size_of(self._coarse(window))

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        return self._fine(
            self.window_fn.merge_sized({self._coarse(it): size for it, size in sizes.items()})
        )

    def _coarse(self, window: IntervalWindow) -> IntervalWindow:
        per_ms = self.resolution.per_ms
        return IntervalWindow(window.start // per_ms, window.end // per_ms)

    def _fine(self, merges: Iterable[Merge]) -> tuple[Merge, ...]:
        def fine(window: IntervalWindow) -> IntervalWindow:
            return _fine_interval(window, self.resolution)

        return tuple(Merge(tuple(map(fine, it.sources)), fine(it.into)) for it in merges)

    @property
    def merge_touching(self) -> bool:
        return self.window_fn.merge_touching

    @property
    def needs_sizes(self) -> bool:
        return self.window_fn.needs_sizes

    @property
    def longest_own_window(self) -> int | None:
        longest = self.window_fn.longest_own_window
        return None if longest is None else longest * self.resolution.per_ms

    def __str__(self) -> str:
        return str(self.window_fn)

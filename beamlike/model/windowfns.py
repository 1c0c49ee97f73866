"""Window functions: which windows an element belongs to, and which windows merge.

A merge is a plan, plain data that says which windows collapse into which; applying it to
state is the machine's work.

`beamlike.model.sessions` and `beamlike.model.calendar` have the others; users write their own
against `WindowFn` or `MergingWindowFn`, and `beamlike.testing.contracts.window_fn` checks them.

Source: Beam Java, ``WindowFn``, ``FixedWindows``, ``SlidingWindows``, ``GlobalWindows``.
Arithmetic is floor arithmetic on both sides of zero (Java's ``%`` would put times before the
offset into a window that does not hold them).
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import attrs

from beamlike.errors import WindowError, WindowingError
from beamlike.model.described import NO_ARGUMENTS, ArgumentKind, HasDurations
from beamlike.model.readable import Readable, ReadableABC
from beamlike.model.resolution import MILLISECONDS, Resolution, finest
from beamlike.model.time import DurationLike, duration_us
from beamlike.model.windows import GLOBAL_WINDOWS, GlobalWindow, IntervalWindow, Window

_MOST_WINDOWS = 1_000_000
"""Windows of one element at most, of those who say how many."""


@attrs.frozen
class Merge(metaclass=Readable):
    """Fold the state of ``sources`` into ``into``. Plain data: print it, compare it.

    >>> Merge((IntervalWindow(0, 10), IntervalWindow(5, 15)), IntervalWindow(0, 15)).into
    IntervalWindow(start=0, end=15)
    """

    sources: tuple[IntervalWindow, ...]
    into: IntervalWindow


class WindowFn(metaclass=ReadableABC):
    """Assigns each element to windows. A frozen value: equal parameters are equal functions.

    Your own is a class with ``@attrs.frozen`` above it and an `assign` that depends on its
    arguments and fields alone. Hosts pickle it, and recognise saved state by what ``str`` says of
    it: that must be the same in every process.
    `beamlike.testing.contracts.window_fn.check_window_fn` checks all of this.

    Two collections can be flattened into one only if their window functions are compatible
    (`compatible_with`), which by default means equal.

    >>> @attrs.frozen
    ... class Halves(WindowFn):
    ...     size: int
    ...     def assign(self, timestamp, value=None):
    ...         start = timestamp - timestamp % self.size
    ...         return (IntervalWindow(start, start + self.size // 2),)
    >>> Halves(60_000).assign(5_000)
    (IntervalWindow(start=0, end=30000),)
    """

    is_merging: ClassVar[bool] = False

    resolution: Resolution = MILLISECONDS
    """What times and durations count. Your own counts milliseconds, unless it says otherwise."""

    without_unit: Mapping[str, int] = MappingProxyType({})
    """Its durations that were given as numbers, and are no whole number of seconds (ms).

    Over a DataFrame they are warned of: ``Sessions(30)`` is seldom meant.
    """

    def in_resolution(self, resolution: Resolution) -> "WindowFn | None":
        """The window function as a query calls it that counts so; None: it knows its own ticks
        alone, and is called with those in which instants lie.

        Raises:
            TimeError: A duration is finer than these ticks.
        """
        return None

    @property
    def longest_own_window(self) -> int | None:
        """How long a window can be that one element opens, before any merging, in its ticks.

        None: not known. ``late_check="retain"`` needs windows that merge. Streams compare it to
        a jump of the watermark, to see whether that is worth a warning.
        """
        return None

    @abstractmethod
    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        """The windows of an element at ``timestamp``, in its ticks. May be none, one or many, each
        once.

        They are `IntervalWindow` or the global window, not classes derived from them: bounds
        are all that is remembered of a window.
        """

    def compatible_with(self, other: "WindowFn") -> bool:
        """True if both put equal elements into equal windows."""
        return self == other


class MappingWindowFn(WindowFn):
    """The window function of a side input that says itself which of its windows an element sees."""

    @abstractmethod
    def side_window(self, main_window: Window) -> Window:
        """The window that the elements of a main window look into.

        Source: Beam Java, ``WindowMappingFn.getSideInputWindow``.
        """

    @property
    def looks_back(self) -> bool:
        """Whether elements may look into a window long after its end. Then none is forgotten.

        Source: Beam Java, ``WindowMappingFn.maximumLookback``.
        """
        return True


class MergingWindowFn(WindowFn):
    """A window function whose windows grow together as data arrives.

    Before the elements of a bundle are added, the open windows of their key and the windows
    just assigned are given to `merge`, and its plan is carried out once. So the plan must be
    complete: what is left must not want to merge again.

    >>> from beamlike import Sessions
    >>> Sessions("10 minutes").is_merging
    True
    """

    is_merging: ClassVar[bool] = True

    @abstractmethod
    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        """The windows of an element before any merging."""

    @abstractmethod
    def merge(self, windows: Iterable[IntervalWindow]) -> tuple[Merge, ...]:
        """Which of these windows collapse. Each is in at most one plan; loners are in none.

        ``into`` is one of the plan's own sources or a window that was not given, it is the
        result of no other plan, and it does not end before all of its sources do: it would be
        over while they are open.

        Args:
            windows: Each once, in no guaranteed order; perhaps an iterator, so read it once.

        Source: Beam Java, ``WindowFn.mergeWindows``, ``MergingActiveWindowSet``.
        """

    @property
    def merge_touching(self) -> bool:
        """Whether windows merge that share no instant, where one begins as the other ends.

        Only ``late_check="retain"`` needs it: then a window is reachable for one tick longer.
        """
        return False

    @property
    def needs_sizes(self) -> bool:
        """Whether the plan depends on how many elements the windows hold. Then the machine
        counts them, and calls `merge_sized` with these counts."""
        return False

    def size_of(self, window: IntervalWindow) -> int:
        """What an element counts for in sizes that comes in this window. Default 1."""
        return 1

    def merge_sized(self, sizes: Mapping[IntervalWindow, int]) -> tuple[Merge, ...]:
        """The plan of `merge`, for windows that hold so many elements. Called in its place if
        ``needs_sizes``.

        Args:
            sizes: For each window how many elements it has received, those that just arrive
                included; or what they count for by `size_of`.
        """
        return self.merge(sizes)


def window_at(start: int, size: int, last: int) -> IntervalWindow:
    """``[start, start + size)``, cut short where the global window ends; ``last`` is its last
    instant."""
    return IntervalWindow(start, min(start + size, last + 1))


def _check_offset(owner: str, offset: int, limit: int, limit_name: str, unit: Resolution) -> None:
    if not 0 <= offset < limit:
        raise WindowError(
            f"{owner} must have 0 <= offset < {limit_name}, got offset="
            f"{unit.show_duration(offset)} and {limit_name}={unit.show_duration(limit)}; "
            f"use the offset modulo {limit_name}"
        )


@attrs.frozen(init=False)
class FixedWindows(HasDurations, WindowFn):
    """Windows of one size, end to end, starting at ``offset + k * size``.

    Args:
        size: Length of each window, more than 0: ``"1 hour"``, a timedelta, or an int, which
            counts milliseconds.
        offset: Where windows start, ``0 <= offset < size``. Default 0: the epoch.

    Raises:
        WindowError: The size is not more than 0, or the offset is outside the window.
        TimeError: A duration cannot be read.

    Source: Beam ``FixedWindows``, Scio ``withFixedWindows``.

    >>> FixedWindows("1 minute").assign(90_000)
    (IntervalWindow(start=60000, end=120000),)
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"size": "duration", "offset": "duration"}

    size: int
    offset: int

    def __init__(self, size: DurationLike, offset: DurationLike = 0) -> None:
        # A negative size is refused below, in Beam's words, and not as a negative duration.
        size_us = size * 1_000 if type(size) is int else duration_us(size, "FixedWindows size")
        offset_us = duration_us(offset, "FixedWindows offset")
        unit = finest(size_us, offset_us)
        self.__attrs_init__(size_us // unit.micros, offset_us // unit.micros)
        self._count(unit, size=size, offset=offset)
        if size_us <= 0:
            raise WindowError(
                f"FixedWindows must have 0 <= offset < size, got size="
                f'{unit.show_duration(self.size)}; give a size such as "1 minute"'
            )
        _check_offset("FixedWindows", self.offset, self.size, "size", unit)

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        last = self.resolution.end_of_global_window
        timestamp = min(timestamp, last)
        start = timestamp - (timestamp - self.offset) % self.size
        return (window_at(start, self.size, last),)

    @property
    def longest_own_window(self) -> int:
        """The size."""
        return self.size


def default_period(size: int) -> int:
    """How often sliding windows start by default (ms).

    Source: Beam Java, ``SlidingWindows.getDefaultPeriod``.
    """
    for unit in (3_600_000, 60_000, 1_000):
        if size > unit:
            return unit
    return 1


@attrs.frozen(init=False)
class SlidingWindows(HasDurations, WindowFn):
    """Overlapping windows of one size, one starting every ``period``.

    An element belongs to every window that contains it and counts in each. If the period
    is longer than the size, an element may fall into none: it vanishes and is not a drop.

    Args:
        size: Length of each window, more than 0: ``"1 hour"``, a timedelta, or an int, which
            counts milliseconds.
        period: Distance between starts, more than 0. Default: an hour, a minute, a second
            or a millisecond, the largest that is shorter than the size.
        offset: Where windows start, ``0 <= offset < period``.

    Raises:
        WindowError: Size or period is 0, or the offset is outside the period; or an element would
            be in more than a million windows by the period that is given.
        TimeError: A duration cannot be read.

    Source: Beam ``SlidingWindows``, Scio ``withSlidingWindows``.

    >>> [str(window) for window in SlidingWindows("2 minutes", "1 minute").assign(90_000)]
    ['[00:01:00, 00:03:00)', '[00:00:00, 00:02:00)']
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {
        "size": "duration",
        "period": "duration",
        "offset": "duration",
    }

    size: int
    period: int
    offset: int

    def __init__(
        self, size: DurationLike, period: DurationLike | None = None, offset: DurationLike = 0
    ) -> None:
        every = period
        if every is None:
            every = default_period(-(-duration_us(size, "SlidingWindows size") // 1_000))
        self._describe(size=size, period=every, offset=offset)
        unit = self.resolution
        self._count(unit, size=size, period=period, offset=offset)
        size_text, period_text = unit.show_duration(self.size), unit.show_duration(self.period)
        if self.size == 0 or self.period == 0:
            raise WindowError(
                "SlidingWindows must have size > 0 and period > 0, "
                f"got size={size_text} and period={period_text}; give "
                'both such as "1 hour" and "5 minutes"'
            )
        if period is not None and self.size > _MOST_WINDOWS * self.period:
            raise WindowError(
                f"SlidingWindows of {size_text} every {period_text} put each element into "
                f"{self.size // self.period:,} windows, and no memory holds these; "
                f"give a period of {unit.show_duration(-(-self.size // _MOST_WINDOWS))} or more"
            )
        _check_offset("SlidingWindows", self.offset, self.period, "period", unit)

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        end = self.resolution.end_of_global_window
        timestamp = min(timestamp, end)
        last = timestamp - (timestamp - self.offset) % self.period
        starts = range(last, timestamp - self.size, -self.period)
        return tuple(window_at(start, self.size, end) for start in starts)

    @property
    def longest_own_window(self) -> int:
        """The size."""
        return self.size


@attrs.frozen
class GlobalWindows(HasDurations, WindowFn):
    """One window for everything. Nothing fires before the end of time without a trigger.

    Source: Beam ``GlobalWindows``, Scio ``withGlobalWindow``.

    >>> print(*GlobalWindows().assign(0))
    global
    """

    arguments = NO_ARGUMENTS

    def assign(self, timestamp: int, value: Any = None) -> tuple[Window, ...]:
        return (GLOBAL_WINDOWS[self.resolution],)


def check_deterministic(window_fn: WindowFn) -> None:
    """Refuse windows that state cannot be kept by: equal ones must be found again.

    Raises:
        WindowingError: The windows are of a class of their own, or differ from call to call.

    Source: Beam Java, ``Window.applicableTo``, where the window's coder answers for this.
    """
    try:
        first, again = window_fn.assign(0), window_fn.assign(0)
    except Exception:
        # A function of the element's value may have no answer without one. What it does with
        # real elements is checked by `beamlike.testing.contracts.window_fn`.
        return
    foreign = [window for window in first if type(window) not in (IntervalWindow, GlobalWindow)]
    if foreign:
        raise WindowingError(
            f"Window coders must be deterministic: {window_fn} assigns {foreign[0]!r}, and only "
            "the bounds of a window are kept; assign windows of the classes IntervalWindow and "
            "GlobalWindow themselves, and put what else belongs to a window into the key"
        )
    if first != again:
        raise WindowingError(
            f"Window coders must be deterministic: {window_fn} assigns the same element to "
            f"{_listed(first)} and then to {_listed(again)}; let assign() depend on nothing but "
            "the timestamp and the value"
        )


def _listed(windows: tuple[Window, ...]) -> str:
    return ", ".join(map(str, windows)) or "no window"

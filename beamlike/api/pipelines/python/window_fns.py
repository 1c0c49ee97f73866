"""Window functions as Beam Python has them, and what a user's own are made of.

Source: Beam Python ``transforms.window``.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.reading import Instant, Length, length, moment
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP, Timestamp
from beamlike.api.pipelines.python.windows import (
    BoundedWindow,
    GlobalWindow,
    IntervalWindow,
    WindowedValue,
)
from beamlike.errors import WindowError
from beamlike.model.coders import Coder
from beamlike.model.fingerprint import stable_repr
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.sessions import GapOf

__all__ = [
    "FixedWindows",
    "GlobalWindowCoder",
    "GlobalWindows",
    "IntervalWindowCoder",
    "NonMergingWindowFn",
    "Sessions",
    "SlidingWindows",
    "WindowFn",
]


@attrs.frozen
class IntervalWindowCoder(Coder):
    """The bounds of a window, each as 8 bytes of milliseconds.

    A coder of windows only has to be deterministic: the core keeps windows by their bounds,
    whatever `get_window_coder` returns.
    """

    def encode(self, value: Any) -> bytes:
        return struct.pack(">qq", value.start.instant_ms, value.end.instant_ms)

    def decode(self, encoded: bytes) -> IntervalWindow:
        start, end = struct.unpack(">qq", encoded)
        return IntervalWindow(Timestamp.of_millis(start), Timestamp.of_millis(end))

    def is_deterministic(self) -> bool:
        return True


@attrs.frozen
class GlobalWindowCoder(Coder):
    """No bytes at all: there is one such window."""

    def encode(self, value: Any) -> bytes:
        return b""

    def decode(self, encoded: bytes) -> GlobalWindow:
        return GlobalWindow()

    def is_deterministic(self) -> bool:
        return True


class WindowFn(ABC):
    """Which windows an element belongs to, and which windows merge.

    Subclasses write `assign`, `merge` and `get_window_coder`; of windows that never merge
    `NonMergingWindowFn`, without `merge`. Windows are `IntervalWindow` or `GlobalWindow`: bounds
    are all that is kept of them.

    Source: Beam Python ``WindowFn``.
    """

    class AssignContext:
        """What `assign` is given.

        Args:
            timestamp: The event time of the element.
            element: The element; None where windows are only looked for, as for side inputs.
            window: The window that the element is in so far; None where windows are only looked
                for. An element in several windows is assigned once for each of them.
        """

        def __init__(
            self, timestamp: Instant, element: Any = None, window: BoundedWindow | None = None
        ) -> None:
            self.timestamp = moment(timestamp, "AssignContext timestamp")
            self.element = element
            self.window = window

    class MergeContext:
        """What `merge` is given: the windows that are open, and a way to merge some."""

        def __init__(self, windows: Iterable[BoundedWindow]) -> None:
            self.windows = list(windows)

        def merge(self, to_be_merged: Iterable[BoundedWindow], merge_result: BoundedWindow) -> None:
            """Merge some of the windows into one."""
            raise NotImplementedError

    @abstractmethod
    def assign(self, assign_context: Any, /) -> Iterable[Any]:
        """The windows of an element, from its `AssignContext`."""

    @abstractmethod
    def merge(self, merge_context: Any, /) -> None:
        """Merge windows of one key, with ``merge`` of the `MergeContext`."""

    def is_merging(self) -> bool:
        """Whether windows merge at all."""
        return True

    @abstractmethod
    def get_window_coder(self) -> Coder:
        """How windows become bytes: a deterministic coder, or they cannot be compared."""

    def get_transformed_output_time(
        self, window: BoundedWindow, input_timestamp: Timestamp
    ) -> Timestamp:
        """The event time that an element counts with where panes have the earliest one."""
        return input_timestamp


class NonMergingWindowFn(WindowFn):
    """A window function whose windows stay as they are. Source: Beam Python."""

    def is_merging(self) -> bool:
        """Never."""
        return False

    def merge(self, merge_context: Any, /) -> None:
        """Nothing to merge."""


class GlobalWindows(NonMergingWindowFn):
    """One window for everything. Source: Beam Python ``GlobalWindows``."""

    @classmethod
    def windowed_value(
        cls,
        value: Any,
        timestamp: Instant = MIN_TIMESTAMP,
        pane_info: PaneInfo = NO_FIRING,
    ) -> WindowedValue:
        """An element in the global window."""
        return WindowedValue(value, timestamp, (GlobalWindow(),), pane_info)

    def assign(self, assign_context: Any, /) -> list[GlobalWindow]:
        """The global window."""
        return [GlobalWindow()]

    def get_window_coder(self) -> Coder:
        return GlobalWindowCoder()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return "GlobalWindows()"


class _OfOneSize(NonMergingWindowFn):
    """Windows of one size, each so long after the one before."""

    def __init__(self, size: Length, period: Length, offset: Any, step: str) -> None:
        name = type(self).__name__
        self.size = _positive(size, f"{name} size")
        self._step = _positive(period, f"{name} {step}")
        offset = length(offset, f"{name} offset") if not isinstance(offset, Timestamp) else offset
        self.offset: Duration = offset % self._step

    def assign(self, assign_context: Any, /) -> list[IntervalWindow]:
        """The windows that hold the event time, the last one first."""
        at = assign_context.timestamp.micros
        last = at - (at - self.offset.micros) % self._step.micros
        starts = range(last, at - self.size.micros, -self._step.micros)
        return [
            IntervalWindow(Timestamp(micros=start), Timestamp(micros=start + self.size.micros))
            for start in starts
        ]

    def get_window_coder(self) -> Coder:
        return IntervalWindowCoder()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.size, self._step, self.offset))


class FixedWindows(_OfOneSize):
    """Windows one after the other, starting at ``offset + k * size``.

    Args:
        size: Length of each, more than 0: a number of seconds, `Duration`, a ``timedelta`` or
            text such as ``"1 minute"``.
        offset: Where they start, modulo the size.

    Raises:
        WindowError: The size is not more than 0.
        TimeError: One of them is no duration.

    Source: Beam Python ``FixedWindows``.

    >>> FixedWindows(60).assign(WindowFn.AssignContext(90))
    [[60.0, 120.0)]
    """

    def __init__(self, size: Length, offset: Length | Timestamp = 0) -> None:
        super().__init__(size, size, offset, "size")

    def __repr__(self) -> str:
        return f"FixedWindows({self.size!r}, {self.offset!r})"


class SlidingWindows(_OfOneSize):
    """Windows that overlap: one of this size starts every ``period``, at ``offset + k * period``.

    With a period longer than the size, elements in between are in no window.

    Args:
        size: Length of each, more than 0.
        period: From one start to the next, more than 0.
        offset: Where they start, modulo the period.

    Raises:
        WindowError: Size or period is not more than 0.
        TimeError: One of them is no duration.

    Source: Beam Python ``SlidingWindows``.
    """

    def __init__(self, size: Length, period: Length, offset: Length | Timestamp = 0) -> None:
        super().__init__(size, period, offset, "period")

    @property
    def period(self) -> Duration:
        """From one start to the next."""
        return self._step

    def __repr__(self) -> str:
        return f"SlidingWindows({self.size!r}, {self.period!r}, {self.offset!r})"


class Sessions(WindowFn):
    """Windows of activity: each ends when for so long there was no element of the key.

    Args:
        gap_size: How long, more than 0; or a function of an element's value that says it.

    Raises:
        WindowError: It is not more than 0.
        TimeError: It is no duration.

    Source: Beam Python ``Sessions``; a function as gap is not in Beam.
    """

    def __init__(self, gap_size: Length | GapOf) -> None:
        self.gap_size: Any = (
            gap_size if callable(gap_size) else _positive(gap_size, "Sessions gap_size")
        )

    def assign(self, assign_context: Any, /) -> list[IntervalWindow]:
        """The window of one gap that starts with the element."""
        at, gap = assign_context.timestamp, self.gap_size
        if callable(gap):
            gap = _positive(gap(assign_context.element), "Sessions gap_size")
        return [IntervalWindow(at, at + gap)]

    def merge(self, merge_context: Any, /) -> None:
        """Merge windows that overlap; those that touch stay apart."""
        together: list[Any] = []
        for window in sorted(merge_context.windows, key=lambda window: window.start):
            if together and window.start >= max(it.end for it in together):
                self._merge_all(merge_context, together)
                together = []
            together.append(window)
        self._merge_all(merge_context, together)

    def _merge_all(self, context: Any, together: list[Any]) -> None:
        if len(together) > 1:
            end = max(window.end for window in together)
            context.merge(together, IntervalWindow(together[0].start, end))

    def get_window_coder(self) -> Coder:
        return IntervalWindowCoder()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.gap_size)

    def __repr__(self) -> str:
        return f"Sessions({stable_repr(self.gap_size)})"


def _positive(value: Any, argument: str) -> Duration:
    read = length(value, argument)
    if read.duration_ms <= 0:
        raise WindowError(
            f"{argument} must be strictly positive, got {value!r}; give one such as 60 "
            '(seconds) or "1 minute"'
        )
    return read

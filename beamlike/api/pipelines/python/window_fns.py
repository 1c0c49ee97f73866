"""Window functions as Beam Python has them, and what a user's own are made of.

Source: Beam Python ``transforms.window``.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.api.pipelines.python.core_values import OfTheCore
from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.reading import Instant, Length, in_millis, length, moment
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import BoundedWindow, IntervalWindow
from beamlike.errors import WindowError
from beamlike.model import sessions, windowfns
from beamlike.model.coders import Coder
from beamlike.model.fingerprint import stable_repr
from beamlike.model.sessions import GapOf
from beamlike.model.windowfns import GlobalWindows

__all__ = [
    "FixedWindows",
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


class WindowFn(ABC):
    """Which windows an element belongs to, and which windows merge.

    Subclasses write `assign`, `merge` and `get_window_coder`; of windows that never merge
    `NonMergingWindowFn`, without `merge`. Windows are `IntervalWindow` or `GlobalWindow`: bounds
    are all that is kept of them.
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


class NonMergingWindowFn(WindowFn):
    """A window function whose windows stay as they are. Source: Beam Python."""

    def is_merging(self) -> bool:
        """Never."""
        return False

    def merge(self, merge_context: Any, /) -> None:
        """Nothing to merge."""


class FixedWindows(windowfns.FixedWindows, metaclass=OfTheCore):
    """Windows one after the other, starting at ``offset + k * size``.

    Args:
        size: Length of each, more than 0: a number of seconds, `Duration`, a ``timedelta`` or
            text such as ``"1 minute"``.
        offset: Where they start, modulo the size.

    Raises:
        WindowError: The size is not more than 0.
        TimeError: One of them is no duration.

    Source: Beam Python ``FixedWindows``. A class below it is for Beam's own SDK: here windows of
    a user's own are below `NonMergingWindowFn`.

    >>> FixedWindows(60).assign(90_000)
    (IntervalWindow(start=60000, end=120000),)
    """

    def __init__(self, size: Length, offset: Length | Timestamp = 0) -> None:
        """For type checkers and documentation: the metaclass makes windows of the core."""

    @staticmethod
    def _of(size: Any, offset: Any = 0) -> windowfns.FixedWindows:
        """The core's for these arguments."""
        length_of = _positive(size, "FixedWindows size")
        return windowfns.FixedWindows(length_of, _modulo(offset, length_of, "FixedWindows offset"))


class SlidingWindows(windowfns.SlidingWindows, metaclass=OfTheCore):
    """Windows that overlap: one of this size starts every ``period``, at ``offset + k * period``.

    With a period longer than the size, elements in between are in no window.

    Args:
        size: Length of each, more than 0.
        period: From one start to the next, more than 0.
        offset: Where they start, modulo the period.

    Raises:
        WindowError: Size or period is not more than 0.
        TimeError: One of them is no duration.
    """

    def __init__(self, size: Length, period: Length, offset: Length | Timestamp = 0) -> None:
        """For type checkers and documentation: the metaclass makes windows of the core."""

    @staticmethod
    def _of(size: Any, period: Any, offset: Any = 0) -> windowfns.SlidingWindows:
        """The core's for these arguments."""
        step = _positive(period, "SlidingWindows period")
        start = _modulo(offset, step, "SlidingWindows offset")
        return windowfns.SlidingWindows(_positive(size, "SlidingWindows size"), step, start)


class Sessions(sessions.Sessions, metaclass=OfTheCore):
    """Windows of activity: each ends when for so long there was no element of the key.

    Args:
        gap_size: How long, more than 0; or a function of an element's value that says it.

    Raises:
        WindowError: It is not more than 0.
        TimeError: It is no duration.

    Source: Beam Python ``Sessions``; a function as gap is not in Beam.
    """

    def __init__(self, gap_size: Length | GapOf) -> None:
        """For type checkers and documentation: the metaclass makes windows of the core."""

    @staticmethod
    def _of(gap_size: Any) -> sessions.Sessions:
        """The core's for these arguments."""
        if callable(gap_size):
            return sessions.Sessions(_GapInSeconds(gap_size))
        return sessions.Sessions(_positive(gap_size, "Sessions gap_size"))


@attrs.frozen
class _GapInSeconds:
    """A function of gaps in seconds as one of milliseconds."""

    gap_of: GapOf

    def __call__(self, value: Any) -> int:
        return in_millis(self.gap_of(value), "gap")

    def __repr__(self) -> str:
        return stable_repr(self.gap_of)


def _modulo(offset: Any, step: Duration, argument: str) -> Duration:
    return (offset if isinstance(offset, Timestamp) else length(offset, argument)) % step


def _positive(value: Any, argument: str) -> Duration:
    read = length(value, argument)
    if read.duration_ms <= 0:
        raise WindowError(
            f"{argument} must be strictly positive, got {value!r}; give one such as 60 "
            '(seconds) or "1 minute"'
        )
    return read

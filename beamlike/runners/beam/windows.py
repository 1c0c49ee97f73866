"""Times, windows and panes of Beam as those of the graph, and back.

Both count microseconds, from the same first instant to the same last one.

The graph knows a window by its bounds. Beam's own window functions need no more. Windows of a
user's own functions may be objects of any class, also without any length, so they travel with
the element as bytes, see `ObjectWindows`; their bounds in the graph then only say when they end.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Final

import attrs
import numpy as np
from apache_beam.transforms import window as beam_windows
from apache_beam.utils.timestamp import Duration, Timestamp

from beamlike.errors import UnsupportedError
from beamlike.model.panes import NO_FIRING, PaneInfo, Timing
from beamlike.model.resolution import MICROSECONDS
from beamlike.model.windows import GLOBAL_WINDOWS, IntervalWindow, bounds
from beamlike.runners.beam.sdk import PANE_INFO_UNKNOWN, PaneInfoTiming, coders, windowed_value
from beamlike.runners.beam.sdk import PaneInfo as BeamPane

UNIT: Final = MICROSECONDS
"""What a tick of the graph of a pipeline of Beam is."""


def ticks_of(instant: Any) -> int:
    """An instant of Beam's, of event time or of processing time, as one of the graph."""
    return int(Timestamp.of(instant).micros)


def timestamp_of(ticks: int) -> Any:
    """An instant of the graph as a ``Timestamp``."""
    return Timestamp(micros=ticks)


Span = tuple[int, int]
"""The bounds of a window of the graph: its first instant, and the first one after it."""

GLOBAL: Final[Span] = bounds(GLOBAL_WINDOWS[UNIT])
MOST_KNOWN: Final = 100_000
"""How many windows or panes are known by what they are made of, before some are made anew."""
_BY_BOUNDS: Final = frozenset(
    (
        beam_windows.GlobalWindows,
        beam_windows.FixedWindows,
        beam_windows.SlidingWindows,
        beam_windows.Sessions,
    )
)
"""The window functions whose windows are all that their bounds say."""
_CODERS_OF_BOUNDS: Final = frozenset((coders.IntervalWindowCoder, coders.GlobalWindowCoder))
"""The coders of windows that keep bounds alone."""


class Windows(ABC):
    """How the windows of a collection travel through the graph."""

    carries_object: bool
    """Whether the value of an element in the graph is a pair of its window and its value."""

    @property
    def are_bounds(self) -> bool:
        """Whether windows are all that their bounds say."""
        return True

    @abstractmethod
    def span(self, window: Any) -> Span:
        """The bounds of a window of Beam's in the graph."""

    @abstractmethod
    def window(self, span: Span) -> Any:
        """The window of Beam's that has these bounds, as far as they say it."""

    @abstractmethod
    def merged(self, window: Any) -> IntervalWindow:
        """A window of Beam's as the graph merges it."""

    @abstractmethod
    def of_merged(self, window: IntervalWindow) -> Any:
        """The window of Beam's that `merged` has made this one of."""

    def last_micros(self, span: Span) -> int:
        """The last instant of the window with these bounds, as Beam has it (us)."""
        return int(self.window(span).max_timestamp().micros)


@attrs.frozen
class BoundWindows(Windows):
    """Windows that are their bounds.

    Args:
        owner: The window function, for messages.
        earliest: Its windows that begin before all time, where the graph has no instant, by their
            ends.
    """

    owner: str
    earliest: Mapping[int, Any] = attrs.field(factory=dict, eq=False)
    carries_object = False

    def span(self, window: Any) -> Span:
        if isinstance(window, beam_windows.GlobalWindow):
            return GLOBAL
        if type(window) is not beam_windows.IntervalWindow:
            raise UnsupportedError(
                f"{self.owner} gave {window!r} of the class {type(window).__name__}, and the coder "
                "of its windows keeps their bounds alone; let get_window_coder() give a coder of "
                "that class"
            )
        # A window at an end of time may reach beyond it; see ``earliest``.
        start = max(window.start.micros, UNIT.earliest)
        end = min(window.end.micros, UNIT.end_of_time)
        if start >= end:
            raise UnsupportedError(
                f"{self.owner} merges windows, and gave {window}, which is empty; let it assign "
                "windows that end after they start, or let get_window_coder() give a coder of its "
                "own, with which windows may be empty"
            )
        return start, end

    def merged(self, window: Any) -> IntervalWindow:
        return IntervalWindow(*self.span(window))

    def of_merged(self, window: IntervalWindow) -> Any:
        return self.window(bounds(window))

    def window(self, span: Span) -> Any:
        start, end = span
        if start == UNIT.earliest and end in self.earliest:
            return self.earliest[end]
        return _interval(start, end)


@lru_cache(maxsize=MOST_KNOWN)
def _interval(start: int, end: int) -> Any:
    if (start, end) == GLOBAL:
        return beam_windows.GlobalWindow()
    return beam_windows.IntervalWindow(timestamp_of(start), timestamp_of(end))


class KnownWindows(list[Any]):
    """The only window of elements, with its bounds in the graph."""

    __slots__ = ("span",)

    def __init__(self, window: Any, span: Span) -> None:
        super().__init__((window,))
        self.span = span


@attrs.frozen
class Assigning:
    """Fixed windows, or the sessions of single elements, for many elements at once.

    Args:
        fn: The window function of Beam's.
        size: Of the windows (us).
        offset: At which instant windows begin (us); None: with the element.
    """

    fn: Any
    size: int
    offset: int | None

    @classmethod
    def of(cls, fn: Any) -> "Assigning | None":
        """That of a window function; None: it assigns windows one by one."""
        if type(fn) is beam_windows.FixedWindows:
            return cls(fn, int(fn.size.micros), int(fn.offset.micros))
        if type(fn) is beam_windows.Sessions:
            return cls(fn, int(Duration.of(fn.gap_size).micros), None)
        return None

    def spans(self, micros: Sequence[int]) -> tuple[list[int], list[int]] | None:
        """Where the windows begin and end; None: some reach beyond an end of time."""
        reach = self.size + abs(self.offset or 0)
        if min(micros) - reach <= UNIT.earliest or max(micros) + reach >= UNIT.end_of_time:
            return None
        starts = np.array(micros, np.int64)
        if self.offset is not None:
            starts -= (starts - self.offset) % self.size
        return starts.tolist(), (starts + self.size).tolist()

    def one_by_one(self, element: Any) -> Any:
        """An element in its windows, as Beam's function has them."""
        instant, (before,) = timestamp_of(element.timestamp_micros), element.windows
        context = beam_windows.WindowFn.AssignContext(instant, element.value, before)
        windows = [*self.fn.assign(context)]
        return windowed_value(element.value, element.timestamp_micros, windows, element.pane_info)


@attrs.frozen(order=True, cache_hash=True)
class ObjectWindow(IntervalWindow):
    """A window of any class as the graph merges it: it is its bytes, by its coder."""

    encoded: bytes


@attrs.frozen
class ObjectWindows(Windows):
    """Windows of any class, which have a coder.

    Two that end together have different bounds in the graph all the same: how long the one of
    the graph is, follows from the bytes of the window.
    """

    coder: Any
    carries_object = True

    @property
    def are_bounds(self) -> bool:
        return type(self.coder) in _CODERS_OF_BOUNDS

    def span(self, window: Any) -> Span:
        return self.span_of_bytes(self.coder.encode(window), _end_of(window))

    def span_of_bytes(self, encoded: bytes, end: int) -> Span:
        """The bounds in the graph of a window with these bytes that ends so."""
        digest = int.from_bytes(blake2b(encoded, digest_size=5).digest())
        return max(end - 1 - digest, UNIT.earliest), end

    def spans_of(self, encoded: Sequence[bytes], windows: Sequence[Any]) -> list[Span]:
        """The bounds in the graph of windows with these bytes."""
        return [*map(self.span_of_bytes, encoded, map(_end_of, windows))]

    def by_bytes(self, encoded: bytes, end: int) -> ObjectWindow:
        """The window with these bytes that ends so, as the graph merges it."""
        return ObjectWindow(*self.span_of_bytes(encoded, end), encoded)

    def merged(self, window: Any) -> IntervalWindow:
        return self.by_bytes(self.coder.encode(window), _end_of(window))

    def of_merged(self, window: IntervalWindow) -> Any:
        assert isinstance(window, ObjectWindow), "it was made by `merged`"
        return self.coder.decode(window.encoded)

    def window(self, span: Span) -> Any:
        _, end = span
        last = timestamp_of(end - 1)
        return beam_windows.IntervalWindow(last, last.successor())

    def last_micros(self, span: Span) -> int:
        return span[1] - 1


def _end_of(window: Any) -> int:
    """The first instant after a window of Beam's (us)."""
    return int(window.max_timestamp().micros) + 1


def windows_of(window_fn: Any) -> Windows:
    """How the windows of a window function of Beam's travel."""
    owner = type(window_fn)
    if owner in _BY_BOUNDS:
        first = beam_windows.WindowFn.AssignContext(timestamp_of(UNIT.earliest))
        early = {
            window.end.micros: window
            for window in window_fn.assign(first)
            if window.start.micros < UNIT.earliest
        }
        return BoundWindows(owner.__name__, early)
    coder = window_fn.get_window_coder()
    if window_fn.is_merging() and type(coder) in _CODERS_OF_BOUNDS:
        return BoundWindows(owner.__name__)
    return ObjectWindows(coder)


_TIMINGS: Final = {timing: getattr(PaneInfoTiming, timing.name) for timing in Timing}
_TIMINGS_BACK: Final = {theirs: ours for ours, theirs in _TIMINGS.items()}


@lru_cache(maxsize=MOST_KNOWN)
def pane_to_beam(pane: PaneInfo) -> Any:
    """A pane of the graph as one of Beam's."""
    if pane == NO_FIRING:
        return PANE_INFO_UNKNOWN
    timing = _TIMINGS[pane.timing]
    return BeamPane(pane.is_first, pane.is_last, timing, pane.index, pane.nonspeculative_index)


def pane_from_beam(pane: Any) -> PaneInfo:
    """A pane of Beam's as one of the graph."""
    if pane is PANE_INFO_UNKNOWN:
        return NO_FIRING
    parts = (pane.is_first, pane.is_last, pane.timing, pane.index, pane.nonspeculative_index)
    return _pane(*parts)


@lru_cache(maxsize=MOST_KNOWN)
def _pane(
    is_first: bool, is_last: bool, timing: Any, index: int, nonspeculative_index: int
) -> PaneInfo:
    pane = PaneInfo(_TIMINGS_BACK[timing], index, nonspeculative_index, is_first, is_last)
    return NO_FIRING if pane == NO_FIRING else pane

"""A bundle: elements that travel together through a pipeline, as columns.

An element object, and the object of a window, are made only for a function that takes them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Final, NoReturn, Self

import attrs

from beamlike.errors import PipelineError
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.windows import GLOBAL_WINDOW, Window, bounds, window_of

BUNDLE_SIZE: Final = 16_384
"""How many elements of a source, or of one function, go through a pipeline together."""


@attrs.frozen
class Windowed:
    """An element on its way through a pipeline.

    Source: Beam ``WindowedValue``.
    """

    value: Any
    timestamp: int
    """Event time, ms."""
    windows: tuple[Window, ...] = (GLOBAL_WINDOW,)
    """The windows that it is in; several if they overlap and no function took its window."""
    pane: PaneInfo = NO_FIRING


@attrs.frozen
class Retraction:
    """The value of an element that withdraws an earlier one of the same window.

    A grouping brings it out whose panes retract.

    Args:
        element: The value of the element that is withdrawn.
    """

    element: Any

    def __iter__(self) -> NoReturn:
        raise PipelineError(
            f"{self!r} withdraws a pair, and was taken for one; write retractable(...) around the "
            "function that takes pairs, or leave StrategyOptions(retractions=True) out"
        )


@attrs.define(eq=False)
class Spans(Sequence[tuple[Window, ...]]):
    """The windows of elements that are in one window each, by their bounds (ms)."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, windows: Iterable[Window]) -> Self:
        """These windows, one for each element."""
        spans = list(map(bounds, windows))
        return cls([start for start, _ in spans], [end for _, end in spans])

    @classmethod
    def all_in(cls, window: Window, count: int) -> Self:
        """So many elements in this window."""
        return cls([window.start] * count, [window.end] * count)

    def windows(self) -> Iterator[Window]:
        """The window of each element: one object for all that are in the same one."""
        known: dict[tuple[int, int], Window] = {}
        for span in zip(self.starts, self.ends, strict=True):
            window = known.get(span)
            if window is None:
                window = known[span] = window_of(*span)
            yield window

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[tuple[Window, ...]]:
        return zip(self.windows())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Spans(self.starts[index], self.ends[index])
        return (window_of(self.starts[index], self.ends[index]),)


WindowsOfEach = list[tuple[Window, ...]] | Spans
"""The windows of each element."""


@attrs.define(eq=False)
class Bundle(Sequence[Windowed]):
    """Elements in their order: a column for each part of `Windowed`.

    Columns may be shared between bundles. A bundle only grows where it was made.
    """

    values: list[Any] = attrs.field(factory=list)
    timestamps: list[int] = attrs.field(factory=list)
    windows: WindowsOfEach = attrs.field(factory=lambda: Spans([], []))
    panes: list[PaneInfo] = attrs.field(factory=list)

    @classmethod
    def of(cls, elements: Iterable[Windowed]) -> Self:
        """These elements."""
        bundle = cls()
        for element in elements:
            bundle.append(element)
        return bundle

    def append(self, element: Windowed) -> None:
        """One more element."""
        self.values.append(element.value)
        self.timestamps.append(element.timestamp)
        spans = self.windows
        if isinstance(spans, Spans) and len(element.windows) == 1:
            (window,) = element.windows
            spans.starts.append(window.start)
            spans.ends.append(window.end)
        else:
            self._add_windows([element.windows])
        self.panes.append(element.pane)

    def extend(self, other: "Bundle") -> None:
        """All elements of another bundle after these."""
        self.values += other.values
        self.timestamps += other.timestamps
        self._add_windows(other.windows)
        self.panes += other.panes

    def _add_windows(self, windows: WindowsOfEach) -> None:
        spans = self.windows
        if isinstance(spans, Spans):
            added = windows if isinstance(windows, Spans) else _one_each(windows)
            if added is not None:
                spans.starts += added.starts
                spans.ends += added.ends
                return
            spans = self.windows = list(spans)
        spans += windows

    def with_values(self, values: list[Any]) -> "Bundle":
        """As many elements with other values."""
        return Bundle(values, self.timestamps, self.windows, self.panes)

    def with_windows(self, windows: WindowsOfEach) -> "Bundle":
        """The same elements in other windows."""
        return Bundle(self.values, self.timestamps, windows, self.panes)

    def take(self, places: Sequence[int], values: list[Any] | None = None) -> "Bundle":
        """The elements at these places, once for each; with other values if there are some."""
        if not len(places):
            return Bundle()
        find = itemgetter(*places, places[0])  # of one place alone it would be no tuple
        pick: Callable[[list[Any]], list[Any]] = lambda column: [*find(column)[:-1]]  # noqa: E731
        picked_values = pick(self.values) if values is None else values
        windows = self.windows
        picked: WindowsOfEach
        if isinstance(windows, Spans):
            picked = Spans(pick(windows.starts), pick(windows.ends))
        else:
            picked = pick(windows)
        return Bundle(picked_values, pick(self.timestamps), picked, pick(self.panes))

    def part(self, start: int, stop: int) -> "Bundle":
        """The elements from one place to another one."""
        span = slice(start, stop)
        windows: WindowsOfEach = self.windows[span]
        return Bundle(self.values[span], self.timestamps[span], windows, self.panes[span])

    def parts(self) -> "Sequence[Bundle]":
        """Bundles with these elements, in their order."""
        return [self]

    def one_window_each(self) -> tuple["Bundle", Spans]:
        """An element in several windows is one element in each of them; one in none is gone.

        Returns the elements, and their windows once more.
        """
        windows = self.windows
        if isinstance(windows, Spans):
            return self, windows
        places = [index for index, window in enumerate(windows) for _ in window]
        spans = Spans.of(window for several in windows for window in several)
        return self.take(places).with_windows(spans), spans

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Windowed]:
        return map(Windowed, self.values, self.timestamps, self.windows, self.panes)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.take(range(len(self))[place])
        return Windowed(
            self.values[place], self.timestamps[place], self.windows[place], self.panes[place]
        )


def _one_each(windows: Sequence[tuple[Window, ...]]) -> Spans | None:
    """The windows of elements, if each is in one."""
    if any(len(window) != 1 for window in windows):
        return None
    return Spans.of(window for (window,) in windows)

"""A bundle: elements that travel together through a pipeline, as columns.

An element object is made only for a function that asks for more than values.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import attrs

from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.windows import GLOBAL_WINDOW, Window

__all__ = ["Bundle", "Windowed"]


@attrs.frozen
class Windowed:
    """An element on its way through a pipeline.

    Source: Beam ``WindowedValue``.
    """

    value: Any
    timestamp: int
    """Event time, ms."""
    windows: tuple[Window, ...] = (GLOBAL_WINDOW,)
    """The windows that it is in; several if they overlap and no function asked for its window."""
    pane: PaneInfo = NO_FIRING


@attrs.define(eq=False)
class Bundle(Sequence[Windowed]):
    """Elements in their order: a column for each part of `Windowed`.

    Columns may be shared between bundles. A bundle only grows where it was made.
    """

    values: list[Any] = attrs.field(factory=list)
    timestamps: list[int] = attrs.field(factory=list)
    windows: list[tuple[Window, ...]] = attrs.field(factory=list)
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
        self.windows.append(element.windows)
        self.panes.append(element.pane)

    def extend(self, other: "Bundle") -> None:
        """All elements of another bundle after these."""
        self.values += other.values
        self.timestamps += other.timestamps
        self.windows += other.windows
        self.panes += other.panes

    def with_values(self, values: list[Any]) -> "Bundle":
        """As many elements with other values."""
        return Bundle(values, self.timestamps, self.windows, self.panes)

    def with_windows(self, windows: list[tuple[Window, ...]]) -> "Bundle":
        """The same elements in other windows."""
        return Bundle(self.values, self.timestamps, windows, self.panes)

    def at(self, places: Sequence[int], values: list[Any] | None = None) -> "Bundle":
        """The elements at these places, once for each; with other values if there are some."""
        pick: Callable[[list[Any]], list[Any]] = lambda column: [column[at] for at in places]  # noqa: E731
        own = pick(self.values) if values is None else values
        return Bundle(own, pick(self.timestamps), pick(self.windows), pick(self.panes))

    def one_window_each(self) -> "Bundle":
        """An element in several windows is one element in each of them; one in none is gone."""
        if all(len(windows) == 1 for windows in self.windows):
            return self
        places = [at for at, windows in enumerate(self.windows) for _ in windows]
        alone: list[tuple[Window, ...]] = [
            (window,) for windows in self.windows for window in windows
        ]
        return self.at(places).with_windows(alone)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Windowed]:
        return map(Windowed, self.values, self.timestamps, self.windows, self.panes)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return self.at(range(len(self))[at])
        return Windowed(self.values[at], self.timestamps[at], self.windows[at], self.panes[at])

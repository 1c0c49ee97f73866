"""Bundles of which Python's lists are made only where something takes them.

The rows of a batch arrive as columns, and many functions look at none of their times, windows and
panes, or at one column of the rows. An object that nothing looks at is not made.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

from beamlike.model.bundle import Bundle, Spans, Windowed
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.windows import Window


class Column(Protocol):
    """Values that become a list when they are needed: an array of NumPy, for example."""

    def __len__(self) -> int: ...

    def tolist(self) -> list[Any]:
        """The values."""


class RepeatedKey(Sequence[Any]):
    """The same key, so many times."""

    def __init__(self, key: Any, count: int) -> None:
        self.key, self._count = key, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return iter([self.key] * self._count)

    def __getitem__(self, index: Any) -> Any:
        return ([self.key] * self._count)[index]


class PairsColumn:
    """Pairs of one key and values."""

    def __init__(self, key: Any, of: Column | list[Any]) -> None:
        self.key, self.of = key, of

    def __len__(self) -> int:
        return len(self.of)

    def tolist(self) -> list[Any]:
        return [(self.key, value) for value in listed(self.of)]


def listed(column: Column | list[Any]) -> list[Any]:
    """The values of a column."""
    return column if isinstance(column, list) else column.tolist()


class ColumnBundle(Bundle):
    """Elements of no pane, as columns. It does not grow.

    Args:
        column: Their values.
        times: Their event times (ms), an array of NumPy.
        window: The window that all of them are in; or the starts and the ends (ms) of the window
            that each is in, arrays of NumPy.
    """

    def __init__(
        self, column: Column | list[Any], times: Any, window: Window | tuple[Any, Any]
    ) -> None:
        self.column, self.times, self.window = column, times, window

    @cached_property
    def values(self) -> list[Any]:  # type: ignore[override]
        return listed(self.column)

    @cached_property
    def timestamps(self) -> list[int]:  # type: ignore[override]
        timestamps: list[int] = self.times.tolist()
        return timestamps

    @cached_property
    def windows(self) -> Spans:  # type: ignore[override]
        if isinstance(self.window, tuple):
            starts, ends = self.window
            return Spans(starts.tolist(), ends.tolist())
        return Spans.all_in(self.window, len(self))

    @cached_property
    def panes(self) -> list[PaneInfo]:  # type: ignore[override]
        return [NO_FIRING] * len(self)

    def with_values(self, values: list[Any]) -> "ColumnBundle":
        return self.with_column(values)

    def with_column(self, column: Column | list[Any]) -> "ColumnBundle":
        """As many elements with other values."""
        return ColumnBundle(column, self.times, self.window)

    def in_windows(self, window: Window | tuple[Any, Any]) -> "ColumnBundle":
        """The same elements in other windows."""
        return ColumnBundle(self.column, self.times, window)

    def take(self, places: Sequence[int], values: list[Any] | None = None) -> Bundle:
        if not len(places):
            return Bundle()
        window = self.window
        if isinstance(window, tuple):
            starts, ends = window
            window = starts[places], ends[places]
        kept = [self.values[place] for place in places] if values is None else values
        return ColumnBundle(kept, self.times[places], window)

    def append(self, element: Windowed) -> None:
        raise AssertionError("columns do not grow")

    def extend(self, other: Bundle) -> None:
        raise AssertionError("columns do not grow")

    def __len__(self) -> int:
        return len(self.column)


class JoinedBundle(Bundle):
    """The elements of several bundles, which stay as they are until all are needed together."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[Bundle] = []

    def append(self, element: Windowed) -> None:
        self._parts.append(Bundle.of([element]))

    def extend(self, other: Bundle) -> None:
        self._parts += (part for part in other.parts() if part)

    def parts(self) -> Sequence[Bundle]:
        return self._parts

    @property
    def values(self) -> list[Any]:  # type: ignore[override]
        return self._together().values

    @property
    def timestamps(self) -> list[int]:  # type: ignore[override]
        return self._together().timestamps

    @property
    def windows(self) -> Any:  # type: ignore[override]
        return self._together().windows

    @property
    def panes(self) -> list[PaneInfo]:  # type: ignore[override]
        return self._together().panes

    def with_values(self, values: list[Any]) -> Bundle:
        return self._together().with_values(values)

    def _together(self) -> Bundle:
        if len(self._parts) != 1:
            together = Bundle()
            for part in self._parts:
                together.extend(part)
            self._parts = [together]
        return self._parts[0]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

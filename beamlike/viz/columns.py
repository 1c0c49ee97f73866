"""Event time on the columns of a terminal."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import attrs

from beamlike.machine.events import AdvanceWatermark, Element, Merged
from beamlike.model.time import show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Arrive, Run, ScriptStep
from beamlike.viz.axis import DAY, DISTANCES, SECOND
from beamlike.viz.run_index import own_windows


@attrs.frozen
class Columns:
    """Event time from ``start`` to ``end`` (ms) on ``columns`` characters."""

    start: int
    end: int
    columns: int

    @classmethod
    def of(cls, run: Run, columns: int, window_fn: WindowFn | None) -> "Columns":
        """The span of all elements and windows, and of the watermarks not far from them."""
        elements = [element for _, element in _arrivals(run.script)]
        times = [element.timestamp for element in elements]
        for window in (*_windows(run), *assigned(elements, window_fn)):
            if isinstance(window, IntervalWindow):
                times += (window.start, window.end)
        if not times:
            return cls(0, 1, columns)
        start, end = min(times), max(times)
        around = (end - start) // 2 or SECOND
        watermarks = [
            step.to
            for step in run.script
            if isinstance(step, AdvanceWatermark) and start - around <= step.to <= end + around
        ]
        return cls(min(start, *watermarks, start), max(end, *watermarks, start + 1), columns)

    def column(self, instant: int) -> int:
        """Where an instant lies; what lies beyond the axis lies at its rim."""
        column = (instant - self.start) * (self.columns - 1) // (self.end - self.start)
        return min(max(column, 0), self.columns - 1)

    def span(self, window: Window) -> tuple[int, int]:
        """First and last column of a window, two at least. The last one ends before its end."""
        first, last = self.column(window.start), self.column(window.end) - 1
        if window.end > self.end:
            last = self.columns - 1
        first = min(first, self.columns - 2)
        return first, max(last, first + 1)

    def ruler(self) -> tuple[str, str]:
        """Labels, and the line under them."""
        labels, line = [" "] * self.columns, ["-"] * self.columns
        for column, text in self._ticks():
            line[column] = "+"
            if column + len(text) <= self.columns:
                labels[column : column + len(text)] = text
        return "".join(labels), "".join(line)

    def _ticks(self) -> list[tuple[int, str]]:
        ticks: list[tuple[int, str]] = []
        for distance in DISTANCES:
            if (self.end - self.start) // distance > self.columns // 6:
                continue
            first = -(-self.start // distance) * distance
            ticks = list(self._labelled(range(first, self.end + 1, distance), distance))
            if all(at + len(text) + 2 <= after for (at, text), (after, _) in pairwise(ticks)):
                break
        return ticks

    def _labelled(self, instants: Iterable[int], distance: int) -> Iterator[tuple[int, str]]:
        shown_date = ""
        for instant in instants:
            text = show_instant(instant)
            date, _, time = text.partition(" ")
            if time and distance >= DAY:
                text = date
            elif time and date == shown_date:
                text = time
            shown_date = date
            yield self.column(instant), text


def _arrivals(script: Iterable[ScriptStep]) -> Iterator[tuple[Any, Element]]:
    for step in script:
        if isinstance(step, Arrive):
            yield from step.elements


def _windows(run: Run) -> Iterator[Window]:
    for output in run.outputs:
        if output.effect.window is not None:
            yield output.effect.window
    for traced in run.trace:
        if isinstance(traced.happening, Merged):
            yield from traced.happening.sources


def assigned(elements: Iterable[Element], window_fn: WindowFn | None) -> Iterator[Window]:
    """The windows that elements come in or get, before any merging; see `own_windows`."""
    for element in elements:
        if element.window is not None:
            yield element.window
        elif window_fn is not None:
            yield from own_windows(window_fn, element)

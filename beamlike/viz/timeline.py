"""A run as text: event time across, steps downwards, one block for each key.

This is what a person reads when a test fails, so every line says one thing: what arrived,
where the watermark went, which windows merged, what came out and why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import Any, Final

import attrs

from beamlike.hosts.script import Arrive, Run, ScriptStep
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Drop,
    Element,
    Fired,
    Happening,
    Merged,
    Pane,
    Suppressed,
)
from beamlike.model.time import MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.viz.table import lost_elements, shorten

__all__ = ["LEGEND", "text_timeline"]

LEGEND: Final = "* element   o behind the watermark   x dropped   [--) window   | watermark"

_GUTTER: Final = 24
_NARROWEST: Final = 60
_MOST_LANES: Final = 4
_MOST_REASON_LINES: Final = 3
_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_TICKS: Final = (
    *(n * 10**power for power in range(3) for n in (1, 2, 5)),
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * 10**power * _DAY for power in range(9) for n in (1, 2, 5)),
)


def text_timeline(run: Run, width: int = 100, *, window_fn: WindowFn | None = None) -> str:
    """Draw a run: elements, windows, the watermark and what came out, step by step.

    Args:
        run: If its host listened to the story, merges and the reasons of firings show too.
        width: Characters in a line, at least 60.
        window_fn: If given, windows show from the element on that opened them, else from
            their first merge or pane on.
    """
    keys = list(dict.fromkeys(_keys(run)))
    if not keys:
        return "(no elements, nothing came out)"
    axis = _Axis.of(run, max(width, _NARROWEST) - _GUTTER, window_fn)
    lines = [LEGEND]
    for key in keys:
        lines += ["", *_Block(run, key, axis, window_fn).lines()]
    return "\n".join(line.rstrip() for line in lines)


def _keys(run: Run) -> Iterator[Any]:
    for step in run.script:
        if isinstance(step, Arrive):
            yield from step.by_key()
    yield from (output.key for output in run.outputs)


# -- the axis ------------------------------------------------------------------------------


@attrs.frozen
class _Axis:
    """Event time from ``start`` to ``end`` (ms) on ``columns`` characters."""

    start: int
    end: int
    columns: int

    @classmethod
    def of(cls, run: Run, columns: int, window_fn: WindowFn | None) -> "_Axis":
        """The span of all elements and windows, and of the watermarks not far from them."""
        elements = [element for _, element in _arrivals(run.script)]
        times = [element.timestamp for element in elements]
        for window in (*_windows(run), *_assigned(elements, window_fn)):
            if isinstance(window, IntervalWindow):
                times += (window.start, window.end)
        if not times:
            return cls(0, 1, columns)
        start, end = min(times), max(times)
        around = (end - start) // 2 or _SECOND
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
        for distance in _TICKS:
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
            if time and distance >= _DAY:
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
    for told in run.story:
        if isinstance(told.happening, Merged):
            yield from told.happening.sources


def _assigned(elements: Iterable[Element], window_fn: WindowFn | None) -> Iterator[Window]:
    if window_fn is None:
        return
    for element in elements:
        try:
            windows = window_fn.assign(element.timestamp, element.value)
        except Exception:  # the drop of the element says what
            continue
        yield from windows


# -- one key -------------------------------------------------------------------------------


class _Block:
    """The lines of one key."""

    def __init__(self, run: Run, key: Any, axis: _Axis, window_fn: WindowFn | None) -> None:
        self.run = run
        self.key = key
        self.axis = axis
        self.window_fn = window_fn
        self.watermark = MIN_TIMESTAMP
        self.seen: set[Window] = set()

    def lines(self) -> Iterator[str]:
        labels, line = self.axis.ruler()
        yield (
            f"{shorten(self.key, _GUTTER - 6) if self.key is not None else 'no'} key".ljust(_GUTTER)
            + labels
        )
        yield " " * _GUTTER + line
        began = False
        for number, step in enumerate(self.run.script):
            before = self.watermark
            if isinstance(step, AdvanceWatermark):
                self.watermark = step.to
            mine = step.by_key().get(self.key, []) if isinstance(step, Arrive) else []
            began = began or bool(mine)
            if not began or (isinstance(step, Arrive) and not mine):
                continue
            story = [t.happening for t in self.run.story if (t.step, t.key) == (number, self.key)]
            effects = [o.effect for o in self.run.outputs if (o.step, o.key) == (number, self.key)]
            if isinstance(step, Arrive):
                drops = [effect for effect in effects if isinstance(effect, Drop)]
                yield self._elements(number, mine, drops, before)
            else:
                yield self._clock(number, step)
            merges = [happening for happening in story if isinstance(happening, Merged)]
            yield from self._opened(mine, merges, effects)
            yield from self._happenings(merges, effects, story)

    # -- what happens ------------------------------------------------------------------------

    def _elements(
        self, number: int, elements: Sequence[Element], drops: Sequence[Drop], watermark: int
    ) -> str:
        row = self._row()
        marks = [(e.timestamp, "o" if e.timestamp < watermark else "*") for e in elements]
        marks += [(drop.timestamp, "x") for drop in drops if drop.timestamp is not None]
        for timestamp, mark in marks:
            row[self.axis.column(timestamp)] = mark
        values = "+ " + ", ".join(repr(element.value) for element in elements)
        if len(values) > _GUTTER - 6:
            values = f"+ {len(elements)} elements"
        return _gutter(number, values) + "".join(row)

    def _clock(self, number: int, step: AdvanceWatermark | AdvanceClock) -> str:
        row = self._row()
        if isinstance(step, AdvanceWatermark):
            column, text = self.axis.column(step.to), show_instant(step.to)
            if step.to > self.axis.end:
                row[column] = ">"
            elif step.to < self.axis.start:
                row[column] = "<"
            _beside(row, text, column, column)
            return _gutter(number, "watermark") + "".join(row)
        return _gutter(number, f"clock {show_duration(step.to)}") + "".join(row)

    # -- what comes of it --------------------------------------------------------------------

    def _opened(
        self, elements: Sequence[Element], merges: Sequence[Merged], effects: Sequence[Any]
    ) -> Iterator[str]:
        """Windows that an element opened and that did not merge at once."""
        merging = {window for merge in merges for window in merge.sources}
        # A window that refused one element may have taken another.
        taken = Counter[Window | None](_assigned(elements, self.window_fn))
        taken.subtract(effect.window for effect in effects if isinstance(effect, Drop))
        opened = {window for window, count in taken.items() if window and count > 0}
        opened -= self.seen | merging
        self.seen |= opened | {merge.into for merge in merges}
        lanes: list[tuple[list[str], int]] = []
        for window in sorted(opened, key=lambda w: (w.start, w.end)):
            first, last = self.axis.span(window)
            free = next((at for at, (_, reach) in enumerate(lanes) if reach < first), len(lanes))
            if free == len(lanes):
                lanes.append((self._row(), -1))
            self._draw(lanes[free][0], window)
            lanes[free] = (lanes[free][0], last)
        for row, _ in lanes[:_MOST_LANES]:
            yield _gutter(None, "opened") + "".join(row)
        if len(lanes) > _MOST_LANES:
            yield _gutter(None, "") + f"... {len(opened)} windows opened in all"

    def _happenings(
        self, merges: Sequence[Merged], effects: Sequence[Any], story: Sequence[Happening]
    ) -> Iterator[str]:
        reasons = iter([happening.by for happening in story if isinstance(happening, Fired)])
        for effect in effects:
            if isinstance(effect, Drop) and effect.missed_by is not None:
                yield from self._dropped(effect)
        for merge in merges:
            text = f"from {len(merge.sources)} windows"
            yield from self._bar("merged", merge.into, text, parts=merge.sources)
        for effect in effects:
            if isinstance(effect, Pane):
                by = None if effect.retraction else next(reasons, None)
                yield from self._pane(effect, by)
            elif effect.missed_by is None:
                yield from self._dropped(effect)
        for happening in story:
            if isinstance(happening, Suppressed):
                yield from self._bar("no pane", happening.window, f"nothing new, {happening.by}")

    def _pane(self, pane: Pane, by: str | None) -> Iterator[str]:
        info = pane.info
        label = f"{info.timing.value} #{info.index}"
        label = f"retract {label}" if pane.retraction else label + " last" * info.is_last
        text = repr(pane.value)
        if pane.timestamp != pane.window.max_timestamp:
            text += f" at {show_instant(pane.timestamp)}"
        yield from self._bar(label, pane.window, text, f"by {by}" if by else "")

    def _dropped(self, drop: Drop) -> Iterator[str]:
        room = self.axis.columns
        label, text = f"dropped, {drop.reason.value}", lost_elements(drop, room)
        if drop.missed_by is not None:
            text += f" missed by {show_duration(drop.missed_by)}"
        elif drop.error is None:
            text += " the trigger had finished"
        if drop.window is None:  # it never got as far as a window
            yield _gutter(None, label) + text
        else:
            yield from self._bar(label, drop.window, text, mark=drop.timestamp)
        if drop.error is not None:
            why = f"because {drop.error}"
            for line in wrap(why, room, max_lines=_MOST_REASON_LINES, placeholder=" ..."):
                yield _gutter(None, "") + line

    # -- drawing -----------------------------------------------------------------------------

    def _row(self) -> list[str]:
        row = [" "] * self.axis.columns
        if self.axis.start <= self.watermark <= self.axis.end:
            row[self.axis.column(self.watermark)] = "|"
        return row

    def _draw(self, row: list[str], window: Window) -> tuple[int, int]:
        first, last = self.axis.span(window)
        row[first : last + 1] = "-" * (last + 1 - first)
        row[first] = "<" if window.start < self.axis.start else "["
        row[last] = ">" if window.end > self.axis.end else ")"
        return first, last

    def _bar(
        self,
        label: str,
        window: Window,
        text: str,
        reason: str = "",
        *,
        parts: Iterable[Window] = (),
        mark: int | None = None,
    ) -> Iterator[str]:
        """A window with a text beside it, or below it where there is no room."""
        row = self._row()
        first, last = self._draw(row, window)
        for part in parts:
            row[self.axis.span(part)[0]] = "["
        if mark is not None:
            row[self.axis.column(mark)] = "x"
        whole = f"{text} {reason}".rstrip()
        below = ""
        if not _beside(row, whole, first, last):
            below = reason if reason and _beside(row, text, first, last) else whole
        yield _gutter(None, label) + "".join(row)
        if below:
            room = self.axis.columns - 2
            yield _gutter(None, "") + (below if len(below) <= room else below[: room - 3] + "...")


def _beside(row: list[str], text: str, first: int, last: int) -> bool:
    """Write a text right of a drawing, or left of it; False if it fits on neither side."""
    size = len(text)
    if last + 2 + size <= len(row):
        row[last + 2 : last + 2 + size] = text
        return True
    if first - 1 - size >= 0:
        row[first - 1 - size : first - 1] = text
        return True
    return False


def _gutter(number: int | None, text: str) -> str:
    start = "    " if number is None else f"{number:3} "
    return f"{start + ('  ' if number is None else '') + text:{_GUTTER}}"[: _GUTTER - 1] + " "

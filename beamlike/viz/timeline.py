"""A run as text: event time across, steps downwards, one block for each key.

This is what a person reads when a test fails, so every line says one thing: what arrived,
where the watermark went, which windows merged, what came out and why.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Drop,
    Element,
    Fired,
    Merged,
    Pane,
    RowProblem,
    Suppressed,
    TraceEvent,
)
from beamlike.model.fingerprint import how_many, on_one_line
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import TextAxis, assigned
from beamlike.viz.cells import cells, columns, cut, padded
from beamlike.viz.run_index import busiest, by_step, identity, is_dropped, keys_of
from beamlike.viz.table import lost_elements, shorten, show_clock


@attrs.frozen
class DrawnStep:
    """A step as it is drawn.

    ``row`` is what stands right of the gutter in the first line, ``below`` are the other lines.
    ``elements``, ``panes`` and ``drops`` are how many there were. ``name`` is the text in the
    gutter.
    """

    step: int
    name: str
    row: str
    below: tuple[str, ...] = ()
    elements: int = 0
    panes: int = 0
    drops: int = 0


def thinned(entries: Sequence[DrawnStep], most: int) -> Iterator[DrawnStep | str]:
    """The entries to draw; a text stands for those that are left out."""
    shown = list(entries)
    start = _within(shown, most // 2)
    end = max(len(shown) - _within(shown[::-1], most // 2), start)
    if _lines(shown) <= most or start == end:
        yield from shown
        return
    yield from shown[:start]
    yield _left_out(shown[start:end])
    yield from shown[end:]


def _lines(entries: Sequence[DrawnStep]) -> int:
    return sum(1 + len(entry.below) for entry in entries)


def _within(entries: Sequence[DrawnStep], lines: int) -> int:
    """How many of the first entries have no more lines than these; one at least."""
    for count, entry in enumerate(entries):
        lines -= 1 + len(entry.below)
        if lines < 0:
            return max(count, 1)
    return len(entries)


def _left_out(entries: Sequence[DrawnStep]) -> str:
    counts = [
        (sum(entry.elements for entry in entries), "element"),
        (sum(entry.panes for entry in entries), "pane"),
        (sum(entry.drops for entry in entries), "drop"),
    ]
    left_out = ", ".join(how_many(count, noun) for count, noun in counts if count)
    steps = f"steps {entries[0].step} to {entries[-1].step}"
    return f"... {steps} left out{': ' + left_out if left_out else ''}"


LEGEND: Final = "* element   o behind the watermark   x dropped   [--) window   | watermark"
_OFF_AXIS: Final = "< > off the axis"
"""Shown only where it is drawn."""

_GUTTER: Final = 24
_INDENT: Final = 6
_NARROWEST: Final = 60
_MOST_KEYS: Final = 8
_LINES, _LEAST_LINES, _MOST_LINES = 400, 60, 120
"""Lines for all keys, and for each of them at least and at most; a few more is no harm."""
_MOST_LANES: Final = 4
_MOST_REASON_LINES: Final = 3


def text_timeline(run: Run, width: int = 100, *, window_fn: WindowFn | None = None) -> str:
    """Draw a run: elements, windows, the watermark and what came out, step by step.

    A key with a long trace gets some 120 lines, fewer among many: the middle is left out. Of many
    keys the busiest are drawn. What is left out is counted.

    Args:
        run: If its host traced it, merges and the reasons of firings show too.
        width: Characters in a line, at least 60.
        window_fn: If given, windows show from the element on that opened them, else from
            their first merge or pane on.
    """
    whole_number(width, 1, "timeline width", RecordingError)
    keys = keys_of(run)
    if not keys:
        return "(no elements, nothing came out)"
    width = max(width, _NARROWEST)
    axis = TextAxis.of(run, width - _GUTTER, window_fn)
    shown = busiest(run, keys, _MOST_KEYS)
    room = min(max(_LINES // len(shown), _LEAST_LINES), _MOST_LINES)
    blocks = [_Block(run, key, axis, window_fn) for key in shown]
    drawn = [["", *block.lines(room)] for block in blocks]
    off_axis = any(block.leaves_axis for block in blocks)
    lines = [LEGEND]
    if off_axis and len(LEGEND) + 3 + len(_OFF_AXIS) <= width:
        lines = [f"{LEGEND}   {_OFF_AXIS}"]
    elif off_axis:
        lines.append(_OFF_AXIS)
    lines += [line for block in drawn for line in block]
    if len(shown) < len(keys):
        others = ", ".join(on_one_line(key) for key in keys if key not in shown)
        left_out = len(keys) - len(shown)
        words = f"{left_out} of {len(keys)} keys, the least busy, are left out: {others}"
        lines += ["", *wrap(words, width, max_lines=_MOST_REASON_LINES, placeholder=" ...")]
    return "\n".join(line.rstrip() for line in lines)


# -- one key -------------------------------------------------------------------------------


class _Block:
    """The lines of one key."""

    def __init__(self, run: Run, key: Any, axis: TextAxis, window_fn: WindowFn | None) -> None:
        self.run = run
        self.key = key
        self.axis = axis
        self.window_fn = window_fn
        self.watermark = MIN_TIMESTAMP
        self.seen: set[Window] = set()
        self.leaves_axis = False
        """Whether a window or the watermark has been drawn that lies beyond the axis."""

    def lines(self, most: int) -> Iterator[str]:
        labels, line = self.axis.ruler()
        name = shorten(self.key, _GUTTER - 6) if self.key is not None else "no"
        yield padded(f"{name} key", _GUTTER) + labels
        yield " " * _GUTTER + line
        for entry in thinned(list(self._entries()), most):
            if isinstance(entry, str):
                yield _gutter("") + entry
                continue
            yield padded(f"{entry.step:3} {entry.name}", _GUTTER) + entry.row
            yield from entry.below

    def _entries(self) -> Iterator[DrawnStep]:
        """Each step that concerns this key, from its first element on."""
        effects_of, story_of = by_step(self.run, self.key)
        wanted, began = identity(self.key), False
        for number, step in enumerate(self.run.script):
            before = self.watermark
            if isinstance(step, AdvanceWatermark):
                self.watermark = step.to
            mine: list[Element] = []
            if isinstance(step, Arrive):
                mine = [element for key, element in step.elements if identity(key) == wanted]
            began = began or bool(mine)
            if not began or (isinstance(step, Arrive) and not mine):
                continue
            trace, effects = story_of.get(number, []), effects_of.get(number, [])
            drops = [effect for effect in effects if isinstance(effect, Drop)]
            if isinstance(step, Arrive):
                name, row = self._elements(mine, drops, before)
            else:
                name, row = self._clock(step)
            merges = [happening for happening in trace if isinstance(happening, Merged)]
            below = self._opened(mine, merges, effects), self._happenings(merges, effects, trace)
            yield DrawnStep(
                number,
                name,
                row,
                tuple(line for lines in below for line in lines),
                elements=len(mine),
                panes=sum(isinstance(effect, Pane) and not effect.retraction for effect in effects),
                drops=len(drops),
            )

    # -- what happens ------------------------------------------------------------------------

    def _elements(
        self, elements: Sequence[Element], drops: Sequence[Drop], watermark: int
    ) -> tuple[str, str]:
        row = self._row()
        marks = [(e.timestamp, "o" if e.timestamp < watermark else "*") for e in elements]
        marks += [
            (drop.timestamp, "x")
            for drop in drops
            if drop.timestamp is not None and not self._partly(drop, drops)
        ]
        for timestamp, mark in marks:
            row[self.axis.column(timestamp)] = mark
        values = "+ " + ", ".join(on_one_line(element.value) for element in elements)
        if columns(values) > _GUTTER - 6:
            values = f"+ {how_many(len(elements), 'element')}"
        return values, "".join(row)

    def _clock(self, step: AdvanceWatermark | AdvanceClock) -> tuple[str, str]:
        row = self._row()
        if isinstance(step, AdvanceWatermark):
            column, text = self.axis.column(step.to), show_instant(step.to)
            if step.to > self.axis.end:
                row[column] = ">"
            _beside(row, text, column, column)
            return "watermark", "".join(row)
        return _clock(step.to), "".join(row)

    # -- what comes of it --------------------------------------------------------------------

    def _opened(
        self, elements: Sequence[Element], merges: Sequence[Merged], effects: Sequence[Any]
    ) -> Iterator[str]:
        """Windows that an element opened and that did not merge at once."""
        merging = {window for merge in merges for window in merge.sources}
        # A window that refused one element may have taken another.
        taken = Counter[Window | None](assigned(elements, self.window_fn))
        taken.subtract(effect.window for effect in effects if isinstance(effect, Drop))
        opened = {window for window, count in taken.items() if window and count > 0}
        opened -= self.seen | merging
        self.seen |= opened | {merge.into for merge in merges}
        lanes: list[tuple[list[str], int]] = []
        for window in sorted(opened, key=lambda w: (w.start, w.end)):
            first, last = self.axis.span(window)
            free = next(
                (index for index, (_, reach) in enumerate(lanes) if reach < first), len(lanes)
            )
            if free == len(lanes):
                lanes.append((self._row(), -1))
            self._draw(lanes[free][0], window)
            lanes[free] = (lanes[free][0], last)
        for row, _ in lanes[:_MOST_LANES]:
            yield _gutter("opened") + "".join(row)
        if len(lanes) > _MOST_LANES:
            yield _gutter("") + f"... {len(opened)} windows opened in all"

    def _happenings(
        self, merges: Sequence[Merged], effects: Sequence[Any], trace: Sequence[TraceEvent]
    ) -> Iterator[str]:
        reasons = iter([happening.by for happening in trace if isinstance(happening, Fired)])
        for effect in effects:
            if isinstance(effect, Drop) and effect.missed_by is not None:
                yield from self._dropped(effect, self._partly(effect, effects))
        for merge in merges:
            text = f"from {len(merge.sources)} windows"
            yield from self._bar("merged", merge.into, text, parts=merge.sources)
        for effect in effects:
            if isinstance(effect, Pane):
                by = None if effect.retraction else next(reasons, None)
                yield from self._pane(effect, by)
            elif effect.missed_by is None:
                yield from self._dropped(effect)
        for happening in trace:
            if isinstance(happening, Suppressed):
                yield from self._bar("no pane", happening.window, f"nothing new, {happening.by}")

    def _pane(self, pane: Pane, by: str | None) -> Iterator[str]:
        info = pane.info
        label = f"{info.timing.value} #{info.index}"
        label = f"retract {label}" if pane.retraction else label + " last" * info.is_last
        text = on_one_line(pane.value)
        if pane.timestamp != pane.window.max_timestamp:
            text += f" at {show_instant(pane.timestamp)}"
        yield from self._bar(label, pane.window, text, f"by {by}" if by else "")

    def _partly(self, drop: Drop, effects: Sequence[Any]) -> str:
        """From how many of its windows an element was dropped, if not from all of them."""
        if not isinstance(drop.element, Element) or drop.window is None:
            return ""
        windows = set(assigned([drop.element], self.window_fn))
        refused = {
            effect.window
            for effect in effects
            if isinstance(effect, Drop) and is_dropped(drop.element, effect)
        }
        if len(refused) >= len(windows):
            return ""
        return f" dropped from {len(refused)} of {len(windows)} windows,"

    def _dropped(self, drop: Drop, partly: str = "") -> Iterator[str]:
        room = self.axis.columns
        label, text = f"dropped, {drop.reason.value}", lost_elements(drop, room)
        if drop.missed_by is not None:
            text += f"{partly} missed by {show_duration(drop.missed_by)}"
        elif drop.error is None and not isinstance(drop.reason, RowProblem):
            text += " the trigger had finished"
        if drop.window is None:  # it never got as far as a window
            yield _gutter(label) + text
        else:
            yield from self._bar(label, drop.window, text, mark=drop.timestamp)
        if drop.error is not None:
            why = f"because {drop.error}"
            for line in wrap(why, room, max_lines=_MOST_REASON_LINES, placeholder=" ..."):
                yield _gutter("") + line

    # -- drawing -----------------------------------------------------------------------------

    def _row(self) -> list[str]:
        row = [" "] * self.axis.columns
        if self.axis.start <= self.watermark <= self.axis.end:
            row[self.axis.column(self.watermark)] = "|"
        elif MIN_TIMESTAMP < self.watermark < MAX_TIMESTAMP:
            # At the end of time there is nothing left to be compared with it.
            row[self.axis.column(self.watermark)] = "<>"[self.watermark > self.axis.end]
            self.leaves_axis = True
        return row

    def _draw(self, row: list[str], window: Window) -> tuple[int, int]:
        first, last = self.axis.span(window)
        row[first : last + 1] = "-" * (last + 1 - first)
        row[first] = "<" if window.start < self.axis.start else "["
        row[last] = ">" if window.end > self.axis.end else ")"
        self.leaves_axis |= window.start < self.axis.start or window.end > self.axis.end
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
        yield _gutter(label) + "".join(row)
        if below:
            room = self.axis.columns - 2
            yield _gutter("") + cut(below, room)


def _beside(row: list[str], text: str, first: int, last: int) -> bool:
    """Write a text right of a drawing, or left of it; False if it fits on neither side."""
    shown = cells(text)
    size = len(shown)
    if last + 2 + size <= len(row):
        row[last + 2 : last + 2 + size] = shown
        return True
    if first - 1 - size >= 0:
        row[first - 1 - size : first - 1] = shown
        return True
    return False


def _clock(reading: int) -> str:
    """A move of the clock. An instant says what it is, and there is no room to say more."""
    shown = show_clock(reading)
    return f"clock {shown}" if shown == show_duration(reading) else shown


def _gutter(text: str) -> str:
    indent = " " * max(min(_INDENT, _GUTTER - 1 - len(text)), 0)
    return f"{indent + text:{_GUTTER}}"[: _GUTTER - 1] + " "

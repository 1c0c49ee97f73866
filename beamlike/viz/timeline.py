"""A run as text: event time across, steps downwards, one block for each key.

This is what a person reads when a test fails, so every line says one thing: what arrived,
where the watermark went, which windows merged, what came out and why.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import (
    AdvanceWatermark,
    Drop,
    Pane,
    RowProblem,
    Suppressed,
)
from beamlike.model.fingerprint import how_many, on_one_line
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import TextAxis
from beamlike.viz.cells import cells, columns, cut, padded
from beamlike.viz.moments import Arrival, KeyParts, Moment, busiest, keys_of, moments_of
from beamlike.viz.run_index import identity
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
    width, moments = max(width, _NARROWEST), moments_of(run)
    axis = TextAxis.of(moments, width - _GUTTER, window_fn)
    shown = busiest(run, keys, _MOST_KEYS)
    room = min(max(_LINES // len(shown), _LEAST_LINES), _MOST_LINES)
    parts = KeyParts.all_of(moments)
    blocks = [_Block(key, parts[identity(key)].cut(moments), axis, window_fn) for key in shown]
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

    def __init__(
        self, key: Any, moments: Sequence[Moment], axis: TextAxis, window_fn: WindowFn | None
    ) -> None:
        self.key = key
        self.moments = moments
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
        began = False
        for moment in self.moments:
            before, self.watermark = self.watermark, moment.watermark
            mine, is_arrival = moment.elements, isinstance(moment.event, Arrive)
            began = began or bool(mine)
            if not began or (is_arrival and not mine):
                continue
            arrivals, _ = moment.arrivals(self.window_fn)
            partly = {id(d): f" {it.refused}," for it in arrivals if it.refused for d in it.drops}
            if is_arrival:
                name, row = self._elements(moment, before, partly)
            else:
                name, row = self._clock(moment)
            below = self._opened(moment, arrivals), self._happenings(moment, partly)
            yield DrawnStep(
                moment.step,
                name,
                row,
                tuple(line for lines in below for line in lines),
                elements=len(mine),
                panes=sum(not pane.retraction for pane in moment.panes),
                drops=len(moment.drops),
            )

    # -- what happens ------------------------------------------------------------------------

    def _elements(
        self, moment: Moment, watermark: int, partly: Mapping[int, str]
    ) -> tuple[str, str]:
        row, elements = self._row(), moment.elements
        marks = [(e.timestamp, "o" if e.timestamp < watermark else "*") for e in elements]
        marks += [
            (drop.timestamp, "x")
            for drop in moment.drops
            if drop.timestamp is not None and id(drop) not in partly
        ]
        for timestamp, mark in marks:
            row[self.axis.column(timestamp)] = mark
        values = "+ " + ", ".join(on_one_line(element.value) for element in elements)
        if columns(values) > _GUTTER - 6:
            values = f"+ {how_many(len(elements), 'element')}"
        return values, "".join(row)

    def _clock(self, moment: Moment) -> tuple[str, str]:
        row = self._row()
        if isinstance(moment.event, AdvanceWatermark):
            column, text = self.axis.column(moment.watermark), show_instant(moment.watermark)
            if moment.watermark > self.axis.end:
                row[column] = ">"
            _beside(row, text, column, column)
            return "watermark", "".join(row)
        return _clock(moment.clock), "".join(row)

    # -- what comes of it --------------------------------------------------------------------

    def _opened(self, moment: Moment, arrivals: Sequence[Arrival]) -> Iterator[str]:
        """Windows that an element opened and that did not merge at once."""
        merging = {window for merge in moment.merges for window in merge.sources}
        opened = {window for arrival in arrivals for window in arrival.taken}
        opened -= self.seen | merging
        self.seen |= opened | {merge.into for merge in moment.merges}
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

    def _happenings(self, moment: Moment, partly: Mapping[int, str]) -> Iterator[str]:
        reasons = moment.reasons
        for drop in moment.drops:
            if drop.missed_by is not None:
                yield from self._dropped(drop, partly.get(id(drop), ""))
        for merge in moment.merges:
            text = f"from {len(merge.sources)} windows"
            yield from self._bar("merged", merge.into, text, parts=merge.sources)
        for effect in moment.effects:
            if isinstance(effect, Pane):
                by = reasons.get((effect.window, effect.info), "")
                yield from self._pane(effect, "" if effect.retraction else by)
            elif effect.missed_by is None:
                yield from self._dropped(effect)
        for silent in moment.traced(Suppressed):
            yield from self._bar("no pane", silent.window, f"nothing new, {silent.by}")

    def _pane(self, pane: Pane, by: str) -> Iterator[str]:
        info = pane.info
        label = f"{info.timing.value} #{info.index}"
        label = f"retract {label}" if pane.retraction else label + " last" * info.is_last
        text = on_one_line(pane.value)
        if pane.timestamp != pane.window.max_timestamp:
            text += f" at {show_instant(pane.timestamp)}"
        yield from self._bar(label, pane.window, text, f"by {by}" if by else "")

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

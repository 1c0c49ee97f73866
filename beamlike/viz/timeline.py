"""A run as text: event time across, steps downwards, one block for each key.

This is what a person reads when a test fails, so every line says one thing: what arrived,
where the watermark went, which windows merged, what came out and why.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.machine.events import AdvanceWatermark, Drop, Pane, RowProblem, Suppressed
from beamlike.model.fingerprint import how_many, on_one_line
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP, show_duration, show_instant
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window, bounds
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import TextAxis
from beamlike.viz.cells import cells, columns, cut, padded
from beamlike.viz.moments import Arrival, KeyedMoments, Moment, moments_of
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
    lines = list(accumulate(1 + len(entry.below) for entry in entries))
    # One at least stands at the beginning, and one at the end.
    start = max(bisect_right(lines, most // 2), 1)
    end = min(bisect_left(lines, sum(lines[-1:]) - most // 2), len(lines) - 2) + 1
    if sum(lines[-1:]) <= most or start >= end:
        yield from entries
        return
    yield from entries[:start]
    yield _left_out(entries[start:end])
    yield from entries[end:]


def _left_out(entries: Sequence[DrawnStep]) -> str:
    counts = {
        noun: sum(getattr(entry, f"{noun}s") for entry in entries)
        for noun in ("element", "pane", "drop")
    }
    left_out = ", ".join(how_many(count, noun) for noun, count in counts.items() if count)
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
    moments = moments_of(run)
    by_key = KeyedMoments(moments)
    keys, shown = by_key.keys, by_key.busiest(_MOST_KEYS)
    if not keys:
        return "(no elements, nothing came out)"
    width = max(width, _NARROWEST)
    axis = TextAxis.of(moments, width - _GUTTER, window_fn)
    room = min(max(_LINES // len(shown), _LEAST_LINES), _MOST_LINES)
    blocks = [_Block(key, by_key.of(key), axis, window_fn) for key in shown]
    drawn = [["", *block.lines(room)] for block in blocks]
    off_axis = any(block.leaves_axis for block in blocks)
    lines = [LEGEND, _OFF_AXIS] if off_axis else [LEGEND]
    if len("   ".join(lines)) <= width:
        lines = ["   ".join(lines)]
    lines += [line for block in drawn for line in block]
    if len(shown) < len(keys):
        left_out_names = ", ".join(on_one_line(key) for key in keys if key not in shown)
        left_out = len(keys) - len(shown)
        sentence = f"{left_out} of {len(keys)} keys, the least busy, are left out: {left_out_names}"
        lines += ["", *wrap(sentence, width, max_lines=_MOST_REASON_LINES, placeholder=" ...")]
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
            elements, is_arrival = moment.elements, isinstance(moment.event, Arrive)
            began = began or bool(elements)
            if not began or (is_arrival and not elements):
                continue
            arrivals, _ = moment.arrivals(self.window_fn)
            partly = {
                id(drop): f" {arrival.refused},"
                for arrival in arrivals
                if arrival.refused
                for drop in arrival.drops
            }
            name, row = (
                self._elements(moment, before, partly) if is_arrival else self._clock(moment)
            )
            below = (*self._opened(moment, arrivals), *self._happenings(moment, partly))
            panes = sum(not pane.retraction for pane in moment.panes)
            counts = (len(elements), panes, len(moment.drops))
            yield DrawnStep(moment.step, name, row, below, *counts)

    # -- what happens ------------------------------------------------------------------------

    def _elements(
        self, moment: Moment, watermark: int, partly: Mapping[int, str]
    ) -> tuple[str, str]:
        row, elements = self._row(), moment.elements
        for element in elements:
            is_late = element.timestamp < watermark
            row[self.axis.column(element.timestamp)] = "o" if is_late else "*"
        for drop in moment.drops:
            if drop.timestamp is not None and id(drop) not in partly:
                row[self.axis.column(drop.timestamp)] = "x"
        values = "+ " + ", ".join(on_one_line(element.value) for element in elements)
        if columns(values) > _GUTTER - 6:
            values = f"+ {how_many(len(elements), 'element')}"
        return values, "".join(row)

    def _clock(self, moment: Moment) -> tuple[str, str]:
        row = self._row()
        if not isinstance(moment.event, AdvanceWatermark):
            return _clock(moment.clock), "".join(row)
        column = self.axis.column(moment.watermark)
        if moment.watermark > self.axis.end:
            row[column] = ">"
        _write_beside(row, show_instant(moment.watermark), column, column)
        return "watermark", "".join(row)

    # -- what comes of it --------------------------------------------------------------------

    def _opened(self, moment: Moment, arrivals: Sequence[Arrival]) -> Iterator[str]:
        """Windows that an element opened and that did not merge at once."""
        merging = {window for merge in moment.merges for window in merge.sources}
        opened = {window for arrival in arrivals for window in arrival.taken}
        opened -= self.seen | merging
        self.seen |= opened | {merge.into for merge in moment.merges}
        lanes: list[tuple[list[str], int]] = []
        for window in sorted(opened, key=bounds):
            first, last = self.axis.span(window)
            free = [index for index, (_, reach) in enumerate(lanes) if reach < first]
            if not free:
                free = [len(lanes)]
                lanes.append((self._row(), -1))
            row = lanes[free[0]][0]
            self._draw(row, window)
            lanes[free[0]] = (row, last)
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
        why = "" if drop.error is None else f"because {drop.error}"
        for line in wrap(why, room, max_lines=_MOST_REASON_LINES, placeholder=" ..."):
            yield _gutter("") + line

    # -- drawing -----------------------------------------------------------------------------

    def _row(self) -> list[str]:
        row, column = [" "] * self.axis.columns, self.axis.column(self.watermark)
        if self.axis.start <= self.watermark <= self.axis.end:
            row[column] = "|"
        elif MIN_TIMESTAMP < self.watermark < MAX_TIMESTAMP:
            # At the end of time there is nothing left to be compared with it.
            row[column] = "<>"[self.watermark > self.axis.end]
            self.leaves_axis = True
        return row

    def _draw(self, row: list[str], window: Window) -> tuple[int, int]:
        first, last = self.axis.span(window)
        before, after = window.start < self.axis.start, window.end > self.axis.end
        row[first : last + 1] = "[<"[before] + "-" * (last - first - 1) + ")>"[after]
        self.leaves_axis |= before or after
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
        below, with_reason = "", f"{text} {reason}".rstrip()
        if not _write_beside(row, with_reason, first, last):
            below = reason if reason and _write_beside(row, text, first, last) else with_reason
        yield _gutter(label) + "".join(row)
        if below:
            yield _gutter("") + cut(below, self.axis.columns - 2)


def _write_beside(row: list[str], text: str, first: int, last: int) -> bool:
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

"""One panel of a picture: a scene in its frame."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC
from itertools import pairwise
from math import ceil
from typing import Final

import attrs

from beamlike.model.time import show_instant
from beamlike.model.windows import IntervalWindow
from beamlike.palette.colours import Palette
from beamlike.viz.axis import round_instants, show_roughly
from beamlike.viz.dots import Dots
from beamlike.viz.labels import LabelPlace, Labels, PanelFrame, shortened
from beamlike.viz.scene import Box, End, Life, RowLabel
from beamlike.viz.svg import Drawing, text_height, text_width

_FEW: Final = 20
"""The names of so many panes may stand where they are not next to their edge."""
_SHORTEST_SKEW: Final = 24.0
"""A shorter distance (pixels) of the watermark from the ideal line has no label."""
_MANY: Final = 4
"""Where more windows than these lie over each other, each is drawn the fainter."""


class Panel:
    """A scene that is being drawn, up to a row or in all. Labels of the axis may reach to the right
    as far as ``room`` (pixels)."""

    def __init__(
        self, frame: PanelFrame, palette: Palette, room: float, now: float | None = None
    ) -> None:
        self.scene = frame.scene if now is None else frame.scene.until(now)
        self.frame, self.room = attrs.evolve(frame, scene=self.scene), room
        self.drawing = Drawing(palette)
        self.labels = Labels(frame, self.drawing)
        self.unnamed = Counter[str]()
        """How many labels found no room, by what they would have named."""
        self._seen = min(1.0, _MANY / self.scene.lanes)

    def draw(self) -> None:
        """Draw everything but what is written on the axes."""
        self._lives()
        for box in self.scene.boxes:
            self._box(box)
        # The line on which event time and processing time are one.
        ideal = [self.frame.point(instant, row) for row, instant in self.scene.ideal]
        if ideal:
            self.drawing.line("event time = processing time", *ideal)
        self._watermark()
        dots = Dots(self.frame, self.drawing, self.labels)
        dots.draw()
        self._folds()
        dots.name(lambda mark: mark.refused or mark.count > 1)
        for box in self.scene.boxes:
            self._name(box)
        dots.name(lambda mark: not mark.refused and mark.count == 1)
        self.unnamed["element"] += dots.unnamed
        self._keep_off_ideal(ideal)
        self._skew()
        for life in self.scene.lives:
            if len(life.sources) > 1:
                self._merge(life)
        dots.values()

    # -- axes --------------------------------------------------------------------------------

    def axes(self, across: bool, upwards: bool) -> None:
        """Draw the grid, and write on the axes that are asked for."""
        frame, drawing = self.frame, self.drawing
        drawing.line("axis", (frame.left, frame.bottom), (frame.right, frame.bottom))
        for x, text in self._instants():
            drawing.line("grid", (x, frame.top), (x, frame.bottom))
            if across:
                drawing.line("tick", (x, frame.bottom), (x, frame.bottom + 5))
                drawing.text("instant", text, x, frame.bottom + 15, text_anchor="middle")
        for tick in self._thinned():
            y = frame.y(tick.row)
            drawing.line("grid", (frame.left, y), (frame.right, y))
            if upwards:
                drawing.line("tick", (frame.left - 5, y), (frame.left, y))
                drawing.text("row", tick.label, frame.left - 9, y, text_anchor="end")

    def _instants(self) -> list[tuple[float, str]]:
        """The labels of event time, as near to each other as they can be read."""
        scene, wide = self.scene, int(self.frame.right - self.frame.left)
        kept: list[tuple[float, str]] = []
        for least in (50, 85):
            ticks = round_instants(scene.event, *scene.span, max(wide // least, 2), scene.zone)
            kept = list(self._apart(ticks))
            if len(kept) == len(ticks):
                break
        return kept

    def _apart(self, ticks: Sequence[tuple[int, str]]) -> Iterator[tuple[float, str]]:
        reach = 0.0
        for instant, text in ticks:
            x = self.frame.x(self.scene.event.position(instant))
            half = text_width(text, "instant") / 2 + 5
            if x - half > reach and x + half < self.room:
                yield x, text
                reach = x + half

    def _thinned(self) -> list[RowLabel]:
        """The labels of rows that find room, the strong ones first."""
        kept: list[RowLabel] = []
        for tick in sorted(self.scene.ticks, key=lambda tick: (not tick.strong, tick.row)):
            apart = (17 if tick.strong else 21) / self.frame.row_height
            if "\n" in tick.label:
                apart *= 2
            if all(abs(tick.row - other.row) >= apart for other in kept):
                kept.append(tick)
        return kept

    def _folds(self) -> None:
        frame = self.frame
        for fold in self.scene.folds:
            x, y = frame.left, frame.y(fold.row)
            self.drawing.line("fold", (x, y), (frame.right, y))
            places = [LabelPlace(x + 6, y + down) for down in (0, -9, 9)]
            self.labels.put("aside", [fold.label], places)
        for start, end in self.scene.event.folds:
            x = frame.x(self.scene.event.position(start))
            self.drawing.line("fold", (x, frame.top), (x, frame.bottom))
            heights = range(int(frame.top) + 3, int(frame.bottom), 18)
            places = [LabelPlace(x, y, "middle", "below") for y in heights]
            self.labels.put("aside", [f"{show_roughly(end - start)} left out"], places)

    # -- windows and panes -------------------------------------------------------------------

    def _lives(self) -> None:
        column, drawing = self.drawing.palette.column, self.drawing
        opacity = int(column[7:], 16) / 255 * self._seen
        faint = {"stroke_opacity": 0.65 * self._seen}
        for life in self.scene.lives:
            left, right = self.frame.ends(life.window)
            low, high = self.frame.y(life.opened), self.frame.y(life.ended)
            edges = (left, high, right, low)
            drawing.area("window", edges, fill=column[:7], fill_opacity=f"{opacity:.4f}")
            if isinstance(life.window, IntervalWindow):
                closed = high if life.closed is None else self.frame.y(life.closed)
                for x in (left, right):
                    drawing.line("edge", (x, low), (x, closed), **faint)
                    if closed > high:
                        drawing.line("closed", (x, closed), (x, high), **faint)
            if life.end is End.EXPIRED:
                drawing.line("window expires", (left, high), (right, high), **faint)
                self._keep_clear(left, right, high)
            if life.sources:
                drawing.line("edge", (left, low), (right, low))
                self._keep_clear(left, right, low)

    def _merge(self, life: Life) -> None:
        """Say that windows merged, where there is room in what they made."""
        left, right = self.frame.ends(life.window)
        if self.frame.row_height > 14:
            place = LabelPlace(right - 6, self.frame.y(life.opened) - 2, "end", "above")
            self.labels.put("merge", [f"{len(life.sources)} windows merge"], [place], (left, right))

    def _box(self, box: Box) -> None:
        """A pane: the area of what it holds, from where that began up to where it fires."""
        left, right = self.frame.ends(box.window)
        low, high = self.frame.y(box.below), self.frame.y(box.row)
        is_withdrawn = box.withdrawn is not None
        name = "withdrawn" if is_withdrawn else box.timing.lower().replace("_", " ")
        seen = self._seen * (0.4 if is_withdrawn else 1.0)
        edges = (left, high, right, low)
        self.drawing.pane(box.timing, edges, f"{name} pane", seen, 0.6 if is_withdrawn else 1.0)
        if box.withdrawn is not None:
            end = self.frame.y(box.withdrawn)
            self.drawing.line("withdrawal", (left, end), (right, end))
        for y in (low, high):
            self._keep_clear(left, right, y)

    def _keep_clear(self, left: float, right: float, y: float) -> None:
        """No label stands on a line: it would look struck out."""
        self.labels.keep_clear(left, y - 1.2, right, y + 1.2)

    def _name(self, box: Box) -> None:
        """The name and the value of a pane, under its upper edge, inside its own window."""
        left, right = self.frame.ends(box.window)
        short = f"#{box.index}" if box.index is not None else box.name
        named = [f"{box.name}: {text}" for text in shortened(box.label)] if box.label else []
        look = "pane" if box.withdrawn is None else "withdrawn"
        texts = [*named, *shortened(box.label)[:1], box.name, short]
        fitting = [text for text in texts if text_width(text, look) <= right - left - 6]
        sides = [(left + 4, "start"), ((left + right) / 2, "middle"), (right - 4, "end")]
        places = [
            LabelPlace(x, y, anchor, side)
            for y, side in self._heights(box, look)
            for x, anchor in sides
        ]
        put = self.labels.put(look, fitting, places, (left, right), css_class="pane")
        if put is None:
            self.unnamed["pane"] += 1
        elif look == "withdrawn":
            middle = (put[1] + put[3]) / 2
            self.drawing.line("struck", (put[0], middle), (put[2], middle))

    def _heights(self, box: Box, look: str) -> Iterator[tuple[float, str]]:
        """Under its upper edge or over it; of many panes not past others of that window."""
        rows = [other.row for other in self.scene.boxes if other.window == box.window]
        floor = self.frame.y(max([box.below, *(row for row in rows if row < box.row)]))
        ceiling = self.frame.y(min([self.scene.rows[1], *(row for row in rows if row > box.row)]))
        y, high = self.frame.y(box.row), text_height(look)
        yield y + 2, "below"
        if y - 2 - high >= ceiling:
            yield y - 2, "above"
        few = len(self.scene.boxes) <= _FEW
        for down in (16, 30, 44, 58):
            if few or y + down + high <= floor:
                yield y + down, "below"

    # -- both times --------------------------------------------------------------------------

    def _keep_off_ideal(self, points: Sequence[tuple[float, float]]) -> None:
        """No further label stands on the ideal line. Names may, where they find no other room."""
        for (x0, y0), (x1, y1) in pairwise(points):
            dots = ceil(max(abs(x1 - x0), abs(y1 - y0)) / 6)
            for part in range(dots):
                x, y = x0 + (x1 - x0) * part / dots, y0 + (y1 - y0) * part / dots
                self.labels.keep_clear(x - 1, y - 1, x + 1, y + 1)

    def _skew(self) -> None:
        """How far the watermark is from that line, with its length where there is room."""
        skew = self.scene.skew
        if skew is None:
            return
        x, low = self.frame.point(skew.event, skew.ideal)
        high = self.frame.y(skew.row)
        heights = [low + (high - low) * part for part in (0.5, 0.3, 0.7, 0.15, 0.85)]
        sides = (5, "start"), (-5, "end")
        places = [LabelPlace(x + aside, y, anchor) for y in heights for aside, anchor in sides]
        text = f"skew {show_roughly(skew.late)}"
        long_enough = low - high >= _SHORTEST_SKEW
        if long_enough and self.labels.put("reached", [text], places, css_class="skew"):
            for y in (low, high):
                self.drawing.line("skew", (x - 4, y), (x + 4, y), css_class="end")
            self.drawing.line("skew", (x, low), (x, high))
            self.labels.keep_clear(x - 3, high, x + 3, low)

    def _watermark(self) -> None:
        scene, frame = self.scene, self.frame
        if not scene.watermark:
            return
        points = [(frame.left, frame.bottom)]
        for row, watermark in scene.watermark:
            x, y = frame.point(min(max(watermark, scene.span[0]), scene.span[1]), row)
            points += [(points[-1][0], y), (x, y)]
        points.append((points[-1][0], frame.y(scene.rows[1] if scene.now is None else scene.now)))
        self.drawing.line("watermark", *points)
        for (x0, y0), (x1, y1) in pairwise(points):
            self.labels.keep_clear(x0 - 1, y1 - 1, x1 + 1, y0 + 1)
        for row, watermark in scene.watermark:
            if watermark > scene.span[1] and scene.zone is UTC:
                x, y = frame.right - 4, frame.y(row)
                sides = (-3, "above"), (3, "below")
                places = [LabelPlace(x, y + down, "end", side) for down, side in sides]
                self.labels.put("reached", [f"watermark {show_instant(watermark)} >"], places)

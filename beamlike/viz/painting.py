"""One panel of a picture: a scene on the axes of matplotlib."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from itertools import pairwise
from math import ceil
from typing import Any, Final

from beamlike.model.time import show_instant
from beamlike.model.windows import IntervalWindow
from beamlike.palette.colours import Palette, timing_of
from beamlike.viz.axis import round_instants, show_roughly
from beamlike.viz.dots import Dots, LabelPlace, Labels, shortened
from beamlike.viz.scene import Box, End, Life, Scene, Tick

_NAMES: Final = 8.0
"""The size of the names of panes (points)."""
_WATERMARK: Final = (0, (3.2, 1.4))
_IDEAL: Final = (0, (0.8, 4))
_FOLD: Final = (0, (1, 3))
_WITHDRAWAL: Final = (0, (2, 2))
_FEW: Final = 20
"""The names of so many panes may stand where they are not next to their edge."""
_SHORTEST_SKEW: Final = 24.0
"""A shorter distance (pixels) of the watermark from the ideal line has no label."""
_BESIDE: Final = ((5, "left"), (-5, "right"))
_MANY: Final = 4
"""Where more windows than these lie over each other, each is drawn the fainter."""


class Panel:
    """A scene that is being drawn."""

    def __init__(self, scene: Scene, axes: Any, renderer: Any, palette: Palette) -> None:
        self.scene, self.axes, self.palette = scene, axes, palette
        start, end = (scene.event.position(edge) for edge in scene.span)
        axes.set_xlim(start, max(end, start + 1))
        axes.set_ylim(*scene.rows)
        self.labels = Labels(axes, renderer)
        self.unnamed: dict[str, int] = {}
        """How many labels found no room, by what they would have named."""
        self.top = scene.rows[1] if scene.now is None else scene.now
        self.row_height = self.labels.to_pixels(0, 1)[1] - self.labels.to_pixels(0, 0)[1]
        self._seen = min(1.0, _MANY / scene.lanes)
        self._backed = {"facecolor": palette.paper, "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
        """The ground of words that stand over something else."""

    def draw(self) -> None:
        """Draw everything."""
        self._frame()
        self._lives()
        for box in self.scene.boxes:
            self._box(box)
        self._ideal()
        self._watermark()
        dots = Dots(self.scene, self.labels, self.row_height, self.palette)
        dots.draw()
        self._folds()
        dots.name(lambda mark: mark.refused or mark.count > 1)
        for box in self.scene.boxes:
            self._name(box)
        dots.name(lambda mark: not mark.refused and mark.count == 1)
        self._unnamed("element", dots.unnamed)
        self._skew()
        for life in self.scene.lives:
            if len(life.sources) > 1:
                self._merge(life)
        self._keep_off_ideal()
        dots.values()

    # -- axes --------------------------------------------------------------------------------

    def _frame(self) -> None:
        axes, colours = self.axes, self.palette
        axes.set_facecolor(colours.paper)
        axes.tick_params(color=colours.muted, labelcolor=colours.muted)
        axes.grid(axis="both", color=colours.faint, zorder=0)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(colours.line)
        across = self._instants()
        axes.set_xticks(
            [instant for instant, _ in across], [words for _, words in across], fontsize=9
        )
        rows = self._thinned()
        axes.set_yticks([tick.at for tick in rows], [tick.label for tick in rows], fontsize=8.5)

    def _instants(self) -> list[tuple[int, str]]:
        """The labels of event time, as near to each other as they can be read."""
        scene, wide = self.scene, int(self.axes.bbox.width)
        kept: list[tuple[int, str]] = []
        for least in (50, 85):
            most = max(wide // least, 2)
            ticks = round_instants(scene.event, *scene.span, most=most, zone=scene.zone)
            kept = list(self._apart(ticks))
            if len(kept) == len(ticks):
                break
        return kept

    def _apart(self, ticks: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        reach = 0.0
        for instant, words in ticks:
            across = self.scene.event.position(instant)
            place = self.labels.to_pixels(across, 0)[0]
            half = self.labels.room(words, 9) / 2 + 5
            if place - half > reach and place + half < self.axes.figure.bbox.width:
                yield across, words
                reach = place + half

    def _thinned(self) -> list[Tick]:
        """The labels of rows that find room, the strong ones first."""
        strong, weak = 12.0 / self.row_height, 15.0 / self.row_height
        kept: list[Tick] = []
        for tick in sorted(self.scene.ticks, key=lambda tick: (not tick.strong, tick.at)):
            if all(abs(tick.at - other.at) >= (strong if tick.strong else weak) for other in kept):
                kept.append(tick)
        return sorted(kept, key=lambda tick: tick.at)

    def _folds(self) -> None:
        axes, scene = self.axes, self.scene
        style = {"color": self.palette.muted, "lw": 1.2, "linestyle": _FOLD, "zorder": 1}
        for fold in scene.folds:
            axes.axhline(fold.at, **style)
            x, y = self.labels.to_pixels(axes.get_xlim()[0], fold.at)
            self._aside(
                fold.label,
                [LabelPlace(x + 6, y), LabelPlace(x + 6, y + 9), LabelPlace(x + 6, y - 9)],
            )
        for start, end in scene.event.folds:
            fold_x = scene.event.position(start)
            axes.axvline(fold_x, **style)
            x, _ = self.labels.to_pixels(fold_x, 0)
            heights = range(int(axes.bbox.y1) - 3, int(axes.bbox.y0), -18)
            words = f"{show_roughly(end - start)} left out"
            self._aside(words, [LabelPlace(x, up, "center", "top") for up in heights])

    def _aside(self, words: str, places: Sequence[LabelPlace]) -> None:
        style: dict[str, Any] = {"style": "italic", "color": self.palette.muted, "zorder": 7}
        self.labels.put([words], places, 8.5, bbox=self._backed, **style)

    # -- windows and panes -------------------------------------------------------------------

    def _lives(self) -> None:
        from matplotlib.patches import Rectangle

        edges: list[tuple[float, float, float, float]] = []  # of all at once: there may be many
        closed, expired = list(edges), list(edges)
        for life in self.scene.lives:
            left, right = self.scene.edges(life.window)
            corner, size = (left, life.opened), (right - left, life.ended - life.opened)
            ground = Rectangle(corner, *size, facecolor=self.palette.column, lw=0, zorder=1)
            ground.set_alpha(int(self.palette.column[7:], 16) / 255 * self._seen)
            ground.set_gid("window")
            self.axes.add_patch(ground)
            if isinstance(life.window, IntervalWindow):
                ended = life.ended if life.closed is None else life.closed
                edges += [(edge, life.opened, edge, ended) for edge in (left, right)]
                closed += [(edge, ended, edge, life.ended) for edge in (left, right)]
            if life.end is End.EXPIRED:
                expired.append((left, life.ended, right, life.ended))
            if life.sources:
                edges.append((left, life.opened, right, life.opened))
                self._keep_clear(left, right, life.opened)
        style = {"colors": self.palette.muted, "alpha": 0.65 * self._seen, "zorder": 2}
        self._lines(edges, linewidths=1, **style)
        self._lines(closed, linewidths=1, linestyles=":", **style)
        self._lines(expired, label="window expires", linewidths=2.5, **style | {"zorder": 4})

    def _lines(self, lines: Sequence[tuple[float, float, float, float]], **style: Any) -> None:
        from matplotlib.collections import LineCollection

        if lines:
            pairs = [[(x0, y0), (x1, y1)] for x0, y0, x1, y1 in lines]
            self.axes.add_collection(LineCollection(pairs, **style), autolim=False)

    def _merge(self, life: Life) -> None:
        """Say that windows merged, where there is room in what they made."""
        left, right = (
            self.labels.to_pixels(edge, life.opened) for edge in self.scene.edges(life.window)
        )
        words = f"{len(life.sources)} windows merge"
        style = {"style": "italic", "color": self.palette.muted}
        if self.row_height > 14:
            places = [LabelPlace(right[0] - 6, right[1] + 2, "right", "bottom")]
            self.labels.put([words], places, 7.5, (left[0], right[0]), **style)

    def _box(self, box: Box) -> None:
        """A pane: the area of what it holds, from where that began up to where it fires."""
        from matplotlib.patches import Rectangle

        left, right = self.scene.edges(box.window)
        look, colour = timing_of(box.timing), self.palette.of(box.timing)
        gone = box.withdrawn is not None
        seen = self._seen * (0.4 if gone else 1.0)
        corner, size = (left, box.below), (right - left, box.at - box.below)
        name = "withdrawn" if gone else box.timing.lower().replace("_", " ")
        area = Rectangle(corner, *size, facecolor=_rgba(colour, look.ground * seen))
        area.set(edgecolor=_rgba(colour, 0.42 * seen), hatch=look.hatch, lw=0, zorder=2)
        area.set_label(f"{name} pane")
        self.axes.add_patch(area)
        edge = Rectangle(corner, *size, facecolor="none", edgecolor=colour, lw=1.5, zorder=3)
        edge.set(linestyle=(0, look.dashes) if look.dashes else "-", alpha=0.6 if gone else 1.0)
        edge.set_gid("outline")
        self.axes.add_patch(edge)
        if box.withdrawn is not None:
            heights = [box.withdrawn, box.withdrawn]
            style = {"color": self.palette.muted, "lw": 1.3, "ls": _WITHDRAWAL, "zorder": 4}
            self.axes.plot([left, right], heights, label="withdrawal", **style)
        for row in (box.below, box.at):
            self._keep_clear(left, right, row)

    def _keep_clear(self, left: float, right: float, row: float) -> None:
        """No label stands on a line: it would look struck out."""
        x0, y = self.labels.to_pixels(left, row)
        x1, _ = self.labels.to_pixels(right, row)
        self.labels.keep_clear(x0, y - 1.2, x1, y + 1.2)

    def _name(self, box: Box) -> None:
        """The name and the value of a pane, under its upper edge, inside its own window."""
        left, right = self.scene.edges(box.window)
        x0, y = self.labels.to_pixels(left, box.at)
        x1, _ = self.labels.to_pixels(right, box.at)
        short = f"#{box.index}" if box.index is not None else box.name
        named = [f"{box.name}: {text}" for text in shortened(box.label)] if box.label else []
        words = [*named, *shortened(box.label)[:1], box.name, short]
        fitting = [text for text in words if self.labels.room(text, _NAMES) <= x1 - x0 - 6]
        sides = [(x0 + 4, "left"), ((x0 + x1) / 2, "center"), (x1 - 4, "right")]
        heights = list(self._heights(box, y))
        places = [
            LabelPlace(x, height, across, up) for height, up in heights for x, across in sides
        ]
        gone = box.withdrawn is not None
        colour = self.palette.muted if gone else self.palette.ink
        put = self.labels.put(fitting, places, _NAMES, (x0, x1), color=colour)
        if put is None:
            self._unnamed("pane")
            return
        put[0].set_gid("pane")
        if gone:
            _, bottom, _, top = put[1]
            self._strike(put[1][0], put[1][2], (bottom + top) / 2)

    def _heights(self, box: Box, y: float) -> Iterator[tuple[float, str]]:
        """Under the edge at ``y`` or over it; of many panes not past others of that window."""
        heights = [
            other.at
            for other in self.scene.boxes
            if other.window == box.window and other.at != box.at
        ]
        floor = max([box.below, *(height for height in heights if height < box.at)])
        ceiling = min([self.scene.rows[1], *(height for height in heights if height > box.at)])
        least, most = (self.labels.to_pixels(0, row)[1] for row in (floor, ceiling))
        high = self.labels.height(_NAMES)
        yield y - 2, "top"
        if y + 2 + high <= most:
            yield y + 2, "bottom"
        few = len(self.scene.boxes) <= _FEW
        for down in (16, 30, 44, 58):
            if few or y - down - high >= least:
                yield y - down, "top"

    def _strike(self, left: float, right: float, up: float) -> None:
        """A line through words, from left to right (pixels)."""
        (x0, y), (x1, _) = self.labels.to_data(left, up), self.labels.to_data(right, up)
        style = {"color": self.palette.ink, "lw": 0.9, "zorder": 10, "gid": "struck"}
        self.axes.plot([x0, x1], [y, y], clip_on=False, **style)

    # -- both times --------------------------------------------------------------------------

    def _ideal(self) -> None:
        """The line on which event time and processing time are one."""
        xs = [self.scene.event.position(instant) for _, instant in self.scene.ideal]
        ys = [row for row, _ in self.scene.ideal]
        style = {"color": self.palette.muted, "lw": 1.2, "linestyle": _IDEAL, "zorder": 2}
        if xs:
            words = "event time = processing time"
            self.axes.plot(xs, ys, label=words, dash_capstyle="round", **style)

    def _keep_off_ideal(self) -> None:
        """No value stands on the ideal line. Names of panes may, where they find no other room."""
        ends = [
            self.labels.to_pixels(self.scene.event.position(instant), row)
            for row, instant in self.scene.ideal
        ]
        for (x0, y0), (x1, y1) in pairwise(ends):
            dots = ceil(max(abs(x1 - x0), abs(y1 - y0)) / 6)
            for part in range(dots):
                x, y = x0 + (x1 - x0) * part / dots, y0 + (y1 - y0) * part / dots
                self.labels.keep_clear(x - 1, y - 1, x + 1, y + 1)

    def _skew(self) -> None:
        """How far the watermark is from that line, with its length where there is room."""
        skew = self.scene.skew
        if skew is None:
            return
        across = self.scene.event.position(skew.event)
        x, low = self.labels.to_pixels(across, skew.ideal)
        _, high = self.labels.to_pixels(across, skew.at)
        parts = (0.5, 0.3, 0.7, 0.15, 0.85)
        heights = [low + (high - low) * part for part in parts]
        places = [LabelPlace(x + off, y, side) for y in heights for off, side in _BESIDE]
        words, colour = f"skew {show_roughly(skew.late)}", self.palette.water
        put = None
        if high - low >= _SHORTEST_SKEW:
            put = self.labels.put([words], places, color=colour, bbox=self._backed)
        if put is not None:
            put[0].set_gid("skew")
            style = {"color": colour, "lw": 1.1, "marker": "_", "ms": 6, "zorder": 5}
            self.axes.plot([across, across], [skew.ideal, skew.at], label="skew", **style)
            self.labels.keep_clear(x - 3, low, x + 3, high)

    def _watermark(self) -> None:
        scene, colour = self.scene, self.palette.water
        xs = [scene.event.position(scene.span[0])]
        ys = [scene.rows[0]]
        for row, watermark in scene.watermark:
            position = scene.event.position(min(max(watermark, scene.span[0]), scene.span[1]))
            xs += [xs[-1], position]
            ys += [row, row]
        if scene.watermark:
            xs, ys = [*xs, xs[-1]], [*ys, self.top]
            style = {"color": colour, "lw": 1.9, "linestyle": _WATERMARK, "zorder": 5}
            self.axes.plot(xs, ys, label="watermark", **style)
        for (x0, y0), (x1, y1) in pairwise(map(self.labels.to_pixels, xs, ys)):
            self.labels.keep_clear(
                min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1
            )
        rim = self.axes.get_xlim()[1]
        for row, watermark in scene.watermark:
            if watermark > scene.span[1] and scene.zone is UTC:
                x, y = self.labels.to_pixels(rim, row)
                spots = [
                    LabelPlace(x - 4, y + 3, "right", "bottom"),
                    LabelPlace(x - 4, y - 3, "right", "top"),
                ]
                words = f"watermark {show_instant(watermark)} >"
                self.labels.put([words], spots, 8, color=colour, bbox=self._backed)

    def _unnamed(self, noun: str, number: int = 1) -> None:
        if number:
            self.unnamed[noun] = self.unnamed.get(noun, 0) + number


def _rgba(colour: str, alpha: float) -> tuple[float, float, float, float]:
    red, green, blue = (int(colour[index : index + 2], 16) / 255 for index in (1, 3, 5))
    return red, green, blue, alpha

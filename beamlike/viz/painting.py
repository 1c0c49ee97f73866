"""One panel of a picture: a scene on the axes of matplotlib."""

from collections.abc import Sequence
from datetime import UTC
from itertools import pairwise
from typing import Any, Final

from beamlike.model.time import show_duration, show_instant
from beamlike.model.windows import IntervalWindow
from beamlike.viz.axis import round_instants
from beamlike.viz.dots import Dots
from beamlike.viz.labels import Labels, Place, shortened
from beamlike.viz.palette import COLOURS, DROPPED, FAINT, HATCHES, INK, OTHER, SOFT
from beamlike.viz.scene import Box, End, Life, Scene

__all__ = ["Panel"]

_IN_MARGIN: Final = 10
"""The panes of a single window stand in the margin, up to so many."""
_LANE_HEIGHT: Final = 0.45
_NAMES: Final = 8.0
"""The size of the names of panes (points)."""
_BACKED: Final = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
"""The ground of words that stand over something else."""
_BESIDE: Final = 20
"""The names of so many panes may stand beside them, where there is no room inside."""


class Panel:
    """A scene that is being drawn.

    Args:
        scene: What to draw.
        axes: Where to.
        renderer: What measures texts.
        alone: Whether there is a margin to the right for the names of panes.
    """

    def __init__(self, scene: Scene, axes: Any, renderer: Any, *, alone: bool = False) -> None:
        self.scene, self.axes = scene, axes
        self.in_margin = alone and single_window(scene)
        start, end = (scene.event.position(edge) for edge in scene.span)
        axes.set_xlim(start, max(end, start + 1))
        axes.set_ylim(*scene.rows)
        self.labels = Labels(axes, renderer)
        self.unnamed: dict[str, int] = {}
        """How many labels found no room, by what they would have named."""
        self._bottoms: dict[Any, set[float]] = {}
        for box in scene.boxes:
            self._bottoms.setdefault(box.window, set()).add(box.below)
        self.row_height = self.labels.to_pixels(0, 1)[1] - self.labels.to_pixels(0, 0)[1]

    def draw(self, *, last: bool = True) -> None:
        """Draw everything.

        Args:
            last: Whether event time is to be written below.
        """
        self._frame(last)
        self._lives()
        for box in self.scene.boxes:
            self._box(box)
        self._watermark()
        dots = Dots(self.scene, self.labels, self.row_height)
        dots.draw()
        self._folds()
        dots.name(lambda mark: mark.refused or mark.count > 1)
        if self.in_margin:
            self._margin()
        else:
            for box in self.scene.boxes:
                self._name(box)
        dots.name(lambda mark: not mark.refused and mark.count == 1)
        self._unnamed("element", dots.unnamed)
        for life in self.scene.lives:
            if len(life.sources) > 1:
                self._merge(life)

    # -- axes --------------------------------------------------------------------------------

    def _frame(self, last: bool) -> None:
        axes, scene = self.axes, self.scene
        width = axes.bbox.width
        ticks = round_instants(
            scene.event, *scene.span, most=max(int(width / 85), 2), zone=scene.zone
        )
        kept: list[tuple[int, str]] = []
        reach = 0.0
        for at, words in ticks:
            place = self.labels.to_pixels(scene.event.position(at), 0)[0]
            half = self.labels.room(words, 9) / 2 + 5
            if place - half > reach:
                kept.append((scene.event.position(at), words))
                reach = place + half
        axes.set_xticks([at for at, _ in kept], [words for _, words in kept], fontsize=9)
        axes.tick_params(axis="x", labelbottom=last, color=FAINT)
        rows = self._thinned()
        axes.set_yticks([tick.at for tick in rows], [tick.label for tick in rows], fontsize=8.5)
        axes.tick_params(axis="y", color=FAINT)
        axes.grid(axis="y", color="#EEEEEE", zorder=0)
        axes.set_axisbelow(True)
        axes.set_ylabel(scene.arrival_axis, fontsize=10)
        if last:
            axes.set_xlabel(scene.event_axis, fontsize=10)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def _thinned(self) -> list[Any]:
        """The labels of rows that find room, the strong ones first."""
        strong, weak = 12.0 / self.row_height, 15.0 / self.row_height
        kept: list[Any] = []
        for tick in sorted(self.scene.ticks, key=lambda it: (not it.strong, it.at)):
            if all(abs(tick.at - it.at) >= (strong if tick.strong else weak) for it in kept):
                kept.append(tick)
        return sorted(kept, key=lambda it: it.at)

    def _folds(self) -> None:
        axes, scene = self.axes, self.scene
        left = axes.get_xlim()[0]
        for fold in scene.folds:
            axes.axhline(fold.at, color=FAINT, lw=1.2, linestyle=(0, (1, 3)), zorder=1)
            x, y = self.labels.to_pixels(left, fold.at)
            self._aside(fold.label, [Place(x + 6, y), Place(x + 6, y + 9), Place(x + 6, y - 9)])
        for start, end in scene.event.folds:
            at = scene.event.position(start)
            axes.axvline(at, color=FAINT, lw=1.2, linestyle=(0, (1, 3)), zorder=1)
            x, _ = self.labels.to_pixels(at, 0)
            heights = range(int(axes.bbox.y1) - 3, int(axes.bbox.y0), -18)
            words = f"{_roughly(end - start)} left out"
            self._aside(words, [Place(x, up, "center", "top") for up in heights])

    def _aside(self, words: str, places: Sequence[Place]) -> None:
        style = {"style": "italic", "color": SOFT, "zorder": 7}
        self.labels.put([words], places, 8.5, bbox=_BACKED, **style)

    # -- windows and panes -------------------------------------------------------------------

    def _lives(self) -> None:
        from matplotlib.patches import Rectangle

        # Where many windows lie above each other, the ground of each is the fainter.
        axes, lanes = self.axes, self.scene.lanes
        fill = 0.04 if lanes == 1 else min(0.02, 0.2 / lanes)
        edges: list[tuple[float, float, float, float]] = []  # of all at once: there may be many
        closed, expired = list(edges), list(edges)
        for life in self.scene.lives:
            left, right = self.scene.edges(life.window)
            corner, size = (left, life.opened), (right - left, life.ended - life.opened)
            axes.add_patch(
                Rectangle(corner, *size, facecolor=(0, 0, 0, fill), edgecolor="none", zorder=1)
            )
            edges.append((left, life.opened, right, life.opened))
            if isinstance(life.window, IntervalWindow):
                ended = life.ended if life.closed is None else life.closed
                edges += [(edge, life.opened, edge, ended) for edge in (left, right)]
                closed += [(edge, ended, edge, life.ended) for edge in (left, right)]
            if life.end is End.EXPIRED:
                expired.append((left, life.ended, right, life.ended))
        self._lines(edges, colors=FAINT, linewidths=1, zorder=2)
        self._lines(closed, colors=FAINT, linewidths=1, linestyles=":", zorder=2)
        style = {"colors": DROPPED, "linewidths": 1.5, "linestyles": (0, (1, 1.5)), "zorder": 4}
        self._lines(expired, label="window expires", **style)

    def _lines(self, lines: Sequence[tuple[float, float, float, float]], **style: Any) -> None:
        from matplotlib.collections import LineCollection

        if lines:
            pairs = [[(x0, y0), (x1, y1)] for x0, y0, x1, y1 in lines]
            self.axes.add_collection(LineCollection(pairs, **style), autolim=False)

    def _merge(self, life: Life) -> None:
        """Say that windows merged, where there is room in what they made."""
        left, right = (
            self.labels.to_pixels(at, life.opened) for at in self.scene.edges(life.window)
        )
        words, style = f"{len(life.sources)} windows merge", {"style": "italic", "color": SOFT}
        if self.row_height > 14 and right[0] - left[0] > self.labels.room(words, _NAMES) + 12:
            places = [Place(right[0] - 6, right[1] + 2, "right", "bottom")]
            self.labels.put([words], places, 7.5, **style)

    def _box(self, box: Box) -> None:
        from matplotlib.patches import Rectangle

        left, right = self.scene.edges(box.window)
        colour, hatch = COLOURS.get(box.timing, OTHER), HATCHES.get(box.timing, "")
        gone = box.withdrawn is not None
        below = self._below(box)
        self.axes.add_patch(
            Rectangle(
                (left, below),
                right - left,
                box.at - below,
                facecolor=_rgba(OTHER if gone else colour, 0.16 if gone else 0.22),
                edgecolor=_rgba(OTHER if gone else colour, 0.45),
                hatch="xx" if gone else hatch,
                lw=0,
                zorder=2,
                label=f"{box.timing.lower().replace('_', ' ')} pane"
                if not gone
                else "withdrawn pane",
            )
        )
        self.axes.plot(
            [left, right],
            [box.at, box.at],
            color=colour,
            lw=2.6,
            ls=(0, (2, 1)) if gone else "-",
            zorder=3,
            solid_capstyle="butt",
        )
        x0, y = self.labels.to_pixels(left, box.at)
        x1, _ = self.labels.to_pixels(right, box.at)
        self.labels.keep_clear(x0, y - 1.2, x1, y + 1.2)

    def _below(self, box: Box) -> float:
        """Where a pane begins: where windows overlap, panes are flat, to lie above each other."""
        if self.scene.lanes == 1:
            return box.below
        return max(box.below, box.at - _LANE_HEIGHT)

    def _name(self, box: Box) -> None:
        left, right = self.scene.edges(box.window)
        x0, y = self.labels.to_pixels(left, box.at)
        x1, floor = self.labels.to_pixels(right, self._below(box))
        gone = box.withdrawn is not None
        short = f"#{box.index}" if box.index is not None else box.name
        words = [*shortened(box.name, box.label), short]
        fitting = [text for text in words if self.labels.room(text, _NAMES) <= x1 - x0 - 6]
        high = self.labels.height(_NAMES)
        steps = [y - 2, y - 2 - 0.6 * self.row_height]
        tops = [up for up in steps if up - high >= floor - (2 if self.scene.lanes > 1 else 0)]
        covered = box.at in self._bottoms[box.window]  # by the next pane
        above = [] if covered else [y + 2]
        middle = (x0 + x1) / 2
        sides = [(x0 + 4, "left"), (x1 - 4, "right"), (middle, "center")]
        places = [Place(x, up, across, "top") for up in tops for x, across in sides]
        places += [Place(x, up, across, "bottom") for up in above for x, across in sides]
        colour = SOFT if gone else INK
        put = self.labels.put(fitting, places, _NAMES, color=colour)
        if put is None and len(self.scene.boxes) <= _BESIDE:
            beside = [Place(x1 + 4, y), Place(x0 - 4, y, "right")]
            names = shortened(box.name, box.label)
            put = self.labels.put(names, beside, _NAMES, color=colour, bbox=_BACKED)
        elif put is not None and put[1][1] > y:  # it stands over what lies above its pane
            put[0].set_bbox(_BACKED)
        if put is None:
            self._unnamed("pane")
        elif gone:
            _, bottom, _, top = put[1]
            self._strike(put[1][0], put[1][2], (bottom + top) / 2)

    def _strike(self, left: float, right: float, up: float) -> None:
        """A line through words, from left to right (pixels)."""
        (x0, y), (x1, _) = self.labels.to_data(left, up), self.labels.to_data(right, up)
        style = {"color": INK, "lw": 0.9, "zorder": 10, "clip_on": False, "gid": "struck"}
        self.axes.plot([x0, x1], [y, y], **style)

    def _margin(self) -> None:
        """The names of a single window's panes to the right of the axes, with leaders."""
        wanted = [(box.at, f"{box.name}: {box.label}", box) for box in self.scene.boxes]
        ends = [life.ended for life in self.scene.lives if life.end is End.EXPIRED]
        notes: list[tuple[float, str, Box | None]] = [
            *wanted,
            *((at, "the window expires", None) for at in ends[-1:]),
        ]
        notes.sort(key=lambda it: it[0])
        gap = 21.0 / self.row_height
        highest = self.scene.rows[1]
        places: list[float] = []
        for at, _, _ in notes:
            places.append(max(at, places[-1] + gap) if places else at)
        # Those that were pushed over the top go down again, as far as they must.
        for position in range(len(places) - 1, -1, -1):
            limit = highest if position + 1 == len(places) else places[position + 1] - gap
            places[position] = min(places[position], limit)
        right = self.axes.get_xlim()[1]
        for (at, words, box), place in zip(notes, places, strict=True):
            colour = DROPPED if box is None else COLOURS.get(box.timing, OTHER)
            gone = box is not None and box.withdrawn is not None
            if box is not None:
                edge = self.scene.edges(box.window)[1]
                self.axes.plot([edge, right], [at, at], color=colour, lw=1, zorder=2)
            self._noted(words if len(words) < 46 else words[:43] + "...", at, place, colour, gone)

    def _noted(self, words: str, at: float, place: float, colour: str, gone: bool) -> None:
        right, width = self.axes.get_xlim()[1], self.axes.get_xlim()[1] - self.axes.get_xlim()[0]
        self.axes.annotate(
            words,
            (right, at),
            xytext=(right + width * 0.035, place),
            fontsize=9,
            color=INK,
            va="center",
            annotation_clip=False,
            zorder=7,
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": colour, "boxstyle": "round,pad=0.25"},
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "lw": 1,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        if gone:
            x, y = self.labels.to_pixels(right + width * 0.035, place)
            self._strike(x, x + self.labels.room(words, 9), y)

    # -- elements and the watermark ----------------------------------------------------------

    def _watermark(self) -> None:
        scene = self.scene
        xs: list[float] = []
        ys: list[float] = []
        for row, watermark in scene.watermark:
            at = scene.event.position(min(max(watermark, scene.span[0]), scene.span[1]))
            if not xs:
                xs, ys = [scene.event.position(scene.span[0])], [row]
            xs += [xs[-1], at]
            ys += [row, row]
        if xs:
            style = {"color": INK, "lw": 1.8, "linestyle": (0, (5, 2)), "zorder": 5}
            xs, ys = [*xs, xs[-1]], [*ys, scene.rows[1]]
            self.axes.plot(xs, ys, label="watermark", **style)
        for (x0, y0), (x1, y1) in pairwise(map(self.labels.to_pixels, xs, ys)):
            self.labels.keep_clear(
                min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1
            )
        rim = self.axes.get_xlim()[1]
        for row, watermark in scene.watermark:
            if watermark > scene.span[1] and scene.zone is UTC:
                x, y = self.labels.to_pixels(rim, row)
                words = f"watermark {show_instant(watermark)} >"
                spots = [
                    Place(x - 4, y + 3, "right", "bottom"),
                    Place(x - 4, y - 3, "right", "top"),
                ]
                # Panes and their neighbours lie below: on paper of its own it is no part of them.
                self.labels.put([words], spots, 8, color=INK, bbox=_BACKED)
        if scene.never_late:
            ideal = [(scene.event.position(at), row) for row, at in scene.never_late]
            self.axes.plot(
                [x for x, _ in ideal],
                [y for _, y in ideal],
                color=FAINT,
                lw=1,
                linestyle=":",
                zorder=2,
                label="no delay at all",
            )

    def _unnamed(self, kind: str, number: int = 1) -> None:
        if number:
            self.unnamed[kind] = self.unnamed.get(kind, 0) + number


def single_window(scene: Scene) -> bool:
    """Whether the panes of a scene are few, of one window, and so can stand in a margin."""
    windows = {life.window for life in scene.lives} | {box.window for box in scene.boxes}
    return len(windows) == 1 and 0 < len(scene.boxes) <= _IN_MARGIN


def _roughly(length: int) -> str:
    """A duration without what is too small to matter."""
    unit = next((it for it in (60_000, 1_000) if length >= 60 * it), 1)
    return show_duration(length // unit * unit)


def _rgba(colour: str, alpha: float) -> tuple[float, float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue, alpha

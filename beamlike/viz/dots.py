"""The elements of a scene on paper, and words that keep clear of each other: each stands where it
fits, or not at all."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import attrs

from beamlike.model.windows import Window
from beamlike.palette.colours import Palette
from beamlike.viz.scene import Fate, Mark, Scene

_AIR: Final = 1.5
"""Pixels that stay free around a label."""


@attrs.frozen
class LabelPlace:
    """Where a label may stand: a point (pixels) and which side of it the text lies on.

    ``across`` is ``left``, ``center`` or ``right``: the part of the text at the point; ``up``
    likewise is ``bottom``, ``center`` or ``top``.
    """

    x: float
    y: float
    across: str = "left"
    up: str = "center"

    def box(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a text of that size."""
        left = self.x - {"left": 0.0, "center": width / 2, "right": width}[self.across]
        bottom = self.y - {"bottom": 0.0, "center": height / 2, "top": height}[self.up]
        return left, bottom, left + width, bottom + height


class Labels:
    """The labels of one panel.

    Args:
        axes: The axes of matplotlib that they are drawn in. They must not move afterwards.
        renderer: What measures texts.
    """

    def __init__(self, axes: Any, renderer: Any) -> None:
        self.axes, self._renderer = axes, renderer
        self._taken: list[tuple[float, float, float, float]] = []
        frame = axes.bbox
        self._frame = (frame.x0, frame.y0, frame.x1, frame.y1)
        self._size = cache(self._measure)

    def _measure(self, words: str, size: float, style: Any) -> tuple[float, float]:
        from matplotlib.font_manager import FontProperties

        font = FontProperties(size=size, style=style)
        measure = self._renderer.get_text_width_height_descent
        with missing_characters():
            lines = [measure(line or " ", font, False) for line in words.split("\n")]
            tallest = measure("lp|", font, False)[1]
        # Slanted characters are wider than measured.
        slant = 1.04 if style == "italic" else 1.0
        return slant * max(line[0] for line in lines), 1.15 * tallest * len(lines)

    def keep_clear(self, left: float, bottom: float, right: float, top: float) -> None:
        """No label may stand here (pixels)."""
        self._taken.append((left, bottom, right, top))

    def room(self, words: str, size: float) -> float:
        """The width of a text (pixels)."""
        return self._size(words, size, "normal")[0]

    def height(self, size: float) -> float:
        """The height of a line of text (pixels)."""
        return self._size("", size, "normal")[1]

    def put(
        self,
        words: Iterable[str],
        places: Iterable[LabelPlace],
        size: float = 8.0,
        within: tuple[float, float] | None = None,
        **style: Any,
    ) -> tuple[Any, tuple[float, float, float, float]] | None:
        """Write the first of these texts that fits at one of the places.

        Args:
            words: The texts, the best one first.
            places: Where it may stand, the best place first.
            size: In points.
            within: The ends (pixels) that it does not leave; None for those of the axes.
            style: As matplotlib's texts take it.

        Returns:
            The text and its bounds (pixels); None if there was no room for any.
        """
        spots = list(places)
        for text in words:
            width, height = self._size(text, size, style.get("style", "normal"))
            for place in spots:
                box = place.box(width, height)
                inside = within is None or within[0] <= box[0] <= box[2] <= within[1]
                if inside and self._free(box):
                    self._taken.append(box)
                    return self._write(text, box, size, style), box
        return None

    def _free(self, box: tuple[float, float, float, float]) -> bool:
        left, right = box[0] - _AIR, box[2] + _AIR
        bottom, top = box[1] - _AIR / 3, box[3] + _AIR / 3
        x0, y0, x1, y1 = self._frame
        if left < x0 or bottom < y0 or right > x1 or top > y1:
            return False
        return not any(
            left < other[2] and other[0] < right and bottom < other[3] and other[1] < top
            for other in self._taken
        )

    def _write(
        self,
        words: str,
        box: tuple[float, float, float, float],
        size: float,
        style: dict[str, Any],
    ) -> Any:
        x, y = self.to_data(box[0], (box[1] + box[3]) / 2)
        return self.axes.text(
            x,
            y,
            words,
            fontsize=size,
            ha="left",
            va="center",
            parse_math=False,
            **{"zorder": 9, **style},
        )

    def to_data(self, x: float, y: float) -> tuple[float, float]:
        """A point in pixels as one of the data, which moves along when the picture is scaled."""
        across, up = self.axes.transData.inverted().transform((x, y))
        return float(across), float(up)

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """A point of the data in pixels."""
        across, up = self.axes.transData.transform((x, y))
        return float(across), float(up)


@contextmanager
def missing_characters() -> Iterator[None]:
    """Ignore that the font lacks a character of a value: a box stands for it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def shortened(text: str, lengths: Iterable[int] = (40, 24, 12)) -> list[str]:
    """A text in full, then shorter and shorter."""
    return [text, *(f"{text[: n - 3]}..." for n in lengths if len(text) > n)]


_LABELLED: Final = 60
"""Of more elements than these, only those that a window refused have their values beside them."""
_NEAR: Final = 7.0
"""Elements of one step that are closer than this (pixels) are drawn as one, with their number."""
_READABLE: Final = 8.0
"""Rows less high than this (pixels) have no values of elements beside them."""
_COIN: Final = 10.0
"""The radius (pixels) of a dot whose value stands in it."""
_ROOM_IN_COIN: Final = 15.0
_WORDS: Final = 8.0
_SMALL: Final = 7.5


def dot_style(fate: Fate, palette: Palette) -> dict[str, Any]:
    """How an element of that fate is drawn, as ``scatter`` takes it."""
    paper, ink = palette.paper, palette.ink
    return {
        Fate.TAKEN: {"marker": "o", "s": 40, "facecolor": ink, "edgecolor": paper, "lw": 1},
        Fate.LATE: {"marker": "o", "s": 40, "facecolor": paper, "edgecolor": ink, "lw": 1.6},
        Fate.DROPPED: {"marker": "X", "s": 80, "facecolor": palette.lost, "edgecolor": paper}
        | {"lw": 0.8},
        Fate.NOWHERE: {"marker": "+", "s": 60, "color": palette.muted, "lw": 1.6},
    }[fate]


class Dots:
    """The elements of a panel.

    Args:
        scene: Whose elements.
        labels: What places words in the panel.
        row_height: The height of a row (pixels).
        palette: The colours.
    """

    def __init__(self, scene: Scene, labels: Labels, row_height: float, palette: Palette) -> None:
        self._scene, self._labels, self._palette = scene, labels, palette
        self._row_height = row_height
        self._marks = self._together()
        self._crowded = len(scene.marks) > _LABELLED or row_height < _READABLE
        self._names: dict[tuple[int, float], tuple[float, float, float, float]] = {}
        """The bounds (pixels) of the values beside elements."""
        self.unnamed = 0
        """How many values found no room."""

    def name(self, chosen: Callable[[Mark], bool]) -> None:
        """Write the values of those that are chosen."""
        for mark in self._marks:
            if chosen(mark) and not self._is_coin(mark):
                self._value(mark)

    def _together(self) -> list[Mark]:
        """The elements, those of a row and fate that would cover each other as one."""
        drawn: list[Mark] = []
        last: dict[tuple[float, Fate], int] = {}
        for mark in sorted(self._scene.marks, key=lambda mark: (mark.at, mark.event)):
            place = (mark.at, mark.fate)
            before = drawn[last[place]] if place in last else None
            if before is not None and self._place(mark)[0] - self._place(before)[0] < _NEAR:
                reason = before.reason if before.reason == mark.reason else "several reasons"
                count = before.count + mark.count
                drawn[last[place]] = attrs.evolve(before, count=count, label="", reason=reason)
                continue
            last[place] = len(drawn)
            drawn.append(mark)
        return drawn

    def _place(self, mark: Mark) -> tuple[float, float]:
        return self._labels.to_pixels(self._scene.event.position(mark.event), mark.at)

    def _is_coin(self, mark: Mark) -> bool:
        """Whether the value stands in the dot."""
        fitting = self._labels.room(mark.label, _WORDS) <= _ROOM_IN_COIN
        plain = mark.count == 1 and not mark.reason and mark.fate in (Fate.TAKEN, Fate.LATE)
        return plain and bool(mark.label) and fitting and not self._crowded

    def draw(self) -> None:
        """Draw them, and let no label stand on them."""
        scale = 1.0 if self._row_height > 14 else 0.5 if self._row_height > 6 else 0.3
        for fate in Fate:
            mine = [mark for mark in self._marks if mark.fate is fate]
            if not mine:
                continue
            style = dot_style(fate, self._palette)
            plain = style["s"] * scale
            coin = (2 * _COIN * 72 / self._labels.axes.figure.dpi) ** 2
            sizes = [
                coin if self._is_coin(it) else plain * (1.6 if it.count > 1 else 1) for it in mine
            ]
            self._labels.axes.scatter(
                [self._scene.event.position(mark.event) for mark in mine],
                [mark.at for mark in mine],
                zorder=8,
                label=fate.value,
                clip_on=False,
                **{**style, "s": sizes},
            )
        for mark in self._marks:
            reach = _COIN if self._is_coin(mark) else 4.5 * scale**0.5
            x, y = self._place(mark)
            self._labels.keep_clear(x - reach, y - reach, x + reach, y + reach)
            if self._is_coin(mark):
                self._inside(mark)

    def values(self) -> None:
        """Write the value of a window so far beside an element, inside that window."""
        if self._crowded:
            return
        for running in self._scene.running:
            left, right = self._ends(running.window)
            across = self._scene.event.position(running.event)
            x, y = self._labels.to_pixels(across, running.at)
            places = []
            if name := self._names.get((running.event, running.at)):
                middle = (name[1] + name[3]) / 2
                places += [
                    LabelPlace(name[2] + 3, middle),
                    LabelPlace(name[0] - 3, middle, "right"),
                ]
            # Rather not at the height of the element, where panes begin and windows merge.
            beside = [(_COIN + 2, "left"), (-_COIN - 2, "right")]
            places += [
                LabelPlace(x + off, y + up, side) for up in (10, -10, 0) for off, side in beside
            ]
            places += [LabelPlace(x, y + _COIN + 2, "center", "bottom")]
            places += [LabelPlace(x, y - _COIN - 2, "center", "top")]
            words = [f"= {it}" for it in shortened(running.value, (24, 12))]
            style = {"color": self._palette.muted, "gid": "running"}
            self._labels.put(words, places, _SMALL, (left, right), **style)

    def _inside(self, mark: Mark) -> None:
        colour = self._palette.ink if mark.fate is Fate.LATE else self._palette.paper
        style = {"ha": "center", "va": "center_baseline", "weight": "bold", "zorder": 9}
        at = (self._scene.event.position(mark.event), mark.at)
        text = self._labels.axes.text(
            *at, mark.label, color=colour, fontsize=_WORDS, parse_math=False, **style
        )
        text.set_gid("coin")

    def _ends(self, window: Window) -> tuple[float, float]:
        """Where a window begins and ends (pixels)."""
        left, right = (self._labels.to_pixels(edge, 0)[0] for edge in self._scene.edges(window))
        return left, right

    def _open_at(self, mark: Mark) -> list[Window]:
        """The windows that are there in the row of an element."""
        lives = self._scene.lives
        return [life.window for life in lives if life.opened <= mark.at <= life.ended]

    def _own_ends(self, mark: Mark) -> tuple[float, float] | None:
        """The ends (pixels) of the windows that an element is in; None if there are none."""
        around = [
            self._ends(window)
            for window in self._open_at(mark)
            if window.start <= mark.event < window.end
        ]
        if mark.refused or not around:
            return None
        return min(left for left, _ in around), max(right for _, right in around)

    def _between_others(self, mark: Mark) -> tuple[float, float]:
        """The ends (pixels) of the room around an element that no window has that it is not in."""
        left, right = self._labels.axes.bbox.x0, self._labels.axes.bbox.x1
        across = self._place(mark)[0]
        for window in self._open_at(mark):
            start, end = self._ends(window)
            if window.end <= mark.event:
                left = max(left, min(end, across))
            elif mark.event < window.start:
                right = min(right, max(start, across))
        return left, right

    def _value(self, mark: Mark) -> None:
        if not mark.label and mark.count == 1 and not mark.reason:
            return
        if self._crowded and not mark.refused and mark.count == 1:
            self.unnamed += 1
            return
        times = f"\u00d7{mark.count}" if mark.count > 1 else ""
        name = " ".join(part for part in (times, mark.label) if part)
        words = shortened(name, (24, 12))
        if mark.reason:
            words = [", ".join(part for part in (w, mark.reason) if part) for w in words] + words
        if times:
            words.append(times)
        x, y = self._place(mark)
        aside = 9 if mark.fate is Fate.DROPPED else 7
        beside = [(aside, "left"), (-aside, "right")]
        places = [
            *(LabelPlace(x + off, y, across) for off, across in beside),
            LabelPlace(x, y + 6, "center", "bottom"),
            LabelPlace(x, y - 6, "center", "top"),
            *(LabelPlace(x + off, y + 5, across, "bottom") for off, across in beside),
            *(LabelPlace(x + off, y - 5, across, "top") for off, across in beside),
        ]
        colour = self._palette.lost if mark.fate is Fate.DROPPED else self._palette.ink
        texts = [text for text in dict.fromkeys(words) if text]
        within = self._own_ends(mark)
        put = None
        if mark.refused:  # what it missed is said outside of the windows that others are in
            put = self._labels.put(
                texts[:1], places, _WORDS, self._between_others(mark), color=colour
            )
        put = put or self._labels.put(texts, places, _WORDS, within, color=colour)
        if put is None:
            self.unnamed += 1
        else:
            self._names[mark.event, mark.at] = put[1]

"""The elements of a scene on paper: dots, crosses, and their values where there is room."""

from collections.abc import Callable
from typing import Any, Final

import attrs

from beamlike.viz.labels import Labels, Place
from beamlike.viz.palette import DROPPED, INK, SOFT
from beamlike.viz.scene import Fate, Mark, Scene

__all__ = ["Dots"]

_DOTS: Final[dict[Fate, dict[str, Any]]] = {
    Fate.TAKEN: {"marker": "o", "s": 36, "color": INK, "edgecolor": "white", "lw": 0.8},
    Fate.LATE: {"marker": "o", "s": 36, "facecolor": "white", "edgecolor": INK, "lw": 1.6},
    Fate.DROPPED: {"marker": "X", "s": 80, "color": DROPPED, "edgecolor": "white", "lw": 0.8},
    Fate.NOWHERE: {"marker": "+", "s": 60, "color": SOFT, "lw": 1.6},
}
_LABELLED: Final = 60
"""Of more elements than these, only those that a window refused have their values beside them."""
_NEAR: Final = 7.0
"""Elements of one step that are closer than this (pixels) are drawn as one, with their number."""
_READABLE: Final = 8.0
"""Rows less high than this (pixels) have no values of elements beside them."""


class Dots:
    """The elements of a panel.

    Args:
        scene: Whose elements.
        labels: What places words in the panel.
        row_height: The height of a row (pixels).
    """

    def __init__(self, scene: Scene, labels: Labels, row_height: float) -> None:
        self._scene, self._labels, self._row_height = scene, labels, row_height
        self._marks = self._together()
        self.unnamed = 0
        """How many values found no room."""

    def name(self, chosen: Callable[[Mark], bool]) -> None:
        """Write the values of those that are chosen."""
        for mark in self._marks:
            if chosen(mark):
                self._value(mark)

    def _together(self) -> list[Mark]:
        """The elements, those of a row and fate that would cover each other as one."""
        drawn: list[Mark] = []
        last: dict[tuple[float, Fate], int] = {}
        for mark in sorted(self._scene.marks, key=lambda it: (it.at, it.event)):
            place = (mark.at, mark.fate)
            before = drawn[last[place]] if place in last else None
            if before is not None and self._apart(before, mark) < _NEAR:
                reason = before.reason if before.reason == mark.reason else "several reasons"
                count = before.count + mark.count
                drawn[last[place]] = attrs.evolve(before, count=count, label="", reason=reason)
                continue
            last[place] = len(drawn)
            drawn.append(mark)
        return drawn

    def _apart(self, one: Mark, other: Mark) -> float:
        places = [self._scene.event.position(it.event) for it in (one, other)]
        return abs(
            self._labels.to_pixels(places[1], 0)[0] - self._labels.to_pixels(places[0], 0)[0]
        )

    def draw(self) -> None:
        """Draw them, and let no label stand on them."""
        scale = 1.0 if self._row_height > 14 else 0.5 if self._row_height > 6 else 0.3
        for fate, style in _DOTS.items():
            mine = [mark for mark in self._marks if mark.fate is fate]
            if not mine:
                continue
            size = style["s"] * scale
            self._labels.axes.scatter(
                [self._scene.event.position(mark.event) for mark in mine],
                [mark.at for mark in mine],
                zorder=8,
                label=fate.value,
                clip_on=False,
                **{**style, "s": [size * (1.6 if mark.count > 1 else 1.0) for mark in mine]},
            )
        reach = 4.5 * scale**0.5
        for mark in self._marks:
            x, y = self._labels.to_pixels(self._scene.event.position(mark.event), mark.at)
            self._labels.keep_clear(x - reach, y - reach, x + reach, y + reach)

    def _value(self, mark: Mark) -> None:
        dropped = mark.fate is Fate.DROPPED
        if not mark.label and mark.count == 1 and not mark.reason:
            return
        crowded = len(self._scene.marks) > _LABELLED or self._row_height < _READABLE
        if crowded and not mark.refused and mark.count == 1:
            self.unnamed += 1
            return
        times = f"\u00d7{mark.count}" if mark.count > 1 else ""
        name = " ".join(part for part in (times, mark.label) if part)
        words = [name, *(f"{name[: n - 3]}..." for n in (24, 12) if len(name) > n)]
        if mark.reason:
            words = [", ".join(part for part in (w, mark.reason) if part) for w in words] + words
        if times:
            words.append(times)
        x, y = self._labels.to_pixels(self._scene.event.position(mark.event), mark.at)
        aside = 9 if dropped else 7
        places = [
            Place(x + aside, y),
            Place(x - aside, y, "right"),
            Place(x, y + 6, "center", "bottom"),
            Place(x, y - 6, "center", "top"),
            Place(x + 5, y + 5, "left", "bottom"),
            Place(x + 5, y - 5, "left", "top"),
        ]
        backed = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.75}
        colour = "#9A4300" if dropped else INK
        texts = [text for text in dict.fromkeys(words) if text]
        if self._labels.put(texts, places, 8, color=colour, bbox=backed) is None:
            self.unnamed += 1

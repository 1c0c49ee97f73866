"""The elements of a scene in its panel, and their values."""

from collections.abc import Callable
from typing import Final

import attrs

from beamlike.model.windows import Window
from beamlike.viz.labels import LabelPlace, Labels, PanelFrame, shortened
from beamlike.viz.scene import Fate, Mark
from beamlike.viz.svg import Drawing, Edges, text_width

_LABELLED: Final = 60
"""Of more elements than these, only those that a window refused have their values beside them."""
_NEAR: Final = 7.0
"""Elements of one step that are closer than this (pixels) are drawn as one, with their number."""
_READABLE: Final = 8.0
"""Rows less high than this (pixels) have no values of elements beside them."""
_COIN: Final = 10.0
"""The radius (pixels) of a dot whose value stands in it."""
_ROOM_IN_COIN: Final = 16.5
RADIUS: Final = {Fate.TAKEN: 4.6, Fate.LATE: 4.6, Fate.DROPPED: 4.4, Fate.NOWHERE: 5.4}
"""Of dots that have room (pixels)."""


class Dots:
    """The elements of a panel: `draw` them, `name` them, then write the `values` of windows."""

    def __init__(self, frame: PanelFrame, drawing: Drawing, labels: Labels) -> None:
        self._frame, self._drawing, self._labels = frame, drawing, labels
        self._scene = frame.scene
        self._marks = self._together()
        self._crowded = len(self._scene.marks) > _LABELLED or frame.row_height < _READABLE
        self._names: dict[tuple[int, float], Edges] = {}
        """Where the values beside elements stand."""
        self.unnamed = 0
        """How many values found no room."""

    def _together(self) -> list[Mark]:
        """The elements, those of a row and fate that would cover each other as one."""
        drawn: list[Mark] = []
        last: dict[tuple[float, Fate], int] = {}
        for mark in sorted(self._scene.marks, key=lambda mark: (mark.row, mark.event)):
            place = (mark.row, mark.fate)
            before = drawn[last[place]] if place in last else None
            if before is not None and self._point(mark)[0] - self._point(before)[0] < _NEAR:
                reason = before.reason if before.reason == mark.reason else "several reasons"
                count = before.count + mark.count
                drawn[last[place]] = attrs.evolve(before, count=count, label="", reason=reason)
            else:
                last[place] = len(drawn)
                drawn.append(mark)
        return drawn

    def _point(self, mark: Mark) -> tuple[float, float]:
        return self._frame.point(mark.event, mark.row)

    def _is_coin(self, mark: Mark) -> bool:
        """Whether the value stands in the dot."""
        fitting = text_width(mark.label, "coin") <= _ROOM_IN_COIN
        plain = mark.count == 1 and not mark.reason and mark.fate in (Fate.TAKEN, Fate.LATE)
        return plain and bool(mark.label) and fitting and not self._crowded

    def draw(self) -> None:
        """Draw them, and let no label stand on them."""
        height = self._frame.row_height
        scale = 1.0 if height > 14 else 0.7 if height > 6 else 0.55
        for mark in self._marks:
            x, y = self._point(mark)
            if self._is_coin(mark):
                reach = radius = _COIN
                colour = "ink" if mark.fate is Fate.LATE else "paper"
                self._drawing.text("coin", mark.label, x, y, text_anchor="middle", fill=colour)
            else:
                radius = RADIUS[mark.fate] * scale * (1.25 if mark.count > 1 else 1)
                reach = 4.5 * scale
            self._drawing.dot(mark.fate, x, y, radius)
            self._labels.keep_clear(x - reach, y - reach, x + reach, y + reach)

    # -- values ------------------------------------------------------------------------------

    def name(self, chosen: Callable[[Mark], bool]) -> None:
        """Write the values of those that are chosen."""
        for mark in self._marks:
            if chosen(mark) and not self._is_coin(mark):
                self._value(mark)

    def _value(self, mark: Mark) -> None:
        if not mark.label and mark.count == 1 and not mark.reason:
            return
        if self._crowded and not mark.refused and mark.count == 1:
            self.unnamed += 1
            return
        times = f"\u00d7{mark.count}" if mark.count > 1 else ""
        texts = shortened(" ".join(filter(None, [times, mark.label])), (24, 12))
        if mark.reason:
            texts = [", ".join(filter(None, [text, mark.reason])) for text in texts] + texts
        texts = [text for text in dict.fromkeys([*texts, times]) if text]
        x, y = self._point(mark)
        aside = 9 if mark.fate is Fate.DROPPED else 7
        places = [
            *_on_both_sides(x, y, aside),
            LabelPlace(x, y - 6, "middle", "above"),
            LabelPlace(x, y + 6, "middle", "below"),
            *_on_both_sides(x, y - 5, aside, "above"),
            *_on_both_sides(x, y + 5, aside, "below"),
        ]
        look = "lost" if mark.fate is Fate.DROPPED else "value"
        box = None
        if mark.refused:  # what it missed is said outside of the windows that others are in
            box = self._labels.put(look, texts[:1], places, self._between_others(mark))
        box = box or self._labels.put(look, texts, places, self._own_ends(mark))
        if box is None:
            self.unnamed += 1
        else:
            self._names[mark.event, mark.row] = box

    def _open_at(self, mark: Mark) -> list[Window]:
        """The windows that are there in the row of an element."""
        lives = self._scene.lives
        return [life.window for life in lives if life.opened <= mark.row <= life.ended]

    def _own_ends(self, mark: Mark) -> tuple[float, float] | None:
        """The ends (pixels) of the windows that an element is in; None if there are none."""
        around = [w for w in self._open_at(mark) if w.start <= mark.event < w.end]
        if mark.refused or not around:
            return None
        lefts, rights = zip(*map(self._frame.ends, around), strict=True)
        return min(lefts), max(rights)

    def _between_others(self, mark: Mark) -> tuple[float, float]:
        """The ends (pixels) of the room around an element that no window has that it is not in."""
        left, right = self._frame.left, self._frame.right
        across = self._point(mark)[0]
        for window in self._open_at(mark):
            start, end = self._frame.ends(window)
            if window.end <= mark.event:
                left = max(left, min(end, across))
            elif mark.event < window.start:
                right = min(right, max(start, across))
        return left, right

    def values(self) -> None:
        """Write the value of a window so far beside an element, inside that window."""
        for running in self._scene.running if not self._crowded else ():
            x, y = self._frame.point(running.event, running.row)
            places, reach = list[LabelPlace](), _COIN + 2
            if name := self._names.get((running.event, running.row)):
                middle = (name[1] + name[3]) / 2
                places = [LabelPlace(name[2] + 3, middle), LabelPlace(name[0] - 3, middle, "end")]
            # Rather not at the height of the element, where panes begin and windows merge.
            for up in (10, -10, 0):
                places += _on_both_sides(x, y - up, reach)
            places += [LabelPlace(x, y - reach, "middle", "above")]
            places += [LabelPlace(x, y + reach, "middle", "below")]
            texts = [f"= {text}" for text in shortened(running.value, (24, 12))]
            self._labels.put("running", texts, places, self._frame.ends(running.window))


def _on_both_sides(x: float, y: float, aside: float, side: str = "middle") -> list[LabelPlace]:
    return [LabelPlace(x + aside, y, "start", side), LabelPlace(x - aside, y, "end", side)]

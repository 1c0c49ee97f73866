"""Where things lie in a panel, and words that keep clear of each other: each stands where it fits,
or not at all."""

from collections.abc import Iterable
from typing import Any, Final

import attrs

from beamlike.model.windows import Window
from beamlike.viz.scene import Scene
from beamlike.viz.svg import Drawing, Edges, text_height, text_width

_AIR: Final = 1.5
"""Pixels that stay free around a label."""
_BEFORE: Final = {"start": 0.0, "middle": 0.5, "end": 1.0, "below": 0.0, "above": 1.0}
"""How much of a text lies before its point: left of it, or above it."""


@attrs.frozen
class PanelFrame:
    """A panel for a scene: its edges (pixels), and where in it things lie."""

    scene: Scene
    left: float
    top: float
    right: float
    bottom: float

    def x(self, position: float) -> float:
        """Where a position on the folded event time lies."""
        start, end = (self.scene.event.position(edge) for edge in self.scene.span)
        return self.left + (position - start) * (self.right - self.left) / max(end - start, 1)

    def y(self, row: float) -> float:
        """Where a row lies."""
        low, high = self.scene.rows
        return self.bottom - (row - low) * (self.bottom - self.top) / (high - low)

    def point(self, instant: int, row: float) -> tuple[float, float]:
        """Where an instant of event time lies in a row."""
        return self.x(self.scene.event.position(instant)), self.y(row)

    def ends(self, window: Window) -> tuple[float, float]:
        """Where a window begins and ends."""
        start, end = self.scene.edges(window)
        return self.x(start), self.x(end)

    @property
    def row_height(self) -> float:
        """How high a row is."""
        return self.y(0) - self.y(1)


@attrs.frozen
class LabelPlace:
    """Where a label may stand: a point (pixels) and which side of it the text lies on.

    ``anchor`` is ``start``, ``middle`` or ``end``: the part of the text at the point; ``side`` is
    ``above``, ``middle`` or ``below`` the point.
    """

    x: float
    y: float
    anchor: str = "start"
    side: str = "middle"

    def box(self, width: float, height: float) -> Edges:
        """The edges of a text of that size."""
        left = self.x - _BEFORE[self.anchor] * width
        top = self.y - _BEFORE[self.side] * height
        return left, top, left + width, top + height


class Labels:
    """The labels of one panel, which are drawn in it."""

    def __init__(self, frame: PanelFrame, drawing: Drawing) -> None:
        self._frame, self._drawing = frame, drawing
        self._taken: list[Edges] = []

    def keep_clear(self, left: float, top: float, right: float, bottom: float) -> None:
        """No label may stand here (pixels)."""
        self._taken.append((left, top, right, bottom))

    def put(
        self,
        look: str,
        texts: Iterable[str],
        places: Iterable[LabelPlace],
        within: tuple[float, float] | None = None,
        **attributes: Any,
    ) -> Edges | None:
        """Write the first of these texts that fits at one of the places, the best of both first.

        It does not leave the ends ``within`` (pixels), or those of the panel. Its edges (pixels);
        None if there was no room for any.
        """
        spots, height = list(places), text_height(look)
        for text in texts:
            width = text_width(text, look)
            for place in spots:
                box = place.box(width, height)
                inside = within is None or within[0] <= box[0] <= box[2] <= within[1]
                if inside and self._is_free(box):
                    self._taken.append(box)
                    middle = (box[1] + box[3]) / 2
                    self._drawing.text(
                        look, text, place.x, middle, text_anchor=place.anchor, **attributes
                    )
                    return box
        return None

    def _is_free(self, box: Edges) -> bool:
        left, right = box[0] - _AIR, box[2] + _AIR
        top, bottom = box[1] - _AIR / 3, box[3] + _AIR / 3
        frame = self._frame
        if left < frame.left or top < frame.top or right > frame.right or bottom > frame.bottom:
            return False
        return not any(
            left < other[2] and other[0] < right and top < other[3] and other[1] < bottom
            for other in self._taken
        )


def shortened(text: str, lengths: Iterable[int] = (40, 24, 12)) -> list[str]:
    """A text in full, then shorter and shorter."""
    return [text, *(f"{text[: length - 3]}..." for length in lengths if len(text) > length)]

"""Words in a picture that keep clear of each other: each stands where it fits, or not at all."""

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

import attrs

_AIR: Final = 1.5
"""Pixels that stay free around a label."""


@attrs.frozen
class Place:
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
        places: Iterable[Place],
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

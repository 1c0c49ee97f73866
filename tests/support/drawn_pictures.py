"""Pictures read back from their SVG: which kinds of elements there are, and where (pixels)."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import attrs

from beamlike.viz.labels import PanelFrame
from beamlike.viz.picture import Picture
from beamlike.viz.svg import LINE, WIDE, ems

_BEFORE: Final = {"start": 0.0, "middle": 0.5, "end": 1.0}
LABELS: Final = ("aside", "lost", "merge", "pane", "reached", "running", "skew", "value")
"""The kinds of texts that are put where they find room."""
AREAS: Final = ("early-pane", "on-time-pane", "late-pane", "withdrawn-pane")


@attrs.frozen
class Shape:
    """An element of a picture; of a path with its points."""

    kind: str
    left: float
    top: float
    right: float
    bottom: float
    text: str
    attributes: dict[str, str]
    points: tuple[tuple[float, float], ...] = ()


@attrs.frozen
class DrawnPanel:
    """A panel: its title and what is in it."""

    title: str
    shapes: tuple[Shape, ...]

    def of(self, *kinds: str) -> list[Shape]:
        """The elements of these kinds."""
        return [shape for shape in self.shapes if shape.kind in kinds]

    def texts(self, *kinds: str) -> list[str]:
        """The texts of these kinds."""
        return [shape.text for shape in self.of(*kinds)]


class DrawnPicture:
    """A picture as its SVG has it."""

    def __init__(self, picture: Picture) -> None:
        self.root = ElementTree.fromstring(picture.svg())
        self.width, self.height = (float(self.root.attrib[it]) for it in ("width", "height"))
        groups = [
            DrawnPanel(
                group.get("data-title", ""), tuple(map(_shape, group.iterfind(".//*[@class]")))
            )
            for group in self.root.iterfind("{*}g")
        ]
        self.panels, self.around = groups[:-1], groups[-1]
        *self.headings, up, across = self.around.texts("title", "note")
        self.axes = [up, across]
        self.written = [it for group in groups for it in group.shapes if it.text]
        self.cut = [
            it.text
            for it in self.written
            if it.left < 0 or it.right > self.width or it.top < 0 or it.bottom > self.height
        ]
        """The texts that are not wholly in it."""


def overlapping(shapes: Sequence[Shape]) -> list[tuple[str, str]]:
    """The texts of which one covers the other by more than a pixel both ways."""
    return [
        (one.text, two.text)
        for one, two in combinations(shapes, 2)
        if min(one.right, two.right) - max(one.left, two.left) > 1
        and min(one.bottom, two.bottom) - max(one.top, two.top) > 1
    ]


def frames_of(picture: Picture) -> Iterator[PanelFrame]:
    """The frame of each panel, by the line of its axis and by its grid."""
    for scene, panel in zip(picture.scenes, DrawnPicture(picture).panels, strict=True):
        (axis,) = panel.of("axis")
        top = min(line.top for line in panel.of("grid"))
        yield PanelFrame(scene, axis.left, top, axis.right, axis.bottom)


def _shape(node: ElementTree.Element) -> Shape:
    tag, points = node.tag.rpartition("}")[2], tuple[tuple[float, float], ...]()
    if tag == "text":
        box = _box_of_text(node)
    elif tag == "circle":
        x, y, radius = (float(node.attrib[name]) for name in ("cx", "cy", "r"))
        box = (x - radius, y - radius, x + radius, y + radius)
    else:
        points = tuple(_points(node.attrib["d"]))
        xs, ys = zip(*points, strict=True)
        box = min(xs), min(ys), max(xs), max(ys)
    return Shape(node.attrib["class"], *box, node.text or "", dict(node.attrib), points)


def _box_of_text(node: ElementTree.Element) -> tuple[float, float, float, float]:
    x, base, size = (float(node.attrib[name]) for name in ("x", "y", "font-size"))
    style = node.get("font-weight") or node.get("font-style", "")
    width = ems(node.text or "") * size * WIDE.get(style, 1.0)
    left = x - _BEFORE[node.get("text-anchor", "start")] * width
    middle = base - 0.27 * size
    return left, middle - LINE * size / 2, left + width, middle + LINE * size / 2


def _points(path: str) -> Iterator[tuple[float, float]]:
    x = y = 0.0
    for command, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", path):
        numbers, relative = list(map(float, rest.split())), command.islower()
        if command in "MLml":
            x, y = numbers[0] + x * relative, numbers[1] + y * relative
        elif command in "Hh":
            x = numbers[0] + x * relative
        elif command in "Vv":
            y = numbers[0] + y * relative
        yield x, y

"""Drawing an SVG: elements with the looks of a table, in layers, and how wide texts are.

An element's ``class`` is the name of its look, so that a picture can be read and tested.
"""

from collections.abc import Mapping
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from beamlike.palette.colours import STRIPE, TIMINGS, Palette, TimingStyle, timing_of
from beamlike.viz.cells import columns
from beamlike.viz.scene import Fate

Edges = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle, in pixels from the picture's upper left corner."""

FONT: Final = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif'

_DASH: Final = "stroke-dasharray"
_BACKED: Final = {"stroke": "paper", "stroke-width": 3.5, "paint-order": "stroke"}
"""The ground of words that stand over something else."""
_ASIDE: Final = {"fill": "muted", "font-size": 11.8, "font-style": "italic"}

LOOKS: Final[dict[str, dict[str, Any]]] = {
    "grid": {"stroke": "faint"},
    "fold": {"stroke": "muted", "stroke-width": 1.6, _DASH: "1.7 5"},
    "window": {},
    "edge": {"stroke": "muted", "stroke-width": 1.4},
    "closed": {"stroke": "muted", "stroke-width": 1.4, _DASH: "1.4 2.3"},
    "area": {},
    "event time = processing time": {
        **{"stroke": "muted", "stroke-width": 1.7, _DASH: "0.1 6.5", "stroke-linecap": "round"},
    },
    "outline": {"stroke-width": 2},
    "window expires": {"stroke": "muted", "stroke-width": 3.5, "stroke-opacity": 0.65},
    "withdrawal": {"stroke": "muted", "stroke-width": 1.8, _DASH: "3.6 3.6"},
    "watermark": {"stroke": "water", "stroke-width": 2.6, _DASH: "8.4 3.7"},
    "skew": {"stroke": "water", "stroke-width": 1.5},
    "axis": {"stroke": "line", "stroke-width": 1.2},
    "tick": {"stroke": "muted", "stroke-width": 1.2},
    "aside": {**_ASIDE, **_BACKED},
    "element": {"fill": "ink", "stroke": "paper", "stroke-width": 1.4},
    "element behind the watermark": {"fill": "paper", "stroke": "ink", "stroke-width": 2.2},
    "dropped element": {"stroke": "lost"},
    "element in no window": {"stroke": "muted", "stroke-width": 2.2},
    "coin": {"font-size": 11.1, "font-weight": "bold"},
    "pane": {"fill": "ink", "font-size": 11.1},
    "withdrawn": {"fill": "muted", "font-size": 11.1},
    "value": {"fill": "ink", "font-size": 11.1},
    "lost": {"fill": "lost", "font-size": 11.1},
    "running": {"fill": "muted", "font-size": 10.4},
    "merge": {**_ASIDE, "font-size": 10.4},
    "reached": {"fill": "water", "font-size": 11.1, **_BACKED},
    "struck": {"stroke": "ink", "stroke-width": 1.2},
    "title": {"fill": "ink", "font-size": 19.4, "font-weight": "bold"},
    "panel title": {"fill": "ink", "font-size": 15.3, "font-weight": "bold"},
    "note": {"fill": "muted", "font-size": 13.2},
    "instant": {"fill": "muted", "font-size": 12.5},
    "row": {"fill": "muted", "font-size": 11.8},
    "entry": {"fill": "muted", "font-size": 12.5},
}
"""How each kind of element looks, from the lowest layer to the highest. A colour is the name of
one of the palette's, a length is in pixels."""

_LAYERS: Final = {name: layer for layer, name in enumerate(LOOKS)}
_AROUND: Final = _LAYERS["axis"]
"""From this layer on things may lie beside their panel."""
_RIM: Final = 2
"""Pixels of a line on the edge of a panel that lie beside it."""

_ADVANCES: Final = {
    **dict.fromkeys("'ijl", 0.28),
    **dict.fromkeys("IJ ,./:;\\|", 0.33),
    **dict.fromkeys("f-()[]tr!", 0.4),
    **dict.fromkeys('"*_`szc?', 0.52),
    **dict.fromkeys("LFkvxyPTYoae", 0.6),
    **dict.fromkeys("EhnuSbdgpq$0123456789{}K", 0.64),
    **dict.fromkeys("AVXZBRCUN", 0.71),
    **dict.fromkeys("HDG&OQw", 0.78),
    **dict.fromkeys("#+<=>^~mMW%@", 0.92),
}
"""The width of characters, in ems of DejaVu Sans; the other fonts are narrower."""
WIDE: Final = {"bold": 1.13, "italic": 1.04}
"""How much wider such characters are."""
LINE: Final = 1.15
"""The height of a line, in ems."""


def ems(text: str) -> float:
    """The width of a line of text, for its size; in most fonts it is less.

    >>> round(ems("late #1: 14"), 2)
    5.71
    """
    return sum(_ADVANCES.get(character) or 0.84 * columns(character) for character in text)


def text_width(text: str, look: str) -> float:
    """The width of a text, or of its longest line, in pixels."""
    style = LOOKS[look]
    wide = WIDE.get(style.get("font-weight") or style.get("font-style", ""), 1.0)
    return max(map(ems, text.split("\n"))) * wide * float(style["font-size"])


def text_height(look: str) -> float:
    """The height of a line of text, in pixels."""
    return LINE * float(LOOKS[look]["font-size"])


class Drawing:
    """Elements that lie over each other in the order of `LOOKS`, whenever they were drawn."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self._elements: list[tuple[int, str]] = []

    def add(self, tag: str, look: str, content: str = "", **attributes: Any) -> None:
        """An element; ``stroke_width=2`` is its ``stroke-width``, ``css_class`` its class."""
        css_class = attributes.pop("css_class", look).replace(" ", "-")
        named = {name.replace("_", "-"): value for name, value in attributes.items()}
        for name in ("fill", "stroke"):
            if colour := named.get(name, LOOKS[look].get(name)):
                named[name] = getattr(self.palette, colour, colour)
        written = element(tag, {"class": css_class, **LOOKS[look], **named}, escape(content))
        self._elements.append((_LAYERS[look], written))

    def line(self, look: str, *points: tuple[float, float], **attributes: Any) -> None:
        """A line through points."""
        d = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        self.add("path", look, d=d, fill="none", **attributes)

    def area(self, look: str, edges: Edges, **attributes: Any) -> None:
        """A rectangle; without a height it is a line, which a ``rect`` would not be."""
        left, top, right, bottom = map(number, edges)
        self.add("path", look, d=f"M{left} {top}H{right}V{bottom}H{left}Z", **attributes)

    def pane(
        self, timing: str, edges: Edges, css_class: str, seen: float = 1, line: float = 1
    ) -> None:
        """The area of a pane of that timing, and its outline, as opaque as that."""
        look, colour = timing_of(timing), self.palette.of(timing)
        self.area("area", edges, fill=colour, fill_opacity=look.ground * seen, css_class=css_class)
        if look.stripes:
            pattern = f"url(#{_pattern_id(self.palette, look)})"
            self.area("area", edges, fill=pattern, fill_opacity=STRIPE * seen, css_class="stripes")
        dashes = {"stroke_dasharray": look.dashes} if look.dashes else {}
        self.area("outline", edges, fill="none", stroke=colour, stroke_opacity=line, **dashes)

    def dot(self, fate: Fate, x: float, y: float, radius: float) -> None:
        """An element of that fate."""
        r, across = radius, 2 * radius
        if fate is Fate.DROPPED:
            cross = (
                f"M{number(x - r)} {number(y - r)}l{across} {across}m-{across} 0l{across} -{across}"
            )
            self.add(
                "path", fate.value, d=cross, stroke="paper", stroke_width=1.4 * r, css_class="halo"
            )
            self.add("path", fate.value, d=cross, stroke_width=0.85 * r)
        elif fate is Fate.NOWHERE:
            plus = f"M{number(x - r)} {number(y)}h{across}M{number(x)} {number(y - r)}v{across}"
            self.add("path", fate.value, d=plus)
        else:
            self.add("circle", fate.value, cx=x, cy=y, r=r)

    def text(self, look: str, content: str, x: float, y: float, **attributes: Any) -> None:
        """A text whose first line has its middle at the height ``y``."""
        for line_number, line in enumerate(content.split("\n")):
            base = y + (0.27 + 1.25 * line_number) * float(LOOKS[look]["font-size"])
            self.add("text", look, line, x=x, y=base, **attributes)

    def group(self, name: str, title: str = "", panel: Edges | None = None) -> str:
        """All of it as a group. Areas and lines are cut at the edges of a panel."""
        ordered = sorted(self._elements, key=lambda layered: layered[0])
        parts = [text for layer, text in ordered if panel is None or layer >= _AROUND]
        if panel is not None:
            left, top, right, bottom = panel
            box = (left - _RIM, top - _RIM, right - left + 2 * _RIM, bottom - top + 2 * _RIM)
            view = dict(zip(("x", "y", "width", "height"), box, strict=True))
            inside = "\n".join(text for layer, text in ordered if layer < _AROUND)
            parts.insert(0, element("svg", {**view, "viewBox": " ".join(map(number, box))}, inside))
        return element("g", {"class": name, "data-title": title}, "\n".join(parts))


def patterns(palette: Palette) -> str:
    """The patterns of panes, which `Drawing.pane` refers to."""
    written = []
    for look in filter(lambda look: look.stripes, TIMINGS.values()):
        size, angle, thick = look.stripes
        stripe = {"width": thick, "height": size, "fill": getattr(palette, look.tone)}
        attributes = {
            **{"id": _pattern_id(palette, look), "width": size, "height": size},
            **{"patternUnits": "userSpaceOnUse", "patternTransform": f"rotate({angle})"},
        }
        written.append(element("pattern", attributes, element("rect", stripe)))
    return element("defs", {}, "".join(written))


def _pattern_id(palette: Palette, look: TimingStyle) -> str:
    """What the pattern is called: a page may hold pictures of both palettes."""
    return f"{look.tone}-on-{palette.paper[1:]}"


def element(tag: str, attributes: Mapping[str, Any], content: str = "") -> str:
    """An element as text; its content is already."""
    written = "".join(
        f" {name}={quoteattr(value if isinstance(value, str) else number(value))}"
        for name, value in attributes.items()
    )
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def number(value: float) -> str:
    """A length or a share as it is written."""
    return f"{round(value, 2):.7g}"

"""A run as a picture: event time across, processing time up, the watermark between.

The figure of the article "Streaming 102", from any run on any host. Dots are elements, crosses
are elements that were dropped; each pane is the area of what it holds, from the first of it up to
where the pane fires, as wide as its window; the dashed line is the watermark. A stream without a
clock has its steps upwards instead. Stretches in which nothing happened are folded, so that a
straggler twelve hours later is still in the picture.

What is drawn is a `Scene` of plain values, or several, one above the other or side by side.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import accumulate, chain
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape
from zlib import crc32

import attrs

from beamlike.errors import RecordingError
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many
from beamlike.palette.colours import DARK, LIGHT, Palette
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import round_instants
from beamlike.viz.dots import RADIUS
from beamlike.viz.labels import PanelFrame
from beamlike.viz.moments import KeyedMoments, moments_of
from beamlike.viz.panel import Panel
from beamlike.viz.recording import Recording
from beamlike.viz.saving import gif_of, png_of, write_file
from beamlike.viz.scene import End, Fate, Scene
from beamlike.viz.staging import scenes_of
from beamlike.viz.svg import FONT, Drawing, element, patterns, text_width

if TYPE_CHECKING:
    from beamlike.model.strategy import WindowingStrategy

_WIDTH: Final = 1100
_LEFT, _RIGHT, _BETWEEN, _RIM = 60, 18, 30, 16
_ROW, _LEAST, _MOST, _MOST_IN_ALL = 42, 200, 1200, 1700
_HEAD, _PANEL_HEAD, _FOOT, _LEGEND_ROW, _LINE = 60, 50, 50, 22, 19
_TITLE_LINE, _DATE, _BELOW = 26, 16, 6
"""All in pixels."""
_CHARACTER, _TITLE_CHARACTER = 7.8, 12.0
"""The widths (pixels) that they take."""
_HANDLE, _ENTRY = 34, 56
"""Of an entry of the legend: where its name begins, and how wide it is beside its name."""
_MOST_NOTE_LINES: Final = 6
_MOST_REPLAYED: Final = 1000
"""Of more elements there is no room for values between them, and a replay would take a while."""
_MOST_PANELS: Final = 4


def figure_of(
    run: Run,
    strategy: "WindowingStrategy | None" = None,
    key: Any = None,
    *,
    aggregate: CombineFn | None = None,
    dark: bool = False,
) -> "Picture":
    """A run as a picture: one key, or a panel for each of the busiest.

    Args:
        run: A run of any host.
        strategy: How it was windowed; without it the picture does not know when windows open
            and expire.
        key: The key to draw. None: all, the four with the most elements and panes if there are
            more.
        aggregate: How the values of a window became one. With it and the strategy, the value of
            each window so far stands beside its elements.
        dark: Whether it is light on a dark ground.

    Returns:
        A picture, which a notebook shows by itself.

    Raises:
        RecordingError: The run has no such key, or no keys at all.
    """
    by_key = KeyedMoments(moments_of(run))
    shown, count = shown_keys(by_key, key, _MOST_PANELS), len(by_key.keys)
    note = ""
    if key is None and len(shown) < count:
        note = f"the busiest {len(shown)} of {count} keys; name one to draw another"
    recording = None
    arrived = sum(len(step.elements) for step in run.script if isinstance(step, Arrive))
    if strategy is not None and aggregate is not None and arrived <= _MOST_REPLAYED:
        with suppress(RecordingError):  # it does not happen again
            recording = Recording.of(run, strategy, aggregate)
    scenes = scenes_of(run, strategy, shown, recording)
    return Picture(scenes, note, palette=DARK if dark else LIGHT)


def shown_keys(by_key: KeyedMoments, key: Any, most: int) -> list[Any]:
    """The key that is asked for; so many of the busiest ones if there is none."""
    if not by_key.keys:
        raise RecordingError("there is nothing to draw: no elements came, and nothing came out")
    if key is None:
        return by_key.busiest(most)
    return [by_key.known(key)]


@attrs.frozen(repr=False)
class Picture:
    """Scenes as an SVG. A notebook shows it by itself; its `repr` says in words what is on it.

    Attributes:
        scenes: What is drawn, a panel for each. Several have the same rows and event time.
        note: What stands below the title, beside the note of the first scene.
        title: The first line; by default that of the scene, or the number of keys.
        columns: So many panels stand side by side.
        width: How wide it is (pixels).
        palette: Its colours.
    """

    scenes: Sequence[Scene]
    note: str = ""
    title: str = attrs.field(kw_only=True)
    columns: int = attrs.field(default=1, kw_only=True)
    width: int = attrs.field(default=_WIDTH, kw_only=True)
    palette: Palette = attrs.field(default=LIGHT, kw_only=True)

    @title.default
    def _usual_title(self) -> str:
        return self.scenes[0].title if len(self.scenes) == 1 else f"{len(self.scenes)} keys"

    @property
    def text(self) -> str:
        """The picture in sentences, for those who cannot see it."""
        sentences = [scene.text() for scene in self.scenes]
        if self.scenes[0].note:
            sentences.append(f"Windowing: {self.scenes[0].note}.")
        lines = filter(None, self.note.split("\n"))
        return " ".join([*sentences, *(f"{line[0].upper()}{line[1:]}." for line in lines)])

    def __repr__(self) -> str:
        return self.text

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write it to a file, whose ending is the format: svg, png or gif.

        It has its words inside, for screen readers. A GIF is animated: a frame for each instant,
        with what has happened until then. A PNG and a GIF are drawn with the fonts of this machine.

        Args:
            path: Where to; a file that is there is replaced.

        Raises:
            RecordingError: The ending is not one of these.
            EnvironmentProblem: The file cannot be written there, or resvg-py or Pillow, which PNG
                and GIF need, are not installed.
        """
        file = Path(path)
        match file.suffix.lower():
            case ".svg":
                content = self.svg().encode()
            case ".png":
                content = png_of(self.svg(), self.title, self.text)
            case ".gif":
                instants = sorted({row for scene in self.scenes for row in scene.instants})
                content = gif_of(list(map(self.svg, instants)), self.text)
            case _:
                named = f"has the ending {file.suffix}" if file.suffix else "has no ending"
                raise RecordingError(
                    f"path: {path} {named}, which is no format of a picture; end it with .svg, "
                    ".png or .gif"
                )
        write_file(content, file, "the picture")

    # -- where everything lies ---------------------------------------------------------------

    @property
    def _rows(self) -> int:
        """So many panels stand one above the other."""
        return ceil(len(self.scenes) / self.columns)

    @property
    def _left(self) -> float:
        """How wide it is beside the panels, where the labels of rows stand."""
        labels = (text_width(tick.label, "row") for tick in self.scenes[0].ticks)
        return max([_LEFT, *(width + 20 for width in labels)])

    @property
    def _panel(self) -> tuple[float, int]:
        """The size of a panel."""
        across = (self.width - self._left - _RIGHT - (self.columns - 1) * _BETWEEN) / self.columns
        rows = max(scene.rows[1] - scene.rows[0] for scene in self.scenes)
        most = _MOST if self._rows == 1 else _MOST_IN_ALL // self._rows
        return across, int(min(max(rows * _ROW, _LEAST), most))

    def _legend(self) -> list[list[str]]:
        """The entries of the legend in as many columns as there is room for."""
        entries = entries_of(self.scenes)
        columns = [entries]
        for rows in range(len(entries), 0, -1):
            shorter = [entries[start : start + rows] for start in range(0, len(entries), rows)]
            if sum(map(_column_width, shorter)) <= self.width - _RIM:
                columns = shorter
        return columns

    # -- drawing -----------------------------------------------------------------------------

    def svg(self, now: float | None = None) -> str:
        """The picture, or what has happened up to a row, as the text of an SVG."""
        titles = wrap(self.title, int((self.width - 30) / _TITLE_CHARACTER)) or [""]
        lines = self._lines()
        panel_head = _PANEL_HEAD if len(self.scenes) > 1 else 0
        # Labels that find no room are counted once they are placed.
        head = _HEAD - panel_head // 2 + _TITLE_LINE * (len(titles) - 1) + _LINE * (len(lines) + 1)
        across, tall = self._panel
        bottom = head + (tall + panel_head) * self._rows
        groups, unnamed = [], Counter[str]()
        for position, scene in enumerate(self.scenes):
            row, column = divmod(position, self.columns)
            left = self._left + column * (across + _BETWEEN)
            top = head + panel_head + row * (tall + panel_head)
            edges = (left, top, left + across, top + tall)
            panel = Panel(PanelFrame(scene, *edges), self.palette, self.width, now)
            panel.draw()
            unnamed.update(panel.unnamed)
            panel.axes(position + self.columns >= len(self.scenes), column == 0)
            if panel_head:
                panel.drawing.text("panel title", scene.title, left, top - 30)
            groups.append(panel.drawing.group("panel", scene.title, edges))
        counted = [how_many(count, noun) for noun, count in sorted(unnamed.items()) if count]
        if counted:
            lines.append(f"without a label, for want of room: {' and '.join(counted)}")
        around = Drawing(self.palette)
        around.text("title", "\n".join(titles), _RIM, 22)
        around.text("note", "\n".join(lines), _RIM, 24 + _TITLE_LINE * len(titles))
        first = self.scenes[0]
        # Instants of event time may have their dates below them.
        labels = round_instants(first.event, *first.span, 8)
        dates = _DATE * any("\n" in label for _, label in labels)
        around.text("note", f"\u2191 {first.arrival_axis}", 10, head + panel_head - 12)
        place = (self.width - _RIGHT, bottom + 34 + dates)
        around.text("note", f"{first.event_axis} \u2192", *place, text_anchor="end")
        legend = self._legend()
        bottom += _FOOT + dates
        self._draw_legend(around, legend, bottom)
        height = bottom + _LEGEND_ROW * len(legend[0]) + _BELOW
        return self._document(height, "\n".join([*groups, around.group("around")]))

    def _lines(self) -> list[str]:
        """What stands below the title."""
        room = int((self.width - 30) / _CHARACTER)
        style: dict[str, Any] = {"max_lines": _MOST_NOTE_LINES, "placeholder": " ..."}
        texts = [self.scenes[0].note, *self.note.split("\n")]
        return list(chain(*(wrap(text, room, break_on_hyphens=False, **style) for text in texts)))

    def _draw_legend(self, around: Drawing, legend: Sequence[Sequence[str]], top: float) -> None:
        widths = list(map(_column_width, legend))
        lefts = accumulate(widths, initial=(self.width - sum(widths)) / 2)
        for entries, left in zip(legend, lefts, strict=False):
            for position, entry in enumerate(entries):
                y = top + _LEGEND_ROW * (position + 0.5)
                _draw_handle(around, entry, left + 4, y)
                around.text("entry", entry, left + _HANDLE, y)

    def _document(self, height: float, content: str) -> str:
        text = self.text
        name = f"{crc32(text.encode()):x}"  # several may be on a page
        attributes = {
            **{"xmlns": "http://www.w3.org/2000/svg", "width": self.width, "height": height},
            **{"viewBox": f"0 0 {self.width} {height:g}", "style": "max-width: 100%; height: auto"},
            **{"role": "img", "aria-labelledby": f"title-{name}", "font-family": FONT},
            "aria-describedby": f"text-{name}",
        }
        parts = (
            element("title", {"id": f"title-{name}"}, escape(self.title)),
            element("desc", {"id": f"text-{name}"}, escape(text)),
            patterns(self.palette),
            element("rect", {"width": "100%", "height": "100%", "fill": self.palette.paper}),
            content,
        )
        return element("svg", attributes, "\n".join(parts)) + "\n"


SO_FAR: Final = "value of the window so far"
_TIMINGS: Final = {"EARLY": "early pane", "ON_TIME": "on time pane", "LATE": "late pane"}


def entries_of(scenes: Sequence[Scene]) -> list[str]:
    """What there is to name, in the order of a legend."""
    boxes = [box for scene in scenes for box in scene.boxes]
    lives = [life for scene in scenes for life in scene.lives]
    fates = {mark.fate for scene in scenes for mark in scene.marks}
    timings = {_TIMINGS.get(box.timing, "pane") for box in boxes}
    is_shown = {
        **{fate.value: fate in fates for fate in Fate},
        SO_FAR: any(scene.running for scene in scenes),
        "window expires": any(life.end is End.EXPIRED for life in lives),
        **dict.fromkeys([*_TIMINGS.values(), *sorted(timings - {*_TIMINGS.values()})], False),
        **dict.fromkeys(timings, True),
        "withdrawal": any(box.withdrawn is not None for box in boxes),
        "watermark": any(scene.watermark for scene in scenes),
        "event time = processing time": any(scene.ideal for scene in scenes),
    }
    return [name for name, is_there in is_shown.items() if is_there]


def _column_width(entries: Sequence[str]) -> float:
    return _ENTRY + max((text_width(entry, "entry") for entry in entries), default=0)


def _draw_handle(around: Drawing, entry: str, left: float, y: float) -> None:
    """The mark of an entry of the legend, as it is in the picture."""
    fate = next((fate for fate in Fate if fate.value == entry), None)
    timings = {name: timing for timing, name in _TIMINGS.items()}
    if fate is not None:
        around.dot(fate, left + 12, y, RADIUS[fate])
    elif entry == SO_FAR:
        around.text("running", "= 7", left + 12, y, text_anchor="middle", font_size=12.5)
    elif entry.endswith("pane"):
        around.pane(timings.get(entry, ""), (left, y - 6, left + 24, y + 6), "handle")
    else:
        around.line(entry, (left, y), (left + 24, y))

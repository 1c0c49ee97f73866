"""A run as a picture: event time across, processing time up, the watermark between.

The figure of the article "Streaming 102", from any run on any host. Dots are elements, crosses
are elements that were dropped; each pane is the area of what it holds, from the first of it up to
where the pane fires, as wide as its window; the dashed line is the watermark. A stream without a
clock has its steps upwards instead. Stretches in which nothing happened are folded, so that a
straggler twelve hours later is still in the picture.

What is drawn is a `Scene` of plain values, or several, one above the other or side by side.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import ceil
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import RecordingError
from beamlike.extras import missing
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import how_many
from beamlike.palette.colours import DARK, LIGHT, Palette, timing_of
from beamlike.runtime.script import Arrive, Run
from beamlike.viz.axis import round_instants
from beamlike.viz.dots import dot_style
from beamlike.viz.moments import busiest, keys_of
from beamlike.viz.painting import Panel
from beamlike.viz.recording import Recording
from beamlike.viz.run_index import identity
from beamlike.viz.saving import frames_of, shown_in_notebooks
from beamlike.viz.scene import Box, End, Fate, Scene
from beamlike.viz.staging import scenes_of
from beamlike.viz.table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beamlike.model.strategy import WindowingStrategy

_DPI: Final = 100
_WIDTH: Final = 1100
_LEFT, _LEFT_OF_DATES, _RIGHT, _BETWEEN = 74, 96, 18, 30
_ROW, _LEAST, _MOST, _MOST_IN_ALL = 42, 200, 1200, 1700
_HEAD, _PANEL_HEAD, _FOOT, _LEGEND_ROW, _LINE = 60, 50, 56, 22, 19
_TITLE_LINE, _DATE = 26, 18
"""All in pixels."""
_LEGEND_ENTRY, _CHARACTER, _TITLE_CHARACTER = 220, 7.8, 12.0
"""The widths (pixels) that they take."""
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
) -> "Figure":
    """A run as a figure: one key, or a panel for each of the busiest.

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
        A figure, which a notebook shows by itself.

    Raises:
        RecordingError: The run has no such key, or no keys at all.
        EnvironmentProblem: matplotlib is not installed.
    """
    keys = known_keys(run, key)
    shown = busiest(run, keys, _MOST_PANELS)
    note = ""
    if len(shown) < len(keys):
        note = f"the busiest {len(shown)} of {len(keys)} keys; name one to draw another"
    recording = None
    if strategy is not None and aggregate is not None:
        recording = _recording_of(run, strategy, aggregate)
    return figure(scenes_of(run, strategy, shown, recording), note, dark=dark)


def _recording_of(
    run: Run, strategy: "WindowingStrategy", aggregate: CombineFn
) -> Recording | None:
    """A run step by step; None if it is a long one, or does not happen again."""
    if sum(len(it.elements) for it in run.script if isinstance(it, Arrive)) > _MOST_REPLAYED:
        return None
    with suppress(RecordingError):
        return Recording.of(run, strategy, aggregate)
    return None


def known_keys(run: Run, key: Any = None) -> list[Any]:
    """The keys of a run, or only the one that is asked for."""
    keys = keys_of(run)
    if not keys:
        raise RecordingError("there is nothing to draw: no elements came, and nothing came out")
    if key is None:
        return keys
    if identity(key) not in map(identity, keys):
        some = ", ".join(shorten(key, 30) for key in keys[:8]) + (", ..." if len(keys) > 8 else "")
        raise RecordingError(f"key: the run has no key {shorten(key, 60)}; it has {some}")
    return [key]


def figure(
    scenes: Scene | Sequence[Scene],
    note: str = "",
    *,
    title: str = "",
    columns: int = 1,
    width: int = _WIDTH,
    dark: bool = False,
) -> "Figure":
    """Scenes as a figure, one above the other or in columns.

    Args:
        scenes: One, or several with the same rows and the same event time.
        note: A line below the title, beside the scene's own.
        title: The title; without one it is that of the scene, or the number of keys.
        columns: So many scenes stand side by side.
        width: How wide it is (pixels).

    Returns:
        A figure. It belongs to no window and to no ``pyplot``; a notebook shows it by itself.
    """
    every = [scenes] if isinstance(scenes, Scene) else list(scenes)
    if not title:
        title = every[0].title if len(every) == 1 else f"{len(every)} keys"
    plan = _FigurePlan(every, title, note, columns, width, DARK if dark else LIGHT)
    made = plan.draw()
    made.set_label(figure_text(every, note))
    shown_in_notebooks(made)
    frames_of(made, partial(_frames, plan))
    return made


def _frames(plan: "_FigurePlan") -> Iterator["Figure"]:
    """The figure once for each instant, with what has happened until then."""
    for now in sorted({instant for scene in plan.scenes for instant in scene.instants}):
        yield plan.draw(now)


@attrs.frozen
class _FigurePlan:
    """Where everything in a figure lies."""

    scenes: list[Scene]
    title: str
    note: str
    columns: int
    width: int
    palette: Palette

    @property
    def entries(self) -> list[str]:
        """What the legend names."""
        return entries_of(self.scenes)

    @property
    def in_legend_row(self) -> int:
        """So many entries of the legend stand side by side."""
        rows = ceil(len(self.entries) / max(self.width // _LEGEND_ENTRY, 1))
        return ceil(len(self.entries) / max(rows, 1)) or 1

    @property
    def rows(self) -> int:
        """So many panels stand one above the other."""
        return ceil(len(self.scenes) / self.columns)

    @property
    def foot(self) -> int:
        """How high it is below the panels."""
        dated = any("\n" in words for _, words in _instants(self.scenes[0]))
        legend_rows = ceil(len(self.entries) / self.in_legend_row)
        return _FOOT + _LEGEND_ROW * legend_rows + _DATE * dated

    @property
    def left(self) -> int:
        """How wide it is beside the panels, where the labels of rows stand."""
        return _LEFT_OF_DATES if any("\n" in tick.label for tick in self.scenes[0].ticks) else _LEFT

    @property
    def panel_head(self) -> int:
        """How high it is above each panel."""
        return _PANEL_HEAD if len(self.scenes) > 1 else 0

    @property
    def panel(self) -> tuple[int, int]:
        """The size of a panel."""
        across = (self.width - self.left - _RIGHT - (self.columns - 1) * _BETWEEN) // self.columns
        rows = max(scene.rows[1] - scene.rows[0] for scene in self.scenes)
        most = _MOST if self.rows == 1 else _MOST_IN_ALL // self.rows
        return across, int(min(max(rows * _ROW, _LEAST), most))

    def lines(self) -> list[str]:
        """What stands below the title."""
        room = int((self.width - 30) / _CHARACTER)
        style: dict[str, Any] = {"max_lines": _MOST_NOTE_LINES, "placeholder": " ..."}
        texts = [self.scenes[0].note, *self.note.split("\n")]
        return [it for text in texts for it in wrap(text, room, break_on_hyphens=False, **style)]

    def draw(self, now: float | None = None) -> "Figure":
        """Draw all of it, or what has happened up to a row."""
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise missing("a picture", ["matplotlib"], "demo") from error
        titles = wrap(self.title, int((self.width - 30) / _TITLE_CHARACTER)) or [""]
        lines = self.lines()
        # Labels that find no room are counted once they are placed.
        head = _HEAD - self.panel_head // 2 + _TITLE_LINE * (len(titles) - 1)
        head += _LINE * (len(lines) + 1)
        across, tall = self.panel
        height = head + (tall + self.panel_head) * self.rows + self.foot
        size = (self.width / _DPI, height / _DPI)
        # A figure of its own: pyplot would keep it alive and may look for a display.
        made = Figure(figsize=size, dpi=_DPI, facecolor=self.palette.paper)
        canvas: Any = FigureCanvasAgg(made)
        unnamed: Counter[str] = Counter()
        for number, scene in enumerate(self.scenes):
            row, column = divmod(number, self.columns)
            left = self.left + column * (across + _BETWEEN)
            bottom = self.foot + (self.rows - 1 - row) * (tall + self.panel_head)
            place = (left / self.width, bottom / height, across / self.width, tall / height)
            axes = made.add_axes(place, label=scene.title)
            shown = scene if now is None else scene.until(now)
            panel = Panel(shown, axes, canvas.get_renderer(), self.palette)
            panel.draw()
            unnamed.update(panel.unnamed)
            self._name_axes(axes, scene, number)
        if unnamed:
            parts = [how_many(unnamed[kind], kind) for kind in sorted(unnamed)]
            lines.append(f"without a label, for want of room: {' and '.join(parts)}")
        self._write(made, titles, lines)
        legend(made, self.entries, self.in_legend_row, self.palette)
        return made

    def _name_axes(self, axes: Any, scene: Scene, number: int) -> None:
        """What goes across and upwards; the name of the panel, if there are several."""
        colours = self.palette
        column = number % self.columns
        last = number + self.columns >= len(self.scenes)
        axes.tick_params(labelbottom=last, labelleft=column == 0)
        if last:
            axes.set_xlabel(f"{scene.event_axis} \u2192", loc="right", fontsize=9.5)
            axes.xaxis.label.set_color(colours.muted)
        if column == 0:
            up = f"\u2191 {scene.arrival_axis}"
            axes.set_ylabel(up, rotation=0, ha="left", va="bottom", fontsize=9.5)
            axes.yaxis.label.set_color(colours.muted)
            tall = axes.bbox.height
            axes.yaxis.set_label_coords(-(self.left - 10) / axes.bbox.width, 1 + 2 / tall)
        if len(self.scenes) > 1:
            style = {"fontsize": 11, "weight": "bold", "color": colours.ink, "va": "bottom"}
            where = {"xycoords": "axes fraction", "textcoords": "offset points"}
            axes.annotate(scene.title, (0, 1), (0, 18), parse_math=False, **where, **style)

    def _write(self, made: Any, titles: Sequence[str], lines: Sequence[str]) -> None:
        height, left = made.bbox.height, 16 / self.width
        title = {"fontsize": 14, "fontweight": "bold", "va": "top", "color": self.palette.ink}
        made.text(left, 1 - 12 / height, "\n".join(titles), parse_math=False, **title)
        note = {"fontsize": 9.5, "va": "top", "linespacing": 1.25, "color": self.palette.muted}
        down = 16 + _TITLE_LINE * len(titles)
        made.text(left, 1 - down / height, "\n".join(lines), parse_math=False, **note)


def _instants(scene: Scene) -> list[tuple[int, str]]:
    return round_instants(scene.event, *scene.span, 8)


def figure_text(scenes: Scene | Sequence[Scene], note: str = "") -> str:
    """A picture in sentences, for those who cannot see it."""
    every = [scenes] if isinstance(scenes, Scene) else list(scenes)
    sentences = [scene.text() for scene in every]
    if every[0].note:
        sentences.append(f"Windowing: {every[0].note}.")
    sentences += [f"{line[0].upper()}{line[1:]}." for line in note.split("\n") if line]
    return " ".join(sentences)


SO_FAR: Final = "value of the window so far"
_TIMINGS: Final = {"EARLY": "early pane", "ON_TIME": "on time pane", "LATE": "late pane"}


def entries_of(scenes: Sequence[Scene]) -> list[str]:
    """What there is to name, in the order of a legend."""
    boxes = [box for scene in scenes for box in scene.boxes]
    lives = [life for scene in scenes for life in scene.lives]
    fates = {mark.fate for scene in scenes for mark in scene.marks}
    timings = {_name(box) for box in boxes}
    there = {
        **{fate.value: fate in fates for fate in Fate},
        SO_FAR: any(scene.running for scene in scenes),
        "window expires": any(life.end is End.EXPIRED for life in lives),
        **dict.fromkeys([*_TIMINGS.values(), *sorted(timings - {*_TIMINGS.values()})], False),
        **dict.fromkeys(timings, True),
        "withdrawal": any(box.withdrawn is not None for box in boxes),
        "watermark": any(scene.watermark for scene in scenes),
        "event time = processing time": any(scene.ideal for scene in scenes),
    }
    return [name for name, is_there in there.items() if is_there]


def _name(box: Box) -> str:
    return _TIMINGS.get(box.timing, "pane")


def legend(figure: Any, entries: Sequence[str], columns: int, palette: Palette) -> None:
    """Write a legend below everything else."""
    figure.legend(
        [_handle(name, palette) for name in entries],
        entries,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.05 / figure.get_figheight()),
        ncols=columns,
        frameon=False,
        fontsize=9,
        labelcolor=palette.muted,
        handletextpad=0.5,
        columnspacing=1.2,
    )


def _handle(name: str, palette: Palette) -> Any:
    from matplotlib.lines import Line2D

    quiet = {"color": palette.muted}
    lines: Mapping[str, dict[str, Any]] = {
        SO_FAR: {**quiet, "marker": "$=7$", "ls": "none", "ms": 15, "mew": 0},
        "window expires": {**quiet, "lw": 2.5, "alpha": 0.65},
        "withdrawal": {**quiet, "lw": 1.3, "ls": (0, (2, 2))},
        "watermark": {"color": palette.water, "lw": 1.9, "ls": (0, (3.2, 1.4))},
        "event time = processing time": {**quiet, "lw": 1.2, "ls": (0, (1, 3))},
        **{fate.value: _dot(fate, palette) for fate in Fate},
    }
    return Line2D([], [], **lines[name]) if name in lines else _pane(name, palette)


def _dot(fate: Fate, palette: Palette) -> dict[str, Any]:
    style = dot_style(fate, palette)
    face, edge = (style.get(part, palette.muted) for part in ("facecolor", "edgecolor"))
    looks = {"ms": style["s"] ** 0.5, "mfc": face, "mec": edge, "mew": style["lw"]}
    return {"color": face, "marker": style["marker"], "ls": "none", **looks}


def _pane(name: str, palette: Palette) -> Any:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    timing = next((timing for timing, words in _TIMINGS.items() if words == name), "")
    look, colour = timing_of(timing), palette.of(timing)
    edge: dict[str, Any] = {"edgecolor": to_rgba(colour), "lw": 1.5, "hatch": look.hatch}
    outline = (0, look.dashes) if look.dashes else "-"
    return Patch(facecolor=to_rgba(colour, look.ground), ls=outline, **edge)

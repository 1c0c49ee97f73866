"""A run as a picture: event time across, arrival up, the watermark between.

The figure of the article "Streaming 102", from any run on any host. Dots are elements, crosses
are elements that were dropped; each pane is a box from the firing before it up to its own, as
wide as its window; the dashed line is the watermark. Stretches in which nothing happened are
folded, so that a straggler twelve hours later is still in the picture.

What is drawn is a `Scene` of plain values, or several, one above the other.
"""

import io
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape

from beamlike.errors import EnvironmentProblem, RecordingError
from beamlike.extras import missing
from beamlike.model.fingerprint import how_many
from beamlike.runtime.script import Run
from beamlike.viz.axis import round_instants
from beamlike.viz.labels import missing_letters
from beamlike.viz.painting import Panel, single_window
from beamlike.viz.run_index import busiest, identity, keys_of
from beamlike.viz.scene import End, Fate, Scene
from beamlike.viz.staging import scenes_of
from beamlike.viz.table import shorten

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from beamlike.model.strategy import WindowingStrategy

__all__ = ["draw", "figure", "figure_of", "figure_text"]

_WIDTH: Final = 11.0
_LEFT, _RIGHT, _MARGIN_FOR_NAMES = 1.35, 0.45, 3.25
_ROW, _LEAST, _MOST, _MOST_IN_ALL = 0.42, 2.0, 12.0, 17.0
_HEAD, _PANEL_HEAD, _FOOT, _LEGEND_ROW, _NOTE = 0.55, 0.38, 0.62, 0.24, 0.2
"""All in inches."""
_IN_LEGEND_ROW: Final = 6
_ORDER: Final = [
    *(fate.value for fate in Fate),
    *(f"{timing} pane" for timing in ("early", "on time", "late", "withdrawn")),
    *("watermark", "window expires", "no delay at all"),
]
_NOTE_LETTERS: Final = 125
_MOST_NOTE_LINES: Final = 3
_FEW_LABELS: Final = 6
"""More labels than these may not all find room, and then a line says so."""
_MOST_PANELS: Final = 4
_DPI: Final = 100
_SAVED_DPI: Final = 150


def figure_of(run: Run, strategy: "WindowingStrategy | None" = None, key: Any = None) -> "Figure":
    """A run as a figure: one key, or a panel for each of the busiest.

    Args:
        run: A run of any host.
        strategy: How it was windowed; without it the picture does not know when windows open
            and expire.
        key: The key to draw. None: all, the four with the most elements and panes if there are
            more.

    Returns:
        A figure, which a notebook shows by itself.

    Raises:
        RecordingError: The run has no such key, or no keys at all.
        EnvironmentProblem: matplotlib is not installed.
    """
    keys = keys_of(run)
    if not keys:
        raise RecordingError("there is nothing to draw: no elements came, and nothing came out")
    if key is not None and identity(key) not in map(identity, keys):
        some = ", ".join(shorten(it, 30) for it in keys[:8]) + (", ..." if len(keys) > 8 else "")
        raise RecordingError(f"key: the run has no key {shorten(key, 60)}; it has {some}")
    shown = [key] if key is not None else busiest(run, keys, _MOST_PANELS)
    note = ""
    if len(shown) < len(keys) and key is None:
        note = f"the busiest {len(shown)} of {len(keys)} keys; name one to draw another"
    return figure(scenes_of(run, strategy, shown), note)


def figure(scenes: Scene | Sequence[Scene], note: str = "") -> "Figure":
    """Scenes as a figure, one above the other.

    Args:
        scenes: One, or several with the same rows and the same event time.
        note: A line below the title, beside the scene's own.

    Returns:
        A figure. It belongs to no window and to no ``pyplot``; a notebook shows it by itself.

    Raises:
        EnvironmentProblem: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing("a picture", ["matplotlib"], "demo") from error
    every = [scenes] if isinstance(scenes, Scene) else list(scenes)
    lines = wrap(
        every[0].note,
        _NOTE_LETTERS,
        max_lines=_MOST_NOTE_LINES,
        placeholder=" ...",
        break_on_hyphens=False,
    )
    lines += [note] if note else []
    kinds = ceil(len(_kinds(every)) / _IN_LEGEND_ROW)
    alone = len(every) == 1 and single_window(every[0])
    rows = max(scene.rows[1] - scene.rows[0] for scene in every)
    tall = min(max(rows * _ROW, _LEAST), _MOST if len(every) == 1 else _MOST_IN_ALL / len(every))
    heads = _PANEL_HEAD if len(every) > 1 else 0.0
    head = _HEAD + _NOTE * (len(lines) + (_labels(every) > _FEW_LABELS))
    dated = any("\n" in words for _, words in round_instants(every[0].event, *every[0].span, 8))
    foot = _FOOT + _LEGEND_ROW * kinds + _NOTE * dated
    height = head + (tall + heads) * len(every) + foot
    # A figure of its own: pyplot would keep it alive and may look for a display.
    made = Figure(figsize=(_WIDTH, height), dpi=_DPI, facecolor="white")
    canvas: Any = FigureCanvasAgg(made)
    renderer = canvas.get_renderer()
    across = _WIDTH - _LEFT - (_MARGIN_FOR_NAMES if alone else _RIGHT)
    left_out: Counter[str] = Counter()
    for number, scene in enumerate(every):
        bottom = foot + (len(every) - 1 - number) * (tall + heads)
        axes = made.add_axes(
            (_LEFT / _WIDTH, bottom / height, across / _WIDTH, tall / height),
            label=scene.title,
        )
        if len(every) > 1:
            _write(axes, scene.title, 0, 1, 8, 11, weight="bold")
        panel = Panel(scene, axes, renderer, alone=alone)
        panel.draw(last=number + 1 == len(every))
        left_out.update(panel.unnamed)
    if left_out:
        parts = [how_many(left_out[kind], kind) for kind in sorted(left_out)]
        lines.append(f"without a label, for want of room: {' and '.join(parts)}")
    title = every[0].title if len(every) == 1 else f"{len(every)} keys"
    place = _LEFT / _WIDTH * 0.25
    for text, up, size, style in (
        (title, 0.34, 14, {"fontweight": "bold"}),
        ("\n".join(lines), 0.48, 9.5, {"color": "#555555", "va": "top", "linespacing": 1.25}),
    ):
        made.text(place, 1 - up / height, text, fontsize=size, parse_math=False, **style)
    _legend(made, height)
    made.set_label(figure_text(every, note))
    vars(made)["_repr_mimebundle_"] = partial(_for_notebooks, made)
    return made


def draw(picture: "Figure | Scene | Sequence[Scene]", path: str | Path) -> None:
    """Write a picture; the ending of ``path`` decides the format: png, svg or pdf.

    An SVG has its title and its text in words inside, for screen readers; a PNG and a PDF have
    them in their metadata.

    Args:
        picture: A figure of `figure`, or what it takes.
        path: Where to.

    Raises:
        EnvironmentProblem: matplotlib is not installed, or the file cannot be written there.
        RecordingError: ``path`` has no ending that says a format.
    """
    made: Any = picture if hasattr(picture, "savefig") else figure(picture)
    target = Path(path)
    formats = made.canvas.get_supported_filetypes()
    if target.suffix[1:].lower() not in formats:
        ending = f"has the ending {target.suffix}" if target.suffix else "has no ending"
        raise RecordingError(
            f"path: {path} {ending}, which is no format of a picture; end it with .png, .svg or "
            f".pdf (matplotlib writes {', '.join(sorted(formats))})"
        )
    try:
        _write_file(made, target)
    except OSError as error:
        raise EnvironmentProblem(
            f"the picture cannot be written to {path} ({error.strerror}); name a file in a "
            "folder that exists"
        ) from error


def _write_file(made: Any, target: Path) -> None:
    words = made.get_label()
    title = words.partition(".")[0]
    match target.suffix.lower():
        case ".svg":
            target.write_text(_svg(made, title, words), encoding="utf-8")
        case ".pdf":
            _save(made, target, metadata={"Title": title, "Subject": words})
        case ".png":
            _save(made, target, metadata={"Title": title, "Description": words})
        case _:
            _save(made, target)


def figure_text(scenes: Scene | Sequence[Scene], note: str = "") -> str:
    """A picture in sentences, for those who cannot see it."""
    every = [scenes] if isinstance(scenes, Scene) else list(scenes)
    told = [scene.text() for scene in every]
    if every[0].note:
        told.append(f"Windowing: {every[0].note}.")
    return " ".join([*told, f"{note[0].upper()}{note[1:]}."] if note else told)


def _kinds(scenes: Sequence[Scene]) -> set[Any]:
    """What the legend will have to name."""
    kinds = {mark.fate for scene in scenes for mark in scene.marks}
    boxes = [box for scene in scenes for box in scene.boxes]
    named = {"withdrawn" if box.withdrawn is not None else box.timing for box in boxes}
    ends = {life.end for scene in scenes for life in scene.lives} & {End.EXPIRED}
    lines = {"never late" for scene in scenes if scene.never_late} | {"watermark"}
    return {*kinds, *named, *ends, *lines}


def _labels(scenes: Sequence[Scene]) -> int:
    return sum(len(scene.marks) + len(scene.boxes) for scene in scenes)


def _write(axes: Any, words: str, x: float, y: float, up: float, size: float, **style: Any) -> None:
    axes.annotate(
        words,
        (x, y),
        xycoords="axes fraction",
        xytext=(0, up),
        textcoords="offset points",
        fontsize=size,
        parse_math=False,
        **style,
    )


def _legend(made: Any, height: float) -> None:
    entries: dict[str, Any] = {}
    for axes in made.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    ordered = sorted(entries, key=lambda label: _ORDER.index(label) if label in _ORDER else 0)
    rows = ceil(len(ordered) / _IN_LEGEND_ROW)
    made.legend(
        [entries[label] for label in ordered],
        ordered,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.05 / height),
        ncols=ceil(len(ordered) / max(rows, 1)) or 1,
        frameon=False,
        fontsize=9.5,
    )


# -- formats -------------------------------------------------------------------------------


def _save(made: Any, target: Any, **options: Any) -> None:
    with missing_letters():
        made.savefig(target, **{"dpi": _SAVED_DPI, **options})


def _svg(made: Any, title: str, words: str) -> str:
    from matplotlib import rc_context

    paper = io.StringIO()
    with rc_context({"svg.hashsalt": "beamlike", "svg.fonttype": "path"}):
        _save(made, paper, format="svg", metadata={"Date": None})
    before, tag, after = paper.getvalue().partition("<svg ")
    attributes, end, content = after.partition(">")
    named = f'<title id="title">{escape(title)}</title><desc id="text">{escape(words)}</desc>'
    role = f'role="img" aria-labelledby="title text" {attributes}'
    return f"{before}{tag}{role}{end}\n {named}{content}"


def _for_notebooks(
    made: Any, *_: Any, **__: Any
) -> tuple[dict[str, Any], dict[str, dict[str, str]]]:
    """What a notebook shows: the picture, and its words for who cannot see it."""
    from PIL import Image  # comes with matplotlib

    drawn, paper = io.BytesIO(), io.BytesIO()
    save: Callable[..., None] = _save
    save(made, drawn, format="png", dpi=_DPI)
    # A palette of as many colours as it can hold looks the same at a third of the size.
    flat = Image.open(drawn).convert("RGB").quantize(method=Image.Quantize.MAXCOVERAGE)
    flat.save(paper, format="png", optimize=True)
    words = made.get_label()
    # The second is the text alternative for what makes pages of notebooks, such as nbconvert.
    return {"image/png": paper.getvalue(), "text/plain": words}, {"image/png": {"alt": words}}

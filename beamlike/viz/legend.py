"""What the marks of a picture mean."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from beamlike.palette.colours import Palette, timing_of
from beamlike.viz.dots import dot_style
from beamlike.viz.scene import Box, End, Fate, Scene

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

    def line(colour: str, **style: Any) -> Any:
        return Line2D([], [], color=colour, **style)

    def dot() -> Any:
        style = dot_style(Fate(name), palette)
        face, edge = (style.get(part, palette.muted) for part in ("facecolor", "edgecolor"))
        size = style["s"] ** 0.5
        looks = {"markersize": size, "markerfacecolor": face, "markeredgecolor": edge}
        return line(face, marker=style["marker"], ls="none", markeredgewidth=style["lw"], **looks)

    lines: Mapping[str, Callable[[], Any]] = {
        **{fate.value: dot for fate in Fate},
        SO_FAR: lambda: line(palette.muted, marker="$=7$", ls="none", ms=15, mew=0),
        "window expires": lambda: line(palette.muted, lw=2.5, alpha=0.65),
        "withdrawal": lambda: line(palette.muted, lw=1.3, ls=(0, (2, 2))),
        "watermark": lambda: line(palette.water, lw=1.9, ls=(0, (3.2, 1.4))),
        "event time = processing time": lambda: line(palette.muted, lw=1.2, ls=(0, (1, 3))),
    }
    return lines[name]() if name in lines else _pane(name, palette)


def _pane(name: str, palette: Palette) -> Any:
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    timing = next((it for it, words in _TIMINGS.items() if words == name), "")
    look, colour = timing_of(timing), palette.of(timing)
    outline = (0, look.dashes) if look.dashes else "-"
    style: dict[str, Any] = {
        "edgecolor": to_rgba(colour),
        "lw": 1.5,
        "ls": outline,
        "hatch": look.hatch,
    }
    return Patch(facecolor=to_rgba(colour, look.ground), **style)

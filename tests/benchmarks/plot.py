"""The picture: ratios with their bars, and how time grows with events and with touched state."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.report import Line, Times
from tests.benchmarks.works import SWEEPS

_COLOURS: Final = {"beamlike": "#1b7f79", "native": "#e0752d", "per-key": "#7a5195"}
_INK: Final = "#333333"
_FAINT: Final = "#bbbbbb"


def draw(lines: Sequence[Line], described: dict[str, str], path: Path) -> None:
    """Write a PNG with a panel of ratios, and one for each sweep that was run."""
    from matplotlib.figure import Figure

    ratios = [line for line in lines if not line.sweep and line.ratio is not None]
    curves = {
        sweep: [line for line in lines if line.sweep == sweep]
        for sweep in SWEEPS
        if any(line.sweep == sweep for line in lines)
    }
    panels = bool(ratios) + len(curves)
    figure = Figure(figsize=(6.5 * max(panels, 1), 5.8), layout="constrained")
    axes = list(figure.subplots(1, max(panels, 1), squeeze=False)[0])
    if ratios:
        _draw_ratios(axes.pop(0), ratios)
    for sweep, points in curves.items():
        _draw_curve(axes.pop(0), points, SWEEPS[sweep])
    spoken = (described[name] for name in ("processor", "memory", "spark", "python"))
    names = ("", "", "Spark ", "Python ")
    note = ", ".join(name + value for name, value in zip(names, spoken, strict=True))
    figure.supxlabel(note, fontsize=8, color=_INK)
    figure.savefig(path, dpi=130, format="png")


def _draw_ratios(axes: Any, lines: Sequence[Line]) -> None:
    """Above the baseline a bar goes right. The ticks are what must be reached, and the stretch."""
    for index, line in enumerate(lines):
        ratio = line.ratio or 0
        missed = line.verdict == "missed"
        axes.barh(
            index,
            ratio - 1,
            left=1,
            height=0.55,
            color=_COLOURS[line.subject.engine if line.subject else "beamlike"],
            alpha=0.45 if missed else 1,
        )
        edge = max(ratio, 1, *((line.bar.stretch,) if line.bar else ()))
        axes.annotate(
            f"{ratio:.2f} x" + (f"  {line.verdict}" if line.verdict else ""),
            (edge, index),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color="#b00020" if missed else _INK,
        )
        if line.bar:
            axes.plot([line.bar.least] * 2, [index - 0.4, index + 0.4], color="black", lw=2)
            axes.plot(
                [line.bar.stretch] * 2, [index - 0.4, index + 0.4], color="black", lw=1, ls=":"
            )
    axes.axvline(1, color=_INK, lw=1)
    axes.set_xscale("log")
    low = min([0.4, *(line.ratio or 1 for line in lines)])
    high = max([*(line.ratio or 1 for line in lines), *(b.stretch for b in _bars(lines))])
    axes.set_xlim(low * 0.8, high * 3.5)
    ticks = [
        tick for tick in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= tick <= high
    ]
    axes.set_xticks(ticks, [f"{tick:g} x" for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(lines)), [f"{line.work}\nvs {_against(line)}" for line in lines])
    axes.tick_params(labelsize=8)
    axes.invert_yaxis()
    axes.set_title("Times as fast as the baseline (solid tick: bar, dotted: stretch)", fontsize=10)
    _unframe(axes)


def _bars(lines: Sequence[Line]) -> list[Any]:
    return [line.bar for line in lines if line.bar]


def _against(line: Line) -> str:
    return line.baseline.name if line.baseline else ""


def _draw_curve(axes: Any, lines: Sequence[Line], along: str) -> None:
    for side in ("subject", "baseline"):
        points = [(line.events, times) for line in lines if (times := getattr(line, side))]
        if not points:
            continue
        xs = [events for events, _ in points]
        ys = [times.median_ms for _, times in points]
        colour = _COLOURS[points[0][1].engine]
        axes.plot(xs, ys, marker="o", color=colour, lw=1.8, label=points[0][1].name)
        spread = [_spread(times) for _, times in points]
        axes.errorbar(xs, ys, list(zip(*spread, strict=True)), color=colour, fmt="none", capsize=3)
        _draw_straight(axes, (xs[0], ys[0]), (xs[-1], ys[-1]), colour)
    axes.plot([], [], color=_INK, lw=0.8, ls=":", label="fixed cost + cost of each")
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.set_xlabel(along, fontsize=9)
    axes.set_title(f"Median time of a micro-batch, ms, by {along}", fontsize=10)
    axes.grid(color="#eeeeee")
    axes.legend(frameon=False, fontsize=9)
    axes.tick_params(labelsize=8)
    _unframe(axes)


def _draw_straight(
    axes: Any, first: tuple[float, float], last: tuple[float, float], colour: str
) -> None:
    """Where all points would lie if time were linear; a straight line is bent on these axes."""
    (x0, y0), (x1, y1) = first, last
    xs = [x0 * (x1 / x0) ** (step / 100) for step in range(101)]
    slope = (y1 - y0) / (x1 - x0) if x1 > x0 else 0
    axes.plot(xs, [y0 + slope * (x - x0) for x in xs], color=colour, lw=1, ls=":")


def _spread(times: Times) -> tuple[float, float]:
    middle = times.median_ms
    return middle - min(times.samples_ms), max(times.samples_ms) - middle


def _unframe(axes: Any) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_FAINT)

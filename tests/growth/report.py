"""Measured points as a table and as a picture, and how far they are from a straight line."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import frozen

from tests.growth.axes import AXES, Axis

_COLOUR: Final = "#1b7f79"
_MEMORY: Final = "#7a5195"
_INK: Final = "#333333"


@frozen
class Point:
    """One run.

    Args:
        at: The figure that grows.
        ms: What each measured micro-batch took.
        worker_mb: The peak of the largest Python worker; 0: it was not measured.
        jvm_mb: What Java holds in memory in the end, as Linux counts it; 0: the same.
    """

    at: int
    ms: tuple[int, ...]
    worker_mb: int
    jvm_mb: int

    @property
    def median(self) -> float:
        return statistics.median(self.ms)


@frozen
class Straight:
    """The straight line next to some points.

    Args:
        fixed: Where it begins, ms.
        each: What one more costs, ms.
        off: The largest distance of a point from it, as part of the point's own time.
    """

    fixed: float
    each: float
    off: float


def straight(points: Sequence[Point]) -> Straight:
    """The line whose relative distances from the points have the least squares."""
    xs = np.array([point.at for point in points], float)
    ys = np.array([point.median for point in points], float)
    each, fixed = np.polyfit(xs, ys, 1, w=1 / ys)
    off = np.abs(fixed + each * xs - ys) / ys
    return Straight(float(fixed), float(each), float(off.max()))


def section(axis: Axis, points: Sequence[Point]) -> str:
    """A table of an axis, with a sentence on its line."""
    rows = [
        f"| {point.at:,} | {point.median:,.0f} | {min(point.ms):,} to {max(point.ms):,} "
        f"| {_megabytes(point.worker_mb)} | {_megabytes(point.jvm_mb)} |"
        for point in points
    ]
    head = [f"| {axis.along} | ms | from, to | worker, MB | Java, MB |", "|---|---|---|---|---|"]
    line = straight(points)
    unit, name = (1000, "1,000 of them") if points[-1].at > 1000 else (1, "each")
    said = (
        f"A straight line: {line.fixed:,.0f} ms and {_short(line.each * unit)} ms for {name}, "
        f"off by {line.off:.0%} at most."
    )
    return "\n".join([f"## {axis.name.capitalize()}", "", *head, *rows, "", said, ""])


def _megabytes(size: int) -> str:
    return f"{size:,}" if size else ""


def _short(ms: float) -> str:
    if abs(ms) < 0.1:
        return "0"
    return f"{ms:,.0f}" if ms >= 10 else f"{ms:.2g}"


def draw(measured: Mapping[str, Sequence[Point]], note: str, path: Path) -> None:
    """A panel for each axis: the time with its straight line, and the memory of a worker."""
    from matplotlib.figure import Figure

    axes = [axis for axis in AXES if axis.name in measured]
    rows = -(-len(axes) // 3)
    figure = Figure(figsize=(15, 4.4 * rows), layout="constrained")
    panels = figure.subplots(rows, 3, squeeze=False).flat
    for panel in panels:
        panel.set_visible(False)
    for axis, panel in zip(axes, figure.axes, strict=False):
        panel.set_visible(True)
        _panel(panel, axis, measured[axis.name])
    figure.supxlabel(note, fontsize=8, color=_INK)
    figure.savefig(path, dpi=110, format="png")


def _panel(panel: Any, axis: Axis, points: Sequence[Point]) -> None:
    xs = [point.at for point in points]
    line = straight(points)
    ends = [0, xs[-1]]
    panel.plot(
        ends, [line.fixed + line.each * x for x in ends], color=_INK, lw=0.9, ls=":", label="linear"
    )
    low = [point.median - min(point.ms) for point in points]
    high = [max(point.ms) - point.median for point in points]
    ys = [point.median for point in points]
    panel.errorbar(xs, ys, [low, high], color=_COLOUR, marker="o", lw=1.8, capsize=3, label="time")
    panel.set_ylim(0, max(map(max, (point.ms for point in points))) * 1.15)
    panel.set_xlim(0, xs[-1] * 1.04)
    panel.set_ylabel("median time of a micro-batch, ms", fontsize=8, color=_COLOUR)
    panel.set_title(axis.along, fontsize=10)
    panel.locator_params(axis="x", nbins=5)
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    if not any(point.worker_mb for point in points):
        panel.tick_params(labelsize=8)
        return
    memory = panel.twinx()
    memory.plot(
        xs,
        [point.worker_mb for point in points],
        color=_MEMORY,
        marker="s",
        ms=4,
        lw=1,
        label="memory",
    )
    memory.set_ylim(0, max(point.worker_mb for point in points) * 1.6)
    memory.set_ylabel("largest Python worker, MB", fontsize=8, color=_MEMORY)
    for each in (panel, memory):
        each.tick_params(labelsize=8)
        each.spines["top"].set_visible(False)
    handles = [*panel.get_legend_handles_labels()[0], *memory.get_legend_handles_labels()[0]]
    panel.legend(handles, ["linear", "time", "memory"], frameon=False, fontsize=8, loc="upper left")

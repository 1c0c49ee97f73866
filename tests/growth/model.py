"""The model of ``beamlike plan`` beside what was measured along each axis that it knows."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from beamlike.inspect.cost import Load, Machines, cost_of
from tests.growth.report import Point

FACTOR: Final = 1.5
"""The model is within it, up or down, with one speed for each axis: each was measured at a time of
its own, on a machine with more or less other work."""

KNOWN: Final[Mapping[str, Callable[[int, float], tuple[Load, Machines]]]] = {
    "events": lambda value, speed: (Load(value), _machines(speed)),
    "stages": lambda value, speed: (Load(50_000, groupings=value), _machines(speed)),
    "shards": lambda value, speed: (Load(100_000), _machines(speed, shards=value)),
    "tasks": lambda value, speed: (Load(20_000, groupings=3), _machines(speed, partitions=value)),
    # A join is a grouping, and so is what it joins: the first one, and one for each join.
    "joins": lambda value, speed: (Load(50_000, groupings=1 + 2 * value), _machines(speed)),
}
"""What each value of an axis is to the model, with a speed."""


def _machines(speed: float, shards: int = 8, partitions: int = 2) -> Machines:
    return Machines(1, 2, shards, partitions, speed)


def predicted_ms(axis: str, value: int, speed: float) -> float:
    """What the model says of a micro-batch."""
    return cost_of(*KNOWN[axis](value, speed)).seconds * 1000


def speed_of(axis: str, points: Sequence[Point]) -> float:
    """The speed with which the model is as often above the points as below."""
    ratios = [math.log(predicted_ms(axis, point.at, 1.0) / point.median) for point in points]
    return math.exp(sum(ratios) / len(ratios))


def section(measured: Mapping[str, Sequence[Point]]) -> str:
    """A table: each point, and what the model says of it."""
    lines = [
        "## The model",
        "",
        "What `beamlike plan` says of these, with one speed for each axis: each was measured at a",
        "time of its own, `tasks` while the machine had much other work.",
        "",
        "| axis | speed | measured ms (model) | off by a factor of |",
        "|---|---|---|---|",
    ]
    for axis, points in measured.items():
        if axis not in KNOWN:
            continue
        speed = speed_of(axis, points)
        said = [predicted_ms(axis, point.at, speed) for point in points]
        cells = ", ".join(
            f"{point.at:,}: {point.median:,.0f} ({ms:,.0f})"
            for point, ms in zip(points, said, strict=True)
        )
        off = max(
            max(ms / point.median, point.median / ms)
            for point, ms in zip(points, said, strict=True)
        )
        lines.append(f"| {axis} | {speed:.2f} | {cells} | {off:.1f} |")
    return "\n".join([*lines, ""])

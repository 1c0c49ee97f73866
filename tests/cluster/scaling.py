"""The model of cost beside clusters of one, two and three executors with a part of a core each."""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from beamlike.inspect.cost import Load, Machines, cost_of
from tests.benchmarks.data import Stream, benchmark_files
from tests.cluster.cluster import DRIVER, WORKERS, Cluster
from tests.cluster.scaling_job import SHARDS

JOB: Final = Path(__file__).with_name("scaling_job.py")
EVENTS: Final = 60_000
GROUPINGS: Final = (2,)
CORES: Final = 0.7
"""Of a core for each host."""
FACTOR: Final = 2.0
"""The model is within it, up or down, with the speed that the first of the figures shows."""
_BATCHES: Final = 5
_WARM: Final = 2


@attrs.frozen
class Measured:
    """The median time of a micro-batch on executors with a core each, of groupings in a row."""

    executors: int
    groupings: int
    seconds: float


def measured(built: Cluster) -> list[Measured]:
    """Run the job on one executor, on two and on three."""
    times = []
    with benchmark_files() as files:
        source = files.of(Stream(EVENTS, EVENTS * 2 // 5, _BATCHES)).timed
        for groupings in GROUPINGS:
            for executors in range(1, len(WORKERS) + 1):
                name = f"{executors}-{groupings}"
                settings = built.settings(**{"spark.cores.max": str(executors)})
                checkpoint = built.shared / f"checkpoint-{name}"
                command = (JOB, str(source), str(checkpoint), str(groupings))
                job = built.submit(name, settings, *command)
                assert job.wait(600) == 0, built.log(DRIVER, name)[-3000:]
                lines = built.log(DRIVER, name).splitlines()
                took = next(json.loads(line) for line in lines if line.startswith("["))
                assert len(took) == _BATCHES, took
                median = statistics.median(took[_WARM:]) / 1000
                times.append(Measured(executors, groupings, median))
    return times


def predicted(executors: int, groupings: int, speed: float) -> float:
    """What the model says of the same."""
    machines = Machines(executors, 1, SHARDS, SHARDS, speed)
    return cost_of(Load(EVENTS, groupings=groupings), machines).seconds


def fitted_speed(times: list[Measured]) -> float:
    """The speed with which the model says what the first of the figures is."""
    first = times[0]
    low, high = 0.01, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        if predicted(first.executors, first.groupings, middle) > first.seconds:
            low = middle
        else:
            high = middle
    return low


def shown(times: list[Measured]) -> tuple[str, Mapping[Measured, float]]:
    """The figures in a line, and how far the model is from each of them."""
    speed = fitted_speed(times)
    ratios = {
        time: predicted(time.executors, time.groupings, speed) / time.seconds for time in times
    }
    cells = ", ".join(
        f"{time.groupings} on {time.executors}: {time.seconds:.1f} s (model "
        f"{predicted(time.executors, time.groupings, speed):.1f})"
        for time in times
    )
    return f"speed {speed:.2f}; groupings on executors: {cells}", ratios

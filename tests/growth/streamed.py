"""A pipeline in this process: ``python -m tests.growth.streamed HOST ELEMENTS``.

Three maps and a count, and how much memory they take at most: a line of JSON. Its parts are never
in memory together, and so the memory does not grow with the number of elements.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attrs import asdict, frozen

import beamlike.beam as beam
from tests.benchmarks.workers import status_bytes

HOSTS: Final = ("memory", "local")
ELEMENTS: Final = (300_000, 3_000_000, 10_000_000)
KEYS: Final = 100


@frozen
class Streamed:
    """What a run took, and the most memory that its process had (MiB)."""

    host: str
    elements: int
    seconds: float
    mebibytes: int


def run(host: Any, elements: int) -> Streamed:
    """Run the pipeline in this process."""
    began = time.monotonic()
    pipeline = beam.Pipeline()
    counts = (
        pipeline
        | beam.Create(range(elements))
        | "Add" >> beam.Map(lambda number: number + 1)
        | "Double" >> beam.Map(lambda number: 2 * number)
        | "Pair" >> beam.Map(lambda number: (number // 2 % KEYS, number))
        | beam.combiners.Count.PerKey()
    )
    came = [output.element.value for output in pipeline.run(host).out_of(counts.edge)]
    if sorted(came) != [(key, elements // KEYS) for key in range(KEYS)]:
        raise ValueError(f"not {elements // KEYS} of each key: {came}")
    return Streamed(host, elements, round(time.monotonic() - began, 1), _peak() >> 20)


def _peak() -> int:
    """The most memory that this process has had, bytes."""
    # Linux counts what the process had that started this one in ru_maxrss, too.
    in_status = status_bytes(Path("/proc/self"), "VmHWM")
    if in_status is not None:
        return in_status
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def measured(host: str, elements: int) -> Streamed:
    """Run the pipeline in a process of its own."""
    command = [sys.executable, "-m", "tests.growth.streamed", host, str(elements)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return Streamed(**json.loads(answer.stdout))


def section(runs: Sequence[Streamed]) -> str:
    """A table."""
    lines = [
        "## Elements of a pipeline",
        "",
        "Three maps and a count in this process; the peak of its memory does not grow.",
        "",
        "| host | elements | s | MiB |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {it.host} | {it.elements:,} | {it.seconds:,.1f} | {it.mebibytes} |" for it in runs
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(json.dumps(asdict(run(sys.argv[1], int(sys.argv[2])))))

"""One pipeline of plain functions, for Apache Beam and for beamlike: the same lines for both.

Run as a file, in an environment that has one of them: ``python element_job.py MODULE RUNNER EVENTS
OUTPUT``. Prints a line of JSON: the processor time that a run took, after a first small run that
imports everything. What comes out is written to the file in one more run, which is not timed.
"""

import json
import random
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from typing import Any

KEYS_TO_EVENTS = 0.4
SPAN = 3_600
GAP = 600


def rows(count: int) -> list[tuple[str, int, int]]:
    """Keys, values and event times (s), in any order."""
    dice = random.Random(7)
    keys = max(1, int(count * KEYS_TO_EVENTS))
    return [
        (f"key-{dice.randrange(keys)}", dice.randrange(1_000), dice.randrange(SPAN))
        for _ in range(count)
    ]


class Stamp:
    """Gives a row its event time, in the words of this module."""

    def __init__(self, name: str) -> None:
        self.value = import_module(f"{name}.transforms.window").TimestampedValue
        self.stamp = import_module(f"{name}.utils.timestamp").Timestamp

    def __call__(self, row: tuple[str, int, int]) -> Any:
        return self.value(row, self.stamp(row[2]))


def pair(row: tuple[str, int, int]) -> tuple[str, int]:
    return row[0], row[1]


def line(total: tuple[str, int]) -> str:
    return f"{total[0]} {total[1]}"


class Written:
    """Adds lines to a file. It travels to workers by its name."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, text: str) -> str:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
        return text


def build(beam: Any, pipeline: Any, events: Iterable[Any], *after: Any) -> None:
    """Rows with event times to pairs, sessions, their sums, and lines of text."""
    lines = (
        pipeline
        | "Events" >> beam.Create(events)
        | "Stamp" >> beam.Map(Stamp(beam.__name__))
        | "Pair" >> beam.Map(pair)
        | "Sessions" >> beam.WindowInto(beam.window.Sessions(_duration(beam)))
        | "Sum" >> beam.CombinePerKey(sum)
        | "Line" >> beam.Map(line)
    )
    for number, each in enumerate(after):
        lines = lines | f"After {number}" >> beam.Map(each)


def _duration(beam: Any) -> Any:
    return import_module(f"{beam.__name__}.utils.timestamp").Duration(GAP)


def run(beam: Any, name: str, runner: str, count: int, *after: Any) -> float:
    """The processor time (s) of one run."""
    events = rows(count)
    if name == "apache_beam":
        fn_api_runner = import_module("apache_beam.runners.portability.fn_api_runner").FnApiRunner()
        pipeline, options = beam.Pipeline(runner=fn_api_runner), {}
    else:
        pipeline, options = beam.Pipeline(), {"host": runner}
    build(beam, pipeline, events, *after)
    before = time.process_time()
    result = pipeline.run(**options)
    if name == "apache_beam":
        result.wait_until_finish()
    return time.process_time() - before


def main(name: str, runner: str, count: int, output: str) -> None:
    beam = import_module(name)
    run(beam, name, runner, 100)
    took = [run(beam, name, runner, count) for _ in range(3)]
    run(beam, name, runner, count, Written(output))
    print(json.dumps({"cpu_seconds": took}))


if __name__ == "__main__":
    _, module, host, events, path = sys.argv
    main(module, host, int(events), path)

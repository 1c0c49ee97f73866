"""What an element of a pipeline costs: ``python -m tests.benchmarks.elements``.

The same pipeline, `tests.benchmarks.element_job`, runs on each host of this process and on Apache
Beam's own Python runner: one after the other, each in a process of its own. ``--beam`` names a
Python that has Apache Beam; without it Beam is installed into a temporary environment, for which
``--beam-version`` says the version. What comes out is compared before a time is printed.

Exit status: 1 if results differ, 2 if a bar is missed at full size.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from tests.support.commands import command_parser
from tests.support.environments import environment

JOB: Final = Path(__file__).with_name("element_job.py")
EVENTS: Final = 100_000
MOST: Final = {"local": 20.0, "memory": 60.0}
"""Microseconds of the processor for an element, at most."""
TIMES_BEAM: Final = 10.0
"""So many times as fast as Beam's own runner the local host is, at least."""


@frozen
class Cost:
    """What a runner took, in the median of its runs, and what came out."""

    runner: str
    micros: float
    lines: Counter[str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    parser = command_parser("tests.benchmarks.elements", __doc__)
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N")
    parser.add_argument("--beam", type=Path, metavar="PYTHON", help="a Python that has Beam")
    parser.add_argument("--beam-version", default="2.77.0", metavar="VERSION")
    parser.add_argument("--without-beam", action="store_true", help="only the hosts of beamlike")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="beamlike-elements-") as home:
        costs = [
            cost_of(Path(sys.executable), "beamlike.beam", host, options.events, Path(home))
            for host in MOST
        ]
        if not options.without_beam:
            python = options.beam or environment(
                Path(home) / "beam", [f"apache-beam=={options.beam_version}"]
            )
            costs.append(cost_of(python, "apache_beam", "FnApiRunner", options.events, Path(home)))
    return judged(costs, options.events)


def cost_of(python: Path, module: str, runner: str, events: int, home: Path) -> Cost:
    """What a runner takes for the job, and what comes out of it."""
    output = home / f"{runner}.txt"
    command = [str(python), str(JOB), module, runner, str(events), str(output)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    took = json.loads(done.stdout.splitlines()[-1])["cpu_seconds"]
    lines = Counter(output.read_text(encoding="utf-8").splitlines())
    return Cost(runner, statistics.median(took) / events * 1e6, lines)


def judged(costs: Sequence[Cost], events: int) -> int:
    """Print what runners took, and the exit status."""
    first, *others = costs
    for other in others:
        if other.lines != first.lines:
            only = [*(first.lines - other.lines), *(other.lines - first.lines)]
            print(f"{first.runner} and {other.runner} differ, as in {only[:3]}", file=sys.stderr)
            return 1
    print(
        f"{first.lines.total():,} results of {', '.join(cost.runner for cost in costs)} are equal"
    )
    by_name = {cost.runner: cost.micros for cost in costs}
    missed = []
    for runner, micros in by_name.items():
        bar = f"   at most {MOST[runner]:g}" if runner in MOST else ""
        print(f"{runner:12} {micros:8.1f} us of CPU an element{bar}")
        if micros > MOST.get(runner, micros):
            missed.append(runner)
    if "FnApiRunner" in by_name:
        times = by_name["FnApiRunner"] / by_name["local"]
        print(f"local is {times:.1f} times as fast as Beam's own runner; at least {TIMES_BEAM:g}")
        if times < TIMES_BEAM:
            missed.append("times of Beam")
    return 2 if missed and events >= EVENTS else 0


if __name__ == "__main__":
    sys.exit(main())

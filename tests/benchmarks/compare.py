"""Did anything get slower? ``python -m tests.benchmarks.compare OTHER`` from the top of a checkout.

The works of ``tests.benchmarks`` by this checkout and by another one, each in processes of its own
that take turns, over equal files. For each work both have, it prints the ratio of the processor
time of a run and of the median micro-batch, this checkout by the other: 1.05 is 5 % slower. Time on
a clock depends on what else the machine does; processor time does less.

Exit status: 0; 1 if the processor time of a work is worse by more than ``--allowed`` percent.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from attrs import field, frozen

from tests.support.commands import command_parser

_HERE: Final = Path(__file__).resolve().parents[2]

Key = tuple[str, int]
"""A work, and the events of its micro-batches."""


@frozen
class Taken:
    """What a work took in a checkout, over all rounds."""

    cpu: list[float] = field(factory=list)
    """Seconds of the processor, of each run."""
    times_ms: list[int] = field(factory=list)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = command_parser("tests.benchmarks.compare", __doc__)
    add = parser.add_argument
    add("other", type=Path, metavar="OTHER", help="the top of another checkout")
    add("--only", nargs="+", metavar="NAME", help='works by name; "linear-*" for several')
    add("--scale", default="0.1", metavar="X", help="sizes in parts of the full ones (0.1)")
    add("--batches", default="6", metavar="N", help="micro-batches in a run (6)")
    add("--rounds", type=int, default=2, metavar="N", help="runs of each work in each (2)")
    add("--allowed", type=float, default=5, metavar="PERCENT", help="how much slower is well (5)")
    options = parser.parse_args(arguments)
    sizes = ["--scale", options.scale, "--batches", options.batches, "--rounds", "1"]
    chosen = ["--only", *options.only] if options.only else []
    by_checkout: dict[Path, dict[Key, Taken]] = {_HERE: {}, options.other.resolve(): {}}
    for round_ in range(options.rounds):
        for checkout in [*by_checkout][:: -1 if round_ % 2 else 1]:
            add_lines(by_checkout[checkout], run(checkout, [*sizes, *chosen]))
    ours, theirs = by_checkout.values()
    print(table_text(ours, theirs))
    return int(any(cpu > 1 + options.allowed / 100 for _, cpu, _ in ratios(ours, theirs)))


def run(checkout: Path, options: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    """The lines of one run of the benchmarks in a checkout."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home) / "times.json"
        command = [sys.executable, "-m", "tests.benchmarks", "--contenders", "beamlike"]
        subprocess.run(
            [*command, "--json", str(file), *options],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
            check=True,
        )
        lines: Sequence[Mapping[str, Any]] = json.loads(file.read_text())["lines"]
        return lines


def add_lines(taken_by: dict[Key, Taken], lines: Iterable[Mapping[str, Any]]) -> None:
    """Note what a run took."""
    for line in lines:
        for side in ("subject", "baseline"):
            times = line[side]
            if times is not None:
                key = f"{line['work']}, {times['name']}", line["events"]
                taken = taken_by.setdefault(key, Taken())
                taken.cpu.extend(sum(of_run.values()) for of_run in times["cpu"])
                taken.times_ms.extend(times["samples_ms"])


def ratios(
    ours: Mapping[Key, Taken], theirs: Mapping[Key, Taken]
) -> list[tuple[Key, float, float]]:
    """Of each work that both have, the ratio of processor time, and of time on a clock."""
    return [
        (
            key,
            median(taken.cpu) / median(theirs[key].cpu),
            median(taken.times_ms) / median(theirs[key].times_ms),
        )
        for key, taken in ours.items()
        if key in theirs and taken.cpu and theirs[key].cpu
    ]


def table_text(ours: Mapping[Key, Taken], theirs: Mapping[Key, Taken]) -> str:
    """A line for each work; then the works that one of them lacks."""
    lines = [f"{'work':40}{'events':>10}{'CPU':>8}{'clock':>8}"]
    lines += (
        f"{work:40}{events:>10,}{cpu:>8.2f}{clock:>8.2f}"
        for (work, events), cpu, clock in ratios(ours, theirs)
    )
    lines += (f"only here: {work}" for work, _ in ours.keys() - theirs.keys())
    lines += (f"only there: {work}" for work, _ in theirs.keys() - ours.keys())
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

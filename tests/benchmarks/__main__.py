"""How fast is the Spark host? ``python -m tests.benchmarks`` from the top of the checkout.

Each work is done by two contenders over the same Parquet files: beamlike, and Spark's own
``session_window`` or ``window``, a processor that keeps one key at a time, or beamlike itself
with other data or another mode. ``--list`` names them.

First both run to Parquet, and then one more row closes every window: their results must be equal,
or no time is printed. Then each runs ``--rounds`` times into a sink that drops the rows, so that
no time is that of a file format; a fresh query and checkpoint each time, and the contenders take
turns. The figure is the median ``triggerExecution`` of the micro-batches after the second; where
windows stay open, of those after the second that follows their opening. Session, shuffle
partitions and state store (RocksDB with its changelog) are the same for all: those of
``local_session``. Memory is the peak of the largest Python worker; Java's is not counted.

Exit status: 0, also if a bar is missed; 1 if results differ.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beamlike.cli.silence_spark import quiet_session
from tests.benchmarks.data import FileCache, benchmark_files
from tests.benchmarks.measure import Run, Unequal, check, timed_run
from tests.benchmarks.plot import draw
from tests.benchmarks.report import Line, Times, as_json, machine, table_text
from tests.benchmarks.works import ENGINES, Contender, Work, all_works
from tests.support.commands import command_parser

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUICK = {"scale": 0.01, "rounds": 1, "batches": 3}
"""For a smoke run of everything; the bars are not judged."""
FULL = {"scale": 1.0, "rounds": 3, "batches": 8}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parsed(arguments)
    works = chosen_works(options)
    if options.list:
        for work in works:
            names = " / ".join(contender.name for contender in work.contenders)
            print(f"{work.name:15}{work.title}: {names}")
        return 0
    master = {"spark.master": f"local[{options.cores}]"}
    with benchmark_files() as files, quiet_session("beamlike benchmarks", conf=master) as spark:
        described = machine(spark)
        for name, value in described.items():
            print(f"{name:20}{value}")
        lines: list[Line] = []
        for work in works:
            try:
                lines += measured(spark, files, work, options)
            except Unequal as difference:
                print(f"\n{work.name}: the results differ.\n{difference}", file=sys.stderr)
                return 1
            save(lines, described, options)
    print(table_text(lines))
    for line in lines:
        if not line.fits:
            print(f"{line.work}: a Python worker took more than 1 GB.")
    if options.scale != 1:
        print(f"Sizes are {options.scale:g} of the full ones; bars are for these, and not judged.")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with the defaults of a full or of a quick run filled in."""
    parser = command_parser("tests.benchmarks", __doc__)
    add = parser.add_argument
    add("--only", nargs="+", metavar="NAME", help='works by name; "linear-*" for several')
    add("--list", action="store_true", help="name the works and stop")
    add("--contenders", nargs="+", metavar="ENGINE", choices=ENGINES, help=", ".join(ENGINES))
    add("--quick", action="store_true", help="small sizes: does everything work?")
    add("--scale", type=_positive(float), metavar="X", help="sizes in parts of the full ones")
    add("--rounds", type=_positive(int), metavar="N", help="timed runs of each contender (3)")
    add("--batches", type=_positive(int), metavar="N", help="micro-batches in a run (8)")
    add("--cores", type=_positive(int), default=2, metavar="N", help="of the session (2)")
    add("--plot", type=Path, metavar="FILE.png", help="draw ratios and growth; needs matplotlib")
    add("--json", type=Path, metavar="FILE", help="write every time")
    options = parser.parse_args(arguments)
    for name, value in (QUICK if options.quick else FULL).items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    if options.batches < 3:
        parser.error("--batches must be 3 or more: the first two are not measured")
    known = [work.name for work in all_works(options.scale, options.batches)]
    for wanted in options.only or ():
        if not any(fnmatch(name, wanted) for name in known):
            parser.error(f"--only: there is no work {wanted!r}; there are {', '.join(known)}")
    return options


def _positive(cls: type) -> Any:
    def read(text: str) -> Any:
        value = cls(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"must be more than 0, got {text}")
        return value

    return read


def chosen_works(options: argparse.Namespace) -> list[Work]:
    """The works that were asked for, without those that nobody is left to do."""
    return [
        work
        for work in all_works(options.scale, options.batches)
        if not options.only or any(fnmatch(work.name, wanted) for wanted in options.only)
        if any(_wanted(contender, options) for contender in work.contenders)
    ]


def _wanted(contender: Contender, options: argparse.Namespace) -> bool:
    return not options.contenders or contender.engine in options.contenders


def measured(
    spark: "SparkSession", files: FileCache, work: Work, options: argparse.Namespace
) -> list[Line]:
    """Check a work and time it."""
    print(f"\n{work.name}: {work.title}", flush=True)
    compared = None
    if work.compared and all(_wanted(contender, options) for contender in work.compared):
        one, other = work.compared
        compared = check(spark, files, one, other)
        print(f"  {compared:,} results of {one.name} and {other.name} are equal", flush=True)
    contenders = [contender for contender in work.contenders if _wanted(contender, options)]
    runs: dict[str, list[Run]] = {contender.name: [] for contender in contenders}
    for round_ in range(min(options.rounds, work.rounds)):
        for contender in contenders[:: -1 if round_ % 2 else 1]:
            run = timed_run(spark, files, contender)
            runs[contender.name].append(run)
            print(f"  {contender.name}: {_spoken(run)}", flush=True)
    sides = {contender.name: contender for contender in contenders}
    return [
        Line(
            work=work.name,
            title=work.title,
            events=size,
            keys=work.subject.shape.keys,
            compared=compared,
            subject=_times(sides.get(work.subject.name), runs, size),
            baseline=_times(sides.get(work.baseline.name), runs, size),
            bar=work.bar if options.scale == 1 else None,
            sweep=work.sweep,
        )
        for size in next(iter(runs.values()))[0].times_ms
    ]


def _times(contender: Contender | None, runs: dict[str, list[Run]], size: int) -> Times | None:
    if contender is None:
        return None
    mine = runs[contender.name]
    peaks = [run.worker_bytes for run in mine if run.worker_bytes is not None]
    return Times(
        contender.name,
        contender.engine,
        tuple(took for run in mine for took in run.times_ms[size]),
        max(peaks, default=None),
        tuple(run.cpu for run in mine if run.cpu is not None),
    )


def _spoken(run: Run) -> str:
    if len(run.times_ms) == 1:
        (times,) = run.times_ms.values()
        return f"{times} ms"
    return ", ".join(f"{size:,} events {times} ms" for size, times in run.times_ms.items())


def save(lines: Sequence[Line], described: dict[str, str], options: argparse.Namespace) -> None:
    """Write picture and JSON; after each work, so that a run cut short leaves something."""
    if options.json:
        text = json.dumps(as_json(lines, described, options.scale), indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
    if options.plot:
        draw(lines, described, options.plot)


if __name__ == "__main__":
    sys.exit(main())

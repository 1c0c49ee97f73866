"""What a person waits for: ``python -m tests.benchmarks.starting``, from the top of the checkout.

* A query of 100 rows, in a young process: from ``start()`` to the first result, by beamlike and by
  Spark's own ``session_window``, and of each the processor time of driver, Java and workers. The
  floor is what Spark takes for the operators of beamlike's query with empty functions.
* ``beamlike state`` and ``beamlike capture`` of a small checkpoint, as processes of their own.

Each runs in a process of its own, in turns, and all results are compared before a time is printed.
Exit status: 1 if results differ.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from attrs import frozen

from tests.support.commands import command_parser

ROOT: Final = Path(__file__).resolve().parents[2]
ROWS: Final = 100
QUERIES: Final = ("beamlike", "native")
FLOOR: Final = "floor"
RECORDED: Final = "recorded"
"""The query of beamlike that also records what it is sent, for ``beamlike capture``."""
GAP: Final = "5 minutes"
"""Rows of a key are ten minutes apart: where windows only touch, Spark merges them."""
SECOND: Final = 1
"""The micro-batch of the row that ends the windows. Each micro-batch of the floor has rows."""


@frozen
class Waited:
    """What one run took (s), and what came out of it."""

    wall: float
    cpu: float | None
    results: object


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = command_parser("tests.benchmarks.starting", __doc__)
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each (3)")
    parser.add_argument("--query", choices=(*QUERIES, FLOOR, RECORDED), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.query is not None:
        print(json.dumps(first_result(options.query, options.home)))
        return 0
    with tempfile.TemporaryDirectory(prefix="beamlike-starting-") as home:
        checkpoint, key = leave_a_checkpoint(Path(home))
        state = ["state", str(checkpoint), "--json"]
        capture = ["capture", str(checkpoint), "--key", key]
        queries = (*QUERIES, FLOOR)
        works: dict[str, list[Waited]] = {name: [] for name in (*queries, "state", "capture")}
        for number in range(options.runs):
            for name in queries:
                works[name].append(in_its_process(name, Path(home) / f"{name} {number}"))
            works["state"].append(as_command(state))
            works["capture"].append(as_command(capture))
    if wrong := differences(works):
        print(wrong, file=sys.stderr)
        return 1
    print(table_text(works))
    return 0


def differences(works: Mapping[str, Sequence[Waited]]) -> str:
    """What differs: queries from one another, and commands from their first run; "" if nothing."""
    expected = {name: works[QUERIES[0]][0] if name in QUERIES else works[name][0] for name in works}
    return "\n".join(
        f"{name}: {run.results!r} is not {expected[name].results!r}"
        for name, runs in works.items()
        for run in runs
        if run.results != expected[name].results or not run.results
    )


def table_text(works: Mapping[str, Sequence[Waited]]) -> str:
    """A line for each, of medians, with how much more the query takes than Spark's own."""
    lines = [f"{'':12}{'wall':>8}{'CPU':>8}"]
    wall = {name: median(run.wall for run in runs) for name, runs in works.items()}
    cpu = {
        name: median(taken)
        for name, runs in works.items()
        if (taken := [run.cpu for run in runs if run.cpu is not None])
    }
    for name in works:
        of_cpu = f"{cpu[name]:>7.1f}s" if name in cpu else ""
        lines.append(f"{name:12}{wall[name]:>7.1f}s{of_cpu}")
    ours, native = QUERIES
    ratios = (wall[ours] / wall[native], cpu[ours] / cpu[native])
    lines.append(f"{'of native':12}{ratios[0]:>7.1f}x{ratios[1]:>7.1f}x")
    return "\n".join(lines)


def in_its_process(query: str, home: Path) -> Waited:
    """The first result of a query, in a process that has done nothing else."""
    home.mkdir()
    command = [sys.executable, "-m", __spec__.name, "--query", query, "--home", str(home)]
    ran = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    wall, cpu, results = json.loads(ran.stdout.splitlines()[-1])
    return Waited(wall, cpu, results)


def as_command(arguments: Sequence[str]) -> Waited:
    """A command of beamlike, from its start to its end."""
    began = time.monotonic()
    command = [sys.executable, "-m", "beamlike.cli", *arguments]
    ran = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    # What Java takes of the processor is not seen from here: the command leaves it behind.
    return Waited(time.monotonic() - began, None, ran.stdout)


def first_result(query: str, home: Path) -> tuple[float, float, list[list[Any]]]:
    """Seconds from ``start()`` to the first result, of the processor meanwhile, and the result."""
    from beamlike.hosts.spark.session import local_session
    from tests.benchmarks.workers import cpu_seconds

    with local_session("beamlike starting") as spark:
        spark.range(1).collect()  # what starts the session is not of the query
        files, results, taken = rows_of(spark, home), list[list[Any]](), list[tuple[float, float]]()

        def take(frame: Any, number: int) -> None:
            rows = frame.collect()
            if rows and number >= SECOND and not taken:
                taken.append((time.monotonic() - began, cpu_seconds().total - before))
            results.extend([row["key"], str(row["start"]), row["n"]] for row in rows)

        panes = sessions(query, files)
        before, began = cpu_seconds().total, time.monotonic()
        writer = panes.writeStream.foreachBatch(take).trigger(availableNow=True)
        started = writer.option("checkpointLocation", str(home / "checkpoint")).start()
        started.awaitTermination()
    return *taken[0], sorted(results)


def rows_of(spark: Any, home: Path) -> Any:
    """A hundred rows of ten keys in a file, and another with the row that ends their windows."""
    rows = [{"key": f"key {n % 10}", "at": f"2026-01-01T00:{n % 60:02}:00Z"} for n in range(ROWS)]
    (home / "in").mkdir()
    for number, of_file in enumerate((rows, [{"key": "last", "at": "2026-01-02T00:00:00Z"}])):
        lines = "".join(json.dumps(row) + "\n" for row in of_file)
        file = home / "in" / f"{number}.json"
        file.write_text(lines)
        os.utime(file, (number, number))  # by which Spark orders them
    reader = spark.readStream.schema("key string, at timestamp").option("maxFilesPerTrigger", 1)
    return reader.json(str(home / "in"))


def sessions(query: str, rows: Any, watermark: str = "0 seconds") -> Any:
    """The query: sessions of each key, counted, of rows that are out of order by so much."""
    from pyspark.sql import functions as F

    import beamlike as bl
    from tests.benchmarks.floor import empty_grouping

    if query == "native":
        window = F.session_window("at", GAP).alias("window")
        counted = rows.withWatermark("at", watermark).groupBy(window, "key")
        return counted.agg(F.count("*").alias("n")).select("key", "window.start", "n")
    if query == FLOOR:
        panes = empty_grouping(rows.withWatermark("at", watermark), 1)
        return panes.select("key", "window.start", "n")
    record = {"record": 1_000_000} if query == RECORDED else {}
    options = {"key": "key", "timestamp": "at", "watermark": watermark, **record}
    panes = bl.windowed(rows, window=bl.Sessions(GAP), aggregate={"n": bl.count()}, **options)
    return panes.select("key", "window.start", "n")


def leave_a_checkpoint(home: Path) -> tuple[Path, str]:
    """The checkpoint of the query, which records what it is sent, and a key of it."""
    folder = home / "left"
    in_its_process(RECORDED, folder)
    return folder / "checkpoint", '"last"'


if __name__ == "__main__":
    sys.exit(main())

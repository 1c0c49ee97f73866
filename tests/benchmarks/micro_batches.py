"""What a micro-batch costs before its first row: ``python -m tests.benchmarks.micro_batches``.

Sessions of a hundred rows in each micro-batch, by beamlike and by Spark's own ``session_window``:
the processor time of driver, Java, workers and all processes that they start, of a micro-batch with
rows and of one without, which Spark makes when the watermark has moved. The floor is what Spark
takes for the operators of beamlike's query with empty functions. Files that move the watermark and
others take turns, ten at a time. Each query runs in a process of its own; its first half, in which
Java is young, is not measured. The results of both are compared before a time is printed.

Exit status: 1 if results differ.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from attrs import frozen

from tests.benchmarks.starting import FLOOR, QUERIES, ROOT, sessions
from tests.support.commands import command_parser

ROWS: Final = 100
KEYS: Final = 1_000
BLOCK: Final = 10
_MINUTE: Final = 60_000_000


@frozen
class Cost:
    """What a micro-batch of a run took of the processor (s), with rows and without.

    ``results`` is how many windows came out, and the sum of what they counted.
    """

    rows: float
    empty: float
    results: Sequence[int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = command_parser("tests.benchmarks.micro_batches", __doc__)
    parser.add_argument(
        "--files",
        type=int,
        default=240,
        metavar="N",
        help="of a hundred rows, for each query (240)",
    )
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of each (1)")
    parser.add_argument("--query", choices=(*QUERIES, FLOOR), help=argparse.SUPPRESS)
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.query is not None:
        print(json.dumps(measured(options.query, options.home, options.files)))
        return 0
    costs: dict[str, list[Cost]] = {name: [] for name in (*QUERIES, FLOOR)}
    with tempfile.TemporaryDirectory(prefix="beamlike-micro-batches-") as home:
        for run in range(options.runs):
            for name in costs:
                costs[name].append(in_its_process(name, Path(home) / f"{name}{run}", options))
    results = {name: [cost.results for cost in costs[name]] for name in QUERIES}
    expected = results[QUERIES[0]][0]
    if any(result != expected for of_query in results.values() for result in of_query):
        print(f"results differ: {results}", file=sys.stderr)
        return 1
    print(table_text(costs))
    return 0


def table_text(costs: Mapping[str, Sequence[Cost]]) -> str:
    """A line for each query, of medians."""
    lines = [f"{'CPU':10}{'with rows':>12}{'without':>12}"]
    for name, of_query in costs.items():
        rows = median(cost.rows for cost in of_query)
        empty = median(cost.empty for cost in of_query)
        lines.append(f"{name:10}{rows:>11.3f}s{empty:>11.3f}s")
    return "\n".join(lines)


def in_its_process(query: str, home: Path, options: argparse.Namespace) -> Cost:
    """The cost of one query, in a process that does nothing else."""
    home.mkdir()
    sizes = ["--files", str(options.files)]
    command = [sys.executable, "-m", __spec__.name, "--query", query, "--home", str(home), *sizes]
    ran = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return Cost(*json.loads(ran.stdout.splitlines()[-1]))


def measured(query: str, home: Path, files: int) -> tuple[float, float, list[int]]:
    """The fields of a `Cost`, measured in this process."""
    from beamlike.hosts.spark.session import local_session
    from tests.benchmarks.workers import cpu_seconds

    (home / "in").mkdir()
    counted: list[int] = []

    def take(frame: Any, number: int) -> None:
        counted.extend(row["n"] for row in frame.select("n").collect())

    spark = local_session("beamlike micro-batches")
    rows = spark.readStream.schema("key string, at timestamp").parquet(str(home / "in"))
    writer = sessions(query, rows, "1 minute").writeStream.foreachBatch(take)
    started = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    minute, taken = 0, {False: list[float](), True: list[float]()}
    for block in range(files // BLOCK):
        moves = bool(block % 2)
        before = cpu_seconds().total
        for number in range(block * BLOCK, (block + 1) * BLOCK):
            minute += moves
            _write_rows(home, number, minute)
            started.processAllAvailable()
        if block >= files // BLOCK // 2:
            taken[moves].append((cpu_seconds().total - before) / BLOCK)
    started.stop()
    spark.stop()
    standing, moving = median(taken[False]), median(taken[True])
    return standing, moving - standing, [len(counted), sum(counted)]


def _write_rows(home: Path, number: int, minute: int) -> None:
    """A file with rows of a minute, there at once. Its last instant is that of the minute."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    draw = np.random.default_rng(number)
    keys = [f"key {key}" for key in draw.integers(0, KEYS, ROWS)]
    # To the microsecond, no two rows of a key are a gap apart: there Spark merges windows.
    within = [*draw.integers(0, _MINUTE, ROWS - 1), _MINUTE - 1]
    times = [1_700_000_000_000_000 + minute * _MINUTE + int(micros) for micros in within]
    table = pa.table({"key": keys, "at": pa.array(times, pa.timestamp("us", "UTC"))})
    pq.write_table(table, home / "unfinished")
    os.replace(home / "unfinished", home / "in" / f"{number:05}.parquet")


if __name__ == "__main__":
    sys.exit(main())

"""The same sessions on other engines: ``python -m tests.benchmarks.peers [--only NAME ...]``.

Each engine is installed into a cache, as those of `tests.judges` are, and reads the same rows from
files. Its sessions are compared with a plain computation before a time is printed and kept in
``LATEST.md``. An engine that cannot run on this machine is named with the reason.

Exit status: 1 if results differ.
"""

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.benchmarks.data import benchmark_files
from tests.benchmarks.measure import Unequal
from tests.benchmarks.peers.engines import PEERS, Peer
from tests.benchmarks.peers.events import Disordered, Sources, exact_sessions
from tests.benchmarks.peers.trials import Took, trial
from tests.support.commands import command_parser
from tests.support.environments import NotHere, cache_folder
from tests.support.latest import Latest

LATEST: Final = Latest(
    Path(__file__).with_name("LATEST.md"),
    """# The latest times of engines with the same sessions

`python -m tests.benchmarks.peers`: number and sum of the rows of each key and session, with a gap
of ten minutes, rows out of order by three. All sessions equal those of a plain computation. Cold is
a whole process that finds them once, warm a later run within one; seconds by the clock, and of
processors in all processes, medians of so many runs. The load is the mean number of processes that
wanted a processor when a trial began: on a machine that has fewer, seconds by the clock say little,
and those of processors are more than on a quiet one.

Spark writes a checkpoint in each micro-batch and Flink each second, the others none. Spark reads
and writes Parquet, the others text. Flink waits up to a second for its last checkpoint.

""",
    (
        *("engine", "events, a micro-batch, keys", "cold", "CPU, cold", "warm", "CPU, warm"),
        *("CPU of an event, cold, warm", "runs", "load", "on"),
    ),
    named_by=(0, 1),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; its exit status."""
    parser = command_parser("tests.benchmarks.peers", __doc__)
    parser.add_argument("--events", type=int, default=500_000, metavar="N")
    parser.add_argument("--batch", type=int, default=100_000, metavar="N", help="of a micro-batch")
    parser.add_argument("--keys", type=int, default=10_000, metavar="N")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="cold ones, and warm ones")
    parser.add_argument("--only", nargs="+", choices=PEERS, metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--cache", help="where engines are installed (in the user's cache)")
    options = parser.parse_args(arguments)
    shape = Disordered(options.events, options.batch, options.keys)
    peers = {name: PEERS[name] for name in options.only or PEERS}
    return time_peers(peers, shape, options.runs, cache_folder(options.cache), LATEST)


def time_peers(
    peers: Mapping[str, Peer], shape: Disordered, runs: int, cache: Path, latest: Latest
) -> int:
    """Time each of the engines, and keep its row; 1 if the sessions of one are wrong."""
    is_wrong = False
    with benchmark_files() as files, tempfile.TemporaryDirectory() as home:
        sources = Sources.written(files, shape, Path(home))
        exact = exact_sessions(sources.rows)
        print(f"{shape.events:,} events are {exact.num_rows:,} sessions", flush=True)
        for peer in peers.values():
            load = os.getloadavg()[0]
            try:
                command = peer.command(cache)
                took = trial(peer.title, command, getattr(sources, peer.source), exact, runs)
            except NotHere as reason:
                print(f"{peer.name}: left out, {reason}", flush=True)
            except Unequal as difference:
                print(f"{peer.name}: the sessions are wrong.\n{difference}", flush=True)
                is_wrong = True
            else:
                keep(peer, shape, took, (runs, round(load)), latest)
    return int(is_wrong)


def keep(
    peer: Peer,
    shape: Disordered,
    cold_and_warm: tuple[Took, Took],
    runs_and_load: tuple[int, int],
    latest: Latest,
) -> None:
    """Print what an engine took, and put it into the table."""
    size = f"{shape.events:,}, {shape.batch:,}, {shape.keys:,}"
    seconds = [f"{figure:.1f} s" for took in cold_and_warm for figure in (took.wall, took.cpu)]
    micros = ", ".join(f"{took.cpu / shape.events * 1e6:.1f}" for took in cold_and_warm)
    cells = (peer.title, size, *seconds, f"{micros} µs", *runs_and_load)
    print(*cells, sep="  ", flush=True)
    latest.keep(*cells, order=[every.title for every in PEERS.values()])


if __name__ == "__main__":
    sys.exit(main())

"""``beamlike plan``: how many cores, shards and how much memory a stream needs, about."""

import argparse
import math
from typing import Final

import attrs

from beamlike.cli.argument_types import whole_number

DESCRIPTION: Final = """\
Estimate what a streaming query needs: cores, shards, memory and state on disk,
from how many events come, how often a micro-batch starts, and how many windows
are open at once.

The estimate is made of times that python -m tests.benchmarks measured on two
cores of a server. --speed says how fast yours are beside them. Run your query
with a tenth of its load, and set --speed so that the estimate says what you see.
"""

EPILOG: Final = """\
exit status:
  0   the estimate is printed
  2   a number cannot be read

examples:
  beamlike plan --events 20000                       20,000 events a second
  beamlike plan --events 20000 --every 60            a micro-batch each minute
  beamlike plan --events 500 --windows 5000000       few events, many windows
  beamlike plan --events 20000 --work retracting     panes that withdraw others
  beamlike plan --events 20000 --speed 0.5           on slower cores
"""

_FIXED: Final = 0.3
"""Seconds that a micro-batch takes with nothing to do: Spark's own, and two Python stages."""

COSTS: Final = {
    "fixed": 1.8,
    "sessions": 2.4,
    "lists": 2.1,
    "early": 3.6,
    "retracting": 5.2,
    "pipeline": 7.0,
    "function": 90.0,
}
"""Microseconds of a core for an event, by what is done with it."""

_WINDOW_BYTES: Final = 120
_WORKER_BYTES: Final = 0.45e9
_EVENT_BYTES: Final = 900
"""Of a Python worker: for each open window, to begin with, and for each event of a batch."""
_PER_SHARD: Final = 1_000_000
"""Open windows of a shard: some 200 MB of it while it is stepped."""
_BUSY: Final = 0.5
"""The share of the time between micro-batches that one should take, so that peaks fit."""


@attrs.frozen
class Stream:
    """What a query has to do.

    Args:
        events: Events a second.
        every: Seconds from one micro-batch to the next.
        windows: Windows that are open at once, over all keys.
        work: What is done with an event, of `COSTS`.
        speed: How fast a core is beside those of the benchmarks.
    """

    events: int
    every: int = 10
    windows: int = 100_000
    work: str = "sessions"
    speed: float = 1.0

    @property
    def batch(self) -> int:
        """Events of a micro-batch."""
        return self.events * self.every


@attrs.frozen
class Needs:
    """What that takes.

    Attributes:
        seconds: How long a micro-batch takes with so many cores.
        cores: For Python workers and Spark's tasks together.
        shards: ``shards=`` of the call.
        worker_bytes: The memory of a Python worker.
        disk_bytes: Of the state, before it is compressed, and without older versions.
    """

    seconds: float
    cores: int
    shards: int
    worker_bytes: float
    disk_bytes: float


def needs_of(stream: Stream) -> Needs:
    """An estimate.

    >>> needs_of(Stream(events=20_000)).cores
    1
    """
    work = stream.batch * COSTS[stream.work] * 1e-6 / stream.speed
    left = stream.every * _BUSY - _FIXED / stream.speed
    cores = max(1, math.ceil(work / left)) if left > 0 else 0
    shards = max(8, math.ceil(stream.windows / _PER_SHARD), cores)
    shards = cores * math.ceil(shards / cores) if cores else shards
    at_once = max(cores, 1)
    worker = (
        _WORKER_BYTES
        + _EVENT_BYTES * stream.batch / at_once
        + _WINDOW_BYTES * stream.windows / shards * 2
    )
    seconds = _FIXED / stream.speed + (work / cores if cores else work)
    return Needs(seconds, cores, shards, worker, _WINDOW_BYTES * stream.windows)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments to argparse."""
    add, stream = parser.add_argument, Stream(0)
    add("--events", type=whole_number(1), required=True, metavar="N", help="events a second")
    add(
        "--every",
        type=whole_number(1),
        default=stream.every,
        metavar="SECONDS",
        help=f"between two micro-batches ({stream.every})",
    )
    add(
        "--windows",
        type=whole_number(0),
        default=stream.windows,
        metavar="N",
        help=f"open at once, of all keys ({stream.windows:,})",
    )
    add(
        "--work",
        choices=COSTS,
        default=stream.work,
        help=f"what is done with an event ({stream.work}): windows of one kind, all values as a "
        "list, early and late panes, panes that withdraw others, a pipeline of Python functions, "
        "a function with states",
    )
    add(
        "--speed",
        type=_speed,
        default=stream.speed,
        metavar="X",
        help=f"of a core, beside those of the benchmarks ({stream.speed:g})",
    )


def _speed(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.01 <= value <= 100:
        raise argparse.ArgumentTypeError(f"must be a number from 0.01 to 100, got {text!r}")
    return value


def run(args: argparse.Namespace) -> int:
    """Print the estimate.

    Returns:
        0.
    """
    stream = Stream(args.events, args.every, args.windows, args.work, args.speed)
    needs = needs_of(stream)
    if not needs.cores:
        print(
            f"a micro-batch takes {needs.seconds:.1f} s with nothing to do, and one starts each "
            f"{stream.every} s: start them less often, --every {math.ceil(4 * _FIXED / args.speed)}"
        )
        return 0
    rows = {
        "micro-batch": f"{stream.batch:,} events in {needs.seconds:.1f} s of {stream.every} s",
        "cores": f"{needs.cores}",
        "shards": f"{needs.shards}, and spark.sql.shuffle.partitions as many, or a part",
        "Python worker": f"{needs.worker_bytes / 1e9:.1f} GB, one for each core",
        "state on disk": f"{needs.disk_bytes / 1e9:.2f} GB at most, it is compressed",
    }
    for name, value in rows.items():
        print(f"{name:<15}{value}")
    return 0

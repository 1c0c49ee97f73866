"""``beamlike plan``: how many machines and shards and how much memory a stream needs, about."""

import argparse
import math
from collections.abc import Callable
from typing import Final

import attrs

from beamlike.cli.argument_types import Parser, whole_number
from beamlike.inspect.cost import COSTS, Cost, Load, Machines, cost_of

DESCRIPTION: Final = """\
Estimate what a streaming query needs: executors, shards, memory and state on
disk, from how many events come, how often a micro-batch starts, how many windows
are open at once, and how many groupings and joins are in a row.

The estimate is a model of cost, made of times that python -m tests.growth
measured on two cores of a server. --speed says how fast yours are beside them.
Run your query with a tenth of its load, and set --speed so that the estimate
says what you see: with one speed for each run the model is within a factor of
two of what was measured.
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
  beamlike plan --events 20000 --groupings 4         four in a row, or joins
  beamlike plan --events 20000 --partitions 200      as Spark has it by default
  beamlike plan --events 2000000 --executors 40 --cores 4 --commit 0.1
  beamlike plan --events 20000 --speed 0.5           on slower cores
"""

_PER_SHARD: Final = 1_000_000
"""Open windows of a shard: some 200 MB of it while it is stepped."""
_BUSY: Final = 0.5
"""The share of the time between micro-batches that one should take, so that peaks fit."""
_MOST_CORES: Final = 2_000
_NEARLY: Final = 1.1
"""More machines than reach so much of what the most would are not worth it."""
_EVERY: Final = 10
"""Seconds from one micro-batch to the next."""
_USUAL: Final = Machines()


def needs_of(
    load: Load,
    every: int = _EVERY,
    machines: Machines = _USUAL,
    executors: int | None = None,
    partitions: int | None = None,
) -> tuple[Machines, Cost]:
    """The least machines that do it in half of the time, or what comes nearest to it.

    >>> needs_of(Load(events=200_000))[0].executors
    1

    Args:
        load: What a micro-batch has to do.
        every: Seconds from one micro-batch to the next.
        machines: Their cores, speed, network and checkpoint; shards are chosen.
        executors: None: as many as it needs.
        partitions: None: as many as shards.
    """
    most = _MOST_CORES // machines.cores
    costs: list[tuple[Machines, Cost]] = []
    for number in range(1, most + 1) if executors is None else [executors]:
        slots = number * machines.cores
        shards = max(8, math.ceil(load.windows / _PER_SHARD), slots)
        shards = slots * math.ceil(shards / slots)
        chosen: dict[str, int] = {"shards": shards, "partitions": partitions or shards}
        tried = attrs.evolve(machines, executors=number, **chosen)
        costs.append((tried, cost_of(load, tried)))
        if costs[-1][1].seconds <= every * _BUSY:
            return costs[-1]
    least = min(cost.seconds for _, cost in costs)
    return next(pair for pair in costs if pair[1].seconds <= least * _NEARLY)


def add_arguments(parser: Parser) -> None:
    """Describe the arguments to argparse."""
    take, count = parser.take, whole_number(1)
    load, machines = Load(0), _USUAL
    chosen = {"every": _EVERY, "executors": None, "partitions": None}
    parser.set_defaults(**attrs.asdict(load) | attrs.asdict(machines) | chosen)
    take("--events N", "events a second", count, required=True)
    take("--every SECONDS", f"between two micro-batches ({_EVERY})", count)
    take("--windows N", f"open at once, of all keys ({load.windows:,})", whole_number(0))
    take(
        "--work",
        f"what is done with an event ({load.work}): windows of one kind, all values as a "
        "list, early and late panes, panes that withdraw others, a pipeline of Python functions, "
        "a function with states",
        choices=COSTS,
    )
    take(
        "--groupings N",
        "groupings and joins in a row, and one for each side of a join that is grouped "
        f"({load.groupings})",
        count,
    )
    hottest = f"the part of all events that the most frequent key has ({load.hottest:g})"
    take("--hottest X", hottest, _number(0, 1))
    take("--executors N", "by default as many as it needs", count)
    take("--cores N", f"of each executor ({machines.cores})", count)
    take("--partitions N", "spark.sql.shuffle.partitions, by default as many as shards", count)
    take(
        "--commit SECONDS",
        f"until a file of the checkpoint is there ({machines.commit:g}, as on a disk; 0.05 "
        "to 0.2 in an object store)",
        _number(0, 60),
    )
    speed = f"of a core, beside those of the benchmarks ({machines.speed:g})"
    take("--speed X", speed, _number(0.01, 100))


def _number(least: float, most: float) -> Callable[[str], float]:
    """What reads a number between two others."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a number from {least:g} to {most:g}, got {text!r}"
            )
        return value

    return read


def run(args: argparse.Namespace) -> int:
    """Print the estimate."""
    events = args.events * args.every
    load = Load(events, args.windows, args.work, args.groupings, hottest=args.hottest)
    machines = Machines(cores=args.cores, speed=args.speed, commit=args.commit)
    best, cost = needs_of(load, args.every, machines, args.executors, args.partitions)
    for name, value in _rows(load, args.every, best, cost).items():
        print(f"{name:<15}{value}")
    if cost.seconds > args.every * _BUSY:
        print(_too_long(args.every, cost))
    return 0


def _rows(load: Load, every: int, machines: Machines, cost: Cost) -> dict[str, str]:
    """What is printed, by name."""
    partitions = f"{machines.partitions} spark.sql.shuffle.partitions"
    return {
        "micro-batch": f"{load.events:,.0f} events in {cost.seconds:.1f} s of {every} s",
        "of which": ", ".join(f"{name} {value:.1f} s" for name, value in cost.parts.items()),
        "executors": f"{machines.executors}, of {machines.cores} cores each",
        "shards": f"{machines.shards}, and {partitions}",
        "tasks": f"{cost.task_count} in a micro-batch, {cost.commits} commits of state an executor",
        "shuffle": f"{cost.shuffled_bytes / 1e6:,.0f} MB between machines",
        "Python worker": f"{cost.worker_bytes / 1e9:.1f} GB, one for each core",
        "state on disk": f"{cost.disk_bytes / 1e9:.2f} GB at most, it is compressed",
    }


def _too_long(every: int, cost: Cost) -> str:
    """What to do where machines alone do not help."""
    fixed = cost.driver + cost.tasks + cost.shards
    least = math.ceil(cost.seconds / _BUSY)
    if fixed > every * _BUSY:
        return (
            f"{fixed:.1f} s of it are there without any event: start micro-batches less often, "
            f"--every {math.ceil(fixed / _BUSY) + 1}, or have fewer partitions and groupings"
        )
    return (
        f"it takes more than half of {every} s: give it more machines, spread the most frequent "
        f"key (hot_key_fanout), or start micro-batches less often, such as --every {least}"
    )

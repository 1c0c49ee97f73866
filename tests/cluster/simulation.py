"""A micro-batch on up to 200 executors, task by task: ``python -m tests.cluster.simulation``.

The driver hands tasks to cores that are free, one after the other; a task starts, fetches its part
of the shuffle, steps its shards, and commits their state. Nothing of the model's formulas is used
here, but what one task, shard or event costs. So it shows where the formulas, which know averages
and waves, are wrong: ends of stages, keys that hash unevenly, commits that take longer at times.
"""

import heapq
from collections.abc import Iterator
from random import Random
from typing import Final

import attrs

from beamlike.inspect import cost

EXECUTORS: Final = (1, 2, 3, 10, 50, 100, 200)
_KEYS_OF_A_SHARD: Final = 200
"""So many keys that differ in size are simulated for each shard."""


@attrs.frozen
class Case:
    """What grows with the executors, each of which has two cores.

    Attributes:
        name: What it shows.
        events: In a micro-batch; for each executor where ``grows``.
        grows: Whether each executor brings its events along.
        shards: For each core, at least eight.
        most: Shards at most.
        partitions: None: as many as shards.
        hottest: The part of the events of one key.
        groupings: In a row.
    """

    name: str
    events: int
    grows: bool = True
    shards: int = 1
    most: int = 10_000
    partitions: int | None = None
    hottest: float = 0.0
    groupings: int = 2

    def load(self, executors: int) -> cost.Load:
        events = self.events * (executors if self.grows else 1)
        return cost.Load(events, hottest=self.hottest, groupings=self.groupings)

    def machines(self, executors: int) -> cost.Machines:
        shards = min(self.most, max(8, self.shards * 2 * executors))
        return cost.Machines(executors, 2, shards, self.partitions or shards)


CASES: Final = (
    Case("events grow with executors", 200_000),
    Case("the same events on more executors", 20_000_000, grows=False),
    Case("eight shards", 200_000, most=8),
    Case("a key with a tenth of all events", 200_000, hottest=0.1),
    Case("200 partitions for eight shards", 200_000, most=8, partitions=200),
)


def simulated(load: cost.Load, machines: cost.Machines, seed: int = 0) -> float:
    """Seconds of a micro-batch."""
    random, speed = Random(seed), machines.speed
    clock = cost.PLANNED / speed + machines.commit
    events = load.events
    for _ in range(load.groupings):
        clock += cost.GROUPING / speed
        clock = _stage(clock, list(_tasks(load, machines, events, random)), machines)
        events *= load.passed_on
    return clock + machines.commit


def _tasks(
    load: cost.Load, machines: cost.Machines, events: float, random: Random
) -> Iterator[float]:
    """What each task of a grouping takes once it has begun."""
    sizes = [
        sum(random.paretovariate(2.5) for _ in range(_KEYS_OF_A_SHARD))
        for _ in range(machines.shards)
    ]
    total = sum(sizes)
    of_shards = [size / total * events * (1 - load.hottest) for size in sizes]
    of_shards[0] += events * load.hottest
    for partition in range(machines.partitions):
        shards = of_shards[partition :: machines.partitions]
        work = cost.TASK * random.uniform(0.7, 1.3) + cost.SHARD * len(shards)
        work += sum(shards) * cost.COSTS[load.work] * 1e-6
        fetched = sum(shards) * load.row_bytes * (1 - 1 / machines.executors)
        # A machine's network is shared by its cores.
        took = fetched / (machines.network / machines.cores)
        yield work / machines.speed + took + machines.commit * random.lognormvariate(0, 0.5)


def _stage(clock: float, tasks: list[float], machines: cost.Machines) -> float:
    """When the last task of a stage ends, which begins now."""
    free = [clock] * machines.slots
    heapq.heapify(free)
    handed, ends = clock, clock
    for task in tasks:
        handed = max(handed, heapq.heappop(free)) + cost.DISPATCHED / machines.speed
        heapq.heappush(free, handed + task)
        ends = max(ends, handed + task)
    return ends


def table() -> list[str]:
    """Each case at each number of executors: the model, and the simulation."""
    lines = [
        "| " + " | ".join(["executors of two cores", *map(str, EXECUTORS)]) + " |",
        "|---" * (len(EXECUTORS) + 1) + "|",
    ]
    for case in CASES:
        cells = [
            f"{cost.cost_of(load, machines).seconds:.1f}, {simulated(load, machines):.1f}"
            for load, machines in ((case.load(n), case.machines(n)) for n in EXECUTORS)
        ]
        lines.append("| " + " | ".join([case.name, *cells]) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))

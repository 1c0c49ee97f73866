"""A model of what a micro-batch costs, on one machine and on many.

A micro-batch is planned by the driver, for each grouping. Each grouping then is one shuffle and
one stateful operator: as many tasks as the shuffle has partitions, each of which commits the state
of its shards. The constants are those of ``python -m tests.growth``, on two cores;
``docs/pages/scaling.md`` explains them, and shows the model beside measured times.
"""

import math
from collections.abc import Mapping
from typing import Final

import attrs

PLANNED: Final = 0.15
"""Seconds in which the driver plans a micro-batch and notes it, without any grouping."""
GROUPING: Final = 0.15
"""Seconds of the driver for each grouping: its plan, its counts, its stage."""
TASK: Final = 0.05
"""Seconds of a core for each task: its start, Python on both sides, and the commit of its state."""
DISPATCHED: Final = 0.002
"""Seconds of the driver for each task, one after the other."""
SHARD: Final = 0.008
"""Seconds of a core for each shard before its first row."""

COSTS: Final[Mapping[str, float]] = {
    "fixed": 1.8,
    "sessions": 2.4,
    "lists": 2.1,
    "early": 3.6,
    "retracting": 5.2,
    "pipeline": 7.0,
    "function": 90.0,
}
"""Microseconds of a core for an event, by what is done with it."""

WINDOW_BYTES: Final = 120
WORKER_BYTES: Final = 0.45e9
EVENT_BYTES: Final = 900
"""Of a Python worker: for each open window, to begin with, and for each event of a batch."""


@attrs.frozen
class Load:
    """What a micro-batch has to do.

    Attributes:
        events: How many come in a micro-batch.
        windows: Windows that are open at once in a grouping, over all keys.
        work: What is done with an event, of `COSTS`.
        groupings: How many are in a row. A join is one, and each of its sides that is grouped for
            it is another.
        passed_on: How many rows a grouping gives to the next one, for each that it takes.
        row_bytes: Bytes of an event in a shuffle.
        hottest: The part of the events that the most frequent key has.
    """

    events: float
    windows: int = 100_000
    work: str = "sessions"
    groupings: int = 1
    passed_on: float = 0.5
    row_bytes: int = 60
    hottest: float = 0.0


@attrs.frozen
class Machines:
    """On what.

    Attributes:
        executors: How many.
        cores: Of each executor.
        shards: ``shards=`` of each grouping.
        partitions: ``spark.sql.shuffle.partitions``.
        speed: How fast a core is beside those that were measured.
        commit: Seconds until a file of a checkpoint is there, about 0.002 on a disk, and 0.05 to
            0.2 in an object store.
        network: Bytes a second of an executor.
    """

    executors: int = 1
    cores: int = 2
    shards: int = 8
    partitions: int = 8
    speed: float = 1.0
    commit: float = 0.002
    network: float = 100e6

    @property
    def slots(self) -> int:
        """Tasks that run at once."""
        return self.executors * self.cores


@attrs.frozen
class Cost:
    """What a micro-batch takes, in seconds one after the other.

    Attributes:
        driver: Planning, and notes in the checkpoint.
        tasks: What tasks take that have nothing to do, with the commits of their state.
        shards: What shards take that get nothing.
        events: What is done with events, on the core that has most of them.
        network: The shuffle between machines.
        task_count: Tasks of all groupings.
        commits: Commits of state of an executor, about.
        shuffled_bytes: What crosses the network.
        worker_bytes: The memory of a Python worker.
        disk_bytes: Of the state, before it is compressed, and without older versions.
    """

    driver: float
    tasks: float
    shards: float
    events: float
    network: float
    task_count: int
    commits: int
    shuffled_bytes: float
    worker_bytes: float
    disk_bytes: float

    @property
    def parts(self) -> dict[str, float]:
        """Its seconds, by what they go to."""
        names = ("driver", "tasks", "shards", "events", "network")
        return {name: getattr(self, name) for name in names}

    @property
    def seconds(self) -> float:
        """Of the whole micro-batch."""
        return sum(self.parts.values())


def cost_of(load: Load, machines: Machines) -> Cost:
    """What a micro-batch takes.

    >>> one, three = (cost_of(Load(10_000, groupings=n), Machines()).seconds for n in (1, 3))
    >>> 2 < three / one < 3
    True
    """
    speed, groupings = machines.speed, load.groupings
    waves = math.ceil(machines.partitions / machines.slots)
    # Shards go to partitions, and these to cores: the fullest core has so many of them.
    at_once = min(machines.slots, machines.partitions, machines.shards)
    fullest = math.ceil(machines.shards / at_once)
    taken = load.events * sum(load.passed_on**number for number in range(groupings))
    # The shard of the most frequent key has its part of all events, and of the rest its share.
    share = max(fullest / machines.shards, load.hottest + (1 - load.hottest) / machines.shards)
    crossing = taken * load.row_bytes * (1 - 1 / machines.executors)
    idle_tasks = max(
        waves * (TASK / speed + machines.commit), machines.partitions * DISPATCHED / speed
    )
    return Cost(
        driver=(PLANNED + GROUPING * groupings) / speed + 2 * machines.commit,
        tasks=groupings * idle_tasks,
        shards=groupings * fullest * SHARD / speed,
        events=taken * share * COSTS[load.work] * 1e-6 / speed,
        network=crossing / (machines.executors * machines.network),
        task_count=groupings * machines.partitions,
        commits=math.ceil(groupings * machines.partitions / machines.executors),
        shuffled_bytes=crossing,
        worker_bytes=WORKER_BYTES
        + EVENT_BYTES * load.events * share
        + WINDOW_BYTES * load.windows / machines.shards * 2,
        disk_bytes=float(WINDOW_BYTES * load.windows * groupings),
    )

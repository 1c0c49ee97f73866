"""Stages as Spark runs them, without Spark: packers, groups of a fanout, and shards.

What Spark does between them is done here by hand: blobs are grouped by shard, in any order, and
every group starts each micro-batch as a new processor, with nothing but what it has saved.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any
from zlib import crc32

import attrs
import cloudpickle
import pyarrow as pa
import pytest
from pyspark.sql import Row

from beamlike.errors import WindowingError
from beamlike.hosts.spark.deferred import Deferred, blobs_of, clock_of_group
from beamlike.hosts.spark.processor import GroupProcessor, TextStore
from beamlike.hosts.spark.query import packer, tick_packer
from beamlike.machine.clocks import Clocks
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.input_clocks import Idle, InputClock, SourceClock, StageClock
from beamlike.machine.liftable import check_liftable
from beamlike.model.combine import Count, Sum
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.fanout import FanoutWork
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.row_metadata import DROPPED_ROW, LEFT_OUT, MARKS, STAGE_MARKS, time_types
from beamlike.runtime.script import Arrive, Run, ScriptStep
from beamlike.runtime.work import ShardWork
from tests.support.generated.strategies import any_strategy
from tests.support.machines.chain import ChainStage, run_chain
from tests.support.machines.unpacked import unpacked

NUMBER = pa.int64()
WITHOUT_RETRACTIONS = (AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING)


@attrs.frozen
class Event:
    """A row of a source. One that is left out still moves the watermark."""

    key: str
    value: int
    timestamp: int
    left_out: bool = False


# -- what Spark does ---------------------------------------------------------------------------


class Saved:
    """The state of one group, as Spark hands it to a processor."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._maps: dict[str, dict[Any, Any]] = {}
        self.timers: set[int] = set()

    def registerTimer(self, at: int) -> None:
        self.timers.add(at)

    def getValueState(self, name: str, schema: str) -> Any:
        values = self._values

        class Value:
            def get(self) -> Any:
                return values.get(name)

            def update(self, row: Any) -> None:
                values[name] = row

        return Value()

    def getMapState(self, name: str, key_schema: str, value_schema: str) -> Any:
        kept = self._maps.setdefault(name, {})

        class Map:
            getValue = staticmethod(kept.get)
            updateValue = staticmethod(kept.__setitem__)
            removeKey = staticmethod(kept.__delitem__)

        return Map()


@attrs.frozen
class Times:
    clock: int

    def getCurrentWatermarkInMs(self) -> int:
        return 0

    def getCurrentProcessingTimeInMs(self) -> int:
        return self.clock


Partition = Sequence[pa.RecordBatch]


class Stage:
    """A stage of a streaming query, micro-batch by micro-batch."""

    def __init__(self, plan: Plan, dice: Random) -> None:
        self.plan = plan
        self._dice = dice
        self._groups: dict[int, Saved] = {}
        self._shards: dict[int, Saved] = {}

    def step(self, inputs: Sequence[Sequence[Partition]], clock: int) -> list[pa.Table]:
        """What comes out of a micro-batch with these partitions of each input, and a tick."""
        plan: Plan = cloudpickle.loads(cloudpickle.dumps(self.plan))
        packed = [
            batch
            for index, partitions in enumerate(inputs)
            for partition in partitions
            for batch in packer(plan, index)(iter(partition))
        ]
        packed += tick_packer(plan)(iter(()))
        rows = [Row(**row) for batch in packed for row in batch.to_pylist()]
        if plan.fanout:
            fanout = Deferred(GroupProcessor(FanoutWork(plan), store=TextStore), clock_of_group)
            rows = self._run(fanout, self._groups, rows, clock)
        shards = Deferred(GroupProcessor(ShardWork(plan)), blobs_of)
        out = self._run(shards, self._shards, rows, clock)
        return unpacked(plan, [row.blob for row in out if row.blob is not None])

    def _run(
        self, deferred: Deferred, saved: dict[int, Saved], rows: list[Row], clock: int
    ) -> list[Row]:
        self._dice.shuffle(rows)
        by_group: dict[int, list[Row]] = {}
        for row in rows:
            by_group.setdefault(row.shard, []).append(row)
        out: list[Row] = []
        for group, own in by_group.items():
            processor: Deferred = cloudpickle.loads(cloudpickle.dumps(deferred))
            processor.init(saved.setdefault(group, Saved()))  # type: ignore[arg-type]
            out += processor.handleInputRows((group,), iter(own), Times(clock))
        return out


def hashed(key: str | None) -> int:
    return crc32(repr(key).encode()) * 2_654_435_761 % 2**63


def rows_of_source(events: Sequence[Event]) -> pa.RecordBatch:
    """As `beamlike.hosts.spark.bind.packer_columns` of a source."""
    nothing = pa.nulls(len(events), pa.string())
    columns = {
        "key_0": pa.array([event.key for event in events], pa.string()),
        "value_0": pa.array([event.value for event in events], NUMBER),
        "hash": pa.array([hashed(event.key) for event in events], NUMBER),
        "reason": nothing,
        "element": nothing,
        "kind": pa.array([LEFT_OUT if event.left_out else None for event in events], pa.string()),
        "ts": pa.array([event.timestamp for event in events], NUMBER),
    }
    return pa.RecordBatch.from_pydict(columns)


def rows_of_stage(table: pa.Table, key_of: Callable[[str], str], *, anew: bool) -> pa.RecordBatch:
    """The same of the output of a stage: its totals, by another key."""
    rows = table.to_pylist()
    marks = [row[MARKS] | ({"start": None, "end": None} if anew else {}) for row in rows]
    keys = [None if row["user"] is None else key_of(row["user"]) for row in rows]
    types = {"kind": pa.string(), "shard": pa.int32(), "dropped": time_types(False).dropped}
    columns = {
        "key_0": pa.array(keys, pa.string()),
        "value_0": pa.array([row["total"] for row in rows], NUMBER),
        "hash": pa.array([hashed(key) for key in keys], NUMBER),
        # Rows that only pass by have no key either.
        "reason": pa.array([None if key else "null_key" for key in keys], pa.string()),
        "element": pa.nulls(len(rows), pa.string()),
    }
    columns |= {
        name: pa.array([mark[name] for mark in marks], types.get(name, NUMBER))
        for name in STAGE_MARKS
    }
    return pa.RecordBatch.from_pydict(columns)


# -- what is expected --------------------------------------------------------------------------


def plan_of(strategy: WindowingStrategy, clocks: Sequence[InputClock], **options: Any) -> Plan:
    return Plan(
        strategy,
        keys={"user": pa.string()},
        values={"v": NUMBER},
        parts=(
            Part("n", Count(), None, PlainColumn(NUMBER), NUMBER),
            Part("total", Sum(), 0, PlainColumn(NUMBER), NUMBER),
        ),
        buckets=2,
        clocks=Clocks(tuple(clocks)),
        **options,
    )


def any_early_combining(dice: Random, strategy: WindowingStrategy) -> dict[str, Any]:
    """Options of a plan that combine elements before they arrive, where the strategy can."""
    wanted: Mapping[str, Any] = dice.choice([{}, {"lift": True}, {"fanout": dice.randint(1, 4)}])
    try:
        check_liftable(strategy, unjudged="lift" in wanted)
    except WindowingError:
        return {}
    return dict(wanted)


def any_events(dice: Random, around: int, first_value: int, keys: str) -> list[Event]:
    return [
        Event(dice.choice(keys), first_value + index, around + dice.randint(-14, 10), not index % 4)
        for index in range(dice.choice([0, 0, 1, 2, 5]))
    ]


class SourceWatermark:
    """The watermark of one source, from all that it has delivered."""

    def __init__(self, clock: SourceClock) -> None:
        self._clock = clock
        self._seen: list[int] = []
        self._heard_at: int | None = None

    def after(self, events: Sequence[Event], clock: int) -> int | None:
        """None if no stage waits for it."""
        if events or self._heard_at is None:
            self._heard_at = clock
        self._seen += [event.timestamp for event in events]
        after = self._clock.idle_after
        silent = after is not None and clock > self._heard_at + after
        if silent and (self._clock.idle is Idle.RELEASE or not self._seen):
            return None
        passed = clock - self._heard_at - after if silent and after is not None else 0
        return self.reached + passed if self._seen else MIN_TIMESTAMP

    @property
    def reached(self) -> int:
        """How far its elements have moved it, idle or not."""
        return max(self._seen) - self._clock.delay if self._seen else MIN_TIMESTAMP


def any_source(dice: Random) -> SourceClock:
    idle_after = dice.choice([None, 2, 6])
    return SourceClock(dice.choice([0, 3, 10]), idle_after, dice.choice(list(Idle)))


def batch_of(clock: int, events: Iterable[Event], watermark: int) -> tuple[ScriptStep, ...]:
    """What a micro-batch brings, in the order in which a stage lets it happen."""
    elements = tuple(
        ((event.key,), Element((event.value,), event.timestamp))
        for event in events
        if not event.left_out
    )
    arrive = (Arrive(elements),) if elements else ()
    return (AdvanceClock(clock), *arrive, AdvanceWatermark(watermark))


def check(tables: Sequence[pa.Table], plan: Plan, run: Run) -> None:
    """All panes of a stage are those of the run, and it dropped as many elements for each reason.

    Elements that were combined are dropped together, so only their number is the same.
    """
    effects = [(out.key, out.effect) for out in run.outputs]
    expected = [(key, effect) for key, effect in effects if isinstance(effect, Pane)]
    rows = [row for table in tables for row in table.to_pylist()]
    panes = [row for row in rows if row[MARKS]["kind"] is None]
    shown = OutputTable(plan).build(expected).to_pylist()
    assert Counter(map(repr, panes)) == Counter(map(repr, shown))
    lost: Counter[str] = Counter()
    for _, effect in effects:
        if isinstance(effect, Drop):
            lost[effect.reason.value] += effect.count
    assert dropped_by(plan.name, tables) == lost


def dropped_by(stage: str, tables: Iterable[pa.Table]) -> Counter[str]:
    """How many elements a stage has dropped for each reason."""
    drops: Counter[str] = Counter()
    for row in (row for table in tables for row in table.to_pylist()):
        reported = row[MARKS]["dropped"]
        if row[MARKS]["kind"] == DROPPED_ROW and reported["stage"] == stage:
            drops[reported["reason"]] += reported["count"]
    return drops


# -- the tests ---------------------------------------------------------------------------------


def early_or_late_letter(key: str) -> str:
    return "early" if key <= "b" else "late"


@pytest.mark.parametrize("seed", range(60))
def test_two_groupings_in_shards_are_those_of_the_chain_in_memory(seed: int) -> None:
    dice = Random(seed)
    one = any_strategy(dice, accumulation=dice.choice(WITHOUT_RETRACTIONS))
    anew = dice.random() < 0.5
    two = any_strategy(dice, accumulation=dice.choice(WITHOUT_RETRACTIONS))
    if not anew:
        again = one.after_grouping()
        two = again.remerge() if dice.random() < 0.5 else again
    source, shards = any_source(dice), dice.choice([1, 2, 4])
    options = {"name": "one", "shards": shards, "reports": True}
    first = plan_of(one, [source], **options, **any_early_combining(dice, one))
    options = {"name": "two", "shards": dice.choice([1, 2])}
    second = plan_of(two, [StageClock(shards)], **options, **any_early_combining(dice, two))
    stages = Stage(first, dice), Stage(second, dice)
    out: tuple[list[pa.Table], list[pa.Table]] = ([], [])
    known, batches = SourceWatermark(source), []
    clock, around, watermark = 0, 0, MIN_TIMESTAMP
    for number in range(12):
        clock, around = clock + dice.choice([0, 1, 3, 9]), around + dice.choice([0, 1, 5, 12])
        events = any_events(dice, around, 10 * number, "abcde")
        moved = known.after(events, clock)
        watermark = watermark if moved is None else max(watermark, moved)
        batches.append(batch_of(clock, events, watermark))
        tables = stages[0].step([[[rows_of_source(events)]]], clock)
        out[0].extend(tables)
        passed = [rows_of_stage(table, early_or_late_letter, anew=anew) for table in tables]
        out[1].extend(stages[1].step([[passed]], clock))

    def total_by_letter(key: Any, pane: Pane) -> Iterable[tuple[tuple[str], tuple[int]]]:
        return [((early_or_late_letter(key[0]),), (pane.value[1],))]

    link = ChainStage(second.machine, total_by_letter, rewindowed=anew)
    runs = run_chain(first.machine, [link], batches)
    check(out[0], first, runs[0])
    check(out[1], second, runs[1])
    # What the first has dropped passes by the second.
    assert dropped_by("one", out[1]) == dropped_by("one", out[0])


@pytest.mark.parametrize("seed", range(60))
def test_sources_with_watermarks_of_their_own_are_judged_by_the_least(seed: int) -> None:
    dice = Random(seed)
    strategy = any_strategy(dice, retracting_options=True)
    sources = [any_source(dice) for _ in range(dice.randint(1, 3))]
    early = any_early_combining(dice, strategy)
    plan = plan_of(strategy, sources, shards=dice.choice([1, 3]), **early)
    stage, known = Stage(plan, dice), [SourceWatermark(source) for source in sources]
    tables, batches = [], []
    reported, clock, watermark = 3, 0, MIN_TIMESTAMP
    around = [0] * len(sources)
    for number in range(14):
        # The clock of a machine may go back. What happens then happens when the last did.
        reported = max(0, reported + dice.choice([0, 1, 3, 9, -5]))
        clock = max(clock, reported)
        around = [it + dice.choice([0, 0, 2, 8]) for it in around]
        events = [any_events(dice, it, 10 * number, "abc") for it in around]
        pairs = zip(known, events, strict=True)
        moved = [it for it in (one.after(own, clock) for one, own in pairs) if it is not None]
        idle = max(one.reached for one in known)
        watermark = max(watermark, min(moved, default=idle))
        batches.append(batch_of(clock, [it for event in events for it in event], watermark))
        tables += stage.step([[[rows_of_source(event)]] for event in events], reported)

    (run,) = run_chain(plan.machine, [], batches)
    check(tables, plan, run)


@pytest.mark.parametrize("fanout", [0, 2])
def test_a_clock_that_went_back_makes_no_row_late(fanout: int) -> None:
    advancing = SourceClock(0, idle_after=1_000, idle=Idle.ADVANCE)
    plan = plan_of(WindowingStrategy(FixedWindows(10_000)), [advancing], shards=1, fanout=fanout)
    stage, rows = Stage(plan, Random(0)), []
    for clock, timestamps in (
        (100_000, [1_000]),
        (50_000, [2_000]),
        (62_000, []),  # silent for long, if time did pass
        (62_000, [5_000]),
        (62_000, [10_000]),
    ):
        events = [Event("ann", 1, timestamp) for timestamp in timestamps]
        for table in stage.step([[[rows_of_source(events)]]], clock):
            rows += table.to_pylist()
    assert [(row["n"], row["pane"]["timing"], row[MARKS]["dropped"]) for row in rows] == [
        (3, "ON_TIME", None)
    ]

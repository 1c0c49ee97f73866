"""The processor of shards, without Spark: rows and timers of a micro-batch, and what comes out.

What Spark does is done here by hand. A task makes one processor for all of its groups; those with
rows come first, then those whose timer the watermark has reached, and a timer that has called is
removed. All that is left after a micro-batch are blobs and timers.

Every micro-batch goes through a query stepped by the reference machine too, and both say and
remember the same.
"""

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import attrs
import cloudpickle
import pyarrow as pa
import pytest
from pyspark.sql import Row

import beamlike as bl
from beamlike.errors import UserFunctionError, WindowError
from beamlike.hosts.spark.deferred import Deferred, blobs_of
from beamlike.hosts.spark.processor import GroupProcessor
from beamlike.hosts.spark.query import packer
from beamlike.model.combine import Count, Sum
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.shard import Shard
from beamlike.runtime.work import ShardWork
from tests.support.machines.both import BothMachines
from tests.support.machines.in_shard import DictStore
from tests.support.machines.unpacked import unpacked

NUMBER = pa.int64()
DAY = 86_400_000
YEAR_20000 = 18_030 * 365 * DAY
INDEX = -1


@attrs.frozen
class Event:
    """A row. Its value says which shard it goes to: the remainder of a division by two."""

    key: str
    value: int
    timestamp: int


class Handle:
    """The state of all groups of a query, of which one is the current group."""

    def __init__(self) -> None:
        self.group = 0
        self.blobs: dict[int, dict[int, bytes]] = {}
        self.timers: set[tuple[int, int]] = set()
        self.asked: list[int] = []
        """Whose index was read in the last micro-batch; each step reads it."""

    def getMapState(self, name: str, key_schema: str, value_schema: str) -> Any:
        handle = self

        class Map:
            def getValue(self, key: tuple[int]) -> tuple[bytes] | None:
                if key == (INDEX,):
                    handle.asked.append(handle.group)
                blob = handle.blobs.get(handle.group, {}).get(key[0])
                return None if blob is None else (blob,)

            def updateValue(self, key: tuple[int], value: tuple[bytes]) -> None:
                handle.blobs.setdefault(handle.group, {})[key[0]] = value[0]

            def removeKey(self, key: tuple[int]) -> None:
                del handle.blobs[handle.group][key[0]]

        return Map()

    def registerTimer(self, at: int) -> None:
        self.timers.add((at, self.group))


@attrs.frozen
class Times:
    watermark: int
    clock: int

    def getCurrentWatermarkInMs(self) -> int:
        return self.watermark

    def getCurrentProcessingTimeInMs(self) -> int:
        return self.clock


class Query:
    """A streaming query with one stage, in one task, micro-batch by micro-batch."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.handle = Handle()

    def batch(self, events: Sequence[Event], watermark: int, clock: int) -> list[dict[str, Any]]:
        """The rows that come out; if it raises, nothing has happened."""
        handle = deepcopy(self.handle)
        deferred = Deferred(GroupProcessor(ShardWork(self.plan)), blobs_of)
        processor: Deferred = cloudpickle.loads(cloudpickle.dumps(deferred))
        times, out = Times(watermark, clock), list[Row]()
        handle.asked = []
        processor.init(handle)  # type: ignore[arg-type]
        for group, rows in self._packed(events).items():
            handle.group = group
            out += processor.handleInputRows((group,), iter(rows), times)
        for timer in sorted(timer for timer in handle.timers if timer[0] <= watermark):
            handle.group = timer[1]
            out += processor.handleExpiredTimer((handle.group,), times, None)
            handle.timers.remove(timer)
        processor.close()
        self.handle = handle
        blobs = [row.blob for row in out if row.blob is not None]
        return [row for table in unpacked(self.plan, blobs) for row in table.to_pylist()]

    def remembered(self, group: int) -> dict[str, list[str]]:
        """The states of the keys of a shard, and what its index knows."""
        store = DictStore()
        store.blobs = dict(self.handle.blobs[group])
        store.index = store.blobs.pop(INDEX)
        return BothMachines(self.plan).remembered(store)

    def _packed(self, events: Sequence[Event]) -> dict[int, list[Row]]:
        if not events:
            return {}
        nothing = pa.nulls(len(events), pa.string())
        columns = {
            "key": pa.array([event.key for event in events], pa.string()),
            "value": pa.array([event.value for event in events], NUMBER),
            "hash": pa.array([event.value % 2 for event in events], NUMBER),
            "reason": nothing,
            "element": nothing,
            "kind": nothing,
            "ts": pa.array([event.timestamp for event in events], NUMBER),
        }
        batch = pa.RecordBatch.from_pydict(columns)
        rows: dict[int, list[Row]] = {}
        for packed in packer(self.plan)(iter([batch])):
            for row in packed.to_pylist():
                rows.setdefault(row["shard"], []).append(Row(**row))
        return rows


class Queries:
    """The same query, stepped by each of the two machines."""

    def __init__(self, strategy: bl.WindowingStrategy, **options: Any) -> None:
        self.plan = Plan(
            strategy,
            keys={"user": pa.string()},
            values={"v": NUMBER},
            parts=(
                Part("n", Count(), None, PlainColumn(NUMBER), NUMBER),
                Part("total", Sum(), 0, PlainColumn(NUMBER), NUMBER),
            ),
            shards=2,
            buckets=3,
            **options,
        )
        self._columnar = Query(self.plan)
        self._reference = Query(attrs.evolve(self.plan, machine_name="reference"))

    def batch(self, *events: Event, watermark: int, clock: int = 0) -> list[tuple[Any, ...]]:
        """What comes out of a micro-batch, see `_told`."""
        out = self._columnar.batch(events, watermark, clock)
        expected = self._reference.batch(events, watermark, clock)
        assert Counter(map(repr, out)) == Counter(map(repr, expected))
        assert self._columnar.handle.timers == self._reference.handle.timers
        for group in self._columnar.handle.blobs:
            assert self._columnar.remembered(group) == self._reference.remembered(group)
        return sorted(map(_shown, out), key=repr)

    @property
    def state(self) -> Handle:
        return self._columnar.handle


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    """Key, start of the window (ms), timing, count and sum; or key, reason, error and element."""
    marks = row[MARKS]
    if (dropped := marks["dropped"]) is not None:
        return row["user"], dropped["reason"], dropped["error"], dropped["element"]
    return row["user"], marks["start"], row["pane"]["timing"], row["n"], row["total"]


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The machines that step shards from now on, one by one."""
    found: list[str] = []
    for machine in (ColumnShard, Shard):
        monkeypatch.setattr(machine, "step", _noting(found, machine))
    return found


def _noting(found: list[str], machine: type[Any]) -> Any:
    step = machine.step

    def stepping(self: Any, *args: Any) -> Any:
        found.append(machine.__name__)
        return step(self, *args)

    return stepping


# -- rows and timers -------------------------------------------------------------------------


def test_a_shard_with_rows_and_a_due_timer_steps_once_and_waits_for_the_next_watermark() -> None:
    queries = Queries(bl.WindowingStrategy(bl.FixedWindows(10)))
    shard, other = queries.plan.shard_ids

    assert queries.batch(Event("ann", 2, 3), watermark=0) == []
    assert queries.state.timers == {(1, shard), (1, other)}

    out = queries.batch(Event("ann", 4, 15), Event("ann", 6, 25), watermark=12)
    assert out == [("ann", 0, "ON_TIME", 1, 2)]
    assert sorted(queries.state.asked) == sorted([shard, other])
    assert queries.state.timers == {(13, shard), (13, other)}

    assert queries.batch(watermark=30) == [
        ("ann", 10, "ON_TIME", 1, 4),
        ("ann", 20, "ON_TIME", 1, 6),
    ]
    assert queries.state.timers == {(31, shard), (31, other)}
    assert [set(blobs) for blobs in queries.state.blobs.values()] == [{INDEX}] * 2


def test_rows_are_judged_by_the_watermark_that_their_micro_batch_begins_with() -> None:
    queries = Queries(bl.WindowingStrategy(bl.FixedWindows(10)), on_error="drop")
    queries.batch(Event("ann", 2, 3), watermark=0)

    assert queries.batch(Event("ann", 4, 3), Event("ann", 6, 12), watermark=10) == [
        ("ann", "expired", None, '{"user":"ann","v":4}'),
        ("ann", 0, "ON_TIME", 1, 2),
    ]
    assert queries.batch(watermark=20) == [("ann", 10, "ON_TIME", 1, 6)]


def test_a_micro_batch_without_rows_wakes_all_shards_by_their_timers() -> None:
    queries = Queries(bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterProcessingTime(50)))
    shard, other = queries.plan.shard_ids
    queries.batch(Event("ann", 2, 3), Event("bob", 3, 4), watermark=1, clock=100)

    # What is due by the clock has to wait until somebody calls.
    assert queries.batch(watermark=1, clock=200) == []
    assert (queries.state.asked, queries.state.timers) == ([], {(2, shard), (2, other)})

    assert queries.batch(watermark=5, clock=200) == [
        ("ann", 0, "EARLY", 1, 2),
        ("bob", 0, "EARLY", 1, 3),
    ]
    assert sorted(queries.state.asked) == sorted([shard, other])
    assert queries.state.timers == {(6, shard), (6, other)}


def test_a_micro_batch_at_an_unmoved_watermark_leaves_one_timer() -> None:
    queries = Queries(bl.WindowingStrategy(bl.FixedWindows(10)))
    shard, other = queries.plan.shard_ids
    queries.batch(Event("ann", 2, 3), watermark=5)

    assert queries.batch(Event("ann", 4, 3), watermark=5) == []
    assert queries.state.timers == {(6, shard), (6, other)}
    assert queries.batch(watermark=10) == [("ann", 0, "ON_TIME", 2, 6)]


# -- beyond the calendar ---------------------------------------------------------------------


def why_beyond() -> str:
    days = bl.CalendarDays()
    with pytest.raises(WindowError) as raised:
        days.assign(YEAR_20000)
    return f"{days}.assign raised WindowError: {raised.value}"


def test_an_element_beyond_the_calendar_is_dropped_and_all_others_come_out(steps: list[str]):
    queries = Queries(bl.WindowingStrategy(bl.CalendarDays()), on_error="drop")
    queries.batch(Event("ann", 2, 5), Event("cid", 4, 7), watermark=0)
    steps.clear()

    out = queries.batch(
        *(Event("ann", 6, 6), Event("ann", 8, YEAR_20000), Event("ann", 10, DAY + 1)),
        *(Event("bob", 12, YEAR_20000), Event("bob", 14, 8), Event("dan", 3, 9)),
        watermark=1,
    )
    assert out == [
        ("ann", "failed", why_beyond(), '{"user":"ann","v":8}'),
        ("bob", "failed", why_beyond(), '{"user":"bob","v":12}'),
    ]
    # One shard is stepped anew, the other is not, and both are by the other query.
    assert steps == ["ColumnShard", "Shard", "ColumnShard", "Shard", "Shard"]

    steps.clear()
    assert queries.batch(Event("ann", 16, DAY + 2), watermark=DAY) == [
        ("ann", 0, "ON_TIME", 2, 8),
        ("bob", 0, "ON_TIME", 1, 14),
        ("cid", 0, "ON_TIME", 1, 4),
        ("dan", 0, "ON_TIME", 1, 3),
    ]
    assert steps == ["ColumnShard", "ColumnShard", "Shard", "Shard"]
    assert queries.batch(watermark=2 * DAY) == [("ann", DAY, "ON_TIME", 2, 26)]
    assert [set(blobs) for blobs in queries.state.blobs.values()] == [{INDEX}] * 2


def test_an_element_beyond_the_calendar_may_end_the_query_and_nothing_has_happened() -> None:
    queries = Queries(bl.WindowingStrategy(bl.CalendarDays()), on_error="fail")
    queries.batch(Event("ann", 2, 5), watermark=0)

    with pytest.raises(UserFunctionError) as raised:
        queries.batch(Event("ann", 4, 6), Event("ann", 6, YEAR_20000), watermark=1)

    assert why_beyond() in str(raised.value)
    assert "'ann'" in str(raised.value)
    assert queries.batch(Event("ann", 4, 6), watermark=1) == []
    assert queries.batch(watermark=DAY) == [("ann", 0, "ON_TIME", 2, 6)]

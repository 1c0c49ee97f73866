"""A shard, without Spark: its blobs lie in a dict, and every step reads and writes them.

So each run here is also a restart between any two steps: nothing survives a step but bytes.
"""

from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import StateError, UnsupportedError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.combine import Collect, Count, Max, Mean, Min, Sum
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import (
    ListColumn,
    MeanColumns,
    PickledColumn,
    PlainColumn,
)
from beamlike.runtime.changes import continues
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.plan import Part, Plan, spread_shards
from beamlike.runtime.script import Arrive, Output, Script
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.state import StateLayout
from tests.support.machines.shard_of_numbers import CountingStore
from tests.support.refusals import refusal


def plan_of(strategy: bl.WindowingStrategy, buckets: int = 3) -> Plan:
    """Every kind of accumulator column at once."""
    number = pa.int64()
    return Plan(
        strategy,
        keys={"user": pa.string()},
        values={"v": number},
        parts=(
            Part("n", Count(), None, PlainColumn(number), number),
            Part("total", Sum(), 0, PlainColumn(number), number),
            Part("least", Min(), 0, PlainColumn(number), number),
            Part("most", Max(), 0, PlainColumn(number), number),
            Part("mean", Mean(), 0, MeanColumns(), pa.float64()),
            Part("all", Collect(), 0, ListColumn(number), pa.list_(number)),
            Part("any", Collect(), 0, PickledColumn(), pa.list_(number)),
        ),
        shards=1,
        buckets=buckets,
    )


def arrivals(step: Arrive, buckets: int) -> pa.Table:
    keys = [key for key, _ in step.elements]
    return pa.table(
        {
            "key_user": pa.array(keys, pa.string()),
            "ts": pa.array([e.timestamp for _, e in step.elements], pa.int64()),
            "value_v": pa.array([e.value[0] for _, e in step.elements], pa.int64()),
            "bucket": pa.array([sum(map(ord, str(key))) % buckets for key in keys], pa.int32()),
        }
    )


def run_in_shard(plan: Plan, script: Script, store: CountingStore) -> list[Output]:
    shard, outputs = Shard(plan), []
    watermark, clock = MIN_TIMESTAMP, 0
    for number, step in enumerate(script):
        tables = []
        match step:
            case Arrive():
                tables = [arrivals(step, plan.buckets)]
            case AdvanceWatermark(to):
                watermark = to
            case AdvanceClock(to):
                clock = to
        effects = shard.step(store, ShardInput(tables, [HostWatermark(watermark)], clock)).effects
        outputs += [Output(number, key, effect) for (key,), effect in effects]
    return outputs


def test_only_what_a_strategy_needs_has_a_column() -> None:
    plain = StateLayout(plan_of(bl.WindowingStrategy(bl.Sessions(10)))).schema.names
    counted = bl.WindowingStrategy(bl.Sessions(10, max_elements=3), accumulation="retracting")
    assert set(StateLayout(plan_of(counted)).schema.names) - set(plain) == {
        "unretracted_panes",
        "size",
    }


def test_state_of_sessions_that_merge_on_touch_is_their_own() -> None:
    touching = plan_of(bl.WindowingStrategy(bl.Sessions(10, merge_touching=True)))
    apart = plan_of(bl.WindowingStrategy(bl.Sessions(10)))
    with pytest.raises(StateError, match="merge_touching=True"):
        continues(touching.identity, apart.identity)
    with pytest.raises(StateError, match="merge_touching=True"):
        continues(apart.identity, touching.identity)


def pane_values(outputs: list[Output]) -> list[Any]:
    return [(o.step, o.key, o.effect.value[:2]) for o in outputs if isinstance(o.effect, Pane)]


MINUTES = bl.FixedWindows("1 minute")


def element(value: int, timestamp: int) -> Element:
    return Element((value,), timestamp)


def test_state_is_gone_when_the_last_window_is() -> None:
    store = CountingStore()
    script = (
        Arrive((("ann", element(1, 5)), ("bob", element(2, 70_000)))),
        AdvanceWatermark(60_000),
        AdvanceWatermark(120_000),
    )

    outputs = run_in_shard(plan_of(bl.WindowingStrategy(MINUTES)), script, store)

    assert pane_values(outputs) == [(1, "ann", (1, 1)), (2, "bob", (1, 2))]
    assert store.blobs == {}


def test_a_bucket_is_read_only_when_it_has_data_or_a_deadline() -> None:
    store = CountingStore()
    script = (
        Arrive((("ann", element(1, 5)),)),
        AdvanceWatermark(59_999),  # one millisecond before anything is due
        AdvanceClock(1_000_000),  # no trigger waits for the clock
        Arrive((("bob", element(2, 70_000)),)),
    )

    run_in_shard(plan_of(bl.WindowingStrategy(MINUTES)), script, store)

    assert len(store.reads) == 0


def test_a_watermark_that_a_restart_reports_too_low_is_not_believed() -> None:
    plan, store = plan_of(bl.WindowingStrategy(MINUTES)), CountingStore()
    run_in_shard(plan, (AdvanceWatermark(60_000),), store)
    late = Arrive((("ann", element(1, 5)),))

    effects = Shard(plan).step(store, ShardInput([arrivals(late, plan.buckets)], [], 0)).effects

    assert [effect.reason.value for _, effect in effects] == ["expired"]


def test_elements_are_judged_before_the_watermark_that_they_arrive_with() -> None:
    plan, store = plan_of(bl.WindowingStrategy(MINUTES)), CountingStore()
    early = Arrive((("ann", element(1, 5)),))

    effects = (
        Shard(plan)
        .step(store, ShardInput([arrivals(early, plan.buckets)], [HostWatermark(60_000)], 0))
        .effects
    )

    assert [(e.info.timing.value, e.value[0]) for _, e in effects] == [("ON_TIME", 1)]


def test_all_of_a_key_s_state_survives_as_bytes() -> None:
    trigger = bl.AfterWatermark(
        early=bl.OrFinally(bl.Repeatedly(bl.AfterProcessingTime(10)), bl.AfterCount(5)),
        late=bl.AfterCount(2),
    )
    strategy = bl.WindowingStrategy(bl.Sessions(10), trigger, "accumulating", 100, "earliest")
    script = (
        Arrive((("ann", element(1, 3)), ("ann", element(2, 40)))),
        AdvanceClock(11),
        Arrive((("ann", element(3, 12)),)),
    )
    memory = run_in_memory(plan_of(strategy).machine, script)
    plan, store = plan_of(strategy, buckets=1), CountingStore()

    assert tuple(run_in_shard(plan, script, store)) == memory.outputs

    from beamlike.runtime.store.blobs import unpack_blob

    (blob,) = store.blobs.values()
    table, _ = unpack_blob(blob)
    assert table.drop_columns(["acc6_any_pickled", "bucket"]).to_pylist() == [
        {
            "key_user": "ann",
            "start": 3,
            "end": 22,
            "output_watermark": MIN_TIMESTAMP,
            "finished": 0,
            "t0": 21,
            "t1": 1,
            "t2": 1,
            "new_elements": 1,
            "element_hold": 12,
            "end_timer_set": True,
            "processing_timers": [21],
            "timing": None,
            "index": None,
            "nonspeculative": None,
            "acc0_n": 2,
            "acc1_total": 4,
            "acc2_least": 1,
            "acc3_most": 3,
            "acc4_mean_sum": 4.0,
            "acc4_mean_count": 2,
            "acc5_all": [1, 3],
        },
        {
            "key_user": "ann",
            "start": 40,
            "end": 50,
            "output_watermark": MIN_TIMESTAMP,
            "finished": 0,
            "t0": None,
            "t1": None,
            "t2": 1,  # windows that may merge count for the late trigger all along
            "new_elements": 0,
            "element_hold": None,
            "end_timer_set": True,
            "processing_timers": [],
            "timing": "EARLY",
            "index": 0,
            "nonspeculative": -1,
            "acc0_n": 1,
            "acc1_total": 2,
            "acc2_least": 2,
            "acc3_most": 2,
            "acc4_mean_sum": 2.0,
            "acc4_mean_count": 1,
            "acc5_all": [2],
        },
    ]


def test_state_of_another_windowing_is_refused_by_name() -> None:
    store = CountingStore()
    run_in_shard(plan_of(bl.WindowingStrategy(MINUTES)), (AdvanceWatermark(0),), store)
    changed = plan_of(bl.WindowingStrategy(bl.FixedWindows("1 hour"), allowed_lateness="1 minute"))

    assert refusal(StateError, lambda: Index.load(changed, store)) == (
        "the checkpoint belongs to another grouping and cannot be continued:\n"
        "  window: the checkpoint has 'FixedWindows(1m)', the query has 'FixedWindows(1h)'\n"
        "Change the query back; or bring its windows to their end with beamlike.drain, and start "
        "this one with a new checkpointLocation."
    )


def test_a_trigger_too_large_for_the_layout_is_refused() -> None:
    trigger: Any = bl.AfterCount(1)
    for _ in range(62):
        trigger = bl.Repeatedly(trigger)

    with pytest.raises(UnsupportedError, match="the trigger has 63 nodes"):
        Shard(plan_of(bl.WindowingStrategy(MINUTES, trigger)))


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_shards_fall_evenly_into_partitions(count: int) -> None:
    ids = spread_shards(count)

    assert len(set(ids)) == count

"""Rows at rest as the columns of a machine, and back: nothing is lost, nothing is added."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.machine.columnar.columns import State
from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Arrive
from beamlike.runtime.shard import Shard
from beamlike.runtime.store.column_state import ColumnState, number_keys
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages
from beamlike.runtime.store.state import StateLayout, with_bucket
from tests.support.generated.scenarios import any_script
from tests.support.machines.either import forgetful
from tests.support.machines.in_shard import DictStore
from tests.support.machines.rows_of_plans import PARTS, VALUES, rows_of

TIMED = bl.AfterProcessingTime(3)
TRIGGERS: tuple[bl.Trigger, ...] = (
    *(bl.DefaultTrigger(), bl.Never(), bl.Always(), bl.AfterCount(3), TIMED, bl.AfterWatermark()),
    *(bl.AfterSynchronizedProcessingTime(), bl.Repeatedly(bl.AfterCount(2)), bl.Repeatedly(TIMED)),
    bl.AfterWatermark(early=TIMED, late=bl.AfterCount(2)),
    bl.AfterFirst(bl.AfterCount(3), TIMED),
    bl.AfterAll(bl.AfterCount(3), TIMED, bl.AfterWatermark()),
    bl.AfterEach(bl.AfterCount(1), TIMED, bl.AfterWatermark()),
    bl.OrFinally(bl.Repeatedly(bl.AfterCount(2)), bl.AfterAll(TIMED, bl.AfterWatermark())),
    bl.Repeatedly(
        bl.AfterFirst(bl.AfterEach(bl.AfterCount(2), TIMED), bl.AfterAll(bl.AfterCount(4), TIMED))
    ),
)


def rows_at_rest(plan: Plan, store: DictStore) -> tuple[pa.Table, Index]:
    schema, index = StateLayout(plan).schema, Index.load(plan, store)
    with forgetful():
        rows = Pages(with_bucket(schema), store, index.contents).read()
    return rows.table.filter(pa.array(rows.lives)).select(schema.names), index


def woken_and_rested(plan: Plan, rows: pa.Table, index: Index) -> pa.Table:
    """The rows of a state that all rows make together."""
    layout = ColumnState(plan, ColumnShard(plan).machine)
    keys = number_keys(rows.select([f"key_{name}" for name in plan.keys]).columns, rows.num_rows)
    table = layout.load(rows.combine_chunks(), keys.number)
    promised = np.full(keys.count, MIN_TIMESTAMP, np.int64)
    promised[keys.number] = rows.column("output_watermark").to_numpy()
    return layout.save(State(index.clocks.watermark, index.clocks.clock, promised, table), keys)


@pytest.mark.samples
@pytest.mark.parametrize("window_fn", [bl.Sessions(10), bl.Sessions(10, max_elements=3)], ids=str)
@pytest.mark.parametrize("accumulation", ["discarding", "accumulating", "retracting"])
@pytest.mark.parametrize("trigger", TRIGGERS, ids=str)
def test_what_the_reference_machine_saved_is_saved_again_as_it_was(
    trigger: bl.Trigger, accumulation: str, window_fn: bl.Sessions
) -> None:
    strategy = bl.WindowingStrategy(window_fn, trigger, accumulation, 20, "earliest")
    plan = Plan(strategy, {"key": pa.string()}, VALUES, PARTS, shards=1, buckets=2)
    shard, store, seen = Shard(plan), DictStore(), 0
    watermark, clock = MIN_TIMESTAMP, 0
    dice = Random(f"{trigger} {accumulation}")
    for happens in any_script(dice, keys=("a", "b", None), steps=16, to_infinity=False):
        tables = []
        match happens:
            case Arrive():
                tables = [rows_of(plan, happens)]
            case AdvanceWatermark(to):
                watermark = to
            case AdvanceClock(to):
                clock = to
        shard.step(store, ShardInput(tables, [HostWatermark(watermark)], clock))
        rows, index = rows_at_rest(plan, store)
        again = woken_and_rested(plan, rows, index)

        assert again.schema == rows.schema
        # In words: NaN is NaN.
        assert repr(again.to_pylist()) == repr(rows.to_pylist())
        seen += rows.num_rows
    assert seen > 5


def test_without_rows_there_is_a_state_without_windows() -> None:
    plan = Plan(
        bl.WindowingStrategy(bl.Sessions(10), bl.Always(), "retracting"),
        {"key": pa.string()},
        VALUES,
        PARTS,
        shards=1,
        buckets=2,
    )
    rows, index = rows_at_rest(plan, DictStore())

    again = woken_and_rested(plan, rows, index)

    assert (again.num_rows, again.schema) == (0, StateLayout(plan).schema)

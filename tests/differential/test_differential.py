"""Random scenarios: host, restart and bundle cut change nothing that they must not change.

And in passes of 40 keys: the columnar machine says and remembers what the reference does.

``python -m tests.differential`` looks at 20,000 and 50,000, and further with other seeds.
"""

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.machine.events import Drop, DropReason
from beamlike.runtime import column_shard
from beamlike.runtime.clock import ShardStatus
from beamlike.runtime.script import Arrive
from beamlike.runtime.store import pages
from beamlike.runtime.store.column_state import ColumnState
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.state import StateLayout
from tests.support import differential
from tests.support.examples import examples
from tests.support.generated.scenarios import AGGREGATIONS
from tests.support.generated.shrinking import smallest
from tests.support.generated.strategies import TRIGGERS
from tests.support.generated.streams import features_of
from tests.support.laws import Broken
from tests.support.machines.either import any_setting_of_shards
from tests.support.machines.rows_of_plans import PARTS

SEED, SCENARIOS = 0, examples(500)
ON_SPARK = 300
STREAMS, PASSES = 4_000, examples(50)
ALL_STREAMS = 50_000


def test_every_law_holds_of_every_scenario() -> None:
    applied: Counter[str] = Counter()
    broken = [
        (broken_law.case.name, broken_law.law, broken_law.differences)
        for number in range(SCENARIOS)
        for broken_law in differential.LAWS.broken(differential.case_of(SEED, number), applied)
    ]

    assert broken == []
    often = {law for law, count in applied.items() if count > SCENARIOS / 5}
    assert often == differential.LAWS.keys() - {differential.EITHER_MACHINE}


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(index, marks=[pytest.mark.nightly] if index else [])
        for index in range(0, STREAMS // differential.KEYS, PASSES)
    ],
)
def test_either_machine_says_and_remembers_after_each_step_what_memory_does(first: int) -> None:
    """Windows of every kind, triggers to depth 3, all modes, merges and bundle cuts."""
    broken = [
        (broken_stream.case.name, broken_stream.differences)
        for number in range(first, first + PASSES)
        for broken_stream in broken_streams(number)
    ]

    assert broken == []


def broken_streams(number: int) -> list[Broken[differential.Case]]:
    case = differential.streams_of(SEED, number)
    return differential.LAWS.broken(case, names=[differential.EITHER_MACHINE])


@pytest.mark.nightly
@pytest.mark.spark
def test_scenarios_come_out_of_a_streaming_query_as_they_do_in_memory(spark: Any) -> None:
    cases = [differential.case_of(SEED, number) for number in range(ON_SPARK)]

    broken = differential.broken_on_spark(cases, spark)

    assert [(one.case.name, one.differences) for one in broken] == []


# -- the scenarios are worth running -----------------------------------------------------------


@pytest.mark.nightly
def test_scenarios_have_everything_that_a_scenario_can_have() -> None:
    cases = [differential.case_of(SEED, number) for number in range(2_000)]
    strategies = [case.strategy for case in cases]
    effects = [output.effect for case in cases for output in case.run.outputs]
    drops = {effect.reason for effect in effects if isinstance(effect, Drop)}
    timings = {effect.info.timing for effect in effects if not isinstance(effect, Drop)}

    assert {type(strategy.window_fn).__name__ for strategy in strategies} == {
        "CalendarDays",
        "CalendarMonths",
        "CalendarWeeks",
        "CalendarYears",
        "FixedWindows",
        "GlobalWindows",
        "Sessions",
        "SlidingWindows",
    }
    assert {type(node) for s in strategies for node in s.trigger.walk()} == set(TRIGGERS)
    assert {strategy.accumulation for strategy in strategies} == set(bl.AccumulationMode)
    assert {strategy.late_check for strategy in strategies} == set(bl.LateCheck)
    assert {case.scenario.aggregation for case in cases} == set(AGGREGATIONS)
    assert {DropReason.EXPIRED, DropReason.CLOSED} <= drops
    assert {bl.Timing.EARLY, bl.Timing.ON_TIME, bl.Timing.LATE} <= timings


@pytest.mark.nightly
def test_streams_have_everything_that_a_columnar_machine_has_to_know() -> None:
    """Each in so many of the 50,000 of the command: whoever loses one here, proves less."""
    found: Counter[str] = Counter()
    for number in range(ALL_STREAMS // differential.KEYS):
        case = differential.streams_of(SEED, number)
        present = features_of(case.scenario)
        setting = any_setting_of_shards(case.dice("either machine"), case.strategy, case.script)
        found.update(dict.fromkeys(present, differential.KEYS))
        found.update({f"aggregate {part.name}": differential.KEYS for part in setting.plan.parts})
        found["combined before they arrive"] += differential.KEYS * setting.lift

    triggers = {f"trigger {kind.__name__}" for kind in TRIGGERS}
    common = {
        *triggers,
        *(f"trigger depth {depth}" for depth in (1, 2, 3)),
        *(f"accumulation {mode.value}" for mode in bl.AccumulationMode),
        *(f"timestamp {combiner.value}" for combiner in bl.TimestampCombiner),
        *(f"closing {behavior.value}" for behavior in bl.ClosingBehavior),
        *(f"on time {behavior.value}" for behavior in bl.OnTimeBehavior),
        *(f"unchanged {what.value}" for what in bl.Unchanged),
        *(f"lateness {how}" for how in ("none", "some", "endless")),
        *("windows FixedWindows", "windows SlidingWindows", "windows GlobalWindows"),
        *("windows Sessions", "elements with windows"),
        *("step Arrive", "step AdvanceWatermark", "step AdvanceClock"),
        *(f"aggregate {part.name}" for part in PARTS),
    }
    rare = {
        *(f"late check {check.value}" for check in bl.LateCheck),
        *(f"late check {check.value} of sessions" for check in bl.LateCheck),
        *(f"windows Calendar{unit}" for unit in ("Days", "Weeks", "Months", "Years")),
        *("sessions max_duration", "sessions max_elements", "sessions merge_touching"),
        "sessions ends_with",
        "combined before they arrive",
    }
    assert found.keys() == common | rare
    assert {name: found[name] for name in common if found[name] < 3_000} == {}
    assert {name: found[name] for name in rare if found[name] < 500} == {}


@pytest.mark.nightly
def test_streams_of_all_keys_fire_late_close_and_merge() -> None:
    effects = [
        output.effect
        for number in range(200)
        for output in differential.streams_of(SEED, number).run.outputs
    ]
    drops = Counter(effect.reason for effect in effects if isinstance(effect, Drop))
    panes = [effect for effect in effects if not isinstance(effect, Drop)]
    timings = Counter(pane.info.timing for pane in panes)

    assert min(drops[reason] for reason in (DropReason.EXPIRED, DropReason.CLOSED)) > 200
    assert (
        min(timings[timing] for timing in (bl.Timing.EARLY, bl.Timing.ON_TIME, bl.Timing.LATE))
        > 500
    )
    assert sum(pane.retraction for pane in panes) > 500
    assert sum(pane.info.index > 2 for pane in panes) > 200


@pytest.mark.nightly
def test_most_scenarios_have_outputs_and_many_have_a_long_history() -> None:
    panes = [len(differential.case_of(SEED, number).run.panes) for number in range(2_000)]

    assert sum(count > 0 for count in panes) > 1_600
    assert sum(count > 5 for count in panes) > 800


def test_a_number_is_a_scenario() -> None:
    assert differential.case_of(3, 14) == differential.case_of(3, 14)
    assert differential.case_of(3, 14) != differential.case_of(14, 3)


# -- the laws can be broken --------------------------------------------------------------------

SHARD = "the Spark shard says and remembers what memory does"


def first_broken(law: str) -> Broken[differential.Case]:
    cases = (differential.case_of(SEED, number) for number in range(500))
    return differential.LAWS.first_broken(law, cases)


def test_a_shard_that_forgets_holds_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = StateLayout.encode

    def forgetful(layout: StateLayout, states: Any) -> Any:
        table = encode(layout, states)
        position = table.schema.get_field_index("element_hold")
        nothing = pa.nulls(table.num_rows, pa.int64())
        return table.set_column(position, table.schema.field(position), nothing)

    monkeypatch.setattr(StateLayout, "encode", forgetful)

    broken = smallest(first_broken(SHARD))

    # One element, of which the state at rest is another.
    (arrival,) = broken.case.script
    assert isinstance(arrival, Arrive)
    assert broken.differences[1].startswith("('a',): ")
    assert broken.case.strategy.timestamp_combiner is not bl.TimestampCombiner.END_OF_WINDOW


def too_late(index: Index) -> None:
    index.deadline[:] = np.minimum(index.deadline, 2**62) + 1


def test_a_shard_that_wakes_too_late_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    end_step = Index.end_step

    def sleepy(index: Index, *step: Any, changed: bool) -> ShardStatus:
        too_late(index)
        return end_step(index, *step, changed=changed)

    monkeypatch.setattr(Index, "end_step", sleepy)

    broken = smallest(first_broken(SHARD))

    assert len(broken.case.script) == 1
    assert broken.differences[1].startswith("'event of bucket 0': ")


def first_broken_streams() -> Broken[differential.Case]:
    cases = (differential.streams_of(SEED, number) for number in range(50))
    return differential.LAWS.first_broken(differential.EITHER_MACHINE, cases)


def test_a_columnar_shard_that_wakes_too_late_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    note = column_shard.note_deadlines

    def sleepy(index: Index, *noted: Any) -> None:
        note(index, *noted)
        too_late(index)

    monkeypatch.setattr(column_shard, "note_deadlines", sleepy)

    broken = first_broken_streams()

    assert broken.differences[1].startswith("'event of bucket 0': ")


def test_a_worker_that_remembers_rows_of_another_state_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "digest_of", lambda *blobs: "as always")

    assert first_broken_streams().law == differential.EITHER_MACHINE


def test_rows_that_are_gone_and_stay_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    after = pages.SavedRows.after

    def loyal(rows: pages.SavedRows, gone: Any, new: pa.Table) -> pages.SavedRows:
        return after(rows, gone[1:], new)

    monkeypatch.setattr(pages.SavedRows, "after", loyal)

    assert first_broken_streams().law == differential.EITHER_MACHINE


@pytest.mark.parametrize("column", ["new_elements", "index", "end_timer_set", "output_watermark"])
def test_a_column_that_comes_back_otherwise_is_found_out(
    column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = ColumnState.save

    def careless(layout: ColumnState, *state: Any) -> pa.Table:
        table = save(layout, *state)
        at = table.schema.get_field_index(column)
        field = table.schema.field(at)
        return table.set_column(at, field, pa.array([0] * table.num_rows).cast(field.type))

    monkeypatch.setattr(ColumnState, "save", careless)

    assert first_broken_streams().law == differential.EITHER_MACHINE


def test_a_law_that_raises_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(layout: StateLayout, *anything: Any) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr(StateLayout, "encode", refuse)

    assert first_broken(SHARD).differences == ("OverflowError: too large",)

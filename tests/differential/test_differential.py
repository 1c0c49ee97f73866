"""20,000 random scenarios: host, restart and bundle cut change nothing that they must not change.

``python -m tests.differential`` looks further, with other seeds; see there.
"""

from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from beamlike.hosts.script import Arrive
from beamlike.hosts.spark.index import Index
from beamlike.hosts.spark.state import StateLayout
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason
from beamlike.model.panes import Timing
from beamlike.model.strategy import AccumulationMode, LateCheck, TimestampCombiner
from beamlike.testing import generate
from beamlike.testing.differential import (
    LAWS,
    Broken,
    broken_laws,
    broken_on_spark,
    case_of,
    differences,
)
from beamlike.testing.shrinking import smallest

SEED, SCENARIOS, CHUNK = 0, 20_000, 1_000
ON_SPARK = 300


@pytest.mark.parametrize("first", range(0, SCENARIOS, CHUNK))
def test_every_law_holds_of_every_scenario(first: int) -> None:
    applied: Counter[str] = Counter()
    broken = [
        (one.case.name, one.law, one.differences)
        for number in range(first, first + CHUNK)
        for one in broken_laws(case_of(SEED, number), applied)
    ]

    assert broken == []
    assert {law: count for law, count in applied.items() if count > CHUNK / 5}.keys() == LAWS.keys()


@pytest.mark.spark
def test_scenarios_come_out_of_a_streaming_query_as_they_do_in_memory(spark: Any) -> None:
    cases = [case_of(SEED, number) for number in range(ON_SPARK)]

    broken = broken_on_spark(cases, spark)

    assert [(one.case.name, one.differences) for one in broken] == []


# -- the scenarios are worth running -----------------------------------------------------------


def test_scenarios_have_everything_that_a_scenario_can_have() -> None:
    cases = [case_of(SEED, number) for number in range(2_000)]
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
    assert {type(node) for s in strategies for node in s.trigger.walk()} == set(generate.TRIGGERS)
    assert {strategy.accumulation for strategy in strategies} == set(AccumulationMode)
    assert {strategy.late_check for strategy in strategies} == set(LateCheck)
    assert {case.scenario.aggregation for case in cases} == set(generate.AGGREGATIONS)
    assert {DropReason.EXPIRED, DropReason.CLOSED} <= drops
    assert {Timing.EARLY, Timing.ON_TIME, Timing.LATE} <= timings


def test_most_scenarios_have_outputs_and_many_have_a_long_history() -> None:
    panes = [len(case_of(SEED, number).run.panes) for number in range(2_000)]

    assert sum(count > 0 for count in panes) > 1_600
    assert sum(count > 5 for count in panes) > 800


def test_a_number_is_a_scenario() -> None:
    assert case_of(3, 14) == case_of(3, 14)
    assert case_of(3, 14) != case_of(14, 3)


# -- the laws can be broken --------------------------------------------------------------------

SHARD = "the Spark shard emits what memory does"


def first_broken(law: str) -> Broken:
    for number in range(500):
        case = case_of(SEED, number)
        if found := differences(case, law):
            return Broken(case, law, tuple(found))
    raise AssertionError(f"nothing breaks the law: {law}")


def test_a_shard_that_forgets_holds_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    encode = StateLayout.encode

    def forgetful(layout: StateLayout, states: Any) -> Any:
        table = encode(layout, states)
        position = table.schema.get_field_index("element_hold")
        nothing = pa.nulls(table.num_rows, pa.int64())
        return table.set_column(position, table.schema.field(position), nothing)

    monkeypatch.setattr(StateLayout, "encode", forgetful)

    broken = smallest(first_broken(SHARD))

    # One element, and a watermark that brings it out with the wrong timestamp.
    assert [type(step) for step in broken.case.script] == [Arrive, AdvanceWatermark]
    assert [text.split(":")[0] for text in broken.differences] == ["missing", "unexpected"]
    assert broken.case.strategy.timestamp_combiner is not TimestampCombiner.END_OF_WINDOW


def test_a_shard_that_wakes_too_late_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    note = Index.note

    def sleepy(index: Index, bucket: int, states: Any, deadlines: Any) -> None:
        note(index, bucket, states, deadlines)
        index.event[bucket] = min(int(index.event[bucket]), 2**62) + 1

    monkeypatch.setattr(Index, "note", sleepy)

    broken = smallest(first_broken(SHARD))

    assert [type(step) for step in broken.case.script] == [Arrive, AdvanceWatermark]


def test_a_law_that_raises_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(layout: StateLayout, *anything: Any) -> Any:
        raise OverflowError("too large")

    monkeypatch.setattr(StateLayout, "encode", refuse)

    assert first_broken(SHARD).differences == ("OverflowError: too large",)

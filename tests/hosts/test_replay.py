"""Scripts on a streaming query whose own watermark they move, and what cannot be run there.

The stories run this way too, and the whole conformance suite side by side.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beamlike import FixedWindows, GlobalWindows, Sessions
from beamlike.errors import UnsupportedError
from beamlike.hosts.spark.replay import close_replayer, replay_on_spark, run_on_spark
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import SideInputs
from beamlike.model.combine import Collect, Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, Repeatedly
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script
from beamlike.testing.scenarios.files import differences, load_transcripts
from tests.support.machines.laws import in_any_order

pytestmark = pytest.mark.spark

BLOG = Path(__file__).parents[1] / "conformance" / "cases" / "blog"


@pytest.mark.nightly
@pytest.mark.parametrize("file", ["blog_fixed", "blog_misc", "blog_session", "blog_toll"])
def test_the_longest_scenario_of_each_file_runs_on_spark_s_own_watermark(
    spark: Any, file: str
) -> None:
    scenarios = load_transcripts(BLOG / f"{file}.json", must_expect=True)
    scenario = max(scenarios, key=lambda scenario: len(scenario.script))

    run = run_on_spark(scenario.strategy, scenario.combine, scenario.script, spark)

    assert differences(scenario, run) == []
    assert run.outputs != ()


MINUTES = WindowingStrategy(FixedWindows("1 minute"), allowed_lateness=5)

SCRIPTS: dict[str, Script] = {
    "empty": (),
    "no-elements": (AdvanceWatermark(0), AdvanceClock(5), AdvanceWatermark(MAX_TIMESTAMP)),
    "watermark-stands-still": (
        Arrive((("a", Element(1, 5)),)),
        AdvanceWatermark(60_000),
        AdvanceWatermark(60_000),
        Arrive((("a", Element(2, 6)),)),
        AdvanceWatermark(60_000),
    ),
    "an-empty-bundle": (Arrive(()), Arrive((("a", Element(1, 5)),)), AdvanceWatermark(60_000)),
    "before-the-epoch": (
        Arrive((("a", Element(1, -100_000)),)),
        AdvanceWatermark(-61_000),
        Arrive((("a", Element(2, -100_000)),)),
        AdvanceWatermark(-60_000),
        AdvanceWatermark(-59_995),
        Arrive((("a", Element(3, -60_001)), ("b", Element(4, -60_000)))),
        AdvanceWatermark(0),
    ),
    "strange-keys-and-values": (
        Arrive(
            ((None, Element(None, 5)), (("a", 1), Element({"x": [1]}, 5)), (7, Element("y", 6)))
        ),
        AdvanceWatermark(60_000),
    ),
    "right-after-the-beginning-of-time": (
        AdvanceWatermark(MIN_TIMESTAMP),
        AdvanceWatermark(MIN_TIMESTAMP + 1),
        Arrive((("a", Element(1, MIN_TIMESTAMP)),)),
    ),
}


def own_watermark(strategy: WindowingStrategy, script: Script, spark: Any) -> Any:
    return run_on_spark(strategy, Collect(), script, spark)


def side_by_side(strategy: WindowingStrategy, script: Script, spark: Any) -> Any:
    return replay_on_spark([(strategy, Collect(), script)], spark)[0]


@pytest.mark.nightly
@pytest.mark.parametrize("run", [own_watermark, side_by_side])
@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_gives_what_it_gives_in_memory(
    spark: Any, name: str, run: Callable[..., Any]
) -> None:
    expected = run_in_memory(Grouping(MINUTES, Collect()), SCRIPTS[name])

    found = run(MINUTES, SCRIPTS[name], spark)

    assert in_any_order(found.outputs) == in_any_order(expected.outputs)
    assert found.script == expected.script


def test_stages_of_different_kinds_and_lengths_run_side_by_side(spark: Any) -> None:
    arrive = Arrive((("a", Element(1, 5)), ("a", Element(2, 8)), ("b", Element(3, 7))))
    counted = WindowingStrategy(GlobalWindows(), Repeatedly(AfterCount(2)), "discarding")
    stages: list[Any] = [
        (MINUTES, Collect(), (arrive, AdvanceWatermark(60_000))),
        (counted, Count(), (arrive,)),
        (FixedWindows(5), None, (arrive,)),
        (WindowingStrategy(Sessions(2)), Collect(), (AdvanceWatermark(7), arrive, arrive)),
    ]

    runs = replay_on_spark(stages, spark)

    grouped = [stage for stage in stages if stage[1] is not None]
    for (strategy, combine, script), run in zip(grouped, [runs[0], runs[1], runs[3]], strict=True):
        expected = run_in_memory(Grouping(strategy, combine), script)
        assert in_any_order(run.outputs) == in_any_order(expected.outputs)
    assert [(o.key, o.effect.value, o.effect.window.start) for o in runs[2].panes] == [
        ("a", 1, 5),
        ("a", 2, 5),
        ("b", 3, 5),
    ]


def test_watermarks_too_far_apart_for_spark_are_refused_and_the_next_script_runs(
    spark: Any,
) -> None:
    script = (AdvanceWatermark(MIN_TIMESTAMP + 1), AdvanceWatermark(MAX_TIMESTAMP - 1))

    with pytest.raises(UnsupportedError) as refused:
        own_watermark(MINUTES, script, spark)

    assert str(refused.value) == (
        "the script's watermarks span 213503982d 8h 1m 49s 548ms, more than is left of Spark's "
        "time in this query; use replay_on_spark, which does not move Spark's watermark"
    )
    assert side_by_side(MINUTES, script, spark).outputs == ()
    assert own_watermark(MINUTES, script[:1], spark).outputs == ()


def test_a_script_that_tells_the_watermark_of_a_side_input_is_refused(spark: Any) -> None:
    machine = SideInputs(FixedWindows(5), FixedWindows(5))

    with pytest.raises(UnsupportedError) as refused:
        replay_on_spark([(machine, None, (AdvanceWatermark(5, side=9),))], spark)

    assert str(refused.value) == (
        "AdvanceWatermark(to=5, side=9) moves the watermark of a side input, and a replay on Spark "
        "has one watermark for all inputs; leave side out, or run the script in memory"
    )


def test_a_grouping_without_combine_function_is_refused(spark: Any) -> None:
    with pytest.raises(UnsupportedError) as refused:
        replay_on_spark([(MINUTES, None, ())], spark)

    assert str(refused.value) == "a grouping needs a combine function, got None"


def test_a_trigger_too_large_for_the_state_is_refused_before_it_runs(spark: Any) -> None:
    trigger: Any = AfterCount(1)
    for _ in range(62):
        trigger = Repeatedly(trigger)

    with pytest.raises(UnsupportedError) as refused:
        own_watermark(WindowingStrategy(FixedWindows(5), trigger), (), spark)

    assert str(refused.value) == (
        "the trigger has 63 nodes; Spark state holds the bits of at most 62"
    )


@pytest.mark.nightly
def test_a_closed_replayer_is_opened_again(spark: Any) -> None:
    script = (Arrive((("a", Element(1, 5)),)), AdvanceWatermark(60_000))
    first = own_watermark(MINUTES, script, spark)
    close_replayer()

    assert own_watermark(MINUTES, script, spark) == first
    assert len(first.panes) == 1


def test_the_open_query_is_none_of_the_sessions_that_was_given(spark: Any) -> None:
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    own_watermark(MINUTES, (Arrive((("a", Element(1, 5)),)), AdvanceWatermark(60_000)), spark)

    assert spark.streams.active == []
    assert spark.conf.get("spark.sql.shuffle.partitions") == partitions

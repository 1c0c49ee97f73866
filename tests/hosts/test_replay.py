"""Scripts on a streaming query, as pipelines of two nodes, and what cannot be run there.

The whole conformance suite runs this way, side by side.
"""

from typing import Any

import pytest

from beamlike import FixedWindows, GlobalWindows, Sessions
from beamlike.errors import UnsupportedError, UserFunctionError, WatermarkError
from beamlike.hosts.spark.graph.query import replay_on_spark
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import SideInputs
from beamlike.model.combine import Collect, Count, Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, Repeatedly
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from tests.support.machines.laws import in_any_order

pytestmark = pytest.mark.spark

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


def in_memory(strategy: WindowingStrategy, script: Script) -> Run:
    return run_in_memory(Grouping(strategy, Collect()), script)


def test_scripts_give_side_by_side_what_they_give_in_memory(spark: Any) -> None:
    runs = replay_on_spark([(MINUTES, Collect(), script) for script in SCRIPTS.values()], spark)

    for script, run in zip(SCRIPTS.values(), runs, strict=True):
        assert in_any_order(run.outputs) == in_any_order(in_memory(MINUTES, script).outputs)
        assert run.script == script


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


def test_a_script_may_move_its_watermark_from_end_to_end_of_time(spark: Any) -> None:
    arrive = Arrive((("a", Element(1, 5)),))
    script = (AdvanceWatermark(MIN_TIMESTAMP + 1), arrive, AdvanceWatermark(MAX_TIMESTAMP - 1))

    (run,) = replay_on_spark([(MINUTES, Collect(), script)], spark)

    assert run.outputs == in_memory(MINUTES, script).outputs
    assert len(run.panes) == 1


def test_a_script_that_moves_the_watermark_of_a_side_input_is_refused(spark: Any) -> None:
    machine = SideInputs(FixedWindows(5), FixedWindows(5))

    with pytest.raises(UnsupportedError) as refused:
        replay_on_spark([(machine, None, (AdvanceWatermark(5, side=9),))], spark)

    assert str(refused.value) == (
        "AdvanceWatermark(to=5, side=9) moves the watermark of a side input, and a stage that runs "
        'by itself has one watermark for all inputs; leave side out, or use host="memory"'
    )


def test_a_script_that_moves_a_clock_back_is_refused(spark: Any) -> None:
    with pytest.raises(WatermarkError) as refused:
        replay_on_spark([(MINUTES, Collect(), (AdvanceClock(5), AdvanceClock(4)))], spark)

    assert str(refused.value) == (
        "processing time cannot go back: it stands at 00:00:00.005 (5 ms), requested 00:00:00.004 "
        "(4 ms)"
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
        replay_on_spark([(WindowingStrategy(FixedWindows(5), trigger), Collect(), ())], spark)

    assert str(refused.value) == (
        "the trigger has 63 nodes; Spark state holds the bits of at most 62"
    )


def test_what_a_function_raises_names_the_key_of_its_own_script(spark: Any) -> None:
    well = (MINUTES, Sum(), (Arrive((("ann", Element(1, 5)),)),))
    badly = (MINUTES, Sum(), (Arrive(((("bo", 2), Element("x", 5)),)),))

    with pytest.raises(UserFunctionError) as raised:
        replay_on_spark([well, badly], spark)

    assert (raised.value.function, raised.value.key) == ("Sum().add", "('bo', 2)")
    assert isinstance(raised.value.__cause__, TypeError)


def test_no_query_and_no_setting_stays_in_the_session(spark: Any) -> None:
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    script = (Arrive((("a", Element(1, 5)),)), AdvanceWatermark(60_000))

    (run,) = replay_on_spark([(MINUTES, Collect(), script)], spark)

    assert run.outputs == in_memory(MINUTES, script).outputs
    assert spark.streams.active == []
    assert spark.conf.get("spark.sql.shuffle.partitions") == partitions

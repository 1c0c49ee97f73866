"""One stream, five answers: sessions with a gap of 10 ms in the words of each system."""

from collections.abc import Callable

import pytest

from beamlike import Sessions
from beamlike.dialects import akka, apex, flink, kafka
from beamlike.dialects.stages import Row
from beamlike.machine.events import Drop, Pane
from beamlike.model.combine import Collect
from beamlike.testing import TestStream, TimestampedValue

GAP = 10


def in_flink() -> flink.WindowedOperator:
    return flink.key_by().window(flink.EventTimeSessionWindows.with_gap(GAP)).apply(list)


def in_kafka() -> kafka.Driver:
    windows = kafka.SessionWindows.of_inactivity_gap_with_no_grace(GAP)
    on_close = kafka.EmitStrategy.on_window_close()
    return (
        kafka.group_by_key()
        .windowed_by(windows)
        .emit_strategy(on_close)
        .aggregate(
            tuple, lambda key, value, all_: (*all_, value), lambda key, one, other: one + other
        )
        .driver()
    )


def in_apex() -> apex.OperatorRun:
    sessions = apex.WindowOption.session_windows(GAP)
    trigger = apex.TriggerOption.at_watermark()
    return apex.WindowedOperator(sessions, Collect(), trigger, allowed_lateness=0, keyed=True).run()


def at_apex(run: apex.OperatorRun, watermark: int) -> list[Row]:
    run.process_watermark(watermark)
    return [row for row in run.end_batch() if row.kind != "watermark"]


# -- an element at 1 comes when the watermark is at 15, and a session of 0 and 9 is open -----------


def test_beam_asks_the_elements_own_window_which_is_over() -> None:
    stream = TestStream().add_elements(*(TimestampedValue(("a", at), at) for at in (0, 9)))
    stream = stream.advance_watermark_to(15).add_elements_at_time(1, ("a", 1))
    run = stream.advance_watermark_to_infinity().run(window=Sessions(GAP)).run

    assert [(pane.effect.window.end, pane.effect.value) for pane in run.panes] == [(19, [0, 9])]
    assert [drop.effect.value for drop in run.drops if isinstance(drop.effect, Drop)] == [1]


def test_flink_asks_the_merged_window_which_is_not() -> None:
    harness = in_flink().harness()
    harness.process_element("a", 0, 0)
    harness.process_element("a", 9, 9)
    harness.process_watermark(14)

    assert harness.process_element("a", 1, 1) == []
    assert harness.process_watermark(18) == [Row("value", "a", [0, 9, 1], (0, 19), 18)]


def test_kafka_asks_the_merged_window_too() -> None:
    driver = in_kafka()
    for key, at in (("a", 0), ("a", 9), ("b", 15)):
        driver.pipe_input(key, at, at)

    assert driver.pipe_input("a", 1, 1) == []
    assert driver.pipe_input("b", 20, 20) == [Row("value", "a", (0, 9, 1), (0, 9), 9)]


def test_apex_asks_the_element_itself() -> None:
    run = in_apex()
    run.process(0, 0, "a")
    run.process(9, 9, "a")
    assert at_apex(run, 15) == []

    assert run.process(1, 1, "a") == [Row("dropped", "a", 1, None, 1, "element_behind_horizon")]
    assert at_apex(run, 20) == [Row("value", "a", [0, 9], (0, 19), 0)]


def test_akka_asks_when_it_arrives() -> None:
    run = akka.SessionWindow(GAP).run()
    run.push(0)
    run.advance(9)
    run.push(9)
    run.advance(6)
    run.push(1)

    assert run.advance(11) == [Row("value", None, [0, 9, 1], None, 26, "inactivity")]


# -- two elements exactly one gap apart ------------------------------------------------------------


def beam_says() -> list[object]:
    stream = TestStream().add_elements(*(TimestampedValue(("a", at), at) for at in (0, GAP)))
    run = stream.advance_watermark_to_infinity().run(window=Sessions(GAP)).run
    return [pane.effect.value for pane in run.panes if isinstance(pane.effect, Pane)]


def flink_says() -> list[object]:
    harness = in_flink().harness()
    rows = [*harness.process_element("a", 0, 0), *harness.process_element("a", GAP, GAP)]
    return [row.value for row in (*rows, *harness.process_watermark_to_infinity())]


def kafka_says() -> list[object]:
    driver = in_kafka()
    rows = [*driver.pipe_input("a", 0, 0), *driver.pipe_input("a", GAP, GAP)]
    return [list(row.value) for row in (*rows, *driver.pipe_input("b", 0, 1000))]


def apex_says() -> list[object]:
    run = in_apex()
    rows = [*run.process(0, 0, "a"), *run.process(GAP, GAP, "a"), *at_apex(run, 1000)]
    return [row.value for row in rows]


def akka_says() -> list[object]:
    run = akka.SessionWindow(GAP).run()
    run.push(0)
    rows = run.advance(GAP)
    run.push(GAP)
    return [row.value for row in (*rows, *run.complete())]


APART, TOGETHER = [[0], [GAP]], [[0, GAP]]


@pytest.mark.parametrize(
    ("says", "sessions"),
    [
        *[(beam_says, APART), (apex_says, APART)],
        *[(flink_says, TOGETHER), (kafka_says, TOGETHER), (akka_says, TOGETHER)],
    ],
)
def test_some_keep_them_apart_and_some_together(
    says: Callable[[], list[object]], sessions: list[list[int]]
) -> None:
    assert says() == sessions


# -- when a session of one element at 0 is over ----------------------------------------------------


def test_each_closes_a_session_at_its_own_millisecond() -> None:
    harness, driver, run, flow = (
        in_flink().harness(),
        in_kafka(),
        in_apex(),
        akka.SessionWindow(GAP).run(),
    )
    harness.process_element("a", 0, 0)
    driver.pipe_input("a", 0, 0)
    run.process(0, 0, "a")
    flow.push(0)

    assert [
        next(index for index in range(20) if harness.process_watermark(index)),
        next(index for index in range(20) if driver.pipe_input("b", index, index)),
        next(index for index in range(1, 20) if at_apex(run, index)),
        next(index for index in range(1, 20) if flow.advance(1)),
    ] == [GAP - 1, GAP + 1, GAP + 1, GAP + 1]


# -- in Beam's words -------------------------------------------------------------------------------


def test_what_a_dialect_means_can_be_said_in_the_words_of_this_package() -> None:
    operator = in_flink()
    stream = TestStream().add_elements_at_time(0, ("a", 0)).add_elements_at_time(9, ("a", 9))
    stream = stream.advance_watermark_to(15).add_elements_at_time(1, ("a", 1))
    finished = stream.advance_watermark_to_infinity()
    run = finished.run(strategy=operator.strategy, aggregate=operator.combine).run

    assert [output.effect.value for output in run.outputs] == [[0, 9, 1]]

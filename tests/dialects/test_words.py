"""The words of each dialect: what they are in the model, what they refuse, what they remember."""

import pytest

from beamlike.dialects import akka, apex, flink, kafka
from beamlike.dialects.kafka_store import Session
from beamlike.dialects.stages import Row
from beamlike.errors import WatermarkError
from beamlike.model.combine import Sum

FIVE = kafka.SessionWindows.of_inactivity_gap_and_grace("5 ms", "2 ms")
COUNT = kafka.group_by_key().windowed_by(FIVE).count()
ALL = flink.key_by().window(flink.EventTimeSessionWindows.with_gap("3 seconds"))


def add(one: int, other: int) -> int:
    return one + other


# -- what they are in the model ----------------------------------------------------------------


def test_each_dialect_shows_its_strategy() -> None:
    on_close = kafka.EmitStrategy.on_window_close()
    purging = flink.PurgingTrigger.of(flink.EventTimeTrigger.create())
    option = apex.TriggerOption.at_watermark().with_early_firings_at_every(2)
    operator = apex.WindowedOperator(
        apex.WindowOption.time_windows("1 second"),
        Sum(),
        option.accumulating_fired_panes().firing_only_updated_panes(),
        allowed_lateness="1 second",
    )
    assert [
        str(COUNT.strategy),
        str(kafka.group_by_key().windowed_by(FIVE).emit_strategy(on_close).count().strategy),
        str(ALL.allowed_lateness("10 ms").reduce(add).strategy),
        str(ALL.trigger(purging).reduce(add).strategy),
        str(akka.SessionWindow("1 second").strategy),
        str(operator.strategy),
    ] == [
        "Sessions(6ms), Repeatedly(AfterCount(1)), retracting, allowed lateness 2ms, "
        "on-time behavior fire_if_non_empty, late check merged",
        "Sessions(6ms), Never(), discarding, allowed lateness 2ms, "
        "on-time behavior fire_if_non_empty, late check merged",
        "Sessions(3s, merge_touching=True), AfterWatermark(late=AfterCount(1)), accumulating, "
        "allowed lateness 10ms, on-time behavior fire_if_non_empty, late check merged",
        "Sessions(3s, merge_touching=True), AfterWatermark(late=AfterCount(1)), discarding, "
        "allowed lateness 0ms, on-time behavior fire_if_non_empty, late check merged",
        "Sessions(1s 1ms), Never(), discarding, allowed lateness 0ms, "
        "on-time behavior fire_if_non_empty",
        "FixedWindows(1s), AfterWatermark(early=AfterCount(2), late=Never()), retracting, "
        "allowed lateness 1s, late check merged, unchanged panes omitted",
    ]


# -- Kafka Streams -----------------------------------------------------------------------------


def test_a_closed_session_is_in_the_store_for_as_long_as_it_is_retained() -> None:
    kept = kafka.Materialized.as_("visits").with_retention("20 ms")
    driver = kafka.group_by_key().windowed_by(FIVE).count(kept).driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("a", "close", 3)
    driver.pipe_input("b", "open", 15)

    assert driver.stream_time == 15
    assert driver.store.fetch("a") == [Session("a", (0, 3), 2)]
    assert driver.store.fetch_session("a", 0, 3) == 2
    assert driver.store.find_sessions_ending(3, 15) == [
        Session("a", (0, 3), 2),
        Session("b", (15, 15), 1),
    ]
    assert driver.pipe_input("a", "late", 4) == [
        Row("dropped", "a", "late", (0, 4), 4, "expired_window")
    ]

    driver.pipe_input("b", "again", 23)

    assert driver.store.all() == [Session("b", (15, 15), 1), Session("b", (23, 23), 1)]


def test_without_a_retention_a_store_has_what_is_open() -> None:
    driver = COUNT.driver()
    store = driver.store
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("b", "open", 7)
    assert store.fetch("a") == [Session("a", (0, 0), 1)]

    driver.pipe_input("b", "again", 8)
    assert store.fetch("a") == []


def test_a_tombstone_reaches_those_who_saw_the_session_before_a_commit() -> None:
    driver = COUNT.caching_driver()
    assert driver.pipe_input("a", "open", 0) == []
    assert driver.commit() == [Row("value", "a", 1, (0, 0), 0)]
    driver.pipe_input("a", "more", 1)
    driver.pipe_input("a", "more", 2)
    assert driver.commit() == [
        Row("tombstone", "a", None, (0, 0), 0),
        Row("value", "a", 3, (0, 2), 2),
    ]
    assert driver.commit() == []


def test_by_the_rule_of_kip_94_a_record_past_retention_is_answered_and_not_stored() -> None:
    windows = kafka.SessionWindows.of_inactivity_gap_with_no_grace(5).until("20 ms")
    driver = kafka.group_by_key().windowed_by(windows).count().driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("b", "open", 20)

    assert driver.pipe_input("a", "in time", 0) == [Row("value", "a", 2, (0, 0), 0)]
    driver.pipe_input("b", "open", 21)
    assert driver.pipe_input("a", "late", 0) == [Row("value", "a", 1, (0, 0), 0)]
    assert driver.pipe_input("a", "late again", 0) == [Row("value", "a", 1, (0, 0), 0)]
    assert driver.store.fetch("a") == []


# -- Flink -------------------------------------------------------------------------------------


def test_what_a_count_did_not_fire_for_is_forgotten_with_its_window() -> None:
    two = flink.CountTrigger.of(2)
    windowed = flink.key_by().window(flink.TumblingEventTimeWindows.of("10 ms")).trigger(two)
    harness = windowed.apply(list).harness()

    assert harness.process_element("a", 1, 0) == []
    assert harness.process_element("a", 2, 1) == [Row("value", "a", [1, 2], (0, 10), 9)]
    assert harness.process_element("a", 3, 2) == []
    assert harness.process_watermark_to_infinity() == []


def test_without_a_side_output_a_late_element_is_dropped() -> None:
    harness = ALL.reduce(add).harness()
    harness.process_watermark("00:00:10")

    assert harness.process_element("a", 1, 0) == [Row("dropped", "a", 1, None, 0, "expired_window")]


# -- Akka --------------------------------------------------------------------------------------


def test_a_session_closes_when_more_than_the_gap_has_passed() -> None:
    run = akka.SessionWindow("1 second").run()
    run.push("a")
    assert run.advance(1000) == []
    run.push("b")
    assert run.advance(1000) == []
    assert run.advance(500) == [Row("value", None, ["a", "b"], None, 2001, "inactivity")]


def test_nothing_happens_after_the_end() -> None:
    run = akka.SessionWindow(5).run()
    run.push("a")
    assert run.complete() == [Row("value", None, ["a"], None, 0, "end_of_input")]

    with pytest.raises(WatermarkError, match="the stream has completed, and nothing happens"):
        run.push("b")


def test_a_clock_does_not_go_back() -> None:
    windows = flink.ProcessingTimeSessionWindows.with_gap(5)
    harness = flink.key_by().window(windows).reduce(add).harness()
    harness.set_processing_time(3)

    with pytest.raises(WatermarkError, match=r"it stands at 00:00:00.003 \(3 ms\), requested 0"):
        harness.set_processing_time(2)

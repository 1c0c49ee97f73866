"""What a table of Kafka holds back, what it tells of old values, and what its store is asked."""

import pytest

from beamlike.dialects import kafka
from beamlike.dialects.kafka_store import ReadOnlySessionStore, Session
from beamlike.dialects.stages import Row
from beamlike.errors import BufferFullError

FIVE = kafka.SessionWindows.of_inactivity_gap_with_no_grace(5)
COUNT = kafka.group_by_key().windowed_by(FIVE).count()


def held_back(limit: int, buffer: kafka.BufferConfig | None = None) -> kafka.KTable:
    return COUNT.suppress(kafka.Suppressed.until_time_limit(limit, buffer))


# -- at a rate -------------------------------------------------------------------------------------


def test_a_change_waits_for_its_limit_and_takes_later_changes_along() -> None:
    driver = held_back(10).driver()
    assert driver.pipe_input("a", "open", 0) == []
    # Another change of the same session: it does not wait any longer for that.
    assert driver.pipe_input("a", "more", 0) == []
    assert driver.pipe_input("b", "open", 9) == []

    assert driver.pipe_input("b", "again", 10) == [Row("value", "a", 2, (0, 0), 0)]


def test_a_session_that_has_grown_leaves_a_tombstone_that_waits_too() -> None:
    driver = held_back(10).driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("a", "grow", 4)

    assert driver.pipe_input("b", "open", 13) == [Row("tombstone", "a", None, (0, 0), 0)]
    assert driver.pipe_input("b", "again", 14) == [Row("value", "a", 2, (0, 4), 4)]


def test_without_a_limit_everything_comes_at_once() -> None:
    driver, table = held_back(0).driver(), COUNT.driver()
    for key, at in (("a", 0), ("a", 3), ("b", 20), ("a", 20)):
        assert driver.pipe_input(key, "any", at) == table.pipe_input(key, "any", at)


def test_a_late_record_is_reported_of_at_once_and_does_not_wait() -> None:
    driver = held_back(100).driver()
    driver.pipe_input("a", "open", 50)

    assert driver.pipe_input("a", "late", 0) == [
        Row("dropped", "a", "late", (0, 0), 0, "expired_window")
    ]


def test_a_buffer_that_is_full_lets_out_what_waits_longest() -> None:
    driver = held_back(1000, kafka.BufferConfig.max_records(2)).driver()
    assert driver.pipe_input("b", "open", 1) == []
    assert driver.pipe_input("a", "open", 1) == []

    # Of those that wait equally long the least key.
    assert driver.pipe_input("c", "open", 2) == [Row("value", "a", 1, (1, 1), 1)]
    assert driver.pipe_input("d", "open", 3) == [Row("value", "b", 1, (1, 1), 1)]


def test_a_buffer_that_must_not_be_full_fails() -> None:
    strict = kafka.BufferConfig.max_records(1).shut_down_when_full()
    driver = held_back(1000, strict).driver()
    driver.pipe_input("a", "open", 0)

    with pytest.raises(BufferFullError, match="more than 1 result would wait, and max_records"):
        driver.pipe_input("b", "open", 0)
    assert strict.emit_early_when_full() == kafka.BufferConfig.max_records(1)


def final(buffer: kafka.BufferConfig | None = None) -> kafka.KTable:
    return COUNT.suppress(kafka.Suppressed.until_window_closes(buffer))


def test_final_results_can_wait_in_a_buffer_without_limit() -> None:
    assert final(kafka.BufferConfig.unbounded()) == final()


def test_a_session_too_many_that_waits_for_its_final_result_is_a_failure() -> None:
    driver = final(kafka.BufferConfig.max_records(2).shut_down_when_full()).driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("b", "open", 5)
    assert driver.pipe_input("b", "grow", 5) == []
    # What is closed by the record itself has left.
    assert driver.pipe_input("c", "open", 6) == [Row("value", "a", 1, (0, 0), 0)]

    with pytest.raises(BufferFullError, match="more than 2 results would wait"):
        driver.pipe_input("d", "open", 7)


def test_a_final_result_that_may_repeat_comes_a_millisecond_earlier_and_again() -> None:
    twice = COUNT.suppress(kafka.Suppressed.until_window_closes(repeats=True)).driver()
    once = final().driver()
    records = [("a", "open", 0), ("b", "time", 5), ("a", "more", 0), ("b", "time", 6)]

    first, second = Row("value", "a", 1, (0, 0), 0), Row("value", "a", 2, (0, 0), 0)
    assert [twice.pipe_input(*record) for record in records] == [[], [first], [second], []]
    assert [once.pipe_input(*record) for record in records] == [[], [], [], [second]]


def uncached(retention: int | None = None) -> kafka.KTable:
    store = kafka.Materialized.as_("visits").with_caching_disabled()
    store = store if retention is None else store.with_retention(retention)
    return kafka.group_by_key().windowed_by(FIVE).count(store)


@pytest.mark.parametrize(
    ("table", "last"),
    [
        (uncached(), [Row("value", "a", 1, (5, 5), 5)]),
        (uncached(5), [Row("value", "a", 1, (5, 5), 5)]),
        (uncached(6), [Row("tombstone", "a", None, (0, 0), 0), Row("value", "a", 2, (0, 5), 5)]),
        (
            kafka.group_by_key().windowed_by(FIVE).count(),
            [Row("tombstone", "a", None, (0, 0), 0), Row("value", "a", 2, (0, 5), 5)],
        ),
    ],
    ids=["Kafka's retention", "the same in numbers", "a millisecond more", "behind a cache"],
)
def test_without_a_cache_the_store_hides_a_session_a_millisecond_early(
    table: kafka.KTable, last: list[Row]
) -> None:
    driver = table.driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("b", "time", 5)

    assert driver.pipe_input("a", "a gap later", 5) == last


def test_a_record_of_a_hidden_session_is_aggregated_alone_and_the_next_one_is_late() -> None:
    driver = uncached().driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("b", "time", 5)

    assert driver.pipe_input("a", "again", 0) == [Row("value", "a", 1, (0, 0), 0)]
    driver.pipe_input("b", "time", 6)
    late = driver.pipe_input("a", "again", 0)
    assert [(it.kind, it.reason) for it in late] == [("dropped", "expired_window")]


def test_what_a_commit_brings_is_held_back_like_the_rest() -> None:
    driver = held_back(10).caching_driver()
    driver.pipe_input("a", "open", 0)
    driver.pipe_input("a", "grow", 4)
    assert driver.commit() == []
    driver.pipe_input("b", "open", 14)

    assert driver.commit() == [Row("value", "a", 2, (0, 4), 4)]


# -- old values ------------------------------------------------------------------------------------


def test_a_tombstone_tells_what_was_there() -> None:
    driver = COUNT.send_old_values().driver()
    assert driver.pipe_input("a", "open", 0) == [Row("value", "a", 1, (0, 0), 0)]

    assert driver.pipe_input("a", "grow", 4) == [
        Row("tombstone", "a", None, (0, 0), 0, old=1),
        Row("value", "a", 2, (0, 4), 4),
    ]


def test_a_commit_tells_what_was_seen_before() -> None:
    driver = COUNT.send_old_values().caching_driver()
    driver.pipe_input("a", "open", 0)
    assert driver.commit() == [Row("value", "a", 1, (0, 0), 0)]
    driver.pipe_input("a", "again", 0)
    driver.pipe_input("a", "again", 0)
    assert driver.commit() == [Row("value", "a", 3, (0, 0), 0, old=1)]
    driver.pipe_input("a", "grow", 4)

    assert driver.commit() == [
        Row("tombstone", "a", None, (0, 0), 0, old=3),
        Row("value", "a", 4, (0, 4), 4),
    ]


# -- several streams -------------------------------------------------------------------------------


def test_streams_that_are_aggregated_together_can_wait_for_the_close() -> None:
    clicks = kafka.group_by_key()

    def add(key: object, value: str, all_: str) -> str:
        return all_ + value

    windowed = clicks.cogroup(add).cogroup(kafka.group_by_key(), add).windowed_by(FIVE)
    on_close = windowed.emit_strategy(kafka.EmitStrategy.on_window_close())
    driver = on_close.aggregate(str, lambda key, one, other: one + other).driver()

    assert driver.pipe_input("a", "click ", 0, stream=0) == []
    assert driver.pipe_input("a", "buy ", 3, stream=1) == []
    assert driver.pipe_input("b", "click", 9, stream=0) == [
        Row("value", "a", "click buy ", (0, 3), 3)
    ]


# -- the store -------------------------------------------------------------------------------------


def test_a_store_is_asked_forwards_and_backwards() -> None:
    early, late = Session("a", (0, 50_000), 2), Session("a", (70_000, 119_999), 1)
    other = Session("b", (119_000, 120_000), 3)
    store = ReadOnlySessionStore(lambda: [late, other, early], retention=100_000)

    assert store.fetch("a", backward=True) == [late, early]
    assert store.fetch("a", to_key="b") == [early, late, other]
    assert store.find_sessions("a", 60_000, 100_000, to_key="c") == [late]
    assert store.find_sessions_ending(0, 200_000, backward=True) == [other, late, early]

"""What Kafka Streams' own tests of sessions assert, asked of the words here.

Each docstring names the class of Kafka's tests, and the one that plays the scenario. What
`tests/conformance/dialects` has already is not repeated.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from beamlike import AfterCount, Never, Repeatedly, SlidingWindows
from beamlike.dialects import kafka
from beamlike.dialects.kafka_store import Session
from beamlike.dialects.stages import Row
from beamlike.errors import BufferFullError, WindowingError
from beamlike.model.combine import Collect
from beamlike.model.triggers import Trigger
from beamlike.testing import TestStream
from tests.support.dialects.session_store import SessionStore

GAP = 300_000
APART = GAP + 1
"""So far apart, two records are two sessions (ms)."""

KEPT = kafka.Materialized.as_("session-store").with_retention(3 * GAP)
WINDOWS = kafka.SessionWindows.of_inactivity_gap_with_no_grace
FIVE = kafka.group_by_key().windowed_by(WINDOWS(5))
ON_CLOSE = kafka.EmitStrategy.on_window_close()


def counted(emit: kafka.EmitStrategy = kafka.EmitStrategy.ON_WINDOW_UPDATE) -> kafka.KTable:
    return kafka.group_by_key().windowed_by(WINDOWS(GAP)).emit_strategy(emit).count(KEPT)


def piped(driver: kafka.Driver, *records: tuple[Any, ...]) -> list[Row]:
    return [row for record in records for row in driver.pipe_input(*record)]


def value(key: str, value: object, start: int, end: int) -> Row:
    return Row("value", key, value, (start, end), end)


def gone(key: str, start: int, end: int) -> Row:
    return Row("tombstone", key, None, (start, end), end)


# -- KStreamSessionWindowAggregateProcessorTest ----------------------------------------------------

THREE_SESSIONS = [
    *[("mel", "first", 0)],
    *[("mel", "second", APART)] * 2,
    *[("mel", "third", 2 * APART)] * 3,
]


def test_one_key_has_a_session_for_each_burst_a_gap_and_a_millisecond_apart() -> None:
    """The aggregate processor's test: many sessions of one id. Kafka runs it behind a cache, which
    is flushed at the end, and with results on close, where the last session stays open."""
    cached = counted().caching_driver()
    bursts = [value("mel", 1, 0, 0), value("mel", 2, APART, APART)]
    last = value("mel", 3, 2 * APART, 2 * APART)

    assert piped(cached, *THREE_SESSIONS) == []
    assert cached.commit() == [*bursts, last]
    assert piped(counted(ON_CLOSE).driver(), *THREE_SESSIONS) == bursts


def test_a_session_that_is_closed_merges_as_long_as_it_is_retained() -> None:
    """The aggregate processor's test, shouldMergeSessions: a third record merges two sessions. Its
    store keeps them for three gaps, so it finds the first one, which is closed, and counts 3."""
    driver = counted().driver()
    piped(driver, ("mel", "first", 0), ("mel", "second", APART))

    assert piped(driver, ("mel", "third", GAP // 2)) == [
        gone("mel", 0, 0),
        gone("mel", APART, APART),
        value("mel", 3, 0, APART),
    ]
    assert driver.store.fetch("mel") == [Session("mel", (0, APART), 3)]


def test_on_close_a_session_that_is_closed_and_retained_is_in_two_results() -> None:
    """The aggregate processor's test, shouldMergeSessions, with results on close."""
    driver = counted(ON_CLOSE).driver()

    assert piped(driver, ("mel", "first", 0), ("mel", "second", APART)) == [value("mel", 1, 0, 0)]
    assert piped(driver, ("mel", "third", GAP // 2)) == []
    assert driver.store.fetch("mel") == [Session("mel", (0, APART), 3)]
    assert piped(driver, ("ann", "later", 3 * GAP)) == [value("mel", 3, 0, APART)]


def test_a_session_that_the_store_has_forgotten_does_not_merge() -> None:
    """Three gaps after its last record the first session is not in the store; nor is it where no
    retention is named, since then the store keeps what is open."""
    shortest = kafka.group_by_key().windowed_by(WINDOWS(GAP)).count()
    for driver, last in ((counted().driver(), 3 * GAP), (shortest.driver(), APART)):
        piped(driver, ("mel", "first", 0), ("ann", "second", last), ("mel", "third", last - GAP))

        assert Session("mel", (last - GAP, last - GAP), 1) in driver.store.fetch("mel")


def test_with_no_grace_a_record_is_late_a_millisecond_after_the_gap() -> None:
    """The aggregate processor's test of late records with a grace of zero."""
    ten = kafka.group_by_key().windowed_by(WINDOWS(10)).count(KEPT)

    assert piped(
        ten.driver(), ("dummy", "", 0), ("on time", "1", 0), ("dummy", "", 11), ("late", "1", 0)
    ) == [
        value("dummy", 1, 0, 0),
        value("on time", 1, 0, 0),
        value("dummy", 1, 11, 11),
        Row("dropped", "late", "1", (0, 0), 0, "expired_window"),
    ]


# -- SessionWindowedKStreamImplTest, KGroupedStreamImplTest, KStreamAggregationIntegrationTest -----


def test_results_on_close_are_behind_no_cache() -> None:
    """The windowed stream's test: a store whose results come on close is never cached. They come
    at once, and a commit has nothing to add."""
    driver = FIVE.emit_strategy(ON_CLOSE).count().caching_driver()
    assert piped(driver, ("a", "open", 0), ("a", "more", 5), ("b", "later", 11)) == [
        value("a", 2, 0, 5)
    ]

    assert driver.commit() == []


def test_a_final_result_that_a_cache_feeds_waits_for_a_commit() -> None:
    """What ``suppress`` makes final comes from a store that may be cached."""
    final = FIVE.count().suppress(kafka.Suppressed.until_window_closes())
    driver = final.caching_driver()
    assert piped(driver, ("a", "open", 0), ("b", "later", 11)) == []

    assert driver.commit() == [value("a", 1, 0, 0)]


def test_a_record_between_two_that_are_merged_is_reduced_last() -> None:
    """The grouped stream's test of reduced sessions: the record at 90 comes after that at 100."""
    thirty = kafka.group_by_key().windowed_by(WINDOWS(30))
    driver = thirty.reduce(lambda one, other: f"{one}:{other}").driver()

    assert piped(
        driver,
        *[("1", "A", 10), ("2", "Z", 15), ("1", "B", 30)],
        *[("1", "A", 70), ("1", "B", 100), ("1", "C", 90)],
    ) == [
        value("1", "A", 10, 10),
        value("2", "Z", 15, 15),
        *[gone("1", 10, 10), value("1", "A:B", 10, 30)],
        value("1", "A", 70, 70),
        *[gone("1", 70, 70), value("1", "A:B", 70, 100)],
        *[gone("1", 70, 100), value("1", "A:B:C", 70, 100)],
    ]


def test_the_sessions_of_users_are_reduced_and_can_be_asked_for() -> None:
    """The integration test of aggregations: four users, one of whom has a late arrival."""
    windows = kafka.SessionWindows.of_inactivity_gap_and_grace("1 second", "1 minute")
    reduced = kafka.group_by_key().windowed_by(windows).reduce(lambda one, other: f"{one}:{other}")
    driver = reduced.driver()
    everyone = [("bob", "start"), ("penny", "start"), ("jo", "pause"), ("emily", "pause")]
    piped(driver, *((name, text, 0) for name, text in everyone))

    assert piped(
        driver,
        ("emily", "resume", 500),
        *[("bob", "pause", 1001), ("penny", "stop", 1001)],
        *[("bob", "resume", 1501), ("jo", "resume", 1501), ("jo", "late", 1500)],
    ) == [
        *[gone("emily", 0, 0), value("emily", "pause:resume", 0, 500)],
        *[value("bob", "pause", 1001, 1001), value("penny", "stop", 1001, 1001)],
        *[gone("bob", 1001, 1001), value("bob", "pause:resume", 1001, 1501)],
        value("jo", "resume", 1501, 1501),
        *[gone("jo", 1501, 1501), value("jo", "resume:late", 1500, 1501)],
    ]
    assert driver.store.fetch("bob") == [
        Session("bob", (0, 0), "start"),
        Session("bob", (1001, 1501), "pause:resume"),
    ]


@pytest.mark.parametrize("emit", kafka.EmitStrategy)
def test_a_table_of_several_keys_is_asked_for_by_key(emit: kafka.EmitStrategy) -> None:
    """The windowed stream's tests of what is in a store: the session of the second key begins
    before that of the first, and ends with it. The first key's earlier session is closed: a store
    with a cache shows it in Kafka until the cache is flushed."""
    windowed = kafka.group_by_key().windowed_by(WINDOWS(500)).emit_strategy(emit)
    driver = windowed.aggregate(
        lambda: "0",
        lambda key, text, total: f"{total}+{text}",
        lambda key, one, other: f"{one}+{other}",
    ).driver()
    piped(driver, ("1", "1", 10), ("1", "2", 15), ("1", "3", 600))
    piped(driver, ("2", "1", 600), ("2", "2", 599))

    assert driver.store.fetch("1", to_key="2") == [
        Session("1", (600, 600), "0+3"),
        Session("2", (599, 600), "0+0+1+2"),
    ]
    assert driver.store.find_sessions_ending(600, 600) == [
        Session("2", (599, 600), "0+0+1+2"),
        Session("1", (600, 600), "0+3"),
    ]


# -- SuppressScenarioTest, KTableSuppressProcessorTest, the KTableTest in Scala --------------------


def test_final_results_come_once_and_a_late_record_changes_none() -> None:
    """The scenario of final results for sessions, over a table without a cache."""
    uncached = kafka.Materialized.as_("counts").with_caching_disabled()
    table = FIVE.count(uncached).suppress(
        kafka.Suppressed.until_window_closes(kafka.BufferConfig.unbounded())
    )

    assert piped(
        table.driver(),
        *[("k1", "v1", 0), ("k1", "v1", 5), ("k1", "v1", 1)],
        *[("k2", "v1", 11), ("k1", "v1", 5), ("k1", "v1", 30)],
    ) == [
        value("k1", 3, 0, 5),
        Row("dropped", "k1", "v1", (5, 5), 5, "expired_window"),
        value("k2", 1, 11, 11),
    ]


def test_two_sessions_are_final_with_the_record_that_is_past_both() -> None:
    """The Scala test of final results by session, with a grace: out of order, and then late."""
    windows = kafka.SessionWindows.of_inactivity_gap_and_grace(5, 10)
    table = kafka.group_by_key().windowed_by(windows).count()
    driver = table.suppress(kafka.Suppressed.until_window_closes()).driver()
    assert piped(driver, *(("k1", "v1", at) for at in (0, 1, 8, 2, 13, 10))) == []

    assert piped(driver, ("k1", "v1", 30), ("k1", "v1", 3)) == [
        value("k1", 3, 0, 2),
        value("k1", 3, 8, 13),
        Row("dropped", "k1", "v1", (3, 3), 3, "expired_window"),
    ]


def test_a_buffer_for_no_record_lets_everything_through_tombstones_too() -> None:
    """The suppress processor's test: tombstones of sessions are not dropped by a time limit."""
    nothing_waits = kafka.Suppressed.until_time_limit("1 day", kafka.BufferConfig.max_records(0))
    driver = FIVE.count().suppress(nothing_waits).driver()

    assert piped(driver, ("hey", "open", 0), ("hey", "grow", 4)) == [
        value("hey", 1, 0, 0),
        gone("hey", 0, 0),
        value("hey", 2, 0, 4),
    ]


def test_a_buffer_for_no_record_that_must_not_be_full_fails_with_the_first() -> None:
    """The suppress processor's test of a buffer that shuts down, with the least one."""
    strict = kafka.BufferConfig.max_records(0).shut_down_when_full()

    with pytest.raises(BufferFullError, match="more than 0 results would wait"):
        FIVE.count().suppress(kafka.Suppressed.until_window_closes(strict)).driver().pipe_input(
            "hey", "open", 0
        )


# -- KStreamWindowAggregateTest --------------------------------------------------------------------


def test_time_windows_can_be_said_in_the_words_of_this_package() -> None:
    """The window aggregate's test of expired windows: 10 ms long, every 5 ms, a grace of 90 ms."""
    time, stream = -1, TestStream()
    for at in (100, 0, 1, 2, 3, 4, 5, 6, 105, 106):
        if at > time:
            time, stream = at, stream.advance_watermark_to(at)
        stream = stream.add_elements_at_time(at, ("k", at))
    end = stream.advance_watermark_to_infinity()

    def panes(trigger: Trigger, accumulation: str) -> list[tuple[int, int, list[int]]]:
        """Windows and what is in them, but for what comes with the end of all time."""
        run = end.run(
            window=SlidingWindows(10, 5),
            trigger=trigger,
            accumulation=accumulation,
            allowed_lateness=90,
            on_time_behavior="fire_if_non_empty",
            late_check="assigned",
            aggregate=Collect(),
        ).run
        given = [pane.effect for pane in run.panes if pane.step < len(run.script) - 1]
        return sorted((it.window.start, it.window.end, it.value) for it in given)

    assert panes(Repeatedly(AfterCount(1)), "accumulating") == [
        *[(5, 15, [5]), (5, 15, [5, 6])],
        (95, 105, [100]),
        *[(100, 110, [100]), (100, 110, [100, 105]), (100, 110, [100, 105, 106])],
        *[(105, 115, [105]), (105, 115, [105, 106])],
    ]
    assert panes(Never(), "discarding") == [(5, 15, [5, 6])]


# -- AbstractSessionBytesStoreTest, CachingPersistentSessionStoreTest, SessionStoreFetchTest -------


def stored(*sessions: tuple[Any, int, int]) -> SessionStore:
    """A store in which these are put in this order, each with its place as value."""
    store = SessionStore(10_000)
    for place, (key, start, end) in enumerate(sessions):
        store.put(key, (start, end), place)
    return store


def keys(sessions: Sequence[Session]) -> list[object]:
    return [session.key for session in sessions]


RANGE = stored(
    *[("aa", 10, 10), ("aaa", 100, 100), ("aaaa", 100, 100), ("b", 1000, 1000)],
    *[("bb", 1500, 2000), ("a", 0, 0), ("bbb", 2500, 3000)],
)


def test_a_range_of_keys_is_fetched_forwards_and_backwards() -> None:
    """The store's tests of key ranges: two keys have a session at the same time, and backwards
    they come the other way round."""
    inside = ["aa", "aaa", "aaaa", "b", "bb"]

    assert keys(RANGE.fetch("aa", to_key="bb")) == inside
    assert keys(RANGE.fetch("aa", to_key="bb", backward=True)) == inside[::-1]
    assert keys(RANGE.find_sessions("aa", 0, 2**63 - 1, to_key="bb")) == inside
    assert keys(RANGE.all()) == ["a", *inside, "bbb"]
    assert keys(RANGE.all(backward=True)) == ["bbb", *inside[::-1], "a"]


def test_sessions_of_the_same_time_come_by_their_keys() -> None:
    """The caching store's test: keys at one instant, whatever the order in which they were put."""
    store = stored(("b", 0, 0), ("aa", 0, 0), ("a", 0, 0))

    assert keys(store.fetch("a", to_key="b")) == ["a", "aa", "b"]
    assert keys(store.find_sessions("aa", 0, 0, to_key="b", backward=True)) == ["b", "aa"]
    assert keys(store.find_sessions_ending(0, 0)) == ["a", "aa", "b"]
    assert keys(stored((b"\0\0", 0, 0), (b"\0", 0, 0)).all()) == [b"\0", b"\0\0"]


def test_keys_of_another_kind_come_backwards_the_other_way_round() -> None:
    """Kafka compares bytes. Numbers have none here, and come as they were put."""
    store = stored((7, 0, 0), (3, 0, 0), (5, 0, 0))

    assert [keys(store.all()), keys(store.all(backward=True))] == [[7, 3, 5], [5, 3, 7]]


def test_what_a_record_would_merge_with_is_found() -> None:
    """The store's tests of sessions to merge, of exact keys, and of binary ones."""
    chain = stored(*(("a", start, end) for start, end in ((0, 100), (101, 200), (201, 300))))
    mixed = stored(("a", 0, 0), ("aa", 0, 10), ("a", 10, 20), ("aa", 10, 20))
    same_end = stored(*((key, start, 100) for start, key in enumerate([b"\0", b"\0\0"] * 2)))

    assert chain.find_sessions("a", 150, 300, backward=True) == [
        Session("a", (201, 300), 2),
        Session("a", (101, 200), 1),
    ]
    assert mixed.find_sessions("a", 10, 0, to_key="aa") == [Session("aa", (0, 10), 1)]
    assert same_end.find_sessions(b"\0", 0, 1_000, backward=True) == [
        Session(b"\0", (2, 100), 2),
        Session(b"\0", (0, 100), 0),
    ]


def test_sessions_are_found_by_their_end_on_the_boundary_and_beside_it() -> None:
    """The store's test of sessions by a range of time."""
    store = stored(("a", 0, 0), ("b", 10, 20), ("c", 30, 40))
    ranges = [(0, 0), (0, 20), (0, 19), (1, 20), (19, 41), (0, 40)]

    assert ["".join(map(str, keys(store.find_sessions_ending(*it)))) for it in ranges] == [
        *["a", "ab", "a", "b", "bc", "abc"]
    ]


def test_a_store_is_not_asked_for_no_key() -> None:
    """The store's tests of null keys. Kafka's ranges may have an open end; here `all` is asked."""
    asks: list[Callable[[], object]] = [
        lambda: RANGE.fetch(None),
        lambda: RANGE.fetch(None, to_key="b"),
        lambda: RANGE.find_sessions(None, 1, 2),
        lambda: RANGE.fetch_session(None, 1, 2),
    ]
    for ask in asks:
        with pytest.raises(WindowingError, match=r"must not be None, .* all\(\) has the sessions"):
            ask()

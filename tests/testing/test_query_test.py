"""Queries that a test feeds micro-batch by micro-batch, without Spark."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from beamlike.errors import InputRowError, StateError
from beamlike.testing import (
    PaneAssertionError,
    QueryTest,
    contain_in_any_order,
    contain_single_value,
    dropped,
    early_pane,
    emit_exactly,
    in_late_pane,
    in_on_time_pane,
    late_pane,
    on_time_pane,
    pane,
)

EVENTS = "user string, at timestamp, v bigint"
HOUR = ("12:00:00", "13:00:00")


def hours(events: Any, **more: Any) -> Any:
    """Users by the hour, with early and late panes."""
    asked: dict[str, Any] = {
        "key": "user",
        "timestamp": "at",
        "watermark": "10 minutes",
        "window": bl.FixedWindows("1 hour"),
        "trigger": bl.AfterWatermark(early=bl.AfterProcessingTime("10 s"), late=bl.AfterCount(1)),
        "accumulation": "accumulating",
        "allowed_lateness": "30 minutes",
        "aggregate": {"n": bl.count(), "all": bl.collect("v")},
    }
    return bl.windowed(events, **(asked | more))


def event(user: str | None, at: str | None, v: int | None = None) -> dict[str, Any]:
    return {"user": user, "at": at, "v": v}


def utc(time: str) -> datetime:
    return datetime.fromisoformat(f"1970-01-01T{time}").replace(tzinfo=UTC)


def test_what_else_a_function_describes_is_not_the_query_that_is_tested() -> None:
    def with_limits(events: Any) -> Any:
        panes = hours(events)
        limits = pa.table({"page": ["a"], "at": [datetime(2020, 1, 1, tzinfo=UTC)]})
        assert hours(limits, key="page", aggregate={"n": bl.count()}).num_rows == 1
        return panes

    query = QueryTest(with_limits, EVENTS)
    query.send(event("ann", "12:01:00", 1))
    query.advance_watermark_to("13:00:00")

    query.results.should(
        in_on_time_pane(*HOUR, contain_single_value(("ann", {"n": 1, "all": [1]})))
    )


def test_a_query_may_be_described_in_another_thread() -> None:
    def in_a_thread(events: Any) -> Any:
        with ThreadPoolExecutor() as threads:
            return threads.submit(hours, events).result()

    query = QueryTest(in_a_thread, EVENTS)
    query.send(event("ann", "12:01:00", 1), event(None, "12:02:00", 2))
    query.advance_watermark_to("13:00:00")

    query.results.should(
        emit_exactly(
            on_time_pane("ann", {"n": 1, "all": [1]}, *HOUR, is_last=False),
            dropped(
                None,
                {"at": "1970-01-01T12:02:00.000000Z", "v": 2},
                at="12:02:00",
                reason="null_key",
            ),
        )
    )


def test_a_query_is_fed_moved_and_asked_as_a_test_stream() -> None:
    query = QueryTest(hours, EVENTS)
    query.send(event("ann", "12:01:00", 1), event("bob", "12:02:00", 2))
    query.advance_processing_time("11 seconds")
    query.send(event("ann", "12:30:00", 3))
    query.advance_watermark_to("13:00:00")
    query.send(event("ann", "12:40:00", 4))  # late
    query.advance_watermark_to("13:30:00")
    query.send(event("ann", "12:50:00", 5))  # too late
    query.advance_watermark_to_infinity()

    query.results.should(
        emit_exactly(
            early_pane("ann", {"n": 1, "all": [1]}, *HOUR, is_last=False),
            early_pane("bob", {"n": 1, "all": [2]}, *HOUR, is_last=False),
            on_time_pane("ann", {"n": 2, "all": [3, 1]}, *HOUR, index=1, is_last=False),
            on_time_pane("bob", {"n": 1, "all": [2]}, *HOUR, index=1, is_last=False),
            late_pane(
                "ann",
                {"n": 3, "all": [1, 3, 4]},
                *HOUR,
                index=2,
                nonspeculative_index=1,
                is_last=False,
            ),
            dropped(
                "ann", {"v": 5}, at="12:50:00", window=HOUR, reason="expired", missed_by="1 ms"
            ),
        )
    )
    query.results.should(
        in_late_pane(*HOUR, contain_single_value(("ann", {"n": 3, "all": [1, 3, 4]})))
    )


def test_each_step_returns_its_rows() -> None:
    query = QueryTest(hours, EVENTS)

    assert query.send(event("ann", "12:01:00", 1)) == []
    assert query.send(event("bob", "13:10:00", 2)) == [
        {
            "user": "ann",
            "window": {"start": utc("12:00:00"), "end": utc("13:00:00")},
            "n": 1,
            "all": [1],
            "timestamp": utc("12:59:59.999999"),
            "pane": {
                "timing": "ON_TIME",
                "index": 0,
                "nonspeculative_index": 0,
                "is_first": True,
                "is_last": False,
            },
            "dropped": None,
        }
    ]
    assert len(query.rows) == 1


def test_rows_move_the_watermark_in_a_step_of_its_own() -> None:
    query = QueryTest(hours, EVENTS)
    query.send(event("ann", "12:01:00", 1))
    query.send(event("ann", "13:10:00", 2))

    assert [str(output.step) for output in query.results.panes] == ["3"]
    assert "3 watermark" in query.results.timeline()


def test_bad_rows_are_dropped_with_their_reason() -> None:
    def texts(events: Any) -> Any:
        return hours(events, aggregate={"total": bl.sum("v")})

    query = QueryTest(texts, "user string, at string, v string", clock="1970-01-01 12:30:00")
    query.send(
        {"user": None, "at": "1970-01-01 12:01:00", "v": "1"},
        {"user": "ann", "v": "1"},
        {"user": "bob", "at": "noon", "v": "1"},
        {"user": "cem", "at": "1970-01-01 14:00", "v": "1"},
        {"user": "dan", "at": "1970-01-01 12:01:00", "v": "one"},
        {"user": "eve", "at": "1970-01-01T12:01:00Z", "v": " 1.5 "},
    )
    query.advance_watermark_to_infinity()

    noon, later = "1970-01-01 12:01:00", "1970-01-01 14:00"
    query.results.should(
        emit_exactly(
            dropped(None, {"at": noon, "v": "1"}, at=noon, reason="null_key"),
            dropped("ann", {"at": None, "v": "1"}, reason="null_timestamp"),
            dropped("bob", {"at": "noon", "v": "1"}, reason="bad_timestamp"),
            dropped("cem", {"at": later, "v": "1"}, at="14:00:00", reason="far_future"),
            dropped("dan", {"at": noon, "v": "one"}, at=noon, reason="bad_value"),
            on_time_pane("eve", {"total": 1.5}, *HOUR, is_last=True),
        )
    )


def test_a_query_goes_on_from_what_is_saved() -> None:
    query = QueryTest(hours, EVENTS)
    query.send(event("ann", "12:01:00", 1))
    assert query.restart() == []
    query.send(event("ann", "12:02:00", 2))
    query.restart(lambda events: hours(events, allowed_lateness="2 hours"))
    query.advance_watermark_to("14:00:00")
    query.send(event("ann", "12:03:00", 3))

    query.results.should(
        emit_exactly(
            on_time_pane("ann", {"n": 2, "all": [1, 2]}, *HOUR, is_last=False),
            late_pane("ann", {"n": 3, "all": [1, 2, 3]}, *HOUR, index=1, is_last=False),
        )
    )


def test_another_query_is_refused_as_from_a_checkpoint() -> None:
    query = QueryTest(hours, EVENTS)
    query.send(event("ann", "12:01:00", 1))
    query.restart(lambda events: hours(events, window=bl.Sessions("1 hour")))

    with pytest.raises(StateError, match="window: the checkpoint has 'FixedWindows"):
        query.send(event("ann", "12:02:00", 2))


def test_a_micro_batch_that_failed_runs_again() -> None:
    query = QueryTest(lambda events: hours(events, on_error="fail"), EVENTS)
    query.send(event("ann", "12:01:00", 1))
    with pytest.raises(InputRowError, match="null_key"):
        query.send(event("ann", "12:02:00", 2), event(None, "12:03:00", 3))
    query.restart(hours)
    query.advance_watermark_to("13:00:00")

    query.results.should(
        emit_exactly(
            dropped(
                None,
                {"at": "1970-01-01T12:03:00.000000Z", "v": 3},
                at="12:03:00",
                reason="null_key",
            ),
            on_time_pane("ann", {"n": 2, "all": [1, 2]}, *HOUR, is_last=False),
        )
    )


def test_panes_withdraw_others() -> None:
    def grown(events: Any) -> Any:
        return hours(
            events,
            window=bl.Sessions("10 minutes"),
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="retracting",
            aggregate={"n": bl.count()},
        )

    query = QueryTest(grown, EVENTS)
    query.send(event("ann", "12:00:00"))
    query.send(event("ann", "12:05:00"))

    first, longer = ("12:00:00", "12:10:00"), ("12:00:00", "12:15:00")
    fields: dict[str, Any] = {"timing": "EARLY", "is_last": False}
    query.results.should(
        emit_exactly(
            pane("ann", {"n": 1}, *first, **fields),
            pane("ann", {"n": 1}, *first, **fields, retraction=True),
            pane("ann", {"n": 2}, *longer, **fields),
        )
    )


def test_changes_of_a_table_are_rows() -> None:
    def grown(events: Any) -> Any:
        return hours(
            events,
            window=bl.Sessions("10 minutes"),
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="retracting",
            render="changelog",
            aggregate={"n": bl.count()},
        )

    query = QueryTest(grown, EVENTS)
    query.send(event("ann", "12:00:00"))
    query.send(event("ann", "12:05:00"))

    assert [(row["change"], row["window"]["end"], row["n"]) for row in query.rows] == [
        ("upsert", utc("12:10:00"), 1),
        ("delete", utc("12:10:00"), None),
        ("upsert", utc("12:15:00"), 2),
    ]
    assert [output.effect.value for output in query.results.panes] == [{"n": 1}, {"n": 2}]


def test_two_groupings_follow_each_other() -> None:
    def sessions_per_hour(events: Any) -> Any:
        sessions = bl.stream(events, timestamp="at", watermark="10 minutes").window(
            bl.Sessions("10 minutes")
        )
        of_users = sessions.group("user", {"hits": bl.count()})
        by_hour = of_users.window(bl.FixedWindows("1 hour"))
        return by_hour.group([], {"sessions": bl.count(), "longest": bl.max("hits")})

    query = QueryTest(sessions_per_hour, EVENTS)
    query.send(event("ann", "12:00:00"), event("ann", "12:05:00"), event("bob", "12:10:00"))
    query.send(*(event("ann", f"12:{minute}:00") for minute in (30, 35, 40)))
    query.send(event("ann", "13:20:00"))
    query.send(event("bob", "12:50:00"))
    query.advance_watermark_to("14:00:00")

    query.results.should(
        emit_exactly(
            on_time_pane((), {"sessions": 3, "longest": 3}, *HOUR, is_last=True),
            on_time_pane((), {"sessions": 1, "longest": 1}, "13:00:00", "14:00:00", is_last=True),
            # By the first of the two groupings, in which users are keys.
            dropped(
                "bob",
                {},
                at="12:50:00",
                window=("12:50:00", "13:00:00"),
                reason="expired",
                missed_by="10m 1ms",
            ),
        )
    )


def test_inputs_have_names_and_watermarks_of_their_own() -> None:
    def paid(orders: Any, payments: Any) -> Any:
        sessions = bl.Sessions("10 minutes")
        return bl.join(
            bl.stream(orders, timestamp="ordered", watermark="1 minute").window(sessions),
            bl.stream(payments, timestamp="paid", watermark="1 minute").window(sessions),
            on="order_no",
            how="left",
        )

    columns = {
        "orders": "order_no string, ordered timestamp, item string",
        "payments": "order_no string, paid timestamp, amount int",
    }
    query = QueryTest(paid, columns)
    query.send(
        {"order_no": "o1", "ordered": "12:00:00", "item": "tea"},
        {"order_no": "o2", "ordered": "12:01:00", "item": "cake"},
        to="orders",
    )
    query.send({"order_no": "o1", "paid": "12:04:00", "amount": 3}, to="payments")
    assert query.advance_watermark_to("12:30:00", of="orders") == []
    query.advance_watermark_to("12:30:00", of="payments")

    tea = {"ordered": utc("12:00:00"), "item": "tea", "paid": utc("12:04:00"), "amount": 3}
    cake = {"ordered": utc("12:01:00"), "item": "cake", "paid": None, "amount": None}
    query.results.should(
        emit_exactly(
            on_time_pane("o1", tea, "12:00:00", "12:14:00", is_last=True),
            on_time_pane("o2", cake, "12:01:00", "12:11:00", is_last=True),
        )
    )


def test_rows_look_into_another_input() -> None:
    def named(clicks: Any, users: Any) -> Any:
        window = bl.FixedWindows("1 hour")
        at_once = {"trigger": bl.Repeatedly(bl.AfterCount(1)), "accumulation": "discarding"}
        clicked = bl.stream(clicks, timestamp="at", watermark="1 minute").window(window)
        known = bl.stream(users, timestamp="since", watermark="1 minute").select("id", "name")
        known = known.window(window, **at_once, allowed_lateness=0)
        return bl.look_up(clicked, known, on={"main": "user", "side": "id"})

    columns = {
        "clicks": "user string, at timestamp, page string",
        "users": "id string, since timestamp, name string",
    }
    query = QueryTest(named, columns)
    assert query.send({"user": "a1", "at": "12:00:00", "page": "home"}, to="clicks") == []
    query.send({"id": "a1", "since": "12:00:00", "name": "Ann"}, to="users")
    query.send({"user": "b2", "at": "12:00:00", "page": "shop"}, to="clicks")
    query.advance_watermark_to("13:00:00")

    found = {"at": utc("12:00:00"), "page": "home", "name": "Ann"}
    missing = {"at": utc("12:00:00"), "page": "shop", "name": None}
    query.results.should(in_window_of_noon(contain_in_any_order([("a1", found), ("b2", missing)])))


def in_window_of_noon(matcher: Any) -> Any:
    from beamlike.testing import in_window

    return in_window(*HOUR, matcher)


def test_columns_are_chosen_by_name() -> None:
    def words(lines: Any) -> Any:
        said = bl.stream(lines, timestamp="at", watermark="1 minute")
        shown = said.where("good").where("not spam").explode("words", "word").select("word", "at")
        twice = bl.flatten([shown, shown]).window(bl.FixedWindows("1 hour"))
        return (
            twice.group("word", {"n": bl.count()})
            .rows.select("word", "n", "pane", "window", "pane.timing")
            .withColumnRenamed("n", "times")
            .drop("timing")
        )

    query = QueryTest(words, "at timestamp, good boolean, spam boolean, words array<string>")
    line = {"at": "12:00:00", "good": True, "spam": False, "words": ["to", "be", "to"]}
    query.send(line, line | {"good": None}, line | {"spam": True}, line | {"words": []})
    query.advance_watermark_to_infinity()

    query.results.should(
        in_on_time_pane(*HOUR, contain_in_any_order([("to", {"times": 4}), ("be", {"times": 2})]))
    )


def test_a_silent_source_goes_on_with_the_clock() -> None:
    def idle(events: Any) -> Any:
        said = bl.stream(
            events, timestamp="at", watermark="1 minute", idle_after="5 minutes", idle="advance"
        )
        return said.window(bl.FixedWindows("1 hour")).group("user", {"n": bl.count()})

    query = QueryTest(idle, EVENTS)
    query.send(event("ann", "12:56:00"))
    assert query.advance_processing_time("9 minutes") == []
    query.advance_processing_time("1 minute")

    query.results.should(emit_exactly(on_time_pane("ann", {"n": 1}, *HOUR, is_last=True)))


def test_a_failure_shows_everything_that_came_out_on_a_time_axis() -> None:
    query = QueryTest(hours, EVENTS)
    query.send(event("ann", "12:01:00", 1))
    query.advance_watermark_to("13:00:00")

    with pytest.raises(PaneAssertionError) as failure:
        query.results.should(in_on_time_pane(*HOUR, contain_single_value(("ann", {"n": 2}))))
    text = str(failure.value)
    assert "unexpected  ('ann', {'n': 1, 'all': [1]})" in text
    assert "timeline:" in text
    assert "ON_TIME #0" in text

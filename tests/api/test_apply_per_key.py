# ruff: noqa: B008 (that is how parameters of a DoFn ask)
"""Rows given to functions with states and timers, as users write them: what comes out, in full."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import Row

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
    on_window_expiration,
    requires_time_sorted_input,
)
from beamlike.testing import QueryTest
from tests.support.queries.page_views import (
    HOURS,
    MINUTES,
    SMALL,
    VIEWS,
    Visits,
    came,
    clock,
    end,
    send,
    stream,
    to,
    view,
    visits,
    wait,
)
from tests.support.queries.rows import NEVER_FIRED

# -- plain classes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("restarts", [False, True])
def test_a_plain_class_keeps_states_and_sets_timers(restarts: bool) -> None:
    found = came(
        visits,
        send(view("ann", "12:00:00"), view("bob", "12:01:00", "milk")),
        send(view("ann", "12:08:00", "milk"), view(None, "12:08:00")),
        to("12:11:00"),
        to("12:11:01"),
        send(view("ann", "12:17:00", "salt")),
        end,
        restarts=restarts,
    )
    at = "1970-01-01 "
    assert found == [
        [],
        [
            "dropped by per key, null_key: "
            '{"user":null,"at":"1970-01-01T12:08:00.000000Z","page":"tea"} in None, None'
        ],
        [],
        [f"bob bob: milk {at}12:11:00+00:00 at 12:11:00 in None-None"],
        [],
        [f"ann ann: tea,milk,salt {at}12:27:00+00:00 at 12:27:00 in None-None"],
    ]


def test_the_result_has_the_columns_of_the_key_its_own_and_those_of_a_pane() -> None:
    with QueryTest(visits, VIEWS) as query:
        query.send(view("ann", "12:00:00"))
        (row,) = query.advance_watermark_to("13:00:00")
    over = datetime(1970, 1, 1, 12, 10, tzinfo=UTC)
    assert row == {
        "user": "ann",
        "window": {"start": None, "end": None},
        "visit": "ann: tea",
        "over": over,
        "timestamp": over,
        "pane": NEVER_FIRED,
        "dropped": None,
    }


class Everything:
    """What a plain class can ask for."""

    last, pages, users, by_page = (bl.state(kind) for kind in ("value", "list", "set", "map"))  # type: ignore[arg-type]
    soon, later = bl.timer(), bl.timer("processing")

    def process(
        self, it: Any, key: Any, timestamp: Any, window: Any, last: Any, pages: Any, users: Any,
        by_page: Any, soon: Any, later: Any
    ) -> Any:  # fmt: skip
        before = last.read()
        last.write((before or 0) + 1)
        pages.add(it["page"])
        users.add(it.user)
        by_page.put(it.page, last.read())
        soon.set(min(timestamp + timedelta(minutes=5), soon.latest), it.page)
        later.offset("1 minute").set_relative()
        assert (key, timestamp) == (Row(user=it.user), it.at)
        return [(f"{before} {clock(window.start)} {clock(soon.latest)}",)]

    def on_soon(self, tag: str, last: Any, users: Any, by_page: Any) -> Any:
        yield Row(said=f"soon {tag} {last.read()} {users.read()} {by_page.items()}")

    def on_later(self, pages: Any, later: Any) -> Any:
        now = later.current_relative_time
        yield {"user": "ann", "said": f"later {pages.read()} {clock(now)}"}

    def on_window_expiration(self, key: Any, pages: Any) -> Any:
        return [{"said": f"end {key.user} {pages.read()}"}]


@pytest.mark.parametrize("restarts", [False, True])
def test_a_plain_class_may_ask_for_each_kind_of_state_and_both_clocks(restarts: bool) -> None:
    def job(views: Any) -> Any:
        return stream(views, HOURS).apply_per_key(["user"], Everything(), "said string", **SMALL)

    found = came(
        job,
        send(view("ann", "12:01:00"), view("ann", "12:58:00", "milk")),
        wait("61 seconds"),
        to("12:59:30"),
        end,
        restarts=restarts,
    )
    assert found == [
        ["ann 1 12:00:00 12:59:59 at 12:58:00 in 12:00:00-13:00:00",
         "ann None 12:00:00 12:59:59 at 12:01:00 in 12:00:00-13:00:00",
         "ann soon tea 2 ['ann'] [('tea', 1), ('milk', 2)] at 12:06:00 in 12:00:00-13:00:00"],
        ["ann later ['tea', 'milk'] 00:01:01 at 12:58:00 in 12:00:00-13:00:00"],
        [],
        ["ann end ann ['tea', 'milk'] at 12:59:59 in 12:00:00-13:00:00",
         "ann soon milk 2 ['ann'] [('tea', 1), ('milk', 2)] at 12:59:59 in 12:00:00-13:00:00"],
    ]  # fmt: skip


# -- functions of Beam -----------------------------------------------------------------------------


class Counted(beam.DoFn):
    """Says how many rows of a key and window there are so far, and how many there were."""

    SEEN = ReadModifyWriteStateSpec("seen", beam.coders.VarIntCoder())

    def process(
        self,
        row: Any,
        key: Any = beam.DoFn.KeyParam,
        at: Any = beam.DoFn.TimestampParam,
        pane: Any = beam.DoFn.PaneInfoParam,
        seen: Any = beam.DoFn.StateParam(SEEN),
    ) -> Any:
        assert key == Row(user=row.user)
        seen.write((seen.read() or 0) + 1)
        yield {"what": f"{seen.read()} {row['page']} {int(at) % 3600} {pane.timing.value}"}

    @on_window_expiration
    def at_the_end(
        self, key: Any = beam.DoFn.KeyParam, seen: Any = beam.DoFn.StateParam(SEEN)
    ) -> Any:
        yield {"user": key.user, "what": f"{seen.read()} in all"}


def counted(views: Any, **options: Any) -> Any:
    rows = stream(views, MINUTES, allowed_lateness="30 s", accumulation="discarding")
    return rows.apply_per_key("user", Counted(), "what string", **SMALL, **options).everything


LATE = (
    send(view("ann", "12:00:10"), view("ann", "12:00:20", "milk"), view("bob", "12:00:20")),
    to("12:01:10"),
    send(view("ann", "12:00:30", "late")),
    to("12:01:31"),
    send(view("ann", "12:00:40", "too late")),
    end,
)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_dofn_has_states_for_each_key_and_window_until_lateness_is_over(restarts: bool) -> None:
    at = "at 12:00:59 in 12:00:00-12:01:00"
    assert came(counted, *LATE, restarts=restarts) == [
        [
            "ann 1 tea 10 UNKNOWN at 12:00:10 in 12:00:00-12:01:00",
            "ann 2 milk 20 UNKNOWN at 12:00:20 in 12:00:00-12:01:00",
            "bob 1 tea 20 UNKNOWN at 12:00:20 in 12:00:00-12:01:00",
        ],
        [],
        ["ann 3 late 30 UNKNOWN at 12:00:30 in 12:00:00-12:01:00"],
        [f"ann 3 in all {at}", f"bob 1 in all {at}"],
        [
            'dropped by per key, expired: {"user":"ann","at":"1970-01-01T12:00:40.000000Z",'
            '"page":"too late"} in 12:00:00-12:01:00, None'
        ],
        [],
    ]


class InOrder(beam.DoFn):
    PAGES = BagStateSpec("pages", beam.coders.StrUtf8Coder())

    @requires_time_sorted_input
    def process(self, row: Any, pages: Any = beam.DoFn.StateParam(PAGES)) -> Any:
        pages.add(row.page)
        yield (" ".join(pages.read()),)


@pytest.mark.parametrize("restarts", [False, True])
def test_a_dofn_may_ask_for_its_rows_in_order_of_event_time(restarts: bool) -> None:
    found = came(
        lambda views: stream(views).apply_per_key("user", InOrder(), "pages string", **SMALL),
        send(view("ann", "12:03:00", "c"), view("ann", "12:01:00", "a")),
        send(view("ann", "12:03:00", "d")),
        send(view("ann", "12:10:00", "e")),
        end,
        restarts=restarts,
    )
    nowhere = "in None-None"
    assert found == [
        [f"ann a at 12:01:00 {nowhere}", f"ann a c at 12:03:00 {nowhere}"],
        [],
        [f"ann a c d at 12:03:00 {nowhere}", f"ann a c d e at 12:10:00 {nowhere}"],
        [],
    ]


class Differences:
    last = bl.state()

    @requires_time_sorted_input
    def process(self, row: Any, last: Any) -> Any:
        before = last.read()
        last.write(row.v)
        if before is not None:
            yield {"difference": row.v - before}


def test_a_plain_class_may_ask_for_its_rows_in_order_of_event_time() -> None:
    def differences(readings: Any) -> bl.Stream:
        rows = bl.stream(readings, timestamp="at", watermark="10 s")
        return rows.apply_per_key("k", Differences(), "difference int", **SMALL)

    with QueryTest(differences, "k string, at timestamp, v int") as query:
        for second in (10, 17, 13, 30, 14, 40, 50):
            query.send({"k": "a", "at": f"00:00:{second}", "v": second})
        assert [row["difference"] for row in query.rows if row["difference"]] == [3, 4, 13, 10]
        (expired,) = (row["dropped"] for row in query.rows if row["dropped"])
        assert (expired["reason"], expired["element"]) == (
            "expired",
            '{"k":"a","at":"1970-01-01T00:00:14.000000Z","v":14}',
        )
        assert [row["difference"] for row in query.advance_watermark_to_infinity()] == [10]


class Ringing(beam.DoFn):
    RING = TimerSpec("ring", TimeDomain.REAL_TIME)

    def process(self, row: Any, ring: Any = beam.DoFn.TimerParam(RING)) -> Any:
        ring.offset(60).set_relative()
        yield beam.window.TimestampedValue({"what": "came later"}, row.at.timestamp() + 5)

    @on_timer(RING)
    def on_ring(self, key: Any = beam.DoFn.KeyParam) -> Any:
        yield [f"rang for {key[0]}"]


@pytest.mark.parametrize("restarts", [False, True])
def test_timers_of_processing_time_and_results_with_an_event_time(restarts: bool) -> None:
    found = came(
        lambda views: stream(views).apply_per_key("user", Ringing(), "what string", **SMALL),
        send(view("ann", "12:03:00")),
        wait("1 minute"),
        wait("1 second"),
        restarts=restarts,
    )
    assert found == [
        ["ann came later at 12:03:05 in None-None"],
        [],
        ["ann rang for ann at 12:03:00 in None-None"],
    ]


# -- on Spark --------------------------------------------------------------------------------------


class Rung(beam.DoFn):
    """Says what it has seen when the clock rings, and at the end of the window."""

    SEEN = BagStateSpec("seen", beam.coders.StrUtf8Coder())
    RING = TimerSpec("ring", TimeDomain.REAL_TIME)

    def process(
        self,
        row: Any,
        seen: Any = beam.DoFn.StateParam(SEEN),
        ring: Any = beam.DoFn.TimerParam(RING),
    ) -> None:
        seen.add(row["page"])
        ring.offset(60).set_relative()
        if row.page == "bad":
            raise KeyError("x")

    @on_timer(RING)
    def on_ring(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
        yield [f"rang {' '.join(seen.read())}"]
        if seen.read()[-1] == "cup":
            raise ValueError("cup")

    @on_window_expiration
    def on_end(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:
        yield [f"end {' '.join(seen.read())}"]


def rung(views: Any) -> Any:
    once = stream(views, HOURS).deduplicate(["user", "page"], "5 minutes", **SMALL)
    return once.apply_per_key("user", Rung(), "said string", **SMALL).everything


VISITED = [
    *(view("ann", "12:00:01"), view("ann", "12:00:02"), view("bob", "12:00:03", "bad")),
    *(view("bob", "12:00:04", "cup"), view("ann", "12:00:05", "milk")),
]


@pytest.mark.nightly
@pytest.mark.spark
def test_on_spark_it_is_the_same_in_a_stream_that_restarts(spark: Any) -> None:
    steps = (*(send(*VISITED[:3]), QueryTest.restart, send(*VISITED[3:]), wait("61 seconds"), end),)
    lost, inside = "dropped by per key, failed:", "in 12:00:00-13:00:00"
    (bad,), *others = local = came(rung, *steps)
    assert bad.startswith(f'{lost} {{"user":"bob","page":"bad","window"')
    assert bad.endswith(f"{inside}, Rung.process raised KeyError: 'x'")
    assert others == [
        [],
        [],
        [
            f"ann rang tea milk at 12:00:05 {inside}",
            f'{lost} {{"user":"bob"}} {inside}, Rung.on_ring raised ValueError: cup; it was '
            "called for the timer 'ring' at 2100-01-01 00:01:00 (4102444860000 ms)",
        ],
        [f"ann end tea milk at 12:59:59 {inside}", f"bob end cup at 12:59:59 {inside}"],
    ]
    assert came(rung, *steps, host="spark", spark=spark) == local


@pytest.mark.spark
def test_on_spark_it_is_the_same_in_bounded_data(spark: Any) -> None:
    seen = [tuple(it.values()) for it in VISITED]
    timed = [(user, datetime.fromisoformat(f"2020-01-01T{at}Z"), page) for user, at, page in seen]
    bounded = bl.stream(spark.createDataFrame(timed, VIEWS), timestamp="at").window(HOURS)
    visits = bounded.apply_per_key("user", Visits(), "visit string, over timestamp", **SMALL)
    assert sorted((row.user, row.visit) for row in visits.rows.collect()) == [
        ("ann", "ann: tea,tea,milk"),
        ("bob", "bob: bad,cup"),
    ]

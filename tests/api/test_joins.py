"""Streams grouped and joined by a key: their windows merge, and each pane joins what it holds."""

from collections import defaultdict
from datetime import UTC
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import lines, shown

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_empty_batches")]


ORDERS = "user string, at timestamp, item string"
PAYMENTS = "payer string, paid timestamp, euros int"
ON = {"left": "user", "right": "payer"}
SESSIONS = bl.Sessions("10 minutes")
TEN_MINUTES = bl.FixedWindows("10 minutes")
EARLY_AND_LATE: dict[str, Any] = {
    "trigger": bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
    "allowed_lateness": "1 hour",
}


def order(user: str, time: str, item: str) -> Row:
    return {"user": user, "at": f"2020-01-01T{time}Z", "item": item}


def payment(payer: str, time: str, euros: int) -> Row:
    return {"payer": payer, "paid": f"2020-01-01T{time}Z", "euros": euros}


def orders_of(frame: Any, window: Any, **windowing: Any) -> bl.Stream:
    watermark = "0 s" if frame.isStreaming else None
    rows = bl.stream(frame, timestamp="at", watermark=watermark)
    return rows.select("user", "item").window(window, **windowing)


def payments_of(frame: Any, window: Any, **windowing: Any) -> bl.Stream:
    watermark = "0 s" if frame.isStreaming else None
    rows = bl.stream(frame, timestamp="paid", watermark=watermark)
    return rows.select("payer", "euros").window(window, **windowing)


# Ann's orders are 16 minutes apart, and one session because her payment lies between them.
PAID = ["ann book 5 | 00:00-00:26 ON_TIME 0 last", "ann ink 5 | 00:00-00:26 ON_TIME 0 last"]
ORDER_ONLY = ["bob pen - | 00:01-00:11 ON_TIME 0 last"]
PAYMENT_ONLY = ["cat - 7 | 00:05-00:15 ON_TIME 0 last"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", PAID),
        ("left", PAID + ORDER_ONLY),
        ("right", PAID + PAYMENT_ONLY),
        ("full", PAID + ORDER_ONLY + PAYMENT_ONLY),
    ],
)
def test_sessions_of_two_streams_merge_and_their_rows_are_joined(
    feed: MakeFeed, how: Any, expected: list[str]
) -> None:
    orders, payments = feed(ORDERS), feed(PAYMENTS)
    joined = bl.join(
        orders_of(orders.frame, SESSIONS), payments_of(payments.frame, SESSIONS), ON, how, **SMALL
    )
    assert joined.columns == ["user", "item", "euros", "window", "timestamp", "pane"]
    orders.put(order("ann", "00:00:00", "book"), order("bob", "00:01:00", "pen"))
    payments.put(payment("cat", "00:05:00", 7), payment("ann", "00:08:00", 5))
    orders.start(joined.everything)
    assert orders.settle() == []
    orders.put(order("ann", "00:16:00", "ink"), order("zoe", "01:00:00", "mug"))
    # The orders are an hour ahead. They wait for the payments.
    assert orders.settle() == []
    payments.put(payment("dan", "00:26:00", 9))
    assert lines(orders.settle()) == expected


# An order makes an early pane, its payment the next; then the windows end, and one comes late.
@pytest.mark.parametrize(
    ("accumulation", "expected"),
    [
        (
            "accumulating",
            [
                ["ann book - | 00:00-00:10 EARLY 0"],
                ["ann book 5 | 00:00-00:10 EARLY 1"],
                # Nothing is new. The on-time pane joins again what it holds.
                ["ann book 5 | 00:00-00:10 ON_TIME 2", "zoe mug - | 01:00-01:10 EARLY 0"],
                ["ann book 2 | 00:00-00:10 LATE 3", "ann book 5 | 00:00-00:10 LATE 3"],
            ],
        ),
        (
            "discarding",
            [
                ["ann book - | 00:00-00:10 EARLY 0"],
                # The order was in the pane before this one.
                ["ann - 5 | 00:00-00:10 EARLY 1"],
                # The on-time pane is empty: no row of either side, so nothing to join.
                ["zoe mug - | 01:00-01:10 EARLY 0"],
                ["ann - 2 | 00:00-00:10 LATE 3"],
            ],
        ),
        (
            "retracting",
            [
                ["ann book - | 00:00-00:10 EARLY 0"],
                ["ann book - | 00:00-00:10 EARLY 0 withdrawn", "ann book 5 | 00:00-00:10 EARLY 1"],
                [
                    "ann book 5 | 00:00-00:10 EARLY 1 withdrawn",
                    "ann book 5 | 00:00-00:10 ON_TIME 2",
                    "zoe mug - | 01:00-01:10 EARLY 0",
                ],
                [
                    "ann book 2 | 00:00-00:10 LATE 3",
                    "ann book 5 | 00:00-00:10 LATE 3",
                    "ann book 5 | 00:00-00:10 ON_TIME 2 withdrawn",
                ],
            ],
        ),
    ],
)
def test_each_pane_joins_what_it_holds(
    feed: MakeFeed, accumulation: str, expected: list[list[str]]
) -> None:
    orders, payments = feed(ORDERS), feed(PAYMENTS)
    windowing = EARLY_AND_LATE | {"accumulation": accumulation}
    joined = bl.join(
        orders_of(orders.frame, TEN_MINUTES, **windowing),
        payments_of(payments.frame, TEN_MINUTES, **windowing),
        ON,
        "full",
        **SMALL,
    )
    orders.put(order("ann", "00:01:00", "book"))
    orders.start(joined.everything)
    came = [orders.settle()]
    payments.put(payment("ann", "00:02:00", 5))
    came.append(orders.settle())
    # In one micro-batch, so that it does not matter which of the two is read first.
    orders.stop()
    orders.put(order("zoe", "01:00:00", "mug"))
    payments.put(payment("dan", "00:20:00", 0))
    orders.start(joined.everything)
    came.append(orders.settle())
    payments.put(payment("ann", "00:03:00", 2))
    came.append(orders.settle())
    dan = "dan - 0 | 00:20-00:30 EARLY 0"
    assert [[line for line in lines(rows) if line != dan] for rows in came] == expected
    assert [line for rows in came for line in lines(rows)].count(dan) == 1


@pytest.mark.nightly
@pytest.mark.usefixtures("utc_session")  # one of its columns is a time of the day
def test_a_pane_lists_the_rows_of_every_stream(feed: MakeFeed) -> None:
    orders, payments, calls = feed(ORDERS), feed(PAYMENTS), feed("who string, at timestamp")
    called = bl.stream(calls.frame, timestamp="at", watermark="0 s").window(SESSIONS)
    together = bl.co_group(
        {
            "orders": orders_of(orders.frame, SESSIONS),
            "payments": payments_of(payments.frame, SESSIONS),
            "calls": called.select("who", F.date_format("at", "HH:mm").alias("time")),
        },
        {"orders": "user", "payments": ["payer"], "calls": "who"},
        **SMALL,
        name="by customer",
    )
    assert together.columns == [
        *("user", "window", "orders", "payments", "calls", "timestamp", "pane")
    ]
    orders.put(order("ann", "00:00:00", "book"), order("ann", "00:18:00", "ink"))
    payments.put(payment("ann", "00:27:00", 5), payment("bob", "00:02:00", 7))
    calls.put(
        {"who": "ann", "at": "2020-01-01T00:09:00Z"},
        {"who": None, "at": "2020-01-01T00:09:00Z"},
        {"who": "cat", "at": "2020-01-01T00:30:00Z"},
    )
    orders.start(together.everything)
    no_key = (
        'dropped by by customer, null_key: {"user":null,"orders":null,"payments":null,'
        '"calls":{"time":"00:09"}} | timestamp 00:09, count 1'
    )
    # The slowest of the three, the orders, are at 00:18.
    assert lines(orders.settle()) == ["bob [] [7] [] | 00:02-00:12 ON_TIME 0 last", no_key]
    orders.put(order("zoe", "02:00:00", "mug"))
    payments.put(payment("zoe", "02:00:00", 1))
    calls.put({"who": "zoe", "at": "2020-01-01T02:00:00Z"})
    assert lines(orders.settle()) == [
        "ann [book ink] [5] [00:09] | 00:00-00:37 ON_TIME 0 last",
        "cat [] [] [00:30] | 00:30-00:40 ON_TIME 0 last",
    ]


HOURS = 3
USERS = "abcdef"


def random_rows(dice: Random, count: int) -> list[tuple[str, str, int]]:
    return [
        (
            dice.choice(USERS),
            f"2020-01-01 0{dice.randrange(HOURS)}:{dice.randrange(60):02}:00Z",
            number,
        )
        for number in range(count)
    ]


def test_bounded_joins_are_those_of_plain_lists(spark: Any) -> None:
    dice = Random(5)
    rows = {side: random_rows(dice, 25) for side in ("left", "right")}
    sides = {
        side: bl.stream(
            spark.createDataFrame(rows[side], f"k string, at string, {side[0]} int").repartition(2),
            timestamp="at",
        )
        .select("k", side[0])
        .window(bl.FixedWindows("1 hour"))
        for side in rows
    }
    by_place: dict[tuple[str, int], dict[str, list[int]]] = defaultdict(
        lambda: {"left": [], "right": []}
    )
    for side, own in rows.items():
        for key, time, number in own:
            by_place[key, int(time[11:13])][side].append(number)
    nobody: list[Any] = [None]

    def expected(how: str) -> list[tuple[Any, ...]]:
        return sorted(
            (
                (key, hour, left, right)
                for (key, hour), place in by_place.items()
                for left in place["left"] or (nobody if how in ("right", "full") else [])
                for right in place["right"] or (nobody if how in ("left", "full") else [])
            ),
            key=repr,
        )

    for how in ("inner", "left", "right", "full"):
        joined = bl.join(sides["left"], sides["right"], "k", how, **SMALL)
        came = [
            (row["k"], row["window"]["start"].astimezone(UTC).hour, row["l"], row["r"])
            for row in joined.everything.toArrow().to_pylist()
        ]
        assert sorted(came, key=repr) == expected(how)
    # Each kind of join has rows that the inner one does not have.
    assert len({len(expected(how)) for how in ("inner", "left", "right", "full")}) == 4


def test_a_join_can_be_grouped_again(spark: Any) -> None:
    orders = spark.createDataFrame(
        [("ann", "2020-01-01 00:01:00Z", "book"), ("ann", "2020-01-01 00:02:00Z", "ink")],
        "user string, at string, item string",
    )
    payments = spark.createDataFrame(
        [("ann", "2020-01-01 00:03:00Z", 5), ("ann", "2020-01-01 00:04:00Z", 7)],
        "payer string, paid string, euros int",
    )
    joined = bl.join(orders_of(orders, TEN_MINUTES), payments_of(payments, TEN_MINUTES), ON)
    totals = joined.group("item", {"n": bl.count(), "euros": bl.sum("euros")})
    assert lines(shown(totals.everything)) == [
        "book 2 12 | 00:00-00:10 ON_TIME 0 last",
        "ink 2 12 | 00:00-00:10 ON_TIME 0 last",
    ]

"""What a dropped row tells: who dropped it, by what, by how much it was late, what it missed."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from tests.support.queries.hours import hourly
from tests.support.queries.rows import SMALL, MakeFeed, counts_of
from tests.support.queries.rows import of_key as event
from tests.support.queries.shown import lines
from tests.support.sums import SumOfTheLucky

pytestmark = pytest.mark.spark


EVENTS = "k string, at timestamp, v int"
TEN_MINUTES = bl.FixedWindows("10 minutes")


@pytest.mark.nightly
def test_a_late_row_tells_the_session_that_it_nearly_joined(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    how: dict[str, Any] = {"watermark": "0 s", "output": "all", "name": "sessions", **SMALL}
    sums = {"sum": bl.sum("v")}
    events.start(hourly(events.frame, sums, window=bl.Sessions("10 minutes"), **how))
    assert events.send(event("a", "00:00:00"), event("a", "00:08:00")) == []
    assert events.send(event("b", "00:12:00")) == []
    (drop,) = events.send(event("a", "00:01:00", 7))
    # Its own window alone is over. The whole story, once; lines of it from here on.
    assert drop == {
        "k": "a",
        "window": {"start": "2020-01-01T00:01:00.000Z", "end": "2020-01-01T00:11:00.000Z"},
        "sum": None,
        "timestamp": None,
        "pane": None,
        "dropped": {
            "stage": "sessions",
            "reason": "expired",
            "timestamp": "2020-01-01T00:01:00.000Z",
            "watermark": "2020-01-01T00:12:00.000Z",
            "missed_ms": 60_001,
            "window": {"start": "2020-01-01T00:01:00.000Z", "end": "2020-01-01T00:11:00.000Z"},
            "nearest_session": {
                "start": "2020-01-01T00:00:00.000Z",
                "end": "2020-01-01T00:18:00.000Z",
            },
            "count": 1,
            "error": None,
            "element": '{"k":"a","v":7}',
        },
    }
    # One that no session is near; and one that would have made the session of b longer.
    assert lines(events.send(event("c", "00:01:59.999"), event("b", "00:02:00"))) == [
        'dropped by sessions, expired: {"k":"b","v":1} | timestamp 00:02, watermark 00:12, '
        "missed_ms 1, window 00:02-00:12, count 1",
        'dropped by sessions, expired: {"k":"c","v":1} | timestamp 00:01:59.999, '
        "watermark 00:12, missed_ms 2, window 00:01:59.999-00:11:59.999, count 1",
    ]
    assert lines(events.send(event("b", "01:00:00"))) == [
        "a 2 | 00:00-00:18 ON_TIME 0 last",
        "b 1 | 00:12-00:22 ON_TIME 0 last",
    ]


@pytest.mark.nightly
@pytest.mark.usefixtures("no_empty_batches")
def test_a_dropped_row_tells_the_grouping_that_dropped_it(feed: MakeFeed) -> None:
    sales, returns = feed(EVENTS), feed(EVENTS)
    sold = bl.stream(sales.frame, timestamp="at", watermark="0 s").select("k", "v")
    returned = bl.stream(returns.frame, timestamp="at", watermark="0 s")
    per_shop = sold.window(TEN_MINUTES).group("k", {"n": bl.sum("v")}, name="per shop", **SMALL)
    back = returned.window(TEN_MINUTES).select("k", (-F.col("v")).cast("long").alias("n"))
    both = bl.flatten([per_shop.select("k", "n"), back])
    total = both.group([], {"n": bl.sum("n")}, name="in all", **SMALL)
    sales.put(event("a", "00:01:00", 5), event("b", "00:02:00", 2), event("a", "00:25:00", 9))
    returns.put(event("a", "00:03:00", 1), event("b", "00:31:00", 3))
    sales.start(total.everything)
    assert lines(sales.settle()) == ["6 | 00:00-00:10 ON_TIME 0 last"]
    sales.put(event("a", "00:09:00", 8))
    assert lines(sales.settle()) == [
        'dropped by per shop, expired: {"k":"a","v":8} | timestamp 00:09, watermark 00:25, '
        "missed_ms 900001, window 00:00-00:10, count 1"
    ]
    # The returns are at 00:31. The total waits for the sales, which are at 00:25.
    returns.put(event("b", "00:12:00", 4), event("c", "00:20:00", 6))
    assert lines(sales.settle()) == [
        'dropped by in all, expired: {"n":-4} | timestamp 00:12, watermark 00:25, '
        "missed_ms 300001, window 00:10-00:20, count 1"
    ]
    sales.put(event("z", "02:00:00"))
    returns.put(event("z", "02:00:00"))
    assert lines(sales.settle()) == [
        "-3 | 00:30-00:40 ON_TIME 0 last",
        "3 | 00:20-00:30 ON_TIME 0 last",
    ]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("window", "options"),
    [
        (TEN_MINUTES, {}),
        (TEN_MINUTES, {"lift": True}),
        (bl.Sessions("3 minutes"), {"hot_key_fanout": 2}),
    ],
    ids=["one by one", "lifted", "fanned out"],
)
def test_every_row_is_in_a_pane_or_dropped_and_counted(
    feed: MakeFeed, window: Any, options: dict[str, Any]
) -> None:
    dice, events = Random(31), feed("k string, at string, v string")
    out = bl.windowed(
        events.frame.selectExpr("k", "at", "v", "try_cast(v as int) number"),
        key="k",
        timestamp="at",
        watermark="1 minute",
        window=window,
        trigger=bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(1)),
        accumulation="discarding",
        allowed_lateness="4 minutes",
        aggregate={
            "n": bl.count(),
            "mean": bl.mean("v"),
            "sum": bl.combine(SumOfTheLucky(), "number", "int", "int"),
        },
        output="all",
        name="all of them",
        **SMALL,
        **options,
    )
    events.start(out)
    sent, came = 0, []
    for number in range(6):
        rows = []
        for _ in range(dice.randint(8, 16)):
            minute = max(0, 120 + 6 * number + dice.choice([0, 1, 2, -3, -9, -15]))
            at = f"2020-01-01 {minute // 60:02}:{minute % 60:02}:{dice.randrange(60):02}Z"
            rows.append(
                {
                    "k": dice.choice(["a", "b", "c", "a", "b", None]),
                    "at": dice.choice([*[at] * 8, "noon", None]),
                    "v": dice.choice([*"123456", "13", "many"]),
                }
            )
        sent += len(rows)
        came += events.send(*rows)
    # The end: nothing is open any more but the window of this row.
    came += events.send({"k": "end", "at": "2020-01-02 00:00:00Z", "v": "1"})

    dropped: Counter[str] = Counter()
    for row in came:
        if row["dropped"]:
            assert row["dropped"]["stage"] == "all of them"
            dropped[f"dropped_{row['dropped']['reason']}"] += row["dropped"]["count"]
    in_panes = sum(row["n"] for row in came if row["pane"])
    assert in_panes + sum(dropped.values()) == sent
    timings = Counter(f"panes_{row['pane']['timing'].lower()}" for row in came if row["pane"])
    assert +counts_of(events, "all of them") == dropped + timings
    assert set(dropped) == {
        "dropped_expired",
        "dropped_failed",
        "dropped_null_key",
        "dropped_null_timestamp",
        "dropped_bad_timestamp",
        "dropped_bad_value",
    }
    assert set(timings) == {"panes_early", "panes_on_time", "panes_late"}

"""Totals that outgrow their type, in queries: which rows pay, and how a query goes on.

What both machines make of them is in `tests/hosts/test_outgrown.py`.
"""

from functools import partial
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from tests.support.queries.hours import hourly
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import lines, shown

pytestmark = pytest.mark.spark


SALES = "shop string, at timestamp, price bigint"
MOST = 2**63 - 1
TOO_MUCH = f"aggregate 'total' outgrew its type int64: it would be {MOST + 1}"
HOUR = "window 00:00-01:00, count 1"


def sale(shop: str, time: str, price: int) -> Row:
    return {"shop": shop, "at": f"2020-01-01T{time}:00Z", "price": price}


TOTALS = {"total": bl.sum("price"), "n": bl.count()}
by_shop = partial(hourly, key="shop", aggregate=TOTALS, output="all", name="hours", **SMALL)


@pytest.mark.nightly
def test_a_stream_that_failed_goes_on_from_its_checkpoint_without_the_row(feed: MakeFeed) -> None:
    sales = feed(SALES)
    sales.start(by_shop(sales.frame, watermark="0 s", on_error="fail"))
    assert sales.send(sale("ann", "00:01", MOST), sale("bob", "00:01", 1)) == []
    with pytest.raises(StreamingQueryException) as failed:
        sales.send(sale("ann", "00:02", 1), sale("bob", "00:02", 1))
    sales.stop()
    assert (
        f"beamlike.errors.OutgrownError: {TOO_MUCH}; it was computed for the element (1,) at "
        "2020-01-01 00:02:00 (1577836920000 ms), window [2020-01-01 00:00:00, 2020-01-01 "
        "01:00:00), key ('ann',); on_error=\"drop\" leaves out the rows that it cannot hold, also "
        "in a query that restarts from its checkpoint; or cast its input column to decimal(38, 0) "
        "or double before the call, which takes a new checkpoint"
    ) in str(failed.value)

    dropping = by_shop(sales.frame, watermark="0 s")
    sales.start(dropping)
    assert lines(sales.settle()) == [
        'dropped by hours, failed: {"shop":"ann","price":1} | timestamp 00:02, watermark '
        f"00:01, {HOUR}, error {TOO_MUCH}"
    ]
    # Later rows of that window, and of others: those that fit.
    assert lines(sales.send(sale("ann", "00:03", 2), sale("ann", "01:01", 3))) == [
        f"ann {MOST} 1 | 00:00-01:00 ON_TIME 0 last",
        "bob 2 2 | 00:00-01:00 ON_TIME 0 last",
        'dropped by hours, failed: {"shop":"ann","price":2} | timestamp 00:03, watermark '
        f"00:02, {HOUR}, error {TOO_MUCH[:-1]}9",
    ]
    sales.stop()
    sales.start(dropping)
    assert lines(sales.send(sale("bob", "02:00", 1))) == ["ann 3 1 | 01:00-02:00 ON_TIME 0 last"]
    # A query that is idle reports progress, too, without counts.
    counts = [it.observedMetrics["hours"] for it in sales.progress if it.observedMetrics]
    assert [row.dropped_failed for row in counts] == [0] * len(counts)
    assert counts


HALF = 2**62
ALONE = f'dropped by hours, failed: {{"shop":"ann","price":{HALF}}} | timestamp 00:02, {HOUR}'
COMBINED = f'dropped by hours, failed: {{"shop":"ann"}} | timestamp 00:02, {HOUR}'


@pytest.mark.parametrize(
    ("changes", "drop"),
    [
        ({}, ALONE),
        ({"lift": True}, ALONE),
        ({"hot_key_fanout": 2}, COMBINED),
        ({"machine": "reference"}, ALONE),
    ],
    ids=["plain", "lift", "fanout", "reference"],
)
def test_a_batch_leaves_out_what_its_totals_cannot_hold(
    spark: Any, changes: dict[str, Any], drop: str
) -> None:
    rows = [sale("ann", "00:02", HALF), sale("ann", "00:02", HALF), sale("bob", "00:01", 1)]
    values = [tuple(row.values()) for row in rows]
    frame = spark.createDataFrame(values, "shop string, at string, price bigint").coalesce(1)

    assert lines(shown(by_shop(frame, **changes))) == [
        f"ann {HALF} 1 | 00:00-01:00 ON_TIME 0 last",
        "bob 1 1 | 00:00-01:00 ON_TIME 0 last",
        f"{drop}, error {TOO_MUCH}",
    ]


def test_a_total_of_totals_drops_the_pane_that_makes_it_too_much(spark: Any) -> None:
    rows = [sale("ann", "00:01", HALF), sale("bob", "00:02", HALF), sale("bob", "01:12", 2)]
    values = [tuple(row.values()) for row in rows]
    frame = spark.createDataFrame(values, "shop string, at string, price bigint").coalesce(1)
    shops = (
        bl.stream(frame, timestamp="at")
        .window(bl.FixedWindows("10 minutes"))
        .group("shop", {"price": bl.sum("price")}, name="shops", shards=1)
    )
    hours = shops.window(bl.FixedWindows("1 hour"))
    totals = hours.group([], {"total": bl.sum("price")}, name="all", shards=1)

    assert lines(shown(totals.everything)) == [
        "2 | 01:00-02:00 ON_TIME 0 last",
        f"{HALF} | 00:00-01:00 ON_TIME 0 last",
        f'dropped by all, failed: {{"price":{HALF}}} | timestamp 00:09:59.999, {HOUR}, '
        f"error {TOO_MUCH}",
    ]

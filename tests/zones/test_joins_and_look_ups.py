"""Joins and look-ups of rows with instants, in sessions of another time zone than UTC."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

pytestmark = pytest.mark.spark

InZone = Callable[[str], None]

HOUR = bl.FixedWindows("1 hour")
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
INPUTS = {
    "orders": "day timestamp, at timestamp, item struct<made: timestamp>",
    "payments": "on_day timestamp, paid timestamp, parts array<timestamp>",
}
NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)
DAY = datetime(2020, 6, 1, tzinfo=UTC)


def after(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


ORDER = {"day": DAY, "at": after(1), "item": {"made": after(0)}}
PAYMENT = {"on_day": DAY, "paid": after(2), "parts": [after(2), after(3)]}


def joined(orders: Any, payments: Any) -> Any:
    return bl.join(
        bl.stream(orders, timestamp="at", watermark=0).window(HOUR),
        bl.stream(payments, timestamp="paid", watermark=0).window(HOUR),
        {"left": "day", "right": "on_day"},
        "inner",
        **SMALL,
    ).everything


def looked_up(orders: Any, payments: Any) -> Any:
    return bl.look_up(
        bl.stream(orders, timestamp="at", watermark=0).window(HOUR),
        bl.stream(payments, timestamp="paid", watermark=0).window(HOUR),
        on={"main": "day", "side": "on_day"},
        **SMALL,
    ).everything


@pytest.mark.parametrize("job", [joined, looked_up])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kathmandu"])
def test_rows_with_instants_find_each_other(
    spark: Any, in_zone: InZone, zone: str, job: Any
) -> None:
    in_zone(zone)
    with QueryTest(job, INPUTS, host="spark", spark=spark) as query:
        rows = query.send(ORDER, to="orders")
        rows += query.send(PAYMENT, to="payments")
        rows += query.advance_watermark_to_infinity()

    row = {**ORDER, "paid": after(2), "parts": [after(2), after(3)]}
    assert [{name: found[name] for name in row} for found in rows] == [row]

"""Queries in a session that has Spark count the length of texts and bytes in eight bytes."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

pytestmark = pytest.mark.spark

HOUR = bl.FixedWindows("1 hour")
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
INPUTS = {
    "orders": "user string, at timestamp, item binary, tags array<string>",
    "payments": "payer string, paid timestamp, note string",
}


@pytest.mark.nightly  # `test_canonical` has what becomes of such columns
def test_texts_and_bytes_are_keys_joined_and_aggregated(spark: Any, setting: Any) -> None:
    setting("spark.sql.execution.arrow.useLargeVarTypes", "true")

    def items(orders: Any, payments: Any) -> Any:
        paid = bl.join(
            bl.stream(orders, timestamp="at", watermark=0).window(HOUR),
            bl.stream(payments, timestamp="paid", watermark=0).window(HOUR),
            {"left": "user", "right": "payer"},
            "inner",
            **SMALL,
        )
        aggregate = {
            "items": bl.collect_set("item"),
            "tags": bl.first("tags"),
            "least": bl.min("note"),
        }
        return paid.group("user", aggregate, **SMALL).everything

    with QueryTest(items, INPUTS, host="spark", spark=spark) as query:
        order = {"user": "ann", "at": "12:00:00", "item": b"tea", "tags": ["a", None]}
        rows = query.send(order, {**order, "item": b"milk", "user": None}, to="orders")
        rows += query.send({"payer": "ann", "paid": "12:01:00", "note": "cash"}, to="payments")
        rows += query.advance_watermark_to_infinity()

    shown = ("user", "items", "tags", "least")
    assert [
        [row["dropped"] and row["dropped"]["reason"], *map(row.get, shown)] for row in rows
    ] == [["null_key", None, None, None, None], [None, "ann", [b"tea"], ["a", None], "cash"]]

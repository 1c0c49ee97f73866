"""Recipes of the documentation, on streams in which a wrong time would show."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest
from tests.test_readme import BLOCKS

ORDERS = "id string, shop string, ordered timestamp, amount int"


def recipe(name: str) -> Callable[[Any], bl.Stream]:
    """A function of the page for users of PySpark, by name."""
    namespace: dict[str, Any] = {"bl": bl}
    for language, text in BLOCKS["pyspark.md"]:
        if language == "python" and ("def once" in text or "def daily" in text):
            exec(text, namespace)
    found: Callable[[Any], bl.Stream] = namespace[name]
    return found


def order(number: str, ordered: str, amount: int = 1) -> dict[str, Any]:
    return {"id": number, "shop": "north", "ordered": f"2024-05-01 {ordered}", "amount": amount}


@pytest.mark.filterwarnings("error::beamlike.errors.UnwiseStrategyWarning")
@pytest.mark.parametrize(
    ("window", "found"),
    [
        (bl.Sessions("5 minutes"), ["11:52-11:57 1", "12:01-12:09 2", "12:20-12:25 1"]),
        (bl.FixedWindows("10 minutes"), ["11:50-12:00 1", "12:00-12:10 2", "12:20-12:30 1"]),
        (bl.FixedWindows("1 hour"), ["11:00-12:00 1", "12:00-13:00 3"]),
    ],
    ids=str,
)
def test_orders_that_count_once_are_in_the_windows_of_their_times(
    window: bl.WindowFn, found: list[str]
) -> None:
    def job(orders: Any) -> bl.Stream:
        return recipe("once")(orders).window(window).group("shop", {"orders": bl.count()})

    query = QueryTest(job, ORDERS)
    query.send(order("a", "11:52:00"), order("b", "12:01:00"), order("c", "12:04:00"))
    query.send(order("d", "12:20:00"), order("b", "12:01:00"))
    query.restart()
    query.send(order("d", "12:20:00"))
    query.advance_watermark_to_infinity()
    assert (
        sorted(
            f"{row['window']['start']:%H:%M}-{row['window']['end']:%H:%M} {row['orders']}"
            for row in query.rows
        )
        == found
    )


@pytest.mark.filterwarnings("error::beamlike.errors.UnwiseStrategyWarning")
def test_the_hours_of_a_day_are_in_their_day() -> None:
    query = QueryTest(recipe("daily"), ORDERS)
    query.send(order("a", "23:30:00", 3), order("b", "22:59:59", 4))
    query.send({**order("c", "00:00:00", 5), "ordered": "2024-05-02 00:00:00"})
    query.advance_watermark_to_infinity()
    assert [
        (f"{row['window']['start']:%d}", row["hours"], row["revenue"])
        for row in query.rows
        if row["pane"]["timing"] == "ON_TIME"
    ] == [("01", 2, 7), ("02", 1, 5)]

"""Panes when a column adds up to so much, over rows: what comes out, in full."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest

SALES = "shop string, at timestamp, amount double"


def sale(at: str, amount: float | None, shop: str = "Rome") -> dict[str, Any]:
    return {"shop": shop, "at": at, "amount": amount}


def limits(rows: Any, accumulation: str) -> Any:
    return bl.windowed(
        rows,
        key="shop",
        timestamp="at",
        watermark="0 s",
        window=bl.FixedWindows("1 hour"),
        window_input="amount",
        trigger=bl.AfterWatermark(early=bl.Repeatedly(bl.AfterTotal(100)), late=bl.AfterCount(1)),
        accumulation=accumulation,
        allowed_lateness="1 hour",
        aggregate={"n": bl.count(), "sold": bl.sum("amount")},
    )


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(
    ("accumulation", "expected"),
    [
        ("discarding", [["2 105.5 EARLY"], [], ["3 40.0 ON_TIME"], ["1 7.0 LATE"]]),
        ("accumulating", [["2 105.5 EARLY"], [], ["5 145.5 ON_TIME"], ["6 152.5 LATE"]]),
        (
            "retracting",
            [
                ["2 105.5 EARLY"],
                [],
                ["-2 105.5 EARLY", "5 145.5 ON_TIME"],
                ["-5 145.5 ON_TIME", "6 152.5 LATE"],
            ],
        ),
    ],
)
def test_a_window_fires_whenever_a_column_adds_up_to_a_total(
    accumulation: str, expected: list[list[str]], restarts: bool
) -> None:
    query = QueryTest(lambda rows: limits(rows, accumulation), SALES)
    came = []
    for rows in (
        [sale("12:05:00", 60.0), sale("12:06:00", 45.5)],
        [sale("12:07:00", None), sale("12:08:00", -60.0), sale("12:09:00", 100.0)],
        [sale("13:00:00", 1.0, "Oslo")],
        [sale("12:10:00", 7.0)],
    ):
        came.append([line(row) for row in query.send(*rows) if row["shop"] == "Rome"])
        if restarts:
            query.restart()
    assert came == expected


def line(row: dict[str, Any]) -> str:
    sign = "-" if row.get("retraction") else ""
    return f"{sign}{row['n']} {row['sold']} {row['pane']['timing']}"

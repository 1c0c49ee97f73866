"""Triggers that Beam does not have, and one of a user's own, over DataFrames.

Which machine asks them, and about what; their panes, a restart, and what is refused.
"""

from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from beamlike.errors import UnsupportedError
from beamlike.model.triggers import Trigger
from beamlike.testing import QueryTest
from tests.support.generated.own_triggers import AfterSpend
from tests.support.queries.hours import hourly
from tests.support.queries.rows import SMALL, MakeFeed, event
from tests.support.queries.shown import lines


def grouped(frame: Any, trigger: Trigger, **more: Any) -> Any:
    how = {"trigger": trigger, "accumulation": "accumulating", "allowed_lateness": "0s"} | more
    return hourly(frame, {"values": bl.collect("v")}, **how)


@pytest.fixture
def events(spark: Any) -> Any:
    """A stream that nothing starts: an explanation needs no query."""
    rows = spark.readStream.format("rate").load()
    return rows.selectExpr("timestamp as at", "cast(value % 3 as string) as k", "value as v")


@pytest.mark.spark
@pytest.mark.parametrize(
    "early",
    [
        bl.EveryProcessingTime("1 minute"),
        bl.EveryEventTime("1 minute", fire_unchanged=True),
        bl.AfterSilence("1 minute"),
        bl.AfterDelta(5),
        bl.AfterTotal(5),
    ],
    ids=str,
)
def test_they_are_asked_key_by_key(events: Any, early: Trigger) -> None:
    asks = isinstance(early, bl.AfterDelta | bl.AfterTotal)
    options = {"window_input": "v"} if asks else {}
    panes = grouped(events, bl.AfterWatermark(early=early), watermark="0s", **options)

    shown = " ".join(bl.explain_plan(panes).split())
    assert shown.startswith("beamlike: reference machine")
    assert f"{early} runs key by key" in shown


@pytest.mark.spark
@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (bl.Repeatedly(bl.AfterDelta(5)), 'window_input="price"'),
        (bl.Repeatedly(AfterSpend(100)), r"AfterSpend\(limit=100\) looks at the value"),
    ],
    ids=["a distance", "one of a user's own"],
)
def test_one_that_looks_at_values_needs_to_know_of_which_column(
    events: Any, trigger: Trigger, words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        grouped(events, trigger, watermark="0s")


@pytest.mark.spark
def test_a_distance_is_measured_in_the_named_column(spark: Any) -> None:
    rows = [(key, f"2020-01-01T12:0{value % 10}:00Z", value) for key, value in [("a", 1), ("a", 9)]]
    frame = spark.createDataFrame(
        [*rows, ("b", "2020-01-01T12:00:00Z", 1)], "k string, at string, v int"
    )
    panes = grouped(
        frame.coalesce(1),
        bl.AfterWatermark(early=bl.AfterDelta(5)),
        window_input="v",
        output="panes",
    )

    shown = panes.select("k", "values", "pane.timing").collect()
    assert sorted((row.k, sorted(row["values"]), row.timing) for row in shown) == [
        ("a", [1, 9], "EARLY"),
        ("a", [1, 9], "ON_TIME"),
        ("b", [1], "ON_TIME"),
    ]


SPENDING: dict[str, Any] = {
    "key": "user",
    "aggregate": {"spent": bl.sum("v")},
    "watermark": "10 minutes",
    "trigger": bl.AfterWatermark(early=AfterSpend(100), late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "12 hours",
    "window_input": "v",
    "output": "all",
    **SMALL,
}


@pytest.mark.nightly
@pytest.mark.spark
def test_it_fires_and_goes_on_from_a_checkpoint_and_another_one_does_not(
    feed: MakeFeed,
) -> None:
    events = feed("user string, at timestamp, v int")
    panes = hourly(events.frame, **SPENDING)
    plan = " ".join(bl.explain_plan(panes).split())
    assert plan.startswith("beamlike: reference machine")
    assert "AfterSpend(limit=100), a trigger of yours, runs key by key" in plan

    events.start(panes)
    said = [lines(events.send(event("ann", "00:05:00", 60), event("bob", "00:06:00", 99)))]
    said.append(lines(events.send(event("ann", "00:07:00", 50))))
    said.append(lines(events.send(event("ann", "00:08:00", 30))))
    events.stop()

    # What is kept of a window outlasts the query: 99 of bob's, 30 of ann's since her pane.
    events.start(hourly(events.frame, **SPENDING))
    said.append(lines(events.send(event("bob", "00:09:00", 1), event("ann", "00:10:00", 70))))
    said.append(lines(events.send(event("ann", "01:30:00", 5))))
    events.stop()

    assert [sorted(each) for each in said] == [
        [],
        ["ann 110 | 00:00-01:00 EARLY 0"],
        [],
        ["ann 210 | 00:00-01:00 EARLY 1", "bob 100 | 00:00-01:00 EARLY 0"],
        ["ann 210 | 00:00-01:00 ON_TIME 2", "bob 100 | 00:00-01:00 ON_TIME 1"],
    ]

    changed = bl.AfterWatermark(early=AfterSpend(200), late=bl.AfterCount(1))
    events.start(hourly(events.frame, **SPENDING | {"trigger": changed}))
    with pytest.raises(StreamingQueryException, match=r"AfterSpend\(limit=200\)"):
        events.send(event("ann", "00:10:00", 1))


# -- panes when a column adds up to so much --------------------------------------------------------


def sale(at: str, amount: float | None, shop: str = "Rome") -> dict[str, Any]:
    return {"shop": shop, "at": at, "amount": amount}


def limits(rows: Any, accumulation: str) -> Any:
    return hourly(
        rows,
        {"n": bl.count(), "sold": bl.sum("amount")},
        key="shop",
        watermark="0 s",
        window_input="amount",
        trigger=bl.AfterWatermark(early=bl.Repeatedly(bl.AfterTotal(100)), late=bl.AfterCount(1)),
        accumulation=accumulation,
        allowed_lateness="1 hour",
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
    query = QueryTest(
        lambda rows: limits(rows, accumulation), "shop string, at timestamp, amount double"
    )
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

"""Triggers that Beam does not have, over DataFrames: which machine asks them, and about what."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import UnsupportedError
from beamlike.model.triggers import Trigger

pytestmark = pytest.mark.spark


def grouped(frame: Any, trigger: Trigger, **more: Any) -> Any:
    return bl.windowed(
        frame,
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        trigger=trigger,
        accumulation="accumulating",
        allowed_lateness="0s",
        aggregate={"values": bl.collect("v")},
        **more,
    )


@pytest.fixture
def events(spark: Any) -> Any:
    """A stream that nothing starts: an explanation needs no query."""
    rows = spark.readStream.format("rate").load()
    return rows.selectExpr("timestamp as at", "cast(value % 3 as string) as k", "value as v")


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


def test_a_distance_needs_to_know_of_which_column(events: Any) -> None:
    with pytest.raises(UnsupportedError, match='window_input="price"'):
        grouped(events, bl.Repeatedly(bl.AfterDelta(5)), watermark="0s")


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

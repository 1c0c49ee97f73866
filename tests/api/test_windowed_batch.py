"""`windowed` over data that ends: one bundle for each key, then the watermark at infinity."""

from functools import partial
from typing import Any

import pytest

import beamlike as bl
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ONLY_PANE
from tests.support.queries.shown import shown
from tests.support.zones import session_zone

pytestmark = pytest.mark.spark


FLIGHTS = [
    ("UA", "EWR", "2013-01-01 05:15:00Z", 2, "N14228"),
    ("UA", "LGA", "2013-01-01 05:29:00Z", 4, "N24211"),
    ("AA", "JFK", "2013-01-01 05:40:00Z", None, "N619AA"),
    ("UA", "EWR", "2013-01-01 06:00:00Z", -4, None),
    ("AA", "LGA", "2013-01-01 05:59:59Z", 8, "N3ALAA"),
]
FLIGHT = "carrier string, origin string, scheduled string, dep_delay int, tailnum string"


DEPARTURES = {
    "departures": bl.count(),
    "delay": bl.mean("dep_delay"),
    "tails": bl.collect("tailnum"),
}
departures = partial(hourly, timestamp="scheduled")


def hour(start: int, **rest: Any) -> dict[str, Any]:
    """Window and timestamp of an hour of 2013-01-01, and the columns between them."""
    return {
        "window": {
            "start": f"2013-01-01T{start:02}:00:00.000Z",
            "end": f"2013-01-01T{start + 1:02}:00:00.000Z",
        },
        **rest,
        "timestamp": f"2013-01-01T{start:02}:59:59.999Z",
        "pane": ONLY_PANE,
    }


def in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize(
    "windowing",
    [
        pytest.param({}, id="default-trigger"),
        pytest.param(
            {
                "watermark": "30 minutes",
                "trigger": bl.AfterWatermark(
                    early=bl.AfterProcessingTime("10 seconds"), late=bl.AfterCount(1)
                ),
                "accumulation": "accumulating",
                "allowed_lateness": "6 hours",
            },
            id="early-and-late",
        ),
        pytest.param(
            {
                "trigger": bl.Repeatedly(bl.AfterCount(100)),
                "accumulation": "discarding",
                "allowed_lateness": 0,
            },
            id="count-never-reached",
        ),
    ],
)
def test_each_carrier_and_hour_has_one_pane(spark: Any, windowing: dict[str, Any]):
    flights = spark.createDataFrame(FLIGHTS, FLIGHT).coalesce(1)

    rows = shown(departures(flights, DEPARTURES, key=["carrier"], **windowing))

    assert in_order(rows) == in_order(
        [
            {"carrier": "UA"} | hour(5, departures=2, delay=3.0, tails=["N14228", "N24211"]),
            {"carrier": "UA"} | hour(6, departures=1, delay=-4.0, tails=[]),
            {"carrier": "AA"} | hour(5, departures=2, delay=8.0, tails=["N619AA", "N3ALAA"]),
        ]
    )
    names = ["carrier", "window", "departures", "delay", "tails", "timestamp", "pane"]
    assert [list(row) for row in rows] == [names] * 3


def test_the_columns_are_keys_window_aggregates_timestamp_and_pane(spark: Any) -> None:
    flights = spark.createDataFrame(FLIGHTS, FLIGHT)
    panes = (
        "struct<carrier:string,origin:string,window:struct<start:timestamp,end:timestamp>,"
        "departures:bigint,delay:double,tails:array<string>,timestamp:timestamp,"
        "pane:struct<timing:string,index:bigint,nonspeculative_index:bigint,is_first:boolean,"
        "is_last:boolean>"
    )
    dropped = (
        "dropped:struct<stage:string,reason:string,timestamp:timestamp,watermark:timestamp,"
        "missed_ms:bigint,window:struct<start:timestamp,end:timestamp>,"
        "nearest_session:struct<start:timestamp,end:timestamp>,count:bigint,error:string,"
        "element:string>"
    )

    by_place = partial(departures, flights, DEPARTURES, key=["carrier", "origin"])
    assert by_place().schema.simpleString() == panes + ">"
    for output in ("dropped", "all"):
        assert by_place(output=output).schema.simpleString() == f"{panes},{dropped}>"


@pytest.mark.parametrize("kind", ["date", "string"])
def test_event_time_may_be_any_kind_of_time(spark: Any, kind: str) -> None:
    # Without a zone, they are read in that of the session.
    with session_zone(spark, "UTC"):
        panes = hourly(spark.sql(f"select 'a' k, cast('2013-01-01' as {kind}) at"))

        assert shown(panes) == [{"k": "a"} | hour(0, n=1)]


def test_without_key_everything_is_one_group(spark: Any) -> None:
    panes = departures(spark.createDataFrame(FLIGHTS, FLIGHT), key=[])

    assert in_order(shown(panes)) == [hour(5, n=4), hour(6, n=1)]


def test_an_element_counts_in_each_of_its_sliding_windows(spark: Any) -> None:
    rows = [("a", "2013-01-01 05:10:00Z", 1), ("a", "2013-01-01 05:40:00Z", 2)]
    frame = spark.createDataFrame(rows, ["k", "at", "v"]).coalesce(1)
    sliding = bl.SlidingWindows("1 hour", "30 minutes")
    panes = hourly(frame, {"all": bl.collect("v")}, window=sliding)

    found = {
        (row["window"]["start"][11:16], row["window"]["end"][11:16]): (row["all"], row["pane"])
        for row in shown(panes)
    }
    assert found == {
        ("04:30", "05:30"): ([1], ONLY_PANE),
        ("05:00", "06:00"): ([1, 2], ONLY_PANE),
        ("05:30", "06:30"): ([2], ONLY_PANE),
    }


def test_sessions_merge_unless_they_only_touch(spark: Any) -> None:
    times = ["05:00:00", "05:20:00", "05:09:59", "05:19:58", "05:30:00"]
    rows = [("a", f"2013-01-01 {time}Z", time) for time in times]
    frame = spark.createDataFrame(rows, ["k", "at", "v"]).coalesce(1)
    how: dict[str, Any] = {"window": bl.Sessions("10 minutes"), "timestamp_combiner": "latest"}
    panes = hourly(frame, {"all": bl.collect("v")}, **how)

    assert in_order(shown(panes)) == in_order(
        [
            {
                "k": "a",
                "window": {"start": f"2013-01-01T{start}.000Z", "end": f"2013-01-01T{end}.000Z"},
                "all": collected,
                "timestamp": f"2013-01-01T{latest}.000Z",
                "pane": ONLY_PANE,
            }
            for start, end, latest, collected in [
                # 05:19:58 and 05:20:00 overlap; 05:20:00 and 05:30:00 are one gap apart.
                ("05:00:00", "05:30:00", "05:20:00", times[:4]),
                ("05:30:00", "05:40:00", "05:30:00", times[4:]),
            ]
        ]
    )


@pytest.mark.parametrize(
    ("combiner", "timestamp"),
    [
        ("end_of_window", None),
        ("earliest", "2013-01-01T05:15:00.000Z"),
        ("latest", "2013-01-01T06:00:00.000Z"),
    ],
)
def test_the_global_window_has_no_bounds_to_show(spark: Any, combiner: str, timestamp: str | None):
    flights = spark.createDataFrame(FLIGHTS, FLIGHT).coalesce(1)
    how: dict[str, Any] = {"window": bl.GlobalWindows(), "timestamp_combiner": combiner}
    panes = departures(flights, {"delay": bl.sum("dep_delay")}, key=[], **how)

    assert shown(panes) == [
        {
            "window": {"start": None, "end": None},
            "delay": 10,
            "timestamp": timestamp,
            "pane": ONLY_PANE,
        }
    ]


def test_no_rows_give_no_panes(spark: Any) -> None:
    assert shown(departures(spark.createDataFrame([], FLIGHT), key="carrier")) == []

"""Rows with instants are grouped in sessions of any time zone as they are in UTC."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import beamlike as bl
from beamlike.testing import QueryTest
from tests.support.queries.rows import ONLY_PANE

pytestmark = pytest.mark.spark

InZone = Callable[[str], None]
AWAY = ("Asia/Kathmandu", "America/New_York", "Europe/Berlin")

TRIPS = (
    "at timestamp, day timestamp, gate string, trip struct<start: timestamp, "
    "stops: array<timestamp>, notes: map<string, timestamp>>"
)
HOUR = bl.FixedWindows("1 hour")
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)
DAY = datetime(2020, 6, 1, tzinfo=UTC)


def after(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def trip(minutes: int) -> dict[str, Any]:
    """A trip at some minutes past noon, with a stop a minute later."""
    stop = after(minutes + 1)
    inside = {"start": after(minutes), "stops": [stop], "notes": [("stop", stop)]}
    return {"at": after(minutes), "day": DAY, "gate": "east", "trip": inside}


def earliest() -> bl.CombineFn:
    """The first instant, by a user's own function."""

    class Earliest(bl.CombineFn):
        def create(self) -> list[datetime]:
            return []

        def add(self, accumulator: Any, values: Any, timestamps: Any) -> Any:
            return [min([*accumulator, *values])]

        def merge(self, first: Any, second: Any) -> Any:
            return [min([*first, *second])] if first or second else []

        def extract(self, accumulator: Any) -> Any:
            return accumulator[0] if accumulator else None

    return Earliest()


EVERY_AGGREGATE = {
    "n": bl.count("at"),
    "all": bl.collect("at"),
    "different": bl.collect_set("at"),
    "n_different": bl.count_distinct("at"),
    "about": bl.approx_distinct("at"),
    "first": bl.first("at"),
    "last": bl.last("at"),
    "least": bl.min("at"),
    "greatest": bl.max("at"),
    "top": bl.top("at", 1),
    "bottom": bl.bottom("gate", 1, by="at"),
    "sample": bl.sample("at", 5),
    "own": bl.combine(earliest(), "at", "timestamp"),
    "trips": bl.collect("trip"),
}


def by_day(trips: Any) -> Any:
    return bl.windowed(
        trips,
        key=["day", "gate"],
        timestamp="at",
        watermark=0,
        window=HOUR,
        aggregate=EVERY_AGGREGATE,
        output="all",
        **SMALL,
    )


def pane(start: datetime, **columns: Any) -> dict[str, Any]:
    """The only pane of an hour."""
    end = start + timedelta(hours=1)
    return {
        **columns,
        "window": {"start": start, "end": end},
        "timestamp": end - timedelta(microseconds=1),
        "pane": ONLY_PANE,
        "dropped": None,
    }


@pytest.mark.parametrize("zone", AWAY)
def test_instants_as_keys_and_in_every_aggregate_whatever_the_zone_and_when_it_is_set(
    spark: Any, in_zone: InZone, zone: str
) -> None:
    with QueryTest(by_day, TRIPS, host="spark", spark=spark) as query:
        in_zone(zone)  # the query runs; what follows is read in its own zone
        query.send(trip(1), trip(3), trip(3))
        query.restart(by_day)  # and now in the other one
        query.send(trip(2))
        rows = query.advance_watermark_to(after(60))

    (row,) = [row for row in rows if row["dropped"] is None]
    times = [after(1), after(2), after(3), after(3)]
    for name in ("all", "sample", "trips"):  # in no promised order
        row[name].sort(key=str)
    assert row == pane(
        NOON,
        day=DAY,
        gate="east",
        n=4,
        all=times,
        different=times[:3],
        n_different=3,
        about=3,
        first=after(1),
        last=after(3),
        least=after(1),
        greatest=after(3),
        top=[after(3)],
        bottom=["east"],
        sample=times,
        own=after(1),
        trips=[trip(minutes)["trip"] for minutes in (1, 2, 3, 3)],
    )


@pytest.mark.nightly
@pytest.mark.parametrize("zone", AWAY)
@pytest.mark.parametrize(
    "options", [{}, {"lift": True}, {"hot_key_fanout": 2}, {"machine": "reference"}], ids=str
)
def test_a_batch_gives_the_panes_of_utc_also_where_rows_are_combined_before(
    spark: Any, in_zone: InZone, zone: str, options: dict[str, Any]
) -> None:
    rows = spark.sql(
        "select explode(sequence(timestamp '2020-06-01T12:00:00Z', timestamp "
        "'2020-06-01T14:30:00Z', interval 20 minutes)) at"
    ).selectExpr("at", "date_trunc('minute', at) minute", "array(named_struct('at', at)) inside")

    def panes() -> Any:
        return bl.windowed(
            rows,
            key="minute",
            timestamp="at",
            window=HOUR,
            aggregate={"n": bl.count(), "least": bl.min("at"), "last": bl.last("inside")},
            **options,
        )

    described_before = panes()
    in_zone(zone)
    found, anew = (sorted(it.toArrow().to_pylist(), key=str) for it in (described_before, panes()))

    times = [after(minutes) for minutes in range(0, 150, 20)]
    assert [(it["minute"], it["n"], it["least"], it["last"]) for it in found] == [
        (time, 1, time, [{"at": time}]) for time in times
    ]
    assert anew == found


@pytest.mark.nightly
@pytest.mark.parametrize("zone", AWAY)
def test_a_grouping_after_a_grouping_and_states_by_key_take_instants(
    spark: Any, in_zone: InZone, zone: str
) -> None:
    class Latest:
        """The trip before, for each gate."""

        before = bl.state()

        def process(self, row: Any, before: Any) -> Any:
            yield {"now": row["day"], "before": before.read()}
            before.write(row["latest"])

    def job(trips: Any) -> Any:
        stream = bl.stream(trips, timestamp="at", watermark=0).window(
            HOUR,
            trigger=bl.Repeatedly(bl.AfterCount(1)),
            accumulation="discarding",
            allowed_lateness="0 s",
        )
        return (
            stream.group(["gate", "day"], {"latest": bl.max("at")}, **SMALL)
            .apply_per_key(
                key="gate", fn=Latest(), returns="now timestamp, before timestamp", **SMALL
            )
            .everything
        )

    in_zone(zone)
    with QueryTest(job, TRIPS, host="spark", spark=spark) as query:
        rows = query.send(trip(1), trip(2))
        rows += query.send(trip(3))

    assert [(row["now"], row["before"]) for row in rows] == [(DAY, None), (DAY, after(2))]

"""Windows of random times are those of Spark's own ``window`` and ``session_window``, to the
microsecond and in each zone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl

pytestmark = pytest.mark.spark

InZone = Callable[[str], None]
ZONES = ("UTC", "Asia/Kathmandu", "America/New_York")
SMALL: dict[str, Any] = {"shards": 2, "buckets": 2}
_AGGREGATES: dict[str, Any] = {
    "n": bl.count(),
    "least": bl.min("at"),
    "greatest": bl.max("at"),
    "earliest": bl.min_by("place", by="at"),
    "latest": bl.max_by("place", by="at"),
    "oldest": bl.first("place"),
    "newest": bl.last("place"),
}


def at_random(random: Random, count: int) -> list[int]:
    """Different instants (us), many near the bounds of windows, before 1970 and around both
    changes of clocks in New York."""
    around = (0, 1_710_054_000_000_000, 1_730_613_600_000_000, -5_000_000_000_000_000)
    found = set[int]()
    while len(found) < count:
        near = random.choice(around) + random.randrange(-3, 4) * 3_600_000_000
        found.add(near + random.choice((0, -1, 1, 999, 1_000, random.randrange(600_000_000))))
    return sorted(found, key=lambda _: random.random())


def rows_of(spark: Any, dtype: str, seed: int) -> Any:
    """Rows of a few keys with event times of this type, each in a place of its own."""
    rows = [
        ("abc"[place % 3], place, datetime(1970, 1, 1) + timedelta(microseconds=micros))
        for place, micros in enumerate(at_random(Random(seed), 300))
    ]
    if dtype == "timestamp":
        rows = [(key, place, at.replace(tzinfo=UTC)) for key, place, at in rows]
    return spark.createDataFrame(rows, f"k string, place int, at {dtype}")


def by_spark(rows: Any, window: Any) -> set[Any]:
    grouped = rows.groupBy("k", window.alias("window")).agg(
        F.count("*").alias("n"),
        F.min("at").alias("least"),
        F.max("at").alias("greatest"),
        F.min_by("place", "at").alias("earliest"),
        F.max_by("place", "at").alias("latest"),
        F.min_by("place", "at").alias("oldest"),
        F.max_by("place", "at").alias("newest"),
    )
    return as_set(grouped)


def as_set(grouped: Any) -> set[Any]:
    columns = ("k", "window.start", "window.end", *_AGGREGATES)
    # As texts the hour that is there twice would look the same both times.
    numbered = F.struct(*(F.col(name).alias(str(index)) for index, name in enumerate(columns)))
    shown = {"timestampFormat": "yyyy-MM-dd HH:mm:ss.SSSSSSXXX"}
    return {row[0] for row in grouped.select(F.to_json(numbered, shown)).collect()}


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("dtype", ["timestamp", "timestamp_ntz"])
def test_windows_of_random_times_are_those_of_spark(
    spark: Any, in_zone: InZone, zone: str, dtype: str
) -> None:
    in_zone(zone)
    rows = rows_of(spark, dtype, seed=7).cache()
    windows: list[tuple[Any, bl.WindowFn]] = [
        (F.window("at", "1 hour"), bl.FixedWindows("1 hour")),
        (F.window("at", "10 minutes", "4 minutes"), bl.SlidingWindows("10 minutes", "4 minutes")),
        (F.window("at", "1500 microseconds"), bl.FixedWindows("1500 us")),
        (F.session_window("at", "5 minutes"), bl.Sessions("5 minutes", merge_touching=True)),
        (F.session_window("at", "1 millisecond"), bl.Sessions("1 ms", merge_touching=True)),
    ]
    for spark_window, window in windows:
        panes = bl.windowed(
            rows, key="k", timestamp="at", window=window, aggregate=_AGGREGATES, **SMALL
        )
        assert as_set(panes) == by_spark(rows, spark_window), str(window)
    rows.unpersist()

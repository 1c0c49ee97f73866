"""Dates and times before the year 1 and after 9999: dropped as keys and values, and event times."""

from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from tests.support.zones import session_zone

pytestmark = pytest.mark.spark

FIRST, AFTER_LAST = -62_135_596_800_000, 253_402_300_800_000
INSTANTS = {"before": FIRST - 1, "first": FIRST, "last": AFTER_LAST - 1, "after": AFTER_LAST}
TYPES = ["timestamp", "timestamp_ntz", "date"]


def rows_of(spark: Any, spark_type: str) -> Any:
    """A row at each of the instants, named after it."""
    rows = spark.createDataFrame([*INSTANTS.items()], "name string, ms bigint")
    moment = F.timestamp_millis("ms").cast(spark_type)
    return rows.select("name", moment.alias("moment"), F.lit("2024-05-01 12:00:00").alias("at"))


def what_comes(rows: Any, window: Any = None, **how: Any) -> dict[str, str]:
    """What became of each row: its reason, or that it counts."""
    everything = bl.windowed(
        rows, window=window or bl.FixedWindows("1 hour"), output="all", carry="name", **how
    )
    panes, dropped = bl.split(everything)
    lost = dropped.selectExpr(
        "get_json_object(dropped.element, '$.name')", "dropped.reason"
    ).collect()
    return dict(map(tuple, lost)) | {
        name: "counts" for (names,) in panes.select("names").collect() for name in names
    }


NAMES = {"names": bl.collect("name")}
DROPPED = dict.fromkeys(("first", "last"), "counts")


def as_all(spark: Any, spark_type: str) -> dict[str, dict[str, str]]:
    """What became of each row where its instant is a value, in a list, a key and an event time."""
    rows = rows_of(spark, spark_type)
    of_values = {**NAMES, "latest": bl.max("moment")}
    in_lists = rows.selectExpr("name", "array(moment) as moments", "at")
    return {
        "value": what_comes(rows, key=[], timestamp="at", aggregate=of_values),
        "in a list": what_comes(
            in_lists, key=[], timestamp="at", aggregate={**NAMES, "lists": bl.collect("moments")}
        ),
        "key": what_comes(rows, key="moment", timestamp="at", aggregate=NAMES),
        "event time": what_comes(rows, key=[], timestamp="moment", aggregate=NAMES),
    }


@pytest.mark.parametrize("spark_type", TYPES)
def test_as_values_keys_and_event_times(spark: Any, spark_type: str) -> None:
    # Which day an instant is, and which time without a zone, depends on the zone of the session.
    with session_zone(spark, "UTC"):
        found = as_all(spark, spark_type)
    lost = ("before", "after")
    assert found == {
        "value": {**DROPPED, **dict.fromkeys(lost, "bad_value")},
        "in a list": {**DROPPED, **dict.fromkeys(lost, "bad_value")},
        "key": {**DROPPED, **dict.fromkeys(lost, "bad_key")},
        "event time": dict.fromkeys(INSTANTS, "counts"),
    }


def test_calendar_windows_end_with_these_years(spark: Any) -> None:
    rows = rows_of(spark, "timestamp")
    came = what_comes(rows, bl.CalendarDays(), key=[], timestamp="moment", aggregate=NAMES)
    assert {name: came[name] for name in ("before", "after")} == {
        "before": "failed",
        "after": "failed",
    }

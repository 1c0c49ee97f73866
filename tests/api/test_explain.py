"""`beamlike.explain_plan`: which machine runs a grouping and why, before a query runs."""

from collections.abc import Sequence
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import ColumnError, UnsupportedError
from tests.support.queries.hours import hourly

pytestmark = pytest.mark.spark

MINUTES = bl.FixedWindows("1 minute")
COLUMNAR = "beamlike: columnar machine"


def gap_of(minutes: int) -> int:
    return minutes * 60_000


class Longest(bl.CombineFn):
    """A combine function of a user's own."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        return max(accumulator, *values)

    def merge(self, first: int, second: int) -> int:
        return max(first, second)

    def __str__(self) -> str:
        return "Longest()"


@pytest.fixture
def events(spark: Any) -> Any:
    """A stream that nothing starts: an explanation needs no query."""
    rows = spark.readStream.format("rate").load()
    return rows.selectExpr("timestamp as at", "cast(value % 3 as string) as k", "value as v")


def counted(events: Any, window: bl.WindowFn = MINUTES, **more: Any) -> Any:
    return hourly(events, window=window, watermark="0s", **more)


def headline(panes: Any) -> str:
    return bl.explain_plan(panes).splitlines()[0]


def test_it_tells_the_machine_and_what_it_does(events: Any) -> None:
    shown = bl.explain_plan(counted(events, shards=2, buckets=8)).splitlines()

    assert shown[:4] == [
        COLUMNAR,
        "  window: FixedWindows(1m)",
        "  trigger: DefaultTrigger()",
        "  accumulation: discarding",
    ]
    assert {"  key: k string", "  shards: 2", "  buckets: 8"} <= set(shown)
    assert not any("layout" in line for line in shown)


def test_a_batch_is_reported_of_as_a_stream_is(spark: Any) -> None:
    rows = spark.createDataFrame([("a", "2020-01-01 00:00:00Z", 1)], "k string, at string, v int")
    panes = hourly(rows, window=bl.Sessions("5m"))

    assert bl.explain_plan(panes).splitlines()[:2] == [COLUMNAR, "  window: Sessions(5m)"]


def test_it_goes_with_the_column_pane_wherever_that_goes(events: Any) -> None:
    panes = counted(events)

    for frame in (
        panes.select("k", "pane"),
        panes.filter("n > 1"),
        panes.select("pane", F.col("n") * 2),
        panes.withColumn("more", F.lit(1)).drop("n"),
        panes.where("k = 'a'").select("*"),
    ):
        assert headline(frame) == COLUMNAR


def test_without_the_column_pane_nothing_is_known(events: Any) -> None:
    panes = counted(events)

    for frame in (events, panes.select("n"), panes.withColumnRenamed("pane", "p"), "panes"):
        with pytest.raises(ColumnError, match="call it with the frame that windowed"):
            bl.explain_plan(frame)


def test_why_it_is_the_reference_machine_is_reported(events: Any) -> None:
    by_value = counted(events, bl.Sessions(gap_of), window_input="v")
    of_mine = counted(events, aggregate={"longest": bl.combine(Longest(), "v", returns="long")})

    assert headline(counted(events, machine="reference")) == (
        'beamlike: reference machine, because machine="reference" is set'
    )
    assert headline(by_value).startswith(
        "beamlike: reference machine, because Sessions(gap_of) calls"
    )
    assert headline(of_mine) == COLUMNAR


def test_the_columnar_machine_is_refused_where_it_cannot_do_it_before_a_query_starts(events: Any):
    with pytest.raises(UnsupportedError, match=r'machine="columnar" cannot do this: .* leave the'):
        counted(events, bl.Sessions(gap_of), window_input="v", machine="columnar")


def test_a_stream_tells_of_each_of_its_groupings_in_order(events: Any) -> None:
    rows = bl.stream(events, timestamp="at", watermark="0s").window(bl.FixedWindows("1 minute"))
    by_key = rows.group("k", {"n": bl.count()}, name="by key", shards=2)
    both = by_key.group([], {"keys": bl.count()}, name="in all", machine="reference")

    headlines = [line for line in bl.explain_plan(both).splitlines() if line[0] != " "]

    assert bl.explain_plan(rows) == "nothing is grouped here"
    assert headlines == [
        "by key: columnar machine",
        'in all: reference machine, because machine="reference" is set',
    ]
    # Its frame knows of the last one.
    assert headline(both.rows) == headlines[1]
    assert "  inputs: a grouping of 2 shards" in bl.explain_plan(both.rows).splitlines()

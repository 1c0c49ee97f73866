"""Names and schemas that a frame may well have, and that must not get in the way."""

from collections.abc import Iterator
from typing import Any

import pytest

import beamlike as bl
from tests.support.queries.rows import MakeFeed
from tests.support.queries.shown import shown
from tests.support.zones import session_zone

pytestmark = pytest.mark.spark


STRANGE = ["a.b", "two words", "tick`ed", "`quoted`", "żółw", "key_0", "ts", "hash", "reason"]


def values_of(rows: list[dict[str, Any]], *names: str) -> list[list[Any]]:
    return [[row[name] for name in names] for row in rows]


@pytest.mark.parametrize("name", STRANGE)
def test_a_column_may_have_any_name(spark: Any, name: str) -> None:
    frame = spark.createDataFrame([("2020-01-01", 1), ("2020-01-01", 1)], ["at", name])

    panes = bl.windowed(
        frame,
        key=name,
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={f"sum of {name}": bl.sum(name), f"{name}.all": bl.collect(name)},
    )

    assert panes.columns == [name, "window", f"sum of {name}", f"{name}.all", "timestamp", "pane"]
    assert values_of(shown(panes), name, f"sum of {name}", f"{name}.all") == [[1, 2, [1, 1]]]


@pytest.mark.nightly
def test_strange_names_go_through_state_and_to_the_drops(feed: MakeFeed) -> None:
    stream = feed("`a.b` string, `the ``time` timestamp, `start` int, `t0` int")
    out = bl.windowed(
        stream.frame,
        key=["a.b", "start"],
        timestamp="the `time",
        watermark="0 s",
        window=bl.FixedWindows("1 hour"),
        aggregate={"end": bl.sum("t0"), "fresh": bl.mean("t0"), "index": bl.collect("t0")},
        output="all",
    )
    stream.start(out)

    def row(time: str, value: int) -> dict[str, Any]:
        return {"a.b": "x", "the `time": f"2020-01-01T{time}Z", "start": 1, "t0": value}

    assert stream.send(row("00:00:00", 1)) == []
    assert stream.send(row("00:30:00", 2)) == []
    (pane,) = stream.send(row("01:00:00", 3))
    (drop,) = stream.send(row("00:59:59.999", 4))

    assert values_of([pane], *out.columns[:2], "end", "fresh", "index", "dropped") == [
        ["x", 1, 3, 1.5, [1, 2], None]
    ]
    assert drop["dropped"] == {
        "stage": "beamlike",
        "reason": "expired",
        "timestamp": "2020-01-01T00:59:59.999Z",
        "watermark": "2020-01-01T01:00:00.000Z",
        "missed_ms": 1,
        "window": {"start": "2020-01-01T00:00:00.000Z", "end": "2020-01-01T01:00:00.000Z"},
        "nearest_session": None,
        "count": 1,
        "error": None,
        # The sum needs t0 as a bigint, the mean as a double, the list as it is.
        "element": '{"a.b":"x","start":1,"t0":4,"t0 as double":4.0,"t0 as int":4}',
    }


def test_a_result_may_bear_the_name_of_its_column(spark: Any) -> None:
    panes = bl.windowed(
        spark.sql("select 'a' k, timestamp '2020-01-01 00:30:00Z' at, 3 v"),
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"v": bl.sum("v"), "at": bl.max("at")},
    )

    assert values_of(shown(panes), "k", "v", "at") == [["a", 3, "2020-01-01T00:30:00.000Z"]]


def test_the_event_time_may_be_the_key(spark: Any) -> None:
    frame = spark.sql("select explode(array('00:30:00Z', '00:00:00Z')) time").selectExpr(
        "cast(concat('2020-01-01 ', time) as timestamp) at"
    )

    panes = bl.windowed(
        frame,
        key="at",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
    )

    assert sorted(values_of(shown(panes), "at", "n")) == [
        ["2020-01-01T00:00:00.000Z", 1],
        ["2020-01-01T00:30:00.000Z", 1],
    ]


def test_columns_that_no_one_asked_for_may_be_called_the_same(spark: Any) -> None:
    panes = bl.windowed(
        spark.sql("select 'a' k, timestamp '2020-01-01' at, 1 other, 2 other"),
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
    )

    assert values_of(shown(panes), "k", "n") == [["a", 1]]


@pytest.fixture
def exact_case(spark: Any) -> Iterator[None]:
    spark.conf.set("spark.sql.caseSensitive", "true")
    yield
    spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.usefixtures("exact_case")
def test_where_case_matters_names_may_differ_by_it(spark: Any) -> None:
    panes = bl.windowed(
        spark.sql("select 'a' k, 'b' K, timestamp '2020-01-01' at"),
        key=["k", "K"],
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count(), "N": bl.count("K"), "Window": bl.collect("k")},
    )

    assert values_of(shown(panes), "k", "K", "n", "N", "Window") == [["a", "b", 1, 1, ["a"]]]


def test_times_are_the_same_instants_in_any_session_time_zone(spark: Any) -> None:
    texts = spark.createDataFrame([("a", "2020-01-01 00:30:00")], ["k", "at"])
    with session_zone(spark, "America/New_York"):
        panes = bl.windowed(
            texts,
            key="k",
            timestamp="at",
            window=bl.FixedWindows("1 hour"),
            aggregate={"last": bl.max("at")},
        ).selectExpr("window.start = timestamp '2020-01-01T05:00:00Z' same", "last")
        assert shown(panes) == [{"same": True, "last": "2020-01-01 00:30:00"}]

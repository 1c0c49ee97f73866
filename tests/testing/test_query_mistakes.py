"""What a test of a query says to its author, when something cannot be."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import BeamlikeError, ColumnError, TestStreamError, UnsupportedError
from beamlike.testing import QueryTest, exist, in_on_time_pane
from tests.support.refusals import refusal

EVENTS = "user string, at timestamp, v int"


def hours(events: Any, **more: Any) -> Any:
    asked: dict[str, Any] = {
        "key": "user",
        "timestamp": "at",
        "watermark": "10 minutes",
        "window": bl.FixedWindows("1 hour"),
        "aggregate": {"n": bl.count()},
    }
    return bl.windowed(events, **(asked | more))


def both(left: Any, right: Any) -> Any:
    sides = [bl.stream(it, timestamp="at", watermark="1 minute") for it in (left, right)]
    windows = [side.window(bl.FixedWindows("1 hour")) for side in sides]
    return bl.flatten(windows).group("user", {"n": bl.count()})


def two() -> QueryTest:
    return QueryTest(both, {"left": EVENTS, "right": EVENTS})


def moved() -> QueryTest:
    query = QueryTest(hours, EVENTS)
    query.advance_watermark_to("12:00:00")
    return query


def ended() -> QueryTest:
    query = QueryTest(hours, EVENTS)
    query.advance_watermark_to_infinity()
    return query


def by_rows() -> QueryTest:
    query = QueryTest(hours, EVENTS)
    query.send({"user": "ann", "at": "12:00:00"})
    return query


@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (
            lambda: QueryTest(hours, EVENTS).send({"usr": "ann"}),
            "input has no column 'usr'; its columns are 'user', 'at', 'v', and the row is "
            "{'usr': 'ann'}",
        ),
        (
            lambda: QueryTest(hours, EVENTS).send({"user": 1}),
            "column 'user' of input is string, and 1 is no such value",
        ),
        (
            lambda: two().send({"v": True}, to="right"),
            "column 'v' of right is int32, and True is no such value",
        ),
        (
            lambda: QueryTest(hours, EVENTS).send({"v": 1}, {"at": "noon"}),
            "column 'at' of input is timestamp[us, tz=UTC], and 'noon' is no such value",
        ),
        (
            lambda: QueryTest(hours, EVENTS).send([{"user": "ann"}]),  # type: ignore[arg-type]
            'a row is a mapping of columns to values, such as {"user": "ann"}, got '
            "[{'user': 'ann'}]",
        ),
        (
            lambda: QueryTest(hours, EVENTS).send(),
            'no rows to send; write send({"user": "ann", ...})',
        ),
        (
            lambda: two().send({"user": "ann"}),
            "say which input is meant; the inputs are 'left', 'right'",
        ),
        (
            lambda: two().advance_watermark_to("12:00:00", of="lft"),
            "there is no input 'lft'; the inputs are 'left', 'right'",
        ),
        (
            lambda: moved().advance_watermark_to("11:00:00"),
            "the watermark cannot go back: it stands at 12:00:00 (43200000 ms), requested 11:00:00 "
            "(39600000 ms)",
        ),
        (
            lambda: by_rows().advance_watermark_to("11:00:00"),
            "the watermark cannot go back: it stands at 11:50:00 (42600000 ms), requested 11:00:00 "
            "(39600000 ms)",
        ),
        (
            lambda: QueryTest(hours, EVENTS).advance_processing_time(0),
            "advance_processing_time must move the clock by more than 0 ms, got 0",
        ),
        (
            lambda: QueryTest(hours, EVENTS, clock="12:00:00").advance_watermark_to("11:50:01"),
            "no row of 'input' moves the watermark to 11:50:01: it trails the rows by 10m, and no "
            "row counts as later than the clock, which stands at 12:00:00; write "
            "advance_processing_time(...) before, or begin with a later clock=",
        ),
        (
            lambda: ended().send({"user": "ann"}),
            "the query takes nothing any more: it was brought to its end by "
            "advance_watermark_to_infinity()",
        ),
        (
            lambda: ended().restart(),
            "the query cannot start again: it was brought to its end by "
            "advance_watermark_to_infinity()",
        ),
        (
            lambda: QueryTest(hours, {}),
            'inputs must have the columns of at least one frame, such as "user string, at '
            'timestamp", or {"orders": "...", "payments": "..."}',
        ),
        (
            lambda: QueryTest(hours, ["user string"]),
            'input: columns are given as "user string, at timestamp" or as a StructType of '
            "pyspark, got ['user string']",
        ),
        (
            lambda: QueryTest(lambda events: None, EVENTS),
            "the function of a query returns a DataFrame, such as that of bl.windowed, or a "
            "Stream, got None",
        ),
        (
            lambda: QueryTest(hours, EVENTS, host="memory"),  # type: ignore[arg-type]
            'host must be "local" or "spark", got \'memory\'',
        ),
    ],
)
def test_mistakes_in_a_test_are_named(mistake: Callable[[], Any], says: str) -> None:
    assert refusal(TestStreamError, mistake) == says


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (
            "user strng",
            "schema 'user strng' cannot be read at 'strng', where a type should be; write columns "
            'as "user string, at timestamp, amount bigint", or give a StructType of pyspark',
        ),
        ("user string, User int", "schema 'user string, User int' has two columns called 'user'"),
        (
            "user string, v array<int",
            "schema 'user string, v array<int' cannot be read at its end, where '>' should be; "
            'write columns as "user string, at timestamp, amount bigint", or give a StructType of '
            "pyspark",
        ),
        (
            "user string, v decimal(40, 2)",
            "schema 'user string, v decimal(40, 2)' cannot be read at '40, 2)', where a precision "
            "from 1 to 38 and a scale that is not above it should be; write columns as "
            '"user string, at timestamp, amount bigint", or give a StructType of pyspark',
        ),
        (
            "user string, long interval day to second",
            "input: a column of the type interval day to second cannot be sent; make it in the "
            "query's function of another one",
        ),
    ],
)
def test_columns_that_cannot_be_read_are_refused(columns: str, says: str) -> None:
    assert refusal(ColumnError, lambda: QueryTest(hours, columns)) == says


@pytest.fixture
def without_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """No session, whatever tests ran before in this process."""
    monkeypatch.setattr("beamlike.hosts.expressions.active_session", lambda: None)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (lambda events: hours(events[events.v > 1]), "DataFrame.v needs Spark"),
        (lambda events: hours(events.distinct()), "DataFrame.distinct needs Spark"),
        (
            lambda events: hours(events.sparkSession.createDataFrame([])),
            "SparkSession.createDataFrame needs Spark",
        ),
    ],
)
def test_what_only_spark_can_do_is_refused_by_name(job: Callable[..., Any], says: str) -> None:
    import pyspark.sql  # noqa: F401  # where it is, a frame knows what a DataFrame has besides

    message = f'{says}, and this test runs without it; test with host="spark"'
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}$"):
        QueryTest(job, EVENTS)


def of(events: Any) -> bl.Stream:
    return bl.stream(events, timestamp="at", watermark=0)


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (lambda events: hours(events.filter("v > 1")), "DataFrame.filter"),
        (lambda events: hours(events.withColumn("w", 1)), "DataFrame.withColumn"),
        (
            lambda events: of(events).where("v > 1"),
            "where('v > 1'), which is more than a column of booleans,",
        ),
        (lambda events: of(events).with_columns({"w": 1}), "with_columns"),
        (lambda events: of(events).select(1), "select of an expression of Spark"),
        (lambda events: of(events).explode(1, "w"), "explode of an expression"),
    ],
)
def test_an_expression_needs_a_session(job: Callable[..., Any], says: str, without_session: None):
    message = (
        f"{says} needs Spark, and this test runs without it; start a session before, such as "
        'bl.local_session(), or test with host="spark"'
    )
    with pytest.raises(UnsupportedError, match=f"^{re.escape(message)}$"):
        QueryTest(job, EVENTS)


@pytest.mark.spark
@pytest.mark.parametrize("host", ["local", "spark"])
def test_expressions_are_those_of_the_session(host: Any, spark: Any) -> None:
    from pyspark.sql import functions as F

    def job(events: Any) -> bl.Stream:
        known = events.filter("v is not null").withColumn("half", F.col("v") / 2)
        rows = bl.stream(known, timestamp="at", watermark="0 seconds", max_ahead=None)
        rows = rows.where(F.col("v") > 1).with_columns({"twice": F.col("v") * 2})
        rows = rows.select(
            "user", "half", (F.col("twice") + 1).alias("more"), F.array("v", "twice")
        )
        names = rows.columns
        hourly = rows.explode(F.col(f"`{names[-1]}`"), "item").window(bl.FixedWindows("1 hour"))
        totals = {"n": bl.count(), "half": bl.sum("half"), "more": bl.max("more")}
        return hourly.group("user", totals | {"items": bl.collect("item")}, shards=2, buckets=2)

    with QueryTest(job, EVENTS, host=host, spark=spark if host == "spark" else None) as query:
        query.send(
            {"user": "ann", "at": "12:00:00", "v": 1},
            {"user": "ann", "at": "12:01:00", "v": 2},
            {"user": "ann", "at": "12:02:00", "v": 3},
            {"user": "ann", "at": "12:03:00", "v": None},
        )
        (row,) = query.advance_watermark_to("13:00:00")
    assert {name: row[name] for name in ("user", "n", "half", "more")} == {
        "user": "ann",
        "n": 4,
        "half": 5.0,
        "more": 7,
    }
    assert sorted(row["items"]) == [2, 3, 4, 6]


def test_an_assertion_of_the_query_itself_is_raised_as_it_is() -> None:
    def careful(events: Any) -> Any:
        assert events.columns == ["user"]

    with pytest.raises(AssertionError, match="user"):
        QueryTest(careful, EVENTS)


def test_the_querys_own_mistakes_are_as_on_spark() -> None:
    with pytest.raises(ColumnError, match="key: there is no column 'usr'; the columns are 'user'"):
        QueryTest(lambda events: hours(events, key="usr"), EVENTS)
    with pytest.raises(BeamlikeError, match="watermark is missing"):
        QueryTest(lambda events: hours(events, watermark=None), EVENTS)
    with pytest.raises(ColumnError, match="aggregate 'n': sum needs a number, and column 'at'"):
        QueryTest(lambda events: hours(events, aggregate={"n": bl.sum("at")}), EVENTS)


def test_rows_without_their_pane_can_be_looked_at_only() -> None:
    query = QueryTest(lambda events: hours(events).select("user", "n"), EVENTS)
    query.send({"user": "ann", "at": "12:00:00"})
    assert query.advance_watermark_to("13:00:00") == query.rows == [{"user": "ann", "n": 1}]

    with pytest.raises(TestStreamError, match="have no column 'window'"):
        query.results.should(in_on_time_pane("12:00:00", "13:00:00", exist()))

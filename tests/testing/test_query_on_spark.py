"""The same stories of queries, in this process and as streaming queries: the same in each step."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import attrs
import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import InputRowError, TestStreamError
from beamlike.testing import (
    QueryTest,
    contain_value,
    dropped,
    early_pane,
    emit_exactly,
    in_on_time_pane,
    on_time_pane,
)

pytestmark = pytest.mark.spark

Row = dict[str, Any]
Steps = list[list[Row]]
HOUR = ("2020-01-01 12:00:00", "2020-01-01 13:00:00")


@attrs.frozen
class Story:
    """A query, its inputs, and what happens to it."""

    job: Callable[..., Any]
    inputs: str | Mapping[str, str]
    play: Callable[[QueryTest], Steps]
    clock: str = "2100-01-01"

    def on(self, host: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
        """The rows of each step, and what its results are made of, in a fixed order.

        Rows of one micro-batch come in no promised order. They are compared as texts, in which NaN
        is as good as any number.
        """
        with QueryTest(self.job, self.inputs, clock=self.clock, **host) as query:
            steps = [sorted(map(repr, rows)) for rows in self.play(query)]
            return steps, sorted(map(repr, query.results.run.outputs))


# -- one grouping: bad rows, keys, a clock, sessions that withdraw others, a restart ---------------


def readings(events: Any) -> Any:
    return bl.windowed(
        events,
        key=["sensor", "place"],
        timestamp="at",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("10 s"), late=bl.AfterCount(1)),
        accumulation="retracting",
        render="upserts",
        allowed_lateness="1 hour",
        aggregate={
            "n": bl.count(),
            "total": bl.sum("v"),
            "average": bl.mean("v"),
            "whole": bl.sum("i"),
            "exact": bl.sum("d"),
            "last": bl.last("note"),
        },
        carry=["note"],
        output="all",
    )


READINGS = (
    "sensor double, place string, at string, v string, i int, d decimal(10,2), "
    "note struct<text: string, tags: array<string>, more: map<string,double>>"
)


def reading(sensor: float | None, at: str | None, v: str = "1.5", **more: Any) -> Row:
    place = more.pop("place", "attic")
    return {"sensor": sensor, "place": place, "at": at and f"2020-01-01 {at}", "v": v, **more}


def read(query: QueryTest) -> Steps:
    note = {"text": 'a "b" é', "tags": ["x", None], "more": [("k", 1e10), ("l", 2.5e-5)]}
    nan = float("nan")
    return [
        query.send(
            reading(0.0, "12:00:00", i=1, d=1, note=note),
            reading(-0.0, "12:05:00Z", "2", i=2),
            reading(nan, "12:00", " 3e0 ", d=2),
            reading(nan, "14:06:00.123456+02:00", "4d"),
            reading(None, "12:00:00", note=note),
            reading(1.0, None, note=note),
            reading(1.0, "noon"),
            reading(1.0, "25:00:00"),
            reading(1.0, "12:00:00", "five", note=note, i=7),
            reading(1e10, "12:00:00", "six", place=None),
            reading(2.0, "13:30:01"),
        ),
        query.advance_processing_time("11 seconds"),
        query.send(reading(0.0, "12:14:59", "Infinity")),
        query.restart(),
        query.advance_processing_time("11 seconds"),
        query.advance_watermark_to("2020-01-01 12:20:00"),
        query.send(reading(nan, "12:10:00")),
        query.send(reading(2.0, "11:00:00", i=5, note=note)),
        query.advance_watermark_to_infinity(),
    ]


# -- several groupings, a silent source, the fanout ------------------------------------------------


def visits(events: Any) -> Any:
    said = bl.stream(
        events, timestamp="at", watermark="1 minute", idle_after="5 minutes", idle="advance"
    )
    sessions = said.where("good").window(
        bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("10 s")),
        accumulation="discarding",
        allowed_lateness=0,
    )
    of_users = sessions.group("user", {"hits": bl.count(), "pages": bl.collect("page")})
    pages = of_users.explode("pages", "page").select("page", "hits")
    by_hour = pages.window(bl.FixedWindows("1 hour"), trigger=bl.DefaultTrigger())
    return by_hour.group("page", {"hits": bl.sum("hits"), "n": bl.count()}, hot_key_fanout=2)


def visit(user: str, at: str, page: str, good: bool = True) -> Row:
    return {"user": user, "at": f"2020-01-01 {at}", "page": page, "good": good}


def visited(query: QueryTest) -> Steps:
    return [
        query.send(visit("ann", "12:00:00", "home"), visit("bob", "12:01:00", "shop")),
        query.advance_processing_time("11 seconds"),
        query.send(visit("ann", "12:30:00", "shop"), visit("ann", "12:45:00", "x", good=False)),
        query.send(visit("bob", "12:02:00", "home")),
        query.advance_processing_time("30 minutes"),
        query.advance_processing_time("30 minutes"),
        query.restart(),
        query.advance_watermark_to("2020-01-01 13:30:00"),
        query.send(visit("eve", "13:50:00", "home")),
        query.advance_watermark_to_infinity(),
    ]


# -- two inputs: a join, and a look-up -------------------------------------------------------------


def shop(orders: Any, payments: Any) -> Any:
    sessions = bl.Sessions("10 minutes")
    ordered = bl.stream(orders, timestamp="ordered", watermark="1 minute")
    paid = bl.stream(payments, timestamp="paid", watermark="1 minute")
    by_hour = bl.FixedWindows("1 hour")
    at_once = {"trigger": bl.Repeatedly(bl.AfterCount(1)), "accumulation": "discarding"}
    prices = bl.stream(payments, timestamp="paid", watermark="1 minute").select("no", "amount")
    known = bl.look_up(
        ordered.window(by_hour),
        prices.window(by_hour, **at_once, allowed_lateness=0),
        on="no",
        name="prices",
    ).select("no", "item", "amount", "pane", "window", "timestamp")
    joined = bl.join(ordered.window(sessions), paid.window(sessions), on="no", how="full")
    both = joined.select("no", "item", "amount", "pane", "window", "timestamp")
    return bl.flatten([known.window(by_hour), both.window(by_hour)]).group(
        ["no", "item"], {"paid": bl.sum("amount"), "n": bl.count()}, name="all"
    )


SHOP = {
    "orders": "no string, ordered timestamp, item string",
    "payments": "no string, paid timestamp, amount bigint",
}


def shopped(query: QueryTest) -> Steps:
    def order(no: str, at: str, item: str) -> Row:
        return {"no": no, "ordered": f"2020-01-01 {at}", "item": item}

    def payment(no: str, at: str, amount: int) -> Row:
        return {"no": no, "paid": f"2020-01-01 {at}", "amount": amount}

    return [
        query.send(order("o1", "12:00:00", "tea"), order("o2", "12:01:00", "cake"), to="orders"),
        query.send(payment("o1", "12:04:00", 3), payment("o3", "12:04:00", 4), to="payments"),
        query.advance_watermark_to("2020-01-01 12:30:00", of="orders"),
        query.advance_watermark_to("2020-01-01 13:30:00", of="payments"),
        query.advance_watermark_to("2020-01-01 13:30:00", of="orders"),
        query.send(order("o1", "12:02:00", "late"), to="orders"),
        query.advance_watermark_to_infinity(),
    ]


# -- the clock in hand: rows from the future -------------------------------------------------------


def careful(events: Any) -> Any:
    return bl.windowed(
        events,
        key="user",
        timestamp="at",
        watermark="10 minutes",
        max_ahead="30 minutes",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
        output="all",
    ).select("user", "n", "window", "pane", "timestamp", "dropped")


def ahead(query: QueryTest) -> Steps:
    def hit(at: str) -> Row:
        return {"user": "ann", "at": f"2020-01-01 {at}"}

    return [
        query.send(hit("12:10:00"), hit("12:45:00"), hit("12:45:01")),
        query.send(hit("12:01:00")),
        query.advance_processing_time("30 minutes"),
        query.send(hit("13:10:00"), hit("12:02:00")),
        query.advance_processing_time("1 hour"),
        query.send(hit("13:11:00")),
    ]


NUMBERS = "k string, at timestamp, v int"
ANY_TIME = {
    "fixed": bl.WindowingStrategy(
        bl.FixedWindows("3 minutes"),
        bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(2)),
        "accumulating",
        "4 minutes",
        "earliest",
    ),
    "sliding": bl.WindowingStrategy(
        bl.SlidingWindows("4 minutes", "2 minutes"), bl.DefaultTrigger(), "discarding", "1 minute"
    ),
    "sessions": bl.WindowingStrategy(
        bl.Sessions("90 seconds"),
        bl.Repeatedly(bl.AfterFirst(bl.AfterCount(3), bl.AfterWatermark())),
        "accumulating",
        "5 minutes",
        "latest",
        "fire_always",
    ),
    "retracting": bl.WindowingStrategy(
        bl.Sessions("1 minute"),
        bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        "retracting",
        "3 minutes",
        on_time_behavior="fire_if_non_empty",
    ),
    "global": bl.WindowingStrategy(
        bl.GlobalWindows(), bl.Repeatedly(bl.AfterCount(4)), "discarding", 0, "earliest"
    ),
}


def out_of_order(pace: int) -> Callable[[QueryTest], Steps]:
    """Ten micro-batches of numbers of a few keys, whose times wander at this pace."""

    def play(query: QueryTest) -> Steps:
        dice, clock, value, steps = Random(3), 1_577_880_000_000, 0, []
        for _ in range(10):
            clock += pace * dice.choice([0, 40_000, 70_000, 200_000])
            rows = []
            for _ in range(dice.randint(1, 14)):
                value += 1
                at = clock + pace * dice.choice([0, 1, -1, -20_000, -60_000, -180_000, -500_000])
                row = {"k": dice.choice("abcdefgh"), "at": at + dice.randrange(3), "v": value}
                rows.append(row)
            steps.append(query.send(*rows))
        return steps

    return play


def collected(strategy: bl.WindowingStrategy) -> Callable[[Any], Any]:
    return lambda numbers: bl.windowed(
        numbers,
        key="k",
        timestamp="at",
        watermark="30 seconds",
        strategy=strategy,
        aggregate={"n": bl.count(), "all": bl.collect("v")},
        shards=2,
        buckets=2,
    )


def counted_twice(strategy: bl.WindowingStrategy) -> Callable[[Any], Any]:
    """Sessions are counted again by the hour, other windows as they are."""

    def job(numbers: Any) -> Any:
        rows = bl.stream(numbers, timestamp="at", watermark="30 seconds").window(strategy=strategy)
        by_key = rows.group("k", {"n": bl.count()}, shards=2, buckets=2)
        again = by_key.window(bl.FixedWindows("1 hour") if strategy.is_merging else None)
        return again.group([], {"n": bl.sum("n"), "all": bl.top("n", 99)}, shards=2, buckets=2)

    return job


TWO_GROUPINGS = {
    "early and late": bl.WindowingStrategy(
        bl.FixedWindows("10 minutes"),
        bl.AfterWatermark(early=bl.AfterCount(3), late=bl.AfterCount(2)),
        "discarding",
        "20 minutes",
        "earliest",
    ),
    "by twos": bl.WindowingStrategy(
        bl.SlidingWindows("10 minutes", "5 minutes"),
        bl.Repeatedly(bl.AfterCount(2)),
        "discarding",
        "20 minutes",
    ),
    "late sessions": bl.WindowingStrategy(
        bl.Sessions("4 minutes"), None, "discarding", "5 minutes", "latest"
    ),
    "whole sessions": bl.WindowingStrategy(
        bl.Sessions("4 minutes"), None, "accumulating", 0, "latest"
    ),
}


STORIES = {
    "one grouping": Story(readings, READINGS, read, clock="2020-01-01 12:30:00"),
    "several groupings": Story(
        visits, "user string, at timestamp, page string, good boolean", visited
    ),
    "two inputs": Story(shop, SHOP, shopped),
    "a clock": Story(careful, "user string, at timestamp", ahead, clock="2020-01-01 12:15:00"),
    **{
        name: Story(collected(strategy), NUMBERS, out_of_order(1))
        for name, strategy in ANY_TIME.items()
    },
    **{
        name: Story(counted_twice(strategy), NUMBERS, out_of_order(5))
        for name, strategy in TWO_GROUPINGS.items()
    },
}


LONG = ("several groupings", "two inputs", "a clock", *ANY_TIME, *TWO_GROUPINGS)
"""Queries with many groupings, and what other stories have too: at night."""


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", [pytest.param(it, marks=[pytest.mark.nightly] if it in LONG else []) for it in STORIES]
)
def test_the_rows_of_each_step_are_the_same_with_and_without_spark(name: str, utc_session: Any):
    here, results = STORIES[name].on({"host": "local"})
    # Without Spark a text without a zone is in UTC; Spark reads it in the zone of the session.
    there, others = STORIES[name].on({"host": "spark", "spark": utc_session})

    assert there == here
    assert others == results
    assert sum(map(len, here)) >= 2


def test_time_comes_from_the_test_however_the_query_is_made_of_its_inputs(spark: Any) -> None:
    """By SQL over a view, by a join that begins with another frame, and beside another query."""
    names = spark.createDataFrame([("a", "ann"), ("b", "bob")], "id string, name string")

    def by_view(events: Any) -> Any:
        events.createOrReplaceTempView("events_of_a_test")
        return counted(spark.sql("SELECT *, upper(id) AS name FROM events_of_a_test"))

    def by_join(events: Any) -> Any:
        return counted(names.join(events, "id"))

    def counted(rows: Any) -> Any:
        return bl.windowed(
            rows,
            key="name",
            timestamp="at",
            watermark="10 minutes",
            max_ahead="1 hour",
            window=bl.FixedWindows("1 hour"),
            trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("10 s")),
            accumulation="discarding",
            allowed_lateness=0,
            aggregate={"n": bl.count()},
        )

    options = {"host": "spark", "spark": spark, "clock": "1970-01-01 12:30:00"}
    columns = "id string, at timestamp"
    with QueryTest(by_view, columns, **options) as viewed:
        with QueryTest(by_join, columns, **options) as joined:
            for query in (viewed, joined):
                query.send({"id": "a", "at": "12:10:00"}, {"id": "a", "at": "13:30:01"})
                query.advance_processing_time("11 s")
            joined.advance_processing_time("30 min")
            joined.advance_watermark_to("12:40:00")
        viewed.send({"id": "a", "at": "12:15:00"})
        viewed.advance_watermark_to_infinity()

    hour = ("12:00:00", "13:00:00")
    far = {"at": "1970-01-01T13:30:01.000000Z"}
    joined.results.should(
        emit_exactly(
            early_pane("ann", {"n": 1}, *hour, is_last=False),
            dropped("ann", far, at="13:30:01", reason="far_future"),
        )
    )
    viewed.results.should(
        emit_exactly(
            early_pane("A", {"n": 1}, *hour, is_last=False),
            dropped("A", far, at="13:30:01", reason="far_future"),
            on_time_pane("A", {"n": 1}, *hour, index=1, is_last=True),
        )
    )


def test_expressions_of_spark_are_tested_on_spark(spark: Any) -> None:
    def dear(events: Any) -> Any:
        dear = events.filter(F.col("price") > 10).withColumn("what", F.upper("item"))
        return bl.windowed(
            dear,
            key="what",
            timestamp="at",
            watermark="10 minutes",
            window=bl.FixedWindows("1 hour"),
            aggregate={"n": bl.count()},
            on_error="fail",
        )

    columns = "item string, price double, at timestamp"
    with QueryTest(dear, columns, host="spark", spark=spark) as query:
        row = {"item": "tea", "price": 11, "at": HOUR[0]}
        query.send(row, row | {"price": 9}, row | {"item": "cake"})
        with pytest.raises(InputRowError, match="null_key"):
            query.send(row, row | {"item": None})
        with pytest.raises(TestStreamError, match="it stopped with an error"):
            query.send(row)
        query.restart(lambda events: dear(events.filter("item is not null")))
        query.advance_watermark_to(HOUR[1])

    query.results.should(
        emit_exactly(
            on_time_pane("TEA", {"n": 2}, *HOUR, is_last=True),
            on_time_pane("CAKE", {"n": 1}, *HOUR, is_last=True),
        )
    )
    query.results.should(in_on_time_pane(*HOUR, contain_value(("TEA", {"n": 2}))))

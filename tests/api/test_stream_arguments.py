"""What the verbs of a stream take: columns, names and keys, and what is refused."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import ColumnError, UnwiseStrategyWarning, WindowingError
from tests.support.queries.rows import SMALL, MakeFeed
from tests.support.queries.shown import lines, shown
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark

TEN = bl.FixedWindows("10 minutes")

HOUR = bl.FixedWindows("1 hour")


DROPPED = 'dropped by beamlike, bad_timestamp: {"user":"cat","at":"soon","item":"mug"} | count 1'


def per_user(rows: bl.Stream) -> bl.Stream:
    return rows.group("user", {"items": bl.collect("item")}, **SMALL)


# -- columns ---------------------------------------------------------------------------------


def test_a_star_stands_for_the_columns_of_the_stream(orders: bl.Stream):
    for star in ("*", F.col("*"), F.expr("*")):
        more = orders.select(star, F.upper("item").alias("upper"))
        assert more.columns == ["user", "at", "item", "tags", "upper"]
    assert orders.select(["user", "item"]).columns == ["user", "item"]  # type: ignore[arg-type]
    counted = orders.select("*").group("user", {"n": bl.count("item")}, **SMALL)
    assert lines(shown(counted.everything)) == [
        "ann 2 | 00:00-00:10 ON_TIME 0 last",
        "bob 2 | 00:00-00:10 ON_TIME 0 last",
        DROPPED,
    ]


def test_rows_of_arrays_are_counted_and_what_was_dropped_before_is_still_reported(
    orders: bl.Stream,
) -> None:
    by_user = per_user(orders)
    for column in ("items", F.col("items"), F.transform("items", lambda item: item)):
        exploded = by_user.select("user", "items").explode(column, "item")
        assert exploded.columns == ["user", "items", "item"]
        again = exploded.window(HOUR).group([], {"n": bl.count("item")}, **SMALL)
        assert lines(shown(again.everything)) == ["4 | 00:00-01:00 ON_TIME 0 last", DROPPED]


def test_a_row_with_an_empty_array_or_none_is_left_out_and_an_item_may_be_null(orders: bl.Stream):
    found = orders.explode("tags", "tags").select("item", "tags").rows
    rows = sorted((row["item"], str(row["tags"])) for row in shown(found))
    # The row whose time cannot be read is one of the data until a grouping judges it.
    assert rows == [
        ("book", "new"),
        ("book", "red"),
        ("cup", "None"),
        ("cup", "red"),
        ("mug", "red"),
    ]


@pytest.mark.nightly
def test_what_is_exploded_keeps_the_watermark_going_for_the_groupings_that_follow(feed: MakeFeed):
    texts = feed("at timestamp, words array<string>")
    rows = bl.stream(texts.frame, timestamp="at", watermark="0 s").window(TEN)
    by_word = rows.explode("words", "word").group("word", {"n": bl.count()}, **SMALL)
    twice = by_word.explode(F.array("word", F.upper("word")), "form").window(HOUR)
    texts.start(twice.group("form", {"n": bl.sum("n")}, **SMALL).everything)
    assert texts.send({"at": "2020-01-01T00:01:00Z", "words": ["a", "b", "a"]}) == []
    # A row without words, which has no panes at all, but a time.
    assert lines(texts.send({"at": "2020-01-01T02:00:00Z", "words": []})) == [
        "A 2 | 00:00-01:00 ON_TIME 0 last",
        "B 1 | 00:00-01:00 ON_TIME 0 last",
        "a 2 | 00:00-01:00 ON_TIME 0 last",
        "b 1 | 00:00-01:00 ON_TIME 0 last",
    ]


GENERATORS = [
    "explode(tags)",
    "EXPLODE_OUTER(tags)",
    "posexplode(tags) as (at, tag)",
    "inline(array(struct(item)))",
    "stack(2, item, user)",
]


@pytest.mark.parametrize("text", GENERATORS)
@pytest.mark.parametrize("verb", ["select", "with_columns", "explode"])
def test_rows_of_a_row_are_made_by_explode_alone(orders: bl.Stream, verb: str, text: str) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "select": lambda: orders.select("user", F.expr(text)),
        "with_columns": lambda: orders.with_columns({"tag": F.expr(text)}),
        "explode": lambda: orders.explode(F.expr(text), "tag"),
    }
    assert refusal(ColumnError, calls[verb]) == (
        f"{text} makes several rows of one, or none; write stream.explode(array, name) with an "
        "array of what it makes, which also keeps the watermark going"
    )


def test_functions_of_generators_are_recognised_and_their_names_in_texts_are_not(orders: bl.Stream):
    functions = (
        F.explode("tags"),
        F.explode("tags").alias("tag"),
        F.posexplode_outer("tags"),
        F.expr("/* of a row */ explode(tags)"),
        F.expr("`explode`(tags)"),
        F.upper(F.explode("tags")),
    )
    for made in functions:
        with pytest.raises(ColumnError, match="makes several rows of one"):
            orders.select(made)
    harmless = [
        F.lit("explode(").alias("a"),
        F.concat(F.lit(" (*) "), "item").alias("b"),
        (F.size("tags") * 2).alias("c"),
        F.expr("size(tags) -- (*)").alias("d"),
        F.expr("struct(item, '(*, ').col2").alias("e"),
        F.rand().alias("f"),
    ]
    assert orders.select(*harmless).columns == ["a", "b", "c", "d", "e", "f"]
    assert orders.select(F.lit(1).alias("a"), F.col("*")).columns == ["a", *orders.columns]


def test_a_star_among_other_things_is_refused(orders: bl.Stream) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: orders.select(F.to_json(F.struct("*"))),
        lambda: orders.with_columns({"hash": F.hash("*", "user")}),
        lambda: orders.with_columns({"all": F.col("*")}),
        lambda: orders.where(F.hash("user", "*") > 0),
        lambda: orders.with_columns({"all": F.expr("concat_ws(',', user, /* all */ *)")}),
        lambda: orders.with_columns({"all": F.expr("to_json(struct(/* all */ *))").alias("row")}),
        lambda: orders.with_columns({"more": F.expr("struct(item AS `a(`, * ) AS `row`")}),
    ]
    for call in calls:
        with pytest.raises(ColumnError, match="a star among other things would take a hidden"):
            call()
    assert orders.select(F.struct(*orders.columns).alias("row")).columns == ["row"]


def test_columns_that_the_output_would_overwrite_are_refused(orders: bl.Stream) -> None:
    def text(argument: str, name: str) -> str:
        return f"{argument}: the name {name!r} is needed here; give that column another one"

    source = orders.select("user", "at").rows.withColumn("Dropped", F.lit(1))
    refusals: list[tuple[Callable[[], Any], str]] = [
        (lambda: bl.stream(source, timestamp="at"), text("df", "Dropped")),
        (lambda: orders.select(F.col("item").alias("dropped")), text("select", "dropped")),
        (lambda: orders.select(F.lit(1).alias("__beamlike")), text("select", "__beamlike")),
        (lambda: orders.with_columns({"dropped": F.lit(1)}), text("with_columns", "dropped")),
        (lambda: orders.with_columns({"__beamlike": F.lit(1)}), text("with_columns", "__beamlike")),
        (lambda: orders.explode("tags", "dropped"), text("as_", "dropped")),
    ]
    for call, expected in refusals:
        assert refusal(ColumnError, call) == expected


def test_what_is_no_array_is_not_exploded(orders: bl.Stream) -> None:
    assert refusal(ColumnError, lambda: orders.explode("item", "letter")) == (
        "column: item is string and no array; make one of it, for example with F.split of a text "
        "or F.map_entries of a map"
    )


def test_more_columns_are_given_by_name(orders: bl.Stream) -> None:
    assert refusal(ColumnError, lambda: orders.with_columns("item")) == (
        "columns must map names to columns, such as {\"n\": F.lit(1)}, got 'item'"
    )


# -- sources ---------------------------------------------------------------------------------


def test_a_clock_that_never_takes_over_is_refused(orders: bl.Stream) -> None:
    assert refusal(
        WindowingError, lambda: bl.stream(orders.rows, timestamp="at", idle="advance")
    ) == (
        'idle="advance" says what happens after idle_after, which is missing; add '
        'idle_after="5 minutes", or as long as no row may mean nothing'
    )


def growing(spark: Any, value: str) -> bl.Stream:
    """A stream whose state grows for ever, which is worth a warning."""
    ticks = spark.readStream.format("rate").load().withColumnsRenamed({"value": value})
    return bl.stream(ticks, timestamp="timestamp", watermark="0 s").window(
        bl.GlobalWindows(), trigger=bl.Repeatedly(bl.AfterCount(9)), accumulation="accumulating"
    )


@pytest.mark.parametrize("verb", ["group", "co_group", "join", "look_up"])
def test_a_warning_points_to_the_line_of_the_user(spark: Any, verb: str) -> None:
    left = growing(spark, "a").with_columns({"k": F.lit(1)})
    right = growing(spark, "b").with_columns({"k": F.lit(1)})
    calls: dict[str, Callable[[], Any]] = {
        "group": lambda: left.group("k", {"n": bl.count()}),
        "co_group": lambda: bl.co_group({"left": left, "right": right}, "k"),
        "join": lambda: bl.join(left, right, "k"),
        "look_up": lambda: bl.look_up(left, right, "k"),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UnwiseStrategyWarning)
        calls[verb]()

    places = {each.filename for each in caught if each.category is UnwiseStrategyWarning}
    assert places == {__file__}


def test_sessions_are_no_reason_to_warn(spark: Any) -> None:
    rows = growing(spark, "a").window(bl.Sessions("10 minutes"), trigger=bl.DefaultTrigger())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnwiseStrategyWarning)
        rows.group("a", {"n": bl.count()})

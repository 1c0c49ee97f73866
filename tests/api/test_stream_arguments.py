"""What the verbs of a stream take: columns, streams, names and keys, and what is refused."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import BeamlikeError, ColumnError, UnwiseStrategyWarning, WindowingError
from tests.support.queries.rows import SMALL, MakeFeed
from tests.support.queries.shown import lines, shown
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark


TEN = bl.FixedWindows("10 minutes")
HOUR = bl.FixedWindows("1 hour")


@pytest.fixture
def orders(spark: Any) -> bl.Stream:
    """One row has no readable time, so that a grouping drops it."""
    frame = spark.sql(
        """
        select * from values
            ('ann', '2020-01-01 00:01:00Z', 'book', array('new', 'red')),
            ('ann', '2020-01-01 00:02:00Z', 'ink', array()),
            ('bob', '2020-01-01 00:03:00Z', 'pen', null),
            ('bob', '2020-01-01 00:04:00Z', 'cup', array('red', null)),
            ('cat', 'soon', 'mug', array('red'))
            as (user, at, item, tags)
        """
    )
    return bl.stream(frame, timestamp="at").window(TEN)


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


# -- several streams -------------------------------------------------------------------------


@pytest.fixture
def pays(spark: Any) -> bl.Stream:
    frame = spark.sql(
        """
        select * from values
            ('ann', '2020-01-01 00:05:00Z', 5),
            ('bob', '2020-01-01 00:06:00Z', 7)
            as (payer, paid, euros)
        """
    )
    return bl.stream(frame, timestamp="paid").window(TEN)


ON = {"left": "user", "right": "payer"}
CALLS: dict[str, tuple[type[BeamlikeError], str, Callable[[bl.Stream, bl.Stream], Any]]] = {
    "a list to co_group": (
        WindowingError,
        'streams must map names to streams, such as {"orders": orders, "payments": payments}, got '
        "[Stream(user, at, item, tags; ",
        lambda orders, _: bl.co_group([orders], "user"),  # type: ignore[arg-type]
    ),
    "a stream to flatten": (
        WindowingError,
        "streams must be a list of streams, or map names to them, got Stream(user, at,",
        lambda orders, _: bl.flatten(orders),  # type: ignore[arg-type]
    ),
    "a number to flatten": (
        WindowingError,
        "streams must be a list of streams, or map names to them, got 5",
        lambda *_: bl.flatten(5),  # type: ignore[arg-type]
    ),
    "numbers as names": (
        WindowingError,
        "streams: a stream's name must be a text, got 1",
        lambda orders, _: bl.flatten({1: orders}),  # type: ignore[dict-item]
    ),
    "a name of nothing": (
        ColumnError,
        "on: 'rihgt' is the name of no stream; those are 'left', 'right'",
        lambda orders, pays: bl.join(orders, pays, {"left": "user", "rihgt": "payer"}),
    ),
    "a key that is no name": (
        ColumnError,
        "on must be a column's name or a list of names, got 5",
        lambda orders, pays: bl.join(orders, pays, 5),  # type: ignore[arg-type]
    ),
    "a key that is named twice": (
        ColumnError,
        "on: column 'user' is named twice; leave one out",
        lambda orders, pays: bl.join(
            orders, pays, {"left": ["user", "user"], "right": ["payer", "paid"]}
        ),
    ),
    "keys of two types": (
        ColumnError,
        "on: 'user' of the left stream is string and 'euros' of the right stream is int; cast one "
        "of them before",
        lambda orders, pays: bl.join(orders, pays, {"left": "user", "right": "euros"}),
    ),
    "keys of two types in co_group": (
        ColumnError,
        "key: 'user' of the orders stream is string and 'euros' of the pays stream is int; cast "
        "one of them before",
        lambda orders, pays: bl.co_group(
            {"orders": orders, "pays": pays}, {"orders": "user", "pays": "euros"}
        ),
    ),
    "the left key among the columns of the right": (
        ColumnError,
        "on: both sides have a column 'user'; give one of them another name with select() or "
        "with_columns() before the join",
        lambda orders, pays: bl.join(orders, renamed(pays, "euros", "user"), ON),
    ),
    "a name that Spark reads as another": (
        ColumnError,
        "on: both sides have a column 'Item'; give one of them another name with select() or "
        "with_columns() before the join",
        lambda orders, pays: bl.join(orders, renamed(pays, "euros", "Item"), ON),
    ),
    "the same in a look-up": (
        ColumnError,
        "on: both sides have a column 'USER'; give one of them another name with select() or "
        "with_columns() before the join",
        lambda orders, pays: bl.look_up(
            orders, renamed(pays, "euros", "USER"), {"main": "user", "side": "payer"}
        ),
    ),
    "a key called as a side is": (
        ColumnError,
        "on: the column 'Left' has the name of a side of the join; give it another name with "
        "select() before",
        lambda orders, pays: bl.join(
            renamed(orders, "user", "Left"), pays, {"left": "Left", "right": "payer"}
        ),
    ),
    "a stream called as the key is": (
        ColumnError,
        "streams: 'User' is a column of the result; name it otherwise",
        lambda orders, _: bl.co_group({"User": orders}, "user"),
    ),
    "two streams that Spark takes for one": (
        ColumnError,
        "streams: 'a' is a column of the result; name it otherwise",
        lambda orders, _: bl.co_group({"a": orders, "A": orders}, "user"),
    ),
    "windows that do not fit": (
        WindowingError,
        "Inputs to Flatten had incompatible window windowFns: left has FixedWindows(10m), right "
        "has FixedWindows(1h); they differ in size; give right the windows of left first: "
        "window(FixedWindows(10m)) of a stream, configured(FixedWindows(10m)) of a strategy",
        lambda orders, pays: bl.join(orders, pays.window(HOUR), ON),
    ),
    "a key that windows read as something else": (
        ColumnError,
        "window_input: 'user' is a key, which goes with 'payer' of right, and here with 'paid' of "
        "right; give it another name with with_columns() before",
        lambda orders, pays: bl.join(
            orders, pays, ON, window_input={"left": "user", "right": "paid"}
        ),
    ),
}


def renamed(rows: bl.Stream, name: str, other: str) -> bl.Stream:
    rest = [known for known in rows.columns if known != name]
    return rows.select(*rest, F.col(name).alias(other))


@pytest.mark.parametrize("case", list(CALLS))
def test_streams_that_cannot_be_put_together_are_refused_in_words(
    orders: bl.Stream, pays: bl.Stream, case: str
) -> None:
    kind, text, call = CALLS[case]
    with pytest.raises(kind) as wrong:
        call(orders, pays)

    assert type(wrong.value) is kind
    said = str(wrong.value)
    # A stream that is shown says more of itself than matters here.
    assert said.startswith(text) if "Stream(" in text else said == text


def test_columns_called_as_those_of_a_pane_are_left_out_however_they_are_written(
    orders: bl.Stream, pays: bl.Stream
) -> None:
    assert bl.join(renamed(orders, "tags", "Window"), pays, ON, **SMALL).columns == [
        *("user", "at", "item", "paid", "euros", "window", "timestamp", "pane")
    ]


def gap_of(page: str) -> str:
    return "10 minutes" if page == "slow" else "1 minute"


VISITS = [
    ("ann", "2020-01-01 00:00:00Z", "slow"),
    ("ann", "2020-01-01 00:20:00Z", "fast"),
    ("bob", "2020-01-01 00:00:00Z", "fast"),
]
CLICKS = [
    # Within ten minutes of a slow page, but not within one of a fast one.
    ("ann", "2020-01-01 00:09:00Z", "fast"),
    ("ann", "2020-01-01 00:20:30Z", "slow"),
    ("bob", "2020-01-01 00:02:00Z", "fast"),
]
JOINED = [
    "ann fast slow | 00:20-00:30:30 ON_TIME 0 last",
    "ann slow fast | 00:00-00:10 ON_TIME 0 last",
]


@pytest.mark.parametrize(
    "read", [{"left": "page", "right": "place"}, {"left": ["page"], "right": "place"}]
)
def test_sessions_with_gaps_of_their_own_are_joined(spark: Any, read: Any) -> None:
    visits = spark.createDataFrame(VISITS, "user string, at string, page string")
    clicks = spark.createDataFrame(CLICKS, "user string, at string, place string")
    left, right = (
        bl.stream(frame, timestamp="at").window(bl.Sessions(gap_of)) for frame in (visits, clicks)
    )
    joined = bl.join(
        left.select("user", "page"),
        right.select("user", "place"),
        "user",
        window_input=read,
        **SMALL,
    )
    assert joined.columns == ["user", "page", "place", "window", "timestamp", "pane"]
    assert lines(shown(joined.everything)) == JOINED


def test_windows_may_read_a_key_or_a_column_of_one_name(spark: Any):
    visits = spark.createDataFrame(VISITS, "user string, at string, page string")
    clicks = spark.createDataFrame(CLICKS, "user string, at string, page string")
    by_page = {
        name: bl.stream(frame, timestamp="at").window(bl.Sessions(gap_of)).select("user", "page")
        for name, frame in {"visits": visits, "clicks": clicks}.items()
    }
    assert lines(shown(bl.co_group(by_page, "user", window_input="page", **SMALL).everything)) == [
        "ann [fast] [slow] | 00:20-00:30:30 ON_TIME 0 last",
        "ann [slow] [fast] | 00:00-00:10 ON_TIME 0 last",
        "bob [] [fast] | 00:02-00:03 ON_TIME 0 last",
        "bob [fast] [] | 00:00-00:01 ON_TIME 0 last",
    ]
    assert lines(shown(bl.co_group(by_page, "page", window_input="page", **SMALL).everything)) == [
        "fast [] [ann] | 00:09-00:10 ON_TIME 0 last",
        "fast [] [bob] | 00:02-00:03 ON_TIME 0 last",
        "fast [ann] [] | 00:20-00:21 ON_TIME 0 last",
        "fast [bob] [] | 00:00-00:01 ON_TIME 0 last",
        "slow [] [ann] | 00:20:30-00:30:30 ON_TIME 0 last",
        "slow [ann] [] | 00:00-00:10 ON_TIME 0 last",
    ]

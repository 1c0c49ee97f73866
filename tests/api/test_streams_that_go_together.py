"""Streams that are joined, grouped together or flattened: columns, windows, what is refused."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import BeamlikeError, ColumnError, WindowingError
from tests.support.queries.rows import SMALL
from tests.support.queries.shown import lines, shown
from tests.support.refusals import exact_refusal

pytestmark = pytest.mark.spark

TEN = bl.FixedWindows("10 minutes")
HOUR = bl.FixedWindows("1 hour")
OFTEN: dict[str, Any] = {
    "trigger": bl.Repeatedly(bl.AfterCount(1)),
    "accumulation": "discarding",
    "allowed_lateness": 0,
}


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
    "a frame": (
        WindowingError,
        "right must be a Stream, made with bl.stream(df, timestamp=...), got DataFrame[",
        lambda orders, pays: bl.join(orders, pays.rows, ON),
    ),
    "no stream": (
        WindowingError,
        "at least one stream is needed, got none",
        lambda *_: bl.co_group({}, "user"),
    ),
    "a kind of join that there is not": (
        WindowingError,
        "how must be one of 'inner', 'left', 'right', 'full', got 'outer'",
        lambda orders, pays: bl.join(orders, pays, ON, "outer"),  # type: ignore[arg-type]
    ),
    **{
        f"rows of a join, which have no name, as {render}": (
            WindowingError,
            f"render={render!r} calls a row by its key and window, and a join has many rows for "
            "them; leave it out, or use co_group, which has one",
            partial(bl.join, on=ON, render=render),
        )
        for render in ("changelog", "upserts")
    },
    "a stream without its key": (
        ColumnError,
        "on: the stream 'right' is missing",
        lambda orders, pays: bl.join(orders, pays, {"left": "user"}),
    ),
    "a key that the other side does not have": (
        ColumnError,
        "on of 'right': there is no column 'user'; the columns are 'payer', 'paid', 'euros'",
        lambda orders, pays: bl.join(orders, pays, "user"),
    ),
    "keys of one and of two columns": (
        ColumnError,
        "on: 'left' has 1 column(s) and 'right' has 2; they must match one by one",
        lambda orders, pays: bl.join(orders, pays, {"left": "user", "right": ["payer", "euros"]}),
    ),
    "a side with nothing but its key": (
        ColumnError,
        "streams: 'right' has no column besides its key; add one, for example "
        'with_columns({"there": F.lit(True)})',
        lambda orders, pays: bl.join(orders, pays.select("payer"), ON),
    ),
    "a stream called as a column of the result": (
        ColumnError,
        "streams: 'pane' is a column of the result; name it otherwise",
        lambda orders, _: bl.co_group({"pane": orders}, "user"),
    ),
    "triggers that do not fit": (
        WindowingError,
        "Inputs to Flatten had incompatible triggers: left has DefaultTrigger(), right has "
        "Repeatedly(AfterCount(1)); give right the trigger of left first: "
        "window(trigger=DefaultTrigger()) of a stream, configured(trigger=DefaultTrigger()) of a "
        "strategy",
        lambda orders, pays: bl.join(orders, pays.window(TEN, **OFTEN), ON),
    ),
    "bounded rows and a stream": (
        WindowingError,
        "streaming and bounded rows cannot go together in one grouping, because Spark cannot "
        "union them; read the bounded ones as a stream, too",
        lambda orders, pays: bl.join(orders, live(pays), {"left": "user", "right": "value"}),
    ),
}


def renamed(rows: bl.Stream, name: str, other: str) -> bl.Stream:
    rest = [known for known in rows.columns if known != name]
    return rows.select(*rest, F.col(name).alias(other))


def live(rows: bl.Stream) -> bl.Stream:
    """A stream that has no end."""
    ticks = rows.rows.sparkSession.readStream.format("rate").load()
    return bl.stream(ticks, timestamp="timestamp", watermark="1 minute").select("value").window(TEN)


@pytest.mark.parametrize("case", list(CALLS))
def test_streams_that_cannot_be_put_together_are_refused_before_any_data_is_read(
    orders: bl.Stream, pays: bl.Stream, case: str
) -> None:
    kind, text, call = CALLS[case]
    unread = F.expr("raise_error('the data was read')")
    orders = orders.with_columns({"item": F.concat(unread, "item")})
    refused = exact_refusal(kind, call, orders, pays)
    # A stream or a frame that is shown says more of itself than matters here.
    assert refused.startswith(text) if text.endswith((" ", ",", "[")) else refused == text


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

"""Rows that cannot be grouped, and calls that cannot work: nothing is lost without a word.

A call is judged before any data is read: the frames of those tests fail when they are read.
"""

import json
from functools import partial
from typing import Any

import pytest
from pyspark.errors import PySparkException, StreamingQueryException

import beamlike as bl
from beamlike.errors import (
    BeamlikeError,
    ColumnError,
    EnvironmentProblem,
    TimeError,
    UnsupportedError,
    WindowingError,
)
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ONLY_PANE, MakeFeed, Row, counts_of
from tests.support.queries.shown import shown
from tests.support.refusals import refusal

pytestmark = pytest.mark.spark


SALES = "shop string, at string, price string"
GOOD = {"shop": "a", "at": "2020-01-01 00:00:01Z", "price": "1.5"}
BAD_ROWS: list[tuple[str, Row]] = [
    ("null_timestamp", {"shop": "a", "at": None, "price": "1"}),
    ("bad_timestamp", {"shop": "a", "at": "yesterday", "price": "1"}),
    ("bad_timestamp", {"shop": "a", "at": "", "price": "1"}),
    ("bad_timestamp", {"shop": "a", "at": "2020-02-30 00:00:00Z", "price": "1"}),
    ("null_key", {"shop": None, "at": "2020-01-01 00:00:02Z", "price": "1"}),
    ("bad_value", {"shop": "a", "at": "2020-01-01 00:00:03Z", "price": "abc"}),
    ("null_key", {"shop": None, "at": None, "price": "abc"}),
    # Spark would read these as today and as the first of January.
    ("bad_timestamp", {"shop": "a", "at": "12:30", "price": "1"}),
    ("bad_timestamp", {"shop": "a", "at": "2024", "price": "1"}),
]
TIME_OF = {
    "2020-01-01 00:00:02Z": "2020-01-01T00:00:02.000Z",
    "2020-01-01 00:00:03Z": "2020-01-01T00:00:03.000Z",
}
PANE = {
    "shop": "a",
    "window": {"start": "2020-01-01T00:00:00.000Z", "end": "2020-01-01T01:00:00.000Z"},
    "n": 2,
    "mean": 2.0,
    "timestamp": "2020-01-01T00:59:59.999Z",
    "pane": ONLY_PANE,
}


def refused(reason: str, row: Row, stage: str = "beamlike") -> Row:
    """The row of the output that tells of a row of the input."""
    reported = {
        "stage": stage,
        "reason": reason,
        "timestamp": TIME_OF.get(row["at"] or ""),
        "watermark": None,
        "missed_ms": None,
        "window": None,
        "nearest_session": None,
        "count": 1,
        "error": None,
        "element": json.dumps(row, separators=(",", ":")),
    }
    return dict.fromkeys(PANE) | {"shop": row["shop"], "dropped": reported}


def in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=repr)


by_shop = partial(hourly, key="shop", aggregate={"n": bl.count(), "mean": bl.mean("price")})


def sales(spark: Any, *rows: Row) -> Any:
    return spark.createDataFrame([tuple(row.values()) for row in rows], SALES).coalesce(1)


EXPECTED_DROPS = [refused(reason, row) for reason, row in BAD_ROWS]


def test_bad_rows_are_delivered_with_their_reason_and_good_rows_do_not_suffer(spark: Any) -> None:
    frame = sales(spark, GOOD, *(row for _, row in BAD_ROWS), GOOD | {"price": "2.5"})

    assert in_order(shown(by_shop(frame, output="all"))) == in_order(
        [PANE | {"dropped": None}, *EXPECTED_DROPS]
    )
    assert in_order(shown(by_shop(frame, output="dropped"))) == in_order(EXPECTED_DROPS)
    assert shown(by_shop(frame)) == [PANE]


def test_bad_rows_do_not_stop_a_stream_and_are_counted(feed: MakeFeed) -> None:
    stream = feed(SALES)
    stream.start(by_shop(stream.frame, output="all", watermark="0 s", name="sales per hour"))

    drops = [refused(reason, row, "sales per hour") for reason, row in BAD_ROWS]

    emitted = stream.send(GOOD, *(row for _, row in BAD_ROWS), GOOD | {"price": "2.5"})
    assert in_order(emitted) == in_order(drops)

    emitted = stream.send(GOOD | {"at": "2020-01-01 02:00:00Z"}, BAD_ROWS[0][1])
    assert in_order(emitted) == in_order([PANE | {"dropped": None}, drops[0]])

    # Only what is not 0 is left by the plus.
    assert +counts_of(stream, "sales per hour") == {
        "panes_on_time": 1,
        "dropped_bad_timestamp": 5,
        "dropped_null_timestamp": 2,
        "dropped_null_key": 2,
        "dropped_bad_value": 1,
    }


def test_a_batch_that_shall_fail_names_the_first_bad_row(spark: Any) -> None:
    frame = sales(spark, GOOD, BAD_ROWS[1][1], BAD_ROWS[5][1])

    with pytest.raises(PySparkException) as failed:
        by_shop(frame, on_error="fail").collect()

    assert (
        "beamlike.errors.InputRowError: 2 row(s) cannot be grouped; the first: bad_timestamp in "
        '{"shop":"a","at":"yesterday","price":"1"}. Repair the input, or use on_error="drop" to '
        "have such rows delivered as dropped"
    ) in str(failed.value)


def test_a_stream_that_shall_fail_stops_at_the_first_bad_row(feed: MakeFeed) -> None:
    stream = feed(SALES)
    stream.start(by_shop(stream.frame, on_error="fail", watermark="0 s"))
    assert stream.send(GOOD) == []

    with pytest.raises(StreamingQueryException) as failed:
        stream.send(BAD_ROWS[4][1])

    assert (
        "beamlike.errors.InputRowError: 1 row(s) cannot be grouped; the first: null_key in "
        '{"shop":null,"at":"2020-01-01 00:00:02Z","price":"1"}. Repair the input, or use '
        'on_error="drop" to have such rows delivered as dropped'
    ) in str(failed.value)
    assert not stream.query.isActive


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamp_ntz"])
def test_a_time_beyond_the_calendar_of_python_is_a_bad_row(spark: Any, kind: str):
    frame = spark.sql(
        f"""
        select 'a' shop, timestamp '2020-01-01 00:00:01Z' at, cast('2020-05-05' as {kind}) due
        union all select 'a', timestamp '2020-01-01 00:00:02Z', cast('+20205-05-05' as {kind})
        """
    )

    values = by_shop(frame, aggregate={"n": bl.count(), "due": bl.max("due")}, output="all")
    keys = by_shop(frame, key="due", aggregate={"n": bl.count()}, output="all")

    for out, reason in ((values, "bad_value"), (keys, "bad_key")):
        assert in_order(
            [(row["n"], row["dropped"] and row["dropped"]["reason"]) for row in shown(out)]
        ) == [(1, None), (None, reason)]


@pytest.mark.parametrize(
    "made", ["array(null, {})", "array(named_struct('d', {}))", "map('x', {})"]
)
def test_a_time_beyond_the_calendar_is_bad_inside_of_something_too(spark: Any, made: str) -> None:
    good, far = (made.format(f"date '{it}'") for it in ("2020-05-05", "+20205-05-05"))
    frame = spark.sql(
        f"""
        select 'a' shop, timestamp '2020-01-01 00:00:01Z' at, {good} due
        union all select 'a', timestamp '2020-01-01 00:00:02Z', {far}
        """
    )

    out = by_shop(frame, aggregate={"n": bl.count(), "due": bl.collect("due")}, output="all")

    assert in_order(
        [(row["n"], row["dropped"] and row["dropped"]["reason"]) for row in shown(out)]
    ) == [(1, None), (None, "bad_value")]


def test_a_sum_that_outgrows_its_type_says_which_one(spark: Any) -> None:
    frame = spark.sql(
        "select 'a' shop, '2020-01-01' at, explode(array(9223372036854775807, 1)) price"
    )

    with pytest.raises(PySparkException) as failed:
        by_shop(frame, aggregate={"total": bl.sum("price")}, on_error="fail").collect()

    words = str(failed.value)
    assert "OutgrownError: aggregate 'total' outgrew its type int64: it would be " in words
    assert '; on_error="drop" leaves out the rows that it cannot hold' in words
    assert "; or cast its input column to decimal(38, 0) or double before the call" in words


@pytest.fixture(scope="module")
def unread(spark: Any) -> Any:
    """A bounded frame that nobody can read."""
    return spark.sql(
        """
        select raise_error('the data was read') || 'a' shop, timestamp '2020-01-01' at,
               1 price, 1 window, date '2020-01-01' day, struct(1 one) parts, array(1) several,
               true open, 1 Twin, 2 twin, interval 1 month month
        """
    )


COLUMNS = (
    "'shop', 'at', 'price', 'window', 'day', 'parts', 'several', 'open', 'Twin', 'twin', 'month'"
)
WRONG_CALLS: list[tuple[dict[str, Any], type[BeamlikeError], str]] = [
    # columns
    ({"key": "town"}, ColumnError, f"key: there is no column 'town'; the columns are {COLUMNS}"),
    ({"key": "Shop"}, ColumnError, f"key: there is no column 'Shop'; the columns are {COLUMNS}"),
    (
        {"key": "parts.one"},
        ColumnError,
        f"key: there is no column 'parts.one'; the columns are {COLUMNS}",
    ),
    (
        {"timestamp": "when"},
        ColumnError,
        f"timestamp: there is no column 'when'; the columns are {COLUMNS}",
    ),
    (
        {"aggregate": {"m": bl.mean("cost")}},
        ColumnError,
        f"aggregate 'm': there is no column 'cost'; the columns are {COLUMNS}",
    ),
    ({"key": 5}, ColumnError, "key must be a column's name or a list of names, got 5"),
    (
        {"key": ["shop", 5]},
        ColumnError,
        "key must be a column's name or a list of names, got ['shop', 5]",
    ),
    ({"timestamp": 5}, ColumnError, "timestamp: a column is given by its name, a string, got 5"),
    (
        {"aggregate": {"m": bl.mean(5)}},  # type: ignore[arg-type]
        ColumnError,
        "aggregate 'm': a column is given by its name, a string, got 5",
    ),
    (
        {"key": "twin"},
        ColumnError,
        "key: there is more than one column 'twin'; rename or drop the others",
    ),
    # types
    (
        {"key": "parts"},
        ColumnError,
        "key: column 'parts' is struct<one:int>, which cannot be grouped by; use its parts as key "
        "columns, or to_json of it",
    ),
    (
        {"key": "month"},
        ColumnError,
        "key: column 'month' is interval month, for which there is no Arrow type; cast it first, "
        "to a string for example",
    ),
    (
        {"timestamp": "price"},
        ColumnError,
        "timestamp: column 'price' is int; make it a timestamp first, for example "
        'df.withColumn("price", F.timestamp_millis("price"))',
    ),
    (
        {"aggregate": {"m": bl.mean("day")}},
        ColumnError,
        "aggregate 'm': mean needs a number, and column 'day' is date; cast it first",
    ),
    (
        {"aggregate": {"s": bl.sum("open")}},
        ColumnError,
        "aggregate 's': sum needs a number, and column 'open' is boolean; cast it first",
    ),
    (
        {"aggregate": {"most": bl.max("several")}},
        ColumnError,
        "aggregate 'most': max needs a number, a string or a time, and column 'several' is "
        "array<int>; cast it first",
    ),
    # names of the result
    (
        {"aggregate": {"shop": bl.count()}},
        ColumnError,
        "the result would have two columns called 'shop' (it has shop, window, shop, timestamp, "
        "pane, dropped); rename the key column with withColumnRenamed, or the aggregate",
    ),
    (
        {"aggregate": {"Pane": bl.count()}},
        ColumnError,
        "the result would have two columns called 'Pane' (it has shop, window, Pane, timestamp, "
        "pane, dropped); rename the key column with withColumnRenamed, or the aggregate",
    ),
    (
        {"key": "window"},
        ColumnError,
        "the result would have two columns called 'window' (it has window, window, n, timestamp, "
        "pane, dropped); rename the key column with withColumnRenamed, or the aggregate",
    ),
    ({"key": ["shop", "shop"]}, ColumnError, "key: column 'shop' is named twice; leave one out"),
    # aggregates
    (
        {"aggregate": {}},
        ColumnError,
        'aggregate must name at least one aggregate, such as {"n": bl.count()}',
    ),
    (
        {"aggregate": [bl.count()]},
        ColumnError,
        'aggregate must map names to aggregates, such as {"n": bl.count()}, got '
        "[Aggregate(kind='count', fn=Count(), columns=(), returns=None, accumulator=None)]",
    ),
    (
        {"aggregate": {"n": "count"}},
        ColumnError,
        "aggregate: 'n' must be an aggregate such as bl.count() or bl.sum(\"x\"), got 'count'",
    ),
    (
        {"aggregate": {7: bl.count()}},
        ColumnError,
        "aggregate: a column's name must be a text, got 7",
    ),
    # choices
    (
        {"output": "late"},
        WindowingError,
        "output must be one of 'panes', 'dropped', 'all', got 'late'",
    ),
    (
        {"on_error": "ignore"},
        WindowingError,
        "on_error must be one of 'drop', 'fail', got 'ignore'",
    ),
    ({"shards": 0}, WindowingError, "shards must be a whole number of 1 or more, got 0"),
    ({"shards": True}, WindowingError, "shards must be a whole number of 1 or more, got True"),
    ({"buckets": 2.5}, WindowingError, "buckets must be a whole number of 1 or more, got 2.5"),
    ({"name": ""}, WindowingError, "name must be a text such as \"sales per hour\", got ''"),
    (
        {"watermark": "a while"},
        TimeError,
        "watermark is not a duration: 'a while'; write 600000 (milliseconds), "
        'timedelta(minutes=10), "10 minutes", "1h 30m" or "00:10:00"',
    ),
    ({"watermark": -1}, TimeError, "watermark must not be negative, got -1; give 0 or more"),
    # windowing; what a strategy refuses beside this is in tests/model/test_strategy.py
    (
        {"wake_every": 0},
        WindowingError,
        'wake_every must be more than 0 ms; give one such as "5 seconds"',
    ),
    (
        {"window": None},
        WindowingError,
        'windowed needs window; give windows such as FixedWindows("1 hour")',
    ),
    (
        {"carry": "cost", "output": "all"},
        ColumnError,
        f"carry: there is no column 'cost'; the columns are {COLUMNS}",
    ),
    ({"carry": 5}, ColumnError, "carry must be a column's name or a list of names, got 5"),
    (
        {"window": bl.Sessions(lambda value: "1 minute")},
        UnsupportedError,
        "Sessions(<lambda>) asks each element for its gap, and a row is no single value that "
        'could be asked; name the column that the gap depends on: window_input="page"',
    ),
    (
        {"window": "1 hour"},
        WindowingError,
        "window must be a window function such as FixedWindows(\"1 hour\"), got '1 hour'",
    ),
    (
        {"trigger": bl.AfterWatermark(), "accumulation": "discarding"},
        WindowingError,
        "trigger AfterWatermark() requires that the allowed lateness be specified; add "
        'allowed_lateness="0 s", or as long as late data shall be waited for',
    ),
]


@pytest.mark.parametrize(
    ("changes", "kind", "text"), WRONG_CALLS, ids=[text[:50] for _, _, text in WRONG_CALLS]
)
def test_a_call_that_cannot_work_is_refused_before_any_data_is_read(
    unread: Any, changes: dict[str, Any], kind: type[BeamlikeError], text: str
) -> None:
    with pytest.raises(kind) as wrong:
        by_shop(unread, **({"aggregate": {"n": bl.count()}} | changes))

    assert type(wrong.value) is kind
    assert str(wrong.value) == text


def test_what_is_not_a_frame_is_refused(spark: Any) -> None:
    assert refusal(ColumnError, lambda: by_shop([1, 2])) == (
        "df must be a DataFrame of Spark or a Table of pyarrow, got [1, 2]"
    )


def test_the_name_that_is_needed_inside_is_refused(spark: Any) -> None:
    frame = spark.sql("select 'a' shop, timestamp '2020-01-01' at, 1 __beamlike_event_time")

    assert refusal(ColumnError, lambda: by_shop(frame, aggregate={"n": bl.count()})) == (
        "the name '__beamlike_event_time' is needed here; rename that column of df"
    )


NO_WATERMARK = (
    "watermark is missing, and without one no window of a stream ever ends; add "
    'watermark="10 minutes", or as long as rows may be out of order. If df.withWatermark was '
    "called before, keep its column until here"
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        pytest.param({}, NO_WATERMARK, id="no-watermark"),
        pytest.param(
            {"window": bl.GlobalWindows(), "watermark": "1 minute"},
            "a stream in the global window with the default trigger never emits anything; use "
            "FixedWindows, SlidingWindows or Sessions, or a trigger such as "
            "Repeatedly(AfterCount(100))",
            id="global-window-default-trigger",
        ),
    ],
)
def test_a_stream_that_would_never_emit_anything_is_refused(
    spark: Any, changes: dict[str, Any], text: str
) -> None:
    ticks = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "at")

    with pytest.raises(WindowingError) as wrong:
        by_shop(ticks, **({"key": "value", "aggregate": {"n": bl.count()}} | changes))

    assert str(wrong.value) == text


def test_a_second_watermark_is_refused(spark: Any) -> None:
    ticks = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "at")

    with pytest.raises(WindowingError) as wrong:
        by_shop(
            ticks.withWatermark("at", "1 minute"),
            key="value",
            aggregate={"n": bl.count()},
            watermark="2 minutes",
        )

    assert str(wrong.value) == (
        "df has a watermark already, and watermark='2 minutes' would be a second one; leave one "
        "of the two out"
    )


def test_a_stream_without_rocksdb_is_refused_and_a_batch_is_not(spark: Any, setting: Any) -> None:
    other = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
    setting("spark.sql.streaming.stateStore.providerClass", other)
    ticks = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "at")

    with pytest.raises(EnvironmentProblem) as wrong:
        by_shop(ticks, key="value", aggregate={"n": bl.count()}, watermark="1 minute")

    assert str(wrong.value) == (
        f"streaming windows need the RocksDB state store, and this session has {other}; add "
        '.config("spark.sql.streaming.stateStore.providerClass", '
        '"org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider") to the '
        "builder of the session, or call spark.conf.set with the same before the query starts"
    )
    assert shown(by_shop(sales(spark, GOOD, GOOD | {"price": "2.5"}))) == [PANE]


def test_an_old_pyspark_is_refused(unread: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.1")

    assert refusal(EnvironmentProblem, lambda: by_shop(unread, aggregate={"n": bl.count()})) == (
        "the Spark host needs PySpark 4.1 or later, and this is 3.5.1; run: "
        'pip install -U "pyspark>=4.1"'
    )


@pytest.mark.nightly
def test_carried_columns_are_reported_of_rows_that_come_too_late_and_of_bad_ones(feed: MakeFeed):
    stream = feed("shop string, at string, order_id long, note string")
    stream.start(
        by_shop(
            stream.frame,
            watermark="0 s",
            aggregate={"n": bl.count()},
            carry=["order_id", "at"],
            output="all",
        )
    )
    stream.send({"shop": "a", "at": "2020-01-01 02:00:00Z", "order_id": 1, "note": "in time"})

    late, bad = stream.send(
        {"shop": "a", "at": "2020-01-01 00:30:00Z", "order_id": 2, "note": "late"},
        {"shop": "a", "at": "later", "order_id": 3, "note": "bad"},
    )

    reported = [
        (row["dropped"]["reason"], json.loads(row["dropped"]["element"])) for row in (late, bad)
    ]
    assert in_order(reported) == [  # type: ignore[arg-type, comparison-overlap]
        ("bad_timestamp", {"shop": "a", "at": "later", "order_id": 3}),
        ("expired", {"shop": "a", "at": "2020-01-01 00:30:00Z", "order_id": 2}),
    ]


def test_split_says_which_frames_it_takes(unread: Any) -> None:
    assert refusal(ColumnError, lambda: bl.split(by_shop(unread))) == (
        'split takes a frame made with windowed(..., output="all"); this one has no column '
        "'dropped'"
    )

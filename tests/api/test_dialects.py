"""Tables, operators and flows of other systems over a DataFrame, with the rows of their systems."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from beamlike.dialects import akka, apex, flink, kafka
from beamlike.errors import CombineError, UnsupportedError, WindowingError
from beamlike.model.combine import Collect, Sum
from tests.support.queries.rows import MakeFeed, Row
from tests.support.queries.shown import shown

pytestmark = pytest.mark.filterwarnings("error::beamlike.errors.UnwiseStrategyWarning")


SMALL: dict[str, Any] = {"shards": 1, "buckets": 1}
MINUTE = 60_000

VISITS = kafka.group_by_key().windowed_by(
    kafka.SessionWindows.of_inactivity_gap_and_grace("5 minutes", "1 minute")
)
PAGES = VISITS.aggregate(
    list,
    lambda key, page, pages: [*pages, page],
    lambda key, one, other: one + other,
    kafka.Materialized.as_("visits"),
)
SESSIONS = flink.key_by().window(flink.EventTimeSessionWindows.with_gap("5 minutes"))


def event(user: str | None, minute: str, page: str = "home", v: int | None = 1) -> Row:
    return {"user": user, "at": f"2020-01-01T00:{minute}Z", "page": page, "v": v}


EVENTS = "user string, at timestamp, page string, v int"


def described(rows: list[Row], *columns: str) -> list[str]:
    """Each row as its key, kind and value, its bounds, its timestamp, and why it was dropped."""
    return sorted(_shown(row, columns) for row in rows)


def _shown(row: Row, columns: tuple[str, ...]) -> str:
    bounds = f"{_time(row['start'])}-{_time(row['end'])}" if row["start"] else "no bounds"
    facts = [*(row[name] for name in columns), row["kind"], row["value"], bounds]
    facts += [f"at {_time(row['timestamp'])}", row["reason"]]
    return " ".join(str(fact) for fact in facts if fact is not None)


def _time(text: str | None) -> str:
    return "-" if text is None else text[14:].removesuffix("Z").removesuffix(".000")


def bounded(spark: Any, *rows: Row) -> Any:
    from pyspark.sql import functions as F

    values = [tuple(row.values()) for row in rows]
    frame = spark.createDataFrame(values, "user string, at string, page string, v int")
    return frame.withColumn("at", F.to_timestamp("at"))


# -- bounded data ----------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_table_of_kafka_has_closed_bounds_and_joins_what_is_a_gap_apart(spark: Any) -> None:
    events = [event("joe", "00:00", "a"), event("joe", "05:00", "b"), event("joe", "10:00.001")]
    df = bounded(spark, *events, event(None, "00:00"))

    rows = PAGES.on_dataframe(
        df, key="user", value="page", timestamp="at", returns="array<string>", **SMALL
    )
    assert rows.columns == [
        "user",
        "kind",
        "value",
        "start",
        "end",
        "timestamp",
        "reason",
        "element",
    ]
    assert described(shown(rows), "user") == [
        "dropped no bounds at 00:00 null_key",
        "joe value ['a', 'b'] 00:00-05:00 at 05:00",
        "joe value ['home'] 10:00.001-10:00.001 at 10:00.001",
    ]
    on_close = VISITS.emit_strategy(kafka.EmitStrategy.on_window_close())
    final = on_close.reduce(lambda one, other: one + other)
    rows = final.on_dataframe(
        df, key="user", value="page", timestamp="at", returns="string", **SMALL
    )
    assert described(shown(rows), "user") == [
        "dropped no bounds at 00:00 null_key",
        "joe value ab 00:00-05:00 at 05:00",
        "joe value home 10:00.001-10:00.001 at 10:00.001",
    ]


@pytest.mark.spark
def test_an_operator_of_flink_has_open_bounds_and_stamps_before_the_end(spark: Any) -> None:
    df = bounded(spark, event("joe", "00:00"), event("joe", "05:00", v=2), event("ben", "07:00"))
    sums = SESSIONS.aggregate(Sum()).on_dataframe(
        df, key="user", value="v", timestamp="at", **SMALL
    )
    gap_of = flink.EventTimeSessionWindows.with_dynamic_gap(lambda it: it[1] * MINUTE)
    dynamic = flink.key_by().window(gap_of).reduce(lambda one, other: (one[0], one[1] + other[1]))
    counted = flink.key_by().window(flink.GlobalWindows.create())
    pairs = counted.trigger(flink.CountTrigger.of(2)).apply(len)

    assert described(shown(sums), "user") == [
        "ben value 1 07:00-12:00 at 11:59.999",
        "joe value 3 00:00-10:00 at 09:59.999",
    ]
    assert described(
        shown(
            dynamic.on_dataframe(
                df,
                key="user",
                value=["page", "v"],
                timestamp="at",
                returns="struct<page: string, v: int>",
                **SMALL,
            )
        ),
        "user",
    ) == [
        "ben value {'page': 'home', 'v': 1} 07:00-08:00 at 07:59.999",
        "joe value {'page': 'home', 'v': 1} 00:00-01:00 at 00:59.999",
        "joe value {'page': 'home', 'v': 2} 05:00-07:00 at 06:59.999",
    ]
    # What is left when the input ends is forgotten: ben has only one.
    rows = pairs.on_dataframe(df, key="user", value="v", timestamp="at", returns="int", **SMALL)
    assert described(shown(rows), "user") == ["joe value 2 no bounds at -"]


@pytest.mark.spark
def test_an_operator_of_flink_without_keys_combines_what_an_evictor_left_as_the_stream_ends(
    spark: Any,
) -> None:
    df = bounded(
        spark, event("joe", "05:00", v=4), event("ben", "00:00", v=2), event(None, "06:00")
    )
    in_all = flink.window_all(flink.GlobalWindows.create_with_end_of_stream_trigger())
    newest = in_all.evictor(flink.TimeEvictor.of("2 minutes")).aggregate(Sum())
    rows = newest.on_dataframe(df, key=(), value="v", timestamp="at", returns="bigint", **SMALL)

    assert described(shown(rows)) == ["value 5 no bounds at -"]


@pytest.mark.spark
def test_an_operator_of_apex_stamps_with_the_begin_of_a_window(spark: Any) -> None:
    df = bounded(
        spark, event("joe", "01:00"), event("ben", "04:59.999", v=2), event("joe", "05:00")
    )
    operator = apex.WindowedOperator(
        apex.WindowOption.time_windows("5 minutes"),
        Sum(),
        apex.TriggerOption.at_watermark().accumulating_fired_panes(),
    )

    assert described(shown(operator.on_dataframe(df, value="v", timestamp="at", **SMALL))) == [
        "value 1 05:00-10:00 at 05:00",
        "value 3 00:00-05:00 at 00:00",
    ]


@pytest.mark.spark
def test_a_flow_of_akka_gives_out_lists_and_tells_what_had_no_room(spark: Any) -> None:
    minutes = ("00:00", "01:00", "06:00", "11:00.001")
    df = bounded(
        spark, *(event("joe", minute, page) for minute, page in zip(minutes, "abcd", strict=True))
    )

    def rows(strategy: str, **options: Any) -> list[str]:
        flow = akka.SessionWindow("5 minutes", 2, strategy)
        return described(
            shown(flow.on_dataframe(df, value="page", arrival="at", **options, **SMALL))
        )

    assert rows("drop_oldest") == [
        "dropped no bounds at 00:00 overflow_oldest",
        "value ['b', 'c'] no bounds at 11:00.001",
        "value ['d'] no bounds at 16:00.002",
    ]
    assert rows("drop_newest", tell_dropped=False) == [
        "value ['a', 'b'] no bounds at 11:00.001",
        "value ['d'] no bounds at 16:00.002",
    ]


@pytest.mark.spark
def test_a_session_of_akka_that_must_not_overflow_stops_the_query(spark: Any) -> None:
    df = bounded(spark, *(event("joe", "00:00") for _ in range(3)))
    flow = akka.SessionWindow("5 minutes", 2)
    rows = flow.on_dataframe(df, key="user", value="page", arrival="at", **SMALL)

    with pytest.raises(Exception, match="of key 'joe' has 2 elements already, which is max_size"):
        rows.collect()


# -- streams ---------------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.usefixtures("no_empty_batches")
def test_a_table_of_kafka_is_a_changelog(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    events.start(
        PAGES.on_dataframe(
            events.frame, key="user", value="page", timestamp="at", returns="array<string>", **SMALL
        )
    )
    assert described(
        events.send(event("joe", "00:00", "a"), event("ben", "00:00", "x")), "user"
    ) == ["ben value ['x'] 00:00-00:00 at 00:00", "joe value ['a'] 00:00-00:00 at 00:00"]
    assert described(events.send(event("joe", "05:00", "b")), "user") == [
        "joe tombstone 00:00-00:00 at 00:00",
        "joe value ['a', 'b'] 00:00-05:00 at 05:00",
    ]
    # Inside of a session: it gets another value, and no tombstone.
    assert described(
        events.send(event("joe", "04:00", "c"), event("ann", "06:00.001")), "user"
    ) == [
        "ann value ['home'] 06:00.001-06:00.001 at 06:00.001",
        "joe value ['a', 'b', 'c'] 00:00-05:00 at 05:00",
    ]
    # Ben's session closed as stream time came to more than 0 + 5 + 1 minutes.
    assert described(events.send(event("ben", "00:00", "late")), "user") == [
        "ben dropped 00:00-00:00 at 00:00 expired_window"
    ]
    events.stop()


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.usefixtures("no_empty_batches")
def test_an_operator_of_flink_gives_out_what_comes_too_late(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    windows = flink.SlidingEventTimeWindows.of("10 minutes", "5 minutes")
    operator = flink.key_by().window(windows).side_output_late_data().aggregate(Collect())
    rows = operator.on_dataframe(
        events.frame, key="user", value="v", timestamp="at", watermark="1 minute", **SMALL
    )
    events.start(rows)

    # A null is an element, as in memory.
    assert events.send(event("joe", "06:00", v=None)) == []
    assert described(events.send(event("joe", "16:00", v=2)), "user") == [
        "joe value [None] 00:00-10:00 at 09:59.999",
        "joe value [None] 05:00-15:00 at 14:59.999",
    ]
    # The first is in a window that is open. The second is in none, and comes once.
    late = events.send(event("joe", "12:00", v=3), event("joe", "08:00", v=4))
    assert described(late, "user") == ["joe late no bounds at 08:00"]
    assert [json.loads(row["element"]) for row in late] == [{"user": "joe", "v": 4}]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_flow_of_akka_ends_its_sessions_as_time_goes_by(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    flow = akka.SessionWindow("1 ms")
    events.start(
        flow.on_dataframe(
            events.frame, key="user", value="page", tick="1 ms", wake_every="1 ms", **SMALL
        )
    )
    events.put(event("joe", "00:00", "a"), event("joe", "00:00", "b"))
    while not events.numbered:
        events.query.exception()
        assert events.query.isActive
    events.stop()

    assert [row["value"] for _, row in events.numbered] == [["a", "b"]]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda df: PAGES.on_dataframe(df, key="user", value="page", timestamp="at"),
            CombineError,
            "returns is missing",
        ),
        (
            lambda df: (
                kafka.group_by_key()
                .windowed_by(kafka.SessionWindows.of_inactivity_gap_with_no_grace(5).until("20 ms"))
                .count()
                .on_dataframe(df, key="user", timestamp="at")
            ),
            UnsupportedError,
            "stores nothing",
        ),
        (
            lambda df: (
                VISITS.count()
                .suppress(kafka.Suppressed.until_time_limit("1 minute"))
                .on_dataframe(df, key="user", timestamp="at")
            ),
            UnsupportedError,
            "holds nothing back by stream time",
        ),
        (
            lambda df: (
                VISITS.count()
                .suppress(kafka.Suppressed.until_window_closes(repeats=True))
                .on_dataframe(df, key="user", timestamp="at")
            ),
            UnsupportedError,
            "holds nothing back by stream time",
        ),
        (
            lambda df: VISITS.count(
                kafka.Materialized.as_("visits").with_caching_disabled()
            ).on_dataframe(df, key="user", timestamp="at"),
            UnsupportedError,
            "with_caching_disabled and the shortest retention",
        ),
        (
            lambda df: SESSIONS.aggregate(Sum()).on_dataframe(df, key="user", value="v"),
            WindowingError,
            "timestamp is missing",
        ),
        (
            lambda df: akka.SessionWindow(5, checked_every=5).on_dataframe(
                df, value="v", arrival="at"
            ),
            UnsupportedError,
            "each micro-batch looks",
        ),
        (
            lambda df: akka.SessionWindow(5).on_dataframe(df, value="v", timestamp="at"),
            WindowingError,
            "SessionWindow.on_dataframe has no argument 'timestamp'; it takes df, value, key, arr",
        ),
    ],
)
def test_what_a_query_cannot_do_is_refused(
    spark: Any, make: Callable[[Any], Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        make(bounded(spark, event("joe", "00:00")))

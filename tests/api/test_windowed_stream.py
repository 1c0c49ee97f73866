"""`windowed` over a stream: micro-batches, Spark's own watermark and clock, checkpoints."""

from collections import Counter
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from tests.support.queries.rows import MakeFeed, Row, counts_of, event

pytestmark = pytest.mark.spark


EVENTS = "user string, at timestamp, v int"


def pane(
    timing: str, index: int, nonspeculative: int, first: bool = False, last: bool = False
) -> Row:
    return {
        "timing": timing,
        "index": index,
        "nonspeculative_index": nonspeculative,
        "is_first": first,
        "is_last": last,
    }


def row(user: str, hour: int, values: list[int], pane: Row) -> Row:
    """A pane row of an hour of 2020-01-01."""
    return {
        "user": user,
        "window": {
            "start": f"2020-01-01T{hour:02}:00:00.000Z",
            "end": f"2020-01-01T{hour + 1:02}:00:00.000Z",
        },
        "n": len(values),
        "all": values,
        "timestamp": f"2020-01-01T{hour:02}:59:59.999Z",
        "pane": pane,
        "dropped": None,
    }


HOURS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "10 minutes",
    "window": bl.FixedWindows("1 hour"),
    "trigger": bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
    "accumulation": "accumulating",
    "allowed_lateness": "1 hour",
    "timestamp_combiner": "end_of_window",
    "aggregate": {"n": bl.count(), "all": bl.collect("v")},
    "output": "all",
    "shards": 2,
    "buckets": 2,
}


def test_a_window_is_early_then_on_time_then_late_then_expired(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    stream.start(bl.windowed(stream.frame, **HOURS))

    # Two elements make an early pane; then the watermark moves to 00:15.
    assert stream.send(event("ann", "00:05:00", 1), event("ann", "00:25:00", 2)) == [
        row("ann", 0, [1, 2], pane("EARLY", 0, -1, first=True))
    ]
    # 01:05: the end of the hour. Nothing is new, and the pane comes all the same.
    assert stream.send(event("ann", "01:15:00", 3)) == [
        row("ann", 0, [1, 2], pane("ON_TIME", 1, 0))
    ]
    # Behind the watermark, within the allowed lateness: Spark must not have dropped it.
    assert stream.send(event("ann", "00:30:00", 4)) == [
        row("ann", 0, [1, 2, 4], pane("LATE", 2, 1))
    ]
    # 02:10: the next hour is on time, the first one is forgotten.
    assert stream.send(event("ann", "02:20:00", 5)) == [
        row("ann", 1, [3], pane("ON_TIME", 0, 0, first=True))
    ]
    # Accepted until 01:59:59.999, and it is 02:10.
    assert stream.send(event("ann", "00:45:00", 6)) == [
        {
            "user": "ann",
            "window": {"start": "2020-01-01T00:00:00.000Z", "end": "2020-01-01T01:00:00.000Z"},
            "n": None,
            "all": None,
            "timestamp": None,
            "pane": None,
            "dropped": {
                "stage": "beamlike",
                "reason": "expired",
                "timestamp": "2020-01-01T00:45:00.000Z",
                "watermark": "2020-01-01T02:10:00.000Z",
                "missed_ms": 600_001,
                "window": {"start": "2020-01-01T00:00:00.000Z", "end": "2020-01-01T01:00:00.000Z"},
                "nearest_session": None,
                "count": 1,
                "error": None,
                "element": '{"user":"ann","v":6}',
            },
        }
    ]
    assert counts_of(stream) == {
        "panes_early": 1,
        "panes_on_time": 2,
        "panes_late": 1,
        "dropped_expired": 1,
        "dropped_closed": 0,
        "dropped_failed": 0,
        "dropped_null_key": 0,
        "dropped_bad_key": 0,
        "dropped_null_timestamp": 0,
        "dropped_bad_timestamp": 0,
        "dropped_far_future": 0,
        "dropped_bad_value": 0,
        "dropped_rejected": 0,
    }


def test_a_late_row_of_the_same_batch_is_judged_before_the_batch_moves_the_watermark(
    feed: MakeFeed,
) -> None:
    stream = feed(EVENTS)
    stream.start(bl.windowed(stream.frame, **(HOURS | {"allowed_lateness": 0})))

    assert stream.send(event("ann", "05:00:00", 1), event("bob", "00:00:00", 2)) == [
        row("bob", 0, [2], pane("ON_TIME", 0, 0, first=True, last=True))
    ]


def test_a_watermark_that_the_frame_has_already_is_used(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    marked = stream.frame.withWatermark("at", "10 minutes")
    stream.start(bl.windowed(marked, **(HOURS | {"watermark": None})))
    stream.send(event("ann", "00:05:00", 1))

    # 00:59:59.999 is not past the end, 01:00 is.
    assert stream.send(event("bob", "01:09:59.999", 2)) == []
    assert stream.send(event("bob", "01:10:00", 3)) == [
        row("bob", 1, [2, 3], pane("EARLY", 0, -1, first=True)),
        row("ann", 0, [1], pane("ON_TIME", 0, 0, first=True)),
    ]


def test_panes_and_drops_can_be_told_apart_in_one_query(feed: MakeFeed) -> None:
    stream = feed("user string, at timestamp, v int")
    panes, dropped = bl.split(bl.windowed(stream.frame, **HOURS))
    ends = {"panes": panes, "dropped": dropped}

    assert panes.columns == ["user", "window", "n", "all", "timestamp", "pane"]
    assert dropped.columns == [*panes.columns, "dropped"]
    for output, expected in ends.items():
        assert bl.windowed(stream.frame, **(HOURS | {"output": output})).columns == (
            expected.columns
        )


CLOCKED = HOURS | {
    "trigger": bl.Repeatedly(bl.AfterProcessingTime("1 second")),
    "watermark": "10 hours",
}


def test_the_clock_fires_a_pane_when_no_data_arrives(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    stream.put(event("ann", "00:05:00", 1), event("ann", "00:06:00", 2))
    stream.start(bl.windowed(stream.frame, **CLOCKED))

    for _ in range(240):
        if stream.numbered:
            break
        stream.query.awaitTermination(0.25)

    ((batch, emitted),) = stream.numbered
    assert emitted == row("ann", 0, [1, 2], pane("EARLY", 0, -1, first=True))
    stream.query.processAllAvailable()  # the progress of the batch is out by now
    rows_of_files = {p.batchId: p.sources[0].numInputRows for p in stream.query.recentProgress}
    assert rows_of_files[0] == 2
    assert batch > 0
    assert rows_of_files[batch] == 0


def test_a_query_comes_to_rest_although_a_trigger_waits_for_the_clock(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    delay = bl.Repeatedly(bl.AfterProcessingTime("10 days"))
    stream.start(bl.windowed(stream.frame, **(CLOCKED | {"trigger": delay})))

    # Each of these waits until there is nothing left to process. Ticks must leave room for that.
    assert stream.send(event("ann", "00:05:00", 1)) == []
    assert stream.send(event("ann", "00:06:00", 2)) == []


def test_a_query_that_takes_what_is_there_ends_although_a_trigger_waits_for_the_clock(
    feed: MakeFeed,
) -> None:
    stream = feed(EVENTS)
    stream.put(event("ann", "00:05:00", 1))
    stream.put(event("ann", "11:05:00", 2))
    delay = bl.Repeatedly(bl.AfterProcessingTime("10 days"))

    stream.start(bl.windowed(stream.frame, **(CLOCKED | {"trigger": delay})), availableNow=True)

    assert stream.query.awaitTermination(120)
    assert stream.query.exception() is None
    # The watermark stands at 01:05. The window is not expired, and its trigger still waits.
    assert [emitted for _, emitted in stream.numbered] == []


WEEK = [
    [event("ann", "00:05:00", 1), event("bob", "00:10:00", 2)],
    [event("ann", "00:25:00", 3), event("cat", "00:01:00", 4), event("bob", "01:00:00", 5)],
    [event("ann", "01:15:00", 6)],
    [event("ann", "00:30:00", 7), event("bob", "00:40:00", 8), event("cat", "01:20:00", 9)],
    [event("bob", "03:00:00", 10), event("bob", "03:01:00", 11)],
    [event("cat", "01:59:00", 12), event("ann", "00:59:00", 13)],
    [event("dan", "06:00:00", 14)],
]


def in_order(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=repr)


@pytest.mark.parametrize("window", [bl.FixedWindows("1 hour"), bl.Sessions("30 minutes")], ids=str)
def test_a_query_continues_from_its_checkpoint_as_if_it_had_never_stopped(
    feed: MakeFeed, window: Any
) -> None:
    call = HOURS | {"window": window}
    whole, broken = feed(EVENTS), feed(EVENTS)
    whole.start(bl.windowed(whole.frame, **call))
    undisturbed = [in_order(whole.send(*rows)) for rows in WEEK]
    whole.stop()

    continued = []
    for number, rows in enumerate(WEEK):
        if number % 2 == 0:
            broken.stop()
            broken.start(bl.windowed(broken.frame, **call))
        continued.append(in_order(broken.send(*rows)))

    assert continued == undisturbed
    timings = Counter(r["pane"]["timing"] for rows in undisturbed for r in rows if r["pane"])
    assert set(timings) == {"EARLY", "ON_TIME", "LATE"}
    assert sum(r["dropped"] is not None for rows in undisturbed for r in rows) > 0


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        pytest.param(
            {"window": bl.FixedWindows("2 hours")},
            "window: the checkpoint has 'FixedWindows(1h)', the query has 'FixedWindows(2h)'",
            id="window",
        ),
        pytest.param(
            {"aggregate": {"n": bl.count(), "all": bl.sum("v")}},
            "aggregates: the checkpoint has 'n=Count(), all=Collect(keep_nulls=False) of v int32',"
            " the query has 'n=Count(), all=Sum() of v int64'",
            id="aggregate",
        ),
        pytest.param(
            {"shards": 3}, "shards: the checkpoint has '2', the query has '3'", id="shards"
        ),
    ],
)
def test_a_checkpoint_of_another_grouping_is_refused_by_name(
    feed: MakeFeed, change: dict[str, Any], difference: str
) -> None:
    stream = feed(EVENTS)
    stream.start(bl.windowed(stream.frame, **HOURS))
    stream.send(event("ann", "00:05:00", 1))
    stream.stop()

    stream.start(bl.windowed(stream.frame, **(HOURS | change)))
    with pytest.raises(StreamingQueryException) as refused:
        stream.send(event("ann", "00:06:00", 2))

    assert (
        "beamlike.errors.StateError: the checkpoint belongs to another grouping and cannot be "
        f"continued:\n  {difference}\n"
        "Change the query back; or bring its windows to their end with beamlike.drain, and start "
        "this one with a new checkpointLocation."
    ) in str(refused.value)
    assert stream.numbered == []


@pytest.mark.nightly
def test_a_column_that_changes_its_type_does_not_continue_the_old_state(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    call = HOURS | {"aggregate": {"most": bl.max("v")}}
    stream.start(bl.windowed(stream.frame, **call))
    stream.send(event("ann", "00:05:00", 1))
    stream.stop()

    stream.start(bl.windowed(stream.frame.selectExpr("user", "at", "cast(v as string) v"), **call))
    with pytest.raises(StreamingQueryException) as refused:
        stream.send(event("ann", "00:06:00", 2))

    assert (
        "aggregates: the checkpoint has 'most=Max() of v int32', the query has 'most=Max() of v "
        "string'"
    ) in str(refused.value)


def test_aggregates_may_be_called_like_parts_of_each_other(feed: MakeFeed) -> None:
    stream = feed(EVENTS)
    aggregate = {
        "v": bl.mean("v"),
        "v_sum": bl.sum("v"),
        "v_count": bl.count(),
        "start": bl.max("v"),
    }
    stream.start(bl.windowed(stream.frame, **(HOURS | {"aggregate": aggregate})))
    stream.send(event("ann", "00:05:00", 1))

    (emitted,) = stream.send(event("ann", "00:06:00", 2))

    assert {name: emitted[name] for name in aggregate} == {
        "v": 1.5,
        "v_sum": 3,
        "v_count": 2,
        "start": 2,
    }

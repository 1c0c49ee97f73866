"""`windowed` over a stream: micro-batches, Spark's own watermark and clock, checkpoints."""

import json
from collections import Counter
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Drop, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Count, Together
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output
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

    texts = stream.frame.selectExpr("user", "at", "cast(v as string) v")
    stream.start(bl.windowed(texts, **call))
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


STRATEGIES = {
    "fixed": WindowingStrategy(
        bl.FixedWindows("3 minutes"),
        bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(2)),
        "accumulating",
        "4 minutes",
        "earliest",
    ),
    "sliding": WindowingStrategy(
        bl.SlidingWindows("4 minutes", "2 minutes"), bl.DefaultTrigger(), "discarding", "1 minute"
    ),
    "sessions": WindowingStrategy(
        bl.Sessions("90 seconds"),
        bl.Repeatedly(bl.AfterFirst(bl.AfterCount(3), bl.AfterWatermark())),
        "accumulating",
        "5 minutes",
        "latest",
        "fire_always",
    ),
    "retracting": WindowingStrategy(
        bl.Sessions("1 minute"),
        bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        "retracting",
        "3 minutes",
        on_time_behavior="fire_if_non_empty",
    ),
    "global": WindowingStrategy(
        bl.GlobalWindows(), bl.Repeatedly(bl.AfterCount(4)), "discarding", 0, "earliest"
    ),
}
NOON = int(datetime(2020, 1, 1, 12, tzinfo=UTC).timestamp() * 1000)


def random_batches(seed: int) -> list[list[tuple[str, int, int]]]:
    """Key, event time (ms) and value of ten micro-batches, an out-of-order walk."""
    dice, clock, value, batches = Random(seed), NOON, 0, []
    for _ in range(10):
        clock += dice.choice([0, 40_000, 70_000, 200_000])
        batch = []
        for _ in range(dice.randint(1, 14)):
            value += 1
            at = clock + dice.choice([0, 1, -1, -20_000, -60_000, -180_000, -500_000])
            batch.append((dice.choice("abcdefgh"), at + dice.randrange(3), value))
        batches.append(batch)
    return batches


def millis(text: str | None) -> int | None:
    if text is None:
        return None
    return round(datetime.fromisoformat(text).timestamp() * 1_000_000) // 1_000


def as_shown_(key: str, effect: Any) -> tuple[Any, ...]:
    """An effect of the machine in the words of a row."""
    shown = isinstance(effect.window.max_timestamp, int) and effect.window.start > MIN_TIMESTAMP
    window = (effect.window.start, effect.window.end) if shown else (None, None)
    if isinstance(effect, Drop):
        element = {"k": key, "v": effect.element.value[0]}
        at = effect.element.timestamp
        judged = (effect.reason.value, at, effect.watermark, effect.missed_by)
        nearest_session = effect.nearest_session and (
            effect.nearest_session.start,
            effect.nearest_session.end,
        )
        return (key, window, *judged, window, nearest_session, effect.count, effect.error, element)
    count, values = effect.value
    info = effect.info
    return (
        key,
        window,
        count,
        sorted(values),
        effect.timestamp if shown or effect.timestamp < NOON * 2 else None,
        (info.timing.value, info.index, info.nonspeculative_index, info.is_first, info.is_last),
        effect.retraction,
    )


def bounds_of(span: Row) -> tuple[int | None, int | None]:
    return millis(span["start"]), millis(span["end"])


def as_shown(row: Row) -> tuple[Any, ...]:
    """A row of the output, likewise."""
    window = bounds_of(row["window"])
    described = row["dropped"]
    if described is not None:
        assert described["stage"] == "beamlike"
        at, element = millis(described["timestamp"]), json.loads(described["element"])
        judged = (described["reason"], at, millis(described["watermark"]), described["missed_ms"])
        windows = (
            bounds_of(described["window"]),
            described["nearest_session"] and bounds_of(described["nearest_session"]),
        )
        return (
            row["k"],
            window,
            *judged,
            *windows,
            described["count"],
            described["error"],
            element,
        )
    return (
        row["k"],
        window,
        row["n"],
        sorted(row["all"]),
        millis(row["timestamp"]),
        tuple(row["pane"].values()),
        row.get("retraction", False),
    )


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_stream_emits_what_the_memory_host_emits(feed: MakeFeed, name: str) -> None:
    strategy = STRATEGIES[name]
    stage = MemoryStage(Grouping(strategy, Together({"n": (Count(), None), "all": (Collect(), 0)})))
    stream = feed("k string, at long, v int")
    out = bl.windowed(
        stream.frame.selectExpr("k", "timestamp_millis(at) at", "v"),
        key="k",
        timestamp="at",
        watermark="30 seconds",
        window=strategy.window_fn,
        trigger=strategy.trigger,
        accumulation=strategy.accumulation,
        allowed_lateness=strategy.allowed_lateness,
        timestamp_combiner=strategy.timestamp_combiner,
        closing_behavior=strategy.closing_behavior,
        on_time_behavior=strategy.on_time_behavior,
        aggregate={"n": bl.count(), "all": bl.collect("v")},
        output="all",
        shards=2,
        buckets=2,
    )
    stream.start(out)

    emitted: list[Output] = []
    for batch in random_batches(sum(map(ord, name))):
        shown = stream.send(*({"k": k, "at": at, "v": v} for k, at, v in batch))

        arrive = Arrive(tuple((k, Element((v,), at)) for k, at, v in batch))
        expected = list(stage.play(arrive))
        reported = millis(stream.query.lastProgress.eventTime["watermark"])
        if reported is not None and reported > stage.watermark and reported > 0:
            expected += stage.play(AdvanceWatermark(reported))
        emitted += expected
        assert sorted(map(as_shown, shown), key=repr) == sorted(
            (as_shown_(str(output.key), output.effect) for output in expected), key=repr
        )

    kinds = {type(output.effect).__name__ for output in emitted}
    assert kinds == ({"Pane"} if name == "global" else {"Pane", "Drop"})

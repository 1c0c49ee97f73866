"""All windows of a query come to their end, and the query stops."""

import json
from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.transforms import userstate
from beamlike.beam.transforms.timeutil import TimeDomain
from beamlike.errors import StateError
from beamlike.hosts.spark.drain import Log, mark_end
from tests.support.queries.rows import MakeFeed, event
from tests.support.queries.shown import lines
from tests.support.refusals import refusal

EVENTS = "user string, at timestamp, v int"


@pytest.mark.spark
def test_open_windows_come_out_on_time_or_late_and_nothing_is_open_then(
    spark: Any, feed: MakeFeed, sink: Any, tmp_path: Path
) -> None:
    events = feed(EVENTS)
    hours = bl.windowed(
        events.frame,
        key="user",
        timestamp="at",
        watermark="10 minutes",
        window=bl.FixedWindows("1 hour"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(5)),
        accumulation="accumulating",
        allowed_lateness="1 day",
        aggregate={"n": bl.count()},
        output="all",
        shards=2,
        buckets=2,
    )
    kept = tmp_path / "0" / "checkpoint"  # that of the feed
    events.start(hours)
    events.send(event("ann", "00:05:00"), event("ann", "00:06:00"), event("eva", "00:07:00"))
    # The watermark comes to 01:20, and the first hour is over.
    events.send(event("bob", "01:30:00"), event("ann", "01:10:00"))
    events.stop()
    # Late, and no pane before four more.
    events.put(event("ann", "00:08:00"))

    bl.drain(sink.of(hours), kept)

    assert bl.open_state(spark, kept).windows.num_rows == 0
    assert lines([row for _, row in events.numbered]) == [
        "ann 2 | 00:00-01:00 EARLY 0",
        "ann 2 | 00:00-01:00 ON_TIME 1",
        "eva 1 | 00:00-01:00 ON_TIME 0",
    ]
    assert lines([{**row, "dropped": row.get("dropped")} for row in sink.rows]) == [
        "ann 1 | 01:00-02:00 ON_TIME 0 last",
        "ann 3 | 00:00-01:00 LATE 2 last",
        "bob 1 | 01:00-02:00 ON_TIME 0 last",
    ]

    # What comes after it stays where it is.
    events.put(event("ann", "03:00:00"))
    before = Log.read(str(kept))
    bl.drain(sink.of(hours), kept)
    assert Log.read(str(kept)) == before
    assert len(sink.rows) == 3


@pytest.mark.nightly
@pytest.mark.spark
def test_groupings_that_follow_each_other_end_together(
    spark: Any, feed: MakeFeed, sink: Any, tmp_path: Path
) -> None:
    from pyspark.sql import functions as F

    events, prices = feed(EVENTS), feed(EVENTS)
    small: dict[str, Any] = {"shards": 2, "buckets": 2}
    tens = {"allowed_lateness": 0, "accumulation": "discarding"}

    def in_tens(frame: Any) -> Any:
        rows = bl.stream(frame, timestamp="at", watermark="1 minute")
        return rows.window(bl.FixedWindows("10 minutes"), **tens)

    paid = in_tens(prices.frame).with_columns({"paid": F.col("v")}).select("user", "paid")
    both = bl.join(in_tens(events.frame), paid, on="user", how="left", **small)
    hours = both.window(bl.FixedWindows("1 hour"), **tens)
    total = hours.group([], {"rows": bl.count()}, name="total", **small)
    kept = tmp_path / "checkpoint"
    events.put(event("ann", "00:05:00"), event("bob", "01:05:00"))
    prices.put(event("ann", "00:06:00"))
    first = sink.of(total.everything).option("checkpointLocation", str(kept))
    first.trigger(availableNow=True).start().awaitTermination()

    bl.drain(sink.of(total.everything), kept)

    state = bl.open_state(spark, kept)
    assert ([len(stage.windows) for stage in state.stages]) == [0, 0]
    shown = [{**row, "dropped": row.get("dropped")} for row in sink.rows]
    assert lines(shown) == ["1 | 00:00-01:00 ON_TIME 0 last", "1 | 01:00-02:00 ON_TIME 0 last"]


class Seen(beam.DoFn):
    """Shows what it has seen when a timer of event time fires, and at the end of the window."""

    SEEN = userstate.BagStateSpec("seen", beam.coders.VarIntCoder())
    LATER = userstate.TimerSpec("later", TimeDomain.WATERMARK)
    RING = userstate.TimerSpec("ring", TimeDomain.REAL_TIME)

    def process(
        self,
        row: Any,
        at: Any = beam.DoFn.TimestampParam,
        seen: Any = beam.DoFn.StateParam(SEEN),  # noqa: B008
        later: Any = beam.DoFn.TimerParam(LATER),  # noqa: B008
        ring: Any = beam.DoFn.TimerParam(RING),  # noqa: B008
    ) -> None:
        seen.add(row.v)
        later.set(at + 600)
        ring.offset(3600).set_relative()

    @userstate.on_timer(LATER)
    def on_later(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:  # noqa: B008
        yield ["later", sum(seen.read())]

    @userstate.on_timer(RING)
    def on_ring(self) -> Any:
        yield ["rang", 0]

    @userstate.on_window_expiration
    def on_end(self, seen: Any = beam.DoFn.StateParam(SEEN)) -> Any:  # noqa: B008
        yield ["end", sum(seen.read())]


@pytest.mark.nightly
@pytest.mark.spark
def test_timers_of_a_function_fire_its_windows_end_and_no_state_is_left(
    spark: Any, feed: MakeFeed, sink: Any, tmp_path: Path
) -> None:
    events = feed(EVENTS)
    rows = bl.stream(events.frame, timestamp="at", watermark="10 minutes")
    hours = rows.window(
        bl.FixedWindows("1 hour"), allowed_lateness="1 day", accumulation="discarding"
    )
    seen = hours.apply_per_key("user", Seen(), "what string, v int", shards=2, buckets=2)
    kept = tmp_path / "0" / "checkpoint"
    events.start(seen.rows)
    events.send(event("ann", "00:05:00", 1), event("bob", "00:55:00", 2))
    events.send(event("ann", "00:06:00", 4))  # the watermark is 00:45: ann's timers are due at once
    events.stop()
    before = bl.open_state(spark, kept)
    assert (before.cells.num_rows, before.timers.num_rows) == (2, 3)
    events.put(event("eva", "01:10:00", 8))

    bl.drain(sink.of(seen.rows), kept)

    after = bl.open_state(spark, kept)
    assert (after.cells.num_rows, after.timers.num_rows) == (0, 0)
    shown = [*(row for _, row in events.numbered), *sink.rows]
    assert sorted((row["user"], row["what"], row["v"]) for row in shown) == [
        ("ann", "end", 5),
        ("ann", "later", 1),
        ("ann", "later", 5),
        ("bob", "end", 2),
        ("bob", "later", 2),
        ("eva", "end", 8),
        ("eva", "later", 8),
    ]


def test_a_folder_without_a_checkpoint_is_refused_and_nothing_is_read(tmp_path: Path) -> None:
    class Writer:
        def trigger(self, **how: object) -> None:
            raise AssertionError("the query must not start")

    assert refusal(StateError, lambda: bl.drain(Writer(), tmp_path / "mistyped")) == (
        f"{tmp_path / 'mistyped'} is no checkpoint of a query that has run: it has no offsets; "
        "give the folder that the query has as checkpointLocation"
    )
    assert not (tmp_path / "mistyped").exists()


def test_panes_without_their_sink_are_refused(tmp_path: Path) -> None:
    assert refusal(StateError, lambda: bl.drain(object(), checkpoint(tmp_path))) == (
        "drain takes what starts the query, got object; pass "
        "panes.writeStream.foreachBatch(save), with the sink that it has had"
    )


# -- the mark ----------------------------------------------------------------------------------

OFFSETS = """v1
{"batchWatermarkMs":1577836500000,"batchTimestampMs":1795290425161,"conf":{"a":"b"}}
{"logOffset":1}
-"""


def checkpoint(home: Path, *, offsets: str = OFFSETS, done: bool = True) -> Path:
    """What a query of two sources leaves of its micro-batches."""
    (home / "offsets").mkdir(parents=True)
    (home / "commits").mkdir()
    for number, noted in ((8, ""), (9, ""), (10, offsets)):
        (home / "offsets" / str(number)).write_text(noted)
        if done or number < 10:
            (home / "commits" / str(number)).write_text("v1\n{}")
    return home


def test_a_mark_reads_nothing_and_has_the_end_of_time_for_its_watermark(tmp_path: Path) -> None:
    path = checkpoint(tmp_path)

    assert mark_end(str(path)) == 11

    version, facts, *sources = (path / "offsets" / "11").read_text().splitlines()
    reported = json.loads(facts)
    assert reported.pop("batchTimestampMs") >= 1795290425161
    assert (version, reported, sources) == (
        "v1",
        {"batchWatermarkMs": 9223372036854775, "conf": {"a": "b"}},
        ['{"logOffset":1}', "-"],
    )
    assert sorted(it.name for it in (path / "offsets").iterdir()) == ["10", "11", "8", "9"]


def test_a_mark_that_is_there_is_left_as_it_is(tmp_path: Path) -> None:
    path = checkpoint(tmp_path)
    mark_end(f"file://{path}")
    before = (path / "offsets" / "11").read_text()

    assert mark_end(str(path)) == 11

    assert (path / "offsets" / "11").read_text() == before
    assert not (path / "offsets" / "12").exists()


def test_a_micro_batch_that_broke_off_has_to_run_first(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, done=False)

    assert refusal(StateError, lambda: mark_end(str(path))) == (
        f"micro-batch 10 of the checkpoint {path} has not run to its end: start the query once "
        "more, until it waits for data, stop it, and drain it then"
    )


@pytest.mark.parametrize(
    ("offsets", "version"),
    [
        *(("v2\n{}\n{}", "'v2'"), ("", "'nothing'"), ("v1\nno json", "'v1'"), ("v1\n{}", "'v1'")),
        *(("v1\n[7]", "'v1'"), ("v1\n7", "'v1'"), (f"v1\n{'[' * 9_000}", "'v1'")),
        ('v1\n{"batchWatermarkMs":"7","batchTimestampMs":8}', "'v1'"),
    ],
    ids=["version", "nothing", "no JSON", "no facts", "a list", "a number", "deep", "a text"],
)
def test_offsets_that_are_kept_otherwise_are_refused(tmp_path: Path, offsets: str, version: str):
    path = checkpoint(tmp_path, offsets=offsets)

    assert refusal(StateError, lambda: mark_end(str(path))) == (
        f"the offsets of the checkpoint {path} are of {version}, and only 'v1' is known here; to "
        "end its windows, send rows whose time is past them"
    )


def test_the_checkpoint_of_a_pipeline_has_a_drain_of_its_own(tmp_path: Path) -> None:
    checkpoint(tmp_path / "query")

    assert refusal(StateError, lambda: mark_end(str(tmp_path))) == (
        f"{tmp_path} is the checkpoint of a pipeline; run the pipeline, and call drain() of what "
        "run() returns"
    )

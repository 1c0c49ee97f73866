"""A stopped query goes on: with other words, its state repartitioned, its sources changed.

Where panes are compared, those after a restart from the changed checkpoint are those of a query
over the same rows with a checkpoint that stays as it is. Which words may differ is a table of
docs/pages/operating.md; `tests/hosts/test_changes.py` has an example of each of its rows.
"""

import json
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException

import beamlike as bl
from beamlike.cli import main
from beamlike.errors import StateError
from tests.support.queries.rows import MakeFeed, event
from tests.support.queries.shown import lines

pytestmark = pytest.mark.spark

HITS = "user string, at string"
EVOLVES = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
USERS = "abcdefgh"


def panes(hits: Any, **parts: Any) -> Any:
    """Each visit early, and on time, and late."""
    rows = bl.stream(hits, timestamp="at", watermark="5 minutes").window(
        bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="1 hour",
    )
    stream = rows.group("user", {"n": bl.count()}, shards=4, buckets=2, **parts)
    kept = ("user", "n", "window.start", "window.end", "pane.index", "pane.timing", "retraction")
    return stream.rows.selectExpr(*kept)


def arrive(inbox: Path, name: str, *minutes: int) -> None:
    """Each user comes at these minutes after noon."""
    inbox.mkdir(exist_ok=True)
    lines = (
        json.dumps({"user": user, "at": f"2026-05-04 {12 + minute // 60}:{minute % 60:02}:00Z"})
        for minute in minutes
        for user in USERS
    )
    (inbox / f"{name}.json").write_text("\n".join(lines))


def reading(spark: Any, inbox: Path, name: str | None = None) -> Any:
    reader = spark.readStream.schema(HITS).option("maxFilesPerTrigger", 1)
    reader = reader if name is None else reader.name(name)
    return reader.json(str(inbox))


def run(out: Any, checkpoint: Path) -> list[tuple[Any, ...]]:
    """What comes out until the input ends."""
    rows: list[tuple[Any, ...]] = []
    writer = out.writeStream.foreachBatch(lambda batch, _: rows.extend(map(tuple, batch.collect())))
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    writer.start().awaitTermination()
    return sorted(rows, key=str)


@pytest.mark.parametrize("times", ["once", "twice"])
def test_state_over_more_partitions_goes_on_with_the_same_panes(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], times: str
) -> None:
    inbox, came = tmp_path / "in", {}
    hits = reading(spark, (inbox.mkdir(), inbox)[1])
    steps = ((0, 7), (5, 40), (30, 90))[: 2 if times == "once" else 3]
    for number, minutes in enumerate(steps):
        arrive(inbox, str(number), *minutes)
        for way in ("changed", "as it was"):
            came.setdefault(way, []).append(run(panes(hits), tmp_path / way))
        if number == 0:
            assert main(["repartition", str(tmp_path / "changed"), "3"]) == 0
            assert "has 3 partitions, as of micro-batch" in capsys.readouterr().out
        if number == 1 and times == "twice":
            bl.repartition(spark, tmp_path / "changed", 4)
    assert came["changed"] == came["as it was"]
    assert all(came["changed"])


def test_spark_reads_what_its_file_sink_wrote_if_the_micro_batch_is_noted_there(
    spark: Any, setting: Any, tmp_path: Path
) -> None:
    """Also where it gathers its notes, here in each second micro-batch."""
    setting("spark.sql.streaming.fileSink.log.compactInterval", "2")
    inbox, out, checkpoint = tmp_path / "in", tmp_path / "out", tmp_path / "checkpoint"
    inbox.mkdir()
    hits, found = reading(spark, inbox), []
    for number, minutes in enumerate(((0, 7), (5, 40), (50, 90))):
        arrive(inbox, str(number), *minutes)
        writer = panes(hits).writeStream.format("parquet").option("path", str(out))
        writer = writer.option("checkpointLocation", str(checkpoint))
        writer.trigger(availableNow=True).start().awaitTermination()
        found.append(spark.read.parquet(str(out)).count())
        if number < 2:
            bl.repartition(spark, checkpoint, 3 + number, output=out)
    assert spark.read.parquet(str(out)).count() == found[-1]
    rows = sorted(map(tuple, spark.read.parquet(str(out)).collect()), key=str)
    assert rows == run(panes(hits), tmp_path / "another")


def test_what_cannot_be_repartitioned_is_refused(spark: Any, tmp_path: Path) -> None:
    inbox, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    arrive(inbox, "0", 0)
    with pytest.raises(StateError, match="is no checkpoint of a query that has run"):
        bl.repartition(spark, tmp_path / "nothing", 3)
    run(panes(reading(spark, inbox)), checkpoint)
    with pytest.raises(StateError, match="is no folder that the query writes to"):
        bl.repartition(spark, checkpoint, 3, output=inbox)
    has = int(spark.conf.get("spark.sql.shuffle.partitions"))
    with pytest.raises(StateError, match="Spark does not repartition the state of"):
        bl.repartition(spark, checkpoint, has)


@pytest.mark.parametrize("clocked", [False, True])
def test_named_sources_may_change_their_order_and_others_join_them(
    spark: Any, setting: Any, tmp_path: Path, clocked: bool
) -> None:
    """With the ticks of a trigger by the clock, too, which are a source like the others."""
    setting(EVOLVES, "true")  # sources are known by their names
    boxes = {name: tmp_path / name for name in ("clicks", "taps", "swipes")}
    for box in boxes.values():
        box.mkdir()
    parts = {"wake_every": "1 day"} if clocked else {}

    def union(*names: str) -> Any:
        frames = [reading(spark, boxes[name], name) for name in names]
        rows = bl.stream(
            reduce(lambda one, other: one.unionByName(other), frames),
            timestamp="at",
            watermark="5 minutes",
        )
        early = bl.AfterProcessingTime("10 days") if clocked else bl.AfterCount(1)
        windowed = rows.window(
            bl.Sessions("10 minutes"),
            trigger=bl.AfterWatermark(early=early, late=bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="1 hour",
        )
        stream = windowed.group("user", {"n": bl.count()}, shards=4, buckets=2, **parts)
        return stream.rows.select("user", "n", "window.start", "pane.index", "pane.timing")

    changes = (("clicks", "taps"), ("taps", "clicks"), ("swipes", "taps", "clicks"))
    came: dict[str, list[Any]] = {"changed": [], "as it was": []}
    for number, names in enumerate(changes):
        for name in names:
            arrive(boxes[name], str(number), 40 * number + len(name))
        came["changed"].append(run(union(*names), tmp_path / "changed"))
        came["as it was"].append(run(union("clicks", "taps", "swipes"), tmp_path / "all"))
    assert came["changed"] == came["as it was"]
    assert came["changed"][-1]


EVENTS = "user string, at timestamp, v int"


def clocked(delay: str) -> bl.AfterWatermark:
    """Early panes by the clock, long after the test."""
    return bl.AfterWatermark(early=bl.AfterProcessingTime(delay), late=bl.AfterCount(1))


HOURS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "10 minutes",
    "window": bl.FixedWindows("1 hour"),
    "trigger": clocked("10 days"),
    "accumulation": "accumulating",
    "allowed_lateness": "12 hours",
    "aggregate": {"n": bl.count()},
    "output": "all",
    "shards": 2,
    "buckets": 2,
    "wake_every": "1 day",
}


@pytest.mark.nightly
def test_other_lateness_delays_and_watermark_go_on_and_a_trigger_without_a_clock_does_not(
    spark: Any, feed: MakeFeed, setting: Any
) -> None:
    events = feed(EVENTS)
    events.start(bl.windowed(events.frame, **HOURS))
    # The watermark is at 02:50. The first hour waits for late rows, the third for its end.
    first = events.send(
        event("ann", "00:05:00"), event("ann", "02:10:00"), event("bob", "03:00:00")
    )
    events.stop()

    changed = HOURS | {
        "trigger": clocked("20 days"),
        "allowed_lateness": "1 hour",
        "watermark": "1 minute",
        "wake_every": "2 days",
        "machine": "reference",
        "name": "hours",
    }
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    setting("spark.sql.shuffle.partitions", "5")
    events.start(bl.windowed(events.frame, **changed))
    second = events.send(event("ann", "00:10:00"), event("bob", "03:10:00"))
    third = events.send(event("ann", "02:20:00"), event("eva", "05:00:00"))
    progress = [it["stateOperators"] for it in events.query.recentProgress]
    events.stop()

    assert lines(first) == ["ann 1 | 00:00-01:00 ON_TIME 0"]
    assert lines(second) == [
        "ann 1 | 02:00-03:00 ON_TIME 0",
        'dropped by hours, expired: {"user":"ann"} | timestamp 00:10, watermark 02:50, missed_ms '
        "3000001, window 00:00-01:00, count 1",
    ]
    assert lines(third) == ["ann 2 | 02:00-03:00 LATE 1", "bob 2 | 03:00-04:00 ON_TIME 0"]
    # Spark keeps the number that the checkpoint has.
    assert {it["numShufflePartitions"] for (it,) in progress} == {int(partitions)}

    plain = HOURS | {"trigger": bl.AfterWatermark(late=bl.AfterCount(1))}
    events.start(bl.windowed(events.frame, **plain))
    with pytest.raises(StreamingQueryException) as refused:
        events.send(event("ann", "05:10:00"))
    assert "There are [2] sources in the checkpoint offsets and now there are [1] sources" in str(
        refused.value
    )

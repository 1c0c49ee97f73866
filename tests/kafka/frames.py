"""The trials of `beamlike.kafka`: streams of topics, and panes in topics."""

import json
import os
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

import beamlike as bl
from tests.kafka import million
from tests.kafka.client import NOON, Kafka
from tests.support.pages import blocks_of, check_blocks


def a_million_events(kafka: Kafka, home: Path) -> str:
    """Sessions of many events, by a driver that is killed three times: the compacted topic has them
    all, and what could not be read is in a topic of its own."""
    kafka.topic("events", million.PARTITIONS)
    kafka.topic("sessions", million.PARTITIONS, cleanup_policy="compact", segment_ms="1000")
    kafka.topic("unreadable")
    sent = list(million.events())
    rows = {
        "partition": pa.array([event.partition for event in sent], pa.int32()),
        "key": [event.user for event in sent],
        "value": [event.value for event in sent],
    }
    kafka.append(pa.table(rows), "events")
    killed = million.run_and_kill(kafka.servers, "events", "sessions", "unreadable", home)
    standing: dict[str, dict[str, Any]] = {}
    timings, deleted = Counter[str](), 0
    for record in kafka.records("sessions"):
        if record.value is None:
            standing.pop(record.key, None)
            deleted += 1
        else:
            standing[record.key] = json.loads(record.value)
            timings[record.headers["pane.timing"]] += 1
    sessions = {
        (
            *(result["user"], *map(_millis, (result["window"]["start"], result["window"]["end"]))),
            *(result["clicks"], result["amount"]),
        )
        for result in standing.values()
    }
    wanted = million.expected(sent)
    assert sessions == wanted, (len(sessions), len(wanted), list(sessions ^ wanted)[:5])
    lost = Counter(json.loads(record.value)["reason"] for record in kafka.records("unreadable"))
    places = {json.loads(record.value)["element"] for record in kafka.records("unreadable")}
    assert set(lost) == {"unreadable_value"}, lost
    assert len(places) == sum(event.amount is None for event in sent), (len(places), lost)
    assert deleted, "sessions that merge are deleted"
    assert timings["ON_TIME"] > len(wanted) // 2, f"the silent partition holds back: {timings}"
    return (
        f"{len(sent):,} events, killed after {killed} micro-batches: {len(wanted):,} sessions, "
        f"{sum(timings.values()):,} records and {deleted:,} tombstones after compaction, "
        f"{len(places):,} dead letters"
    )


def _millis(text: str) -> int:
    return round((datetime.fromisoformat(text).timestamp() - NOON) * 1000)


def avro(kafka: Kafka, home: Path) -> None:
    """Values of Avro are read and written; one that is not Avro is a dead letter."""
    schema = json.dumps(
        {
            **{"type": "record", "name": "Click"},
            "fields": [{"name": "user", "type": "string"}, {"name": "n", "type": "int"}],
        }
    )
    for topic in ("avro", "prefixed", "sums of avro", "lost avro"):
        kafka.topic(topic.replace(" ", "-"))
    ann, bob = b"\x06ann\x02", b"\x06bob\x04"
    for topic, values in (
        ("avro", [ann, bob, ann, b"\xff\xff"]),
        ("prefixed", [b"\x00\x00\x00\x00\x07" + ann]),
    ):
        kafka.append(pa.table({"value": pa.array(values, pa.binary())}), topic)
    prefixed = bl.kafka.read(
        kafka.spark, kafka.servers, "prefixed", value=bl.kafka.Avro(schema, skip=5), bounded=True
    )
    assert [(row.user, row.n) for row in prefixed.rows.collect()] == [("ann", 1)]
    read = bl.kafka.read(
        kafka.spark, kafka.servers, "avro", value=bl.kafka.Avro(schema), bounded=True
    )
    sums = read.window(bl.FixedWindows("1 day")).group("user", {"n": bl.sum("n")})
    out = {"key": "user", "value": bl.kafka.Avro(), "dead_letters": "lost-avro"}
    bl.kafka.write(sums, kafka.servers, "sums-of-avro", **out).save()
    window = "struct<start: timestamp, end: timestamp>"
    panes = kafka.spark.createDataFrame([], f"user string, window {window}, n long, t timestamp")
    written = schema_of_avro(panes)
    again = bl.kafka.read(
        kafka.spark, kafka.servers, "sums-of-avro", value=bl.kafka.Avro(written), bounded=True
    )
    assert sorted((row.user, row.n) for row in again.rows.collect()) == [("ann", 2), ("bob", 2)]
    (letter,) = kafka.records("lost-avro")
    assert json.loads(letter.value)["reason"] == "unreadable_value"


def schema_of_avro(frame: Any) -> str:
    """The schema that Spark writes columns with."""
    java = frame.sparkSession._jvm.org.apache.spark.sql.avro.SchemaConverters
    catalyst = frame._jdf.schema()
    return str(java.toAvroType(catalyst, False, "topLevelRecord", "").toString())


def the_page(kafka: Kafka, home: Path) -> None:
    """The page that says how it is done."""
    page = Path(__file__).parents[2] / "docs" / "pages" / "kafka.md"
    for topic, settings in (
        ("clicks", {}),
        ("visits", {"cleanup_policy": "compact"}),
        ("unread", {}),
    ):
        kafka.topic(topic, 4 if topic != "unread" else 1, **settings)
    os.chdir(home)
    names = {"spark": kafka.spark, "servers": kafka.servers}
    check_blocks("kafka.md", blocks_of(page.read_text(encoding="utf-8")), names)


def windows_that_are_over(kafka: Kafka, home: Path) -> None:
    """Accumulating panes of five minutes in several runs of a job: each window has a last pane and
    a tombstone behind it, and is gone from the compacted topic."""
    kafka.topic("readings", 2)
    kafka.topic("levels", 2, cleanup_policy="compact")

    def run() -> None:
        readings = bl.kafka.read(
            kafka.spark, kafka.servers, "readings", watermark="1 minute", idle_after="1 day"
        )
        windows = readings.window(
            bl.FixedWindows("5 minutes"),
            trigger=bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
            accumulation="accumulating",
            allowed_lateness="10 minutes",
            closing_behavior="fire_always",
        )
        levels = windows.group("key", {"n": bl.count()}, shards=2)
        write = bl.kafka.write(
            levels, kafka.servers, "levels", key="key", expired="delete", config={"acks": "all"}
        )
        query = write.option("checkpointLocation", str(home / "levels")).trigger(availableNow=True)
        query.start().awaitTermination()

    ahead = [("clock", "x", partition, 3600) for partition in (0, 1)]
    for records in (
        [("ann", "x", 0, 0), ("bob", "x", 1, 10)],
        [("ann", "x", 0, 20), ("ann", "x", 0, 400), ("bob", "x", 1, 700)],
        ahead,
        ahead,
    ):
        kafka.send("readings", *records)
        run()
    history: dict[tuple[str, int], list[Any]] = {}
    for record in kafka.records("levels"):
        key = json.loads(record.key)
        start = _millis(key["window"]["start"]) // 1000
        count = None if record.value is None else json.loads(record.value)["n"]
        history.setdefault((key["key"], start), []).append((count, record.headers["change"]))
    over = {name: changes for name, changes in history.items() if name[0] != "clock"}
    assert set(over) == {("ann", 0), ("ann", 300), ("bob", 0), ("bob", 600)}, over
    for (user, start), changes in over.items():
        *before, (last, change), tombstone = changes
        assert tombstone == (None, "expired"), changes
        assert (last, change) == (2 if (user, start) == ("ann", 0) else 1, "upsert"), changes
        assert all(change == "upsert" for _, change in before), changes
    standing = [name for name, changes in history.items() if changes[-1][0] is not None]
    assert {name for name, _ in standing} == {"clock"}, standing

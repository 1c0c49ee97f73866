"""The trials: ``python -m tests.kafka.trials SERVERS TRIAL HOME``, in an environment of its own.

``BEAMLIKE_JARS`` is the class path of Spark's connector.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.errors import BeamlikeError, PipelineError, WindowingError
from tests.kafka import million
from tests.support.pages import blocks_of, check_blocks

_JAVA: Final = "org.apache.kafka.common.serialization.String"
TEXTS: Final = (f"{_JAVA}Deserializer", f"{_JAVA}Deserializer")
_NOON: Final = 1_577_880_000
"""2020-01-01 12:00 (s)."""


@attrs.frozen
class Record:
    """A record of a topic, in text."""

    key: str
    value: Any
    headers: Mapping[str, str]


class Kafka:
    """A broker as the trials use it.

    Args:
        servers: Its address.
    """

    def __init__(self, servers: str) -> None:
        jars = os.environ["BEAMLIKE_JARS"]
        self.servers, self.config = servers, {"bootstrap.servers": servers}
        self.spark: Any = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.extraClassPath", jars)
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.ui.enabled", "false")
            .config(
                "spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
            )
            .getOrCreate()
        )
        self.spark.sparkContext.setLogLevel("ERROR")

    def topic(self, name: str, partitions: int = 1, **settings: str) -> str:
        """A new topic, with settings whose dots are underscores."""
        java = self.spark._jvm
        properties = java.java.util.Properties()
        properties.put("bootstrap.servers", self.servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(properties)
        topics = java.java.util.ArrayList()
        topic = java.org.apache.kafka.clients.admin.NewTopic(name, partitions, 1)
        configs = java.java.util.HashMap()
        for setting, text in settings.items():
            configs.put(setting.replace("_", "."), text)
        topics.add(topic.configs(configs))
        admin.createTopics(topics).all().get()
        admin.close()
        return name

    def send(self, topic: str, *records: tuple[str, str, int, int]) -> None:
        """Records: key, value, partition, and seconds from noon on as the time of the record."""
        java = self.spark._jvm
        properties = java.java.util.Properties()
        properties.put("bootstrap.servers", self.servers)
        for side in ("key", "value"):
            properties.put(f"{side}.serializer", f"{_JAVA}Serializer")
        producer = java.org.apache.kafka.clients.producer.KafkaProducer(properties)
        for key, value, partition, seconds in records:
            record = java.org.apache.kafka.clients.producer.ProducerRecord(
                topic, partition, (_NOON + seconds) * 1000, key, value
            )
            producer.send(record).get()
        producer.close()

    def append(self, rows: pa.Table, topic: str) -> None:
        """Many records, in their order: of columns key, value and partition."""
        frame = self.spark.createDataFrame(rows).coalesce(1).write.format("kafka")
        frame.option("kafka.bootstrap.servers", self.servers).option("topic", topic).save()

    def records(self, topic: str) -> list[Record]:
        """All records of a topic, by partition and offset, read by Spark alone."""
        reader = self.spark.read.format("kafka").option("kafka.bootstrap.servers", self.servers)
        rows = reader.option("subscribe", topic).option("includeHeaders", "true").load()
        table = rows.selectExpr(
            *("partition", "offset", "string(key) key", "string(value) value"),
            "transform(headers, h -> struct(h.key key, string(h.value) value)) headers",
        ).toArrow()
        return [
            Record(
                row["key"],
                row["value"],
                {header["key"]: header["value"] for header in row["headers"] or ()},
            )
            for row in table.sort_by(
                [("partition", "ascending"), ("offset", "ascending")]
            ).to_pylist()
        ]

    def read(self, topics: Sequence[str], **options: Any) -> list[tuple[str, str]]:
        """What a pipeline over what is there gives out."""
        pipeline, pairs = beam.Pipeline(runner="SparkRunner"), list[tuple[str, str]]()
        records = pipeline | ReadFromKafka(
            {**self.config, **options.pop("config", {})}, topics, *TEXTS, **options
        )
        _ = records | beam.WriteRows(
            "k string, v string", lambda rows, _number: pairs.extend(map(tuple, rows.collect()))
        )
        pipeline.run().wait_until_finish()
        return sorted(pairs)

    def counts(self, topics: Sequence[str], home: Path, **options: Any) -> list[tuple[str, int]]:
        """Records by key and five minutes of their own times, of a stream until all are taken."""
        pipeline, counted = beam.Pipeline(runner="SparkRunner"), list[tuple[str, int]]()
        records = pipeline | ReadFromKafka(
            {**self.config, "auto.offset.reset": "earliest"},
            topics,
            *TEXTS,
            timestamp_policy=ReadFromKafka.create_time_policy,
            **options,
        )
        counts = (
            records
            | beam.Map(lambda pair: (pair[0], 1))
            | beam.WindowInto(beam.FixedWindows("5 minutes"))
            | beam.CombinePerKey(sum)
        )
        _ = counts | beam.WriteRows(
            "k string, n long", lambda rows, _number: counted.extend(map(tuple, rows.collect()))
        )
        result = pipeline.run(checkpoint=str(home / f"checkpoint-{time.monotonic_ns()}"))
        result.query.processAllAvailable()
        result.cancel()
        return sorted(counted)


def there_and_back(kafka: Kafka, home: Path) -> None:
    """Records are read, summed by minute, and written to another topic."""
    kafka.topic("counted", 2)
    kafka.send("counted", ("ann", "1", 0, 0), ("ann", "2", 1, 30), ("bob", "4", 1, 90))
    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | ReadFromKafka(
        kafka.config, ["counted"], *TEXTS, max_read_time=1, timestamp_policy="CreateTime"
    )
    sums = (
        clicks
        | beam.Map(lambda pair: (pair[0], int(pair[1])))
        | beam.WindowInto(beam.FixedWindows(60))
        | beam.CombinePerKey(sum)
        | beam.Map(lambda pair: (pair[0], str(pair[1])))
    )
    kafka.topic("sums")
    serializers = (f"{_JAVA}Serializer", f"{_JAVA}Serializer")
    _ = sums | WriteToKafka(kafka.config, "sums", *serializers)
    pipeline.run().wait_until_finish()
    assert kafka.read(["sums"], max_read_time=1) == [("ann", "3"), ("bob", "4")]


def a_partition_that_lags(kafka: Kafka, home: Path) -> None:
    """Records of a partition that is an hour behind the other are not late."""
    kafka.topic("uneven", 2)
    ahead = [("ann", "x", 0, 3600 + seconds) for seconds in range(0, 600, 60)]
    behind = [("bob", "x", 1, seconds) for seconds in range(0, 600, 60)]
    kafka.send("uneven", *ahead)
    kafka.send("uneven", *behind, ("bob", "x", 1, 4200), ("ann", "x", 0, 4200))
    counted = kafka.counts(["uneven"], home, idle_after="1 day")
    assert counted == [("ann", 5), ("ann", 5), ("bob", 5), ("bob", 5)]


def from_a_time_on(kafka: Kafka, home: Path) -> None:
    """A partition without a later record begins with the next one."""
    kafka.topic("sparse", 2)
    kafka.send("sparse", ("ann", "early", 0, 0), ("bob", "early", 1, 0), ("bob", "late", 1, 600))
    since = (_NOON + 300) * 1000
    assert kafka.read(["sparse"], max_read_time=1, start_read_time=since) == [("bob", "late")]


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
        f"{sum(timings.values()):,} records, {deleted:,} tombstones, {len(places):,} dead letters"
    )


def _millis(text: str) -> int:
    instant = datetime.fromisoformat(text)
    return round((instant.timestamp() - _NOON) * 1000)


def what_is_refused(kafka: Kafka, home: Path) -> None:
    """An option that Spark refuses and a topic that is not there are named."""
    kafka.topic("empty")
    with pytest.raises(PipelineError, match=r"enable\.auto\.commit"):
        kafka.read(["empty"], max_read_time=1, config={"enable.auto.commit": "true"})
    with pytest.raises(BeamlikeError, match="nowhere"):
        kafka.read(["nowhere"], max_read_time=1)
    servers = kafka.servers
    for options, words in (
        ({"topics": "nowhere"}, "has no topic 'nowhere'"),
        ({"config": {"enable.auto.commit": "true"}}, r"refuses an option: .*enable\.auto\.commit"),
        ({"config": {"security.protocl": "SSL"}}, "'security.protocl'; 'security.protocol' is one"),
        ({"config": {"key.deserializer": "x"}}, r"refuses an option: .*key\.deserializer"),
    ):
        with pytest.raises(PipelineError, match=words):
            bl.kafka.read(
                kafka.spark, servers, **{"topics": "empty", "watermark": "0 s", **options}
            )
    read = bl.kafka.read(kafka.spark, servers, "empty", watermark="0 s")
    hour = bl.FixedWindows("1 hour")
    parts = {"trigger": bl.AfterWatermark(late=bl.AfterCount(1)), "allowed_lateness": "1 day"}
    panes = read.window(hour).group("key", {"n": bl.count()})
    with pytest.raises(PipelineError, match="has no topic 'nowhere'"):
        bl.kafka.write(panes, servers, "nowhere", key="key")
    with pytest.raises(PipelineError, match="has no topic 'lost'"):
        bl.kafka.write(panes, servers, "empty", key="key", dead_letters="lost")
    with pytest.raises(PipelineError, match=r"'compresion\.type'; 'compression\.type' is one"):
        bl.kafka.write(panes, servers, "empty", key="key", config={"compresion.type": "lz4"})
    kafka.topic("compacted", cleanup_policy="compact")
    assert bl.kafka.write(panes, servers, "compacted", key="key"), "one pane for each window"
    with pytest.raises(PipelineError, match="'compacted' is compacted, and dead letters have no"):
        bl.kafka.write(panes, servers, "empty", key="key", dead_letters="compacted")
    several = read.window(hour, accumulation="discarding", **parts)
    with pytest.raises(WindowingError, match="the last part would stay"):
        bl.kafka.write(several.group("key", {"n": bl.count()}), servers, "compacted", key="key")


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


TRIALS: Final[Mapping[str, Callable[[Kafka, Path], str | None]]] = {
    "there and back": there_and_back,
    "a partition that lags": a_partition_that_lags,
    "from a time on": from_a_time_on,
    "what is refused": what_is_refused,
    "the page": the_page,
    "avro": avro,
    "a million events": a_million_events,
}


def main() -> None:
    """Run the trials that are named, against a broker."""
    servers, home, *names = sys.argv[1:]
    kafka = Kafka(servers)
    for name in names:
        started = time.monotonic()
        print(f"{name}: begins", flush=True)
        said = TRIALS[name](kafka, Path(home)) or ""
        print(f"{name}: holds, {time.monotonic() - started:.0f} s | {said}", flush=True)
    with suppress(Exception):
        kafka.spark.stop()


if __name__ == "__main__":
    main()

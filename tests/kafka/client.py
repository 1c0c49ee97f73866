"""A broker as the trials use it. ``BEAMLIKE_JARS`` is the class path of Spark's connector."""

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
import pyarrow as pa
from pyspark.sql import SparkSession

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka

JAVA: Final = "org.apache.kafka.common.serialization.String"
TEXTS: Final = (f"{JAVA}Deserializer", f"{JAVA}Deserializer")
NOON: Final = 1_577_880_000
"""2020-01-01 12:00 (s)."""


@attrs.frozen
class Record:
    """A record of a topic, in text."""

    key: str
    value: Any
    headers: Mapping[str, str]


class Kafka:
    """A broker as the trials use it."""

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
            properties.put(f"{side}.serializer", f"{JAVA}Serializer")
        producer = java.org.apache.kafka.clients.producer.KafkaProducer(properties)
        for key, value, partition, seconds in records:
            record = java.org.apache.kafka.clients.producer.ProducerRecord(
                topic, partition, (NOON + seconds) * 1000, key, value
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

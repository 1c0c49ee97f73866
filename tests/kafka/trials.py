"""The trials: ``python -m tests.kafka.trials SERVERS TRIAL HOME``, in an environment of its own.

``BEAMLIKE_JARS`` is the class path of Spark's connector.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.errors import BeamlikeError, PipelineError

_JAVA: Final = "org.apache.kafka.common.serialization.String"
TEXTS: Final = (f"{_JAVA}Deserializer", f"{_JAVA}Deserializer")
_NOON: Final = 1_577_880_000
"""2020-01-01 12:00 (s)."""


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

    def topic(self, name: str, partitions: int = 1) -> str:
        """A new topic."""
        java = self.spark._jvm
        properties = java.java.util.Properties()
        properties.put("bootstrap.servers", self.servers)
        admin = java.org.apache.kafka.clients.admin.AdminClient.create(properties)
        topics = java.java.util.ArrayList()
        topics.add(java.org.apache.kafka.clients.admin.NewTopic(name, partitions, 1))
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
    kafka.topic("clicks", 2)
    kafka.send("clicks", ("ann", "1", 0, 0), ("ann", "2", 1, 30), ("bob", "4", 1, 90))
    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | ReadFromKafka(
        kafka.config, ["clicks"], *TEXTS, max_read_time=1, timestamp_policy="CreateTime"
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


def what_is_refused(kafka: Kafka, home: Path) -> None:
    """An option that Spark refuses and a topic that is not there are named."""
    kafka.topic("empty")
    with pytest.raises(PipelineError, match=r"enable\.auto\.commit"):
        kafka.read(["empty"], max_read_time=1, config={"enable.auto.commit": "true"})
    with pytest.raises(BeamlikeError, match="nowhere"):
        kafka.read(["nowhere"], max_read_time=1)


TRIALS: Final[Mapping[str, Callable[[Kafka, Path], None]]] = {
    "there and back": there_and_back,
    "a partition that lags": a_partition_that_lags,
    "from a time on": from_a_time_on,
    "what is refused": what_is_refused,
}


def main() -> None:
    """Run the trials that are named, against a broker."""
    servers, home, *names = sys.argv[1:]
    kafka = Kafka(servers)
    for name in names:
        started = time.monotonic()
        print(f"{name}: begins", flush=True)
        TRIALS[name](kafka, Path(home))
        print(f"{name}: holds, {time.monotonic() - started:.0f} s", flush=True)
    with suppress(Exception):
        kafka.spark.stop()


if __name__ == "__main__":
    main()

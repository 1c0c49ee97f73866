"""Topics of Kafka, with a data source in place of Spark's connector: its options and columns.

The topics are lines of JSON in files, in the folder that stands for the servers.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.hosts import kafka_connector

pytestmark = pytest.mark.spark

_JAVA = "org.apache.kafka.common.serialization."
TEXT, NUMBER = f"{_JAVA}String", f"{_JAVA}Long"


@pytest.fixture
def connector(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A format with the options and columns of ``kafka``, a name that Spark lets no other have."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter
    from pyspark.sql.datasource import WriterCommitMessage as Message

    class Topics(DataSourceReader):
        def __init__(self, options: Any) -> None:
            self.folder = Path(options["kafka.bootstrap.servers"])
            self.topics = options["subscribe"].split(",")
            assert options["startingOffsets"] == "earliest"

        def read(self, partition: Any) -> Iterator[tuple[Any, ...]]:
            for topic in self.topics:
                path = self.folder / topic
                for at, line in enumerate(path.read_text().splitlines()):
                    key, value = (bytes.fromhex(it) for it in json.loads(line))
                    when = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=40 * at)
                    yield key, value, topic, 0, at, when, 0

    class Append(DataSourceWriter):
        def __init__(self, options: Any) -> None:
            self.folder = Path(options["kafka.bootstrap.servers"]) / "written"
            self.topic = options["topic"]

        def write(self, iterator: Iterator[Any]) -> Any:
            lines = [json.dumps([bytes(row.key).hex(), bytes(row.value).hex()]) for row in iterator]
            place = self.folder / self.topic
            place.mkdir(parents=True, exist_ok=True)
            (place / uuid4().hex).write_text("".join(f"{line}\n" for line in lines))
            return Message()

    class Kafka(DataSource):
        @classmethod
        def name(cls) -> str:
            return "topics"

        def schema(self) -> str:
            return (
                "key binary, value binary, topic string, partition int, offset long, "
                "timestamp timestamp, timestampType int"
            )

        def reader(self, schema: Any) -> Topics:
            return Topics(self.options)

        def writer(self, schema: Any, overwrite: bool) -> Append:
            assert not overwrite
            return Append(self.options)

    spark.dataSource.register(Kafka)
    monkeypatch.setattr(kafka_connector, "FORMAT", "topics")


def topic(folder: Path, name: str, *pairs: tuple[str, int]) -> None:
    """Records with these keys and values, 40 seconds apart."""
    lines = [json.dumps([k.encode().hex(), v.to_bytes(8, "big").hex()]) for k, v in pairs]
    (folder / name).write_text("".join(f"{line}\n" for line in lines))


def written(folder: Path, name: str) -> list[tuple[str, int]]:
    """The records that were written to a topic."""
    lines = [
        json.loads(line)
        for path in (folder / "written" / name).iterdir()
        for line in path.read_text().splitlines()
    ]
    return sorted((bytes.fromhex(k).decode(), int(v, 16)) for k, v in lines)


def described(row: Any) -> tuple[str, bytes]:
    """A record with what Kafka says of it, as a pair."""
    is_read_now = row.timestamp > 1767225600000 + 3_600_000  # not at its own time
    return f"{row.topic}/{row.partition}/{row.offset} {row.key} {is_read_now}", row.value


@pytest.mark.usefixtures("connector")
def test_records_are_read_by_their_own_times_summed_by_minute_and_written(tmp_path: Path):
    topic(tmp_path, "clicks", ("a", 1), ("a", 2), ("b", 4), ("a", 8))
    servers = {"bootstrap.servers": str(tmp_path)}
    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | ReadFromKafka(
        servers,
        ["clicks"],
        f"{TEXT}Deserializer",
        f"{NUMBER}Deserializer",
        max_num_records=10,
        timestamp_policy=ReadFromKafka.create_time_policy,
    )
    sums = clicks | beam.WindowInto(beam.window.FixedWindows(60)) | beam.CombinePerKey(sum)
    _ = sums | WriteToKafka(servers, "sums", f"{TEXT}Serializer", f"{NUMBER}Serializer")
    pipeline.run().wait_until_finish()
    assert written(tmp_path, "sums") == [("a", 3), ("a", 8), ("b", 4)]


@pytest.mark.nightly
@pytest.mark.usefixtures("connector")
def test_records_come_with_what_kafka_says_of_them(tmp_path: Path):
    topic(tmp_path, "clicks", ("a", 1), ("b", 2), ("c", 3))
    servers = {"bootstrap.servers": str(tmp_path)}
    pipeline = beam.Pipeline(runner="SparkRunner")
    clicks = pipeline | ReadFromKafka(servers, ["clicks"], max_num_records=2, with_metadata=True)
    _ = clicks | beam.Map(described) | WriteToKafka(servers, "described", f"{TEXT}Serializer")
    pipeline.run().wait_until_finish()
    assert written(tmp_path, "described") == [
        ("clicks/0/0 b'a' True", 1),
        ("clicks/0/1 b'b' True", 2),
    ]

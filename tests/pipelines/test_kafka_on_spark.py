"""Topics of Kafka, with a data source in place of Spark's connector: its options and columns."""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.hosts import kafka_connector
from tests.support import topics

pytestmark = pytest.mark.spark

_JAVA = "org.apache.kafka.common.serialization."
TEXT, NUMBER = f"{_JAVA}String", f"{_JAVA}Long"


@pytest.fixture
def connector(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spark.dataSource.register(topics.Topics)
    monkeypatch.setattr(kafka_connector, "FORMAT", topics.FORMAT)


def topic(folder: Path, name: str, *pairs: tuple[str, int]) -> None:
    """Records with these keys and values, 40 seconds apart."""
    topics.send(folder, name, *((k.encode(), v.to_bytes(8, "big")) for k, v in pairs))


def written(folder: Path, name: str) -> list[tuple[str, int]]:
    """The records that were written to a topic."""
    records = topics.received(folder, name)
    return sorted(((k or b"").decode(), int.from_bytes(v or b"", "big")) for k, v, _ in records)


def described(row: Any) -> tuple[str, bytes]:
    """A record with what Kafka says of it, as a pair."""
    is_read_now = row.timestamp > 1767225600000 + 3_600_000  # not at its own time
    (trace,) = [header.value.decode() for header in row.headers]
    return f"{row.topic}/{row.partition}/{trace} {row.key} {is_read_now}", row.value


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


def with_trace(pair: tuple[str, int]) -> beam.Row:
    key, value = pair
    return beam.Row(key=key, value=value or None, headers=[beam.Row(key="by", value=b"ann")])


@pytest.mark.usefixtures("connector")
def test_rows_are_written_with_headers_and_none_is_a_tombstone(tmp_path: Path) -> None:
    pipeline = beam.Pipeline(runner="SparkRunner")
    pairs = pipeline | beam.Create([("a", 1), ("b", 0)]) | beam.Map(with_trace)
    servers = {"bootstrap.servers": str(tmp_path)}
    serializers = f"{TEXT}Serializer", f"{NUMBER}Serializer"
    _ = pairs | WriteToKafka(servers, "traced", *serializers, with_headers=True)
    pipeline.run().wait_until_finish()
    assert sorted(topics.received(tmp_path, "traced"), key=str) == [
        (b"a", (1).to_bytes(8, "big"), {"by": "ann"}),
        (b"b", None, {"by": "ann"}),
    ]

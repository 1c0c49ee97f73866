"""Topics of Kafka, read and written, and what is refused.

On Spark a data source stands in place of the connector, for its options and columns.
"""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.errors import BeamlikeError, EnvironmentProblem, PipelineError, UnsupportedError
from beamlike.hosts import kafka_connector
from tests.support import topics

SERVERS = {"bootstrap.servers": "localhost:9092"}
_JAVA = "org.apache.kafka.common.serialization."
TEXT, NUMBER = f"{_JAVA}String", f"{_JAVA}Long"


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


@pytest.mark.spark
@pytest.mark.usefixtures("folders_for_kafka")
def test_records_are_read_by_their_own_times_summed_by_minute_and_written(tmp_path: Path):
    topic(tmp_path, "clicks", ("a", 1), ("a", 2), ("b", 4), ("a", 8))
    servers = {"bootstrap.servers": str(tmp_path)}
    pipeline = beam.Pipeline("SparkRunner")
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


@pytest.mark.spark
@pytest.mark.usefixtures("folders_for_kafka")
def test_records_come_with_what_kafka_says_of_them(tmp_path: Path):
    topic(tmp_path, "clicks", ("a", 1), ("b", 2), ("c", 3))
    servers = {"bootstrap.servers": str(tmp_path)}
    pipeline = beam.Pipeline("SparkRunner")
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


@pytest.mark.spark
@pytest.mark.usefixtures("folders_for_kafka")
def test_rows_are_written_with_headers_and_none_is_a_tombstone(tmp_path: Path) -> None:
    pipeline = beam.Pipeline("SparkRunner")
    pairs = pipeline | beam.Create([("a", 1), ("b", 0)]) | beam.Map(with_trace)
    servers = {"bootstrap.servers": str(tmp_path)}
    serializers = f"{TEXT}Serializer", f"{NUMBER}Serializer"
    _ = pairs | WriteToKafka(servers, "traced", *serializers, with_headers=True)
    pipeline.run().wait_until_finish()
    assert sorted(topics.received(tmp_path, "traced"), key=str) == [
        (b"a", (1).to_bytes(8, "big"), {"by": "ann"}),
        (b"b", None, {"by": "ann"}),
    ]


def test_kafka_is_for_spark() -> None:
    with pytest.raises(UnsupportedError) as raised:
        _ = beam.Pipeline() | ReadFromKafka(SERVERS, ["clicks"])
    assert str(raised.value) == (
        "ReadFromKafka works on Spark only, and this pipeline is for the host 'local'; write "
        'Pipeline(runner="SparkRunner"), or beamlike run --host spark'
    )
    with pytest.raises(UnsupportedError, match="WriteToKafka works on Spark only"):
        _ = beam.Pipeline() | beam.Create([(b"k", b"v")]) | WriteToKafka(SERVERS, "clicks")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: ReadFromKafka({}, ["a"]), "ReadFromKafka needs the servers"),
        (lambda: ReadFromKafka(SERVERS, "a"), 'topics must be a list such as \\["clicks"\\]'),
        (lambda: ReadFromKafka(SERVERS, ["a"], "x.Y"), "and not 'x.Y'; take bytes"),
        (
            lambda: ReadFromKafka(SERVERS, ["a"], timestamp_policy="Mine"),
            "timestamp_policy should be one of ProcessingTime, CreateTime, LogAppendTime",
        ),
        (
            lambda: ReadFromKafka(SERVERS, ["a"], max_nmu_records=5),
            "ReadFromKafka has no argument 'max_nmu_records' here",
        ),
    ],
)
def test_what_kafka_cannot_do_here(make: Any, problem: str) -> None:
    with pytest.raises(BeamlikeError, match=problem):
        make()


@pytest.mark.spark
def test_without_the_connector_there_is_a_word(spark: Any) -> None:
    with pytest.raises(EnvironmentProblem) as raised:
        _ = beam.Pipeline("SparkRunner") | ReadFromKafka(SERVERS, ["clicks"])
    assert str(raised.value).startswith(
        "ReadFromKafka needs Spark's Kafka connector, which is not on its class path; start Spark "
        "with --packages org.apache.spark:spark-sql-kafka-0-10_2.13:"
    )
    p = beam.Pipeline("SparkRunner")
    _ = p | beam.Create([(b"k", b"v")]) | WriteToKafka(SERVERS, "clicks")
    with pytest.raises(EnvironmentProblem, match="WriteToKafka needs Spark's Kafka connector"):
        p.run(spark=spark)


@pytest.mark.parametrize(
    ("words", "kind", "problem"),
    [
        (
            "Kafka option 'enable.auto.commit' is not supported as Kafka source doesn't commit any "
            "offsets.",
            PipelineError,
            "ReadFromKafka: Spark refuses an option: Kafka option 'enable.auto.commit'",
        ),
        ("[DATA_SOURCE_NOT_FOUND] kafka", EnvironmentProblem, "needs Spark's Kafka connector"),
    ],
)
def test_an_error_of_spark_is_taken_for_what_it_is(words: str, kind: type[Exception], problem: str):
    from pyspark.errors import AnalysisException, IllegalArgumentException

    raised = IllegalArgumentException if kind is PipelineError else AnalysisException
    with pytest.raises(kind, match=problem):
        kafka_connector.refused(raised(words), "ReadFromKafka")
    other = AnalysisException("the kafka topic has another problem")
    with pytest.raises(AnalysisException, match="another problem"):
        kafka_connector.refused(other, "ReadFromKafka")


def test_a_partition_without_a_later_record_begins_with_the_next_one() -> None:
    read = ReadFromKafka(SERVERS, ["clicks"], start_read_time=5, allow_duplicates=True)

    assert read._options["startingTimestamp"] == "5"
    assert read._options["startingOffsetsByTimestampStrategy"] == "latest"

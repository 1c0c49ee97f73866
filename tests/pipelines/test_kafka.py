"""Kafka where there is no Spark or no connector."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.errors import BeamlikeError, EnvironmentProblem, PipelineError, UnsupportedError
from beamlike.hosts import kafka_connector

SERVERS = {"bootstrap.servers": "localhost:9092"}


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

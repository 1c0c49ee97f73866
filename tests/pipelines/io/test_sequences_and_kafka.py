"""Sequences, impulses at regular times, and Kafka where there is no Spark or no connector."""

from collections.abc import Sequence
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io.external.generate_sequence import GenerateSequence
from beamlike.beam.io.kafka import ReadFromKafka, WriteToKafka
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.periodicsequence import PeriodicImpulse, PeriodicSequence, RebaseMode
from beamlike.beam.utils.timestamp import Timestamp
from beamlike.errors import BeamlikeError, EnvironmentProblem, PipelineError, UnsupportedError
from beamlike.hosts import kafka_connector
from tests.support.pipelines.files import HOSTS, read_by


def timed(element: Any, at: Any = beam.DoFn.TimestampParam) -> tuple[Any, float]:
    return element, float(at)


@HOSTS
def test_impulses_at_regular_times(host: str, request: pytest.FixtureRequest) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        plain = p | "Plain" >> PeriodicImpulse(5, 30, 10)
        assert_that(
            plain | "T1" >> beam.Map(timed), equal_to([(5.0, 5.0), (15.0, 15.0), (25.0, 25.0)])
        )
        data = p | "Data" >> PeriodicImpulse(0, fire_interval=10, data=["a", "b"])
        assert_that(data | "T2" >> beam.Map(timed), equal_to([("a", 0.0), ("b", 10.0)]), "Data is")
        own = [(Timestamp(7), "late"), (Timestamp(3), "later")]
        placed = p | "Own" >> PeriodicImpulse(0, 20, 10, data=own)
        assert_that(placed | "T3" >> beam.Map(timed), equal_to([("late", 7), ("later", 3)]), "Own")


@HOSTS
@pytest.mark.parametrize("times", [(60, 0, 70, 10), (70, 60, 10, 0), (0, 10, 60, 70)], ids=str)
def test_impulses_with_times_of_their_own_come_in_any_order_and_none_is_late(
    host: str, times: Sequence[int], request: pytest.FixtureRequest
) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        counts = (
            p
            | PeriodicImpulse(0, 40, 10, data=[(Timestamp(time), time) for time in times])
            | beam.WindowInto(beam.FixedWindows(60))
            | beam.combiners.Count.Globally().without_defaults()
            | beam.Map(lambda count, window=beam.DoFn.WindowParam: (int(window.start), count))
        )
        assert_that(counts, equal_to([(0, 2), (60, 2)]))


@HOSTS
def test_impulses_in_windows_of_their_own(host: str, request: pytest.FixtureRequest) -> None:
    with TestPipeline(host, spark=read_by(host, request)) as p:
        counts = (
            p
            | PeriodicImpulse(0, 30, 10, apply_windowing=True)
            | beam.combiners.Count.Globally().without_defaults()
        )
        assert_that(counts, equal_to([1, 1, 1]))


def test_impulses_from_now_on() -> None:
    before = Timestamp.now()
    with TestPipeline() as p:
        times = p | PeriodicImpulse(0, 20, 10, rebase=RebaseMode.REBASE_ALL)
    first, second = (it.element.value for it in p.result.out_of(times.edge))
    assert (first >= before, second - first) == (True, pytest.approx(10))


def test_sequences() -> None:
    with TestPipeline() as p:
        spans = p | beam.Create([(0, 3, 1)])
        assert_that(spans | PeriodicSequence(), equal_to([0.0, 1.0, 2.0]), "Times")
        assert_that(p | GenerateSequence(3, 6), equal_to([3, 4, 5]), "Numbers")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: PeriodicImpulse(0), "^PeriodicImpulse needs an end here"),
        (lambda: PeriodicImpulse(0, 9, 0), "^fire_interval must be more than 0, got 0$"),
        (lambda: PeriodicImpulse(0, 9e6, 1), "would happen 9000000 times, and the most is 1000000"),
        (
            lambda: PeriodicImpulse(0, 9, 1, data=[(Timestamp(1), "a")]),
            "^data has 1 elements with times of their own, and 9 happen until stop_timestamp",
        ),
        (lambda: GenerateSequence(0), "^GenerateSequence needs an end here"),
    ],
)
def test_what_has_no_end_or_too_many_elements_is_refused(make: Any, problem: str) -> None:
    with pytest.raises(PipelineError, match=problem):
        make()


SERVERS = {"bootstrap.servers": "localhost:9092"}
STRING = "org.apache.kafka.common.serialization.StringDeserializer"


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
def test_an_error_of_spark_is_taken_for_what_it_is(
    words: str, kind: type[Exception], problem: str
) -> None:
    from pyspark.errors import AnalysisException, IllegalArgumentException

    raised = IllegalArgumentException if kind is PipelineError else AnalysisException
    with pytest.raises(kind, match=problem):
        kafka_connector.refused(raised(words), "ReadFromKafka")
    other = AnalysisException("the kafka topic has another problem")
    with pytest.raises(AnalysisException, match="another problem"):
        kafka_connector.refused(other, "ReadFromKafka")


def test_a_partition_without_a_later_record_begins_with_the_next_one() -> None:
    read = ReadFromKafka(SERVERS, ["clicks"], start_read_time=5)

    assert read._options["startingTimestamp"] == "5"
    assert read._options["startingOffsetsByTimestampStrategy"] == "latest"

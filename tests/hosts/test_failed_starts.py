"""What happens where Spark has given a Python process of a query's start up."""

import logging
from typing import Any

import attrs
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.hosts.failed_starts import ADVICE, advising, all_processed
from beamlike.hosts.spark.replay import replay_on_spark
from beamlike.inspect.metrics.log_lines import log_end
from beamlike.machine.events import AdvanceWatermark, Element
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from beamlike.testing import QueryTest

SPARK_SAYS = (
    "[STREAM_FAILED] Query [id = 5, runId = 7] terminated with exception: Timed out while waiting "
    "for the Python worker to connect back SQLSTATE: XXKST"
)


@attrs.define
class Started:
    """A query that fails so often with some words."""

    words: str
    failures: int = 1
    starts: int = 0

    def start(self) -> "Started":
        self.starts += 1
        return self

    def processAllAvailable(self) -> None:
        if self.failures:
            self.failures -= 1
            raise RuntimeError(self.words)


def test_a_query_whose_process_came_too_late_is_started_once_more() -> None:
    query = Started(SPARK_SAYS)

    assert all_processed(query, query.start) is query
    assert query.starts == 1


def test_the_second_time_it_says_what_helps() -> None:
    query = Started(SPARK_SAYS, failures=2)

    with pytest.raises(RuntimeError) as failed:
        all_processed(query, query.start)

    assert failed.value.__notes__ == [ADVICE]
    assert query.starts == 1


def test_a_query_that_fails_otherwise_is_not_started_again() -> None:
    query = Started("division by zero")

    with pytest.raises(RuntimeError, match="division by zero") as failed:
        all_processed(query, query.start)

    assert not hasattr(failed.value, "__notes__")
    assert query.starts == 0


def test_what_fails_otherwise_gets_no_advice() -> None:
    with pytest.raises(RuntimeError) as failed, advising():
        raise RuntimeError("division by zero")

    assert not hasattr(failed.value, "__notes__")


def test_the_log_of_metrics_says_what_helps(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        log_end("orders", "5", SPARK_SAYS)
        log_end("orders", "5", "division by zero")

    assert [record.getMessage() for record in caplog.records] == [
        f"query orders (5) has failed: {SPARK_SAYS}",
        f"query orders (5): {ADVICE}",
        "query orders (5) has failed: division by zero",
    ]


@pytest.fixture
def too_late_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The first micro-batch of the next query fails, as if a process of it had come too late."""
    asked: list[int] = []
    real = StreamingQuery.processAllAvailable

    def fails_first(query: StreamingQuery) -> None:
        asked.append(len(asked))
        if len(asked) == 1:
            query.stop()
            raise RuntimeError(SPARK_SAYS)
        real(query)

    monkeypatch.setattr(StreamingQuery, "processAllAvailable", fails_first)
    return asked


@pytest.mark.nightly
@pytest.mark.spark
def test_a_query_test_goes_on(spark: SparkSession, too_late_once: list[int]) -> None:
    def orders(rows: Any) -> Any:
        return bl.windowed(
            rows,
            key="user",
            timestamp="at",
            watermark="1 minute",
            window=bl.FixedWindows("1 hour"),
            aggregate={"n": bl.count()},
        )

    with QueryTest(orders, "user string, at timestamp", host="spark", spark=spark) as query:
        query.send({"user": "ann", "at": "2020-01-01 12:10:00"})
        rows = query.advance_watermark_to_infinity()

    assert [(row["user"], row["n"]) for row in rows] == [("ann", 1)]
    assert len(too_late_once) > 1


@pytest.mark.nightly
@pytest.mark.spark
def test_a_pipeline_of_a_script_starts_again(spark: SparkSession, too_late_once: list[int]) -> None:
    def counted(pipeline: Any) -> Any:
        stream = beam.testing.test_stream.TestStream()
        stream = stream.add_elements([("ann", 1), ("ann", 2)]).advance_watermark_to_infinity()
        return pipeline | stream | beam.WindowInto(beam.window.FixedWindows(60)) | beam.GroupByKey()

    with TestPipeline(runner="spark") as pipeline:
        assert_that(counted(pipeline), equal_to([("ann", [1, 2])]))

    assert len(too_late_once) > 1


@pytest.mark.spark
def test_a_replayed_script_starts_again(spark: SparkSession, too_late_once: list[int]) -> None:
    script = (Arrive((("ann", Element(1, 5)),)), AdvanceWatermark(60_000))
    strategy = WindowingStrategy(bl.FixedWindows("1 minute"))

    (found,) = replay_on_spark([(strategy, Collect(), script)], spark)

    assert found.outputs == run_in_memory(Grouping(strategy, Collect()), script).outputs
    assert len(too_late_once) > 1

"""What happens where Spark has given a Python process of a query's start up."""

import logging
from pathlib import Path
from typing import Any

import attrs
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import beamlike as bl
import beamlike.beam as beam
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.hosts.failed_starts import ADVICE, ADVICE_ON_TORN_NOTES, advising, all_processed
from beamlike.hosts.spark.graph.query import replay_on_spark
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
def test_a_torn_note_of_an_operator_is_deleted_as_the_advice_says(
    spark: SparkSession, tmp_path: Path
) -> None:
    inbox, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    panes: dict[int, list[tuple[str, int]]] = {}

    def run(*lines: str) -> None:
        inbox.mkdir(exist_ok=True)
        for line in lines:
            (inbox / f"{len([*inbox.iterdir()])}.json").write_text(line)
        counted = bl.windowed(
            spark.readStream.schema("user string, at timestamp").json(str(inbox)),
            key="user",
            timestamp="at",
            watermark="0 s",
            window=bl.FixedWindows("1 hour"),
            aggregate={"n": bl.count()},
        )
        spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")

        def keep(batch: Any, number: int) -> None:
            panes[number] = [(row.user, row.n) for row in batch.collect()]

        writer = counted.writeStream.foreachBatch(keep).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        spark.conf.unset("spark.sql.streaming.noDataMicroBatches.enabled")
        query.awaitTermination()

    run('{"user": "ann", "at": "2020-01-01T12:10:00Z"}')
    run('{"user": "ann", "at": "2020-01-01T12:20:00Z"}')
    last = max(int(note.name) for note in (checkpoint / "commits").glob("[0-9]*"))
    (checkpoint / "commits" / str(last)).unlink()
    (checkpoint / "commits" / f".{last}.crc").unlink(missing_ok=True)
    (torn,) = checkpoint.glob(f"state/0/_metadata/v2/{last}")
    torn.write_bytes(torn.read_bytes()[:3])
    (torn.parent / f".{last}.crc").unlink(missing_ok=True)

    for _ in range(2):
        with pytest.raises(StreamingQueryException, match=r"No content to map") as refused:
            run()
        assert refused.value.__notes__ == [ADVICE_ON_TORN_NOTES]
    torn.unlink()
    run('{"user": "bob", "at": "2020-01-01T13:10:00Z"}')
    run('{"user": "bob", "at": "2020-01-01T13:20:00Z"}')
    assert sorted(row for rows in panes.values() for row in rows) == [("ann", 2)]


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

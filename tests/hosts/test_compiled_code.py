"""What Spark compiles for a query: once, and not again for each micro-batch."""

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import beamlike as bl

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def test_a_micro_batch_runs_the_code_that_the_ones_before_it_compiled(
    spark: "SparkSession", tmp_path: Path
) -> None:
    compiled = Compiled(spark)
    inbox = tmp_path / "in"
    inbox.mkdir()
    rows = spark.readStream.schema("user string, at timestamp").json(str(inbox))
    counts = bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.FixedWindows("1 minute"),
        aggregate={"n": bl.count()},
    )
    writer = counts.writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "state")).start()
    seen = []
    try:
        for minute in range(5):
            row = f'{{"user": "kim", "at": "2026-01-01 12:{minute:02}:00"}}'
            (inbox / f"{minute}.json").write_text(row)
            query.processAllAvailable()
            seen.append(compiled.so_far())
    finally:
        query.stop()
    assert [later - earlier for earlier, later in pairwise(seen)][1:] == [0, 0, 0]


class Compiled:
    """Classes that the session's Java has generated and compiled."""

    def __init__(self, spark: "SparkSession") -> None:
        metrics: Any = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics  # type: ignore[union-attr]
        self._counter = metrics.METRIC_GENERATED_CLASS_BYTECODE_SIZE()

    def so_far(self) -> int:
        return int(self._counter.getCount())

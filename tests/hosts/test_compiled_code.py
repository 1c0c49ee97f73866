"""What Spark compiles for a query: once, and not again for each micro-batch."""

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.nightly]


def test_a_micro_batch_runs_the_code_that_the_ones_before_it_compiled(
    spark: "SparkSession", count_in_minutes: Callable[[str], None]
) -> None:
    compiled = Compiled(spark)
    seen = []
    for minute in range(5):
        count_in_minutes(f"2026-01-01 12:{minute:02}:00")
        seen.append(compiled.so_far())
    assert [later - earlier for earlier, later in pairwise(seen)][1:] == [0, 0, 0]


class Compiled:
    """Classes that the session's Java has generated and compiled."""

    def __init__(self, spark: "SparkSession") -> None:
        metrics: Any = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics  # type: ignore[union-attr]
        self._counter = metrics.METRIC_GENERATED_CLASS_BYTECODE_SIZE()

    def so_far(self) -> int:
        return int(self._counter.getCount())

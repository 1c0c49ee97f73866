"""An endless stream that can be computed: rows are numbers, and every row follows from its own.

Spark's ``rate-micro-batch`` source counts rows, so many in each micro-batch. Key and event time
are made of that number, in SQL for the query and in numpy for what is expected of it.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from tests.endurance.memory import Memory, memory_now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

START = 1_700_000_000_000
"""The first event time, ms."""

_LOOK_EVERY_SECONDS = 0.2


def numbers(
    spark: "SparkSession", rows: int, *, key: str, at: str, last: int | None = None
) -> "DataFrame":
    """A stream with ``key`` (string) and ``at`` (timestamp), ``rows`` in each micro-batch.

    Args:
        spark: The session.
        rows: Rows of a micro-batch.
        key: SQL for the key, of the row's ``value``, which counts from 0.
        at: SQL for its event time in ms after `START`.
        last: The greatest ``value`` that there is. Micro-batches after it are empty.
    """
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", rows).load()
    if last is not None:
        source = source.where(f"value <= {last}")
    return source.selectExpr("value", f"{key} AS key", f"timestamp_millis({START} + ({at})) AS at")


@frozen
class Batch:
    """What was seen of one micro-batch."""

    number: int
    took_ms: int
    windows_open: int
    stored_rows: int
    """Rows in the state store."""
    memory: Memory = field(repr=False)
    """Of the moment when it was seen, soon after its end."""


def watched(
    query: "StreamingQuery", name: str, until: Callable[[list[Batch]], bool]
) -> list[Batch]:
    """Look at a query's micro-batches as they come, and stop it when there are enough."""
    seen: list[Batch] = []
    try:
        while not until(seen):
            for shown in _news(query, seen[-1].number if seen else -1):
                seen.append(_batch(shown, name))
            if not query.isActive:
                query.awaitTermination()
                raise RuntimeError("the query ended by itself")
            time.sleep(_LOOK_EVERY_SECONDS)
    finally:
        query.stop()
    return seen


def _news(query: "StreamingQuery", seen: int) -> Iterator[Any]:
    for shown in query.recentProgress:
        # A query that waits reports too; only a micro-batch that ran has its time in the sink.
        if shown.batchId > seen and "addBatch" in shown.durationMs:
            yield shown


def _batch(shown: Any, name: str) -> Batch:
    return Batch(
        shown.batchId,
        shown.durationMs["triggerExecution"],
        shown.observedMetrics[name].windows_open,
        sum(operator.numRowsTotal for operator in shown.stateOperators),
        memory_now(),
    )

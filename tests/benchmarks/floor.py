"""The floor of a query of beamlike: the operators that Spark runs for it, with empty functions.

What such a query takes no code of beamlike's can save: reading, an operator that makes blobs of
rows, a shuffle, a stateful operator that sets a timer for each of its groups, and one that makes
rows of blobs. As many rows come out as of the query, all alike.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.runtime.options import SHARDS
from tests.benchmarks.data import Shape
from tests.benchmarks.queries import DELAY, Query

__all__ = ["empty_operators"]

Batches = Iterator[pa.RecordBatch]

_BLOBS = pa.table(
    {
        "shard": pa.array(range(SHARDS), pa.int32()),
        "blob": pa.array([bytes(1_000)] * SHARDS, pa.binary()),
    }
)


def empty_operators(shape: Shape, *rows: float) -> Query:
    """The operators of as many groupings in a row as ``rows`` are given.

    Args:
        shape: The data.
        rows: How many rows come out of each grouping in a micro-batch, for each key that it meets.
    """

    def query(df: DataFrame) -> DataFrame:
        met = len(np.unique(shape.columns(shape.measured.start)[0]))
        out = df.withWatermark("ts", DELAY).select("key", F.unix_millis("ts").alias("at"), "v")
        for each in rows:
            blobs = out.mapInArrow(_pack, "shard int, blob binary").groupBy("shard")
            stepped = blobs.transformWithState(_Shard(), "blob binary", "append", "EventTime")
            out = stepped.mapInArrow(
                _Unpack(round(met * each / SHARDS)), "key string, at long, v long"
            )
        return out

    return query


def _pack(batches: Batches) -> Batches:
    for _ in batches:
        pass
    yield from _BLOBS.to_batches()


class _Unpack:
    """So many rows for each shard."""

    def __init__(self, rows: int) -> None:
        self._rows = rows

    def __call__(self, batches: Batches) -> Batches:
        numbers = np.arange(max(self._rows, 1))
        out = pa.table({"key": pa.repeat("ann", len(numbers)), "at": numbers, "v": numbers})
        for batch in batches:
            for _ in range(batch.num_rows):
                yield from out.to_batches()


class _Shard(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        for _ in rows:
            pass
        self._handle.registerTimer(timerValues.getCurrentWatermarkInMs() + 1)
        yield Row(blob=b"")

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        yield from ()

    def close(self) -> None:
        pass

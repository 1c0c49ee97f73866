"""The floor of a query of beamlike: the operators that Spark runs for it, with empty functions.

What such a query takes no code of beamlike's can save: reading, an operator that makes blobs of
rows, a shuffle, a stateful operator that sets a timer for each of its groups, and one that makes
rows of blobs.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.runtime.options import SHARDS
from tests.benchmarks.queries import DELAY

__all__ = ["empty_operators"]

Batches = Iterator[pa.RecordBatch]

_BLOBS = pa.table(
    {
        "shard": pa.array(range(SHARDS), pa.int32()),
        "blob": pa.array([bytes(1_000)] * SHARDS, pa.binary()),
    }
)
_ROWS = pa.table({"key": ["ann"], "n": [1]})


def empty_operators(df: DataFrame) -> DataFrame:
    """The operators of `windowed`: rows in, one row for each shard out."""
    timed = df.withWatermark("ts", DELAY)
    rows = timed.select("key", F.unix_millis("ts").alias("at"), "v")
    blobs = rows.mapInArrow(_pack, "shard int, blob binary").groupBy("shard")
    stepped = blobs.transformWithState(_Shard(), "blob binary", "append", "EventTime")
    return stepped.mapInArrow(_unpack, "key string, n long")


def _pack(batches: Batches) -> Batches:
    for _ in batches:
        pass
    yield from _BLOBS.to_batches()


def _unpack(batches: Batches) -> Batches:
    for batch in batches:
        for _ in range(batch.num_rows):
            yield from _ROWS.to_batches()


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

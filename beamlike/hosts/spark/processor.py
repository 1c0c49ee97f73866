"""The stateful processor of Spark: a shard is a group, its blobs are the group's state."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from beamlike.hosts.spark.blobs import pack_blob
from beamlike.hosts.spark.pack import Arrived, read_blobs
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.stepping import stepper_of
from beamlike.hosts.spark.workers import ease_worker
from beamlike.model.time import MIN_TIMESTAMP

__all__ = ["ShardProcessor", "SparkStore", "beam_watermark", "wake_at_next_watermark"]


_INDEX = -1

# As text, Spark would have to be asked in each task what they mean.
_NUMBER = T.StructType([T.StructField("number", T.IntegerType())])
_BLOB = T.StructType([T.StructField("blob", T.BinaryType())])


def beam_watermark(spark_watermark: int) -> int:
    """Spark's watermark as Beam's (ms): Spark says 0 while it knows none."""
    return spark_watermark if spark_watermark > 0 else MIN_TIMESTAMP


class SparkStore:
    """A shard's blobs in Spark's state of the current group, by number; -1 is the index.

    One state for both: each costs every task some milliseconds before it has done anything.
    """

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._blobs = handle.getMapState("blobs", _NUMBER, _BLOB)

    def read(self, number: int) -> bytes | None:
        row = self._blobs.getValue((number,))
        return None if row is None else bytes(row[0])

    def write(self, number: int, blob: bytes | None) -> None:
        if blob is None:
            self._blobs.removeKey((number,))
        else:
            self._blobs.updateValue((number,), (blob,))

    def read_index(self) -> bytes | None:
        return self.read(_INDEX)

    def write_index(self, blob: bytes) -> None:
        self.write(_INDEX, blob)


def wake_at_next_watermark(handle: StatefulProcessorHandle, spark_watermark: int) -> None:
    """Have the group called whenever the watermark moves.

    The shard's own index knows what is due; Spark only has to call. A single timer just
    ahead of the watermark does that, and Spark removes it when it fires.
    """
    handle.registerTimer(spark_watermark + 1)


@contextmanager
def paused_gc() -> Iterator[None]:
    """No garbage collection meanwhile: a step makes many objects and no cycles.

    Looking for cycles all the same takes a sixth of a step's time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class ShardProcessor(StatefulProcessor):
    """Carries micro-batches to a shard's step and what comes out onwards. Decides nothing."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def init(self, handle: StatefulProcessorHandle) -> None:
        ease_worker()
        self._handle = handle
        self._store = SparkStore(handle)
        self._stepper = stepper_of(self._plan)
        self._stepped: set[int] = set()

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        arrived = read_blobs(bytes(row.blob) for row in rows)
        yield from (Row(blob=blob) for blob in arrived.finished)
        yield from self._step(key[0], arrived, timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        # Rows come first. A shard that had some has seen this watermark, and waits for the next.
        # Spark makes a new processor, and calls `init`, once for each task: no shard is taken for
        # one of the micro-batch before.
        if key[0] not in self._stepped:
            yield from self._step(key[0], Arrived([], [], []), timerValues)

    def _step(self, shard: int, arrived: Arrived, times: Any) -> Iterator[Row]:
        plan, watermark = self._plan, times.getCurrentWatermarkInMs()
        self._stepped.add(shard)
        with paused_gc():
            out = self._stepper.step(
                self._store,
                arrived.tables,
                beam_watermark(watermark) if plan.clocks is None else arrived.heard,
                times.getCurrentProcessingTimeInMs(),
                plan.shard_ids.index(shard),
            )
        if plan.clocks is None:
            wake_at_next_watermark(self._handle, watermark)
        if out is not None:
            yield Row(blob=pack_blob(out, {"kind": "out"}))

    def close(self) -> None:
        # Between tasks a worker keeps what it remembers, and not what it needed meanwhile.
        pa.default_memory_pool().release_unused()

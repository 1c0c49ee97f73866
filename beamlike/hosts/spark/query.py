"""From a DataFrame and a plan to the DataFrame of everything that comes out."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.hosts.spark.blobs import pack_blob
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.pack import PACKED, packer, read_blobs, unpack, waker
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.processor import ShardProcessor
from beamlike.hosts.spark.shard import Shard
from beamlike.hosts.spark.ticks import TickSource
from beamlike.machine.events import DropReason
from beamlike.model.panes import Timing
from beamlike.model.time import MAX_TIMESTAMP

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["bounded", "counters", "streaming"]


def streaming(rows: "DataFrame", plan: Plan, wake_every_ms: int) -> "DataFrame":
    """The output of a streaming grouping. ``rows`` are the packer's columns.

    A strategy that waits on processing time is woken every ``wake_every_ms`` milliseconds, also
    while no data arrives.
    """
    packed = rows.mapInArrow(packer(plan), PACKED)
    if plan.strategy.trigger.needs_clock:
        spark = rows.sparkSession
        spark.dataSource.register(TickSource)
        ticks = spark.readStream.format(TickSource.name()).option("every_ms", wake_every_ms).load()
        packed = packed.unionByName(ticks.mapInArrow(waker(plan), PACKED))
    stepped = packed.groupBy("shard").transformWithState(
        ShardProcessor(plan), "blob binary", "append", "EventTime"
    )
    return stepped.mapInArrow(unpack, output_schema(plan))


def bounded(rows: "DataFrame", plan: Plan) -> "DataFrame":
    """The output of a grouping over data that ends: the watermark goes straight to infinity."""
    packed = rows.mapInArrow(packer(plan), PACKED)
    stepped = packed.groupBy("shard").applyInArrow(bounded_shard(plan), "blob binary")
    return stepped.mapInArrow(unpack, output_schema(plan))


def bounded_shard(plan: Plan) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow``: one shard, from its first element to the end of time."""

    def run(blobs: pa.Table) -> pa.Table:
        arrivals, out = read_blobs(iter(blobs.column("blob").to_pylist()))
        effects = Shard(plan).step(_NoStore(), arrivals, MAX_TIMESTAMP, 0)
        if effects:
            out.append(pack_blob(OutputTable(plan).build(effects), {"kind": "out"}))
        return pa.table({"blob": pa.array(out, pa.binary())})

    return run


class _NoStore:
    """A bounded shard steps once: it starts with nothing and leaves nothing."""

    def read(self, bucket: int) -> bytes | None:
        return None

    def write(self, bucket: int, blob: bytes | None) -> None:
        pass

    def read_index(self) -> bytes | None:
        return None

    def write_index(self, blob: bytes) -> None:
        pass


def output_schema(plan: Plan) -> T.StructType:
    """The Spark schema of the output, see `beamlike.hosts.spark.output`."""
    return from_arrow_schema(OutputTable(plan).schema, prefer_timestamp_ntz=True)


def counters() -> Iterator[Column]:
    """Counts for Spark's query progress: panes by timing, drops by reason."""
    for timing in (Timing.EARLY, Timing.ON_TIME, Timing.LATE):
        fired = F.col("pane.timing") == timing.value
        yield F.count_if(fired).alias(f"panes_{timing.value.lower()}")
    reason = F.col("dropped.reason")
    for known in DropReason:
        yield F.count_if(reason == known.value).alias(f"dropped_{known.value}")
    bad = reason.isNotNull() & ~reason.isin([known.value for known in DropReason])
    yield F.count_if(bad).alias("dropped_bad")

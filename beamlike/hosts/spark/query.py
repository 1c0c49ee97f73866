"""From DataFrames and a plan to the DataFrame of everything that comes out."""

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import attrs
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.hosts.spark.fanout import FanoutProcessor, bounded_fanout
from beamlike.hosts.spark.inputs import mark
from beamlike.hosts.spark.pack import PACKED, clock_packer, packer, read_blobs, waker
from beamlike.hosts.spark.processor import ShardProcessor
from beamlike.hosts.spark.scripted_time import scripted_time
from beamlike.hosts.spark.ticks import ticks
from beamlike.hosts.spark.unpack import unpacker
from beamlike.machine.clocks import HostWatermark
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import COUNTED, STOOD
from beamlike.runtime.stepping import stepper_of
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.store.pages import NoStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Packed", "bounded", "counters", "streaming"]


@attrs.frozen
class Packed:
    """One input of a grouping: rows with the packer's columns, see `bind.packer_columns`.

    ``assign`` gives rows their windows, if they do not have them and their window function is
    not the grouping's own.
    """

    rows: DataFrame
    assign: WindowFn | None = None


def _pack(inputs: Sequence[Packed], plan: Plan) -> DataFrame:
    packed = [
        given.rows.mapInArrow(packer(plan, at, given.assign), PACKED)
        for at, given in enumerate(inputs)
    ]
    return reduce(DataFrame.unionByName, packed)


def streaming(inputs: Sequence[Packed], plan: Plan, wake_every_ms: int) -> DataFrame:
    """The output of a streaming grouping, hidden column and all.

    A plan that waits on processing time is woken every ``wake_every_ms`` milliseconds, also
    while no data arrives. Where the time comes from a script, that wakes it.
    """
    time = scripted_time()
    if time is not None:
        plan = attrs.evolve(plan, clock=time.clock)
    packed = _pack(inputs, plan)
    if time is not None:
        moves = time.clock_rows.mapInArrow(clock_packer(plan), PACKED)
        packed = packed.unionByName(moves)
    elif plan.needs_ticks:
        packed = packed.unionByName(_wakes(packed.sparkSession, plan, wake_every_ms))
    if plan.fanout:
        packed = packed.groupBy("shard").transformWithState(
            FanoutProcessor(plan), PACKED, "append", "EventTime"
        )
    stepped = packed.groupBy("shard").transformWithState(
        ShardProcessor(plan), "blob binary", "append", "EventTime"
    )
    return stepped.mapInArrow(unpacker(plan), output_schema(plan))


def _wakes(spark: "SparkSession", plan: Plan, every_ms: int) -> DataFrame:
    return ticks(spark, every_ms).mapInArrow(waker(plan), PACKED)


def bounded(inputs: Sequence[Packed], plan: Plan) -> DataFrame:
    """The output of a grouping over data that ends: the watermark goes straight to infinity."""
    packed = _pack(inputs, plan)
    if plan.fanout:
        packed = packed.groupBy("shard").applyInArrow(bounded_fanout(plan), PACKED)
    stepped = packed.groupBy("shard").applyInArrow(bounded_shard(plan), "blob binary")
    return stepped.mapInArrow(unpacker(plan), output_schema(plan))


def bounded_shard(plan: Plan) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow``: one shard, from its first element to the end of time."""

    def run(blobs: pa.Table) -> pa.Table:
        arrived = read_blobs(iter(blobs.column("blob").to_pylist()))
        stepped, _ = stepper_of(plan).step(
            NoStore(), arrived.tables, [HostWatermark(MAX_TIMESTAMP)], 0
        )
        out = arrived.finished
        if stepped is not None:
            out.append(pack_blob(stepped, {"kind": "out"}))
        return pa.table({"blob": pa.array(out, pa.binary())})

    return run


def output_schema(plan: Plan) -> T.StructType:
    """The Spark schema of the output, see `beamlike.runtime.output`."""
    return from_arrow_schema(OutputTable(plan).schema, prefer_timestamp_ntz=True)


def counters() -> Iterator[Column]:
    """Counts for Spark's query progress, which `unpacker` has put on some of the rows.

    Drops of groupings before count where they happened, not here. ``elements`` counts the rows that
    were given to the grouping, those that it dropped among them, and ``merges`` the live windows
    that became part of another.

    The others are no counts. ``windows_open`` are the windows that the shards keep, ``watermark``
    is the least of their input watermarks (ms), ``deadline`` the least event time that a window
    waits for the watermark to pass (ms), and ``clock_deadline`` the same of processing time. They
    are null while there is none, and where no shard was stepped, as in a micro-batch that Spark
    makes for a watermark that nobody asks for. ``drop_example`` tells of one dropped element, with
    its key and window, null if none was dropped. ``watermark_jump`` is how far the watermark jumps
    because of the rows of this micro-batch (ms), see `beamlike.machine.jumps`, and ``jump_example``
    from where to where and by which row; null if it does not.
    """
    for at, (what, which) in enumerate(COUNTED):
        name = f"{what}_{which.lower()}" if which else what
        yield F.coalesce(F.sum(_count(at)), F.lit(0)).alias(name)
    # Only rows that tell where shards stand have as many.
    elements, merges, windows, *least = enumerate(STOOD, len(COUNTED))
    for at, name in (elements, merges):
        yield F.coalesce(F.sum(_count(at)), F.lit(0)).alias(name)
    yield F.sum(_count(windows[0])).alias(windows[1])
    for at, name in least:
        yield F.min(_count(at)).alias(name)
    told = F.when(_count(elements[0]).isNotNull(), mark("dropped.element"))
    yield F.max(told).alias("drop_example")
    yield F.max(F.when(_count(elements[0]).isNotNull(), mark("problem"))).alias("jump_example")


def _count(at: int) -> Column:
    return F.get(mark("counts"), F.lit(at))

"""From DataFrames and a plan to the DataFrame of everything that comes out."""

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

import attrs
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.hosts.spark.deferred import Deferred, blobs_of, clock_of_group
from beamlike.hosts.spark.observing import observing_columns
from beamlike.hosts.spark.pack import PACKED, packer, tick_packer
from beamlike.hosts.spark.processor import GroupProcessor, TextStore, at_once
from beamlike.hosts.spark.state_cache import may_copy
from beamlike.hosts.spark.ticks import pace_ms, ticks
from beamlike.hosts.spark.unpack import unpacked_schema, unpacker
from beamlike.hosts.spark.worker_errors import reported, reported_group
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.fanout import FanoutWork
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.tally import TALLY_TYPE
from beamlike.runtime.work import ShardWork

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STEPPED: Final = f"blob binary, {TALLY_TYPE}"
"""The Spark schema of what comes out of a shard: blobs of rows, and in one more row of each step
what it has counted."""


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
        source.rows.mapInArrow(reported(packer(plan, index, source.assign)), PACKED)
        for index, source in enumerate(inputs)
    ]
    return reduce(DataFrame.unionByName, packed)


def streaming(
    inputs: Sequence[Packed],
    plan: Plan,
    wake_every_ms: int,
    clock: int | None = None,
    wakes: DataFrame | None = None,
) -> DataFrame:
    """The output of a streaming grouping, hidden column and all.

    Args:
        inputs: What goes in.
        plan: The grouping.
        wake_every_ms: How often a plan that waits on processing time gets a micro-batch while no
            data arrives (ms).
        clock: Processing time (ms) until shards are sent another; None: that of each micro-batch.
        wakes: Packed rows that wake shards in place of that.
    """
    packed = _pack(inputs, plan)
    if wakes is not None:
        packed = packed.unionByName(wakes)
    elif plan.needs_ticks:
        packed = packed.unionByName(_ticked(packed.sparkSession, plan, wake_every_ms))
    if plan.fanout:
        packed = packed.groupBy("shard").transformWithState(
            Deferred(GroupProcessor(FanoutWork(plan, clock), store=TextStore), clock_of_group),
            *(PACKED, "append", "EventTime"),
        )
    processor = GroupProcessor(ShardWork(plan, clock), copies=may_copy(packed.sparkSession))
    stepped = packed.groupBy("shard").transformWithState(
        Deferred(processor, blobs_of), STEPPED, "append", "EventTime"
    )
    # Counted before the rows are unpacked: Spark looks at each row that it observes.
    counted = observing_columns(stepped, plan.name)
    return _unpacked(counted.select("blob"), plan)


def _ticked(spark: "SparkSession", plan: Plan, every_ms: int) -> DataFrame:
    silences = () if plan.clocks is None else plan.clocks.silences
    every_ms = pace_ms(
        every_ms,
        by_trigger=plan.machine.needs_clock,
        idle_after_ms=(silence // plan.resolution.per_ms for silence in silences),
    )
    return ticks(spark, every_ms).mapInArrow(reported(tick_packer(plan)), PACKED)


def bounded(inputs: Sequence[Packed], plan: Plan) -> DataFrame:
    """The output of a grouping over data that ends: the watermark goes straight to infinity."""
    packed = _pack(inputs, plan)
    if plan.fanout:
        combine = at_once(FanoutWork(plan), ["shard", "blob"])
        packed = packed.groupBy("shard").applyInArrow(reported_group(combine), PACKED)
    step = at_once(ShardWork(plan), ["blob"])
    stepped = packed.groupBy("shard").applyInArrow(reported_group(step), "blob binary")
    return _unpacked(stepped, plan)


def _unpacked(blobs: DataFrame, plan: Plan) -> DataFrame:
    """The output rows, see `beamlike.runtime.output`."""
    schema = unpacked_schema(OutputTable(plan).schema)
    spark_schema = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    rows = blobs.mapInArrow(reported(unpacker(schema)), spark_schema)
    return rows.withColumn(MARKS, F.get(MARKS, 0))

"""From DataFrames and a plan to the DataFrame of everything that comes out."""

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.hosts.frames import StageInput
from beamlike.hosts.spark.bind import packer_columns
from beamlike.hosts.spark.deferred import Deferred, blobs_of, clock_of_group
from beamlike.hosts.spark.observing import observing_columns
from beamlike.hosts.spark.processor import GroupProcessor, TextStore, at_once
from beamlike.hosts.spark.state_cache import may_copy
from beamlike.hosts.spark.ticks import pace_ms, ticks
from beamlike.hosts.spark.unpack import unpacked_schema, unpacker
from beamlike.hosts.spark.worker_errors import reported, reported_group
from beamlike.hosts.spark.workers import task_number, tune_worker_process
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.fanout import FanoutWork
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import EMPTY, Batches, packed, packed_blobs
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.tally import TALLY_TYPE
from beamlike.runtime.work import ShardWork

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


PACKED: Final = "shard int, blob binary"
"""The Spark schema of packed rows."""

STEPPED: Final = f"blob binary, {TALLY_TYPE}"
"""The Spark schema of a shard's output: batches of rows, and in one more row of each step its
tally."""


def packer(
    plan: Plan, input_index: int = 0, assign: WindowFn | None = None
) -> Callable[[Batches], Batches]:
    """The function that makes batches of one input's rows, see `beamlike.runtime.packing.packed`.

    Input columns: see `beamlike.hosts.spark.bind.packer_columns`.
    """

    def pack(batches: Batches) -> Batches:
        tune_worker_process()
        yield from packed(plan, batches, input_index, assign, task_number())

    return pack


def tick_packer(plan: Plan) -> Callable[[Batches], Batches]:
    """The function that makes of a source of ticks an empty batch for each shard."""

    def pack(batches: Batches) -> Batches:
        tune_worker_process()
        for _ in batches:
            pass
        receivers = plan.fanout_ids or plan.shard_ids
        yield packed_blobs(list(receivers), [EMPTY] * len(receivers))

    return pack


def _pack(inputs: Sequence[StageInput], plan: Plan) -> DataFrame:
    frames = (
        packer_columns(source).mapInArrow(reported(packer(plan, index, source.assign)), PACKED)
        for index, source in enumerate(inputs)
    )
    return reduce(DataFrame.unionByName, frames)


def streaming(
    inputs: Sequence[StageInput],
    plan: Plan,
    wake_every_ms: int,
    clock: int | None = None,
    wakes: DataFrame | None = None,
) -> DataFrame:
    """The output of a streaming grouping, with the hidden column.

    Args:
        inputs: The inputs.
        wake_every_ms: How often a plan that waits on processing time gets a micro-batch while no
            data arrives (ms).
        clock: Processing time (ms) until shards are sent another; None: that of each micro-batch.
        wakes: Packed rows that wake shards, in place of a source of ticks.
    """
    sent = _pack(inputs, plan)
    if wakes is not None:
        sent = sent.unionByName(wakes)
    elif plan.needs_ticks:
        sent = sent.unionByName(_ticked(sent.sparkSession, plan, wake_every_ms))
    if plan.fanout:
        sent = sent.groupBy("shard").transformWithState(
            Deferred(GroupProcessor(FanoutWork(plan, clock), store=TextStore), clock_of_group),
            *(PACKED, "append", "EventTime"),
        )
    processor = GroupProcessor(ShardWork(plan, clock), copies=may_copy(sent.sparkSession))
    stepped = sent.groupBy("shard").transformWithState(
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


def bounded(inputs: Sequence[StageInput], plan: Plan) -> DataFrame:
    """The output of a grouping over data that ends: the watermark goes straight to infinity."""
    sent = _pack(inputs, plan)
    if plan.fanout:
        combine = at_once(FanoutWork(plan), ["shard", "blob"])
        sent = sent.groupBy("shard").applyInArrow(reported_group(combine), PACKED)
    step = at_once(ShardWork(plan), ["blob"])
    stepped = sent.groupBy("shard").applyInArrow(reported_group(step), "blob binary")
    return _unpacked(stepped, plan)


def _unpacked(blobs: DataFrame, plan: Plan) -> DataFrame:
    """The output rows, see `beamlike.runtime.output`."""
    schema = unpacked_schema(OutputTable(plan).schema)
    spark_schema = from_arrow_schema(schema, prefer_timestamp_ntz=True)
    rows = blobs.mapInArrow(reported(unpacker(schema)), spark_schema)
    return rows.withColumn(MARKS, F.get(MARKS, 0))

"""Before the shuffle: `beamlike.runtime.packing` as functions of Spark's ``mapInArrow``."""

from collections.abc import Callable

from beamlike.hosts.spark.workers import task_number, tune_worker_process
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.packing import EMPTY, Batches, packed, packed_blobs
from beamlike.runtime.plan import Plan

PACKED = "shard int, blob binary"
"""The Spark schema of packed rows."""


def packer(
    plan: Plan, input_index: int = 0, assign: WindowFn | None = None
) -> Callable[[Batches], Batches]:
    """The function that turns rows of one input into blobs, see `beamlike.runtime.packing.packed`.

    Input columns: see `beamlike.hosts.spark.bind.packer_columns`.
    """

    def pack(batches: Batches) -> Batches:
        tune_worker_process()
        yield from packed(plan, batches, input_index, assign, task_number())

    return pack


def tick_packer(plan: Plan) -> Callable[[Batches], Batches]:
    """The function that turns ticks of a clock into blobs for all shards."""

    def pack(batches: Batches) -> Batches:
        tune_worker_process()
        for _ in batches:
            pass
        receivers = plan.fanout_ids or plan.shard_ids
        yield packed_blobs(list(receivers), [EMPTY] * len(receivers))

    return pack

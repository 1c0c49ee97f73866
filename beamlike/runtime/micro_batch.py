"""One shard's micro-batch, from what it was sent to its output rows."""

from collections.abc import Sequence

import pyarrow as pa

from beamlike.machine.clocks import HostWatermark, WatermarkUpdate
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.runtime.jumps import jump_of
from beamlike.runtime.logs import log_jump, log_rows, log_silent, logs_drops
from beamlike.runtime.packing import Arrived
from beamlike.runtime.plan import Plan
from beamlike.runtime.stepping import Stepper, stepper_of
from beamlike.runtime.store.stores import NoStore, Store
from beamlike.runtime.tally import Tally


def known_watermark(reported: int) -> int:
    """The watermark of a query (ms) that is reported as 0 while there is none yet, as Spark's."""
    return reported if reported > 0 else MIN_TIMESTAMP


def stepped_shard(
    stepper: Stepper,
    store: Store,
    shard: int,
    arrived: Arrived,
    updates: Sequence[WatermarkUpdate],
    clock: int,
) -> tuple[list[pa.Table], Tally]:
    """One shard's micro-batch: its output rows, and what it counts. For the arguments see
    `Stepper`."""
    plan = stepper.plan
    out, status = stepper.step(store, arrived.tables, updates, clock, shard)
    tables = [*arrived.finished, *out]
    jump = jump_of(plan, arrived.delivered, status)
    if shard == 0:  # the others see the same
        log_silent(plan.name, status.silent)
    if logs_drops():
        for table in tables:
            log_rows(plan.name, list(plan.keys), table)
    if jump is not None:
        log_jump(plan.name, jump)
    return tables, Tally.of_rows(plan, arrived.elements, tables, status, jump)


def finished_shard(plan: Plan, arrived: Arrived) -> list[pa.Table]:
    """The output rows of one shard over data that ends: the watermark goes straight to infinity."""
    end = HostWatermark(MAX_TIMESTAMP)
    return [*arrived.finished, *stepper_of(plan).step(NoStore(), arrived.tables, [end], 0)[0]]

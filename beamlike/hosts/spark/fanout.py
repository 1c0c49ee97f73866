"""Hot keys: rows are dealt out to groups that combine them before they reach their shard.

One key's rows all go to one shard, however many they are. With a fanout they first go, in turn,
to as many groups of Spark, whatever their key. Each judges lateness as the shard would, combines
its rows by key and window, and passes on one combined element for each.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from beamlike.hosts.spark.pack import (
    Arrived,
    delivered_blob,
    packed_shards,
    read_blobs,
    update_blobs,
)
from beamlike.hosts.spark.processor import GroupProcessor
from beamlike.machine.clocks import WatermarkUpdate
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.clock import Clock
from beamlike.runtime.lift import lifter_of
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.blobs import pack_blob


class FanoutGroup:
    """Combines what one group of the fanout receives in a micro-batch.

    Its clocks move as those of a shard do, or the two would not agree on what is late.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan, self._lifter = plan, lifter_of(plan)

    def step(
        self,
        group: int,
        before: Clock,
        arrived: Arrived,
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> tuple[pa.Table, Clock]:
        """One micro-batch: see `pass_on`, and where its clocks stand then.

        Args:
            group: Its grouping key.
            before: Where they stood.
            arrived: What it was sent.
            updates: As of `GroupProcessor.step`, as are the others.
        """
        before = before.begin(updates)
        passed = self.pass_on(group, arrived, before.watermark)
        return passed, before.after(self._plan, updates, clock)

    def pass_on(self, group: int, arrived: Arrived, watermark: int) -> pa.Table:
        """Blobs for the shards: all of them are stepped, and get the updates of the group."""
        plan, shards, finished = self._plan, list(self._plan.shard_ids), arrived.finished
        batches = []
        if arrived.tables:
            lifted, dropped = self._lifter.lift(arrived.tables, watermark)
            if lifted.num_rows:
                batches.append(packed_shards(plan, lifted, [group]))
            if dropped:
                finished = [OutputTable(plan).build(dropped), *finished]
        blobs = [pack_blob(table, {"kind": "out"}) for table in finished]
        if arrived.delivered:
            blobs.append(delivered_blob(arrived.delivered))
        ids = [shards[0]] * len(blobs) + shards
        blobs += update_blobs(plan, arrived.updates, arrived.elements, len(shards), arrived.clock)
        columns = [pa.array(ids, pa.int32()), pa.array(blobs, pa.binary())]
        batches.append(pa.RecordBatch.from_arrays(columns, ["shard", "blob"]))
        return pa.Table.from_batches(batches)


class FanoutProcessor(GroupProcessor):
    """One group of the fanout in a streaming query. State ``seen``: its `Clock`, as JSON."""

    def open(self, handle: StatefulProcessorHandle, state: Any) -> None:
        super().open(handle, state)
        self._seen = state
        self._group = FanoutGroup(self._plan)

    def step(
        self,
        group: int,
        arrived: Arrived,
        updates: Sequence[WatermarkUpdate],
        clock: int,
    ) -> Iterator[Row]:
        saved = self._seen.get()
        before = Clock() if saved is None else Clock.from_json(json.loads(saved[0]))
        passed, after = self._group.step(group, before, arrived, updates, clock)
        self._seen.update((json.dumps(after.to_json()),))
        for row in passed.to_pylist():
            yield Row(**row)


def bounded_fanout(plan: Plan) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow``: one group of the fanout, over data that ends."""

    def run(blobs: pa.Table) -> pa.Table:
        arrived = read_blobs(iter(blobs.column("blob").to_pylist()))
        group = blobs.column("shard")[0].as_py()
        return FanoutGroup(plan).pass_on(group, arrived, MIN_TIMESTAMP)

    return run

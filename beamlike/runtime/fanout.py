"""Hot keys: rows are dealt out to groups that combine them before they reach their shard.

All rows of a key go to one shard, however many they are. With a fanout rows are first dealt out in
turn to a number of groups, whatever their key is. Each group judges lateness as the shard would,
combines its rows by key and window, and passes on one combined element for each.
"""

import json
from functools import cached_property
from typing import Any

import pyarrow as pa

from beamlike.runtime.clock import Clock
from beamlike.runtime.envelope import Kind, sealed
from beamlike.runtime.lift import Lifter
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import Arrived, packed_blobs, packed_shards, updated
from beamlike.runtime.store.stores import Store
from beamlike.runtime.work import HostReport, PlanWork


class FanoutWork(PlanWork):
    """The groups of the fanout of a grouping. The state of each is its `Clock`, as JSON.

    Its clocks move as those of a shard do. Otherwise the two would not agree on what is late.
    """

    columns = ("shard", "blob")

    @cached_property
    def _lifter(self) -> Lifter:
        return Lifter(self.plan)

    def _stepped(
        self, group: int, store: Store, arrived: Arrived, report: HostReport
    ) -> list[tuple[Any, ...]]:
        unit, saved = self.plan.resolution, store.read_index()
        before = Clock(unit.earliest) if saved is None else Clock.saved(json.loads(saved), unit)
        begin, after = report.with_arrived(arrived, unit).moves(before, self.plan)
        passed = self._passed_on(group, arrived, begin.watermark)
        store.write_index(json.dumps(after.to_save(unit)).encode())
        return [*zip(*(column.to_pylist() for column in passed.columns), strict=True)]

    def _passed_on(self, group: int, arrived: Arrived, watermark: int) -> pa.Table:
        """The batches for the shards: combined elements, and the updates of the group for all."""
        plan, shards, finished = self.plan, list(self.plan.shard_ids), arrived.finished
        batches = []
        if arrived.tables:
            lifted, dropped = self._lifter.lift(arrived.tables[0], watermark)
            if lifted.num_rows:
                batches.append(packed_shards(plan, lifted, (group, 0, 0)))
            if dropped:
                finished = [OutputTable(plan).build(dropped), *finished]
        blobs = [sealed(Kind.FINISHED, table) for table in finished]
        batches.append(packed_blobs([shards[0]] * len(blobs), blobs))
        batches.append(updated(plan, shards, arrived))
        return pa.Table.from_batches(batches)

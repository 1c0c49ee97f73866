"""Hot keys: rows are dealt out to groups that combine them before they reach their shard.

One key's rows all go to one shard, however many they are. With a fanout they first go, in turn,
to as many groups, whatever their key. Each judges lateness as the shard would, combines its rows by
key and window, and passes on one combined element for each.
"""

from collections.abc import Sequence

import pyarrow as pa

from beamlike.machine.input_clocks import WatermarkUpdate
from beamlike.runtime.clock import Clock
from beamlike.runtime.envelope import Kind, sealed
from beamlike.runtime.lift import lifter_of
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import Arrived, packed_blobs, packed_shards, updated
from beamlike.runtime.plan import Plan


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
        """One micro-batch: blobs for the shards, and where its clocks stand then.

        Args:
            group: Its grouping key.
            before: Where they stood.
            arrived: What it was sent.
            updates: As of `Stepper`, as are the others.
        """
        before = before.begin(updates)
        passed = self._passed_on(group, arrived, before.watermark)
        return passed, before.after(self._plan, updates, clock)

    def _passed_on(self, group: int, arrived: Arrived, watermark: int) -> pa.Table:
        """Blobs for the shards: all of them are stepped, and get the updates of the group."""
        plan, shards, finished = self._plan, list(self._plan.shard_ids), arrived.finished
        batches = []
        if arrived.tables:
            lifted, dropped = self._lifter.lift(arrived.tables, watermark)
            if lifted.num_rows:
                batches.append(packed_shards(plan, lifted, (group, 0, 0)))
            if dropped:
                finished = [OutputTable(plan).build(dropped), *finished]
        blobs = [sealed(Kind.FINISHED, table) for table in finished]
        batches.append(packed_blobs([shards[0]] * len(blobs), blobs))
        counted = (arrived.elements, arrived.delivered, arrived.clock)
        batches.append(updated(plan, shards, arrived.updates, *counted))
        return pa.Table.from_batches(batches)

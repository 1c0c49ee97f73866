"""A grouping over tables, in this process.

Spark's part is done here, and nothing else: rows go from the packer to their shards, shards are
stepped one after the other, what comes out is put together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import attrs
import pyarrow as pa

from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.machine.clocks import HostWatermark
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import packed
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.stores import Store
from beamlike.runtime.work import FanoutWork, ShardWork, Work


@attrs.frozen
class PackedTable:
    """One input of a grouping: a frame, and what makes the packer's columns of its rows.

    ``assign`` is as of `beamlike.hosts.spark.query.Packed`.
    """

    rows: TableFrame
    columns: Callable[[pa.Table], pa.Table]
    assign: WindowFn | None

    def blobs(self, plan: Plan, index: int, batch: MicroBatch) -> Iterator[pa.RecordBatch]:
        """Its rows in a micro-batch as blobs for shards, as the input with this index."""
        rows = self.columns(self.rows.table(batch)).combine_chunks().to_batches()
        return packed(plan, iter(rows), index, self.assign)


StoreOf = Callable[[int], Store]
"""The state of a group."""


def output_of(
    works: tuple[ShardWork, FanoutWork],
    inputs: Sequence[PackedTable],
    batch: MicroBatch,
    updates: Sequence[HostWatermark],
    store_of_shard: StoreOf,
    store_of_fanout: StoreOf,
) -> pa.Table:
    """Everything that comes out of a grouping in a micro-batch, with the hidden column."""
    of_shards, of_fanout = works
    plan, received = of_shards.plan, defaultdict[int, list[bytes]](list)
    for index, packed_table in enumerate(inputs):
        _deliver(received, packed_table.blobs(plan, index, batch))

    def stepped(work: Work, groups: Iterable[int], store_of: StoreOf) -> Iterator[tuple[Any, ...]]:
        for group in dict.fromkeys(groups):
            stores = partial(store_of, group)
            yield from work.step(group, stores, received.get(group, []), updates, batch.clock)

    if plan.fanout:
        passed = defaultdict[int, list[bytes]](list)
        groups = (*plan.fanout_ids, *received)
        for shard, blob in stepped(of_fanout, groups, store_of_fanout):
            passed[shard].append(blob)
        received = passed
    rows = stepped(of_shards, plan.shard_ids, store_of_shard)
    tables = [table for table, *_ in rows if table is not None]
    return pa.concat_tables([OutputTable(plan).schema.empty_table(), *tables])


def _deliver(received: dict[int, list[bytes]], packed: Iterable[pa.RecordBatch]) -> None:
    """Sort blobs by the shard, or the group of the fanout, that they are for."""
    for rows in packed:
        groups, blobs = (column.to_pylist() for column in rows.columns)
        for group, blob in zip(groups, blobs, strict=True):
            received[group].append(blob)

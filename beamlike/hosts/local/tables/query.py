"""A grouping over tables, in this process.

Spark's part is done here, and nothing else: rows go from the packer to their shards, shards are
stepped one after the other, what comes out is put together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.values import usual_table
from beamlike.machine.clocks import HostWatermark
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import packed
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.stores import NoStore, Store
from beamlike.runtime.work import AT_ONCE, FanoutWork, ShardWork, Work


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


@attrs.frozen
class BoundedStage:
    """A grouping of rows that are there at once: each shard from its first element to its end."""

    plan: Plan
    inputs: Sequence[PackedTable]

    def table(self, batch: MicroBatch) -> pa.Table:
        """Everything that comes out, with the hidden column."""
        works = ShardWork(self.plan), FanoutWork(self.plan)
        return output_of(works, self.inputs, batch, AT_ONCE, _no_store, _no_store)


def _no_store(group: int) -> NoStore:
    return NoStore()


class BoundedTables:
    """Where frames over tables come from. They keep nothing."""

    is_streaming: Final = False
    port: Final = None
    """What its frames are worked on with, if it is not `TableFrames`."""
    without_spark: Final = (
        "and a table of pyarrow has none; compute a column with pyarrow.compute and "
        "table.append_column(...) before, and name it here, or make a DataFrame of the table with "
        "bl.local_session().createDataFrame(table)"
    )
    """What to do where only Spark can help."""

    def stage(self, plan: Plan, inputs: Sequence[PackedTable]) -> BoundedStage:
        """A grouping."""
        return BoundedStage(plan, inputs)


_TABLES: Final = BoundedTables()


def frame_of(rows: pa.Table | pa.RecordBatch) -> TableFrame:
    """Rows of a user's as a frame, in the types that queries know.

    Raises:
        ColumnError: A value does not fit in such a type.
    """
    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    usual = usual_table(table)
    return TableFrame(usual.schema, frozenset(), _TABLES, lambda batch: usual)


def table_of(frame: TableFrame) -> pa.Table:
    """All rows of a frame that is bounded."""
    return frame.table(MicroBatch({}, {}, 0, 0, ended=True)).cast(frame.fields)

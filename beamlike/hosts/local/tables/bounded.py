"""Queries over tables that are there at once: the watermark goes straight to infinity."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import attrs
import pyarrow as pa

from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.query import PackedTable, deliver
from beamlike.hosts.local.tables.values import usual_table
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.fanout import FanoutGroup
from beamlike.runtime.micro_batch import finished_shard
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import read_blobs
from beamlike.runtime.plan import Plan


@attrs.frozen
class BoundedStage:
    """A grouping of rows that are there at once: each shard from its first element to its end."""

    plan: Plan
    inputs: Sequence[PackedTable]

    def table(self, batch: MicroBatch) -> pa.Table:
        """Everything that comes out, with the hidden column."""
        plan = self.plan
        received: dict[int, list[bytes]] = defaultdict(list)
        for index, packed_table in enumerate(self.inputs):
            deliver(received, packed_table.blobs(plan, index, batch))
        if plan.fanout:
            passed: dict[int, list[bytes]] = defaultdict(list)
            for group, blobs in received.items():
                arrived = read_blobs(iter(blobs))
                rows = FanoutGroup(plan).pass_on(group, arrived, MIN_TIMESTAMP)
                deliver(passed, rows.to_batches())
            received = passed
        tables = [OutputTable(plan).schema.empty_table()]
        for group in plan.shard_ids:
            tables += finished_shard(plan, read_blobs(iter(received[group])))
        return pa.concat_tables(tables)


class BoundedTables:
    """Where frames over tables come from. They keep nothing."""

    is_streaming: Final = False
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

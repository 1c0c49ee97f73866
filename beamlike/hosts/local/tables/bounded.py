"""Queries over tables that are there at once: the watermark goes straight to infinity."""

from collections.abc import Sequence
from typing import Final

import attrs
import pyarrow as pa

from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.query import PackedTable, output_of
from beamlike.hosts.local.tables.values import usual_table
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.stores import NoStore
from beamlike.runtime.work import AT_ONCE, FanoutWork, ShardWork


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

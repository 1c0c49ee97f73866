"""After the shards: blobs become output rows, and some of these carry the counts for Spark."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.spark.blobs import unpack_blob
from beamlike.hosts.spark.index import Standing
from beamlike.hosts.spark.marks import COUNTED, DROPPED_ROW, MARKS, MARKS_TYPE, STANDING
from beamlike.hosts.spark.output import OutputTable
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.workers import ease_worker

__all__ = ["unpacker"]


def unpacker(plan: Plan) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that turns output blobs into output rows.

    One row of each blob says how many of them are what. So Spark adds up a few numbers for its
    progress; to look at every row for them takes it longer than all the rest of this. One more
    row at the end tells where the shards stand, which has to be known also when nothing comes out.
    """

    def unpack(batches: Batches) -> Batches:
        ease_worker()
        standing: list[Standing] = []
        for batch in batches:
            for blob in batch.column("blob").to_pylist():
                table, header = unpack_blob(blob)
                if "standing" in header:
                    standing.append(Standing(*header["standing"]))
                if table.num_rows:
                    table = _counted(table.replace_schema_metadata(None), plan.name)
                    yield from table.to_batches()
        if standing:
            yield from _told(plan, standing).to_batches()

    return unpack


def _told(plan: Plan, standing: list[Standing]) -> pa.Table:
    """Where these shards stand together, as a row that only passes by."""
    marks: dict[str, Any] = {
        "kind": STANDING,
        "watermark": min(one.watermark for one in standing),
        "counts": [*([0] * len(COUNTED)), sum(one.windows_open for one in standing)],
    }
    schema = OutputTable(plan).schema
    return pa.Table.from_pylist([{MARKS: marks}], schema)


def _counted(table: pa.Table, stage: str) -> pa.Table:
    """The same rows, the first of which carries the counts of all."""
    marks = table.column(MARKS).combine_chunks()
    fields = dict(zip(MARKS_TYPE.names, marks.flatten(), strict=True))
    found: Counter[tuple[str, str]] = Counter()
    timings = pc.struct_field(table.column("pane"), "timing").filter(pc.is_null(fields["kind"]))
    for each in timings.value_counts().to_pylist():
        found["panes", each["values"]] += each["counts"]
    dropped = fields["dropped"].filter(pc.equal(fields["kind"], DROPPED_ROW))
    for row in dropped.to_pylist():
        if row["stage"] == stage:
            found["dropped", row["reason"]] += row["count"]
    kind = fields["counts"].type
    told = pa.array([[found[what] for what in COUNTED]], kind)
    fields["counts"] = pa.concat_arrays([told, pa.nulls(table.num_rows - 1, kind)])
    unmarked = pc.is_null(marks).to_numpy(zero_copy_only=False).copy()
    unmarked[0] = False
    marks = pa.StructArray.from_arrays(
        list(fields.values()), fields=list(MARKS_TYPE), mask=pa.array(unmarked)
    )
    return table.set_column(table.column_names.index(MARKS), table.schema.field(MARKS), marks)

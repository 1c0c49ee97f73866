"""After the shards: blobs become output rows, and some of these carry the counts for Spark."""

import reprlib
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker, prepare_logs
from beamlike.machine.jumps import Delivered, Jump
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.jumps import delivered_from_json, jump_of
from beamlike.runtime.logs import log_jump, log_rows, logs_drops
from beamlike.runtime.output import OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import COUNTED, DROPPED_ROW, MARKS, MARKS_TYPE, STANDING
from beamlike.runtime.store.blobs import unpack_blob
from beamlike.runtime.store.index import ShardStatus

__all__ = ["unpacker"]

_EXAMPLE: Final = 300
"""Letters of an example at most: it stands in the query's progress, and in log lines."""


def unpacker(plan: Plan) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that turns output blobs into output rows.

    One row of each blob says how many of them are what. So Spark adds up a few numbers for its
    progress; to look at every row for them takes it longer than all the rest of this. One more
    row at the end tells where the shards stand, which has to be known also when nothing comes out.
    """

    def unpack(batches: Batches) -> Batches:
        ease_worker()
        prepare_logs()
        standing: list[ShardStatus] = []
        delivered: list[Delivered] = []
        elements, example = 0, None
        for batch in batches:
            for blob in batch.column("blob").to_pylist():
                table, header = unpack_blob(blob)
                if "standing" in header:
                    standing.append(ShardStatus(*header["standing"]))
                    elements += header["elements"]
                delivered += map(delivered_from_json, header.get("delivered", ()))
                if table.num_rows:
                    if logs_drops():
                        log_rows(plan.name, list(plan.keys), table)
                    table, lost = _counted(table.replace_schema_metadata(None), plan.name)
                    if lost is not None and example is None:
                        example = _in_words(plan, table.slice(lost, 1))
                    yield from table.to_batches()
        if standing:
            jump = jump_of(plan, delivered, standing[0])  # all shards see the same watermark
            if jump is not None:
                log_jump(plan.name, jump)
            yield from _told(plan, standing, elements, example, jump).to_batches()

    return unpack


def _told(
    plan: Plan,
    standing: list[ShardStatus],
    elements: int,
    example: str | None,
    jump: Jump | None,
) -> pa.Table:
    """Where these shards stand together, as a row that only passes by."""
    watermark = min(one.watermark for one in standing)
    deadlines = [one.deadline for one in standing if one.deadline is not None]
    of_clock = [one.clock_deadline for one in standing if one.clock_deadline is not None]
    stood = (
        elements,
        sum(one.merges for one in standing),
        sum(one.windows_open for one in standing),
        None if watermark == MIN_TIMESTAMP else watermark,
        min(deadlines, default=None),
        min(of_clock, default=None),
        None if jump is None else jump.size,
    )
    marks: dict[str, Any] = {"kind": STANDING, "counts": [*([0] * len(COUNTED)), *stood]}
    if jump is not None:
        marks["problem"] = str(jump)
    if example is not None:
        marks["dropped"] = {"element": example}
    schema = OutputTable(plan).schema
    return pa.Table.from_pylist([{MARKS: marks}], schema)


def _counted(table: pa.Table, stage: str) -> tuple[pa.Table, int | None]:
    """The same rows, the first of which carries the counts of all.

    And the place of one of them that this stage has dropped, None if there is none.
    """
    marks = table.column(MARKS).combine_chunks()
    fields = dict(zip(MARKS_TYPE.names, marks.flatten(), strict=True))
    found: Counter[tuple[str, str]] = Counter()
    timings = pc.struct_field(table.column("pane"), "timing").filter(pc.is_null(fields["kind"]))
    for each in timings.value_counts().to_pylist():
        found["panes", each["values"]] += each["counts"]
    found["retractions", ""] = _withdrawing(table)
    is_dropped = pc.equal(fields["kind"], DROPPED_ROW)
    lost = None
    for at, row in enumerate(fields["dropped"].filter(is_dropped).to_pylist()):
        if row["stage"] == stage:
            found["dropped", row["reason"]] += row["count"]
            lost = at if lost is None else lost
    if lost is not None:
        lost = pc.indices_nonzero(is_dropped)[lost].as_py()
    kind = fields["counts"].type
    told = pa.array([[found[what] for what in COUNTED]], kind)
    fields["counts"] = pa.concat_arrays([told, pa.nulls(table.num_rows - 1, kind)])
    unmarked = pc.is_null(marks).to_numpy(zero_copy_only=False).copy()
    unmarked[0] = False
    marks = pa.StructArray.from_arrays(
        list(fields.values()), fields=list(MARKS_TYPE), mask=pa.array(unmarked)
    )
    at = table.column_names.index(MARKS)
    return table.set_column(at, table.schema.field(MARKS), marks), lost


def _withdrawing(table: pa.Table) -> int:
    """How many of the rows withdraw an earlier pane, however they are rendered."""
    # A user's column may have the same name, but none of these comes after the pane's.
    added = table.column_names[table.column_names.index("pane") + 1 :]
    if "retraction" in added:
        return pc.sum(table.column("retraction")).as_py() or 0
    if "change" in added:
        return pc.sum(pc.equal(table.column("change"), "delete")).as_py() or 0
    return 0


def _in_words(plan: Plan, row: pa.Table) -> str:
    """One dropped element: why, with which key, out of which window."""
    (told,) = row.to_pylist()
    dropped: Mapping[str, Any] = told[MARKS]["dropped"]
    words = [dropped["reason"]]
    words += (f"{name}={reprlib.repr(told[name])}" for name in plan.keys)
    if dropped["window"]:
        start, end = (_instant(dropped["window"][side]) for side in ("start", "end"))
        words.append(f"window [{start}, {end})")
    if dropped["timestamp"]:
        words.append(f"at {_instant(dropped['timestamp'])}")
    return ", ".join(words)[:_EXAMPLE]


def _instant(moment: datetime | None) -> str:
    return "?" if moment is None else moment.isoformat()

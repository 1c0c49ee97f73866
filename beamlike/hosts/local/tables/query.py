"""Rows into a grouping over tables and out of it, in this process.

Event times of rows, and the columns that the packer reads, are as SQL of Spark makes them. Spark's
part is done here, and nothing else: rows go from the packer to their shards, shards are
stepped one after the other, what comes out is put together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import ColumnError
from beamlike.hosts.frames import EventTimes, StageInput
from beamlike.hosts.local.tables.frame import Make, MicroBatch, TableFrame, readable, usual_table
from beamlike.hosts.local.tables.texts import read_double, read_timestamp
from beamlike.machine.events import RowProblem
from beamlike.machine.input_clocks import FURTHEST_ZONE_HOURS, HostWatermark, is_far_ahead
from beamlike.runtime.fanout import FanoutWork
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.json_rows import write_row
from beamlike.runtime.output import OutputTable
from beamlike.runtime.packing import packed
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import LEFT_OUT, MARKS, time_types
from beamlike.runtime.sql_types import type_text
from beamlike.runtime.store.stores import NoStore, Store
from beamlike.runtime.work import END_OF_TIME, HostReport, ShardWork, Work

_FAR = RowProblem.FAR_FUTURE.value
_DAY = 86_400_000_000
_HOUR = 3_600_000_000


def source_rows(df: TableFrame, how: EventTimes) -> TableFrame:
    """See `beamlike.hosts.frames.Frames.source_rows`."""
    timestamp, delay, max_ahead, part = how.column, how.delay, how.max_ahead, how.part
    tick = how.resolution.micros
    columns = FrameColumns(df.fields)
    columns.check_source()
    field = columns.field(timestamp, "timestamp")
    is_time = pa.types.is_timestamp(field.type) or pa.types.is_date32(field.type)
    if not is_time and not pa.types.is_string(field.type):
        raise ColumnError(
            f"timestamp: column {timestamp!r} is {type_text(field)}; make it a timestamp first"
        )
    wall_clock = bool(pa.types.is_timestamp(field.type)) and field.type.tz is None
    types = time_types(wall_clock)
    follow = None if delay is None else df.query.source(delay)

    def make(batch: MicroBatch) -> pa.Table:
        table = df.table(batch)
        times, problems = event_times(table.column(timestamp))
        believed, now = [], batch.clock * 1_000
        if wall_clock:
            now += FURTHEST_ZONE_HOURS * _HOUR
        for index, time in enumerate(times):
            if time is None:
                continue
            if max_ahead is not None and is_far_ahead(time, now, max_ahead * 1_000):
                problems[index] = RowProblem.FAR_FUTURE.value
            else:
                believed.append(time if max_ahead is None else min(time, now))
        moves = [
            (to + (delay or 0)) * 1_000 for name, to in batch.moves.items() if name in df.inputs
        ]
        if follow is not None:  # as Spark, whose watermark counts milliseconds
            follow([time // 1_000 for time in (*believed, *moves)])
        nothing = pa.nulls(len(moves))
        columns = [
            pa.concat_arrays([column.combine_chunks(), nothing.cast(column.type)])
            for column in table.columns
        ]
        kinds = [None] * len(times) + [LEFT_OUT] * len(moves)
        known: dict[str, Sequence[Any]] = {
            "kind": kinds,
            "ts": [None if time is None else time // tick for time in (*times, *moves)],
            "problem": [*problems, *[None] * len(moves)],
        }
        if part is not None:
            parts = table.column(part).to_pylist()
            known["part"] = [
                *("" if name is None else str(name) for name in parts),
                *[None] * len(moves),
            ]
        marks = _marks(types.marks, known, len(kinds))
        return pa.Table.from_arrays([*columns, marks], names=[*table.column_names, MARKS])

    return TableFrame(df.fields.append(pa.field(MARKS, types.marks)), df.inputs, df.query, make)


def event_times(column: pa.ChunkedArray) -> tuple[list[int | None], list[str | None]]:
    """Event times (us), and why there is none."""
    times: list[int | None]
    if pa.types.is_string(column.type):
        times = [None if text is None else read_timestamp(text) for text in column.to_pylist()]
    elif pa.types.is_date32(column.type):
        times = [None if day is None else day * _DAY for day in column.cast(pa.int32()).to_pylist()]
    else:
        times = column.cast(pa.int64()).to_pylist()
    missing, bad = RowProblem.NULL_TIMESTAMP.value, RowProblem.BAD_TIMESTAMP.value
    problems = [
        missing if not was else bad if time is None else None
        for was, time in zip(column.is_valid().to_pylist(), times, strict=True)
    ]
    return times, problems


def _marks(dtype: pa.DataType, known: Mapping[str, Sequence[Any]], count: int) -> pa.StructArray:
    fields = [
        pa.array(known[mark.name], mark.type) if mark.name in known else pa.nulls(count, mark.type)
        for mark in dtype
    ]
    return pa.StructArray.from_arrays(fields, fields=list(dtype))


# -- columns that the packer reads -----------------------------------------------------------


def _packer_table(stage_input: StageInput, batch: MicroBatch) -> pa.Table:
    """The columns that the packer reads, of the rows of a micro-batch."""
    rows: pa.Table = stage_input.rows.table(batch)
    plan, inputs = stage_input.plan, stage_input.values
    keys = {name: _key(rows.column(name)) for name in plan.keys}
    values = [_value(rows.column(needed.source), needed) for needed in inputs.values()]
    problems = pc.struct_field(rows.column(MARKS), "problem").to_pylist()
    reasons = [problem if problem == _FAR else None for problem in problems]
    for name, key in keys.items():
        _note(reasons, rows.column(name).is_null(), RowProblem.NULL_KEY.value)
        _note(reasons, key.is_null(), RowProblem.BAD_KEY.value)
    reasons = [reason or other for reason, other in zip(reasons, problems, strict=True)]
    for needed, value in zip(inputs.values(), values, strict=True):
        lost = pc.and_(rows.column(needed.source).is_valid(), value.is_null())
        _note(reasons, lost, RowProblem.BAD_VALUE.value)
    columns = {
        **{f"key_{index}": key for index, key in enumerate(keys.values())},
        **{f"value_{index}": value for index, value in enumerate(values)},
        "hash": pa.array(_hashes(list(keys.values()), rows.num_rows), pa.int64()),
        "reason": pa.array(reasons, pa.string()),
        "element": pa.array(_elements(rows, stage_input.shown, reasons), pa.string()),
    }
    marks = {name: pc.struct_field(rows.column(MARKS), name) for name in stage_input.marks}
    return pa.table(columns | marks)


def _note(reasons: list[str | None], wrong: pa.ChunkedArray, reason: str) -> None:
    for index in pc.indices_nonzero(wrong).to_pylist():
        reasons[index] = reasons[index] or reason


def _key(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Minus zero is zero, as a key; a time that cannot be read is null."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0, column.type), column)
    return readable(column)


def _value(column: pa.ChunkedArray, needed: Input) -> pa.ChunkedArray:
    """A value as its aggregate takes it, null if it is none."""
    if not needed.cast:
        return readable(column)
    if pa.types.is_string(column.type):
        numbers = [None if text is None else read_double(text) for text in column.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])
    return column.cast(needed.dtype, safe=pa.types.is_decimal(needed.dtype))


def _hashes(keys: Sequence[pa.ChunkedArray], count: int) -> list[int]:
    """Where keys belong. It only has to be the same in all micro-batches."""
    if not keys:
        return [0] * count
    rows = zip(*(key.to_pylist() for key in keys), strict=True)
    return [crc32(repr(row).encode("utf-8", "surrogatepass")) for row in rows]


def _elements(
    rows: pa.Table, shown: Sequence[str], reasons: Sequence[str | None]
) -> list[str | None]:
    """Rows that cannot be grouped, as JSON."""
    elements: list[str | None] = [None] * rows.num_rows
    for index, reason in enumerate(reasons):
        if reason is not None:
            elements[index] = write_row({name: rows.column(name)[index] for name in shown})
    return elements


def works_of(plan: Plan) -> tuple[ShardWork, FanoutWork]:
    """The work of a grouping's shards and of its fanout, with a machine that is made at once."""
    shards = ShardWork(plan)
    _ = shards.stepper
    return shards, FanoutWork(plan)


StoreOf = Callable[[int], Store]
"""The state of a group."""


def output_of(
    works: tuple[ShardWork, FanoutWork],
    inputs: Sequence[StageInput],
    batch: MicroBatch,
    updates: Sequence[HostWatermark],
    store_of_shard: StoreOf,
    store_of_fanout: StoreOf,
) -> pa.Table:
    """Everything that comes out of a grouping in a micro-batch, with the hidden column."""
    of_shards, of_fanout = works
    plan, received = of_shards.plan, defaultdict[int, list[bytes]](list)
    for index, stage_input in enumerate(inputs):
        batches = iter(_packer_table(stage_input, batch).combine_chunks().to_batches())
        for blobs in packed(plan, batches, index, stage_input.assign):
            # Each is for a shard, or a group of the fanout.
            for group, blob in zip(*(column.to_pylist() for column in blobs.columns), strict=True):
                received[group].append(blob)

    report = HostReport(updates, batch.clock)

    def stepped(work: Work, groups: Iterable[int], store_of: StoreOf) -> Iterator[tuple[Any, ...]]:
        for group in dict.fromkeys(groups):
            stores = partial(store_of, group)
            yield from work.step(group, stores, received.get(group, []), report)

    if plan.fanout:
        passed = defaultdict[int, list[bytes]](list)
        groups = (*plan.fanout_ids, *received)
        for shard, blob in stepped(of_fanout, groups, store_of_fanout):
            passed[shard].append(blob)
        received = passed
    rows = stepped(of_shards, plan.shard_ids, store_of_shard)
    tables = [table for table, *_ in rows if table is not None]
    return pa.concat_tables([OutputTable(plan).schema.empty_table(), *tables])


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

    def stage(self, plan: Plan, inputs: Sequence[StageInput]) -> Make:
        """What makes the rows of a grouping: each shard steps from its first element to its end."""
        works = works_of(plan)
        return lambda batch: output_of(works, inputs, batch, END_OF_TIME, _no_store, _no_store)


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

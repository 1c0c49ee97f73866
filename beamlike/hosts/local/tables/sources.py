"""Event times of rows, and the columns that the packer reads, as SQL of Spark makes them."""

from collections.abc import Container, Mapping, Sequence
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import ColumnError
from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.texts import read_double, read_timestamp
from beamlike.hosts.local.tables.values import readable
from beamlike.machine.clocks import is_far_ahead
from beamlike.machine.events import RowProblem
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.json_rows import write_row
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import LEFT_OUT, MARKS, marks_read, time_types
from beamlike.runtime.sql_types import type_text

_FAR = RowProblem.FAR_FUTURE.value
_DAY = 86_400_000_000
FURTHEST_AHEAD = 14 * 3_600_000_000
"""How far the clocks of some zone are ahead of UTC, and those of none further (us)."""


def source_rows(
    df: TableFrame,
    timestamp: str,
    delay: int | None,
    max_ahead: int | None,
    part: str | None = None,
    resolution: Resolution = MILLISECONDS,
) -> TableFrame:
    """See `beamlike.hosts.frames.Frames.source_rows`."""
    if MARKS in df.columns:
        raise ColumnError(f"the name {MARKS!r} is needed here; rename that column of df")
    field = FrameColumns(df.fields).field(timestamp, "timestamp")
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
            now += FURTHEST_AHEAD
        for at, time in enumerate(times):
            if time is None:
                continue
            if max_ahead is not None and is_far_ahead(time, now, max_ahead * 1_000):
                problems[at] = RowProblem.FAR_FUTURE.value
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
            "ts": [None if it is None else it // resolution.micros for it in (*times, *moves)],
            "problem": [*problems, *[None] * len(moves)],
        }
        if part is not None:
            own = table.column(part).to_pylist()
            known["part"] = [*("" if it is None else str(it) for it in own), *[None] * len(moves)]
        marks = _marks(types.marks, known, len(kinds))
        return pa.Table.from_arrays([*columns, marks], names=[*table.column_names, MARKS])

    return TableFrame(df.fields.append(pa.field(MARKS, types.marks)), df.inputs, df.query, make)


def event_times(column: pa.ChunkedArray) -> tuple[list[int | None], list[str | None]]:
    """Event times (us), and why there is none."""
    times: list[int | None]
    if pa.types.is_string(column.type):
        times = [None if it is None else read_timestamp(it) for it in column.to_pylist()]
    elif pa.types.is_date32(column.type):
        times = [None if it is None else it * _DAY for it in column.cast(pa.int32()).to_pylist()]
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
        pa.array(known[it.name], it.type) if it.name in known else pa.nulls(count, it.type)
        for it in dtype
    ]
    return pa.StructArray.from_arrays(fields, fields=list(dtype))


# -- columns that the packer reads -----------------------------------------------------------


def packer_table(
    rows: pa.Table,
    plan: Plan,
    inputs: Mapping[str, Input],
    timestamp: str | None,
    hidden_columns: Container[str],
    by_part: bool = False,
) -> pa.Table:
    """The columns that the packer reads; for the arguments see `Frames.packed`."""
    keys = {name: _key(rows.column(name)) for name in plan.keys}
    values = [_value(rows.column(needed.source), needed) for needed in inputs.values()]
    problems = pc.struct_field(rows.column(MARKS), "problem").to_pylist()
    reasons = [problem if problem == _FAR else None for problem in problems]
    for name, key in keys.items():
        _note(reasons, rows.column(name).is_null(), RowProblem.NULL_KEY.value)
        _note(reasons, key.is_null(), RowProblem.BAD_KEY.value)
    reasons = [one or other for one, other in zip(reasons, problems, strict=True)]
    for needed, value in zip(inputs.values(), values, strict=True):
        lost = pc.and_(rows.column(needed.source).is_valid(), value.is_null())
        _note(reasons, lost, RowProblem.BAD_VALUE.value)
    names = [*plan.keys, *(needed.source for needed in inputs.values())]
    if timestamp in rows.column_names:
        names.insert(len(plan.keys), str(timestamp))
    shown = [name for name in dict.fromkeys(names) if name not in hidden_columns]
    columns = {
        **{f"key_{at}": key for at, key in enumerate(keys.values())},
        **{f"value_{at}": value for at, value in enumerate(values)},
        "hash": pa.array(_hashes(list(keys.values()), rows.num_rows), pa.int64()),
        "reason": pa.array(reasons, pa.string()),
        "element": pa.array(_elements(rows, shown, reasons), pa.string()),
    }
    passed = {
        name: pc.struct_field(rows.column(MARKS), name) for name in marks_read(timestamp, by_part)
    }
    return pa.table(columns | passed)


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
        numbers = [None if it is None else read_double(it) for it in column.to_pylist()]
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
    found: list[str | None] = [None] * rows.num_rows
    for at, reason in enumerate(reasons):
        if reason is not None:
            found[at] = write_row({name: rows.column(name)[at] for name in shown})
    return found

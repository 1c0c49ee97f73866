"""Rows with the columns that the packer reads, as Spark makes them in SQL."""

from collections.abc import Container, Mapping, Sequence
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.local.tables.texts import read_double
from beamlike.hosts.local.tables.values import readable
from beamlike.machine.events import RowProblem
from beamlike.runtime.frame_columns import Input
from beamlike.runtime.json_rows import write_row
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS, marks_read

_FAR = RowProblem.FAR_FUTURE.value


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

"""Rows for the packer, as `beamlike.hosts.spark.bind.packer_columns` makes them in SQL."""

from collections.abc import Container, Mapping, Sequence
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from beamlike.hosts.local.tables.texts import read_double, write_json
from beamlike.hosts.spark.inputs import Input
from beamlike.machine.events import RowProblem
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import MARKS, marks_read

_FAR = RowProblem.FAR_FUTURE.value


def packer_table(
    rows: pa.Table,
    schema: T.StructType,
    plan: Plan,
    inputs: Mapping[str, Input],
    timestamp: str | None,
    hidden_columns: Container[str],
    by_part: bool = False,
) -> pa.Table:
    """The columns that the packer reads; for the arguments see `Frames.packed`."""
    keys = {name: _key(rows.column(name)) for name in plan.keys}
    values = [_value(rows.column(it.source), it, schema) for it in inputs.values()]
    problems = pc.struct_field(rows.column(MARKS), "problem").to_pylist()
    reasons = [problem if problem == _FAR else None for problem in problems]
    for key in keys.values():
        _note(reasons, key.is_null().to_pylist(), RowProblem.NULL_KEY.value)
    reasons = [one or other for one, other in zip(reasons, problems, strict=True)]
    for given, value in zip(inputs.values(), values, strict=True):
        lost = pc.and_(rows.column(given.source).is_valid(), value.is_null())
        _note(reasons, lost.to_pylist(), RowProblem.BAD_VALUE.value)
    names = [*plan.keys, *(given.source for given in inputs.values())]
    if timestamp in schema.names:
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


def _note(reasons: list[str | None], wrong: Sequence[bool], reason: str) -> None:
    for at, is_wrong in enumerate(wrong):
        if is_wrong and reasons[at] is None:
            reasons[at] = reason


def _key(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Minus zero is zero, as a key."""
    if pa.types.is_floating(column.type):
        return pc.if_else(pc.equal(column, 0.0), pa.scalar(0.0, column.type), column)
    return column


def _value(column: pa.ChunkedArray, given: Input, schema: T.StructType) -> pa.ChunkedArray:
    """A value as its aggregate takes it, null if it is none."""
    kind = schema[given.source].dataType
    if not given.cast:
        return column  # a time that Python has no value for cannot be sent
    if isinstance(kind, T.StringType):
        numbers = [None if it is None else read_double(it) for it in column.to_pylist()]
        return pa.chunked_array([pa.array(numbers, pa.float64())])
    if isinstance(given.kind, T.DecimalType):
        return column.cast(pa.decimal128(given.kind.precision, given.kind.scale))
    target = pa.int64() if isinstance(given.kind, T.LongType) else pa.float64()
    return column.cast(target, safe=False)


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
            found[at] = write_json({name: rows.column(name)[at].as_py() for name in shown})
    return found

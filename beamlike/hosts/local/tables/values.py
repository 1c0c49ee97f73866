"""Columns of tables in the types that queries know, and the values in them that can be read."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.runtime.output import READABLE
from beamlike.runtime.sql_types import usual_type

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_LAST = 2**63 - 1
_DAYS = (-719_162, 2_932_896)
"""The first and the last day that Python has a date for, since 1970."""


# -- types -----------------------------------------------------------------------------------


def usual_table(table: pa.Table) -> pa.Table:
    """A table in the types that SQL has: no dictionaries, no unsigned numbers, one unit of time.

    A column whose values do not fit there stays as it is, and is refused where it is used.
    """
    columns = [_usual(column) for column in table.columns]
    fields = [
        pa.field(field.name, column.type, metadata=field.metadata)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _usual(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if isinstance(column.type, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(storage, column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(decoded, column.type.value_type)
    dtype = usual_type(column.type)
    if dtype == column.type:
        return column
    try:
        if pa.types.is_timestamp(column.type):
            return _in_micros(column).cast(dtype)
        return column.cast(dtype, safe=not _has_finer_times(column.type))
    except pa.ArrowException:
        return column


def _in_micros(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants in microseconds: what is finer goes, what lies beyond is as far off as can be."""
    unit = column.type.unit
    if unit == "ns":
        return pc.floor_temporal(column.cast(pa.timestamp("ns")), unit="microsecond")
    scale = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
    ticks, bound = column.cast(pa.int64()), _LAST // scale
    within = pc.if_else(pc.greater(ticks, bound), bound, ticks)
    within = pc.if_else(pc.less(within, -bound), -bound, within)
    return pc.multiply(within, scale).cast(pa.timestamp("us"))


def _has_finer_times(dtype: pa.DataType) -> bool:
    """Whether values of a type may have parts of a microsecond, which go."""
    if pa.types.is_nested(dtype):
        return any(_has_finer_times(dtype.field(index).type) for index in range(dtype.num_fields))
    return getattr(dtype, "unit", "") == "ns"


# -- values ----------------------------------------------------------------------------------


def readable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in place of the dates and times that Python has no value for.

    And in place of a struct, an array or a map in which there is one.
    """
    if not _has_times(column.type):
        return column
    chunks = [
        pc.if_else(pa.array(~_unreadable(chunk)), chunk, pa.scalar(None, chunk.type))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _has_times(dtype: pa.DataType) -> bool:
    if pa.types.is_nested(dtype):
        return any(_has_times(dtype.field(index).type) for index in range(dtype.num_fields))
    return bool(pa.types.is_timestamp(dtype) or pa.types.is_date32(dtype))


def _unreadable(values: pa.Array) -> Mask:
    """Which values of an array Python cannot have."""
    dtype = values.type
    if pa.types.is_timestamp(dtype):
        micros: Ints = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return (micros < READABLE[0]) | (micros > READABLE[-1])
    if pa.types.is_date32(dtype):
        days: Ints = pc.fill_null(values.cast(pa.int32()), 0).to_numpy(zero_copy_only=False)
        return (days < _DAYS[0]) | (days > _DAYS[1])
    if pa.types.is_struct(dtype):
        children = [_unreadable(child) for child in values.flatten()]
        return np.logical_or.reduce(children) if children else np.zeros(len(values), bool)
    if pa.types.is_map(dtype):
        return _unreadable(values.cast(pa.list_(dtype.field(0))))
    unreadable: Mask = np.zeros(len(values), bool)
    if pa.types.is_list(dtype):
        parents = pc.list_parent_indices(values).to_numpy(zero_copy_only=False)
        unreadable[parents[_unreadable(values.flatten())]] = True
    return unreadable

"""Columns of tables in the types that queries know, and the values in them that can be read."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.runtime.output import READABLE

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


def usual_type(dtype: pa.DataType) -> pa.DataType:
    """The type that stands for another one in queries; the same where SQL has none for it.

    >>> str(usual_type(pa.dictionary(pa.int32(), pa.large_string()))), str(usual_type(pa.uint32()))
    ('string', 'int64')
    """
    is_a = pa.types
    if is_a.is_dictionary(dtype) or is_a.is_run_end_encoded(dtype):
        return usual_type(dtype.value_type)
    if is_a.is_large_string(dtype) or is_a.is_string_view(dtype):
        return pa.string()
    if is_a.is_large_binary(dtype) or is_a.is_binary_view(dtype) or _is_fixed_binary(dtype):
        return pa.binary()
    if dtype in _WIDER:
        return _WIDER[dtype]
    if is_a.is_timestamp(dtype):
        return pa.timestamp("us", None if dtype.tz is None else "UTC")
    if is_a.is_duration(dtype):
        return pa.duration("us")
    if is_a.is_decimal(dtype) and dtype.precision <= 38:
        return pa.decimal128(dtype.precision, dtype.scale)
    if is_a.is_map(dtype):
        return pa.map_(usual_type(dtype.key_type), usual_type(dtype.item_type))
    if is_a.is_struct(dtype):
        return pa.struct([(field.name, usual_type(field.type)) for field in dtype])
    if is_a.is_nested(dtype) and hasattr(dtype, "value_type"):  # lists of each make
        return pa.list_(usual_type(dtype.value_type))
    return dtype


def _is_fixed_binary(dtype: pa.DataType) -> bool:
    return pa.types.is_fixed_size_binary(dtype) and not pa.types.is_decimal(dtype)


_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.time32("s"): pa.time64("ns"),
    pa.time32("ms"): pa.time64("ns"),
    pa.time64("us"): pa.time64("ns"),
}


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
        return (micros < READABLE[0] * 1000) | (micros > READABLE[-1] * 1000 + 999)
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

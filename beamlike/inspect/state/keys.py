"""The keys of saved windows as texts, which one was typed; and the bytes of rows."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Ints
from beamlike.runtime.graph.keys import UnfitKeyError, key_bytes, readable_key
from beamlike.runtime.row_metadata import readable_values


def row_sizes(table: pa.Table) -> Ints:
    """Bytes of each row: of its numbers, its texts, and everything in its lists."""
    sizes = (_sizes(column.combine_chunks()) for column in table.columns)
    return reduce(np.add, sizes, np.zeros(table.num_rows, np.int64))


def _sizes(array: pa.Array) -> Ints:
    dtype, count = array.type, len(array)
    if pa.types.is_list(dtype) or pa.types.is_large_list(dtype):
        of_items = np.concatenate([[0], np.cumsum(_sizes(array.flatten()))])
        lengths: Ints = pc.fill_null(pc.list_value_length(array), 0).to_numpy().astype(np.int64)
        ends = np.cumsum(lengths)
        in_lists: Ints = of_items[ends] - of_items[ends - lengths]
        return in_lists + 4
    if pa.types.is_map(dtype):
        pairs = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        return _sizes(pa.ListArray.from_arrays(array.offsets, pairs))
    if pa.types.is_struct(dtype):
        return reduce(np.add, map(_sizes, array.flatten()), np.zeros(count, np.int64))
    if any(has_length(dtype) for has_length in _WITH_LENGTH):
        texts: Ints = pc.fill_null(pc.binary_length(array), 0).to_numpy().astype(np.int64)
        return texts + 4
    if pa.types.is_dictionary(dtype):
        return _sizes(array.dictionary_decode())
    width = 0 if pa.types.is_null(dtype) else dtype.bit_width
    return np.full(count, (width + 7) // 8, np.int64)


_WITH_LENGTH = (
    *(pa.types.is_string, pa.types.is_binary),
    *(pa.types.is_large_string, pa.types.is_large_binary),
)
_NULL = "null"
_BETWEEN = ", "


def key_texts(columns: Sequence[pa.ChunkedArray], rows: int, *, in_bytes: bool) -> pa.Array:
    """The key of each row as text."""
    if in_bytes:
        (column,) = columns
        return pa.array(
            [arrow_text(readable_key(blob)) for blob in column.to_pylist()], pa.string()
        )
    if not columns:
        return pa.array([""] * rows, pa.string())
    texts = [_texts(column) for column in columns]
    if len(texts) == 1:
        return texts[0]
    return pc.binary_join_element_wise(*texts, _BETWEEN)


def arrow_text(key: Any) -> str:
    """The key as a text that Arrow takes.

    It has none with halves of characters, which Python makes of bytes that are no UTF-8.
    """
    return str(key).encode("utf-8", "backslashreplace").decode()


def _texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    plain = pa.types.is_nested(column.type) or pa.types.is_binary(column.type)
    if not plain:
        with suppress(pa.ArrowException):
            return pc.fill_null(pc.cast(column, pa.string()), _NULL)
    texts = [_NULL if value is None else arrow_text(value) for value in readable_values(column)]
    return pa.array(texts, pa.string())


def keys_as_values(
    columns: Mapping[str, pa.ChunkedArray], rows: int, *, in_bytes: bool
) -> list[Any]:
    """The key of each row: its columns by name, or the key itself of a pipeline."""
    if in_bytes:
        (column,) = columns.values()
        return [readable_key(blob) for blob in column.to_pylist()]
    if not columns:
        return [{}] * rows
    return rows_of(columns)


def rows_of(columns: Mapping[str, pa.ChunkedArray]) -> list[dict[str, Any]]:
    """Rows of these columns, of which there is at least one, see `readable_values`."""
    values = zip(*map(readable_values, columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in values]


def count_keys(columns: Sequence[pa.ChunkedArray], rows: int) -> int:
    """How many different keys there are. Different keys may have the same text."""
    if not columns:
        return min(rows, 1)
    parts = [_texts(column) if pa.types.is_nested(column.type) else column for column in columns]
    names = [str(index) for index in range(len(parts))]
    return pa.table(parts, names).group_by(names).aggregate([]).num_rows  # type: ignore[no-any-return]


def meant_by(
    typed: str, columns: Mapping[str, pa.ChunkedArray], rows: int, *, in_bytes: bool
) -> pa.Array:
    """For each row whether its key is this JSON. What is no JSON means none.

    JSON is a value, a list of them in the order of the key columns, or an object by their names.
    """
    none = pa.array([False] * rows, pa.bool_())
    try:
        key = json.loads(typed)
    except (ValueError, RecursionError):
        return none
    if in_bytes:
        return _with_bytes(_as_key(key), columns, none)
    if isinstance(key, dict) and key.keys() == columns.keys():
        parts = [key[name] for name in columns]
    elif isinstance(key, list) and len(key) == len(columns):
        parts = key
    elif len(columns) == 1:
        parts = [key]
    else:
        return none
    meant = pa.array([True] * rows, pa.bool_())
    for part, column in zip(parts, columns.values(), strict=True):
        meant = pc.and_(meant, _with_value(part, column))
    return meant


def _with_bytes(key: Any, columns: Mapping[str, pa.ChunkedArray], none: pa.Array) -> pa.Array:
    if not len(none):
        return none
    (column,) = columns.values()
    try:
        blob = key_bytes(key)
    except UnfitKeyError:
        return none
    return pc.fill_null(pc.equal(column, pa.scalar(blob, column.type)), False).combine_chunks()


def _with_value(value: Any, column: pa.ChunkedArray) -> pa.Array:
    """Where a column has this value of JSON."""
    empty = column.is_null().combine_chunks()
    if value is None:
        return empty
    try:
        text = _texts(_typed(value, column.type))[0]
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([False] * len(column), pa.bool_())
    # Texts distinguish values of one type, except for null and the text of it.
    return pc.and_not(pc.equal(_texts(column), text), empty)


def _typed(value: Any, dtype: pa.DataType) -> pa.Array:
    """A value of JSON as one of a column's type: JSON has texts for dates and times, say."""
    is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype)
    is_flag = pa.types.is_boolean(dtype)
    if isinstance(value, str):
        if is_number or is_flag:
            raise TypeError
        return pa.array([value]).cast(dtype)
    if isinstance(value, bool) and not is_flag:
        raise TypeError
    return pa.array([value], dtype)


def _as_key(key: Any) -> Any:
    """JSON has lists for tuples."""
    return tuple(map(_as_key, key)) if isinstance(key, list) else key

"""Rows in an order of their own, whatever the order in which they came.

A micro-batch that runs again may get its rows in another order: from as many tasks as there are
cores then. What it saves should be the same bytes. A snapshot of the attempt that was lost may
still lie under the changes of the one that counts, where Spark gives both the same names.
"""

from collections.abc import Iterator
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

MOST: Final = 2**30
"""Bytes of rows that are put in order, at most: Arrow takes no more of a column in one piece."""

_PLACE: Final = ("bucket", "end", "start")
_KEY: Final = "key_"


def in_order(rows: pa.Table) -> pa.Table:
    """The rows by bucket, key and window, of which no two have the same."""
    if rows.num_rows < 2 or rows.nbytes > MOST:
        return rows
    columns = [rows.column(name) for name in _PLACE if name in rows.column_names]
    keys = (name for name in rows.column_names if name.startswith(_KEY))
    columns += [part for name in keys for part in _sortable(rows.column(name))]
    if not columns:
        return rows
    names = [str(number) for number in range(len(columns))]
    by = [(name, "ascending") for name in names]
    return rows.take(pc.sort_indices(pa.table(columns, names), sort_keys=by))


def _sortable(column: pa.ChunkedArray) -> Iterator[pa.ChunkedArray]:
    """Columns by which Arrow can sort, that differ where this one does."""
    if pa.types.is_struct(column.type):
        yield column.is_valid()
        for place in range(column.type.num_fields):
            yield from _sortable(pc.struct_field(column, [place]))
    elif _has_order(column.type):
        yield column
    else:
        yield pa.chunked_array([pa.array(map(_text, column), pa.string())])


def _text(value: pa.Scalar) -> str | None:
    try:
        return str(value)
    except (OverflowError, ValueError):  # a time that Python does not have: these stay as they came
        return None


def _has_order(dtype: pa.DataType) -> bool:
    try:
        pc.sort_indices(pa.array([], dtype))
    except (pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return True

"""Whole numbers of saved rows, in no more bytes than they need.

The instants of a page lie close together, and most counts are small, but each number of a table has
eight bytes. That lz4 finds few of the bytes that say nothing costs a step more time than leaving
them out here, and Spark then writes half as much.
"""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.folds.base import (
    array_of,
    filled,
    numbers_of,
    one_chunk,
    present_in,
)

FEW_ROWS: Final = 256
"""In a table with fewer rows the note of a column may be longer than what it saves."""

BESIDE: Final = {"end": "start", "element_hold": "end"}
"""Columns that differ little from another one, which comes before them: see `StateLayout`."""

_WIDE: Final = (pa.int32(), pa.int64())
_NARROW: Final = (pa.uint8(), pa.uint16(), pa.uint32())

Notes = dict[str, list[Any]]
"""For each column with narrow numbers: its type, what is to be added to each number, and the column
whose number is to be added, or None."""


def narrowed(table: pa.Table) -> tuple[pa.Table, Notes]:
    """A table with columns of narrow numbers in place of whole numbers, where that takes less.

    Args:
        table: Rows, each column in one piece.
    """
    notes: Notes = {}
    if table.num_rows < FEW_ROWS:
        return table, notes
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if column.type in _WIDE and column.null_count < len(column):
            beside = BESIDE.get(name)
            if beside not in table.column_names or table.column(beside).null_count:
                beside = None
            narrow, least = _narrow(column, None if beside is None else table.column(beside))
            if narrow is not None:
                notes[name] = [str(column.type), least, beside]
                column = narrow
        columns.append(column)
    return pa.table(columns, table.column_names), notes


def widened(table: pa.Table, notes: Mapping[str, Any]) -> pa.Table:
    """The table that `narrowed` was given, but for its metadata."""
    if not notes:
        return table
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name, (dtype, least, beside) in notes.items():
        numbers = pc.add(columns[name].cast(pa.int64()), least)
        numbers = numbers if beside is None else pc.add(numbers, columns[beside])
        columns[name] = numbers.cast(dtype)
    return pa.table(columns)


def _narrow(column: pa.ChunkedArray, beside: pa.ChunkedArray | None) -> tuple[pa.Array | None, int]:
    """The numbers less the least of them, if these are narrow, else None; and the least."""
    array = one_chunk(column)
    numbers, present = numbers_of(array), present_in(array)
    if beside is not None:
        # What does not fit in 64 bits comes back as it was, when this is added again.
        numbers = numbers - numbers_of(one_chunk(beside))
    if present is not None:
        # What lies below a null is saved as well.
        numbers = filled(numbers, present, numbers[present.argmax()])
    least = numbers.min()
    span = int(numbers.max()) - int(least)
    for dtype in _NARROW:
        if span >> dtype.bit_width == 0:
            narrow = (numbers - least).astype(dtype.to_pandas_dtype())
            return array_of(narrow, present, dtype), int(least)
    return None, 0

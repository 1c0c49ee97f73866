"""Whole numbers of rows that are saved or sent, in no more bytes than they need.

The instants of a page lie close together, and most counts are small, but each number of a table has
eight bytes. To leave out those that say nothing takes less time than to have them compressed,
copied and written.
"""

import json
from typing import Final

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

BASES: Final = {"end": "start", "element_hold": "end"}
"""Columns that differ little from another one, which comes before them: see `StateLayout`."""

_WIDE: Final = (pa.int32(), pa.int64())
_NARROW: Final = (pa.uint8(), pa.uint16(), pa.uint32())

_NOTES: Final = b"narrow"
"""In the metadata of a table: for each column with narrow numbers its type, what is to be added to
each number, and the column whose number is to be added, or null."""


def narrowed(table: pa.Table) -> pa.Table:
    """A table with columns of narrow numbers in place of whole numbers, where that takes less.

    Args:
        table: Rows, each column in one piece, without metadata that counts.
    """
    if table.num_rows < FEW_ROWS:
        return table
    columns, notes = {}, {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        columns[name] = column
        if column.type in _WIDE and column.null_count < len(column):
            base = BASES.get(name)
            if base not in columns or table.column(base).null_count:
                base = None
            narrow, least = _narrow(column, None if base is None else table.column(base))
            if narrow is not None:
                notes[name] = [str(column.type), least, base]
                columns[name] = narrow
    return pa.table(columns, metadata={_NOTES: json.dumps(notes).encode()}) if notes else table


def widened(table: pa.Table) -> pa.Table:
    """The table that `narrowed` was given.

    Raises:
        ArrowException, LookupError, TypeError or ValueError: Its metadata are not those of
            `narrowed`.
    """
    metadata = dict(table.schema.metadata or {})
    notes = metadata.pop(_NOTES, None)
    if notes is None:
        return table
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name, [dtype, least, base] in dict(json.loads(notes)).items():
        numbers = pc.add(columns[name].cast(pa.int64()), int(least))
        numbers = numbers if base is None else pc.add(numbers, columns[base])
        columns[name] = numbers.cast(dtype)
    return pa.table(columns, metadata=metadata)


def _narrow(column: pa.ChunkedArray, base: pa.ChunkedArray | None) -> tuple[pa.Array | None, int]:
    """The numbers less the least of them, if these are narrow, else None; and the least."""
    array = one_chunk(column)
    numbers, present = numbers_of(array), present_in(array)
    if base is not None:
        # What does not fit in 64 bits comes back as it was, when this is added again.
        numbers = numbers - numbers_of(one_chunk(base))
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

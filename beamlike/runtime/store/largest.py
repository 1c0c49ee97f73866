"""Which key and which window take most of what a shard holds, for errors of memory.

What is asked for is small beside the tables, because hardly any memory is left when it is.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from beamlike.model.resolution import Resolution
from beamlike.safe_text import short_repr

SAMPLE: Final = 1_000
"""Of so many rows the most frequent key is looked for, where each step is looked at."""


def words_of_largest(
    tables: Sequence[pa.Table], resolution: Resolution, sample: int | None = None
) -> str:
    """The key with the most rows, and the row of state that takes the most, in words.

    Args:
        tables: Rows that arrived, and rows of state, which have a column ``end_timer_set``.
        resolution: What their times count.
        sample: Of how many rows the most frequent key is looked for; None: of all of them.
    """
    largest: list[str] = []
    with suppress(MemoryError, pa.ArrowException):
        largest += _frequent([table for table in tables if not _is_state(table)], sample)
    with suppress(MemoryError, pa.ArrowException):
        largest += _widest([table for table in tables if _is_state(table)], resolution)
    return "; ".join(largest)


def _is_state(table: pa.Table) -> bool:
    return "end_timer_set" in table.column_names


def _keys(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name.startswith("key_")]


def _frequent(tables: Sequence[pa.Table], sample: int | None) -> Iterator[str]:
    rows = sum(table.num_rows for table in tables)
    if not rows:
        return
    names = _keys(tables[0])
    step = 1 if sample is None else max(1, rows // sample)
    picked = [
        table.select(names).take(pa.array(range(0, table.num_rows, step))) for table in tables
    ]
    if not names:
        yield f"{rows:,} rows arrived, all of one key"
        return
    of_keys = pa.concat_tables(picked).group_by(names).aggregate([([], "count_all")])
    most = of_keys.take(pa.array([pc.index(of_keys["count_all"], pc.max(of_keys["count_all"]))]))
    share = most["count_all"][0].as_py() / sum(table.num_rows for table in picked)
    about = "" if step == 1 else "about "
    yield f"{rows:,} rows arrived, {about}{share:.0%} of them of key {_key(most, names)}"


def _widest(tables: Sequence[pa.Table], resolution: Resolution) -> Iterator[str]:
    best: tuple[int, pa.Table] | None = None
    for table in tables:
        for name in table.column_names:
            size = _size_of(table.column(name))
            if size is None or not table.num_rows:
                continue
            most = pc.max(size).as_py() or 0
            if best is None or most > best[0]:
                best = most, table.slice(pc.index(size, most).as_py(), 1)
    if best is None or not best[0]:
        return
    most, row = best
    start, end = (resolution.show_instant(row[side][0].as_py()) for side in ("start", "end"))
    key = _key(row, _keys(row))
    yield f"of the state the window [{start}, {end}) of key {key} has the most, {most:,} of a value"


def _size_of(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The bytes or items of each value; None where all have as many."""
    dtype = column.type
    if pt.is_string(dtype) or pt.is_binary(dtype):
        return pc.binary_length(column)
    return pc.list_value_length(column) if pt.is_list(dtype) else None


def _key(row: pa.Table, names: Sequence[str]) -> str:
    return ", ".join(
        f"{name.removeprefix('key_')}={short_repr(row[name][0].as_py())}" for name in names
    )

"""Rows on their way to a shard as elements, one by one or combined before they arrive.

A table of rows has the key columns, the value columns, ``ts`` (ms), ``bucket`` and, if rows come
in windows, ``start`` and ``end`` (ms). A table of combined elements has the key columns,
``start``, ``end``, ``count``, ``ts``, ``judged``, ``merged``, the columns of the accumulator, and
``bucket``.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.events import Element, Item, Lifted
from beamlike.model.windows import Window, window_of
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.state import Key, key_tuples

TIMES: Final = ("ts", "start", "end", "watermark")
"""The columns of rows on their way that are instants."""


def coarser(table: pa.Table, names: Sequence[str], factor: int) -> pa.Table:
    """A table with some of its columns of instants, those that it has, in ticks that are so many
    times as long. What is finer goes."""
    for name in names:
        if name in table.column_names:
            place = table.column_names.index(name)
            chunks = [_coarser(chunk, factor) for chunk in table.column(name).chunks]
            table = table.set_column(place, name, pa.chunked_array(chunks, pa.int64()))
    return table


def _coarser(instants: pa.Array, factor: int) -> pa.Array:
    missing = instants.is_null().to_numpy(zero_copy_only=False) if instants.null_count else None
    numbers = pc.fill_null(instants, 0).to_numpy(zero_copy_only=False)
    return pa.array(numbers // factor, mask=missing)


def arriving(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Item]]:
    """What a table brings, with its keys, in the order of its rows."""
    return _lifted_in(plan, table) if is_lifted(table) else elements_in(plan, table)


def is_lifted(table: pa.Table) -> bool:
    """Whether a table has combined elements, and not rows."""
    return "count" in table.column_names


def elements_of(table: pa.Table) -> int:
    """How many elements a table stands for."""
    return int(table.column("count").to_numpy().sum()) if is_lifted(table) else table.num_rows


def by_shard(table: pa.Table, shards: int, buckets: int) -> Iterator[tuple[int, pa.Table]]:
    """A table for each shard that gets something, with the shard's position.

    Args:
        table: Rows or combined elements, with the ``hash`` of each key. What comes out has the
            ``bucket`` in its place.
        shards: The groups that share the keys.
        buckets: See `beamlike.runtime.plan.Plan`.
    """
    hashes = table.column("hash").to_numpy().view(np.uint64)
    shard = (hashes % shards).astype(np.int64)
    bucket = (hashes // shards % buckets).astype(np.int32)
    table = table.drop_columns(["hash"]).append_column("bucket", pa.array(bucket))
    order = np.argsort(shard, kind="stable")
    bounds = np.searchsorted(shard[order], np.arange(shards + 1))
    for position, (start, end) in enumerate(pairwise(bounds)):
        if start < end:
            yield position, table.take(pa.array(order[start:end])).combine_chunks()


def elements_in(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Element]]:
    """The elements of a table of rows."""
    values = [table.column(f"value_{name}").to_pylist() for name in plan.values]
    rows = zip(*values, strict=True) if values else [()] * table.num_rows
    columns: list[Any] = [plan.operation.elements(rows), table.column("ts").to_pylist()]
    if "start" in table.column_names:
        columns.append(_windows(table))
    return zip(_keys(plan, table), map(Element, *columns), strict=True)


def _lifted_in(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Lifted]]:
    layout = plan.operation.accumulator
    accumulators = layout.decode([table.column(name) for name in layout.types()])
    names = ("count", "start", "end", "ts", "judged", "merged")
    columns = [table.column(name).to_pylist() for name in names]
    lifted = (
        Lifted(accumulator, count, window_of(start, end), timestamp, judged, merged)
        for accumulator, count, start, end, timestamp, judged, merged in zip(
            accumulators, *columns, strict=True
        )
    )
    return zip(_keys(plan, table), lifted, strict=True)


def _keys(plan: Plan, table: pa.Table) -> Sequence[Key]:
    return key_tuples([table.column(f"key_{name}") for name in plan.keys], table.num_rows)


def _windows(table: pa.Table) -> list[Window | None]:
    starts, ends = table.column("start").to_pylist(), table.column("end").to_pylist()
    return [
        None if start is None else window_of(start, end)
        for start, end in zip(starts, ends, strict=True)
    ]

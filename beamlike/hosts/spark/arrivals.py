"""Rows on their way to a shard as elements, one by one or combined before they arrive.

A table of rows has the key columns, the value columns, ``ts`` (ms), ``bucket`` and, if rows come
in windows, ``start`` and ``end`` (ms). A table of combined elements has the key columns,
``start``, ``end``, ``count``, ``ts``, ``judged``, the columns of the accumulator, and ``bucket``.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from beamlike.errors import UserFunctionError
from beamlike.hosts.spark.plan import Plan
from beamlike.hosts.spark.state import Key, key_tuples, window_of
from beamlike.machine.events import Drop, Element, Item, Lifted
from beamlike.machine.lifting import Lifting
from beamlike.model.windows import Window

__all__ = ["arriving", "elements_in", "lift_rows"]


def arriving(plan: Plan, table: pa.Table) -> Iterator[tuple[Key, Item]]:
    """What a table brings, with its keys, in the order of its rows."""
    return _lifted_in(plan, table) if "count" in table.column_names else elements_in(plan, table)


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
    names = ("count", "start", "end", "ts", "judged")
    columns = [table.column(name).to_pylist() for name in names]
    lifted = (
        Lifted(accumulator, count, window_of(start, end), timestamp, judged)
        for accumulator, count, start, end, timestamp, judged in zip(
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


def lift_rows(
    plan: Plan, lifting: Lifting, tables: Sequence[pa.Table], watermark: int | None
) -> tuple[pa.Table, list[tuple[Key, Drop]]]:
    """The rows of some tables combined by key and window, and those that come too late.

    Args:
        tables: Rows with their ``hash`` in place of a bucket.
        watermark: The input watermark (ms) that judges them; None: they are judged later.

    Returns:
        Combined elements with ``hash``, in order of first arrival of their keys.
    """
    hashes: dict[Key, int] = {}
    by_key: dict[Key, list[Element]] = {}
    for table in tables:
        rows = zip(elements_in(plan, table), table.column("hash").to_pylist(), strict=True)
        for (key, element), hashed in rows:
            hashes.setdefault(key, hashed)
            by_key.setdefault(key, []).append(element)
    lifted: list[tuple[Key, Lifted]] = []
    dropped: list[tuple[Key, Drop]] = []
    for key, elements in by_key.items():
        try:
            kept, late = lifting.lift(elements, watermark)
        except UserFunctionError as error:
            raise error.of_key(key) from error.__cause__
        lifted += ((key, one) for one in kept)
        dropped += ((key, one) for one in late)
    return _table(plan, lifted, hashes), dropped


def _table(plan: Plan, lifted: Sequence[tuple[Key, Lifted]], hashes: dict[Key, int]) -> pa.Table:
    layout = plan.operation.accumulator
    ones = [one for _, one in lifted]
    fields = [(f"key_{name}", kind) for name, kind in plan.keys.items()]
    fields += [(name, pa.int64()) for name in ("start", "end", "count", "ts")]
    fields += [("judged", pa.bool_()), *layout.types().items(), ("hash", pa.int64())]
    columns: list[Any] = [[key[at] for key, _ in lifted] for at in range(len(plan.keys))]
    columns += [
        [one.window.start for one in ones],
        [one.window.end for one in ones],
        [one.count for one in ones],
        [one.timestamp for one in ones],
        [one.judged for one in ones],
        *layout.encode([one.accumulator for one in ones]),
        [hashes[key] for key, _ in lifted],
    ]
    arrays = [
        values if isinstance(values, pa.Array) else pa.array(values, kind)
        for values, (_, kind) in zip(columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

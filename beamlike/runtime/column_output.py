"""Panes in columns as output rows: what `beamlike.runtime.output` does one by one.

Rows that were dropped are few, and each has its own reason: these are rendered one by one here too,
and so are renderings of retractions, which follow each key's history.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.columns import Drops, Panes
from beamlike.machine.columnar.effects import drops_of, merges_of, panes_of
from beamlike.machine.columnar.folds import values_array
from beamlike.machine.events import Drop
from beamlike.runtime.arrivals import arriving
from beamlike.runtime.column_shard import ColumnsStepped, Pass
from beamlike.runtime.key_numbers import Numbered
from beamlike.runtime.output import PANE, READABLE, OutputTable
from beamlike.runtime.plan import Plan
from beamlike.runtime.shard import KeyedEffect, KeyedMerge
from beamlike.runtime.store.column_state import timing_names
from beamlike.runtime.store.state import Key


class ColumnOutput:
    """Builds the output rows of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._one_by_one = OutputTable(plan)
        self._renders = plan.retracts and plan.render != "retractions"
        self.schema = self._one_by_one.schema

    def build(self, stepped: ColumnsStepped, report: tuple[int, int] | None) -> list[pa.Table]:
        """One row for each pane and each drop: of each pass a table of panes and one of the others.

        Args:
            stepped: What came out of the passes.
            report: Position and output watermark (ms) of the shard, for the next stage.
        """
        tables = list[pa.Table]()
        last = len(stepped.passes) - 1
        for at, one in enumerate(stepped.passes):
            tables += self._build(one, report if at == last else None)
        if report is not None and not stepped.passes:
            tables.append(self._one_by_one.build([], report))
        return tables

    def _build(self, one: Pass, report: tuple[int, int] | None) -> Iterator[pa.Table]:
        effects: list[KeyedEffect] = []
        if self._renders:
            effects += keyed_panes(self.plan, one)
        elif one.panes:
            yield pa.concat_tables([self._panes(panes, one.keys) for panes in one.panes])
        effects += keyed_drops(self.plan, one.drops, one.arrived, one.judged_at)
        if effects or report is not None:
            yield self._one_by_one.build(effects, report)

    def _panes(self, panes: Panes, keys: Numbered) -> pa.Table:
        of_row = pa.array(panes.key)
        pane = [
            timing_names(panes.timing),
            pa.array(panes.index),
            pa.array(panes.nonspeculative),
            pa.array(panes.index == 0),
            pa.array(panes.is_last),
        ]
        tick, types = self.plan.resolution.micros, self._one_by_one.types
        times = {"ts": panes.timestamp, "start": panes.start, "end": panes.end}
        count = len(panes.key)
        marks = pa.nulls(count, types.marks)
        if self.plan.has_downstream:
            factor = self.plan.tick_of_rows
            known = {
                name: pa.array(it if factor == 1 else it * factor) for name, it in times.items()
            }
            fields = [known.get(it.name, pa.nulls(count, it.type)) for it in types.marks]
            marks = pa.StructArray.from_arrays(fields, fields=list(types.marks))
        span = [_micros(it, tick, types.timestamp) for it in (panes.start, panes.end)]
        arrays = [column.take(of_row) for column in keys.columns]
        arrays += [
            pa.StructArray.from_arrays(span, fields=list(types.window)),
            *_values(self.plan, panes),
            _micros(panes.timestamp, tick, types.timestamp),
            pa.StructArray.from_arrays(pane, fields=list(PANE)),
        ]
        if panes.retraction is not None:
            arrays.append(pa.array(panes.retraction))
        arrays.append(marks)
        return pa.Table.from_arrays(arrays, schema=self.schema)


def keyed_panes(plan: Plan, one: Pass) -> list[KeyedEffect]:
    """The panes of a pass as values, key by key."""
    names = key_names(plan, one.keys)
    pairs = chain.from_iterable(panes_of(panes, _rows(plan, panes)) for panes in one.panes)
    return [(names[key], pane) for key, pane in sorted(pairs, key=itemgetter(0))]


def keyed_merges(plan: Plan, stepped: ColumnsStepped) -> list[KeyedMerge]:
    """The merges as values."""
    found = list[KeyedMerge]()
    for one in stepped.passes:
        if one.merges is not None and len(one.merges.key):
            names = key_names(plan, one.keys)
            found += ((names[key], merged) for key, merged in merges_of(one.merges))
    return found


def key_names(plan: Plan, keys: Numbered) -> list[Key]:
    """The keys by their numbers."""
    columns = (column.to_pylist() for column in keys.columns)
    return list(zip(*columns, strict=True)) if plan.keys else [()]


def drops_of_step(plan: Plan, stepped: ColumnsStepped) -> Iterator[tuple[Key, Drop]]:
    """The drops of all passes as values."""
    for one in stepped.passes:
        yield from keyed_drops(plan, one.drops, one.arrived, one.judged_at)


def keyed_drops(
    plan: Plan, drops: Iterable[Drops], arrived: pa.Table | None, judged_at: int
) -> Iterator[tuple[Key, Drop]]:
    """The drops as values, with the elements that were dropped.

    Args:
        plan: What they are dropped from.
        drops: Some of the rows that arrived.
        arrived: These rows; None if there were none.
        judged_at: The watermark (ms) that judged them.
    """
    for one in drops:
        assert arrived is not None, "what is dropped has arrived"
        lost = list(arriving(plan, arrived.take(pa.array(one.row))))
        effects = drops_of(one, [item for _, item in lost], judged_at)
        yield from zip((key for key, _ in lost), effects, strict=True)


def _values(plan: Plan, panes: Panes) -> Iterator[pa.Array]:
    """The values of panes, column by column."""
    kinds = plan.operation.results.items()
    for values, (name, kind) in zip(panes.values, kinds, strict=True):
        yield values_array(values, kind, name)


def _rows(plan: Plan, panes: Panes) -> Iterator[tuple[Any, ...]]:
    """The values of panes, one by one."""
    return zip(*(column.to_pylist() for column in _values(plan, panes)), strict=True)


def _micros(instants: Ints, tick: int, dtype: pa.DataType) -> pa.Array:
    """Times; null where SQL cannot show them. A tick is so many microseconds."""
    unreadable = (instants < READABLE.start // tick) | (instants >= READABLE.stop // tick)
    shown = np.where(unreadable, 0, instants) * tick
    return pa.array(shown, mask=unreadable).cast(dtype)

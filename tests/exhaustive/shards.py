"""Streams in the runtime of production: each is a key of one shard, which is stepped as a whole.

The shard's state rests as bytes between any two steps, and nothing else of it is kept: a step that
follows reads these bytes, as after a restart. To branch, the keys are copied within the bytes.
"""

from collections.abc import Sequence
from functools import cache
from typing import Self

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints, within
from beamlike.machine.events import Element
from beamlike.machine.input_clocks import HostWatermark
from beamlike.model.combine import Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.accumulator_columns import PlainColumn
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.column_shard import ColumnShard
from beamlike.runtime.output import drops_of_step
from beamlike.runtime.plan import Part, Plan, PlanOptions
from beamlike.runtime.shard import KeyedEffect, Shard
from beamlike.runtime.stepping import Choice, Stepper, choose_machine, stepper_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import PageContents, Pages, SavedRows
from beamlike.runtime.store.state import StateLayout, with_bucket
from beamlike.runtime.store.stores import DictStore, Store
from tests.exhaustive.events import END, Arrive, Clock, Row, Watermark
from tests.exhaustive.scripts import elements_of, row_of
from tests.support.machines.either import forgetful, panes_of_step

MOST = 6
"""Elements of a stream at most."""


@attrs.frozen
class _Runtime:
    """What steps the shards of a strategy."""

    plan: Plan
    stepper: Stepper
    schema: pa.Schema

    def effects(
        self, store: DictStore, tables: Sequence[pa.Table], watermark: int, clock: int
    ) -> list[KeyedEffect]:
        """What comes out of a step of a shard: of each key drops, then panes."""
        updates = [HostWatermark(watermark)]

        def by_columns(
            columns: ColumnShard, trial: Store, index: Index, passes: int
        ) -> list[KeyedEffect]:
            stepped = columns.step(trial, ShardInput(tables, updates, clock), passes, index)
            return [*drops_of_step(self.plan, stepped), *panes_of_step(self.plan, stepped)]

        def by_key(keys: Shard, trial: Store, index: Index) -> list[KeyedEffect]:
            return keys.step(trial, ShardInput(tables, updates, clock), index).effects

        return self.stepper.attempt(store, Index.load(self.plan, store), by_columns, by_key)


@cache
def _plan_of(strategy: WindowingStrategy) -> Plan:
    """Sums of a column, by a number, in one shard."""
    number = pa.int64()
    total = Part("value", Sum(), 0, PlainColumn(number), number)
    options: PlanOptions = {"shards": 1, "buckets": 1, "on_error": "fail"}
    return Plan(strategy, {"key": number}, {"value": number}, (total,), **options)


def _table_of(elements: Sequence[tuple[int, Element]]) -> pa.Table:
    """Elements that arrive together, see `beamlike.runtime.envelope`."""
    number = pa.int64()
    return pa.table(
        {
            "key_key": pa.array([key for key, _ in elements], number),
            "ts": pa.array([element.timestamp for _, element in elements], number),
            "value_value": pa.array([element.value for _, element in elements], number),
            "bucket": pa.array([0] * len(elements), pa.int32()),
        }
    )


def machine_of(strategy: WindowingStrategy) -> Choice:
    """Which machine the runtime steps a strategy by, and why if that is the one key by key."""
    return choose_machine(_plan_of(strategy))


@attrs.frozen
class Shards:
    """Streams of a shard, by their numbers."""

    runtime: _Runtime
    store: DictStore
    rows: tuple[tuple[Row, ...], ...] = ((),)
    arrived: tuple[int, ...] = (0,)
    steps: tuple[int, ...] = (0,)
    watermark: int = MIN_TIMESTAMP
    clock: int = 0

    @classmethod
    def of(cls, strategy: WindowingStrategy) -> Self:
        """One stream in which nothing has happened."""
        plan = _plan_of(strategy)
        schema = with_bucket(StateLayout(plan).schema)
        return cls(_Runtime(plan, stepper_of(plan), schema), DictStore())

    def spread(self, parents: Sequence[int]) -> Self:
        if list(parents) == list(range(len(self.rows))):
            return self
        return attrs.evolve(
            self,
            store=self._copied(np.array(parents, np.int64)),
            rows=tuple([self.rows[parent] for parent in parents]),
            arrived=tuple([self.arrived[parent] for parent in parents]),
            steps=tuple([self.steps[parent] for parent in parents]),
        )

    def arrive(self, bundles: Sequence[Arrive | None]) -> Self:
        elements: list[tuple[int, Element]] = []
        arrived, steps = list(self.arrived), list(self.steps)
        for key, bundle in enumerate(bundles):
            if bundle is not None:
                elements += [(key, element) for element in elements_of(bundle, arrived[key])]
                arrived[key] += len(bundle.times)
                steps[key] += 1
        came = self._stepped([_table_of(elements)])
        return attrs.evolve(came, arrived=tuple(arrived), steps=tuple(steps))

    def move(self, to: Watermark | Clock) -> Self:
        if isinstance(to, Watermark):
            moved = attrs.evolve(self, watermark=to.to)
        else:
            moved = attrs.evolve(self, clock=to.to)
        return attrs.evolve(moved._stepped([]), steps=tuple([step + 1 for step in self.steps]))

    def outcomes(self, chosen: Sequence[int]) -> Sequence[Sequence[Row]]:
        rows = self.move(END).rows
        return [rows[at] for at in chosen]

    def _stepped(self, tables: Sequence[pa.Table]) -> Self:
        store = DictStore()
        store.blobs, store.index = dict(self.store.blobs), self.store.index
        with forgetful():
            effects = self.runtime.effects(store, tables, self.watermark, self.clock)
        rows = list(self.rows)
        for (key,), effect in effects:
            rows[key] += (row_of(self.steps[key], effect),)
        return attrs.evolve(self, store=store, rows=tuple(rows))

    def _copied(self, parents: Ints) -> DictStore:
        """The state in which key ``n`` is as key ``parents[n]`` was, written anew."""
        plan, schema, copied = self.runtime.plan, self.runtime.schema, DictStore()
        index = Index.load(plan, self.store)
        if not index.contents.digests:
            return self.store
        before, stay = len(self.rows), 0
        if list(parents[:before]) == list(range(before)):
            # Those that there are stay as they are, and copies are written beside them.
            stay, copied.blobs = before, dict(self.store.blobs)
        with forgetful():
            pages = Pages(schema, self.store, index.contents)
            saved = pages.read()
            table = _copies(saved, parents[stay:], before, stay)
            if not stay:
                saved = SavedRows(schema.empty_table(), np.zeros(0, np.bool_))
            pages = Pages(schema, copied, index.contents if stay else PageContents())
            pages.replace(saved, np.zeros(0, np.int64), table)
        index.contents = pages.contents
        copied.write_index(index.dump(plan))
        return copied


def _copies(saved: SavedRows, parents: Ints, before: int, first: int) -> pa.Table:
    """The rows of these keys, of so many, as those of keys that are numbered on from ``first``."""
    living = np.nonzero(saved.lives)[0]
    key = saved.table.column("key_key").to_numpy()[living]
    order = living[np.argsort(key, kind="stable")]
    lengths = np.bincount(key, minlength=before)
    begin, lengths = (np.cumsum(lengths) - lengths)[parents], lengths[parents]
    rows = saved.table.take(pa.array(order[np.repeat(begin, lengths) + within(lengths)]))
    keys = pa.array(np.repeat(np.arange(first, first + len(parents)), lengths))
    return rows.set_column(0, rows.schema.field(0), keys)

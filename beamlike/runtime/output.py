"""Panes and drops as rows: the schema of a grouping's output, and how its rows are made.

Columns, in this order: the keys, ``window`` (struct of start and end), the aggregates,
``timestamp``, ``pane`` (struct), in retracting mode what the plan's rendering adds, and the
hidden column (see `beamlike.runtime.row_metadata`), which holds the dropped row if the row is one.
Instants at the end of time have no SQL timestamp that Python can read: they are null.

=================  =======================================================================
rendering          adds
=================  =======================================================================
``retractions``    ``retraction`` (bool): the row withdraws the pane that it repeats
``changelog``      ``change``: ``upsert`` or ``delete`` of the result for key and window
``upserts``        ``session_identity`` (text), which stays as sessions grow and merge, and
                   ``change`` of the result for key and session
=================  =======================================================================

Panes that come in columns become rows all at once. Drops are few, and are made one by one. So are
the renderings ``changelog`` and ``upserts``, which depend on the history of each key.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.changelog import changelog, upserts
from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.columns import Drops, FirstRows, Panes, drops_of, merges_of, panes_of
from beamlike.machine.columnar.folds.base import one_chunk, values_array
from beamlike.machine.events import Drop, Element, Pane
from beamlike.model.panes import NO_FIRING, PaneInfo
from beamlike.model.windows import IntervalWindow, Window, bounds
from beamlike.runtime.column_shard import ColumnsStepped, Pass
from beamlike.runtime.envelope import arriving
from beamlike.runtime.json_rows import scalars, write_row
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import (
    DROPPED_ROW,
    MARKS,
    REPORT,
    table_of,
    time_types,
)
from beamlike.runtime.session_identity import SESSION_IDENTITY, session_identity
from beamlike.runtime.shard import KeyedEffect, KeyedMerge
from beamlike.runtime.store.column_state import Numbered, timing_names
from beamlike.runtime.store.state import Key
from beamlike.safe_text import LONGEST, safe_text

PANE = pa.struct(
    [
        *(("timing", pa.string()), ("index", pa.int64()), ("nonspeculative_index", pa.int64())),
        *(("is_first", pa.bool_()), ("is_last", pa.bool_())),
    ]
)
READABLE = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds of the years 1 to 9999, all that a Python datetime can hold."""


@attrs.frozen
class _Row:
    """The fields of one output row. ``window`` is the window shown, ``marks`` the hidden column."""

    key: Key
    window: Window | None
    marks: dict[str, Any] | None
    pane: Pane | None = None
    change: str | None = None
    session: Window | None = None


class OutputTable:
    """Builds the output rows of one plan: of effects, one by one, or of the columns of a step."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._tick, self.types = plan.resolution.micros, time_types(plan.wall_clock)
        self._renders_changes = plan.retracts and plan.render != "retractions"
        self._extra: dict[str, pa.DataType] = {}
        if plan.retracts:
            self._extra = {
                "retractions": {"retraction": pa.bool_()},
                "changelog": {"change": pa.string()},
                "upserts": {SESSION_IDENTITY: pa.string(), "change": pa.string()},
            }[plan.render]
        self.schema = pa.schema(
            [
                *plan.keys.items(),
                ("window", self.types.window),
                *plan.operation.results.items(),
                ("timestamp", self.types.timestamp),
                ("pane", PANE),
                *self._extra.items(),
                (MARKS, self.types.marks),
            ]
        )

    @property
    def shown(self) -> list[str]:
        """The columns that users see."""
        return [name for name in self.schema.names if name != MARKS]

    def build(self, effects: Sequence[KeyedEffect]) -> pa.Table:
        """One row for each pane and each drop, in their order.

        Rendered as changes of a table, the panes of a key become its changes, and its drops follow.
        """
        rows = list(self._rows(effects))
        panes = [row.pane for row in rows]
        columns: list[Any] = [
            [row.key[index] for row in rows] for index in range(len(self.plan.keys))
        ]
        columns.append([row.window and self._span(row.window) for row in rows])
        columns += self.plan.operation.show([pane and pane.value for pane in panes])
        columns.append([pane and self._micros(pane.timestamp) for pane in panes])
        columns.append([pane and _pane_row(pane.info) for pane in panes])
        unit = self.plan.resolution
        shown: dict[str, Callable[[_Row], Any]] = {
            "retraction": lambda row: row.pane and row.pane.retraction,
            "change": lambda row: row.change,
            SESSION_IDENTITY: lambda row: row.session and session_identity(row.session, unit),
        }
        columns += [[shown[name](row) for row in rows] for name in self._extra]
        columns.append([row.marks for row in rows])
        return table_of(columns, self.schema)

    def _rows(self, effects: Sequence[KeyedEffect]) -> Iterator[_Row]:
        if not self._renders_changes:
            for key, effect in effects:
                if isinstance(effect, Pane):
                    yield _Row(key, effect.window, self._marks(effect), effect)
                else:
                    yield self._drop(key, effect)
            return
        for key, of_key in groupby(effects, key=itemgetter(0)):
            key_effects = [effect for _, effect in of_key]
            yield from self._changes(
                key, [effect for effect in key_effects if isinstance(effect, Pane)]
            )
            yield from (
                self._drop(key, effect) for effect in key_effects if isinstance(effect, Drop)
            )

    def _marks(self, pane: Pane) -> dict[str, Any] | None:
        """What the next grouping has to know of a pane; None if no grouping can follow."""
        if not self.plan.has_downstream:
            return None
        times = (pane.timestamp, *bounds(pane.window))
        instants = (instant * self.plan.tick_of_rows for instant in times)
        return dict(zip(("ts", "start", "end"), instants, strict=True))

    def _micros(self, instant: int | None) -> int | None:
        micros = None if instant is None else instant * self._tick
        return None if micros is None or micros not in READABLE else micros

    def _span(self, window: Window) -> dict[str, int | None] | None:
        if not isinstance(window, IntervalWindow):
            return {"start": None, "end": None}
        return {"start": self._micros(window.start), "end": self._micros(window.end)}

    def _changes(self, key: Key, panes: Iterable[Pane]) -> Iterator[_Row]:
        by_session = self.plan.render == "upserts"
        for change in (upserts if by_session else changelog)(panes):
            session = change.identity if by_session else None
            if change.pane is None:
                window = None if by_session else change.identity
                yield _Row(key, window, None, None, change.op, session)
            else:
                pane = change.pane
                yield _Row(key, pane.window, self._marks(pane), pane, change.op, session)

    def _drop(self, key: Key, drop: Drop) -> _Row:
        plan, element = self.plan, drop.element
        shown = scalars(plan.keys, key)
        if isinstance(element, Element):
            shown |= plan.operation.fields(element.value)
        dropped = {
            "stage": self.plan.name,
            "reason": drop.reason.value,
            "timestamp": element and self._micros(element.timestamp),
            "watermark": self._micros(drop.watermark),
            # A millisecond that has begun counts: nothing is late by 0.
            "missed_ms": drop.missed_by and -(-drop.missed_by // self.plan.resolution.per_ms),
            "window": drop.window and self._span(drop.window),
            "nearest_session": drop.nearest_session and self._span(drop.nearest_session),
            "count": drop.count,
            "error": None if drop.error is None else safe_text(drop.error, 2 * LONGEST),
            "element": write_row(shown),
        }
        return _Row(key, drop.window, _dropped_marks(dropped))

    def refused(self, rows: Sequence[dict[str, Any]]) -> pa.Table:
        """Rows that could not be grouped at all, as drops; see `beamlike.runtime.packing`."""
        columns = zip(self.plan.keys, self.plan.key_columns, strict=True)
        keys = {name: [row[column] for row in rows] for name, column in columns}
        dropped = [
            {name: row[name] for name in ("reason", "element")}
            | {"stage": self.plan.name, "count": 1, "timestamp": self._micros(row["ts"])}
            for row in rows
        ]
        return self._only_marks(map(_dropped_marks, dropped), keys)

    def dropped_before(self, dropped: Sequence[Any]) -> pa.Table:
        """Rows that a grouping before this one has dropped: they pass by."""
        return self._only_marks(_dropped_marks(row.as_py()) for row in dropped)

    def report(self, shard: int, watermark: int) -> pa.Table:
        """The row by which a shard says its output watermark to the stage after this one."""
        reached = watermark * self.plan.tick_of_rows
        return self._only_marks([{"kind": REPORT, "shard": shard, "watermark": reached}])

    def _only_marks(
        self, marks: Iterable[Mapping[str, Any]], keys: Mapping[str, list[Any]] | None = None
    ) -> pa.Table:
        """Rows of the hidden column. The others are null, but for these keys."""
        marks = list(marks)
        columns: dict[str, list[Any]] = {name: [None] * len(marks) for name in self.schema.names}
        columns |= {**(keys or {}), MARKS: marks}
        return table_of([columns[name] for name in self.schema.names], self.schema)

    # -- panes in columns -------------------------------------------------------------------------

    def build_step(self, stepped: ColumnsStepped) -> Iterator[pa.Table]:
        """One row for each pane and each drop: of each pass a table of panes and one of the others,
        which are rendered one by one."""
        for passed in stepped.passes:
            effects: list[KeyedEffect] = []
            if self._renders_changes:
                effects += keyed_panes(self.plan, passed)
            elif passed.panes:
                yield pa.concat_tables([self._panes(panes, passed.keys) for panes in passed.panes])
            elif passed.first is not None and len(passed.first.row):
                yield self._first(passed.first, passed)
            effects += keyed_drops(self.plan, passed.drops, passed.arrived, passed.judged_at)
            if effects:
                yield self.build(effects)

    def _panes(self, panes: Panes, keys: Numbered) -> pa.Table:
        of_row = pa.array(panes.key)
        pane = [
            timing_names(panes.timing),
            pa.array(panes.index),
            pa.array(panes.nonspeculative),
            pa.array(panes.index == 0),
            pa.array(panes.is_last),
        ]
        panes_column = pa.StructArray.from_arrays(pane, fields=list(PANE))
        return self._table(
            [column.take(of_row) for column in keys.columns],
            panes,
            panes.timestamp,
            [*_values(self.plan, panes)],
            panes_column,
            [] if panes.retraction is None else [pa.array(panes.retraction)],
        )

    def _first(self, first: FirstRows, passed: Pass) -> pa.Table:
        """Rows that go on as they are."""
        assert passed.arrived is not None, "what goes on has arrived"
        rows, key = passed.arrived.take(pa.array(first.row)), pa.array(first.key)
        return self._table(
            [column.take(key) for column in passed.keys.columns],
            first,
            rows.column("ts").to_numpy(),
            [one_chunk(rows.column(f"value_{name}")) for name in self.plan.operation.results],
            pa.repeat(_NEVER_GROUPED, len(key)),
        )

    def _table(
        self,
        keys: Sequence[pa.Array],
        windows: Panes | FirstRows,
        timestamp: Ints,
        values: Sequence[pa.Array],
        pane: pa.Array,
        extra: Sequence[pa.Array] = (),
    ) -> pa.Table:
        tick, types = self._tick, self.types
        times = {"ts": timestamp, "start": windows.start, "end": windows.end}
        count = len(timestamp)
        marks = pa.nulls(count, types.marks)
        if self.plan.has_downstream:
            factor = self.plan.tick_of_rows
            known = {
                name: pa.array(time if factor == 1 else time * factor)
                for name, time in times.items()
            }
            fields = [known.get(mark.name, pa.nulls(count, mark.type)) for mark in types.marks]
            marks = pa.StructArray.from_arrays(fields, fields=list(types.marks))
        span = [_shown_times(side, tick, types.timestamp) for side in (windows.start, windows.end)]
        window = pa.StructArray.from_arrays(span, fields=list(types.window))
        shown = _shown_times(timestamp, tick, types.timestamp)
        arrays = [*keys, window, *values, shown, pane, *extra, marks]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _dropped_marks(dropped: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": DROPPED_ROW, "dropped": dropped}


def _pane_row(info: PaneInfo) -> dict[str, Any]:
    shown = (info.timing.value, info.index, info.nonspeculative_index, info.is_first, info.is_last)
    return dict(zip(PANE.names, shown, strict=True))


_NEVER_GROUPED: Final = pa.scalar(_pane_row(NO_FIRING), PANE)


def keyed_panes(plan: Plan, passed: Pass) -> list[KeyedEffect]:
    """The panes of a pass as values, key by key."""
    names = key_names(plan, passed.keys)
    pairs = chain.from_iterable(
        panes_of(panes, zip(*(column.to_pylist() for column in _values(plan, panes)), strict=True))
        for panes in passed.panes
    )
    return [(names[key], pane) for key, pane in sorted(pairs, key=itemgetter(0))]


def keyed_merges(plan: Plan, stepped: ColumnsStepped) -> Iterator[KeyedMerge]:
    """The merges as values."""
    for passed in stepped.passes:
        if passed.merges is not None and len(passed.merges.key):
            names = key_names(plan, passed.keys)
            yield from ((names[key], merged) for key, merged in merges_of(passed.merges))


def key_names(plan: Plan, keys: Numbered) -> list[Key]:
    """The keys by their numbers."""
    columns = (column.to_pylist() for column in keys.columns)
    return list(zip(*columns, strict=True)) if plan.keys else [()]


def drops_of_step(plan: Plan, stepped: ColumnsStepped) -> Iterator[tuple[Key, Drop]]:
    """The drops of all passes as values."""
    for passed in stepped.passes:
        yield from keyed_drops(plan, passed.drops, passed.arrived, passed.judged_at)


def keyed_drops(
    plan: Plan, drops: Iterable[Drops], arrived: pa.Table | None, judged_at: int
) -> Iterator[tuple[Key, Drop]]:
    """Drops in columns as values, each with its element and key.

    Args:
        plan: The stage that dropped them.
        drops: The drops, which name rows of ``arrived``.
        arrived: The rows that arrived; None if there were none.
        judged_at: The watermark (ticks) that judged them.
    """
    for drop in drops:
        assert arrived is not None, "what is dropped has arrived"
        lost = list(arriving(plan, arrived.take(pa.array(drop.row))))
        effects = drops_of(drop, [item for _, item in lost], judged_at)
        yield from zip((key for key, _ in lost), effects, strict=True)


def _values(plan: Plan, panes: Panes) -> Iterator[pa.Array]:
    """The values of panes, column by column."""
    kinds = plan.operation.results.items()
    for values, (name, dtype) in zip(panes.values, kinds, strict=True):
        yield values_array(values, dtype, name)


def _shown_times(instants: Ints, tick: int, dtype: pa.DataType) -> pa.Array:
    """Instants in ticks of so many microseconds as a column; null where SQL cannot show one."""
    unreadable = (instants < READABLE.start // tick) | (instants >= READABLE.stop // tick)
    shown = np.where(unreadable, 0, instants) * tick
    return pa.array(shown, mask=unreadable).cast(dtype)

"""Keys as numbers, and the layout of `beamlike.runtime.store.state` for the columnar machine.

Each row of a table has the number of its key, so no code handles keys row by row. State is read and
written in columns. Each of the two machines reads what the other saved.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import cloudpickle
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import NEVER, NOTHING, Array, Ints, Lists, PickedRows
from beamlike.machine.columnar.columns import NO_PANE, TIMINGS, State, Table, UnretractedPanes
from beamlike.machine.columnar.folds.base import (
    Values,
    array_of,
    filled,
    list_array,
    number_values,
    numbers_of,
    one_chunk,
    present_in,
    values_array,
)
from beamlike.machine.columnar.leaves import Nodes, TriggerColumns
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.store.state import StateLayout

UNKNOWN = -1
"""In place of a number: the key is not among the numbered keys."""


@attrs.frozen(eq=False)
class _Column:
    """One key column in the numbering of keys, after the columns before it.

    ``values`` are its different values. A key has a number by the columns before this one; that
    number times the count of ``values``, plus the place of the value among them, is an item of
    ``pairs``. The place of that item is the number with this column. ``pairs`` is None for the
    first column, where the place of the value is the number.
    """

    values: pa.Array
    pairs: pa.Array | None

    def number(self, so_far: Ints, column: pa.Array) -> Ints:
        places = _places(column, self.values)
        if self.pairs is None:
            return places
        known = (so_far != UNKNOWN) & (places != UNKNOWN)
        pair = np.where(known, so_far * len(self.values) + places, UNKNOWN)
        return _places(pa.array(pair), self.pairs)


@attrs.frozen(eq=False)
class Numbered:
    """Keys by number, in order of first appearance.

    ``number`` has the key's number for each row; ``columns`` have each key once, by its number.
    """

    number: Ints
    columns: list[pa.Array]
    count: int
    how: tuple[_Column, ...] = ()

    def with_more(self, columns: Sequence[pa.ChunkedArray], rows: int) -> "Numbered":
        """These keys followed by the keys of other rows, none of which is among these."""
        added = number_keys(columns, rows)
        pairs = zip(self.columns, added.columns, strict=True)
        return attrs.evolve(
            self,
            number=np.append(self.number, self.count + added.number),
            columns=[pa.concat_arrays(pair) for pair in pairs],
            count=self.count + added.count,
            how=(),
        )

    def find(self, columns: Sequence[pa.ChunkedArray], rows: int) -> Ints:
        """The numbers of other rows' keys; `UNKNOWN` for keys that are not among these."""
        number = np.full(rows, UNKNOWN if self.count == 0 else 0, np.int64)
        for how, column in zip(self.how, columns, strict=True):
            number = how.number(number, _key_column(column))
        return number


def number_keys(columns: Sequence[pa.ChunkedArray], rows: int) -> Numbered:
    """Number the keys of ``rows`` rows. Without key columns all rows have one key."""
    number, how = np.zeros(rows, np.int64), list[_Column]()
    count = min(rows, 1)
    cleaned = [_key_column(column) for column in columns]
    for column in cleaned:
        encoded = column.dictionary_encode("encode")
        values, pairs = encoded.dictionary, None
        if how:
            # Numbers stay small: after each column there are at most as many as rows.
            mixed = number * max(len(values), 1) + _indices(encoded)
            encoded = pa.array(mixed).dictionary_encode()
            pairs = encoded.dictionary
        number, count = _indices(encoded), len(encoded.dictionary)
        how.append(_Column(values, pairs))
    if len(how) == 1:
        return Numbered(number, [how[0].values], count, tuple(how))
    shown = np.empty(count, np.int64)
    shown[number[::-1]] = np.arange(rows)[::-1]  # the first row of each key is written last
    rows_of = pa.array(shown)
    keys = [column.take(rows_of) for column in cleaned]
    return Numbered(number, keys, count, tuple(how))


def _key_column(column: pa.ChunkedArray) -> pa.Array:
    """A key column in one piece where equal values have equal bits. As for keys of `key_tuples` in
    a dict, every NaN is the same value, and -0.0 is 0.0."""
    array = one_chunk(column)
    if not pa.types.is_floating(array.type):
        return array
    data = numbers_of(array) + 0.0
    data[np.isnan(data)] = np.nan
    return array_of(data, present_in(array), array.type)


def _places(column: pa.Array, values: pa.Array) -> Ints:
    index = pc.fill_null(pc.index_in(column, value_set=values), UNKNOWN)
    places: Ints = index.to_numpy(zero_copy_only=False).astype(np.int64)
    return places


def _indices(encoded: pa.DictionaryArray) -> Ints:
    indices: Ints = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return indices


def can_number(dtype: pa.DataType) -> bool:
    """Whether keys of this type can be numbered without looking at rows."""
    none = pa.array([], dtype)
    try:
        pc.index_in(none, value_set=none.dictionary_encode().dictionary)
    except pa.ArrowNotImplementedError:
        return False
    return True


_TIMINGS = pa.array(TIMINGS)


class ColumnState:
    """Turns saved rows into the columns of one machine, and these into rows to save."""

    def __init__(self, plan: Plan, machine: ColumnarGrouping) -> None:
        self._plan, self._machine = plan, machine
        layout = StateLayout(plan)
        self.schema = layout.schema
        self._accumulator_names = list(plan.operation.accumulator.types())
        self._widths = [len(part.columns.types()) for part in plan.parts]

    def load(self, saved: pa.Table, key: Ints) -> Table:
        """The windows that are saved in these rows; ``key`` is the number of each row's key."""
        column = {name: saved.column(name) for name in self.schema.names}
        table = attrs.evolve(
            self.waits(saved, key),
            accumulators=self.accumulators(saved),
            new_elements=integers(column["new_elements"]),
            timing=_timing_numbers(column["timing"]),
            index=integers(column["index"]),
            nonspeculative=integers(column["nonspeculative"]),
            size=integers(column["size"]) if self._machine.needs_sizes else None,
        )
        if not self._machine.retracts:
            return table
        return attrs.evolve(
            table, unretracted_panes=self._panes(column["unretracted_panes"], table)
        )

    def waits(self, saved: pa.Table, key: Ints) -> Table:
        """The windows with only what they wait for and hold back, without their contents."""
        column = {name: saved.column(name) for name in self.schema.names}
        bits, slots = integers(column["finished"]), iter(range(len(self.schema.names)))

        def nodes(trigger: TriggerColumns, counter: Any) -> Nodes:
            place = next(counter)
            value = integers(column[f"t{next(slots)}"]) if trigger.keeps_value else None
            finished = (bits >> place & 1).astype(np.bool_)
            return Nodes(finished, value, tuple(nodes(sub, counter) for sub in trigger.subs))

        empty = np.zeros(0, np.int64)
        return Table(
            key,
            integers(column["start"]),
            integers(column["end"]),
            nodes(self._machine.trigger, iter(range(64))),
            (),
            new_elements=empty,
            hold=integers(column["element_hold"]),
            end_timer_set=_array(column["end_timer_set"]),
            timing=empty,
            index=empty,
            nonspeculative=empty,
            processing_timers=_lists_of(column["processing_timers"])
            if self._machine.keeps_processing_timers
            else None,
        )

    def accumulators(self, rows: pa.Table) -> tuple[Any, ...]:
        """The accumulators of every fold in these rows."""
        names = iter(self._accumulator_names)
        return tuple(
            fold.load([one_chunk(rows.column(next(names))) for _ in range(width)])
            for fold, width in zip(self._machine.folds, self._widths, strict=True)
        )

    def save(self, state: State, keys: Numbered) -> pa.Table:
        """All windows of a state as rows to save."""
        table = state.table
        of_row = pa.array(table.key)
        arrays = [column.take(of_row) for column in keys.columns]
        nodes = list(table.trigger.walk())
        bits = np.zeros(len(table), np.int64)
        for place, node in enumerate(nodes):
            bits |= node.finished.astype(np.int64) << place
        arrays += [pa.array(table.start), pa.array(table.end)]
        arrays += [pa.array(state.output_watermark[table.key]), pa.array(bits)]
        arrays += [_nullable(node.value) for node in nodes if node.value is not None]
        arrays += [
            pa.array(table.new_elements),
            _nullable(table.hold),
            pa.array(table.end_timer_set),
            self._processing_timers(state),
            timing_names(table.timing),
            _nullable(table.index),
            _nullable(table.nonspeculative),
        ]
        if table.unretracted_panes is not None:
            arrays.append(self._pane_rows(table.unretracted_panes, table))
        if table.size is not None:
            arrays.append(pa.array(table.size))
        for fold, accumulators in zip(self._machine.folds, table.accumulators, strict=True):
            arrays += fold.save(accumulators)
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _processing_timers(self, state: State) -> pa.Array:
        """The processing times that each window waits for, ascending and each once."""
        if state.table.processing_timers is not None:
            return _list_array(
                state.table.processing_timers, pa.array(state.table.processing_timers.items)
            )
        count, targets = len(state.table), self._machine.targets(state.table.trigger)
        if not targets:
            return _list_array(Lists.empty(count, None), pa.array([], pa.int64()))
        times = np.sort(np.stack(targets, axis=1), axis=1)
        waits = times >= state.clock
        waits[:, 1:] &= times[:, 1:] != times[:, :-1]
        return _list_array(Lists(waits.sum(axis=1), None), pa.array(times[waits]))

    def _panes(self, column: pa.ChunkedArray, table: Table) -> Lists:
        """Panes that are not retracted yet, of each window of the table."""
        saved = one_chunk(column)
        rows, lists = saved.flatten(), Lists(_lengths(saved), None)
        field = dict(zip(rows.type.names, rows.flatten(), strict=True))
        fields = {
            name: _filled(field[name], defaults)
            for name, defaults in _of_window(table, lists).items()
        }
        none = UnretractedPanes.none(self._machine.folds)
        values = tuple(
            _values_again(part, field[f"value_{part.name}"], like)
            for part, like in zip(self._plan.shown_parts, none.values, strict=True)
        )
        panes = UnretractedPanes(values=values, is_last=_array(field["is_last"]), **fields)
        return Lists(lists.lengths, PickedRows.all_of(panes))

    def _pane_rows(self, unretracted_panes: Lists, table: Table) -> pa.Array:
        panes: UnretractedPanes = unretracted_panes.items.read()
        field = {"is_last": pa.array(panes.is_last)}
        for name, of_window in _of_window(table, unretracted_panes).items():
            of_pane = getattr(panes, name)
            same = of_pane == of_window
            if name == "timing":
                field[name] = timing_names(np.where(same, NO_PANE, of_pane))
            else:
                # What lies below a null is compressed and saved as well.
                field[name] = pa.array(np.where(same, 0, of_pane), mask=same)
        dtype = self.schema.field("unretracted_panes").type.value_type
        for part, values in zip(self._plan.shown_parts, panes.values, strict=True):
            name = f"value_{part.name}"
            if part.columns.pickles:
                field[name] = pa.array(map(cloudpickle.dumps, values.to_pylist()), pa.binary())
            else:
                field[name] = values_array(values, dtype.field(name).type, part.name)
        rows = pa.StructArray.from_arrays([field[item.name] for item in dtype], fields=list(dtype))
        return _list_array(unretracted_panes, rows)


def _of_window(table: Table, panes: Lists) -> dict[str, Ints]:
    """The values that null fields of saved panes stand for: those of their windows, see
    `StateLayout`."""
    owner = panes.owner
    start, end = table.start[owner], table.end[owner]
    return {
        "start": start,
        "end": end,
        "timestamp": end - 1,
        "session_start": start,
        "session_end": end,
        "timing": table.timing[owner],
        "index": table.index[owner],
        "nonspeculative": table.nonspeculative[owner],
    }


def _filled(saved: pa.Array, defaults: Ints) -> Ints:
    """Saved numbers or timings, with defaults in place of nulls."""
    if saved.null_count == len(saved):
        return defaults
    if pa.types.is_string(saved.type):
        timing = _timing_numbers(saved)
        return np.where(timing == NO_PANE, defaults, timing)
    return _array(pc.coalesce(saved, pa.array(defaults)) if saved.null_count else saved)


def withdrawn_at(table: Table) -> Ints | None:
    """The earliest timestamp of the panes that each window may withdraw (ticks), `NEVER` if it has
    none; None: no window of the grouping withdraws any."""
    panes = table.unretracted_panes
    if panes is None:
        return None
    [timestamp] = panes.items.columns("timestamp")
    return _earliest(Lists(panes.lengths, timestamp))


def saved_withdrawn_at(saved: pa.Table) -> Ints | None:
    """The earliest timestamp of the panes that each saved window may withdraw (ticks)."""
    if "unretracted_panes" not in saved.column_names:
        return None
    panes = one_chunk(saved.column("unretracted_panes"))
    lists = Lists(_lengths(panes), None)
    last = integers(saved.column("end"))[lists.owner] - 1
    times = _filled(panes.flatten().field("timestamp"), last)
    return _earliest(Lists(lists.lengths, times))


def _earliest(times: Lists) -> Ints:
    least, has = np.full(len(times), NEVER, np.int64), times.lengths > 0
    if has.any():
        least[has] = np.minimum.reduceat(times.items, times.first[has])
    return least


def integers(column: pa.ChunkedArray | pa.Array) -> Ints:
    """Whole numbers, with `NOTHING` in place of nulls."""
    if not column.null_count:
        return _array(column)
    array = column if isinstance(column, pa.Array) else one_chunk(column)
    return filled(numbers_of(array), present_in(array), NOTHING)


def _array(column: pa.ChunkedArray | pa.Array) -> Array:
    array: Array = (
        column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    )
    return array


def _nullable(values: Ints) -> pa.Array:
    return array_of(values, values != NOTHING, pa.int64())


def _lengths(lists: pa.ListArray) -> Ints:
    return _array(lists.value_lengths()).astype(np.int64)


def _lists_of(column: pa.ChunkedArray) -> Lists:
    lists = one_chunk(column)
    return Lists(_lengths(lists), _array(lists.flatten()))


def _list_array(lists: Lists, items: pa.Array) -> pa.Array:
    return list_array(Lists(lists.lengths, items), pa.list_(items.type))


def _values_again(part: Part, array: pa.Array, like: Values) -> Values:
    """The values of saved panes, in the form in which their fold extracts values."""
    if part.columns.pickles:
        return Values.of_objects([cloudpickle.loads(value) for value in array.to_pylist()])
    if isinstance(like.data, Lists):
        return Values(Lists(_lengths(array), array.flatten()))
    if isinstance(like.data, pa.Array):
        return Values(array.cast(like.data.type))
    if like.data.dtype == object:
        return Values.of_objects(array.to_pylist())
    numbers = number_values(array)
    present = numbers.present
    if like.present is not None and present is None:
        present = np.ones(len(array), np.bool_)
    return Values(numbers.data, present)


def _timing_numbers(column: pa.ChunkedArray | pa.Array) -> Ints:
    if column.null_count == len(column):
        return np.full(len(column), NO_PANE, np.int64)
    numbers = pc.fill_null(pc.index_in(column, value_set=_TIMINGS), NO_PANE)
    return _array(numbers).astype(np.int64)


def timing_names(timing: Ints) -> pa.Array:
    """Timings as texts, as they are saved and shown; null for a window without a pane."""
    if len(timing) and (timing == timing[0]).all():  # as they often are
        name = None if timing[0] == NO_PANE else TIMINGS[timing[0]]
        return pa.repeat(pa.scalar(name, pa.string()), len(timing))
    return _TIMINGS.take(array_of(timing, timing != NO_PANE, pa.int64()))

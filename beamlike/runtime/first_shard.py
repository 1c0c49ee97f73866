"""One shard's step of a function that passes on the first row of each key and window: all keys at
once.

The order within a step, the index and the state are those of `beamlike.runtime.shard`. So a query
may continue with either.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Bools, Ints
from beamlike.machine.columnar.assign import Arrivals
from beamlike.machine.columnar.columns import Drops
from beamlike.machine.columnar.first import FirstOfKeys, KnownKeys
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.runtime.clock import Clock
from beamlike.runtime.column_shard import Pass, ShardInPasses, Written, note_deadlines
from beamlike.runtime.known_keys import KnownColumn
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.column_state import UNKNOWN, Numbered, integers, number_keys
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages, SavedRows
from beamlike.runtime.store.state import StateLayout


class FirstShard(ShardInPasses):
    """Steps shards of one plan. Holds no state itself: that is in the store.

    Raises:
        UnsupportedError: Only the reference machine can do what the plan says.
    """

    def __init__(self, plan: Plan) -> None:
        assert isinstance(plan.machine, StatefulParDo), "else nothing is kept"
        self.machine = FirstOfKeys(plan.machine)
        self._layout, self._known = StateLayout(plan), KnownColumn(self.machine.keeps)
        (self._saved_as,) = plan.operation.accumulator.types()
        super().__init__(plan, self._layout.schema)

    def _read(self, pages: Pages) -> SavedRows:
        rows = pages.read()
        saved = rows.table.column(self._saved_as)
        if self._known.is_usual(saved):
            return rows
        place, usual = rows.table.column_names.index(self._saved_as), self._known.usual(saved)
        rows = SavedRows(rows.table.set_column(place, self._saved_as, usual), rows.lives)
        pages.remember(rows)
        return rows

    def _pass(
        self, rows: SavedRows, arrived: pa.Table | None, index: Index, judged_at: int, to: Clock
    ) -> tuple[Pass, Written]:
        end = integers(rows.table.column("end"))
        until = self._known.known_until(rows.table.column(self._saved_as))
        deadlines = self.machine.deadlines(end, until)
        names = list(self.plan.key_columns)
        keys, first, drops = number_keys([], 0), None, list[Drops]()
        new, bucket = self._layout.schema.empty_table(), np.zeros(0, np.int32)
        if arrived is not None:
            keys = number_keys(arrived.select(names).columns, arrived.num_rows)
            stays = rows.lives & ~_are_over(deadlines, judged_at, to.clock)
            known = self._known_again(rows, keys, stays, end, until)
            start, ends = (
                integers(arrived.column(name)) if name in arrived.column_names else None
                for name in ("start", "end")
            )
            timestamps = arrived.column("ts").to_numpy()
            elements = Arrivals(keys.number, timestamps, (), start, ends)
            first, added, drops = self.machine.take(known, elements, judged_at, to.clock)
            new, of_new = self._saved(added, keys, judged_at, to)
            bucket = arrived.column("bucket").to_numpy()[first.row[of_new]]
            note_deadlines(
                index, bucket, *self.machine.deadlines(added.end[of_new], added.until[of_new])
            )
        new = new.append_column("bucket", pa.array(bucket, pa.int32()))
        stays = rows.lives & ~_are_over(deadlines, to.watermark, to.clock)
        of_rows = rows.table.column("bucket").to_numpy()
        note_deadlines(index, of_rows[stays], *(deadline[stays] for deadline in deadlines))
        passed = Pass([], [], drops, None, keys, arrived, judged_at, first)
        return passed, Written(np.nonzero(rows.lives & ~stays)[0], new)

    def _known_again(
        self, rows: SavedRows, keys: Numbered, stays: Bools, end: Ints, until: Ints
    ) -> KnownKeys:
        """What is known of these keys, in all of their windows."""
        names = list(self.plan.key_columns)
        number = keys.find(rows.table.select(names).columns, len(rows.lives))
        places = np.nonzero(stays & (number != UNKNOWN))[0]
        start = integers(rows.table.column("start"))
        return KnownKeys(number[places], start[places], end[places], until[places])

    def _saved(
        self, known: KnownKeys, keys: Numbered, judged_at: int, to: Clock
    ) -> tuple[pa.Table, Ints]:
        """The rows to save for keys that the step does not forget, and the places of these keys in
        ``known``."""
        over = _are_over(self.machine.deadlines(known.end, known.until), to.watermark, to.clock)
        of_rows = np.nonzero(~over)[0]
        until, key = known.until[of_rows], pa.array(known.key[of_rows])
        count, none = len(of_rows), np.zeros(len(of_rows), np.int64)
        timers = 0 if self.machine.by_event_time else 1
        columns: Mapping[str, Any] = {
            "start": known.start[of_rows],
            "end": known.end[of_rows],
            "output_watermark": np.full(count, judged_at, np.int64),
            "finished": none,
            "new_elements": none,
            "end_timer_set": np.zeros(count, np.bool_),
            "processing_timers": pa.ListArray.from_arrays(
                np.arange(count + 1, dtype=np.int32) * timers, pa.array(until[: count * timers])
            ),
            self._saved_as: self._known.pickled(until),
        }
        arrays = [column.take(key) for column in keys.columns]
        for field in list(self._layout.schema)[len(arrays) :]:
            column = columns.get(field.name)
            array = pa.nulls(count, field.type) if column is None else column
            arrays.append(array if isinstance(array, pa.Array) else pa.array(array))
        return pa.Table.from_arrays(arrays, schema=self._layout.schema), of_rows


def _are_over(deadlines: tuple[Ints, Ints], watermark: int, clock: int) -> Bools:
    """Which deadlines the clocks have passed."""
    event, timer = deadlines
    over: Bools = (event < watermark) | (timer < clock)
    return over

"""One shard's step by the columnar machine: all of its touched buckets in one pass.

The order within a step is that of `beamlike.hosts.spark.shard`, and so are index and state: a
query may go on with the other machine where this one stopped.
"""

from collections.abc import Sequence

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.hosts.spark.blobs import pack_blob, unpack_blob
from beamlike.hosts.spark.column_state import ColumnState, whole
from beamlike.hosts.spark.index import NEVER, Clock, Index, Store
from beamlike.hosts.spark.keys import Numbered, number_keys
from beamlike.hosts.spark.part_folds import fold_of_part, inputs_of_part
from beamlike.hosts.spark.plan import Plan
from beamlike.machine.clocks import Heard
from beamlike.machine.columnar.arrays import NOTHING, Bools, Ints, concat, keep, take
from beamlike.machine.columnar.columns import Arrivals, Drops, LiftedArrivals, Panes, State
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.columnar.wakes import wakes

__all__ = ["ColumnShard", "ColumnsStepped"]


@attrs.frozen
class ColumnsStepped:
    """What came out of a step, in columns, and the shard's output watermark (ms) after it.

    ``arrived`` are the rows that ``drops`` are from, ``judged_at`` is the watermark (ms) that
    judged them.
    """

    panes: list[Panes]
    drops: list[Drops]
    keys: Numbered
    arrived: pa.Table | None
    judged_at: int
    output_watermark: int


class ColumnShard:
    """Steps shards of one plan. Holds no state itself: that is in the store.

    Raises:
        UnsupportedError: Only the reference machine can do what the plan says.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        if plan.retracts and any(part.columns.pickles for part in plan.parts):
            raise UnsupportedError("values without an Arrow type are withdrawn one by one")
        folds = [fold_of_part(part, plan.values) for part in plan.parts]
        self.machine = ColumnarGrouping(plan.strategy, folds)
        self.layout = ColumnState(plan, self.machine)

    def step(
        self,
        store: Store,
        arrivals: Sequence[pa.Table],
        watermark: int | Sequence[Heard],
        clock: int,
    ) -> ColumnsStepped:
        """Take one shard through one micro-batch; as `beamlike.hosts.spark.shard.Shard.step`.

        Raises:
            StateError: The state was written by another plan.
            InputRowError: A value outgrew its type.
        """
        index = Index.load(self.plan, store.read_index())
        judged_at = index.watermark
        to = Clock.after(self.plan, index, watermark, clock)
        arrived, buckets = None, np.zeros(0, np.int64)
        if arrivals:
            # Tables without carried windows lack the columns of these.
            arrived = pa.concat_tables(arrivals, promote_options="default").combine_chunks()
            buckets = arrived.column("bucket").to_numpy().astype(np.int64)
        touched = np.unique(np.append(buckets, sorted(index.due(to.watermark, to.clock))))
        touched = touched.astype(np.int64)
        saved, rests_in = self._read(store, touched[index.windows[touched] > 0])
        keys = self._number(saved, arrived)
        bucket_of_key = np.empty(keys.count, np.int64)
        bucket_of_key[keys.number] = np.concatenate([rests_in, buckets])
        before = self._wake(saved, keys, index)
        after, panes, drops = self._run(before, keys, arrived, index, to)
        self._write(store, index, after, keys, bucket_of_key, touched)
        if len(touched) or to.moves(index):
            index.move(to)
            store.write_index(index.dump(self.plan))
        return ColumnsStepped(panes, drops, keys, arrived, judged_at, index.output)

    def _read(self, store: Store, buckets: Ints) -> tuple[pa.Table, Ints]:
        """The rows that rest in these buckets, and for each the bucket that it rests in."""
        tables = [self.layout.schema.empty_table()]
        for bucket in buckets.tolist():
            blob = store.read(bucket)
            assert blob is not None, "the index says that windows rest there"
            tables.append(unpack_blob(blob)[0].replace_schema_metadata(None))
        counts = [table.num_rows for table in tables[1:]]
        return pa.concat_tables(tables).combine_chunks(), np.repeat(buckets, counts)

    def _number(self, saved: pa.Table, arrived: pa.Table | None) -> Numbered:
        """The keys of what rests and, after it, of what arrived."""
        tables = [saved] if arrived is None else [saved, arrived]
        names = [f"key_{name}" for name in self.plan.keys]
        columns = [
            pa.chunked_array(
                [chunk for table in tables for chunk in table.column(name).chunks],
                saved.schema.field(name).type,
            )
            for name in names
        ]
        return number_keys(columns, sum(table.num_rows for table in tables))

    def _wake(self, saved: pa.Table, keys: Numbered, index: Index) -> State:
        table = self.layout.wake(saved, keys.number[: saved.num_rows])
        # A key without windows has promised nothing: it starts at the watermark.
        promised = np.full(keys.count, index.watermark, np.int64)
        promised[table.key] = saved.column("output_watermark").to_numpy()
        return State(index.watermark, index.clock, promised, table)

    def _run(
        self, state: State, keys: Numbered, arrived: pa.Table | None, index: Index, to: Clock
    ) -> tuple[State, list[Panes], list[Drops]]:
        """The events of one micro-batch, for the keys that they can change anything for."""
        machine = self.machine
        number = keys.number[len(state.table) :]
        is_active = self._active(state, number, keys.count, to)
        active = is_active[state.table.key]
        rests, promised = keep(state.table, ~active), state.promised
        # Keys that nothing woke for a while have not said yet what they promise by now.
        state = attrs.evolve(state, table=keep(state.table, active))
        state = machine.at(state, state.watermark, state.clock)
        panes, drops = list[Panes](), list[Drops]()
        if to.clock > state.clock:
            state, out = machine.advance_clock(state, to.clock)
            panes += out
        if arrived is not None:
            if "count" in arrived.column_names:
                state, out, drops = machine.add_lifted(state, self._lifted(arrived, number))
            else:
                state, out, drops = machine.add(state, self._arrivals(arrived, number))
            panes += out
        if to.watermark > state.watermark:
            state, out = machine.advance_watermark(state, to.watermark)
            panes += out
        promised = np.where(is_active, state.promised, promised)
        state = attrs.evolve(state, promised=promised, table=concat([state.table, rests]))
        return state, panes, drops

    def _active(self, state: State, arrives: Ints, keys: int, to: Clock) -> Bools:
        """The keys that get elements or have a window that is due."""
        event, timer = wakes(self.machine.rules, state)
        due = (event < to.watermark) | (timer < to.clock)
        is_active = np.zeros(keys, np.bool_)
        is_active[arrives] = True
        is_active[state.table.key[due]] = True
        return is_active

    def _arrivals(self, arrived: pa.Table, key: Ints) -> Arrivals:
        start = end = None
        if "start" in arrived.column_names:
            start, end = (whole(arrived.column(name)) for name in ("start", "end"))
        values = tuple(
            inputs_of_part(part, fold, arrived)
            for part, fold in zip(self.plan.parts, self.machine.folds, strict=True)
        )
        return Arrivals(key, arrived.column("ts").to_numpy(), values, start, end)

    def _lifted(self, arrived: pa.Table, key: Ints) -> LiftedArrivals:
        count, at, start, end, judged = (
            arrived.column(name).to_numpy() for name in ("count", "ts", "start", "end", "judged")
        )
        accumulators = self.layout.accumulators(arrived)
        return LiftedArrivals(key, start, end, at, count, judged, accumulators)

    def _write(
        self,
        store: Store,
        index: Index,
        state: State,
        keys: Numbered,
        bucket_of_key: Ints,
        touched: Ints,
    ) -> None:
        """Save the touched buckets, and what the index has to know of them."""
        bucket = bucket_of_key[state.table.key]
        order = np.lexsort((state.table.start, state.table.key, bucket))
        bucket = bucket[order]
        state = attrs.evolve(state, table=take(state.table, order))
        rows = self.layout.rest(state, keys)
        first = np.searchsorted(bucket, touched)
        counts = np.searchsorted(bucket, touched, side="right") - first
        existed = index.windows[touched] > 0
        for each, at, count, was_there in zip(
            *(column.tolist() for column in (touched, first, counts, existed)), strict=True
        ):
            if count:
                store.write(each, pack_blob(rows.slice(at, count), {}))
            elif was_there:
                store.write(each, None)
        filled = counts > 0
        event, timer = wakes(self.machine.rules, state)
        held = state.table.hold
        # What a key has promised already, it cannot hold back again.
        hold = np.maximum(held, state.promised[state.table.key])
        hold[held == NOTHING] = NEVER
        index.windows[touched] = counts
        for deadlines, column in ((index.event, event), (index.timer, timer), (index.hold, hold)):
            deadlines[touched] = NEVER
            if filled.any():
                deadlines[touched[filled]] = np.minimum.reduceat(column, first[filled])

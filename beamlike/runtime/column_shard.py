"""One shard's step by the columnar machine: all of its keys in one pass, or in several.

The order within a step is that of `beamlike.runtime.shard`, and so are index and state: a query may
continue with the other machine where this one stopped.

Arrow holds two gigabytes of a column in one piece. A shard that has more takes its keys in several
passes, each with some of its buckets.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import NEVER, NOTHING, Bools, Ints
from beamlike.machine.columnar.columns import Drops, FirstRows, Merges, Panes, State
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.runtime.clock import Clock, ShardInput, ShardStatus
from beamlike.runtime.columnar_arrivals import (
    arrivals_of,
    fold_of_part,
    strategy_for_columns,
)
from beamlike.runtime.failing import Failing
from beamlike.runtime.plan import Plan
from beamlike.runtime.store.blobs import concat, one_chunk
from beamlike.runtime.store.column_state import (
    UNKNOWN,
    ColumnState,
    Numbered,
    number_keys,
    saved_withdrawn_at,
    withdrawn_at,
)
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.pages import Pages, SavedRows
from beamlike.runtime.store.state import with_bucket
from beamlike.runtime.store.stores import Store

CLOCK, ARRIVAL, WATERMARK = range(3)
"""The phases of a micro-batch, in this order, where the watermark comes from updates."""

IN_A_PASS: Final = 2**29
"""Bytes of rows that a pass takes, about: it needs several times as much memory."""

_MOST: Final = 31 / 32
"""If more than this share of rows takes part in a step, all of them do."""

Emitted = tuple[int, Panes]
"""Panes, and what brought them out."""


@attrs.frozen
class Pass:
    """What came out of a pass over some of the keys, in columns.

    ``phases`` says of each of ``panes`` what brought it out: `CLOCK`, `ARRIVAL` or `WATERMARK`.
    ``merges`` are live windows that became one, None if nothing arrived. ``arrived`` are the rows
    that ``drops`` are from, ``judged_at`` is the watermark (ticks) that decided which were late.
    ``first`` has the rows that go on where a stage passes on only the first row of each key; None:
    the stage groups.
    """

    panes: list[Panes]
    phases: list[int]
    drops: list[Drops]
    merges: Merges | None
    keys: Numbered
    arrived: pa.Table | None
    judged_at: int
    first: FirstRows | None = None

    @property
    def emitted(self) -> int:
        """How many panes came out, and rows that go on."""
        return sum(len(rows.key) for rows in (*self.panes, self.first) if rows is not None)


@attrs.frozen
class ColumnsStepped:
    """What came out of a step, and the status of the shard then."""

    passes: list[Pass]
    status: ShardStatus


@attrs.frozen
class Written:
    """What a pass writes: the places of its rows that are gone, and new rows."""

    gone: Ints
    new: pa.Table


class ShardInPasses(ABC):
    """Steps shards of one plan, all keys of a pass at once. Holds no state itself: that is in the
    store.

    Args:
        plan: Their plan.
        schema: The columns of their saved rows, without the bucket.
    """

    def __init__(self, plan: Plan, schema: pa.Schema) -> None:
        self.plan, self._schema = plan, with_bucket(schema)

    def step(
        self, store: Store, batch: ShardInput, passes: int = 1, index: Index | None = None
    ) -> ColumnsStepped:
        """Take one shard through one micro-batch; as `beamlike.runtime.shard.Shard.step`.

        Args:
            store: The shard's state; read, and written where something changed.
            batch: What reaches it: rows, or combined elements.
            passes: How many to take at least. Each has every so many-th bucket.
            index: The shard's, which the step changes, if it is read already.

        Raises:
            StateError: The state was written by another plan.
            OutgrownError: A value outgrew its type.
            UnsupportedError: A pass has more than fits in one piece.
        """
        index = index or Index.load(self.plan, store)
        arrivals, (begin, to) = batch.tables, batch.moves(index.clocks, self.plan)
        touched = bool(arrivals) or bool(index.due(to))
        passed = list[Pass]()
        if touched:
            pages = Pages(self._schema, store, index.contents)
            rows = self._read(pages)
            index.forget_deadlines()
            size = rows.size + sum(table.nbytes for table in arrivals)
            passes = min(max(passes, -(-size // IN_A_PASS)), self.plan.buckets)
            gone, new = list[Ints](), list[pa.Table]()
            for number in range(passes):
                part, places, tables = _rows_of_pass(rows, arrivals, number, passes)
                # Those without carried windows lack the columns of these.
                arrived = one_chunk(tables) if tables else None
                outcome, written = self._pass(part, arrived, index, begin.watermark, to)
                passed.append(outcome)
                gone.append(written.gone if places is None else places[written.gone])
                new.append(written.new)
            pages.replace(rows, np.concatenate(gone), concat(new))
            index.contents = pages.contents
        if index.failing != Failing():
            rows_given = sum(table.num_rows for table in arrivals)
            emitted = sum(step.emitted for step in passed)
            index.failing = index.failing.after(self.plan, rows_given, emitted)
        merges = sum(step.merges.merged_away for step in passed if step.merges is not None)
        return ColumnsStepped(passed, index.end_step(self.plan, store, to, merges, changed=touched))

    def _read(self, pages: Pages) -> SavedRows:
        """The rows of a shard."""
        return pages.read()

    @abstractmethod
    def _pass(
        self, rows: SavedRows, arrived: pa.Table | None, index: Index, judged_at: int, to: Clock
    ) -> tuple[Pass, Written]:
        """Step some of the keys, and note in the index what they wait for.

        Args:
            rows: Their saved rows.
            arrived: What they get, in one piece; None: nothing.
            index: The shard's.
            judged_at: The watermark (ticks) that judges what arrives.
            to: The clocks after the step.
        """


class ColumnShard(ShardInPasses):
    """Steps shards of a grouping.

    Raises:
        UnsupportedError: Only the reference machine can do what the plan says.
    """

    def __init__(self, plan: Plan) -> None:
        folds = [fold_of_part(part, plan.values) for part in plan.parts]
        self.machine = ColumnarGrouping(strategy_for_columns(plan.strategy), folds)
        self.layout = ColumnState(plan, self.machine)
        super().__init__(plan, self.layout.schema)

    def _pass(
        self, rows: SavedRows, arrived: pa.Table | None, index: Index, judged_at: int, to: Clock
    ) -> tuple[Pass, Written]:
        saved_state = self._saved_state(rows, index)
        deadlines = self.machine.next_timers(saved_state)
        active, keys = self._active(rows, deadlines, arrived, to)
        before = self._load(rows, saved_state, active, keys)
        after, panes, drops, merges = self._run(before, keys.number, arrived, judged_at, to)
        bucket = np.empty(keys.count, np.int64)  # of each key
        bucket[before.table.key] = rows.table.column("bucket").to_numpy()[active]
        if arrived is not None:
            bucket[keys.number[: arrived.num_rows]] = arrived.column("bucket").to_numpy()
        saved = one_chunk([self.layout.save(after, keys)])
        saved = saved.append_column("bucket", pa.array(bucket[after.table.key], pa.int32()))
        self._note_inactive(index, rows, saved_state, deadlines, active)
        holds = self._holds(after, withdrawn_at(after.table))
        deadlines = self.machine.next_timers(after)
        note_deadlines(index, bucket[after.table.key], *deadlines, holds)
        phases, emitted = [phase for phase, _ in panes], [pane for _, pane in panes]
        passed = Pass(emitted, phases, drops, merges, keys, arrived, judged_at)
        return passed, Written(np.nonzero(active)[0], saved)

    def _saved_state(self, rows: SavedRows, index: Index) -> State:
        """The timers and holds of all rows, deleted ones too, each as if it had a key of its
        own."""
        windows = self.layout.waits(rows.table, np.arange(len(rows.lives)))
        output = rows.table.column("output_watermark").to_numpy()
        return State(index.clocks.watermark, index.clocks.clock, output, windows)

    def _note_inactive(
        self,
        index: Index,
        rows: SavedRows,
        state: State,
        deadlines: tuple[Ints, Ints],
        active: Bools,
    ) -> None:
        """Note in the index the deadlines and holds of rows whose keys are not stepped."""
        places = np.nonzero(rows.lives & ~active)[0]
        if not len(places):
            return
        bucket = rows.table.column("bucket").to_numpy()
        withdrawn = saved_withdrawn_at(rows.table)
        known = (bucket, *deadlines, self._holds(state, withdrawn))
        note_deadlines(index, *(column[places] for column in known))

    def _holds(self, state: State, withdrawn: Ints | None) -> Ints:
        """Where each window holds back the output watermark of the shard (ticks); `NEVER`: nowhere.

        Panes that may still be withdrawn hold it too, see `earliest_correction`.

        Args:
            state: Of some keys.
            withdrawn: See `withdrawn_at`.
        """
        table = state.table
        # A hold cannot be behind the key's output watermark.
        hold = np.maximum(table.hold, state.output_watermark[table.key])
        hold = np.where(table.hold == NOTHING, NEVER, hold)
        if withdrawn is None:
            return hold
        fires = (withdrawn != NEVER) & ~table.closed
        fires &= state.watermark <= self.machine.expiry(table.end)
        lateness = self.plan.strategy.allowed_lateness
        # Cut before they are added: the sum may be more than 64 bits hold.
        correction = np.minimum(withdrawn, NEVER - lateness) + lateness
        return np.where(fires, np.minimum(hold, correction), hold)

    def _active(
        self,
        rows: SavedRows,
        deadlines: tuple[Ints, Ints],
        arrived: pa.Table | None,
        to: Clock,
    ) -> tuple[Bools, Numbered]:
        """The rows of keys that get elements or have a window that is due, and these keys.

        If nearly all rows are among them, all are taken: a step with nothing to do leaves a window
        as it is, and picking rows takes longer. Among the numbered rows those that arrived come
        first.
        """
        event, timer = deadlines
        due = rows.lives & ((event < to.watermark) | (timer < to.clock))
        names = list(self.plan.key_columns)
        tables = [] if arrived is None else [arrived.select(names)]
        tables.append(rows.table.select(names).filter(pa.array(due)))
        wanted = pa.concat_tables(tables, promote_options="default")  # some columns have no null
        count = sum(table.num_rows for table in tables)  # also where there are no key columns
        keys = number_keys(wanted.columns, count)
        saved = rows.table.select(names)
        number = keys.find(saved.columns, len(rows.lives))
        known = number != UNKNOWN
        if rows.lives.all() and known.sum() > _MOST * len(known):
            keys = keys.with_more(saved.filter(pa.array(~known)).columns, int((~known).sum()))
            number[~known], known = keys.number[count:], rows.lives
        number = np.append(keys.number[:count], number)
        return rows.lives & known, attrs.evolve(keys, number=number)

    def _load(self, rows: SavedRows, saved_state: State, active: Bools, keys: Numbered) -> State:
        """The windows of these keys."""
        places = np.nonzero(active)[0]
        number = keys.number[len(keys.number) - len(active) :][places]
        # A key without windows starts at the watermark.
        output = np.full(keys.count, saved_state.watermark, np.int64)
        output[number] = saved_state.output_watermark[places]
        active_rows = (
            rows.table if len(places) == len(active) else rows.table.take(pa.array(places))
        )
        table = self.layout.load(active_rows, number)
        state = State(saved_state.watermark, saved_state.clock, output, table)
        # Keys that had no step for a while have an old output watermark.
        return self.machine.caught_up(state, state.watermark, state.clock)

    def _run(
        self, state: State, number: Ints, arrived: pa.Table | None, judged_at: int, to: Clock
    ) -> tuple[State, list[Emitted], list[Drops], Merges | None]:
        """Take these keys through the events of one micro-batch."""
        machine = self.machine
        panes, drops = list[Emitted](), list[Drops]()
        merges: Merges | None = None
        if judged_at > state.watermark:
            state, out = machine.advance_watermark(state, judged_at)
            panes += ((WATERMARK, pane) for pane in out)
        if to.clock > state.clock:
            state, out = machine.advance_clock(state, to.clock)
            panes += ((CLOCK, pane) for pane in out)
        if arrived is not None:
            number = number[: arrived.num_rows]
            bundle = arrivals_of(self.plan, machine.folds, arrived, number)
            state, out, drops = machine.add(state, bundle)
            panes += ((ARRIVAL, pane) for pane in out)
            merges = state.merges
        # Also where no watermark moves: lateness may have been longer when a window was saved.
        if to.watermark > state.watermark or (machine.next_timers(state)[0] < to.watermark).any():
            state, out = machine.advance_watermark(state, to.watermark)
            panes += ((WATERMARK, pane) for pane in out)
        return state, panes, drops, merges


def _rows_of_pass(
    rows: SavedRows, arrivals: Sequence[pa.Table], place: int, passes: int
) -> tuple[SavedRows, Ints | None, list[pa.Table]]:
    """The rows and arrivals of one pass, and where these rows are among all; None: everywhere."""
    if passes == 1 and rows.table.column("bucket").num_chunks <= 1:
        return rows, None, list(arrivals)
    chosen = rows.lives & (rows.table.column("bucket").to_numpy() % passes == place)
    part = SavedRows(one_chunk([rows.table.filter(pa.array(chosen))]), rows.lives[chosen])
    arrived = [
        table.filter(pa.array(table.column("bucket").to_numpy() % passes == place))
        for table in arrivals
    ]
    return part, np.nonzero(chosen)[0], [table for table in arrived if table.num_rows]


def note_deadlines(
    index: Index, bucket: Ints, event: Ints, timer: Ints, hold: Ints | None = None
) -> None:
    """Note in the index for windows, by ``bucket``, the event times and processing times that they
    wait for, and their holds; None: nothing holds. `NEVER` stands for none."""
    for least, column in (
        (index.deadline, event),
        (index.clock_deadline, timer),
        (index.hold, hold),
    ):
        if column is not None:
            np.minimum.at(least, bucket, column)

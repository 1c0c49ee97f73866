"""One shard's step by the reference machine, key by key: keys that have elements or a deadline.

State is in a `Store`: on Spark it lies over Spark's state, in a test over a dict.

The order within a step: if Spark carries the watermark, it moves to where earlier micro-batches
have brought it; the clock moves; the elements arrive; the watermark moves to where the updates of
this micro-batch bring it. So elements are judged by the micro-batches before their own and by
nothing else, whatever carries the watermark, and wherever Spark adds a micro-batch without data.
And panes of an earlier grouping arrive before the watermark that let them out: they are not late.
"""

from collections.abc import Hashable, Iterable, Iterator

import attrs
import numpy as np
import pyarrow as pa

from beamlike.errors import OutgrownError, UserFunctionError
from beamlike.machine.columnar.arrays import NEVER, Ints
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Effect,
    Item,
    Merged,
    TraceEvent,
)
from beamlike.machine.failures import without_cause
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, earliest_hold
from beamlike.machine.reference.step import Grouping
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.runtime.clock import Clock, ShardInput, ShardStatus
from beamlike.runtime.envelope import arriving
from beamlike.runtime.failing import Failing, failures_of, log_failure, panes_in, size_of
from beamlike.runtime.plan import Plan
from beamlike.runtime.script import Correction, correction_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.key_clocks import KeyClocks
from beamlike.runtime.store.pages import Pages, SavedRows
from beamlike.runtime.store.state import Key, StateLayout, with_bucket
from beamlike.runtime.store.stores import Store

KeyedEffect = tuple[Key, Effect]
KeyedMerge = tuple[Key, Merged]
"""A merge of a key; its sources are those that were live before."""
KeyStepped = tuple[list[KeyedEffect], list[KeyedMerge], NextTimers]
"""After a step of a key: what came out, what merged, and what the key waits for."""


@attrs.frozen
class Stepped:
    """After a step of a shard: what came out, what merged, and its status."""

    effects: list[KeyedEffect]
    merges: list[KeyedMerge]
    status: ShardStatus


class Shard:
    """Steps shards of one plan. Holds no state itself: that is in the store.

    Args:
        plan: Their plan.
        logged: The failures that were logged: each is logged once. A host may share the set.
        checks: Whether a value that outgrows the columns of an aggregate is found at its element,
            which then fails alone. Otherwise the whole step fails.
    """

    def __init__(
        self, plan: Plan, logged: set[Hashable] | None = None, *, checks: bool = False
    ) -> None:
        self.plan = plan
        self._logged: set[Hashable] = set() if logged is None else logged
        self.machine = plan.checking_machine if checks else plan.machine
        self._correction = correction_of(self.machine)
        self.layout = StateLayout(plan)
        self._schema = with_bucket(self.layout.schema)
        self._merges = isinstance(self.machine, Grouping) and self.machine.merging_fn is not None

    def step(self, store: Store, batch: ShardInput, index: Index | None = None) -> Stepped:
        """Step one shard through one micro-batch.

        Args:
            store: The shard's state; read, and written where something changed.
            batch: What reaches it.
            index: The shard's index, if it was read already. The step changes it.

        Raises:
            StateError: The state was written by another plan.
            UserFunctionError: A function of the user's raised, and the plan says to fail then.
            OutgrownError: An aggregate outgrew its type, and the plan says to fail then, or
                ``checks`` is not set.
            CombineError: An accumulator of a user's own did not fit its type, in the same cases.
        """
        index = index or Index.load(self.plan, store)
        begin, to = batch.moves(index.clocks, self.plan)
        bundles = self._bundles(batch.tables)
        touched = set(bundles) | index.due(to)
        effects, merges = list[KeyedEffect](), list[KeyedMerge]()
        ends = to.watermark >= self.plan.resolution.end_of_time
        is_all = ends and index.is_new and begin == index.clocks
        if is_all and isinstance(self.machine, StatefulParDo) and self.machine.fn.keeps_first:
            items_by_key = (pair for bucket in sorted(bundles) for pair in bundles[bucket].items())
            for key, items in items_by_key:
                out = self.machine.first_and_last_step(Bundle(tuple(items)))
                effects += [(key, effect) for effect in out]
        elif touched:
            effects, merges = self._step_buckets(store, touched, bundles, index, begin, to)
            effects = self._judged(effects, bundles, index)
        merged_away = sum(len(merged.sources) - 1 for _, merged in merges)
        status = index.end_step(self.plan, store, to, merged_away, changed=bool(touched))
        return Stepped(effects, merges, status)

    def _step_buckets(
        self,
        store: Store,
        touched: set[int],
        bundles: dict[int, dict[Key, list[Item]]],
        index: Index,
        begin: Clock,
        to: Clock,
    ) -> tuple[list[KeyedEffect], list[KeyedMerge]]:
        """Step the keys of some buckets, write what changed, and note it in the index."""
        pages = Pages(self._schema, store, index.contents)
        states, gone, rows = self._load(pages, touched, index)
        key_clocks = None
        if self.plan.key_clock is not None:
            key_clocks = KeyClocks(self.plan, self.plan.key_clock, store, index)
        encoded: list[pa.Table] = []
        effects, merges = list[KeyedEffect](), list[KeyedMerge]()
        for bucket in sorted(touched):
            of_bucket, arrived = states.get(bucket, {}), bundles.get(bucket, {})
            deadlines: list[NextTimers] = []
            bucket_clocks = None if key_clocks is None else key_clocks.load(bucket)
            for key in [*of_bucket, *(key for key in arrived if key not in of_bucket)]:
                clocks = index.clocks, begin, to
                if bucket_clocks is not None:
                    clocks = bucket_clocks.step(key, _greatest(arrived.get(key)), begin, to)
                    if key in of_bucket:
                        clock = clocks[0]
                        of_bucket[key] = of_bucket[key].caught_up(clock.watermark, clock.clock)
                try:
                    out, merged, next_timers = self._step_key(
                        of_bucket, key, arrived.get(key), clocks
                    )
                except (UserFunctionError, OutgrownError) as error:
                    # The machine does not know the key's name.
                    raise error.of_key(key) from error.__cause__
                effects += out
                merges += merged
                if bucket_clocks is not None:
                    next_timers = bucket_clocks.deadlines(key, next_timers)
                deadlines.append(next_timers)
            if key_clocks is not None and bucket_clocks is not None:
                key_clocks.save(bucket, bucket_clocks)
            table = self.layout.encode(of_bucket)
            buckets = pa.array(np.full(table.num_rows, bucket, np.int32))
            encoded.append(table.append_column("bucket", buckets))
            _note(index, bucket, of_bucket, deadlines, self._correction)
        pages.replace(rows, gone, pa.concat_tables(encoded))
        index.contents = pages.contents
        return effects, merges

    def _judged(
        self,
        effects: list[KeyedEffect],
        bundles: dict[int, dict[Key, list[Item]]],
        index: Index,
    ) -> list[KeyedEffect]:
        """Log failures among the effects, and judge their share. The effects without exceptions."""
        failed = failures_of(effects)
        if not failed and index.failing == Failing():
            return effects
        for _, drop in failed:
            log_failure(self.plan.name, drop, self._logged)
        items = (item for keys in bundles.values() for of_key in keys.values() for item in of_key)
        counts = sum(map(size_of, items)), panes_in(effects)
        index.failing = index.failing.after(self.plan, *counts, failed)
        return [(key, without_cause(effect)) for key, effect in effects]

    def _bundles(self, arrivals: Iterable[pa.Table]) -> dict[int, dict[Key, list[Item]]]:
        """The elements that arrive, by bucket and key, in order of arrival."""
        bundles: dict[int, dict[Key, list[Item]]] = {}
        for table in arrivals:
            buckets = table.column("bucket").to_pylist()
            for bucket, (key, item) in zip(buckets, arriving(self.plan, table), strict=True):
                bundles.setdefault(bucket, {}).setdefault(key, []).append(item)
        return bundles

    def _step_key(
        self,
        states: dict[Key, KeyState],
        key: Key,
        arrived: list[Item] | None,
        clocks: tuple[Clock, Clock, Clock],
    ) -> KeyStepped:
        """Take a key through the events of a micro-batch that can change anything for it.

        ``clocks`` are the clocks after the last step, as this step begins, and as it ends.
        """
        machine, (clock, begin, to) = self.machine, clocks
        state = states.get(key) or KeyState.unseen(clock.watermark, clock.clock, clock.side)
        effects: tuple[Effect, ...] = ()
        merges: list[Merged] = []
        next_timers = None
        if begin != clock and machine.next_timers(state).event_due(begin.watermark):
            state = state.caught_up(clock.watermark, clock.clock)
            state, effects = machine.step(state, AdvanceWatermark(begin.watermark))
        clock = begin
        if not arrived or machine.needs_clock:
            next_timers = machine.next_timers(state)
            if next_timers.clock_due(to.clock):
                state = state.caught_up(clock.watermark, clock.clock)
                state, out = machine.step(state, AdvanceClock(to.clock))
                effects += out
                next_timers = None
        if arrived:
            state = state.caught_up(clock.watermark, to.clock)
            before, trace = state, list[TraceEvent]()
            on_event = trace.append if self._merges else None
            state, out = machine.step(state, Bundle(tuple(arrived)), on_event)
            merges = list(_live(before, trace))
            effects += out
            next_timers = None
        next_timers = next_timers or machine.next_timers(state)
        if next_timers.event_due(to.watermark) or next_timers.side_due(to.side_at):
            state = state.caught_up(clock.watermark, to.clock)
            state, out = machine.step(state, AdvanceWatermark(to.watermark, to.side))
            effects += out
            next_timers = machine.next_timers(state)
        states[key] = state
        return (
            [(key, effect) for effect in effects],
            [(key, merge) for merge in merges],
            next_timers,
        )

    def _load(
        self, pages: Pages, touched: set[int], index: Index
    ) -> tuple[dict[int, dict[Key, KeyState]], Ints, SavedRows]:
        """The states of the keys in some buckets, the places of their rows, and all rows."""
        rows = pages.read()
        bucket = rows.table.column("bucket").to_numpy()
        places = np.nonzero(rows.lives & np.isin(bucket, list(touched)))[0]
        states, known = {}, index.clocks
        for number in np.unique(bucket[places]).tolist():
            bucket_rows = rows.table.take(pa.array(places[bucket[places] == number]))
            states[number] = self.layout.decode(
                bucket_rows, known.watermark, known.clock, known.side
            )
        return states, places, rows


def _greatest(arrived: Iterable[Item] | None) -> int | None:
    """The greatest event time of elements (ticks); None if there are none."""
    return max((item.timestamp for item in arrived or ()), default=None)


def _live(before: KeyState, trace: Iterable[TraceEvent]) -> Iterator[Merged]:
    """The merges of windows that were live before. Windows that only arrived are left out."""
    windows = before.windows
    for event in trace:
        if isinstance(event, Merged):
            live = tuple(
                source
                for source in event.sources
                if source in windows and not windows[source].closed
            )
            if len(live) > 1:
                yield Merged(live, event.into)


def _note(
    index: Index,
    bucket: int,
    states: dict[Key, KeyState],
    deadlines: list[NextTimers],
    correction: Correction | None,
) -> None:
    """Note in the index the holds and the next timers of a bucket whose keys were stepped."""
    for least, timer in ((index.deadline, 0), (index.clock_deadline, 1), (index.side, 2)):
        waits = (timers[timer] for timers in deadlines)
        least[bucket] = min((instant for instant in waits if instant is not None), default=NEVER)
    index.hold[bucket] = min(
        (hold for state in states.values() for hold in _holds(state, correction)), default=NEVER
    )


def _holds(state: KeyState, correction: Correction | None) -> Iterator[int]:
    """The instants (ticks) at which a key holds back the output watermark of its shard."""
    if (held := earliest_hold(state.windows)) is not None:
        # A hold cannot be behind the key's output watermark.
        yield max(held, state.output_watermark)
    withdrawn = None if correction is None else correction(state)
    if withdrawn is not None:
        yield withdrawn

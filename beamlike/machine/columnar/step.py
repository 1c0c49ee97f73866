"""The step of many keys at once: the rules of the reference machine's step, over columns.

The order is the same: drop what is expired, merge windows, add everything, and only then ask
each touched window's trigger, once. What one key does never depends on another, so all of them
take each part of the step together.
"""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    choose,
    concat,
    keep,
    nothing,
    put,
    take,
)
from beamlike.machine.columnar.assign import assign
from beamlike.machine.columnar.columns import Arrivals, Drops, Panes, State
from beamlike.machine.columnar.folds import Fold
from beamlike.machine.columnar.merging import expiry, merge_windows, nearly_joined, starts_of_runs
from beamlike.machine.columnar.nodes import Moment, Nodes, least
from beamlike.machine.columnar.table import NO_PANE, TIMINGS, Table
from beamlike.machine.columnar.triggers import run_trigger
from beamlike.machine.reference.wakes import minds_stale_alarms
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    WindowingStrategy,
)
from beamlike.model.time import END_OF_GLOBAL_WINDOW

__all__ = ["ColumnarGrouping"]

EARLY, ON_TIME, LATE = range(len(TIMINGS))


class ColumnarGrouping:
    """A windowed, triggered grouping of many keys' elements, over columns.

    Args:
        strategy: Windows, trigger, lateness and pane rules.
        folds: How a pane's elements become its values.

    Raises:
        UnsupportedError: Only the reference machine can do this.
    """

    def __init__(self, strategy: WindowingStrategy, folds: Sequence[Fold]) -> None:
        _check(strategy)
        self.strategy = strategy
        self.folds = tuple(folds)
        self.trigger = run_trigger(strategy.trigger, strategy.is_merging)

    def start(self, keys: int, watermark: int, clock: int) -> State:
        """So many keys that no element came for yet."""
        table = Table.of_new_windows(_NONE, _NONE, _NONE, self.trigger, self.folds)
        return State(watermark, clock, np.full(keys, watermark, np.int64), table)

    # -- a bundle ------------------------------------------------------------------------

    def add(self, state: State, arrivals: Arrivals) -> tuple[State, list[Panes], list[Drops]]:
        """A bundle of elements arrives for each of some keys."""
        table, drops = state.table, []
        assigned = assign(self.strategy.window_fn, arrivals.at)
        row, start, end = assigned.row, assigned.start, assigned.end
        key = arrivals.key[row]
        missed = state.watermark - self._deadline(start, end, arrivals.at[row])
        late = missed > 0
        if late.any():
            drops.append(self._expired(state, key, row, start, end, missed, late))
            on = ~late
            key, row, start, end = key[on], row[on], start[on], end[on]
        if not len(row):
            return self._settled(state, table), [], drops
        home_start, home_end = start, end
        if self.strategy.is_merging:
            rules = (self.strategy, self.trigger, self.folds)
            table, home_start, home_end = merge_windows(*rules, state, key, start, end)
            if self.strategy.late_check is LateCheck.MERGED:
                missed = state.watermark - expiry(self.strategy, home_end)
                late = missed > 0
                if late.any():
                    none = nothing(int(late.sum()))
                    drops.append(Drops(row[late], start[late], end[late], missed[late], none, none))
                    on = ~late
                    key, row = key[on], row[on]
                    home_start, home_end = home_start[on], home_end[on]
        if not len(row):
            return self._settled(state, table), [], drops
        # Elements window by window, each window's in order of arrival.
        order = np.lexsort((home_end, home_start, key))
        key, row = key[order], row[order]
        home_start, home_end = home_start[order], home_end[order]
        first = np.nonzero(starts_of_runs(key, home_start, home_end))[0]
        counts = np.diff(np.append(first, len(key)))
        table, at = self._rows_of(table, key[first], home_start[first], home_end[first])
        closed = table.closed[at]
        if closed.any():
            gone = np.repeat(closed, counts)
            none = nothing(int(gone.sum()))
            drops.append(Drops(row[gone], home_start[gone], home_end[gone], none, none, none))
            row = row[~gone]
            at, counts = at[~closed], counts[~closed]
            if not len(at):
                return self._settled(state, table), [], drops
            first = np.cumsum(counts) - counts
        touched = self._added(state, take(table, at), arrivals, row, first, counts)
        panes, touched = self._fire_ready(state, touched)
        return self._settled(state, put(table, at, touched)), panes, drops

    def _deadline(self, start: Ints, end: Ints, at: Ints) -> Ints:
        """The last watermark at which an element for each window may go on to be merged."""
        match self.strategy.late_check:
            case LateCheck.ELEMENT:
                return np.minimum(at + self.strategy.allowed_lateness, expiry(self.strategy, end))
            case LateCheck.MERGED if self.strategy.is_merging:
                return np.full(len(end), END_OF_GLOBAL_WINDOW * 2, np.int64)
            case _:
                return expiry(self.strategy, end)

    def _expired(
        self, state: State, key: Ints, row: Ints, start: Ints, end: Ints, missed: Ints, late: Bools
    ) -> Drops:
        key, row, start, end, missed = key[late], row[late], start[late], end[late], missed[late]
        into_start, into_end = nothing(len(row)), nothing(len(row))
        if self.strategy.is_merging:
            live = keep(state.table, ~state.table.closed)
            into_start, into_end = nearly_joined(live, key, start, end)
            gone = (into_start == NOTHING) | (state.watermark > expiry(self.strategy, into_end))
            into_start, into_end = (np.where(gone, NOTHING, it) for it in (into_start, into_end))
        return Drops(row, start, end, missed, into_start, into_end)

    def _rows_of(self, table: Table, key: Ints, start: Ints, end: Ints) -> tuple[Table, Ints]:
        """The rows of these windows, each different, in a table that has them all."""
        count = len(table)
        all_key = np.concatenate([table.key, key])
        all_start = np.concatenate([table.start, start])
        all_end = np.concatenate([table.end, end])
        order = np.lexsort((all_end, all_start, all_key))  # stable: a row before its arrival
        new = starts_of_runs(all_key[order], all_start[order], all_end[order])
        there = order[np.nonzero(new)[0]][np.cumsum(new) - 1]
        at = np.empty(len(all_key), np.int64)
        at[order] = there
        at = at[count:]
        fresh = at >= count
        new_rows = Table.of_new_windows(
            key[fresh], start[fresh], end[fresh], self.trigger, self.folds
        )
        at = np.where(fresh, count + np.cumsum(fresh) - 1, at)
        return concat([table, new_rows]), at

    def _added(
        self, state: State, rows: Table, arrivals: Arrivals, row: Ints, first: Ints, counts: Ints
    ) -> Table:
        """The rows of windows with all that a bundle brings to them."""
        now = self._moment(state, rows)
        hears_end = ~now.end_reached & self.trigger.hears_end(rows.trigger)
        everywhere = np.ones(len(rows), np.bool_)
        values = (None if column is None else take(column, row) for column in arrivals.values)
        accumulators = tuple(
            fold.both(held, fold.of(column, first, counts))
            for fold, held, column in zip(self.folds, rows.accumulators, values, strict=True)
        )
        return attrs.evolve(
            rows,
            trigger=self.trigger.on_elements(rows.trigger, counts, everywhere, now),
            accumulators=accumulators,
            fresh=rows.fresh + counts,
            hold=self._hold(state, rows, arrivals.at[row], first, counts),
            awaits_end=rows.awaits_end | hears_end,
        )

    def _hold(self, state: State, rows: Table, at: Ints, first: Ints, counts: Ints) -> Ints:
        """Where the new elements keep the output watermark, so that their pane is on time."""
        over = state.watermark > rows.last
        combiner = self.strategy.timestamp_combiner
        if combiner is TimestampCombiner.END_OF_WINDOW:
            return np.where(over, rows.hold, rows.last)
        behind = at < np.repeat(state.promised[rows.key], counts)
        holds = np.where(behind, NOTHING, at)
        held = rows.hold
        if combiner is TimestampCombiner.EARLIEST:
            new = least(holds, first)
            one_only = (held == NOTHING) | (new == NOTHING)
            both = np.where(one_only, np.maximum(held, new), np.minimum(held, new))
        else:
            both = np.maximum(held, np.maximum.reduceat(holds, first))
        return np.where(over, held, both)

    # -- clocks --------------------------------------------------------------------------

    def advance_watermark(self, state: State, to: int) -> tuple[State, list[Panes]]:
        """The input watermark becomes ``to``."""
        table = state.table
        state = attrs.evolve(state, watermark=to)
        expired = to > expiry(self.strategy, table.end)
        leaving = keep(table, expired & ~table.closed) if expired.any() else take(table, _NONE)
        panes: list[Panes] = []
        if len(leaving):
            out, _ = self._emit(state, leaving, np.ones(len(leaving), np.bool_))
            panes += out
            table = keep(table, ~expired)
        elif expired.any():
            table = keep(table, ~expired)
        woken = np.nonzero(table.awaits_end & (to > table.last))[0]
        if len(woken):
            rows = take(table, woken)
            rows = attrs.evolve(rows, awaits_end=np.zeros(len(rows), np.bool_))
            out, rows = self._fire_ready(state, rows)
            panes += out
            table = put(table, woken, rows)
        return self._settled(state, table), panes

    def advance_clock(self, state: State, to: int) -> tuple[State, list[Panes]]:
        """Processing time becomes ``to``."""
        table, before = state.table, state.clock
        state = attrs.evolve(state, clock=to)
        due = np.zeros(len(table), np.bool_)
        for target in self.targets(table):
            due |= (target >= before) & (target < to)
        woken = np.nonzero(due)[0]
        panes: list[Panes] = []
        if len(woken):
            panes, rows = self._fire_ready(state, take(table, woken))
            table = put(table, woken, rows)
        return self._settled(state, table), panes

    def targets(self, table: Table) -> list[Ints]:
        """The processing times that windows wait for, a column for each trigger that does."""
        return [
            nodes.value
            for nodes, trigger in zip(table.trigger.walk(), _walk(self.trigger), strict=True)
            if nodes.value is not None and trigger.is_timed
        ]

    # -- panes ---------------------------------------------------------------------------

    def _fire_ready(self, state: State, rows: Table) -> tuple[list[Panes], Table]:
        """Fire the windows whose trigger is ready; all rows, as they are afterwards."""
        ready = np.nonzero(self.trigger.ready(rows.trigger, self._moment(state, rows)))[0]
        if not len(ready):
            return [], rows
        before = take(rows, ready)
        trigger = self.trigger.fired(before.trigger, self._moment(state, before))
        panes, emitted = self._emit(state, before, trigger.finished)
        return panes, put(rows, ready, self._after_firing(emitted, trigger))

    def _after_firing(self, rows: Table, trigger: Nodes) -> Table:
        count, finished = len(rows), trigger.finished
        empty = tuple(fold.create(count) for fold in self.folds)
        keeps = ~finished if self.strategy.accumulates else np.zeros(count, np.bool_)
        return attrs.evolve(
            rows,
            trigger=choose(finished, trigger.cleared(), trigger),
            accumulators=choose(keeps, rows.accumulators, empty),
            fresh=np.zeros(count, np.int64),
            hold=nothing(count),
            awaits_end=rows.awaits_end & ~finished,
            # A closed window remembers only that it is closed.
            timing=np.where(finished, NO_PANE, rows.timing),
            index=np.where(finished, NOTHING, rows.index),
            nonspeculative=np.where(finished, NOTHING, rows.nonspeculative),
        )

    def _emit(self, state: State, rows: Table, is_last: Bools) -> tuple[list[Panes], Table]:
        """Emit each window's pane unless it is unwanted; the rows that remember it."""
        over = state.watermark > rows.last
        moved_on = state.promised[rows.key] > rows.last
        is_new = rows.timing == NO_PANE
        only_early = is_new | (rows.timing == EARLY)
        timing = np.where(moved_on | ~only_early, LATE, np.where(over, ON_TIME, EARLY))
        index = np.where(is_new, 0, rows.index + 1)
        nonspeculative = np.where(is_new, 0, rows.nonspeculative + 1)
        nonspeculative = np.where(timing == EARLY, -1, nonspeculative)
        wanted = rows.fresh > 0
        if self.strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS:
            wanted = wanted | (timing == ON_TIME)
        if self.strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS:
            wanted = wanted | is_last
        remembered = attrs.evolve(
            rows,
            timing=np.where(wanted, timing, rows.timing),
            index=np.where(wanted, index, rows.index),
            nonspeculative=np.where(wanted, nonspeculative, rows.nonspeculative),
        )
        at = np.nonzero(wanted)[0]
        if not len(at):
            return [], remembered
        held = np.where(rows.hold == NOTHING, rows.last, np.minimum(rows.hold, rows.last))
        panes = Panes(
            rows.key[at],
            rows.start[at],
            rows.end[at],
            tuple(
                fold.extract(accumulators)
                for fold, accumulators in zip(self.folds, take(rows.accumulators, at), strict=True)
            ),
            held[at],
            timing[at],
            index[at],
            nonspeculative[at],
            is_last[at],
        )
        return [panes], remembered

    # -- the end of a step ---------------------------------------------------------------

    def _settled(self, state: State, table: Table) -> State:
        """The state after a step: each key promises what its windows do not hold back."""
        held = np.full(len(state.promised), state.watermark, np.int64)
        holds = table.hold != NOTHING
        np.minimum.at(held, table.key[holds], table.hold[holds])
        promised = np.maximum(state.promised, held)
        return State(state.watermark, state.clock, promised, table)

    def _moment(self, state: State, rows: Table) -> Moment:
        return Moment(state.watermark > rows.last, state.clock)


_NONE = np.zeros(0, np.int64)


def _walk(trigger: Any) -> Any:
    yield trigger
    for sub in trigger.subs:
        yield from _walk(sub)


def _check(strategy: WindowingStrategy) -> None:
    """Refuse what has no columns yet."""
    window_fn = strategy.window_fn
    if strategy.accumulation is AccumulationMode.RETRACTING:
        raise UnsupportedError("the columnar machine does not retract")
    if strategy.late_check is LateCheck.RETAIN:
        raise UnsupportedError("the columnar machine does not retain expired sessions")
    if minds_stale_alarms(strategy.trigger):
        raise UnsupportedError(
            f"the columnar machine takes alarms back, and {strategy.trigger} may fire by one that "
            "it no longer waits for"
        )
    if strategy.is_merging and not isinstance(window_fn, Sessions):
        raise UnsupportedError(f"the columnar machine cannot merge the windows of {window_fn}")
    if isinstance(window_fn, Sessions) and callable(window_fn.gap):
        raise UnsupportedError(
            f"the columnar machine cannot ask elements for the gap of {window_fn}"
        )
    if isinstance(window_fn, Sessions) and (
        window_fn.max_duration is not None or window_fn.max_elements is not None
    ):
        raise UnsupportedError("the columnar machine has no bounded sessions")

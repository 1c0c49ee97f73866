"""The step of many keys at once: the rules of the reference machine's step, over columns.

The order is the same: drop what is expired, merge windows, add everything, and only then evaluate
each touched window's trigger, once. What one key does never depends on another, so all of them take
each part of the step together.
"""

import attrs
import numpy as np

from beamlike.machine.columnar.adding import apply_bundle, find_target_windows
from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Lists,
    concat,
    keep,
    order_of_windows,
    take,
)
from beamlike.machine.columnar.assign import ArrivingBundle, LiftedArrivals
from beamlike.machine.columnar.columns import Drops, Panes, State, Table
from beamlike.machine.columnar.emission import fire
from beamlike.machine.columnar.late import split_expired
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.machine.columnar.session_ids import FiringOrder
from beamlike.machine.liftable import check_lifted
from beamlike.model.windows import window_of


class ColumnarGrouping(ColumnRules):
    """A windowed, triggered grouping of many keys' elements, over columns; see `ColumnRules`."""

    def caught_up(self, state: State, watermark: int, clock: int) -> State:
        """The keys after moves of the clocks that fired no timer of their windows."""
        return _settled(attrs.evolve(state, watermark=watermark, clock=clock), state.table)

    # -- a bundle ------------------------------------------------------------------------

    def add(self, state: State, bundle: ArrivingBundle) -> tuple[State, list[Panes], list[Drops]]:
        """A bundle of elements arrives for each of some keys.

        Raises:
            WindowingError: They were combined before they arrived, and the timestamp combiner needs
                the time of each.
        """
        if isinstance(bundle, LiftedArrivals) and len(bundle):
            window = window_of(int(bundle.start[0]), int(bundle.end[0]))
            check_lifted(self.strategy, int(bundle.count[0]), window)
        incoming, drops = split_expired(self, state, bundle.incoming(self.strategy.window_fn))
        targets, incoming, expired = find_target_windows(self, state, incoming)
        grown, closed = apply_bundle(self, state, bundle, incoming, targets)
        panes, rows = fire(
            self, state, FiringOrder(grown.rows, grown.arrived, None, grown.untouched)
        )
        state = attrs.evolve(_settled(state, concat([grown.untouched, rows])), merges=grown.merges)
        return state, panes, drops + expired + closed

    # -- clocks --------------------------------------------------------------------------

    def advance_watermark(self, state: State, to: int) -> tuple[State, list[Panes]]:
        """The input watermark becomes ``to``."""
        table, before = state.table, state.watermark
        state = attrs.evolve(state, watermark=to)
        expiry = self.expiry(table.end)
        expired = to > expiry
        expires, forgotten = expired & ~table.closed, expired
        if self.retained_for:
            # A retained window has emitted its last pane.
            expires &= (table.new_elements > 0) | (before <= expiry)
            forgotten = expired & (table.closed | (to > self.forgotten(table.end)))
        at_end = ~expired & table.end_timer_set & (to > table.last)
        return self._fire_due(state, expires | forgotten | at_end, expires, forgotten)

    def advance_clock(self, state: State, to: int) -> tuple[State, list[Panes]]:
        """Processing time becomes ``to``."""
        table, before = state.table, state.clock
        state = attrs.evolve(state, clock=to)
        due = np.zeros(len(table), np.bool_)
        if table.processing_timers is None:
            for target in self.targets(table.trigger):
                due |= (target >= before) & (target < to)
        else:
            over = table.processing_timers.items < to
            due[table.processing_timers.owner[over]] = True
            left = np.bincount(table.processing_timers.owner[~over], minlength=len(table))
            table = attrs.evolve(
                table, processing_timers=Lists(left, table.processing_timers.items[~over])
            )
            state = attrs.evolve(state, table=table)
        return self._fire_due(state, due)

    def _fire_due(
        self, state: State, due: Bools, expires: Bools | None = None, forgotten: Bools | None = None
    ) -> tuple[State, list[Panes]]:
        """After a move of a clock: fire the windows that are due, in order of start and end."""
        table = state.table
        places = np.nonzero(due)[0]
        if not len(places):
            return _settled(state, table), []
        places = places[order_of_windows(table.key[places], table.start[places], table.end[places])]
        rows, remaining = take(table, places), keep(table, ~due)
        if expires is None or forgotten is None:
            panes, rows = fire(
                self, state, FiringOrder(rows, np.arange(len(rows)), None, remaining)
            )
        else:
            # The watermark is past their end.
            rows = attrs.evolve(rows, end_timer_set=np.zeros(len(rows), np.bool_))
            firing_order = FiringOrder(rows, np.arange(len(rows)), forgotten[places], remaining)
            panes, rows = fire(self, state, firing_order, expires[places])
        return _settled(state, concat([remaining, rows])), panes


def _settled(state: State, table: Table) -> State:
    """The state after a step: each key's output watermark, held back by its windows."""
    held = np.full(len(state.output_watermark), state.watermark, np.int64)
    # Where the watermark has not come to a hold, nothing is held back. So mostly few are.
    holds = (table.hold != NOTHING) & (table.hold < state.watermark)
    np.minimum.at(held, table.key[holds], table.hold[holds])
    output = np.maximum(state.output_watermark, held)
    return State(state.watermark, state.clock, output, table)

"""The rules of one grouping, as all parts of a step need them, and the timers that follow."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import (
    NEVER,
    NOTHING,
    Ints,
    Lists,
    PickedRows,
    later,
    nothing,
    order_of,
    starts_of_runs,
)
from beamlike.machine.columnar.assign import check_assignable
from beamlike.machine.columnar.columns import NO_PANE, State, Table, UnretractedPanes
from beamlike.machine.columnar.composites import columns_of_trigger
from beamlike.machine.columnar.folds.base import Fold
from beamlike.machine.columnar.folds.corrected import shown
from beamlike.machine.columnar.leaves import ColumnsNow, Nodes
from beamlike.machine.columnar.sweep import Sweep
from beamlike.model.options import AccumulationMode
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.trigger_analysis import minds_stale_processing_timers

LONGEST: Final = 2**62
"""Durations of this length (ticks) or more are refused: with an instant added they may exceed 64
bits."""


class ColumnRules:
    """A strategy and how it runs over columns.

    ``sweep`` is None unless windows merge, and ``retained_for`` is how long expired windows are
    kept (ticks). ``shown`` are the folds whose values are in a pane. These are all folds, except
    where ``corrects`` is set, because elements may withdraw earlier ones: then the last fold, which
    counts the elements that are left, is not shown.

    Raises:
        UnsupportedError: Only the reference machine can do this.
    """

    def __init__(self, strategy: WindowingStrategy, folds: Sequence[Fold]) -> None:
        window_fn = strategy.window_fn
        check_assignable(window_fn)
        _check_durations(strategy)
        self.strategy = strategy
        self.folds = tuple(folds)
        self.shown = tuple(shown(self.folds))
        self.corrects = len(self.shown) < len(self.folds)
        # Windows that merged before keep the trigger of merging ones, see `Grouping`.
        self.trigger = columns_of_trigger(strategy.trigger, window_fn.is_merging)
        sessions = window_fn if strategy.is_merging and isinstance(window_fn, Sessions) else None
        self.sweep = Sweep(sessions) if sessions else None
        self.retained_for = strategy.retained_for
        self.judges_after_merging = strategy.judges_after_merging
        self.retracts = strategy.accumulation is AccumulationMode.RETRACTING
        self.keeps_processing_timers = minds_stale_processing_timers(strategy.trigger)
        self.needs_sizes = sessions is not None and sessions.needs_sizes

    def start(self, keys: int, watermark: int, clock: int) -> State:
        """So many keys without elements so far."""
        return State(watermark, clock, np.full(keys, watermark, np.int64), self._new_windows(0))

    @cached_property
    def new_window(self) -> Table:
        """One window without elements. Its key and bounds mean nothing: the caller sets them."""
        return self._new_windows(1)

    def _new_windows(self, count: int) -> Table:
        zeros = np.zeros(count, np.int64)
        unretracted = None
        if self.retracts:
            panes = PickedRows.all_of(UnretractedPanes.none(self.folds))
            unretracted = Lists.empty(count, panes)
        return Table(
            *(zeros, zeros, zeros, self.trigger.start(count)),
            tuple(fold.create(count) for fold in self.folds),
            new_elements=zeros,
            hold=nothing(count),
            end_timer_set=np.zeros(count, np.bool_),
            timing=np.full(count, NO_PANE, np.int64),
            index=nothing(count),
            nonspeculative=nothing(count),
            unretracted_panes=unretracted,
            processing_timers=Lists.empty(count, zeros[:0])
            if self.keeps_processing_timers
            else None,
            size=zeros if self.needs_sizes else None,
        )

    def expiry(self, end: Ints) -> Ints:
        """The last watermark at which data is accepted for windows that end there."""
        strategy = self.strategy
        return later(end - 1, strategy.allowed_lateness, strategy.end_of_global_window)

    def forgotten(self, end: Ints) -> Ints:
        """The last watermark at which windows that end there are kept, see
        `WindowingStrategy.forgotten`."""
        kept_for = self.strategy.allowed_lateness + self.retained_for
        return later(end - 1, kept_for, self.strategy.end_of_global_window)

    def trigger_context(self, state: State, rows: Table) -> ColumnsNow:
        """What a trigger may use to decide on these windows."""
        return ColumnsNow(state.watermark > rows.last, state.clock)

    def targets(self, trigger: Nodes) -> list[Ints]:
        """The processing times that triggers wait for, a column for each node that does."""
        return [
            nodes.value
            for nodes, node in zip(trigger.walk(), self.trigger.walk(), strict=True)
            if nodes.value is not None and node.is_timed
        ]

    def processing_timers(self, clock: int, pending: Lists | None, trigger: Nodes) -> Lists | None:
        """The processing-time timers of windows after a bundle or a firing; None: none are kept."""
        if pending is None:
            return None
        owner, times = [pending.owner], [pending.items]
        for target in self.targets(trigger):
            waits = np.nonzero(target >= clock)[0]
            owner.append(waits)
            times.append(target[waits])
        owners, instants = np.concatenate(owner), np.concatenate(times)
        order = order_of(owners, instants)
        owners, instants = owners[order], instants[order]
        new = starts_of_runs(owners, instants)
        return Lists(np.bincount(owners[new], minlength=len(pending)), instants[new])

    def next_timers(self, state: State) -> tuple[Ints, Ints]:
        """For each window, the event time and the processing time that have to be passed before
        anything changes; `NEVER` if none will."""
        table = state.table
        event = self.expiry(table.end)
        if self.retained_for:
            event = np.where(event < state.watermark, self.forgotten(table.end), event)
        event = np.where(table.end_timer_set, np.minimum(event, table.last), event)
        timer = np.full(len(table), NEVER, np.int64)
        if table.processing_timers is not None:
            waits = table.processing_timers.lengths > 0
            if waits.any():
                timer[waits] = np.minimum.reduceat(
                    table.processing_timers.items, table.processing_timers.first[waits]
                )
            return event, timer
        for target in self.targets(table.trigger):
            waits = (target != NOTHING) & (target >= state.clock)
            timer = np.where(waits, np.minimum(timer, target), timer)
        return event, timer


def _check_durations(strategy: WindowingStrategy) -> None:
    """Refuse what 64 bits cannot add to an instant; the reference machine has longer numbers."""
    parts: list[Any] = [strategy.window_fn, *strategy.trigger.walk()]
    parts = [part for part in parts if attrs.has(type(part))]
    fields = (
        (part, getattr(part, field.name)) for part in parts for field in attrs.fields(type(part))
    )
    durations = [(part, value) for part, value in fields if isinstance(value, int)]
    for whose, duration in (("allowed_lateness", strategy.allowed_lateness), *durations):
        if abs(duration) >= LONGEST:
            raise UnsupportedError(
                f"{strategy.resolution.show_duration(duration)} of {whose} are more than 64 bits "
                "can add up"
            )

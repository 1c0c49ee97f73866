"""Merges the state of windows."""

from typing import assert_never

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import NOTHING, Ints, Lists, least, take
from beamlike.machine.columnar.columns import State, Table
from beamlike.machine.columnar.leaves import Parts
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.model.options import TimestampCombiner


def merged(rules: ColumnRules, state: State, into: Table, parts: Lists) -> Table:
    """Windows with the merged state of their parts.

    Args:
        into: The windows as they were before; new ones are without elements.
        parts: The live parts of each, as rows of the state's table in order of start; not empty.
    """
    table, rows, first = state.table, parts.items, parts.first
    now = rules.trigger_context(state, into)
    nodes = Parts(take(table.trigger, rows), first)
    trigger = rules.trigger.on_merge(into.trigger, nodes, now)
    accumulators = take(table.accumulators, rows)
    unretracted_panes, size = into.unretracted_panes, into.size
    if table.unretracted_panes is not None:
        unretracted_panes = table.unretracted_panes.take(rows).merged(first)
    if table.size is not None:
        size = np.add.reduceat(table.size[rows], first)
    return attrs.evolve(
        into,
        trigger=trigger,
        accumulators=tuple(
            fold.merged(held, first) for fold, held in zip(rules.folds, accumulators, strict=True)
        ),
        new_elements=np.add.reduceat(table.new_elements[rows], first),
        hold=_merged_hold(rules, state, into, table.hold[rows], first),
        end_timer_set=into.end_timer_set
        | (~now.end_reached & rules.trigger.needs_end_of_window_timer(trigger)),
        # The history of panes belongs to a window's bounds: a session with new bounds has none.
        unretracted_panes=unretracted_panes,
        processing_timers=rules.processing_timers(state.clock, into.processing_timers, trigger),
        size=size,
    )


def _merged_hold(rules: ColumnRules, state: State, into: Table, held: Ints, first: Ints) -> Ints:
    match rules.strategy.timestamp_combiner:
        case TimestampCombiner.END_OF_WINDOW:
            return np.where(state.watermark > into.last, NOTHING, into.last)
        case TimestampCombiner.LATEST:
            return np.maximum.reduceat(held, first)
        case TimestampCombiner.EARLIEST:
            return least(held, first)
        case unknown:
            assert_never(unknown)

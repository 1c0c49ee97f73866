"""The timers of windows that are due next: the reference machine's `next_timers`, in columns."""

import numpy as np

from beamlike.machine.columnar.arrays import NEVER, NOTHING, Ints
from beamlike.machine.columnar.columns import State
from beamlike.machine.columnar.rules import Rules


def next_timers(rules: Rules, state: State) -> tuple[Ints, Ints]:
    """For each window, the event time and the processing time (ms) that have to be passed before
    anything changes; `NEVER` if none will."""
    table = state.table
    event = rules.expiry(table.end)
    if rules.retained_for:
        event = np.where(event < state.watermark, rules.forgotten(table.end), event)
    event = np.where(table.end_timer_set, np.minimum(event, table.last), event)
    timer = np.full(len(table), NEVER, np.int64)
    if table.processing_timers is not None:
        waits = table.processing_timers.lengths > 0
        if waits.any():
            timer[waits] = np.minimum.reduceat(
                table.processing_timers.items, table.processing_timers.first[waits]
            )
        return event, timer
    for target in rules.targets(table.trigger):
        waits = (target != NOTHING) & (target >= state.clock)
        timer = np.where(waits, np.minimum(timer, target), timer)
    return event, timer

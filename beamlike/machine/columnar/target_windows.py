"""Where the elements of a bundle go: the windows of their keys, as they are after merging."""

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import Bools, Ints, Lists, keep
from beamlike.machine.columnar.columns import Drops, State
from beamlike.machine.columnar.incoming import Incoming
from beamlike.machine.columnar.late import split_expired_after_merging
from beamlike.machine.columnar.order import order_of, order_of_windows, starts_of_runs
from beamlike.machine.columnar.rules import Rules
from beamlike.machine.columnar.sweep import Runs, Sweep


@attrs.frozen(eq=False)
class TargetWindows:
    """Windows that a bundle concerns, each once, by key, start and end.

    ``parts`` are the rows of the table that become this window, in order of start and end, and
    ``merges`` says that they do so by merging. ``arrivals`` are the rows of `Incoming` that go
    there, in order of arrival.
    """

    key: Ints
    start: Ints
    end: Ints
    merges: Bools
    parts: Lists
    arrivals: Lists

    def __len__(self) -> int:
        return len(self.key)


def find_target_windows(
    rules: Rules, state: State, incoming: Incoming
) -> tuple[TargetWindows, Incoming, list[Drops]]:
    """The windows that elements go to, the elements that get there, and the drops of the others."""
    table = state.table
    gets = np.zeros(len(state.output_watermark), np.bool_)
    gets[incoming.key] = True
    concerned = gets[table.key]
    if rules.sweep is not None:
        # A closed session never merges: new data opens one beside it.
        concerned &= ~table.closed
    rows = np.nonzero(concerned)[0]
    count = len(rows)
    key = np.concatenate([table.key[rows], incoming.key])
    start = np.concatenate([table.start[rows], incoming.start])
    end = np.concatenate([table.end[rows], incoming.end])
    runs = _runs(rules, state, rows, incoming, key, start, end)
    of_each = np.empty(len(key), np.int64)
    of_each[runs.order] = runs.run
    home = of_each[count:]
    incoming, home, drops = split_expired_after_merging(rules, state, incoming, home, runs.end)
    is_part, merges = runs.order < count, runs.merges
    if incoming.merged is not None:
        # What has merged to the bounds of a live window beforehand, merges with it.
        merges = merges | (np.bincount(home[incoming.merged], minlength=len(runs.key)) > 0)
    expired = merges & (state.watermark > rules.expiry(runs.end))
    if expired.any():
        # A window that is past its expiry takes nothing in, and what arrived for it is late.
        is_own = (start == runs.start[of_each]) & (end == runs.end[of_each])
        is_part &= ~expired[runs.run] | is_own[runs.order]
        merges = merges & ~expired
    in_run = runs.run[is_part]
    parts = Lists(np.bincount(in_run, minlength=len(runs.key)), rows[runs.order[is_part]])
    arrivals = Lists(np.bincount(home, minlength=len(runs.key)), order_of(home))
    merges = merges & (parts.lengths > 0)
    targets = TargetWindows(runs.key, runs.start, runs.end, merges, parts, arrivals)
    return keep(targets, merges | (arrivals.lengths > 0)), incoming, drops


def sizes_of(sweep: Sweep, incoming: Incoming) -> Ints:
    """What the elements count for in the sizes of windows."""
    each = sweep.sizes(incoming.start, incoming.end)
    return each if incoming.count is None else each * incoming.count


def _runs(
    rules: Rules, state: State, rows: Ints, incoming: Incoming, key: Ints, start: Ints, end: Ints
) -> Runs:
    """The windows of the table's rows, and after them the incoming ones, as far as they merge."""
    if rules.sweep is None:
        order = order_of_windows(key, start, end)
        key, start, end = key[order], start[order], end[order]
        return Runs.cut(order, starts_of_runs(key, start, end), key, start, end)
    size = None
    if state.table.size is not None:
        size = np.concatenate([state.table.size[rows], sizes_of(rules.sweep, incoming)])
    return rules.sweep.runs(key, start, end, size)

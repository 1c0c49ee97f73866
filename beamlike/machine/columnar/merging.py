"""Sessions that merge, for all keys at once: a sweep over windows sorted by start."""

from collections.abc import Sequence

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    concat,
    keep,
    nothing,
    put,
    take,
)
from beamlike.machine.columnar.columns import State
from beamlike.machine.columnar.folds import Fold
from beamlike.machine.columnar.nodes import Moment, Parts, Trigger, least
from beamlike.machine.columnar.table import Table
from beamlike.model.strategy import TimestampCombiner, WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW

__all__ = ["expiry", "merge_windows", "nearly_joined", "starts_of_runs"]


def starts_of_runs(*columns: Ints) -> Bools:
    """Where a row differs from the one before it in any column; the first row does."""
    new = np.ones(len(columns[0]), np.bool_)
    if len(new):
        new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return new


@attrs.frozen(eq=False)
class _Sweep:
    """Windows that overlap, run by run.

    ``run`` says for each window, in the order given, which run it belongs to; ``start`` and
    ``end`` are the span of each run, and ``key`` its key.
    """

    run: Ints
    key: Ints
    start: Ints
    end: Ints


def _sweep(key: Ints, start: Ints, end: Ints) -> _Sweep:
    """Join the windows of each key that overlap, more than touching, into their spans."""
    order = np.lexsort((end, start, key))
    key, start, end = key[order], start[order], end[order]
    new_key = starts_of_runs(key)
    # The running maximum of the ends within a key: as ranks, so that those of a later key are
    # all greater and one pass over everything does it.
    by_end = np.lexsort((end, key))
    rank = np.empty(len(key), np.int64)
    rank[by_end] = np.arange(len(key))
    reach = end[by_end][np.maximum.accumulate(rank)] if len(key) else end
    opens = new_key.copy()
    opens[1:] |= start[1:] >= reach[:-1]
    first = np.nonzero(opens)[0]
    run = np.empty(len(key), np.int64)
    run[order] = np.cumsum(opens) - 1
    last = np.append(first[1:], len(key)) - 1
    return _Sweep(run, key[first], start[first], reach[last])


def _among(key: Ints, start: Ints, end: Ints, keys: Ints, starts: Ints, ends: Ints) -> Bools:
    """Which of the first windows are among the second, which are all different."""
    all_key, all_start = np.concatenate([keys, key]), np.concatenate([starts, start])
    all_end = np.concatenate([ends, end])
    order = np.lexsort((all_end, all_start, all_key))  # stable: the second come first
    new = starts_of_runs(all_key[order], all_start[order], all_end[order])
    there = np.empty(len(all_key), np.int64)
    there[order] = order[np.nonzero(new)[0]][np.cumsum(new) - 1]
    return there[len(keys) :] < len(keys)


def nearly_joined(live: Table, key: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """What each window would become if it alone merged with the live ones; else `NOTHING`.

    Live sessions of a key do not overlap each other, so those that a window overlaps lie next to
    each other, and their span with it overlaps no more.
    """
    order = np.lexsort((live.start, live.key))
    starts, ends, keys = live.start[order], live.end[order], live.key[order]
    first = _count_before(keys, ends, key, start, ties=True)
    beyond = _count_before(keys, starts, key, end, ties=False)
    joins = beyond > first
    into_start, into_end = nothing(len(key)), nothing(len(key))
    into_start[joins] = np.minimum(start[joins], starts[first[joins]])
    into_end[joins] = np.maximum(end[joins], ends[beyond[joins] - 1])
    return into_start, into_end


def _count_before(keys: Ints, known: Ints, key: Ints, asked: Ints, *, ties: bool) -> Ints:
    """How many known instants come before each one asked for, by key; equal ones if ``ties``."""
    tag = np.concatenate([np.full(len(keys), not ties), np.full(len(key), ties)])
    order = np.lexsort((tag, np.concatenate([known, asked]), np.concatenate([keys, key])))
    before = np.cumsum(order < len(keys))
    counts = np.empty(len(order), np.int64)
    counts[order] = before
    return counts[len(keys) :]


def expiry(strategy: WindowingStrategy, end: Ints) -> Ints:
    """The last watermark (ms) at which data is accepted for windows that end there."""
    return np.minimum(end - 1 + strategy.allowed_lateness, END_OF_GLOBAL_WINDOW)


def merge_windows(
    strategy: WindowingStrategy,
    trigger: Trigger,
    folds: Sequence[Fold],
    state: State,
    key: Ints,
    start: Ints,
    end: Ints,
) -> tuple[Table, Ints, Ints]:
    """Merge live windows and arriving ones, which are given by key, start and end.

    Returns:
        The table afterwards, and start and end of the window that each arriving one went to.
    """
    table = state.table
    live = np.nonzero(~table.closed)[0]
    count = len(live)
    runs = _sweep(
        np.concatenate([table.key[live], key]),
        np.concatenate([table.start[live], start]),
        np.concatenate([table.end[live], end]),
    )
    home, parts_of = runs.run[count:], runs.run[:count]
    parts = np.bincount(parts_of, minlength=len(runs.start))
    # A run of one live window and what equals it needs no merging.
    differs = np.zeros(len(runs.start), np.bool_)
    for run, from_start, to_end in (
        (home, start, end),
        (parts_of, table.start[live], table.end[live]),
    ):
        differs[run[(from_start != runs.start[run]) | (to_end != runs.end[run])]] = True
    merges = differs & (parts > 0)
    # A window that is past its expiry takes nothing in.
    merges &= state.watermark <= expiry(strategy, runs.end)
    if merges.any():
        chosen = merges[parts_of]
        table = _fold(strategy, trigger, folds, state, live[chosen], parts_of[chosen], runs)
    return table, runs.start[home], runs.end[home]


def _fold(
    strategy: WindowingStrategy,
    trigger: Trigger,
    folds: Sequence[Fold],
    state: State,
    rows: Ints,
    run: Ints,
    runs: _Sweep,
) -> Table:
    """The table with the rows of each run in one."""
    table = state.table
    order = np.argsort(run, kind="stable")
    rows, run = rows[order], run[order]
    first = np.nonzero(starts_of_runs(run))[0]
    into = run[first]
    key, start, end = runs.key[into], runs.start[into], runs.end[into]
    parts = take(table, rows)
    is_own = (parts.start == runs.start[run]) & (parts.end == runs.end[run])
    result = Table.of_new_windows(key, start, end, trigger, folds)
    number = np.repeat(np.arange(len(into)), np.diff(np.append(first, len(run))))
    result = put(result, number[is_own], keep(parts, is_own))
    now = Moment(state.watermark > result.last, state.clock)
    nodes = trigger.on_merge(result.trigger, Parts(parts.trigger, first), now)
    merged = attrs.evolve(
        result,
        trigger=nodes,
        accumulators=tuple(
            fold.merged(held, first) for fold, held in zip(folds, parts.accumulators, strict=True)
        ),
        fresh=np.add.reduceat(parts.fresh, first),
        hold=_merged_hold(strategy, state, result, parts, first),
        awaits_end=result.awaits_end | (~now.end_reached & trigger.hears_end(nodes)),
        # History belongs to a window's bounds: a session that outgrew them starts anew.
    )
    stays = np.ones(len(table), np.bool_)
    stays[rows] = False
    rest = keep(table, stays)
    # A closed window with exactly these bounds makes way: what lives is never lost.
    taken = _among(rest.key, rest.start, rest.end, key, start, end)
    return concat([keep(rest, ~taken), merged])


def _merged_hold(
    strategy: WindowingStrategy, state: State, into: Table, parts: Table, first: Ints
) -> Ints:
    if strategy.timestamp_combiner is TimestampCombiner.END_OF_WINDOW:
        return np.where(state.watermark > into.last, NOTHING, into.last)
    if strategy.timestamp_combiner is TimestampCombiner.LATEST:
        return np.maximum.reduceat(parts.hold, first)
    return least(parts.hold, first)

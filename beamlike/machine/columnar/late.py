"""What makes an element late, and which session it nearly joined."""

from typing import assert_never

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import (
    NEVER,
    NOTHING,
    Ints,
    WindowRows,
    among,
    count_before,
    keep,
    later,
    nothing,
)
from beamlike.machine.columnar.assign import Incoming
from beamlike.machine.columnar.columns import Drops, State, Table
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.machine.columnar.sweep import Sweep
from beamlike.model.options import LateCheck


def missed_by(watermark: int, deadline: Ints) -> Ints:
    """How far the watermark is past each deadline (ticks); 0 or less where it is not past it."""
    # In 64 bits a difference between the ends of time would have the other sign.
    furthest = max(watermark - NEVER, NOTHING)
    return watermark - np.clip(deadline, furthest, watermark)


def split_expired(
    rules: ColumnRules, state: State, incoming: Incoming
) -> tuple[Incoming, list[Drops]]:
    """The elements that go on to be merged, and the drops of those that are late before merging."""
    missed = missed_by(state.watermark, _deadline(rules, incoming))
    if incoming.judged is not None:
        missed[incoming.judged] = 0
    late = missed > 0
    if not late.any():
        return incoming, []
    gone, missed = keep(incoming, late), missed[late]
    nearest_session = nothing(len(gone)), nothing(len(gone))
    if rules.sweep is not None:
        nearest_session = _nearest_sessions(rules, state, gone)
    return keep(incoming, ~late), [Drops(gone.row, gone.start, gone.end, missed, *nearest_session)]


def _deadline(rules: ColumnRules, incoming: Incoming) -> Ints:
    """The last watermark at which an element may still be merged."""
    strategy = rules.strategy
    match strategy.late_check:
        case LateCheck.ELEMENT:
            last = strategy.end_of_global_window
            by_element = later(incoming.timestamps, strategy.allowed_lateness, last)
            return np.minimum(by_element, rules.expiry(incoming.end))
        case LateCheck.MERGED:
            # Only the merged window decides.
            return np.full(len(incoming), strategy.resolution.end_of_time)
        case LateCheck.ASSIGNED | LateCheck.RETAIN:
            return rules.expiry(incoming.end)
        case unknown:
            assert_never(unknown)


def split_expired_after_merging(
    rules: ColumnRules, state: State, incoming: Incoming, target_row: Ints, target_end: Ints
) -> tuple[Incoming, Ints, list[Drops]]:
    """Where merged windows decide: the elements whose merged window has not expired, the rows of
    these windows, and the drops of the others. ``target_end`` has the ends of merged windows, by
    row."""
    if not rules.judges_after_merging:
        return incoming, target_row, []
    missed = missed_by(state.watermark, rules.expiry(target_end[target_row]))
    late = missed > 0
    if not late.any():
        return incoming, target_row, []
    gone = keep(incoming, late)
    drops = Drops.near_nothing(gone.row, gone.start, gone.end, missed[late])
    return keep(incoming, ~late), target_row[~late], [drops]


def _nearest_sessions(rules: ColumnRules, state: State, late: Incoming) -> tuple[Ints, Ints]:
    """For each late element the bounds of the live session that would have taken it in, as it would
    be after merging; `NOTHING` if there is none, or if that session has expired."""
    live = keep(_Live.of(state.table), ~state.table.closed)
    assert rules.sweep is not None, "only windows that merge nearly join others"
    joined = _joined_in_turn if rules.sweep.is_bounded else _joined
    start, end = joined(rules.sweep, live, late)
    # An expired session that is retained would not have taken it in either.
    gone = (start == NOTHING) | (state.watermark > rules.expiry(end))
    return np.where(gone, NOTHING, start), np.where(gone, NOTHING, end)


@attrs.frozen(eq=False)
class _Live(WindowRows):
    size: Ints | None

    @classmethod
    def of(cls, table: Table) -> "_Live":
        return cls(table.key, table.start, table.end, table.size)


def _joined(sweep: Sweep, live: _Live, late: Incoming) -> tuple[Ints, Ints]:
    """`_nearest_sessions` for sessions without bounds. Live windows of a key do not touch. So those
    that a late window would merge with are neighbours, and the result is their common span."""
    touching = sweep.merges_touching
    order = np.lexsort((live.start, live.key))
    live = attrs.evolve(live, key=live.key[order], start=live.start[order], end=live.end[order])
    first = count_before(live.key, live.end, late.key, late.start, ties=not touching)
    beyond = count_before(live.key, live.start, late.key, late.end, ties=touching)
    joins = beyond > first
    start, end = nothing(len(late)), nothing(len(late))
    start[joins] = np.minimum(late.start[joins], live.start[first[joins]])
    end[joins] = np.maximum(late.end[joins], live.end[beyond[joins] - 1])
    return start, end


def _joined_in_turn(sweep: Sweep, live: _Live, late: Incoming) -> tuple[Ints, Ints]:
    """`_nearest_sessions` for bounded sessions, which may overlap and stay apart: each late window
    is merged on trial with all live windows of its key."""
    order = np.argsort(live.key, kind="stable")
    first = np.searchsorted(live.key[order], late.key)
    counts = np.searchsorted(live.key[order], late.key, side="right") - first
    trial = np.repeat(np.arange(len(late)), counts)
    row = order[np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(len(trial))]
    size = None
    if live.size is not None:
        sizes = sweep.sizes(late.start, late.end)
        size = np.concatenate([live.size[row], sizes])
    runs = sweep.runs(
        np.concatenate([trial, np.arange(len(late))]),
        np.concatenate([live.start[row], late.start]),
        np.concatenate([live.end[row], late.end]),
        size,
    )
    run = np.empty(len(runs.run), np.int64)
    run[runs.order] = runs.run
    target_run = run[len(trial) :]
    merges = runs.merges[target_run]
    start = np.where(merges, runs.start[target_run], NOTHING)
    end = np.where(merges, runs.end[target_run], NOTHING)
    lives = among(late, live) >= 0
    return np.where(lives, late.start, start), np.where(lives, late.end, end)

"""Adds the elements of a bundle to the windows of their keys, as these are after merging."""

import attrs
import numpy as np

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    Lists,
    WindowRows,
    among,
    concat,
    keep,
    least,
    order_of,
    order_of_windows,
    put,
    starts_of_runs,
    take,
)
from beamlike.machine.columnar.assign import ArrivingBundle, Incoming
from beamlike.machine.columnar.columns import Drops, Merges, State, Table
from beamlike.machine.columnar.late import split_expired_after_merging
from beamlike.machine.columnar.merging import merged
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.machine.columnar.sweep import Runs, Sweep
from beamlike.model.options import TimestampCombiner


@attrs.frozen(eq=False)
class TargetWindows(WindowRows):
    """Windows that a bundle concerns, each once, by key, start and end.

    ``parts`` are the rows of the table that become this window, in order of start and end, and
    ``merges`` says whether they merge. ``arrivals`` are the rows of `Incoming` that go to this
    window, in order of arrival.
    """

    merges: Bools
    parts: Lists
    arrivals: Lists


def find_target_windows(
    rules: ColumnRules, state: State, incoming: Incoming
) -> tuple[TargetWindows, Incoming, list[Drops]]:
    """The windows that elements go to, the elements that are accepted, and the drops of others."""
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
    target_row = of_each[count:]
    incoming, target_row, drops = split_expired_after_merging(
        rules, state, incoming, target_row, runs.end
    )
    is_part, merges = runs.order < count, runs.merges
    if incoming.merged is not None:
        # Elements that merged before to the bounds of a live window merge with that window.
        merges = merges | (np.bincount(target_row[incoming.merged], minlength=len(runs.key)) > 0)
    expired = merges & (state.watermark > rules.expiry(runs.end))
    if expired.any():
        # A window past its expiry takes nothing in, and elements that arrive for it are late.
        is_own = (start == runs.start[of_each]) & (end == runs.end[of_each])
        is_part &= ~expired[runs.run] | is_own[runs.order]
        merges = merges & ~expired
    in_run = runs.run[is_part]
    parts = Lists(np.bincount(in_run, minlength=len(runs.key)), rows[runs.order[is_part]])
    arrivals = Lists(np.bincount(target_row, minlength=len(runs.key)), order_of(target_row))
    merges = merges & (parts.lengths > 0)
    targets = TargetWindows(runs.key, runs.start, runs.end, merges, parts, arrivals)
    return keep(targets, merges | (arrivals.lengths > 0)), incoming, drops


def sizes_of(sweep: Sweep, incoming: Incoming) -> Ints:
    """What each row of elements adds to the size of its window."""
    sizes = sweep.sizes(incoming.start, incoming.end)
    return sizes if incoming.count is None else sizes * incoming.count


def _runs(
    rules: ColumnRules,
    state: State,
    rows: Ints,
    incoming: Incoming,
    key: Ints,
    start: Ints,
    end: Ints,
) -> Runs:
    """The runs of the windows of some rows of the table and of the incoming ones after them."""
    if rules.sweep is None:
        order = order_of_windows(key, start, end)
        key, start, end = key[order], start[order], end[order]
        return Runs.cut(order, starts_of_runs(key, start, end), key, start, end)
    size = None
    if state.table.size is not None:
        size = np.concatenate([state.table.size[rows], sizes_of(rules.sweep, incoming)])
    return rules.sweep.runs(key, start, end, size)


@attrs.frozen(eq=False)
class BundleResult:
    """The windows after a bundle was added, before any of them fires.

    ``rows`` are the windows that got elements or were merged; those without elements come last.
    ``arrived`` has for each the place of its first element in the bundle. ``untouched`` are all
    other windows. ``merges`` are the merges of live windows.
    """

    untouched: Table
    rows: Table
    arrived: Ints
    merges: Merges


def apply_bundle(
    rules: ColumnRules,
    state: State,
    bundle: ArrivingBundle,
    incoming: Incoming,
    targets: TargetWindows,
) -> tuple[BundleResult, list[Drops]]:
    """Merge windows, add the elements to them, and drop those whose window is closed."""
    table = state.table
    stays = np.ones(len(table), np.bool_)
    drops: list[Drops] = []
    if table.closed.any():
        is_closed, replaced_rows = _closed(rules, table, targets)
        stays[replaced_rows] = False
        if is_closed.any():
            gone = keep(targets, is_closed)
            of = gone.arrivals.owner
            row = incoming.row[gone.arrivals.items]
            drops.append(Drops.near_nothing(row, gone.start[of], gone.end[of]))
            targets = keep(targets, ~is_closed)
    stays[targets.parts.items] = False
    untouched, rows = keep(table, stays), _merged(rules, state, targets)
    merges = _merges(table, keep(targets, targets.parts.lengths > 1))
    gets = targets.arrivals.lengths > 0
    arrivals = keep(targets.arrivals, gets)
    arrived = incoming.row[arrivals.items[arrivals.first]]
    if gets.all():
        added = _added(rules, state, rows, bundle, incoming, arrivals)
        return BundleResult(untouched, added, arrived, merges), drops
    # Sessions that may stay apart may merge where another one closed between them.
    alone = keep(rows, ~gets)
    added = _added(rules, state, keep(rows, gets), bundle, incoming, arrivals)
    after = np.arange(len(alone)) + arrived.max(initial=0) + 1
    return BundleResult(
        untouched, concat([added, alone]), np.concatenate([arrived, after]), merges
    ), drops


def _closed(rules: ColumnRules, table: Table, targets: TargetWindows) -> tuple[Bools, Ints]:
    """Which target windows are closed, and the closed rows that are replaced by live windows."""
    lives = targets.parts.lengths > 0
    if rules.sweep is None:
        is_closed = np.zeros(len(targets), np.bool_)
        is_closed[lives] = table.closed[targets.parts.items]
        return is_closed, np.zeros(0, np.int64)
    rows = np.nonzero(table.closed)[0]
    place = among(targets, WindowRows(table.key[rows], table.start[rows], table.end[rows]))
    is_known = place >= 0
    return is_known & ~lives, rows[place[is_known & lives]]


def _merges(table: Table, targets: TargetWindows) -> Merges:
    """The merges of live windows; each target is made of several."""
    parts = targets.parts
    start, end = table.start[parts.items], table.end[parts.items]
    return Merges(targets.key, targets.start, targets.end, parts.lengths, start, end)


def _merged(rules: ColumnRules, state: State, targets: TargetWindows) -> Table:
    """The target windows with the state of the windows that they are made of."""
    table, parts = state.table, targets.parts
    of = parts.owner
    is_into = (table.start[parts.items] == targets.start[of]) & (
        table.end[parts.items] == targets.end[of]
    )
    places = np.full(len(targets), len(table), np.int64)
    places[of[is_into]] = parts.items[is_into]
    before = take(concat([table, rules.new_window]), places)
    rows = attrs.evolve(before, key=targets.key, start=targets.start, end=targets.end)
    merge = np.nonzero(targets.merges)[0]
    if not len(merge):
        return rows
    if len(merge) == len(rows):
        return merged(rules, state, rows, parts)
    return put(rows, merge, merged(rules, state, take(rows, merge), parts.take(merge)))


def _added(
    rules: ColumnRules,
    state: State,
    rows: Table,
    bundle: ArrivingBundle,
    incoming: Incoming,
    arrivals: Lists,
) -> Table:
    first, counts = arrivals.first, arrivals.lengths
    if incoming.count is not None and len(counts):
        counts = np.add.reduceat(incoming.count[arrivals.items], first)
    now = rules.trigger_context(state, rows)
    needs_end_of_window_timer = ~now.end_reached & rules.trigger.needs_end_of_window_timer(
        rows.trigger
    )
    everywhere = np.ones(len(rows), np.bool_)
    trigger = rules.trigger.on_elements(rows.trigger, counts, everywhere, now)
    row = incoming.row[arrivals.items]
    return attrs.evolve(
        rows,
        trigger=trigger,
        accumulators=bundle.added(rules.folds, rows.accumulators, row, first),
        new_elements=rows.new_elements + counts,
        hold=_hold(rules, state, rows, incoming, arrivals),
        end_timer_set=rows.end_timer_set | needs_end_of_window_timer,
        processing_timers=rules.processing_timers(state.clock, rows.processing_timers, trigger),
        size=_sizes(rules, rows, incoming, arrivals),
    )


def _sizes(rules: ColumnRules, rows: Table, incoming: Incoming, arrivals: Lists) -> Ints | None:
    if rows.size is None or rules.sweep is None or not len(rows):
        return rows.size
    sizes = sizes_of(rules.sweep, incoming)[arrivals.items]
    return rows.size + np.add.reduceat(sizes, arrivals.first)


def _hold(
    rules: ColumnRules, state: State, rows: Table, incoming: Incoming, arrivals: Lists
) -> Ints:
    """The holds of windows after new elements, so that their panes are on time.

    An element that is behind the output watermark, or whose window the watermark has passed, is too
    late to hold anything.
    """
    over, held = state.watermark > rows.last, rows.hold
    combiner = rules.strategy.timestamp_combiner
    if combiner is TimestampCombiner.END_OF_WINDOW:
        return np.where(over, held, rows.last)
    timestamps, first = incoming.timestamps[arrivals.items], arrivals.first
    behind = timestamps < np.repeat(state.output_watermark[rows.key], arrivals.lengths)
    holds = np.where(behind, NOTHING, timestamps)
    if combiner is TimestampCombiner.EARLIEST:
        new = least(holds, first)
        one_only = (held == NOTHING) | (new == NOTHING)
        hold = np.where(one_only, np.maximum(held, new), np.minimum(held, new))
    else:
        hold = np.maximum(held, np.maximum.reduceat(holds, first))
    return np.where(over, held, hold)

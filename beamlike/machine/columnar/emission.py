"""Windows that fire: the panes, what they withdraw, and what the windows remember afterwards."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import (
    NOTHING,
    Bools,
    Ints,
    Lists,
    PickedRows,
    choose,
    keep,
    nothing,
    put,
    take,
)
from beamlike.machine.columnar.columns import (
    NO_PANE,
    TIMINGS,
    Panes,
    State,
    Table,
    UnretractedPanes,
)
from beamlike.machine.columnar.folds.base import Values
from beamlike.machine.columnar.leaves import Nodes
from beamlike.machine.columnar.rules import ColumnRules
from beamlike.machine.columnar.session_ids import FiringOrder, sessions_of
from beamlike.machine.equality import is_same
from beamlike.model.options import ClosingBehavior, OnTimeBehavior, Unchanged

EARLY, ON_TIME, LATE = range(len(TIMINGS))


def fire(
    rules: ColumnRules, state: State, firing_order: FiringOrder, expires: Bools | None = None
) -> tuple[list[Panes], Table]:
    """Fire the windows whose trigger is ready, and those that expire (``expires``), ready or not.

    Returns the panes, and the windows as they are afterwards, without the forgotten ones.
    """
    rows, forgotten = firing_order.rows, firing_order.forgotten
    fires = rules.trigger.ready(rows.trigger, rules.trigger_context(state, rows))
    if forgotten is not None:
        fires &= ~forgotten
    if expires is not None:
        fires |= expires
    fired_rows = np.nonzero(fires)[0]
    panes: list[Panes] = []
    if len(fired_rows):
        firing = rows if len(fired_rows) == len(rows) else take(rows, fired_rows)
        trigger = rules.trigger.fired(firing.trigger, rules.trigger_context(state, firing))
        is_last = trigger.finished
        if expires is not None:
            trigger = choose(expires[fired_rows], firing.trigger, trigger)
            is_last = trigger.finished | expires[fired_rows]
        panes, firing = _emit(rules, state, firing, is_last, firing_order, fired_rows)
        if forgotten is None or not forgotten[fired_rows].all():
            left = _after_firing(rules, state, firing, trigger, is_last)
            rows = left if len(fired_rows) == len(rows) else put(rows, fired_rows, left)
    return panes, rows if forgotten is None else keep(rows, ~forgotten)


def _after_firing(
    rules: ColumnRules, state: State, rows: Table, trigger: Nodes, is_last: Bools
) -> Table:
    """The windows after they fired. With ``is_last`` they are closed, or expired and retained."""
    count, finished = len(rows), trigger.finished
    if is_last.any():
        trigger = choose(is_last, trigger.cleared(), trigger)
    accumulators, unretracted_panes, processing_timers, size = (
        *(rows.accumulators, rows.unretracted_panes, rows.processing_timers, rows.size),
    )
    keeps = ~finished if rules.strategy.accumulates else np.zeros(count, np.bool_)
    if not keeps.all():
        empty_accumulators = tuple(fold.create(count) for fold in rules.folds)
        accumulators = (
            choose(keeps, accumulators, empty_accumulators) if keeps.any() else empty_accumulators
        )
    if unretracted_panes is not None and rules.sweep is None:
        # Sessions keep their panes: they say that the name of this session is taken.
        unretracted_panes = _emptied(unretracted_panes, finished)
    if processing_timers is not None:
        processing_timers = rules.processing_timers(
            state.clock, _emptied(processing_timers, is_last), trigger
        )
    if size is not None:
        size = np.where(finished, 0, size)
    return attrs.evolve(
        rows,
        trigger=trigger,
        accumulators=accumulators,
        new_elements=np.zeros(count, np.int64),
        hold=nothing(count),
        end_timer_set=rows.end_timer_set & ~is_last,
        timing=np.where(is_last, NO_PANE, rows.timing),
        index=np.where(is_last, NOTHING, rows.index),
        nonspeculative=np.where(is_last, NOTHING, rows.nonspeculative),
        unretracted_panes=unretracted_panes,
        processing_timers=processing_timers,
        size=size,
    )


def _emptied(lists: Lists, mask: Bools) -> Lists:
    """The lists without items where the mask is set."""
    if not mask.any():
        return lists
    return Lists(np.where(mask, 0, lists.lengths), keep(lists.items, ~mask[lists.owner]))


def _emit(
    rules: ColumnRules,
    state: State,
    rows: Table,
    is_last: Bools,
    firing_order: FiringOrder,
    places: Ints,
) -> tuple[list[Panes], Table]:
    """Emit the pane of each window, except where none is wanted. Returns the panes, and the rows
    with their last pane noted. ``places`` are their places among the rows of ``firing_order``."""
    over = state.watermark > rows.last
    moved_on = state.output_watermark[rows.key] > rows.last
    is_new = rows.timing == NO_PANE
    only_early = is_new | (rows.timing == EARLY)
    timing = np.where(moved_on | ~only_early, LATE, np.where(over, ON_TIME, EARLY))
    index = np.where(is_new, 0, rows.index + 1)
    nonspeculative = np.where(is_new, 0, rows.nonspeculative + 1)
    nonspeculative = np.where(timing == EARLY, -1, nonspeculative)
    wanted = rows.new_elements > 0
    if rules.strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS:
        wanted |= timing == ON_TIME
    if rules.strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS:
        wanted |= is_last
    if rules.strategy.unchanged is Unchanged.OMIT:
        wanted &= ~_is_unchanged(rules, rows, wanted)
    is_net_zero = _net_zero(rules, rows)
    if is_net_zero is not None:
        wanted &= ~(is_net_zero & _has_no_panes_to_retract(rows))
    chosen = np.nonzero(wanted)[0]
    if not len(chosen):
        return [], rows
    held = np.where(rows.hold == NOTHING, rows.last, np.minimum(rows.hold, rows.last))
    everything = len(chosen) == len(rows)
    record = held, timing, index, nonspeculative, is_last
    emitted = rows if everything else take(rows, chosen)
    record = record if everything else take(record, chosen)
    panes = Panes(emitted.key, emitted.start, emitted.end, _values(rules, emitted), *record)
    if not everything:
        timing = np.where(wanted, timing, rows.timing)
        index = np.where(wanted, index, rows.index)
        nonspeculative = np.where(wanted, nonspeculative, rows.nonspeculative)
    rows = attrs.evolve(rows, timing=timing, index=index, nonspeculative=nonspeculative)
    if emitted.unretracted_panes is None or rows.unretracted_panes is None:
        return [panes], rows
    stays = np.ones(len(chosen), np.bool_) if is_net_zero is None else ~is_net_zero[chosen]
    panes, left = _withdrawing(
        rules, panes, emitted.unretracted_panes, stays, firing_order, places[chosen]
    )
    unretracted_panes = left if everything else put(rows.unretracted_panes, chosen, left)
    return [panes], attrs.evolve(rows, unretracted_panes=unretracted_panes)


def _values(rules: ColumnRules, rows: Table) -> tuple[Values, ...]:
    pairs = zip(rules.shown, rows.accumulators, strict=not rules.corrects)
    return tuple(fold.extract(accumulators) for fold, accumulators in pairs)


def _net_zero(rules: ColumnRules, rows: Table) -> Bools | None:
    """The windows whose elements were all withdrawn; None if no rows are withdrawn, or panes
    discard: a discarding pane shows a difference, whatever is left."""
    if not rules.corrects or not rules.strategy.accumulates:
        return None
    net: Bools = rules.folds[-1].extract(rows.accumulators[-1]).data == 0
    return net


def _has_no_panes_to_retract(rows: Table) -> Bools:
    """The windows without an emitted pane that a firing would withdraw or replace."""
    unretracted_panes = rows.unretracted_panes
    nothing_out: Bools = (
        rows.timing == NO_PANE if unretracted_panes is None else unretracted_panes.lengths == 0
    )
    return nothing_out


def _withdrawing(
    rules: ColumnRules,
    panes: Panes,
    unretracted_panes: Lists,
    stays: Bools,
    firing_order: FiringOrder,
    places: Ints,
) -> tuple[Panes, Lists]:
    """The retractions and new panes of windows, each pane right after those that it withdraws; and
    for each window the panes that can be withdrawn from now on.

    ``stays`` says which new panes come out: a window without elements left emits only retractions.
    """
    start, end = sessions_of(rules, firing_order, places)
    names = [field.name for field in attrs.fields(UnretractedPanes)]
    columns = {name: getattr(panes, name) for name in names[:-2]}
    record = UnretractedPanes(**columns, session_start=start, session_end=end)
    lists = Lists(stays.astype(np.int64), PickedRows.all_of(keep(record, stays)))
    emitted = unretracted_panes.followed_by(lists)
    out: UnretractedPanes = emitted.items.read()
    retraction = np.ones(len(out), np.bool_)
    retraction[(emitted.first + emitted.lengths - 1)[stays]] = False
    fields = {name: getattr(out, name) for name in names}
    return Panes(key=panes.key[emitted.owner], retraction=retraction, **fields), lists


def _is_unchanged(rules: ColumnRules, rows: Table, wanted: Bools) -> Bools:
    """The windows that would withdraw their only pane and emit an equal one again."""
    assert rows.unretracted_panes is not None, "only panes that can be withdrawn may be left out"
    unchanged = np.zeros(len(rows), np.bool_)
    alone = np.nonzero(wanted & (rows.unretracted_panes.lengths == 1))[0]
    if len(alone):
        single = take(rows, alone)
        assert single.unretracted_panes is not None, "as above"
        before: UnretractedPanes = single.unretracted_panes.items.read()
        unchanged[alone] = (
            (before.start == single.start)
            & (before.end == single.end)
            & same_values(before.values, _values(rules, single), len(alone))
        )
    return unchanged


def same_values(first: Sequence[Values], second: Sequence[Values], count: int) -> Bools:
    """Row by row, whether all columns have the same value. Null is the same as null."""
    same = np.ones(count, np.bool_)
    for left, right in zip(first, second, strict=True):
        equal = _equal(left.data, right.data)
        if left.present is not None and right.present is not None:
            equal = (equal | ~left.present) & (left.present == right.present)
        same &= equal
    return same


def _equal(first: Any, second: Any) -> Bools:
    if isinstance(first, Lists):
        return _equal_lists(first, second)
    if isinstance(first, pa.Array):
        if pa.types.is_nested(first.type):
            return _one_by_one(first.to_pylist(), second.to_pylist())
        both_null = pc.and_(first.is_null(), second.is_null())
        equal = pc.if_else(both_null, True, pc.fill_null(pc.equal(first, second), False))
        if pa.types.is_floating(first.type):
            both_nan = pc.and_(pc.is_nan(first), pc.is_nan(second))
            equal = pc.or_(equal, pc.fill_null(both_nan, False))
        return np.asarray(equal)
    if first.dtype == object:
        return _one_by_one(first, second)
    equal_numbers: Bools = (first == second) | ((first != first) & (second != second))
    return equal_numbers


def _equal_lists(first: Lists, second: Lists) -> Bools:
    same: Bools = first.lengths == second.lengths
    rows = np.nonzero(same & (first.lengths > 0))[0]
    if len(rows):
        left, right = first.take(rows), second.take(rows)
        same[rows] = np.logical_and.reduceat(_equal(left.items, right.items), left.first)
    return same


def _one_by_one(first: Sequence[Any], second: Sequence[Any]) -> Bools:
    pairs = zip(first, second, strict=True)
    return np.fromiter((is_same(a, b) for a, b in pairs), np.bool_, len(first))

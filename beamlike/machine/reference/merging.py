"""Windows that merge: the plan of the window function, carried out on the state."""

from collections.abc import Iterable

from beamlike.machine.assigning import check_bounds
from beamlike.machine.events import Lifted, Merged
from beamlike.machine.failures import FunctionFailure
from beamlike.machine.reference.context import Arrival, Failed, StepContext
from beamlike.machine.reference.running import TriggerFailed
from beamlike.machine.reference.state import WindowState
from beamlike.model.options import TimestampCombiner
from beamlike.model.windowfns import Merge, MergingWindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.safe_text import USER_RAISED, UserRaised


def merge_windows(work: StepContext, arrivals: list[Arrival]) -> dict[Window, Window]:
    """Merge live windows and arriving ones, unless a function `Failed`. Returns for each the window
    that it merged into."""
    window_fn = work.rules.merging_fn
    if window_fn is None or not arrivals:
        return {}
    if len(arrivals) == 1 and not work.windows:
        return {}  # alone: nothing to merge with
    home: dict[Window, Window] = {}
    for merge in _plan(work, window_fn, arrivals):
        # A window past its expiry takes nothing in, and elements that arrive for it are late.
        if work.watermark > work.strategy.expiry(merge.into) or _merge(work, merge, arrivals):
            home |= dict.fromkeys(merge.sources, merge.into)
    if work.lifted:
        _merge_lifted(work, arrivals, home)
    return home


def _merge_lifted(work: StepContext, arrivals: list[Arrival], home: dict[Window, Window]) -> None:
    """Note merges of live windows with elements that were combined to the same bounds before."""
    for window, item in arrivals:
        known = work.windows.get(window)
        if known is None or known.closed or window in home:
            continue
        if isinstance(window, IntervalWindow) and isinstance(item, Lifted) and item.merged:
            home[window] = window
            _merge(work, Merge((window,), window), arrivals)


def _plan(
    work: StepContext, window_fn: MergingWindowFn, arrivals: list[Arrival]
) -> tuple[Merge, ...]:
    try:
        return _merges(work, window_fn, arrivals)
    except USER_RAISED as cause:
        # Live windows were merged before, so an arriving one causes the failure. Each is tried
        # alone with the live ones; if none fails, all arrivals fail together.
        alone = {window: _alone(work, window_fn, window, arrivals) for window, _ in arrivals}
        failures = [
            (arrival, FunctionFailure.of(window_fn, "merge", why, (arrival[1],), arrival[0]))
            for arrival in arrivals
            if (why := alone[arrival[0]]) is not None
        ]
        if not failures:
            together = FunctionFailure.of(window_fn, "merge", cause, [item for _, item in arrivals])
            failures = [(arrival, together) for arrival in arrivals]
        raise Failed(failures) from cause


def _merges(
    work: StepContext, window_fn: MergingWindowFn, arrivals: Iterable[Arrival]
) -> tuple[Merge, ...]:
    live = work.live()
    arriving = [(window, item) for window, item in arrivals if isinstance(window, IntervalWindow)]
    if work.rules.needs_sizes:
        sizes = {window: work.windows[window].size for window in live}
        for window, item in arriving:
            sizes[window] = sizes.get(window, 0) + work.size_of(((window, item),))
        merges = tuple(window_fn.merge_sized(sizes))
    else:
        merges = tuple(window_fn.merge(iter({*live, *(window for window, _ in arriving)})))
    for merge in merges:
        check_bounds(merge.into)
    return merges


def _alone(
    work: StepContext, window_fn: MergingWindowFn, window: Window, arrivals: list[Arrival]
) -> UserRaised | None:
    try:
        _merges(work, window_fn, [arrival for arrival in arrivals if arrival[0] == window])
    except USER_RAISED as cause:
        return cause
    return None


def _merge(work: StepContext, merge: Merge, arrivals: list[Arrival]) -> bool:
    """Merge the state of the sources; False if they have to stay as they are."""
    into, now = merge.into, work.trigger_context(merge.into)
    parts = {
        window: work.windows[window]
        for window in merge.sources
        if window in work.windows and not work.windows[window].closed
    }
    merged = list(parts.values())
    accumulator = None
    before = parts.get(into)
    callers = [arrival for arrival in arrivals if arrival[0] in merge.sources]
    try:
        if merged:
            accumulator = merged[0].accumulator
        for part in merged[1:]:
            accumulator = work.combine.merge(accumulator, part.accumulator)
        if len(merged) > 1:
            accumulator = work.combine.compact(accumulator)
        trigger = work.trigger.start() if before is None else before.trigger
        if parts:
            trigger = work.trigger.on_merge(trigger, [part.trigger for part in merged], now)
        timers = before.processing_timers if before else ()
        timers = work.processing_timers(timers, trigger) if parts else ()
        waits_for_end = not now.end_reached and work.trigger.needs_end_of_window_timer(trigger)
    except USER_RAISED as cause:
        if work.rules.drops_failures and not callers:
            return False
        items = [item for _, item in callers]
        if isinstance(cause, TriggerFailed):
            failure = FunctionFailure(cause.function, cause.cause, items, into)
        else:
            failure = FunctionFailure.of(work.combine, "merge", cause, items, into)
        raise Failed([(caller, failure) for caller in callers or arrivals]) from cause
    if work.tracing:
        work.trace_event(Merged(merge.sources, into))
    if not parts:
        return True  # only new windows: the result starts afresh, or is closed and stays so
    for window in parts:
        del work.windows[window]
    work.windows[into] = WindowState(
        trigger=trigger,
        accumulator=accumulator,
        new_elements=sum(part.new_elements for part in merged),
        element_hold=_merged_hold(work, into, merged),
        end_timer_set=(before is not None and before.end_timer_set) or waits_for_end,
        processing_timers=timers,
        # History belongs to a window's bounds: a session that outgrew them starts anew.
        last_pane=before.last_pane if before else None,
        unretracted_panes=tuple(pane for part in merged for pane in part.unretracted_panes),
        size=sum(part.size for part in merged),
    )
    return True


def _merged_hold(work: StepContext, into: Window, parts: list[WindowState]) -> int | None:
    if work.strategy.timestamp_combiner is TimestampCombiner.END_OF_WINDOW:
        return work.hold(into, None, [])
    return work.combine_holds(part.element_hold for part in parts)

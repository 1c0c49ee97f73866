"""Windows that fire: the pane, what it withdraws, and what the window remembers afterwards."""

from typing import Any

import attrs

from beamlike.machine.equality import is_same
from beamlike.machine.events import DropReason, Fired, Pane, Suppressed
from beamlike.machine.failures import FunctionFailure
from beamlike.machine.reference.context import StepContext
from beamlike.machine.reference.state import WindowState
from beamlike.model.combine.corrected import Corrected
from beamlike.model.options import AccumulationMode, ClosingBehavior, OnTimeBehavior, Unchanged
from beamlike.model.panes import Timing, next_pane
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow, Window, bounds
from beamlike.safe_text import USER_RAISED, UserRaised


def is_ready(work: StepContext, window: Window) -> bool:
    """Whether the window's trigger is ready to fire."""
    return work.trigger.ready(work.windows[window].trigger, work.trigger_context(window))


def fire(work: StepContext, window: Window) -> None:
    """The trigger is ready: it fires, and may finish."""
    state, now = work.windows[window], work.trigger_context(window)
    by = work.trigger.because(state.trigger, now) if work.tracing else ""
    again = work.strategy.accumulates and work.trigger.fires_when_empty(state.trigger, now)
    trigger = work.trigger.fired(state.trigger, now)
    keeps = work.strategy.accumulates and not trigger.finished
    emitted = _emit(work, window, state, is_last=trigger.finished, keeps=keeps, by=by, again=again)
    if isinstance(emitted, FunctionFailure):
        return  # as if it had not fired: the elements wait for the next pane
    if trigger.finished:
        # Only that it is closed is remembered, until the window expires, and where sessions
        # have names, that this one is taken.
        named = emitted.unretracted_panes if work.strategy.is_merging else ()
        work.windows[window] = WindowState(
            trigger.cleared(), emitted.accumulator, unretracted_panes=named
        )
        return
    work.windows[window] = WindowState(
        trigger=trigger,
        accumulator=emitted.accumulator,
        end_timer_set=emitted.end_timer_set,
        processing_timers=work.processing_timers(emitted.processing_timers, trigger),
        last_pane=emitted.last_pane,
        unretracted_panes=emitted.unretracted_panes,
        size=emitted.size,
    )


def expire(work: StepContext, window: Window, before: int) -> None:
    """End a window whose expiry the watermark has passed. What is left is emitted without asking
    the trigger, and the window is forgotten: at once, or, if retained, when nothing can change it
    any more. ``before`` is the watermark before this move."""
    state, strategy = work.windows[window], work.strategy
    retained = strategy.forgotten(window) > strategy.expiry(window)
    forgets = state.closed or work.watermark > strategy.forgotten(window)
    was_expired = retained and before > strategy.expiry(window)
    # An expired window has emitted its last pane. It has elements only if that pane failed.
    if not state.closed and (state.new_elements or not was_expired):
        keeps = strategy.accumulates or forgets
        by = "expiry of the window"
        emitted = _emit(work, window, state, is_last=True, keeps=keeps, by=by)
        if isinstance(emitted, FunctionFailure):
            if forgets:
                work.drop(
                    None, window, DropReason.FAILED, count=state.new_elements, failure=emitted
                )
            else:
                work.windows[window] = attrs.evolve(
                    state, end_timer_set=False, processing_timers=()
                )
        elif not forgets:
            work.windows[window] = WindowState(
                emitted.trigger.cleared(),
                emitted.accumulator,
                unretracted_panes=emitted.unretracted_panes,
                size=emitted.size,
            )
    if forgets:
        del work.windows[window]


def _emit(
    work: StepContext,
    window: Window,
    state: WindowState,
    *,
    is_last: bool,
    keeps: bool,
    by: str,
    again: bool = False,
) -> WindowState | FunctionFailure:
    """Emit the pane of a window, if one is wanted. Returns the state that remembers it.

    Args:
        keeps: The accumulator stays as it is; else a fresh one takes its place.
        again: The trigger wants the pane also if nothing is new.
    """
    strategy, combine = work.strategy, work.combine
    try:
        # Before anything comes out: without it the pane cannot be emitted either.
        left = state.accumulator if keeps else combine.create()
    except USER_RAISED as cause:
        return _failed(work, window, "create", cause)
    info = next_pane(
        state.last_pane,
        window_is_over=work.watermark > window.max_timestamp,
        output_moved_on=work.output_watermark > window.max_timestamp,
        is_last=is_last,
    )
    if state.new_elements == 0 and not again and not _wants_empty(strategy, info.timing, is_last):
        return _suppressed(work, window, state, left, by)
    try:
        value = combine.extract(state.accumulator)
    except USER_RAISED as cause:
        return _failed(work, window, "extract", cause)
    if strategy.unchanged is Unchanged.OMIT and _is_unchanged(state, window, value):
        return _suppressed(work, window, state, left, by)
    is_net_zero = isinstance(combine, Corrected) and combine.is_vacant(state.accumulator)
    if is_net_zero and strategy.accumulates and _has_no_panes_to_retract(strategy, state):
        return _suppressed(work, window, state, left, by)
    if keeps and combine.evicts:
        try:
            left = combine.after_pane(left)
        except USER_RAISED as cause:
            return _failed(work, window, "after_pane", cause)
    hold = state.element_hold
    timestamp = window.max_timestamp if hold is None else min(hold, window.max_timestamp)
    if strategy.accumulation is AccumulationMode.RETRACTING:
        pane = Pane(window, value, timestamp, info, session=_session(work, window, state))
        # Written out: evolving a pane takes several times as long.
        work.effects += [
            Pane(old.window, old.value, old.timestamp, old.info, True, old.session)
            for old in state.unretracted_panes
        ]
        unretracted_panes: tuple[Pane, ...] = () if is_net_zero else (pane,)
    else:
        pane, unretracted_panes = Pane(window, value, timestamp, info), ()
    if unretracted_panes or strategy.accumulation is not AccumulationMode.RETRACTING:
        work.effects.append(pane)
    if work.tracing:
        work.trace_event(Fired(window, by, pane))
    return WindowState(
        state.trigger,
        left,
        state.new_elements,
        hold,
        state.end_timer_set,
        state.processing_timers,
        info,
        unretracted_panes,
        state.size,
    )


def _suppressed(
    work: StepContext, window: Window, state: WindowState, left: Any, by: str
) -> WindowState:
    """The state of a window of which no pane comes, with what is left to accumulate."""
    if work.tracing:
        work.trace_event(Suppressed(window, by))
    return state if left is state.accumulator else attrs.evolve(state, accumulator=left)


def _failed(work: StepContext, window: Window, method: str, cause: UserRaised) -> FunctionFailure:
    failure = FunctionFailure.of(work.combine, method, cause, (), window)
    if not work.rules.drops_failures:
        work.fail(failure)
    return failure


def _wants_empty(strategy: WindowingStrategy, timing: Timing, is_last: bool) -> bool:
    on_time = strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS and timing is Timing.ON_TIME
    return on_time or (is_last and strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS)


def _has_no_panes_to_retract(strategy: WindowingStrategy, state: WindowState) -> bool:
    """Whether no pane is out that a firing would take back or replace."""
    if strategy.accumulation is AccumulationMode.RETRACTING:
        return not state.unretracted_panes
    return state.last_pane is None


def _is_unchanged(state: WindowState, window: Window, value: Any) -> bool:
    """Whether exactly this pane would be withdrawn and put back."""
    if len(state.unretracted_panes) != 1 or state.unretracted_panes[0].window != window:
        return False
    return is_same(state.unretracted_panes[0].value, value)


def _session(work: StepContext, window: Window, state: WindowState) -> Window:
    """The name of the session whose pane comes now: that of the earliest pane it withdraws.

    The first pane of a session names it after its window. If a session with panes not yet retracted
    began with that very window and has left it (bounded sessions may overlap, and beside a closed
    one a new one may begin), the name begins a tick earlier. It never ends later than its
    session: a session whose name no window keeps has expired, and its window with it.
    """
    if state.unretracted_panes:
        named = min(state.unretracted_panes, key=lambda pane: bounds(pane.window)).session
        return window if named is None else named
    if not work.strategy.is_merging or not isinstance(window, IntervalWindow):
        return window
    taken = {pane.session for other in work.windows.values() for pane in other.unretracted_panes}
    while window in taken:
        window = IntervalWindow(window.start - 1, window.end)
    return window

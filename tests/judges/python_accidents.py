"""Beam Python's accidents, each as a small change of beamlike's machine.

As `tests.judges.beam_accidents`: a difference is one of them if the machine with that change gives
out exactly what Beam Python did. Lines are those of `apache_beam/transforms/trigger.py` in 2.77.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

import beamlike as bl
from beamlike.machine.events import AdvanceClock, Item
from beamlike.machine.reference import composites, emission, late, leaves, step
from beamlike.machine.reference.context import Arrival, StepContext
from beamlike.machine.reference.running import Now, TriggerNode
from beamlike.machine.reference.state import TriggerState
from beamlike.model.windows import Window, bounds

EXPIRY: Final = "python expiry"
"""Nothing happens as a window expires but what the trigger wants."""
TIMERS: Final = "python timers"
"""Each part of a trigger that waits for the end of the window has a timer, which fires apart."""
TICK: Final = "python tick"
"""Data is dropped once the watermark is past the expiry by more than a tick."""
HOLD: Final = "python hold"
"""An early pane of a trigger that may have an on-time pane does not release the hold."""
TIMING: Final = "python timing"
"""A pane is on time only if a timer of the watermark brings it."""
SESSIONS: Final = "python sessions"
"""A session whose trigger has finished takes in others, and they are closed with it."""
ALL_KEYS: Final = "python output"
"""What one key holds back holds the output watermark of all keys back, and it may go back."""
COMPOSITES: Final = "python composites"
"""A composite finishes only if those of its parts do that fire with it, by the watermark."""
CLOCK: Final = "python clock"
"""A timer of the clock fires at its target, and its time is compared with the window's end."""


# -- no timer at the expiry --------------------------------------------------------------------


def _expire_without_a_timer(work: StepContext, window: Window, before: int) -> None:
    state = work.windows[window]
    if state.closed or not state.end_timer_set:
        return
    work.windows[window] = attrs.evolve(state, end_timer_set=False)
    for _ in range(_timers_at_end(work.trigger) if _Timers.fire_apart else 1):
        if not work.windows[window].closed and emission.is_ready(work, window):
            step.fire(work, window)


class _Timers:
    """Whether each timer for the end of a window fires for itself."""

    fire_apart = False


def _timers_at_end(trigger: TriggerNode) -> int:
    waiting = (leaves.DefaultNode, leaves.AfterEndOfWindowNode, composites.AfterWatermarkNode)
    return sum(isinstance(node, waiting) for node in trigger.walk())


def _wants_empty(strategy: bl.WindowingStrategy, timing: bl.Timing, is_last: bool) -> bool:
    return True


# -- one tick more -----------------------------------------------------------------------------


def _deadline_a_tick_later(strategy: bl.WindowingStrategy, window: Window, timestamp: int) -> int:
    return strategy.expiry(window) + 1


# -- holds -------------------------------------------------------------------------------------


def _has_on_time_pane(trigger: TriggerNode) -> bool:
    """TriggerFn.has_ontime_pane."""
    return any(
        isinstance(
            node, (leaves.DefaultNode, leaves.AfterEndOfWindowNode, composites.AfterWatermarkNode)
        )
        for node in trigger.walk()
    )


_FIRE: Final = emission.fire


def _fire_and_keep_the_hold(work: StepContext, window: Window) -> None:
    before = work.windows[window].element_hold
    _FIRE(work, window)
    if work.watermark <= window.max_timestamp and _has_on_time_pane(work.trigger):
        work.windows[window] = attrs.evolve(work.windows[window], element_hold=before)


def _hold_of_late_elements(
    self: StepContext, window: Window, held: int | None, arrived: Iterable[Item]
) -> int | None:
    combiner = self.strategy.timestamp_combiner
    if combiner is bl.TimestampCombiner.END_OF_WINDOW:
        # OutputAtEndOfWindowImpl.merge looks at none of them.
        return window.max_timestamp
    times = [element.timestamp for element in arrived]
    return self.combine_holds([*(time for time in times if time >= self.output_watermark), held])


# -- timings -----------------------------------------------------------------------------------


class _Cause:
    """What brings the panes of this step."""

    by_timer = False


def _pane_by_its_cause(
    previous: bl.PaneInfo | None, *, window_is_over: bool, output_moved_on: bool, is_last: bool
) -> bl.PaneInfo:
    index = 0 if previous is None else previous.index + 1
    counted = 0
    if previous is not None and previous.nonspeculative_index >= 0:
        counted = previous.nonspeculative_index + 1
    is_over = window_is_over if _Cause.by_timer else output_moved_on
    if not is_over:
        return _pane(bl.Timing.EARLY, index, counted or -1, is_last)
    is_on_time = _Cause.by_timer and counted == 0
    timing = bl.Timing.ON_TIME if is_on_time else bl.Timing.LATE
    return _pane(timing, index, counted, is_last)


def _pane(timing: bl.Timing, index: int, nonspeculative_index: int, is_last: bool) -> bl.PaneInfo:
    return bl.PaneInfo(
        timing=timing,
        index=index,
        nonspeculative_index=nonspeculative_index,
        is_first=index == 0,
        is_last=is_last,
    )


_ADVANCE_WATERMARK: Final = step._advance_watermark


def _by_timer(work: StepContext, move: Any) -> None:
    _Cause.by_timer = True
    try:
        _ADVANCE_WATERMARK(work, move)
    finally:
        _Cause.by_timer = False


# -- the clock ---------------------------------------------------------------------------------


class _Timer:
    """The time of the timer of the clock that fires; None: none does."""

    now: int | None = None


def _ready_by_the_domain(self: leaves.AfterTimeNode, state: TriggerState, now: Now) -> bool:
    return _Timer.now is not None


_ADD_BUNDLE: Final = step._add_bundle


def _add_bundle(work: StepContext, items: Iterable[Item]) -> None:
    _ADD_BUNDLE(work, items)
    _fire_timers(work)


def _advance_clock(work: StepContext, move: AdvanceClock) -> None:
    work.clock = move.to
    _fire_timers(work)


def _fire_timers(work: StepContext) -> None:
    watermark, output_watermark = work.watermark, work.output_watermark
    due = sorted(
        (timer, *bounds(window), window)
        for window, state in work.windows.items()
        for timer in state.processing_timers
        if timer <= work.clock
    )
    for timer, _, _, window in due:
        state = work.windows[window]
        left = tuple(
            processing_timer
            for processing_timer in state.processing_timers
            if processing_timer > timer
        )
        work.windows[window] = attrs.evolve(state, processing_timers=left)
        _Timer.now = work.watermark = work.output_watermark = timer
        try:
            if not state.closed and emission.is_ready(work, window):
                step.fire(work, window)
        finally:
            _Timer.now = None
            work.watermark, work.output_watermark = watermark, output_watermark


# -- sessions ----------------------------------------------------------------------------------

_MERGE_WINDOWS: Final = step.merge_windows


def _merge_with_closed(work: StepContext, arrivals: list[Arrival]) -> dict[Window, Window]:
    """A closed session is one of the windows that merge, and what merges with it is closed."""
    window_fn = work.rules.merging_fn
    if window_fn is None:
        return {}
    closed = {
        window: state
        for window, state in work.windows.items()
        if state.closed and isinstance(window, bl.IntervalWindow)
    }
    arriving = {window for window, _ in arrivals if isinstance(window, bl.IntervalWindow)}
    home: dict[Window, Window] = {}
    for merge in window_fn.merge(iter({*work.live(), *closed, *arriving})):
        joined = [closed[window] for window in merge.sources if window in closed]
        if joined:
            for window in merge.sources:
                work.windows.pop(window, None)
            work.windows[merge.into] = joined[0]
            home |= dict.fromkeys(merge.sources, merge.into)
    rest = [(window, item) for window, item in arrivals if window not in home]
    return home | _MERGE_WINDOWS(work, rest)


_PHASES_MERGED: Final = composites.AfterWatermarkNode.on_merge


def _furthest_phase(
    self: composites.AfterWatermarkNode,
    state: TriggerState,
    parts: Sequence[TriggerState],
    now: Now,
) -> TriggerState:
    """AfterWatermark keeps LATE_TAG of any part, and AfterEach the greatest index."""
    ended = [part for part in parts if part.subs[0].finished]
    return _PHASES_MERGED(self, state, ended or parts, now)


# -- composites --------------------------------------------------------------------------------


def _parallel(combine: Callable[[Iterable[bool]], bool]) -> Callable[..., TriggerState]:
    def fired(self: TriggerNode, state: TriggerState, now: Now) -> TriggerState:
        """_ParallelTriggerFn.on_fire: of the parts that are ready by the watermark."""
        timer, _Timer.now = _Timer.now, None
        parts, finished = [], []
        for sub, part in zip(self.subs, state.subs, strict=True):
            if sub.ready(part, now):
                after = sub.fired(part, now)
                finished.append(after.finished)
                # What a count has counted stays until it is reset.
                parts.append(part if after.finished else after)
            else:
                parts.append(part)
        _Timer.now = timer
        return TriggerState(combine(finished), None, tuple(parts))

    return fired


_SEQUENCE_MERGED: Final = composites.AfterEachNode.on_merge


def _furthest_index(
    self: composites.AfterEachNode, state: TriggerState, parts: Sequence[TriggerState], now: Now
) -> TriggerState:
    def index(part: TriggerState) -> int:
        return sum(sub.finished for sub in part.subs)

    merged = _SEQUENCE_MERGED(self, state, parts, now)
    furthest = max(map(index, parts))
    subs = tuple(
        attrs.evolve(sub, finished=place < furthest) for place, sub in enumerate(merged.subs)
    )
    return TriggerState(furthest == len(subs), None, subs)


PATCHES: Final[Mapping[str, Sequence[tuple[Any, str, Any]]]] = {
    EXPIRY: ((step, "expire", _expire_without_a_timer),),
    TIMERS: ((_Timers, "fire_apart", True), (emission, "_wants_empty", _wants_empty)),
    TICK: ((late, "deadline_before_merging", _deadline_a_tick_later),),
    HOLD: ((step, "fire", _fire_and_keep_the_hold), (StepContext, "hold", _hold_of_late_elements)),
    TIMING: ((emission, "next_pane", _pane_by_its_cause), (step, "_advance_watermark", _by_timer)),
    SESSIONS: (
        (step, "merge_windows", _merge_with_closed),
        (composites.AfterWatermarkNode, "on_merge", _furthest_phase),
        (composites.AfterEachNode, "on_merge", _furthest_index),
    ),
    COMPOSITES: (
        (composites.AfterFirstNode, "fired", _parallel(any)),
        (composites.OrFinallyNode, "fired", _parallel(any)),
        (composites.AfterAllNode, "fired", _parallel(all)),
    ),
    CLOCK: (
        (leaves.AfterTimeNode, "ready", _ready_by_the_domain),
        (step, "_advance_clock", _advance_clock),
        (step, "_add_bundle", _add_bundle),
    ),
}

"""The executable specification: one key, ``step(state, event) -> (state, effects)``.

Rules and their order follow Beam Java's ``ReduceFnRunner``. What hosts rely on:

* An element step is one bundle: drop what is expired, merge windows, add everything, and
  only then evaluate each touched window's trigger, once.
* The output watermark is the key's own and does not move during a step.
* Timers are a function of the state, see `next_timers`.
* A step that raises has no effect: nothing was traced, and the state given is left as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

import attrs

from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    DropReason,
    Effect,
    Event,
    Item,
    OnEvent,
    refuse_going_back,
)
from beamlike.machine.reference.adding import add
from beamlike.machine.reference.context import Arrival, Failed, Rules, StepContext
from beamlike.machine.reference.emission import expire, fire, is_ready
from beamlike.machine.reference.late import arrivals_of
from beamlike.machine.reference.merging import merge_windows
from beamlike.machine.reference.next_timers import NextTimers, next_timers
from beamlike.machine.reference.state import KeyState, WindowState, earliest_correction
from beamlike.model.options import AccumulationMode
from beamlike.model.windows import Window, bounds


class Grouping(Rules):
    """A windowed, triggered grouping of one key's elements, as a pure machine; see `Rules`."""

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """Apply one event to the state; returns the next state and the effects.

        Args:
            state: Left as it is.
            on_event: Called with each `TraceEvent`, in order, at the end of the step.

        Raises:
            WatermarkError: The watermark or the clock would go back.
            WindowingError: Elements were combined before they arrived, and the timestamp combiner
                needs the time of each.
            UserFunctionError: A function of the user's raised, and that is to be reported.
        """
        work = StepContext(self, state, tracing=on_event is not None)
        match event:
            case Bundle(elements):
                _add_bundle(work, elements)
            case AdvanceWatermark():
                _advance_watermark(work, event)
            case AdvanceClock():
                _advance_clock(work, event)
            case _:
                assert_never(event)
        if on_event is not None:
            for traced in work.trace:
                on_event(traced)
        return work.result(), tuple(work.effects)

    def next_timers(self, state: KeyState) -> NextTimers:
        """The deadlines of a key, see `next_timers`."""
        trigger = self.trigger if self.needs_event_time_timers else None
        return next_timers(self.strategy, state, trigger, drops_failures=self.drops_failures)

    @property
    def retracts(self) -> bool:
        """Whether a pane withdraws the one before."""
        return self.strategy.accumulation is AccumulationMode.RETRACTING

    def earliest_correction(self, state: KeyState) -> int | None:
        """Where panes that may still be withdrawn hold back what comes after; None: nowhere. See
        `beamlike.machine.reference.state.earliest_correction`."""
        return earliest_correction(state, self.strategy.allowed_lateness)


# -- a bundle --------------------------------------------------------------------------------


def _add_bundle(work: StepContext, items: Iterable[Item]) -> None:
    arrivals = arrivals_of(work, items)
    savepoint = work.savepoint()
    touched: list[Window] = []
    while arrivals:
        try:
            touched = _apply_bundle(work, arrivals)
            break
        except Failed as failed:
            # What they caused is undone, so that the others find all as if they had not come.
            work.rollback(savepoint)
            arrivals = _without(work, arrivals, failed)
            savepoint = work.savepoint()
    ready = []
    for window in touched:
        with work.unless_trigger_fails(window):
            if is_ready(work, window):
                ready.append(window)
    for window in ready:
        with work.unless_trigger_fails(window):
            fire(work, window)


def _apply_bundle(work: StepContext, arrivals: list[Arrival]) -> list[Window]:
    """Merge windows and add the elements; the windows that got any, or were merged."""
    home = merge_windows(work, arrivals)
    if work.strategy.judges_after_merging:
        arrivals = _drop_late_after_merging(work, arrivals, home)
    touched: list[Window] = []
    by_window: dict[Window, list[Arrival]] = {}
    for arrival in arrivals:
        window = arrival[0]
        by_window.setdefault(home.get(window, window), []).append(arrival)
    for window, arrived in by_window.items():
        current = work.windows.get(window)
        if current is not None and current.closed:
            for _, item in arrived:
                work.drop(item, window, DropReason.CLOSED)
        else:
            work.windows[window] = add(work, window, current, arrived)
            touched.append(window)
    for window in dict.fromkeys(home.values()):
        # Live windows that merge by another's element are ready, perhaps, with nothing added.
        if window in by_window or window not in work.windows or work.windows[window].closed:
            continue
        if work.watermark <= work.strategy.expiry(window):
            touched.append(window)
    return touched


def _drop_late_after_merging(
    work: StepContext, arrivals: list[Arrival], home: Mapping[Window, Window]
) -> list[Arrival]:
    """The arrivals whose merged window has not expired."""
    kept: list[Arrival] = []
    for arrival in arrivals:
        window, item = arrival
        missed_by = work.watermark - work.strategy.expiry(home.get(window, window))
        if missed_by > 0:
            work.drop(item, window, DropReason.EXPIRED, missed_by)
        else:
            kept.append(arrival)
    return kept


def _without(work: StepContext, arrivals: Sequence[Arrival], failed: Failed) -> list[Arrival]:
    """The arrivals but for those that a function of the user's raised for, which are dropped."""
    if not work.rules.drops_failures:
        work.fail(failed.arrivals[0][1])
    for (window, item), failure in failed.arrivals:
        work.drop(item, window, DropReason.FAILED, failure=failure)
    # By identity: equal elements that arrive together may be judged apart.
    gone = {id(arrival) for arrival, _ in failed.arrivals}
    return [arrival for arrival in arrivals if id(arrival) not in gone]


# -- clocks ----------------------------------------------------------------------------------


def _advance_watermark(work: StepContext, move: AdvanceWatermark) -> None:
    refuse_going_back(move, work.watermark, unit=work.strategy.resolution)
    before, work.watermark = work.watermark, move.to
    for window in sorted(work.windows, key=bounds):
        state = work.windows[window]
        at_end = state.end_timer_set and move.to > window.max_timestamp
        is_over = move.to > work.strategy.expiry(window)
        if at_end and not is_over:
            work.windows[window] = attrs.evolve(state, end_timer_set=False)
        with work.unless_trigger_fails(window):
            if is_over:
                expire(work, window, before)
            elif at_end or _passes_event_time_timer(work, state, before):
                _fire_if_ready(work, window)


def _passes_event_time_timer(work: StepContext, state: WindowState, before: int) -> bool:
    """Whether the watermark has passed an event time that the trigger waits for, other than the end
    of the window; ``before`` is where it was."""
    if not work.rules.needs_event_time_timers or state.closed:
        return False
    timers = work.trigger.event_time_timers(state.trigger)
    return any(before <= timer < work.watermark for timer in timers)


def _advance_clock(work: StepContext, move: AdvanceClock) -> None:
    refuse_going_back(move, work.clock, unit=work.strategy.resolution)
    work.clock = move.to
    for window in sorted(work.windows, key=bounds):
        state = work.windows[window]
        future = tuple(timer for timer in state.processing_timers if timer >= move.to)
        if len(future) == len(state.processing_timers):
            continue
        work.windows[window] = attrs.evolve(state, processing_timers=future)
        with work.unless_trigger_fails(window):
            _fire_if_ready(work, window)


def _fire_if_ready(work: StepContext, window: Window) -> None:
    if is_ready(work, window):
        fire(work, window)

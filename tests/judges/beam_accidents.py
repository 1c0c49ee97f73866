"""Beam Java's accidents, each as a small change of beamlike's machine.

A difference is one of them if the machine with that change gives out exactly what Beam did: each
pane with all its fields, and the number of drops. So a decision excuses what its accident causes,
and nothing beside it: a rule of beamlike's that is wrong stays wrong with the change.
"""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, time, timedelta
from itertools import permutations
from typing import Any, Final
from unittest.mock import patch
from zoneinfo import ZoneInfo

import attrs

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Event, Merged
from beamlike.machine.reference import composites, leaves, step
from beamlike.machine.reference.context import Arrival, StepContext
from beamlike.machine.reference.running import FINISHED, Now, TriggerNode
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState, earliest_hold
from beamlike.machine.reference.step import Grouping
from beamlike.model.calendar import CalendarDays
from beamlike.model.delays import AlignTo
from beamlike.model.options import TimestampCombiner
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windowfns import FixedWindows, Merge, SlidingWindows
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.script import Arrive, Output, Run, Script
from beamlike.testing.scenarios.files import transcripts_of
from beamlike.testing.scenarios.results import to_document
from tests.judges.python_accidents import ALL_KEYS
from tests.judges.python_accidents import PATCHES as PYTHON_PATCHES

OUTPUT: Final = "output"
"""The output watermark of the DirectRunner moves before the timers that a watermark fires."""
MERGES: Final = "merges"
"""A merge is put to the triggers also if no window of it is open, with what a closed one left."""
PARTS: Final = "parts"
"""The parts of an early or late trigger stay finished when it begins anew."""
PHASES: Final = "phases"
"""A merge leaves the finished bit of an `AfterWatermark` with an early or late trigger alone."""
STALE: Final = "stale"
"""A timer of a session that was merged away clears what the live one holds back."""
ORIGIN: Final = "origin"
"""What is before an origin is rounded towards it."""


# -- what starts over ------------------------------------------------------------------------


def _starts_itself_over(self: TriggerNode, state: TriggerState, now: Now) -> TriggerState:
    """AfterWatermarkStateMachine.onNonLateFiring: clear, and setFinished(false) of one node."""
    return attrs.evolve(self.cleared(state, now), finished=False)


def _early_starts_over(
    self: composites.AfterWatermarkNode, state: TriggerState, now: Now
) -> TriggerState:
    early, *late = state.subs
    if early.finished:
        fired = [self.subs[1].fired(one, now) for one in late]
        over = [_starts_itself_over(self.subs[1], one, now) for one in fired]
        return TriggerState(state.finished, state.value, (early, *over))
    if not now.end_reached:
        over = [_starts_itself_over(self.subs[0], self.subs[0].fired(early, now), now)]
        return TriggerState(state.finished, state.value, (*over, *late))
    past_end = attrs.evolve(self.subs[0].cleared(early, now), finished=True)
    cleared = [self.subs[1].cleared(one, now) for one in late]
    return TriggerState(not late, None, (past_end, *cleared))


def _merged_child(
    self: composites.AfterWatermarkNode,
    place: int,
    state: TriggerState,
    parts: Sequence[TriggerState],
    now: Now,
) -> TriggerState:
    sub = self.subs[place]
    merged = sub.on_merge(state.subs[place], [part.subs[place] for part in parts], now)
    return attrs.evolve(merged, finished=False)


_MERGED_PHASES: Final = composites.AfterWatermarkNode.on_merge


def _phases_merged(
    self: composites.AfterWatermarkNode,
    state: TriggerState,
    parts: Sequence[TriggerState],
    now: Now,
) -> TriggerState:
    """AfterWatermarkEarlyAndLate.onMerge sets the bit of the early trigger, and not its own."""
    return attrs.evolve(_MERGED_PHASES(self, state, parts, now), finished=state.finished)


# -- merges that ask closed windows ----------------------------------------------------------


def _count_merged(
    self: leaves.AfterCountNode, state: TriggerState, parts: Sequence[TriggerState], now: Now
) -> TriggerState:
    """AfterPaneStateMachine.onMerge leaves the finished bit of the result as it is."""
    if any(part.finished for part in parts):
        return FINISHED
    return TriggerState(state.finished, sum(part.value or 0 for part in parts))


class _Merges:
    """Merges as ReduceFnRunner and MergingActiveWindowSet carry them out, for a key.

    A window is active from a merge on that it results from, also if it was closed before: then
    what comes for it is dropped, and what merges with it asks its trigger.
    """

    def __init__(self) -> None:
        self.active_but_closed: set[Window] = set()

    def merge_windows(self, work: StepContext, arrivals: list[Arrival]) -> dict[Window, Window]:
        window_fn = work.rules.merging_fn
        if window_fn is None:
            return {}
        active = {
            window: state
            for window, state in work.windows.items()
            if isinstance(window, IntervalWindow)
            and (not state.closed or window in self.active_but_closed)
        }
        arriving = [window for window, _ in arrivals if isinstance(window, IntervalWindow)]
        home: dict[Window, Window] = {}
        for merge in window_fn.merge(iter({*active, *arriving})):
            self._merge(work, merge, active)
            home |= dict.fromkeys(merge.sources, merge.into)
        return home

    def _merge(
        self, work: StepContext, merge: Merge, active: Mapping[IntervalWindow, WindowState]
    ) -> None:
        into, now = merge.into, work.trigger_context(merge.into)
        if work.tracing:
            work.trace_event(Merged(merge.sources, into))
        parts = [active[window] for window in merge.sources if window in active]
        before = work.windows.get(into)
        own = before.trigger if before is not None else work.trigger.start()
        trigger = work.trigger.on_merge(own, [part.trigger for part in parts], now)
        for window in merge.sources:
            if window in active:
                del work.windows[window]
        accumulator = work.combine.create()
        for part in parts:
            accumulator = work.combine.merge(accumulator, part.accumulator)
        kept = active.get(into)
        holds = [part.element_hold for part in parts]
        if work.strategy.timestamp_combiner is TimestampCombiner.END_OF_WINDOW:
            hold = work.hold(into, None, []) if any(hold is not None for hold in holds) else None
        else:
            hold = work.combine_holds(holds)
        self.active_but_closed -= {*merge.sources}
        if trigger.finished:
            self.active_but_closed.add(into)
        work.windows[into] = WindowState(
            trigger,
            accumulator,
            new_elements=sum(part.new_elements for part in parts),
            element_hold=hold,
            end_timer_set=(kept is not None and kept.end_timer_set)
            or (
                bool(parts)
                and not now.end_reached
                and work.trigger.needs_end_of_window_timer(trigger)
            ),
            processing_timers=work.processing_timers(
                kept.processing_timers if kept else (), trigger
            ),
            last_pane=kept.last_pane if kept else None,
        )


# -- times before an origin ------------------------------------------------------------------


def _remainder(dividend: int, divisor: int) -> int:
    """Java's ``%``, which has the sign of the dividend."""
    rest = abs(dividend) % divisor
    return rest if dividend >= 0 else -rest


def _fixed(self: FixedWindows, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
    start = timestamp - _remainder(timestamp + self.size - self.offset, self.size)
    return (IntervalWindow(start, start + self.size),)


def _sliding(self: SlidingWindows, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
    last = timestamp - _remainder(timestamp + self.period - self.offset, self.period)
    starts = range(last, timestamp - self.size, -self.period)
    return tuple(IntervalWindow(start, start + self.size) for start in starts)


def _aligned(self: AlignTo, instant: int) -> int:
    since = _remainder(instant - self.offset, self.period)
    return instant if since == 0 else instant + self.period - since


def _days(self: CalendarDays, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
    zone = ZoneInfo(self.time_zone)
    local = datetime.fromtimestamp(timestamp / 1000, zone).replace(tzinfo=None)
    whole_days = int((local - datetime.combine(self.start, time())) / timedelta(days=1))
    return (self._window(int(whole_days / self.number), zone),)


# -- the machine with them -------------------------------------------------------------------

_PATCHES: Final[Mapping[str, Sequence[tuple[Any, str, Any]]]] = {
    ORIGIN: (
        (FixedWindows, "assign", _fixed),
        (SlidingWindows, "assign", _sliding),
        (AlignTo, "apply", _aligned),
        (CalendarDays, "assign", _days),
    ),
    PARTS: (
        (composites.AfterWatermarkNode, "fired", _early_starts_over),
        (composites.AfterWatermarkNode, "_merge_child", _merged_child),
    ),
    PHASES: ((composites.AfterWatermarkNode, "on_merge", _phases_merged),),
    **PYTHON_PATCHES,
    MERGES: ((leaves.AfterCountNode, "on_merge", _count_merged),),
}


def outcomes_with(
    document: Mapping[str, Any], accidents: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """What comes out of a scenario with some of the accidents, as a document of results.

    Args:
        document: The scenario.
        accidents: Which.

    Yields:
        One outcome; of several keys with `OUTPUT` one for each order in which the runner may take
        them.
    """
    (scenario,) = transcripts_of(json.dumps(document), "scenario").scenarios
    machine = scenario.machine()
    if not isinstance(machine, Grouping):
        return
    keys = list(
        dict.fromkeys(
            key for one in scenario.script if isinstance(one, Arrive) for key, _ in one.elements
        )
    )
    orders = permutations(keys) if OUTPUT in accidents and len(keys) <= 4 else (keys,)
    with ExitStack() as patches:
        for owner, name, method in (
            one for accident in accidents for one in _PATCHES.get(accident, ())
        ):
            patches.enter_context(patch.object(owner, name, method))
        for order in orders:
            yield to_document(_Play(machine, accidents, order).run(scenario.script))


class _MergedAway:
    """Timers of the clock of sessions that others have taken in, for a key.

    Beam keeps the state of a session under the window in which it began. A timer of such a window
    fires, sets one for the expiry of that window, and what that one clears is the hold of the
    session that is live: ReduceFnRunner.onTimers and clearAllState.
    """

    def __init__(self, strategy: WindowingStrategy) -> None:
        self._strategy = strategy
        self._state_of: dict[Window, Window] = {}
        self._timers: dict[Window, set[int]] = {}
        self._cleared_at_expiry: set[Window] = set()

    def note(self, merged: Merged, before: Mapping[Window, WindowState]) -> None:
        live = [
            source for source in merged.sources if source in before and not before[source].closed
        ]
        first = merged.into if merged.into in live else next(iter(live), merged.into)
        self._state_of[merged.into] = self._state_of.get(first, first)
        for window in {*live} - {merged.into}:
            self._timers.setdefault(window, set()).update(before[window].processing_timers)
            self._state_of.pop(window, None)

    def fire(self, clock: int, watermark: int, output: int) -> None:
        for window, timers in self._timers.items():
            is_due = any(timer < clock for timer in timers)
            is_over = output <= window.max_timestamp < watermark <= self._strategy.expiry(window)
            if is_due and is_over:
                self._cleared_at_expiry.add(window)
            timers -= {timer for timer in timers if timer < clock}

    def clear(self, state: KeyState, watermark: int) -> KeyState:
        """The state as the watermark arrives, without the holds that are lost."""
        over = {one for one in self._cleared_at_expiry if self._strategy.expiry(one) < watermark}
        self._cleared_at_expiry -= over
        if self._strategy.accumulates:
            return state
        lost = {window for window, first in self._state_of.items() if first in over}
        windows = {
            window: attrs.evolve(one, element_hold=None) if window in lost else one
            for window, one in state.windows.items()
        }
        return attrs.evolve(state, windows=windows)


class _Play:
    """A script on the machine, with what an engine knows of its keys."""

    def __init__(
        self, machine: Grouping, accidents: Sequence[str], order: Sequence[Hashable]
    ) -> None:
        self._machine = machine
        self._order = order
        self._moves_output_first = OUTPUT in accidents or ALL_KEYS in accidents
        self._is_python = ALL_KEYS in accidents
        self._asks_closed = MERGES in accidents
        self._merged_away = {key: _MergedAway(machine.strategy) for key in order}
        self._keeps_stale = STALE in accidents
        self._merges = {key: _Merges() for key in order}
        self._states: dict[Hashable, KeyState] = {}
        self._timers: dict[Hashable, dict[Window, set[int]]] = {key: {} for key in order}
        self._watermark, self._clock, self._output = MIN_TIMESTAMP, 0, MIN_TIMESTAMP

    def run(self, script: Script) -> Run:
        outputs: list[Output] = []
        for number, what in enumerate(script):
            bundles = what.by_key() if isinstance(what, Arrive) else {}
            if isinstance(what, AdvanceWatermark):
                self._watermark = max(self._watermark, what.to)
                self._refresh()
            elif isinstance(what, AdvanceClock):
                self._clock = what.to
            for key in self._order:
                if key in bundles if isinstance(what, Arrive) else key in self._states:
                    event: Event = Bundle(tuple(bundles[key])) if isinstance(what, Arrive) else what
                    outputs += [Output(number, key, effect) for effect in self._step(key, event)]
        return Run(script, tuple(outputs), ())

    def _step(self, key: Hashable, event: Event) -> Sequence[Any]:
        state = self._states.get(key) or KeyState.unseen(
            self._watermark if not isinstance(event, AdvanceWatermark) else MIN_TIMESTAMP,
            self._clock,
        )
        if self._moves_output_first:
            state = attrs.evolve(state, output_watermark=self._output)
        merged_away = self._merged_away[key]
        if self._keeps_stale and isinstance(event, AdvanceClock):
            merged_away.fire(event.to, self._watermark, state.output_watermark)
        elif self._keeps_stale and isinstance(event, AdvanceWatermark):
            state = merged_away.clear(state, event.to)
        traced: list[Any] = []
        on_elements = self._machine.trigger.on_elements

        def note_timers(trigger: TriggerState, count: int, now: Now) -> TriggerState:
            timers = self._timers[key].setdefault(now.window, set())
            timers.add(self._machine.strategy.expiry(now.window))
            waits = self._machine.trigger.needs_end_of_window_timer(trigger)
            if waits and not now.end_reached:
                timers.add(now.window.max_timestamp)
            return on_elements(trigger, count, now)

        with ExitStack() as patches:
            patches.enter_context(patch.object(self._machine.trigger, "on_elements", note_timers))
            if self._asks_closed:
                merge_windows = self._merges[key].merge_windows
                patches.enter_context(patch.object(step, "merge_windows", merge_windows))
            after, effects = self._machine.step(state, event, traced.append)
        for merged in traced:
            if isinstance(merged, Merged):
                merged_away.note(merged, state.windows)
                for window in {*merged.sources} - {merged.into}:
                    if window in state.windows and not state.windows[window].closed:
                        self._timers[key].pop(window, None)
        self._states[key] = after
        for timers in self._timers[key].values():
            timers -= {timer for timer in timers if timer < after.watermark}
        if self._moves_output_first:
            self._refresh()
        return effects

    def _refresh(self) -> None:
        """AppliedPTransformOutputWatermark.refresh: holds, and timers that are not completed."""
        holds = [earliest_hold(state.windows) for state in self._states.values()]
        pending = [
            timer for key in self._timers.values() for timers in key.values() for timer in timers
        ]
        if self._is_python:
            pending = []
        held = min([self._watermark, *pending, *(hold for hold in holds if hold is not None)])
        self._output = held if self._is_python else max(self._output, held)

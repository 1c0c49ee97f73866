"""The executable specification: one key, ``step(state, event) -> (state, effects)``.

Rules and their order follow Beam Java's ``ReduceFnRunner``. What hosts rely on:

* An element step is one bundle: drop what is expired, merge windows, add everything, and
  only then ask each touched window's trigger, once.
* The output watermark is the key's own and stands still during a step.
* Timers are a function of the state, see `wakes`.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

import attrs

from beamlike.errors import WatermarkError
from beamlike.machine.events import (
    AdvanceClock,
    AdvanceWatermark,
    Bundle,
    Drop,
    DropReason,
    Effect,
    Element,
    Event,
    Fired,
    Merged,
    Pane,
    Suppressed,
    Tell,
)
from beamlike.machine.reference.late import deadline_before_merging, merged_with
from beamlike.machine.reference.running import Now
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState, promise
from beamlike.machine.reference.triggers import run_trigger
from beamlike.machine.reference.wakes import Wakes, minds_stale_alarms, wakes
from beamlike.model.combine import CombineFn
from beamlike.model.panes import Timing, next_pane
from beamlike.model.strategy import (
    AccumulationMode,
    ClosingBehavior,
    LateCheck,
    OnTimeBehavior,
    TimestampCombiner,
    WindowingStrategy,
)
from beamlike.model.time import show_instant
from beamlike.model.windowfns import Merge, MergingWindowFn
from beamlike.model.windows import IntervalWindow, Window, bounds

__all__ = ["Grouping"]


class Grouping:
    """A windowed, triggered grouping of one key's elements, as a pure machine.

    Args:
        strategy: Windows, trigger, lateness and pane rules.
        combine: How a pane's elements become its value.
    """

    def __init__(self, strategy: WindowingStrategy, combine: CombineFn) -> None:
        self.strategy = strategy
        self.combine = combine
        self.trigger = run_trigger(strategy.trigger, strategy.is_merging)
        self.needs_clock = strategy.trigger.needs_clock
        self.keeps_alarms = minds_stale_alarms(strategy.trigger)

    def step(
        self, state: KeyState, event: Event, tell: Tell | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """Take one event to the next state, and say what comes out.

        Args:
            state: Left as it is.
            event: What happens.
            tell: Called with each `Happening` of the story, in order.

        Raises:
            WatermarkError: The watermark or the clock would go back.
        """
        work = _Step(self, state, tell)
        match event:
            case Bundle(elements):
                work.add_bundle(elements)
            case AdvanceWatermark(to):
                work.advance_watermark(to)
            case AdvanceClock(to):
                work.advance_clock(to)
            case _:
                assert_never(event)
        return work.result(), tuple(work.effects)

    def wakes(self, state: KeyState) -> Wakes:
        """The deadlines of a key, see `wakes`."""
        return wakes(self.strategy, state)


class _Step:
    """A step in the making: a working copy of the state, and the effects so far."""

    def __init__(self, grouping: Grouping, state: KeyState, tell: Tell | None) -> None:
        self.strategy = grouping.strategy
        self.combine = grouping.combine
        self.trigger = grouping.trigger
        self.needs_clock = grouping.needs_clock
        self.keeps_alarms = grouping.keeps_alarms
        self.watermark = state.watermark
        self.clock = state.clock
        self.output_watermark = state.output_watermark
        self.windows = dict(state.windows)
        self.effects: list[Effect] = []
        self.tell = tell

    def result(self) -> KeyState:
        promised = promise(self.output_watermark, self.watermark, self.windows)
        return KeyState(self.watermark, self.clock, promised, self.windows)

    def now(self, window: Window) -> Now:
        return Now(window, self.watermark, self.clock)

    # -- a bundle ------------------------------------------------------------------------

    def add_bundle(self, elements: Iterable[Element]) -> None:
        arrivals = self._assign(elements)
        home = self._merge_windows(arrivals)
        if self.strategy.late_check is LateCheck.MERGED:
            arrivals = self._drop_late_after_merging(arrivals, home)
        touched: list[Window] = []
        by_window: dict[Window, list[Element]] = {}
        for window, element in arrivals:
            by_window.setdefault(home.get(window, window), []).append(element)
        for window, arrived in by_window.items():
            current = self.windows.get(window)
            if current is not None and current.closed:
                for element in arrived:
                    self._drop(Drop(element, window, DropReason.CLOSED))
            else:
                self.windows[window] = self._add(window, current, arrived)
                touched.append(window)
        ready = [window for window in touched if self._is_ready(window)]
        for window in ready:
            self._fire(window)

    def _assign(self, elements: Iterable[Element]) -> list[tuple[Window, Element]]:
        """Each element with each of its windows, but for those that are late before merging."""
        arrivals: list[tuple[Window, Element]] = []
        for element in elements:
            for window in self.strategy.window_fn.assign(element.timestamp, element.value):
                missed_by = self.watermark - deadline_before_merging(
                    self.strategy, window, element.timestamp
                )
                if missed_by > 0:
                    nearly = merged_with(self.strategy.window_fn, self._live(), window)
                    self._drop(Drop(element, window, DropReason.EXPIRED, missed_by, nearly))
                else:
                    arrivals.append((window, element))
        return arrivals

    def _drop_late_after_merging(
        self, arrivals: list[tuple[Window, Element]], home: Mapping[Window, Window]
    ) -> list[tuple[Window, Element]]:
        """The arrivals whose merged window has not expired."""
        kept: list[tuple[Window, Element]] = []
        for window, element in arrivals:
            missed_by = self.watermark - self.strategy.expiry(home.get(window, window))
            if missed_by > 0:
                self._drop(Drop(element, window, DropReason.EXPIRED, missed_by))
            else:
                kept.append((window, element))
        return kept

    def _live(self) -> set[IntervalWindow]:
        """The windows that may merge. A closed session never does: new data opens one beside."""
        return {
            window
            for window, state in self.windows.items()
            if isinstance(window, IntervalWindow) and not state.closed
        }

    def _add(
        self, window: Window, current: WindowState | None, arrived: list[Element]
    ) -> WindowState:
        state = current or WindowState(self.trigger.start(), self.combine.create())
        now = self.now(window)
        hears_end = not now.end_reached and self.trigger.hears_end(state.trigger)
        trigger = self.trigger.on_elements(state.trigger, len(arrived), now)
        return WindowState(
            trigger,
            self.combine.add(
                state.accumulator, [e.value for e in arrived], [e.timestamp for e in arrived]
            ),
            state.fresh + len(arrived),
            self._hold(window, state.element_hold, arrived),
            state.awaits_end or hears_end,
            self._alarms(state.alarms, trigger),
            state.last_pane,
            state.outstanding,
        )

    def _alarms(self, pending: tuple[int, ...], trigger: TriggerState) -> tuple[int, ...]:
        """The alarms of a window after its trigger listened or fired."""
        if not self.needs_clock:
            return ()
        targets = {at for at in self.trigger.targets(trigger) if at >= self.clock}
        return tuple(sorted(targets.union(pending) if self.keeps_alarms else targets))

    def _hold(self, window: Window, held: int | None, arrived: list[Element]) -> int | None:
        """Where the new elements keep the output watermark, so that their pane is on time.

        One that is behind the output watermark, or whose window the watermark has passed,
        comes too late to hold anything.
        """
        if self.watermark > window.max_timestamp:
            return held
        combiner = self.strategy.timestamp_combiner
        if combiner is TimestampCombiner.END_OF_WINDOW:
            return window.max_timestamp  # never behind: the output is not ahead of the input
        holds = [e.timestamp for e in arrived if e.timestamp >= self.output_watermark]
        return self._combine_holds([*holds, held])

    def _combine_holds(self, holds: Iterable[int | None]) -> int | None:
        pick = min if self.strategy.timestamp_combiner is TimestampCombiner.EARLIEST else max
        return pick((hold for hold in holds if hold is not None), default=None)

    # -- merging -------------------------------------------------------------------------

    def _merge_windows(self, arrivals: list[tuple[Window, Element]]) -> dict[Window, Window]:
        """Merge live windows and arriving ones; says where each merged window went."""
        window_fn = self.strategy.window_fn
        if not isinstance(window_fn, MergingWindowFn) or not arrivals:
            return {}
        if len(arrivals) == 1 and not self.windows:
            return {}  # alone: nothing to merge with
        arriving = {window for window, _ in arrivals if isinstance(window, IntervalWindow)}
        home: dict[Window, Window] = {}
        for merge in window_fn.merge(iter(self._live() | arriving)):
            home |= dict.fromkeys(merge.sources, merge.into)
            if self.watermark <= self.strategy.expiry(merge.into):
                self._merge(merge)
        return home

    def _merge(self, merge: Merge) -> None:
        into, now = merge.into, self.now(merge.into)
        if self.tell is not None:
            self.tell(Merged(merge.sources, into))
        parts = {
            window: self.windows[window]
            for window in merge.sources
            if window in self.windows and not self.windows[window].closed
        }
        if not parts:
            return  # only new windows: the result starts afresh, or is closed and stays so
        own = parts.get(into)
        merged = list(parts.values())
        accumulator = merged[0].accumulator
        for part in merged[1:]:
            accumulator = self.combine.merge(accumulator, part.accumulator)
        for window in parts:
            del self.windows[window]
        trigger = self.trigger.on_merge(
            own.trigger if own else self.trigger.start(), [p.trigger for p in merged], now
        )
        self.windows[into] = WindowState(
            trigger=trigger,
            accumulator=accumulator,
            fresh=sum(part.fresh for part in merged),
            element_hold=self._merged_hold(into, merged),
            awaits_end=(own is not None and own.awaits_end)
            or (not now.end_reached and self.trigger.hears_end(trigger)),
            alarms=self._alarms(own.alarms if own else (), trigger),
            # History belongs to a window's bounds: a session that outgrew them starts anew.
            last_pane=own.last_pane if own else None,
            outstanding=tuple(pane for part in merged for pane in part.outstanding),
        )

    def _merged_hold(self, into: Window, parts: list[WindowState]) -> int | None:
        if self.strategy.timestamp_combiner is TimestampCombiner.END_OF_WINDOW:
            return self._hold(into, None, [])
        return self._combine_holds(part.element_hold for part in parts)

    # -- clocks --------------------------------------------------------------------------

    def advance_watermark(self, to: int) -> None:
        if to < self.watermark:
            raise WatermarkError(
                f"the watermark cannot go back: it stands at {show_instant(self.watermark)} "
                f"({self.watermark} ms), asked for {show_instant(to)} ({to} ms)"
            )
        self.watermark = to
        for window in sorted(self.windows, key=bounds):
            state = self.windows[window]
            if to > self.strategy.expiry(window):
                if not state.closed:
                    # Whatever is left comes out now; the trigger is not asked.
                    self._emit(window, state, is_last=True, by="expiry of the window")
                del self.windows[window]
            elif state.awaits_end and to > window.max_timestamp:
                self.windows[window] = attrs.evolve(state, awaits_end=False)
                if self._is_ready(window):
                    self._fire(window)

    def advance_clock(self, to: int) -> None:
        if to < self.clock:
            raise WatermarkError(
                f"processing time cannot go back: it stands at {self.clock} ms, asked for {to} ms"
            )
        self.clock = to
        for window in sorted(self.windows, key=bounds):
            state = self.windows[window]
            if not any(at < to for at in state.alarms):
                continue
            self.windows[window] = attrs.evolve(state, alarms=self._future(state.alarms))
            if self._is_ready(window):
                self._fire(window)

    def _future(self, alarms: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(at for at in alarms if at >= self.clock)

    # -- panes ---------------------------------------------------------------------------

    def _is_ready(self, window: Window) -> bool:
        return self.trigger.ready(self.windows[window].trigger, self.now(window))

    def _fire(self, window: Window) -> None:
        state, now = self.windows[window], self.now(window)
        by = self.trigger.because(state.trigger, now) if self.tell else ""
        trigger = self.trigger.fired(state.trigger, now)
        state = self._emit(window, state, is_last=trigger.finished, by=by)
        if trigger.finished:
            # Only that it is closed is remembered, until the window expires.
            self.windows[window] = WindowState(trigger.cleared(), self.combine.create())
            return
        keeps = self.strategy.accumulates
        self.windows[window] = WindowState(
            trigger=trigger,
            accumulator=state.accumulator if keeps else self.combine.create(),
            awaits_end=state.awaits_end,
            alarms=self._alarms(state.alarms, trigger),
            last_pane=state.last_pane,
            outstanding=state.outstanding,
        )

    def _emit(self, window: Window, state: WindowState, *, is_last: bool, by: str) -> WindowState:
        """Emit the pane unless it is empty and unwanted; the state that remembers it."""
        info = next_pane(
            state.last_pane,
            window_is_over=self.watermark > window.max_timestamp,
            output_moved_on=self.output_watermark > window.max_timestamp,
            is_last=is_last,
        )
        wanted_empty = (
            info.timing is Timing.ON_TIME
            and self.strategy.on_time_behavior is OnTimeBehavior.FIRE_ALWAYS
        ) or (is_last and self.strategy.closing_behavior is ClosingBehavior.FIRE_ALWAYS)
        if state.fresh == 0 and not wanted_empty:
            if self.tell is not None:
                self.tell(Suppressed(window, by))
            return state
        hold = state.element_hold
        pane = Pane(
            window=window,
            value=self.combine.extract(state.accumulator),
            timestamp=window.max_timestamp if hold is None else min(hold, window.max_timestamp),
            info=info,
        )
        outstanding: tuple[Pane, ...] = ()
        if self.strategy.accumulation is AccumulationMode.RETRACTING:
            self.effects += (attrs.evolve(old, retraction=True) for old in state.outstanding)
            outstanding = (pane,)
        self.effects.append(pane)
        if self.tell is not None:
            self.tell(Fired(window, by, pane))
        return WindowState(
            state.trigger,
            state.accumulator,
            state.fresh,
            hold,
            state.awaits_end,
            state.alarms,
            info,
            outstanding,
        )

    def _drop(self, drop: Drop) -> None:
        self.effects.append(drop)
        if self.tell is not None:
            self.tell(drop)

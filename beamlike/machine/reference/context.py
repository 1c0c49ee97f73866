"""The working copy of one key's state during a step, with the effects so far.

`adding`, `merging` and `emission` share it: the clocks, the windows, the effects, and the rule for
where new elements hold the output watermark.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from beamlike.machine.events import Drop, DropReason, Effect, Item, Lifted, TraceEvent
from beamlike.machine.failures import FunctionFailure, OnFailure, OnFailureLike
from beamlike.machine.reference.composites import node_of
from beamlike.machine.reference.running import Now, TriggerFailed
from beamlike.machine.reference.state import KeyState, TriggerState
from beamlike.model.combine import CombineFn
from beamlike.model.combine.isolated import isolated
from beamlike.model.options import TimestampCombiner, option
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.trigger_analysis import minds_stale_processing_timers
from beamlike.model.windowfns import MergingWindowFn
from beamlike.model.windows import IntervalWindow, Window

Arrival = tuple[Window, Item]
"""An element with one of its windows, as the window is before merging."""


def count_of(items: Iterable[Item]) -> int:
    """How many elements these are."""
    return sum(item.count if isinstance(item, Lifted) else 1 for item in items)


class Failed(Exception):
    """A function of the user's raised while a bundle was added.

    ``arrivals`` are the elements that it raised for, each with its failure. The caller undoes what
    was done for the bundle.
    """

    def __init__(self, arrivals: Sequence[tuple[Arrival, FunctionFailure]]) -> None:
        super().__init__(arrivals)
        self.arrivals = arrivals


class Rules:
    """The rules of a grouping, which are the same in every step.

    Args:
        strategy: Windows, trigger, lateness and pane rules.
        combine: How a pane's elements become its value.
        on_error: What to do when a method of the window function or of ``combine`` raises:
            ``"fail"`` or ``"drop"``. Dropping leaves everything else as if the elements for which
            it raised had never arrived. A pane whose value cannot be computed is not emitted: its
            elements wait for the next pane, and are dropped if there is none.

    Raises:
        WindowingError: ``on_error`` is neither.
    """

    def __init__(
        self,
        strategy: WindowingStrategy,
        combine: CombineFn,
        on_error: OnFailureLike = OnFailure.FAIL,
    ) -> None:
        self.strategy = strategy
        self.combine = isolated(combine)
        self.on_error = option(OnFailure, on_error, "on_error")
        self.drops_failures = self.on_error is OnFailure.DROP
        window_fn = strategy.window_fn
        # As in Beam Java a trigger depends on whether the window function merges, not on whether
        # the grouping does: triggers of windows that merged before keep the state of merging ones.
        self.trigger = node_of(strategy.trigger, window_fn.is_merging)
        self.needs_clock = strategy.trigger.needs_clock
        self.keeps_processing_timers = minds_stale_processing_timers(strategy.trigger)
        self.needs_event_time_timers = any(node.waits_for_watermark for node in self.trigger.walk())
        merges = strategy.is_merging
        self.merging_fn = window_fn if merges and isinstance(window_fn, MergingWindowFn) else None
        self.needs_sizes = self.merging_fn is not None and self.merging_fn.needs_sizes


class StepContext:
    """The working copy. ``effects`` and ``trace`` are in the order in which things happened."""

    def __init__(self, rules: Rules, state: KeyState, *, tracing: bool) -> None:
        self.rules, self.strategy = rules, rules.strategy
        self.combine, self.trigger = rules.combine, rules.trigger
        self.before, self.windows = state, dict(state.windows)
        self.watermark, self.clock = state.watermark, state.clock
        self.output_watermark = state.output_watermark
        self.effects: list[Effect] = []
        self.trace: list[TraceEvent] = []
        self.tracing = tracing
        self.lifted = False
        """Whether elements were combined before they arrived: a shortcut where none were."""

    def result(self) -> KeyState:
        return self.before.after(self.watermark, self.clock, self.windows)

    def trigger_context(self, window: Window, items: Sequence[Item] = ()) -> Now:
        return Now(window, self.watermark, self.clock, items)

    def live(self) -> list[IntervalWindow]:
        """The windows that may merge. A closed session never does: new data opens a new one."""
        return [
            window
            for window, state in self.windows.items()
            if isinstance(window, IntervalWindow) and not state.closed
        ]

    def size_of(self, arrivals: Iterable[Arrival]) -> int:
        """What these elements add to the size of their window; 0 if windows have no sizes."""
        window_fn = self.rules.merging_fn
        if not self.rules.needs_sizes or window_fn is None:
            return 0
        return sum(
            count_of((item,)) * window_fn.size_of(window)
            for window, item in arrivals
            if isinstance(window, IntervalWindow)
        )

    # -- what comes out ------------------------------------------------------------------

    def drop(
        self,
        item: Item | None,
        window: Window | None,
        reason: DropReason,
        missed_by: int | None = None,
        nearest_session: Window | None = None,
        count: int | None = None,
        failure: FunctionFailure | None = None,
    ) -> None:
        if count is None:
            count = item.count if isinstance(item, Lifted) else 1
        error, cause = (None, None) if failure is None else (str(failure), failure.cause)
        watermark = self.watermark
        self.record_drop(
            Drop(item, window, reason, missed_by, nearest_session, watermark, count, error, cause)
        )

    def record_drop(self, drop: Drop) -> None:
        self.effects.append(drop)
        self.trace_event(drop)

    def trace_event(self, event: TraceEvent) -> None:
        """Record it if the step is traced. Check `tracing` before you make one."""
        if self.tracing:
            self.trace.append(event)

    def savepoint(self) -> tuple[int, int]:
        return len(self.effects), len(self.trace)

    def rollback(self, savepoint: tuple[int, int]) -> None:
        """Restore the windows as before the step, and the effects as at the savepoint."""
        self.windows = dict(self.before.windows)
        del self.effects[savepoint[0] :]
        del self.trace[savepoint[1] :]

    @contextmanager
    def unless_trigger_fails(self, window: Window) -> Iterator[None]:
        """If a trigger raises in the block, its window stays as it was, and the failure is
        reported.

        Nothing is lost: the window waits for the next event, at the latest for its expiry, where no
        trigger is asked.
        """
        before, (effects, events) = self.windows.get(window), self.savepoint()
        try:
            yield
        except TriggerFailed as failed:
            failure = FunctionFailure(failed.function, failed.cause, (), window)
            if not self.rules.drops_failures:
                self.fail(failure)
            del self.effects[effects:], self.trace[events:]
            if before is not None:
                self.windows[window] = before
            self.drop(None, window, DropReason.FAILED, count=0, failure=failure)

    def fail(self, failure: FunctionFailure) -> NoReturn:
        raise failure.error_in(self.strategy.resolution) from failure.cause

    # -- what a window waits for, and holds ----------------------------------------------

    def processing_timers(self, pending: tuple[int, ...], trigger: TriggerState) -> tuple[int, ...]:
        """The processing-time timers of a window after a bundle or a firing."""
        if not self.rules.needs_clock:
            return ()
        targets = {target for target in self.trigger.targets(trigger) if target >= self.clock}
        keeps_stale = self.rules.keeps_processing_timers
        return tuple(sorted(targets.union(pending) if keeps_stale else targets))

    def hold(self, window: Window, held: int | None, arrived: Iterable[Item]) -> int | None:
        """The hold of a window (ticks) after new elements, so that their pane is on time.

        An element that is behind the output watermark, or whose window the watermark has passed,
        is too late to hold anything.
        """
        if self.watermark > window.max_timestamp:
            return held
        combiner = self.strategy.timestamp_combiner
        if combiner is TimestampCombiner.END_OF_WINDOW:
            return window.max_timestamp  # never behind: the output is not ahead of the input
        holds = [e.timestamp for e in arrived if e.timestamp >= self.output_watermark]
        return self.combine_holds([*holds, held])

    def combine_holds(self, holds: Iterable[int | None]) -> int | None:
        pick = min if self.strategy.timestamp_combiner is TimestampCombiner.EARLIEST else max
        return pick((hold for hold in holds if hold is not None), default=None)

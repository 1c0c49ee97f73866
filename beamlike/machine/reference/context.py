"""A step in the making: a working copy of one key's state, and what came out of it so far.

What `adding`, `merging` and `emission` have in common is here: the clocks, the windows, where
effects go, and where new elements hold the output watermark.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, Protocol

from beamlike.machine.events import Drop, DropReason, Effect, Item, Lifted, TraceEvent
from beamlike.machine.failures import FunctionFailure, OnFailure
from beamlike.machine.reference.running import Now, TriggerFailed, TriggerNode
from beamlike.machine.reference.state import KeyState, TriggerState
from beamlike.model.combine import CombineFn
from beamlike.model.options import TimestampCombiner
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import MergingWindowFn
from beamlike.model.windows import IntervalWindow, Window

Arrival = tuple[Window, Item]
"""An element with one of its windows, as it is before any merging."""


def count_of(items: Iterable[Item]) -> int:
    """How many elements these are."""
    return sum(item.count if isinstance(item, Lifted) else 1 for item in items)


class Failed(Exception):
    """A function of the user's raised while a bundle was added.

    ``arrivals`` are those that it raised for, each with its failure. What was done for the
    bundle is to be undone.
    """

    def __init__(self, arrivals: Sequence[tuple[Arrival, FunctionFailure]]) -> None:
        super().__init__(arrivals)
        self.arrivals = arrivals


class Rules(Protocol):
    """What every step of a grouping keeps to."""

    strategy: WindowingStrategy
    combine: CombineFn
    trigger: TriggerNode
    needs_clock: bool
    keeps_processing_timers: bool
    needs_event_time_timers: bool
    merging_fn: MergingWindowFn | None
    needs_sizes: bool
    on_error: OnFailure
    drops_failures: bool


class StepContext:
    """The working copy. ``effects`` and ``trace`` are in the order in which things happened."""

    def __init__(self, rules: Rules, state: KeyState, *, tracing: bool) -> None:
        self.strategy = rules.strategy
        self.combine = rules.combine
        self.trigger = rules.trigger
        self.needs_clock = rules.needs_clock
        self.keeps_processing_timers = rules.keeps_processing_timers
        self.needs_event_time_timers = rules.needs_event_time_timers
        self.merging_fn = rules.merging_fn
        self.needs_sizes = rules.needs_sizes
        self.on_error = rules.on_error
        self.drops_failures = rules.drops_failures
        self.watermark = state.watermark
        self.clock = state.clock
        self.output_watermark = state.output_watermark
        self.before = state
        self.windows = dict(state.windows)
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
        """The windows that may merge. A closed session never does: new data opens one beside."""
        return [
            window
            for window, state in self.windows.items()
            if isinstance(window, IntervalWindow) and not state.closed
        ]

    def size_of(self, arrivals: Iterable[Arrival]) -> int:
        """What elements count for in the size of a window; 0 if windows have none."""
        window_fn = self.merging_fn
        if not self.needs_sizes or window_fn is None:
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
        """Back to the windows before the step, and to the effects as they were at the savepoint."""
        self.windows = dict(self.before.windows)
        del self.effects[savepoint[0] :]
        del self.trace[savepoint[1] :]

    @contextmanager
    def unless_trigger_fails(self, window: Window) -> Iterator[None]:
        """A window whose trigger raises in the block stays as it was before, and that is reported.

        Nothing of it is lost: it waits for what comes next, at the latest for its expiry, at which
        no trigger is asked.

        Raises:
            UserFunctionError: That is to be reported as an error.
        """
        before, (effects, events) = self.windows.get(window), self.savepoint()
        try:
            yield
        except TriggerFailed as failed:
            failure = FunctionFailure(failed.function, failed.cause, (), window)
            if not self.drops_failures:
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
        if not self.needs_clock:
            return ()
        targets = {target for target in self.trigger.targets(trigger) if target >= self.clock}
        return tuple(sorted(targets.union(pending) if self.keeps_processing_timers else targets))

    def hold(self, window: Window, held: int | None, arrived: Iterable[Item]) -> int | None:
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
        return self.combine_holds([*holds, held])

    def combine_holds(self, holds: Iterable[int | None]) -> int | None:
        pick = min if self.strategy.timestamp_combiner is TimestampCombiner.EARLIEST else max
        return pick((hold for hold in holds if hold is not None), default=None)

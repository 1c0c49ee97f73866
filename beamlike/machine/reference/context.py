"""A step in the making: a working copy of one key's state, and what came out of it so far.

What `adding`, `merging` and `emission` have in common is here: the clocks, the windows, where
effects go, and where new elements hold the output watermark.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NoReturn

from beamlike.machine.events import Drop, DropReason, Effect, Item, Lifted, TraceEvent
from beamlike.machine.failures import Failure
from beamlike.machine.reference.running import Now
from beamlike.machine.reference.state import KeyState, TriggerState
from beamlike.model.strategy import TimestampCombiner
from beamlike.model.windows import IntervalWindow, Window

if TYPE_CHECKING:
    from beamlike.machine.reference.step import Grouping

__all__ = ["Arrival", "Failed", "StepContext", "count_of"]

Arrival = tuple[Window, Item]
"""An element with one of its windows, as it is before any merging."""


def count_of(items: Iterable[Item]) -> int:
    """How many elements these are."""
    return sum(item.count if isinstance(item, Lifted) else 1 for item in items)


class Failed(Exception):
    """A function of the user's raised while a bundle was taken in.

    ``arrivals`` are those that it raised for, each with its failure. What was done for the
    bundle is to be undone.
    """

    def __init__(self, arrivals: Sequence[tuple[Arrival, Failure]]) -> None:
        super().__init__(arrivals)
        self.arrivals = arrivals


class StepContext:
    """The working copy. ``effects`` and ``trace`` are in the order in which things happened."""

    def __init__(self, grouping: "Grouping", state: KeyState, *, listening: bool) -> None:
        self.strategy = grouping.strategy
        self.combine = grouping.combine
        self.trigger = grouping.trigger
        self.needs_clock = grouping.needs_clock
        self.keeps_processing_timers = grouping.keeps_processing_timers
        self.needs_marks = grouping.needs_marks
        self.merging_fn = grouping.merging_fn
        self.needs_sizes = grouping.needs_sizes
        self.on_error = grouping.on_error
        self.drops_failures = grouping.drops_failures
        self.watermark = state.watermark
        self.clock = state.clock
        self.output_watermark = state.output_watermark
        self.before = state
        self.windows = dict(state.windows)
        self.effects: list[Effect] = []
        self.trace: list[TraceEvent] = []
        self.listening = listening
        self.lifted = False
        """Whether elements were combined before they arrived: a shortcut where none were."""

    def result(self) -> KeyState:
        return self.before.after(self.watermark, self.clock, self.windows)

    def moment(self, window: Window, items: Sequence[Item] = ()) -> Now:
        return Now(window, self.watermark, self.clock, items)

    def live(self) -> list[IntervalWindow]:
        """The windows that may merge. A closed session never does: new data opens one beside."""
        return [
            window
            for window, state in self.windows.items()
            if isinstance(window, IntervalWindow) and not state.closed
        ]

    # -- what comes out ------------------------------------------------------------------

    def drop(
        self,
        item: Item | None,
        window: Window | None,
        reason: DropReason,
        missed_by: int | None = None,
        nearest_session: Window | None = None,
        count: int | None = None,
        error: str | None = None,
    ) -> None:
        if count is None:
            count = item.count if isinstance(item, Lifted) else 1
        self.lose(
            Drop(item, window, reason, missed_by, nearest_session, self.watermark, count, error)
        )

    def lose(self, drop: Drop) -> None:
        self.effects.append(drop)
        self.tell(drop)

    def tell(self, happening: TraceEvent) -> None:
        """Put it down, if anybody listens. Often nobody does: ask before you make it."""
        if self.listening:
            self.trace.append(happening)

    def marks(self) -> tuple[int, int]:
        return len(self.effects), len(self.trace)

    def rollback(self, marks: tuple[int, int]) -> None:
        """Back to the windows before the step, and to the effects as they were at the marks."""
        self.windows = dict(self.before.windows)
        del self.effects[marks[0] :]
        del self.trace[marks[1] :]

    def fail(self, failure: Failure) -> NoReturn:
        raise failure.error from failure.cause

    # -- what a window waits for, and holds ----------------------------------------------

    def processing_timers(self, pending: tuple[int, ...], trigger: TriggerState) -> tuple[int, ...]:
        """The alarms of a window after its trigger listened or fired."""
        if not self.needs_clock:
            return ()
        targets = {at for at in self.trigger.targets(trigger) if at >= self.clock}
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

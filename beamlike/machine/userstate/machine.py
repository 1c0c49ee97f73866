"""The machine of a stateful function: ``(state, event) -> (state, effects)`` of one key.

Source: Beam Java ``StatefulDoFnRunner``.
"""

from collections.abc import Iterator, Sequence

from beamlike.machine.assigning import windows_of
from beamlike.machine.events import Bundle, Drop, Effect, Event, Pane
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.ungrouped import UngroupedMachine, elements_of, refuse_merging
from beamlike.machine.userstate.running import StatefulStep, next_event
from beamlike.machine.userstate.saved import of_state
from beamlike.model.options import option
from beamlike.model.stateful import StatefulFn
from beamlike.model.time import DurationLike
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window


class StatefulParDo(UngroupedMachine):
    """Runs a function that has states and timers, see `beamlike.model.stateful.StatefulFn`.

    Elements are taken in order of arrival, each in each of its windows; one that arrives in a
    window keeps it. The value of an element is a pair: the value for the function, and its pane.
    After the elements of a bundle, and after a move of the watermark or of the clock, all timers
    that are due fire, in order. An element that arrives after the expiry of its window is dropped.
    The states and timers of a window are forgotten one tick after its expiry.

    Args:
        window_fn: The windows of elements that arrive in none. They must not merge: there is no
            rule for how two states become one.
        allowed_lateness: How long after its end a window still accepts elements.
        on_error: What to do when ``fn`` or the window function raises: ``"fail"`` or ``"drop"``,
            which leaves states and timers as they were before the call. A timer that raised has
            fired.
        already_merged: A grouping has merged the windows, and each element comes in one of them.
        tagged: Whether values come out as pairs with the tag of their output.

    Raises:
        WindowingError: The windows merge, or ``on_error`` is neither.
        TimeError: The allowed lateness cannot be read.
    """

    def __init__(
        self,
        window_fn: WindowFn,
        fn: StatefulFn,
        allowed_lateness: DurationLike = 0,
        on_error: OnFailureLike = OnFailure.FAIL,
        *,
        already_merged: bool = False,
        tagged: bool = False,
    ) -> None:
        if not already_merged:
            refuse_merging(window_fn)
        self.window_fn, self.fn, self.already_merged = window_fn, fn, already_merged
        self.resolution = window_fn.resolution
        self.allowed_lateness = self.resolution.duration(allowed_lateness, "allowed_lateness")
        self.on_error = option(OnFailure, on_error, "on_error")
        self.tagged = tagged
        self.needs_clock = not all(spec.is_event_time for spec in fn.timers.values())

    def _stepped(
        self, state: KeyState, event: Event, watermark: int, clock: int
    ) -> tuple[KeyState, Sequence[Effect]]:
        running = StatefulStep(self, state, watermark, clock)
        if isinstance(event, Bundle):
            for element in elements_of(event, "a stateful function"):
                assigned = windows_of(element, self.window_fn, self.on_error, watermark)
                if isinstance(assigned, Drop):
                    running.effects.append(assigned)
                    continue
                for window in assigned:
                    running.take(element, window)
        running.settle()
        return state.after(watermark, clock, running.windows()), running.effects

    def first_and_last_step(self, bundle: Bundle) -> Iterator[Effect]:
        """The effects of a new key's only bundle, after which time ends, for a function that keeps
        the first element.

        Raises:
            UserFunctionError: As `step`.
        """
        seen: set[Window] = set()
        for element in elements_of(bundle, "a stateful function"):
            assigned = windows_of(element, self.window_fn, self.on_error, self.resolution.earliest)
            if isinstance(assigned, Drop):
                yield assigned
                continue
            value, pane = element.value
            for window in assigned:
                if window not in seen:
                    seen.add(window)
                    yield Pane(window, self.fn.first(value), element.timestamp, pane)

    def next_timers(self, state: KeyState) -> NextTimers:
        """The earliest instants that the watermark and the clock have to pass for something to
        happen."""
        events = (
            next_event(self, of_state(kept), window) for window, kept in state.windows.items()
        )
        processing_timers = (
            processing_timer
            for window in state.windows.values()
            for processing_timer in window.processing_timers
        )
        return NextTimers(min(events, default=None), min(processing_timers, default=None))

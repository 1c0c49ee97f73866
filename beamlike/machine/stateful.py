"""A function with a memory: one state for each key and window, elements one by one.

Nothing is grouped and there is no trigger. Each element is given to the function with the
state that the element before it left, and what the function returns comes out at once.

Source: Beam Java ``StatefulDoFnRunner``, Scio ``applyPerKeyDoFn``.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from beamlike.errors import WindowingError
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import (
    AdvanceWatermark,
    Bundle,
    Drop,
    Effect,
    Element,
    Event,
    OnEvent,
    Pane,
)
from beamlike.machine.failures import Failure, OnFailure, left_out
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.machine.ungrouped import clocks_after, elements_of, expired, refuse_merging
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import DurationLike, duration_ms
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window, expiry

Remember = Callable[[Any, Any, int], tuple[Any, Iterable[Any]]]
"""``(state, value, timestamp) -> (state, outputs)``; a state of None is no state."""


class StatefulMap:
    """Runs a function over the elements of a key, with a state for each window.

    Elements are taken in order of arrival, each in each of its windows; one that comes in a
    window keeps it. An output is a pane that never fired, in the window and at the timestamp
    of the element that brought it out. An element whose window has expired is dropped and the
    function does not see it. The state is forgotten when its window expires.

    Args:
        window_fn: The windows of elements that come in none. They must not merge: two states have
            no sum.
        fn: Called with the state (None at first), the value and the event time (ms) of an
            element. Returns the new state, None to forget it, and the outputs. It leaves
            the old state as it was: states are saved, loaded and compared.
        allowed_lateness: How long after its end a window still accepts elements.
        on_error: What to do when ``fn`` or the window function raises: ``"fail"`` or
            ``"drop"``, which drops the element and leaves the state as it was.
        already_merged: A grouping has merged the windows, and each element comes in one of them.

    Raises:
        WindowingError: The windows merge, ``fn`` cannot be called, or ``on_error`` is neither.
        TimeError: The allowed lateness cannot be read.
    """

    needs_clock: Final = False

    def __init__(
        self,
        window_fn: WindowFn,
        fn: Remember,
        allowed_lateness: DurationLike = 0,
        on_error: OnFailure | str = OnFailure.FAIL,
        *,
        already_merged: bool = False,
    ) -> None:
        if not already_merged:
            refuse_merging(window_fn)
        if not callable(fn):
            raise WindowingError(
                f"StatefulMap fn must be a function, got {fn!r}; write "
                "fn(state, value, timestamp) that returns (state, outputs)"
            )
        self.window_fn = window_fn
        self.fn = fn
        self.allowed_lateness = duration_ms(allowed_lateness, "allowed_lateness")
        self.on_error = option(OnFailure, on_error, "on_error")

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """Apply one event to the state; returns the next state and the effects.

        Args:
            state: Left as it is, also if ``fn`` raises.
            event: What happens.
            on_event: Called with each drop, at the end of the step.

        Raises:
            WatermarkError: The watermark or the clock would go back.
            WindowingError: An element was combined with others before it arrived.
            UserFunctionError: ``fn`` or the window function raised, and that is to be reported.
        """
        watermark, clock = clocks_after(state, event)
        windows = dict(state.windows)
        effects: list[Effect] = []
        if isinstance(event, Bundle):
            for element in elements_of(event, "a stateful function"):
                effects += self._take(element, windows, watermark)
        elif isinstance(event, AdvanceWatermark):
            windows = {w: it for w, it in windows.items() if watermark <= self._expiry(w)}
        if on_event is not None:
            for effect in effects:
                if isinstance(effect, Drop):
                    on_event(effect)
        return state.after(watermark, clock, windows), tuple(effects)

    def _take(
        self, element: Element, windows: dict[Window, WindowState], watermark: int
    ) -> Iterator[Effect]:
        assigned = windows_of(element, self.window_fn, self.on_error, watermark)
        if isinstance(assigned, Drop):
            yield assigned
            return
        for window in assigned:
            if drop := expired(element, window, self._expiry(window), watermark):
                yield drop
                continue
            known = windows.get(window)
            before = None if known is None else known.accumulator
            try:
                after, outputs = self.fn(before, element.value, element.timestamp)
                values = tuple(outputs)
            except Exception as cause:
                failure = Failure(stable_repr(self.fn), cause, (element,), window)
                yield left_out(element, failure, self.on_error, watermark)
                continue
            windows.pop(window, None)
            if after is not None:
                windows[window] = WindowState(TriggerState(), after)
            yield from (Pane(window, it, element.timestamp, NO_FIRING) for it in values)

    def next_timers(self, state: KeyState) -> NextTimers:
        """The earliest expiry of a window with a state. The clock changes nothing."""
        return NextTimers(min(map(self._expiry, state.windows), default=None), None)

    def _expiry(self, window: Window) -> int:
        return expiry(window, self.allowed_lateness)

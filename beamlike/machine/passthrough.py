"""The machine of a stage that only assigns windows: nothing is grouped, nothing is kept."""

from typing import Final

from beamlike.machine.assigning import windows_of
from beamlike.machine.events import Bundle, Drop, Effect, Event, OnEvent, Pane
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.ungrouped import clocks_after, elements_of
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.windowfns import WindowFn


class PassThrough:
    """Each element comes out at once, once per window, as a pane that never fired.

    An element that comes in a window keeps it. Trigger, lateness and accumulation have no effect
    before a grouping.

    Args:
        window_fn: Which windows an element belongs to.
        on_error: What to do when it raises, ``"fail"`` or ``"drop"``.

    Source: Beam ``Window.into`` without a grouping; ``PaneInfo.NO_FIRING``.
    """

    needs_clock: Final = False

    def __init__(self, window_fn: WindowFn, on_error: OnFailureLike = OnFailure.FAIL) -> None:
        self.window_fn = window_fn
        self.on_error = option(OnFailure, on_error, "on_error")

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """A pane for each window of each element. Only the clocks are remembered.

        Raises:
            WatermarkError: The watermark or the clock would go back.
            WindowingError: An element was combined with others before it arrived.
            UserFunctionError: The window function raised, and that is to be reported.
        """
        watermark, clock = clocks_after(state, event)
        effects: list[Effect] = []
        elements = (
            elements_of(event, "a stage that only assigns windows")
            if isinstance(event, Bundle)
            else ()
        )
        for element in elements:
            windows = windows_of(element, self.window_fn, self.on_error, watermark)
            if isinstance(windows, Drop):
                effects.append(windows)
                continue
            effects += (
                Pane(window, element.value, element.timestamp, NO_FIRING) for window in windows
            )
        if on_event is not None:
            for effect in effects:
                if isinstance(effect, Drop):
                    on_event(effect)
        return state.at(watermark, clock), tuple(effects)

    def next_timers(self, state: KeyState) -> NextTimers:
        """Nothing to wait for."""
        return NextTimers(None, None)

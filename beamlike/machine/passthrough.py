"""The machine of a stage that only assigns windows: nothing is grouped, nothing is kept."""

from collections.abc import Sequence

from beamlike.machine.assigning import windows_of
from beamlike.machine.events import Bundle, Drop, Effect, Event, Pane
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.ungrouped import UngroupedMachine, elements_of
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.windowfns import WindowFn


class PassThrough(UngroupedMachine):
    """Each element comes out at once, once per window, as a pane that never fired.

    An element that comes in a window keeps it. Trigger, lateness and accumulation have no effect
    before a grouping.

    Args:
        window_fn: Which windows an element belongs to.
        on_error: What to do when it raises, ``"fail"`` or ``"drop"``.

    Source: Beam ``Window.into`` without a grouping; ``PaneInfo.NO_FIRING``.
    """

    def __init__(self, window_fn: WindowFn, on_error: OnFailureLike = OnFailure.FAIL) -> None:
        self.window_fn = window_fn
        self.on_error = option(OnFailure, on_error, "on_error")

    def _stepped(
        self, state: KeyState, event: Event, watermark: int, clock: int
    ) -> tuple[KeyState, Sequence[Effect]]:
        effects: list[Effect] = []
        bundle = event if isinstance(event, Bundle) else Bundle(())
        for element in elements_of(bundle, "a stage that only assigns windows"):
            windows = windows_of(element, self.window_fn, self.on_error, watermark)
            if isinstance(windows, Drop):
                effects.append(windows)
                continue
            effects += (
                Pane(window, element.value, element.timestamp, NO_FIRING) for window in windows
            )
        # Only the clocks are remembered.
        return state.at(watermark, clock), effects

    def next_timers(self, state: KeyState) -> NextTimers:
        """Nothing to wait for."""
        return NextTimers(None, None)

"""The machine of a stage that only assigns windows: nothing is grouped, nothing is kept."""

from beamlike.machine.events import Bundle, Effect, Event, Pane, Tell
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.wakes import Wakes
from beamlike.model.panes import NO_FIRING
from beamlike.model.windowfns import WindowFn

__all__ = ["PassThrough"]


class PassThrough:
    """Each element comes out at once, once per window, as a pane that never fired.

    Trigger, lateness and accumulation have no say before a grouping.

    Source: Beam ``Window.into`` without a grouping; ``PaneInfo.NO_FIRING``.
    """

    def __init__(self, window_fn: WindowFn) -> None:
        self.window_fn = window_fn

    def step(
        self, state: KeyState, event: Event, tell: Tell | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """The state as it was, and a pane for each window of each element."""
        if not isinstance(event, Bundle):
            return state, ()
        return state, tuple(
            Pane(window, element.value, element.timestamp, NO_FIRING)
            for element in event.elements
            for window in self.window_fn.assign(element.timestamp, element.value)
        )

    def wakes(self, state: KeyState) -> Wakes:
        """Nothing to wait for."""
        return Wakes(None, None)

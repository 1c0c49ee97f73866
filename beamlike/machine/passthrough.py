"""The machine of a stage that only assigns windows: nothing is grouped, nothing is kept."""

from typing import Final

from beamlike.errors import WindowingError
from beamlike.machine.events import (
    Bundle,
    Drop,
    DropReason,
    Effect,
    Element,
    Event,
    Lifted,
    Pane,
    Tell,
)
from beamlike.machine.failures import Failure, OnFailure
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.wakes import Wakes
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.windowfns import WindowFn

__all__ = ["PassThrough"]


class PassThrough:
    """Each element comes out at once, once per window, as a pane that never fired.

    An element that comes in a window keeps it. Trigger, lateness and accumulation have no say
    before a grouping.

    Args:
        window_fn: Which windows an element belongs to.
        on_error: What to do when it raises, ``"fail"`` or ``"drop"``.

    Source: Beam ``Window.into`` without a grouping; ``PaneInfo.NO_FIRING``.
    """

    needs_clock: Final = False

    def __init__(self, window_fn: WindowFn, on_error: OnFailure | str = OnFailure.FAIL) -> None:
        self.window_fn = window_fn
        self.on_error = option(OnFailure, on_error, "on_error")

    def step(
        self, state: KeyState, event: Event, tell: Tell | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """The state as it was, and a pane for each window of each element.

        Raises:
            WindowingError: An element was combined with others before it arrived.
            UserFunctionError: The window function raised, and that is to be reported.
        """
        effects: list[Effect] = []
        for element in map(_uncombined, event.elements if isinstance(event, Bundle) else ()):
            try:
                windows = (
                    (element.window,)
                    if element.window is not None
                    else tuple(self.window_fn.assign(element.timestamp, element.value))
                )
            except Exception as cause:
                failure = Failure.of(self.window_fn, "assign", cause, (element,))
                if self.on_error is OnFailure.FAIL:
                    raise failure.error from cause
                drop = Drop(
                    element,
                    None,
                    DropReason.FAILED,
                    watermark=state.watermark,
                    error=str(failure),
                )
                effects.append(drop)
                if tell is not None:
                    tell(drop)
                continue
            effects += (
                Pane(window, element.value, element.timestamp, NO_FIRING) for window in windows
            )
        return state, tuple(effects)

    def wakes(self, state: KeyState) -> Wakes:
        """Nothing to wait for."""
        return Wakes(None, None)


def _uncombined(element: Element | Lifted) -> Element:
    if isinstance(element, Lifted):
        raise WindowingError(
            f"a stage that only assigns windows was given {element.count} elements already "
            f"combined in {element.window}; combine before a grouping only"
        )
    return element

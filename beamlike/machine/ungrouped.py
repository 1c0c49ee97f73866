"""What machines that do not group share: elements one by one, clocks that only go forward.

The smallest of them is here too: `PassThrough`, which only assigns windows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from beamlike.errors import WindowingError
from beamlike.machine.assigning import windows_of
from beamlike.machine.events import (
    AdvanceWatermark,
    Bundle,
    Drop,
    DropReason,
    Effect,
    Element,
    Event,
    Lifted,
    OnEvent,
    Pane,
    refuse_going_back,
)
from beamlike.machine.failures import OnFailure, OnFailureLike
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.model.fingerprint import how_many
from beamlike.model.options import option
from beamlike.model.panes import NO_FIRING
from beamlike.model.resolution import Resolution
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window


class UngroupedMachine(ABC):
    """A machine that takes elements one by one, and groups nothing: ``(state, event) -> (state,
    effects)`` of one key."""

    needs_clock: bool = False
    """Whether something waits for processing time."""
    resolution: Resolution
    """What a tick is."""

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        """Apply one event to the state; returns the next state and the effects.

        Args:
            state: Left as it is, also if a function raises.
            on_event: Called with each drop, at the end of the step.

        Raises:
            WatermarkError: A watermark or the clock would go back.
            WindowingError: An element was combined with others before it arrived, or is not one
                that this machine takes.
            UserFunctionError: A function of the user's raised, and that is to be reported.
        """
        after, effects = self._stepped(state, event, *clocks_after(state, event, self.resolution))
        if on_event is not None:
            for effect in effects:
                if isinstance(effect, Drop):
                    on_event(effect)
        return after, tuple(effects)

    @abstractmethod
    def _stepped(
        self, state: KeyState, event: Event, watermark: int, clock: int
    ) -> tuple[KeyState, Sequence[Effect]]:
        """See `step`; ``watermark`` and ``clock`` are those after the event (ticks)."""


def refuse_merging(window_fn: WindowFn) -> None:
    """Refuse windows that merge, for a function with states."""
    if window_fn.is_merging:
        raise WindowingError(
            f"MergingWindowFn is not supported for stateful functions: {window_fn} merges "
            "windows, and a state cannot be merged; use FixedWindows, SlidingWindows, "
            "calendar windows or GlobalWindows"
        )


def elements_of(bundle: Bundle, stage: str) -> Iterator[Element]:
    """The elements of a bundle, in order of arrival; those are refused that were combined before.

    Args:
        stage: What the machine is, for the error.
    """
    for element in bundle.elements:
        if isinstance(element, Lifted):
            raise WindowingError(
                f"{stage} was given {how_many(element.count, 'element')} already combined in "
                f"{element.window}; combine before a grouping only"
            )
        yield element


def expired(element: Element, window: Window, deadline: int, watermark: int) -> Drop | None:
    """The drop of an element whose deadline the watermark has passed, else None."""
    if watermark <= deadline:
        return None
    missed_by = watermark - deadline
    return Drop(element, window, DropReason.EXPIRED, missed_by, watermark=watermark)


def clocks_after(state: KeyState, event: Event, unit: Resolution) -> tuple[int, int]:
    """The watermark and the clock (ticks of ``unit``) to which an event brings a key, neither of
    which may go back."""
    if isinstance(event, Bundle):
        return state.watermark, state.clock
    is_watermark = isinstance(event, AdvanceWatermark)
    stands_at = state.watermark if is_watermark else state.clock
    refuse_going_back(event, stands_at, state.side, unit=unit)
    return (event.to, state.clock) if is_watermark else (state.watermark, event.to)


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
        self.window_fn, self.resolution = window_fn, window_fn.resolution
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
        return state.caught_up(watermark, clock), effects

    def next_timers(self, state: KeyState) -> NextTimers:
        """Nothing to wait for."""
        return NextTimers(None, None)

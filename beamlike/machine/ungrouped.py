"""What machines that do not group share: elements one by one, clocks that only go forward."""

from collections.abc import Iterator

from beamlike.errors import WatermarkError, WindowingError
from beamlike.machine.events import (
    AdvanceWatermark,
    Bundle,
    Drop,
    DropReason,
    Element,
    Event,
    Lifted,
    going_back,
)
from beamlike.machine.reference.state import KeyState
from beamlike.model.fingerprint import how_many
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window


def refuse_merging(window_fn: WindowFn) -> None:
    """Refuse windows that merge, for a function with states.

    Raises:
        WindowingError: They merge.
    """
    if window_fn.is_merging:
        raise WindowingError(
            f"MergingWindowFn is not supported for stateful functions: {window_fn} merges "
            "windows, and a state cannot be merged; use FixedWindows, SlidingWindows, "
            "calendar windows or GlobalWindows"
        )


def elements_of(bundle: Bundle, stage: str) -> Iterator[Element]:
    """The elements of a bundle, in order of arrival.

    Args:
        bundle: What arrived.
        stage: What the machine is, for the error.

    Raises:
        WindowingError: Elements were combined before they arrived.
    """
    for element in bundle.elements:
        if isinstance(element, Lifted):
            raise WindowingError(
                f"{stage} was given {how_many(element.count, 'element')} already combined in "
                f"{element.window}; combine before a grouping only"
            )
        yield element


def expired(element: Element, window: Window, deadline: int, watermark: int) -> Drop | None:
    """The drop of an element whose deadline (ms) the watermark (ms) has passed, else None."""
    if watermark <= deadline:
        return None
    missed_by = watermark - deadline
    return Drop(element, window, DropReason.EXPIRED, missed_by, watermark=watermark)


def clocks_after(state: KeyState, event: Event) -> tuple[int, int]:
    """The watermark and the clock (ms) that an event brings a key to.

    Raises:
        WatermarkError: One of them would go back.
    """
    if isinstance(event, Bundle):
        return state.watermark, state.clock
    is_watermark = isinstance(event, AdvanceWatermark)
    stands_at = state.watermark if is_watermark else state.clock
    refusal = going_back(event, stands_at, state.side)
    if refusal is not None:
        raise WatermarkError(refusal)
    return (event.to, state.clock) if is_watermark else (state.watermark, event.to)

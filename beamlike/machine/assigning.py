"""The windows of an element: the one in which it arrives, or those that the function assigns."""

from operator import index
from typing import Any, Final

from beamlike.errors import WindowError
from beamlike.machine.events import Drop, Element
from beamlike.machine.failures import FunctionFailure, OnFailure, left_out
from beamlike.model.copies import is_of_user, own_copy
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import Window
from beamlike.safe_text import USER_RAISED, short_repr

_EARLIEST: Final = -(2**63)
_LATEST: Final = 2**63 - 1


def assigned(window_fn: WindowFn, timestamp: int, value: Any) -> tuple[Window, ...]:
    """The windows that a window function assigns. A user's own function might change the value, so
    it gets a copy."""
    argument = own_copy(value) if is_of_user(window_fn) else value
    windows = tuple(window_fn.assign(timestamp, argument))
    for window in windows:
        check_bounds(window)
    return windows


def check_bounds(window: Window) -> None:
    """Refuse a window that no state can keep.

    Raises:
        WindowError: A bound is too far for an instant.
        TypeError: A bound is not a whole number.
    """
    start, end = index(window.start), index(window.end)
    if start < _EARLIEST or end > _LATEST:
        raise WindowError(
            f"a window must lie within 64 bits of time, got one from {short_repr(start)} to "
            f"{short_repr(end)}"
        )


def windows_of(
    element: Element, window_fn: WindowFn, on_error: OnFailure, watermark: int | None
) -> tuple[Window, ...] | Drop:
    """The windows of an element, or its drop if the window function raises for it; ``watermark`` is
    for that, None where it is not known.

    Raises:
        UserFunctionError: The window function raised, and that is to be reported.
    """
    if element.window is not None:
        return (element.window,)
    try:
        return assigned(window_fn, element.timestamp, element.value)
    except USER_RAISED as cause:
        failure = FunctionFailure.of(window_fn, "assign", cause, (element,))
        return left_out(element, failure, on_error, watermark, window_fn.resolution)

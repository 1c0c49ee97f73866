"""Side inputs: which of their windows an element of the main input looks into.

Source: Beam Java, ``WindowFn.getDefaultWindowMappingFn`` and its overrides.
"""

from beamlike.errors import WindowingError
from beamlike.model.windowfns import (
    GlobalWindows,
    MappingWindowFn,
    SlidingWindows,
    WindowFn,
    window_at,
)
from beamlike.model.windows import GLOBAL_WINDOWS, GlobalWindow, Window


def side_input_window(main_window: Window, window_fn: WindowFn) -> Window:
    """The window of a side input for an element in ``main_window``.

    It is the side window that contains the last instant of the main window; of several
    sliding ones the earliest. Where sliding windows leave a gap there, it is the next one. A
    `MappingWindowFn` says itself which window it is.

    Args:
        main_window: The window of the main input's element.
        window_fn: How the side input is windowed.

    Raises:
        WindowingError: The side input's windows merge; the main window is the global one and
            the side input's are not; or the side input has no window at that instant.

    >>> from beamlike.model.windows import IntervalWindow
    >>> print(side_input_window(IntervalWindow(0, 60_000), SlidingWindows("1 h", "10 minutes")))
    [1969-12-31 23:10:00, 00:10:00)
    """
    if window_fn.is_merging:
        raise WindowingError(
            f"{type(window_fn).__name__} is not allowed in side inputs: which window an instant "
            "belongs to depends on the other elements; window the side input with FixedWindows, "
            "SlidingWindows or GlobalWindows"
        )
    if isinstance(window_fn, MappingWindowFn):
        return window_fn.side_window(main_window)
    if isinstance(window_fn, GlobalWindows):
        return GLOBAL_WINDOWS[window_fn.resolution]
    if isinstance(main_window, GlobalWindow):
        raise WindowingError(
            "Attempted to get side input window for GlobalWindow from non-global WindowFn "
            f"{window_fn}; window the side input with GlobalWindows(), or the main input with "
            f"{window_fn}"
        )
    instant = main_window.max_timestamp
    if isinstance(window_fn, SlidingWindows):
        too_early = instant - window_fn.size
        before = too_early - (too_early - window_fn.offset) % window_fn.period
        last = window_fn.resolution.end_of_global_window
        return window_at(before + window_fn.period, window_fn.size, last)
    windows = window_fn.assign(instant)
    if not windows:
        raise WindowingError(
            f"{window_fn} has no window at {window_fn.resolution.show_instant(instant)}, the last "
            f"instant of {main_window}; use a window function for the side input that leaves no "
            "gaps"
        )
    return min(windows, key=lambda window: (window.start, window.end))

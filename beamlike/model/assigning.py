"""Windows of all elements of a bundle at once, where the window function needs only times."""

from collections.abc import Sequence

from beamlike.model.bundle import Spans
from beamlike.model.sessions import Sessions
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.windowfns import FixedWindows, GlobalWindows, WindowFn
from beamlike.model.windows import GLOBAL_WINDOW


def spans_at(window_fn: WindowFn, timestamps: Sequence[int]) -> Spans | None:
    """The windows of elements at these event times (ms), as `WindowFn.assign` has them.

    None if elements may be in several windows, if the window function looks at their values or is
    a user's own, and near the end of time, where windows are cut short: then `assign` is called.
    """
    kind = type(window_fn)  # and no subclass, which may assign as it likes
    if kind is GlobalWindows:
        return Spans.all_in(GLOBAL_WINDOW, len(timestamps))
    if kind is FixedWindows:
        assert isinstance(window_fn, FixedWindows)
        size, offset = window_fn.size, window_fn.offset
        starts = [at - (at - offset) % size for at in timestamps]
    elif kind is Sessions:
        assert isinstance(window_fn, Sessions)
        if not isinstance(window_fn.gap, int) or window_fn.ends_with is not None:
            return None
        size, starts = window_fn.gap, list(timestamps)
    else:
        return None
    if max(timestamps, default=0) > END_OF_GLOBAL_WINDOW - size:
        return None
    return Spans(starts, [start + size for start in starts])

"""What makes an element late, and what it nearly joined."""

from collections.abc import Set
from typing import assert_never

from beamlike.model.strategy import LateCheck, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windowfns import MergingWindowFn, WindowFn
from beamlike.model.windows import IntervalWindow, Window

__all__ = ["deadline_before_merging", "merged_with"]


def deadline_before_merging(strategy: WindowingStrategy, window: Window, timestamp: int) -> int:
    """The last watermark (ms) at which an element for ``window`` may go on to be merged."""
    match strategy.late_check:
        case LateCheck.ASSIGNED:
            # The element's own window decides: a live session that would have taken the
            # element in does not save it.
            return strategy.expiry(window)
        case LateCheck.ELEMENT:
            return min(timestamp + strategy.allowed_lateness, strategy.expiry(window))
        case LateCheck.MERGED:
            return MAX_TIMESTAMP  # only the merged window decides
        case unknown:
            assert_never(unknown)


def merged_with(
    window_fn: WindowFn, live: Set[IntervalWindow], window: Window
) -> IntervalWindow | None:
    """What ``window`` would become if it merged with the live windows; None if it is alone."""
    if not isinstance(window_fn, MergingWindowFn) or not isinstance(window, IntervalWindow):
        return None
    if window in live:
        return window
    plan = window_fn.merge(iter({*live, window}))
    return next((merge.into for merge in plan if window in merge.sources), None)

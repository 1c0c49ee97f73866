"""What makes an element late, and which session it nearly joined."""

from collections.abc import Iterable
from typing import assert_never

from beamlike.machine.assigning import windows_of
from beamlike.machine.events import Drop, DropReason, Item, Lifted
from beamlike.machine.failures import FunctionFailure
from beamlike.machine.liftable import check_lifted
from beamlike.machine.reference.context import Arrival, StepContext
from beamlike.model.options import LateCheck
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow, Window
from beamlike.safe_text import USER_RAISED


def deadline_before_merging(strategy: WindowingStrategy, window: Window, timestamp: int) -> int:
    """The last watermark at which an element for ``window`` may still be merged."""
    match strategy.late_check:
        case LateCheck.ASSIGNED | LateCheck.RETAIN:
            # The element's own window decides: a live session that would have taken the
            # element in does not save it.
            return strategy.expiry(window)
        case LateCheck.ELEMENT:
            return min(timestamp + strategy.allowed_lateness, strategy.expiry(window))
        case LateCheck.MERGED:
            return strategy.resolution.end_of_time  # only the merged window decides
        case unknown:
            assert_never(unknown)


def arrivals_of(work: StepContext, items: Iterable[Item]) -> list[Arrival]:
    """Each element with each of its windows, except where it is late before merging.

    Elements that were combined before may have been judged there, and are not judged again.
    """
    arrivals: list[Arrival] = []
    nearest_session: _NearestSessions | None = None
    strategy, watermark = work.strategy, work.watermark
    for item in items:
        if isinstance(item, Lifted):
            check_lifted(strategy, item.count, item.window)
            work.lifted = True
            if item.judged:
                arrivals.append((item.window, item))
                continue
        for window in _windows_of(work, item):
            missed_by = watermark - deadline_before_merging(strategy, window, item.timestamp)
            if missed_by > 0:
                nearest_session = nearest_session or _NearestSessions(work)
                joined = nearest_session.joined_by(window, item)
                work.drop(item, window, DropReason.EXPIRED, missed_by, joined)
            else:
                arrivals.append((window, item))
    return arrivals


def _windows_of(work: StepContext, item: Item) -> tuple[Window, ...]:
    if isinstance(item, Lifted):
        return (item.window,)
    windows = windows_of(item, work.strategy.window_fn, work.rules.on_error, work.watermark)
    if isinstance(windows, Drop):
        work.record_drop(windows)
        return ()
    return windows


class _NearestSessions:
    """The sessions that late elements of one bundle nearly joined."""

    def __init__(self, work: StepContext) -> None:
        self._work = work
        self._live = {window: work.windows[window].size for window in work.live()}
        self._known: dict[Window, IntervalWindow | None] = {}

    def joined_by(self, window: Window, element: Item) -> IntervalWindow | None:
        """The session that ``window`` would become if it merged with the live windows; None if it
        merges with none, or if that session has expired."""
        if window not in self._known:
            self._known[window] = self._ask(window, element)
        return self._known[window]

    def _ask(self, window: Window, element: Item) -> IntervalWindow | None:
        window_fn = self._work.rules.merging_fn
        if window_fn is None or not isinstance(window, IntervalWindow):
            return None
        into: IntervalWindow | None = window
        if window not in self._live:
            try:
                plan = (
                    window_fn.merge_sized({**self._live, window: window_fn.size_of(window)})
                    if self._work.rules.needs_sizes
                    else window_fn.merge(iter({*self._live, window}))
                )
                into = next((merge.into for merge in plan if window in merge.sources), None)
            except USER_RAISED as cause:
                if not self._work.rules.drops_failures:
                    self._work.fail(
                        FunctionFailure.of(window_fn, "merge", cause, (element,), window)
                    )
                return None  # it is being dropped as it is
        # An expired session that is retained would not have taken it in either.
        expired = into is None or self._work.watermark > self._work.strategy.expiry(into)
        return None if expired else into

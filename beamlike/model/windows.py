"""Windows: finite spans of event time, and the one that holds everything.

Source: Beam Java, ``IntervalWindow``, ``GlobalWindow``, ``LateDataUtils``.
"""

from operator import attrgetter, index
from typing import Any, Final, Self

import attrs

from beamlike.errors import WindowError
from beamlike.model.readable import Readable
from beamlike.model.resolution import MICROSECONDS, MILLISECONDS, Resolution, rescaled
from beamlike.model.time import InstantLike, instant_ms, show_instant


def _start(instant: InstantLike) -> int:
    # Windows are made for every element, and nearly always of whole milliseconds.
    return instant if type(instant) is int else _instant(instant, "IntervalWindow start")


def _end(instant: InstantLike) -> int:
    return instant if type(instant) is int else _instant(instant, "IntervalWindow end")


def _instant(instant: Any, argument: str) -> int:
    if not isinstance(instant, bool) and hasattr(instant, "__index__"):
        return index(instant)  # a number of NumPy
    return instant_ms(instant, argument)


@attrs.frozen(order=True, cache_hash=True)
class IntervalWindow(metaclass=Readable):
    """A half-open span of event time, ``[start, end)``, in milliseconds since the epoch.

    Where a query counts microseconds, its windows do, too. Windows sort by ``(start, end)``, so two
    runs over the same events visit them in the same order.

    Args:
        start: An instant: milliseconds, a ``datetime``, or text such as ``"12:00"``. It is kept
            as milliseconds.
        end: Likewise.

    Raises:
        WindowError: ``end`` is not after ``start``.
        TimeError: One of them is no instant.

    >>> window = IntervalWindow("12:00", "12:05")
    >>> print(window)
    [12:00:00, 12:05:00)
    >>> window.end - window.start
    300000
    """

    start: int = attrs.field(converter=_start)
    end: int = attrs.field(converter=_end)

    def __attrs_post_init__(self) -> None:
        if self.end <= self.start:
            raise WindowError(
                f"a window needs start < end, got start={show_instant(self.start)}, "
                f"end={show_instant(self.end)}; give an end that is later"
            )

    @property
    def max_timestamp(self) -> int:
        """The last instant inside: one tick before its end, ``end - 1``."""
        return self.end - 1

    def intersects(self, other: Self) -> bool:
        """True if the two share at least one instant; touching windows do not."""
        return self.start < other.end and other.start < self.end

    def __str__(self) -> str:
        return f"[{show_instant(self.start)}, {show_instant(self.end)})"


@attrs.frozen(order=True)
class GlobalWindow(metaclass=Readable):
    """All of event time. It ends one day before time does, so that it can still fire.

    ``resolution`` says what its bounds count.

    >>> GLOBAL_WINDOW == GlobalWindow()
    True
    """

    resolution: Resolution = attrs.field(default=MILLISECONDS, init=False, repr=False, order=False)

    @property
    def start(self) -> int:
        return self.resolution.earliest

    @property
    def end(self) -> int:
        return self.resolution.end_of_global_window + 1

    @property
    def max_timestamp(self) -> int:
        return self.resolution.end_of_global_window

    def __str__(self) -> str:
        return "global"


Window = IntervalWindow | GlobalWindow
GLOBAL_WINDOW = GlobalWindow()
"""The global window of what counts milliseconds."""

GLOBAL_WINDOWS: Final = {unit: rescaled(GLOBAL_WINDOW, unit) for unit in Resolution}
"""The global window by what is counted."""

bounds = attrgetter("start", "end")
"""The order of windows, as a key: much quicker than comparing the windows themselves."""


def window_of(start: int, end: int) -> Window:
    """The window with these bounds."""
    if end == _GLOBAL_END and start == _GLOBAL_START:
        return GLOBAL_WINDOW
    if end == _GLOBAL_END_US and start == _GLOBAL_START_US:
        return GLOBAL_WINDOWS[MICROSECONDS]
    return IntervalWindow(start, end)


_GLOBAL_START, _GLOBAL_END = bounds(GLOBAL_WINDOW)
_GLOBAL_START_US, _GLOBAL_END_US = bounds(GLOBAL_WINDOWS[MICROSECONDS])


def expiry(window: Window, allowed_lateness: int, resolution: Resolution = MILLISECONDS) -> int:
    """The last watermark at which data for ``window`` is still accepted.

    One tick later the window emits what it has left, is forgotten, and its data is
    dropped. Never beyond the end of the global window.

    Source: Beam Java, ``LateDataUtils.garbageCollectionTime``. Beam Python compares with
    the window's end instead and so accepts at one instant more.

    >>> expiry(IntervalWindow(0, 60_000), 0)
    59999
    """
    return min(window.max_timestamp + allowed_lateness, resolution.end_of_global_window)

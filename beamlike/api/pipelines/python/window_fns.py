"""Window functions as Beam Python has them. A user's own are below `beamlike.WindowFn`.

Source: Beam Python ``transforms.window``.
"""

from typing import Any

import attrs

from beamlike.api.pipelines.python.durations import Duration
from beamlike.api.pipelines.python.panes import OfTheCore
from beamlike.api.pipelines.python.reading import Length, in_millis, length
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.errors import WindowError
from beamlike.model import sessions, windowfns
from beamlike.model.fingerprint import stable_repr
from beamlike.model.sessions import GapOf
from beamlike.model.windowfns import GlobalWindows

__all__ = [
    "FixedWindows",
    "GlobalWindows",
    "Sessions",
    "SlidingWindows",
]


class FixedWindows(windowfns.FixedWindows, metaclass=OfTheCore):
    """Windows one after the other, starting at ``offset + k * size``.

    Args:
        size: Length of each, more than 0: a number of seconds, `Duration`, a ``timedelta`` or
            text such as ``"1 minute"``.
        offset: Where they start, modulo the size.

    Raises:
        WindowError: The size is not more than 0.
        TimeError: One of them is no duration.

    Source: Beam Python ``FixedWindows``. A class below it is for Beam's own SDK: here windows of
    a user's own are below `beamlike.WindowFn`.

    >>> FixedWindows(60).assign(90_000)
    (IntervalWindow(start=60000, end=120000),)
    """

    def __new__(cls, size: Length, offset: Length | Timestamp = 0) -> Any:
        length_of = _positive(size, "FixedWindows size")
        return windowfns.FixedWindows(length_of, _modulo(offset, length_of, "FixedWindows offset"))


class SlidingWindows(windowfns.SlidingWindows, metaclass=OfTheCore):
    """Windows that overlap: one of this size starts every ``period``, at ``offset + k * period``.

    With a period longer than the size, elements in between are in no window.

    Args:
        size: Length of each, more than 0.
        period: From one start to the next, more than 0.
        offset: Where they start, modulo the period.

    Raises:
        WindowError: Size or period is not more than 0.
        TimeError: One of them is no duration.
    """

    def __new__(cls, size: Length, period: Length, offset: Length | Timestamp = 0) -> Any:
        step = _positive(period, "SlidingWindows period")
        start = _modulo(offset, step, "SlidingWindows offset")
        return windowfns.SlidingWindows(_positive(size, "SlidingWindows size"), step, start)


class Sessions(sessions.Sessions, metaclass=OfTheCore):
    """Windows of activity: each ends when for so long there was no element of the key.

    Args:
        gap_size: How long, more than 0; or a function of an element's value that says it.

    Raises:
        WindowError: It is not more than 0.
        TimeError: It is no duration.

    Source: Beam Python ``Sessions``; a function as gap is not in Beam.
    """

    def __new__(cls, gap_size: Length | GapOf) -> Any:
        if callable(gap_size):
            return sessions.Sessions(_GapInSeconds(gap_size))
        return sessions.Sessions(_positive(gap_size, "Sessions gap_size"))


@attrs.frozen
class _GapInSeconds:
    """A function of gaps in seconds as one of milliseconds."""

    gap_of: GapOf

    def __call__(self, value: Any) -> int:
        return in_millis(self.gap_of(value), "gap")

    def __repr__(self) -> str:
        return stable_repr(self.gap_of)


def _modulo(offset: Any, step: Duration, argument: str) -> Duration:
    return (offset if isinstance(offset, Timestamp) else length(offset, argument)) % step


def _positive(value: Any, argument: str) -> Duration:
    read = length(value, argument)
    if read.duration_ms <= 0:
        raise WindowError(
            f"{argument} must be strictly positive, got {value!r}; give one such as 60 "
            '(seconds) or "1 minute"'
        )
    return read

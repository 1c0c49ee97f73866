"""Instants, windows and timestamped values as a test writes them, in both directions."""

from typing import Any

import attrs

from beamlike.errors import TestStreamError, TimeError
from beamlike.model.time import InstantLike, instant_ms, show_instant
from beamlike.model.windows import GLOBAL_WINDOW, GlobalWindow, IntervalWindow, Window

__all__ = ["TimestampedValue", "WindowLike", "instant_code", "read_window", "window_code"]

WindowLike = IntervalWindow | GlobalWindow | tuple[InstantLike, InstantLike] | str
"""A window, its two bounds as ``("00:00:00", "00:11:00")``, or ``"global"``."""


def _timestamp(value: InstantLike) -> int:
    return instant_ms(value, "TimestampedValue timestamp")


@attrs.frozen
class TimestampedValue:
    """A value with an event time of its own; in a `TestStream` the value is a (key, value) pair.

    Args:
        value: Anything.
        timestamp: An instant, kept as milliseconds.

    Source: Beam ``TimestampedValue``.
    """

    value: Any
    timestamp: int = attrs.field(converter=_timestamp)

    def __repr__(self) -> str:
        return f"TimestampedValue({self.value!r}, {instant_code(self.timestamp)})"


def read_window(parts: tuple[Any, ...], owner: str) -> Window:
    """A window from one thing (a window, a pair of bounds, ``"global"``) or from two bounds.

    Raises:
        TestStreamError: The parts are neither.
        TimeError: A bound cannot be read.
        WindowError: The window does not end after it starts.
    """
    match parts:
        case (IntervalWindow() | GlobalWindow() as window,):
            return window
        case ("global",):
            return GLOBAL_WINDOW
        case ((start, end),) if isinstance(parts[0], tuple):
            pass
        case (start, end):
            pass
        case _:
            raise TestStreamError(
                f'{owner} needs a window: two instants such as "00:00:00", "00:11:00", an '
                f'IntervalWindow, or "global"; got {", ".join(map(repr, parts)) or "nothing"}'
            )
    return IntervalWindow(
        instant_ms(start, f"{owner} window start"), instant_ms(end, f"{owner} window end")
    )


def instant_code(milliseconds: int) -> str:
    """An instant as code that `instant_ms` reads back.

    >>> instant_code(90_000), instant_code(-1_000), instant_code(9_223_372_036_854_774)
    ('"00:01:30"', '"1969-12-31 23:59:59"', '9223372036854774')
    """
    text = show_instant(milliseconds)
    try:
        reads_back = instant_ms(text, "instant") == milliseconds
    except TimeError:
        reads_back = False
    return f'"{text}"' if reads_back else repr(milliseconds)


def window_code(window: Window) -> str:
    """The bounds of a window as arguments: ``"00:00:00", "00:11:00"`` or ``"global"``."""
    if isinstance(window, GlobalWindow):
        return '"global"'
    return f"{instant_code(window.start)}, {instant_code(window.end)}"

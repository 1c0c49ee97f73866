"""Window functions from their text: the way back from ``str(window_fn)``.

Saved state knows a window function by its text only. Nothing is evaluated: a text names window
functions of `beamlike.model`, numbers, durations and dates, and nothing else.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from beamlike.errors import WindowError
from beamlike.model import calendar
from beamlike.model.described import read_arguments
from beamlike.model.sessions import Sessions
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

_CALL: Final = re.compile(r"(\w+)\(([^()]*)\)")
_CALENDAR: Final = re.compile(r"(\d+), (\S+), from (\d+-\d+-\d+)")
_PLAIN: Final[Mapping[str, Any]] = {
    kind.__name__: kind for kind in (FixedWindows, SlidingWindows, Sessions, GlobalWindows)
}
_CALENDARS: Final[Mapping[str, Callable[..., WindowFn]]] = {
    kind.__name__: kind
    for kind in (
        calendar.CalendarDays,
        calendar.CalendarWeeks,
        calendar.CalendarMonths,
        calendar.CalendarYears,
    )
}


def window_fn_of(text: str) -> WindowFn:
    """The window function that has this text.

    Raises:
        WindowError: It is not the text of a window function of beamlike's, or one of them with a
            function in it.

    >>> print(window_fn_of("Sessions(30m, max_elements=100)"))
    Sessions(30m, max_elements=100)
    """
    try:
        window_fn = _window_fn(text.strip())
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise _unknown(text) from error
    if str(window_fn) != text.strip():
        raise _unknown(text)
    return window_fn


def _unknown(text: str) -> WindowError:
    return WindowError(
        f'{text!r} is not the text of a window function; write it as "FixedWindows(1h)" or '
        '"Sessions(30m)"'
    )


def _window_fn(text: str) -> WindowFn:
    called = _CALL.fullmatch(text)
    if called is None:
        raise ValueError(text)
    name, inside = called.groups()
    if name in _CALENDARS:
        parts = _CALENDAR.fullmatch(inside)
        if parts is None:
            raise ValueError(inside)
        number, zone, start = parts.groups()
        return _CALENDARS[name](int(number), time_zone=zone, start=date.fromisoformat(start))
    arguments = read_arguments(_PLAIN[name], inside)
    if arguments is None:
        raise ValueError(inside)
    window_fn: WindowFn = _PLAIN[name](**arguments)
    return window_fn

"""Triggers and window functions from their text: the way back from ``str`` of them.

Saved state and logs know both by their text only. Nothing is evaluated: a text names triggers and
window functions of `beamlike.model`, numbers, durations and dates, and nothing else.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from beamlike.errors import TriggerError, WindowError
from beamlike.model import triggers as spec
from beamlike.model.calendar import (
    CalendarDays,
    CalendarMonths,
    CalendarWeeks,
    CalendarWindows,
    CalendarYears,
)
from beamlike.model.described import parts_of, read_arguments
from beamlike.model.extra_triggers import EXTRA_TRIGGERS
from beamlike.model.sessions import Sessions
from beamlike.model.triggers import Trigger
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn

_CALL: Final = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
_CALENDAR: Final = re.compile(r"(\d+), (\S+), from (\d+-\d+-\d+)")


def _by_name(*classes: type) -> Mapping[str, Any]:
    return {cls.__name__: cls for cls in classes}


_TRIGGERS: Final = _by_name(
    *(spec.DefaultTrigger, spec.AfterWatermark, spec.AfterSynchronizedProcessingTime),
    *(spec.AfterCount, spec.Repeatedly, spec.OrFinally, spec.Never, spec.Always),
    *EXTRA_TRIGGERS.values(),
)
_SEVERAL: Final = _by_name(spec.AfterEach, spec.AfterFirst, spec.AfterAll)
WINDOW_FNS: Final = _by_name(
    *(FixedWindows, SlidingWindows, Sessions, GlobalWindows),
    *(CalendarDays, CalendarWeeks, CalendarMonths, CalendarYears),
)
"""The window functions of beamlike's own, by their names. A subclass may do something else."""


def trigger_of(text: str) -> Trigger:
    """The trigger that has this text.

    Raises:
        TriggerError: It is not the text of a trigger.

    >>> print(trigger_of("AfterWatermark(early=AfterProcessingTime(1m 30s), late=AfterCount(2))"))
    AfterWatermark(early=AfterProcessingTime(1m 30s), late=AfterCount(2))
    """
    try:
        return _trigger(text.strip())
    except (TypeError, ValueError, RecursionError) as error:
        why = "" if isinstance(error, TypeError) else f" ({error})"
        raise TriggerError(
            f"{text!r} is not the text of a trigger{why}; write it as "
            '"AfterWatermark(early=AfterCount(3))"'
        ) from error


def window_fn_of(text: str) -> WindowFn:
    """The window function that has this text.

    Raises:
        WindowError: It is not the text of a window function of beamlike's, or one of them with a
            function in it.

    >>> print(window_fn_of("Sessions(30m, max_elements=100)"))
    Sessions(30m, max_elements=100)
    """
    why: Exception | None = None
    try:
        window_fn = _window_fn(text.strip())
        if str(window_fn) == text.strip():
            return window_fn
    except (TypeError, ValueError, SyntaxError) as error:
        why = error
    raise WindowError(
        f'{text!r} is not the text of a window function; write it as "FixedWindows(1h)" or '
        '"Sessions(30m)"'
    ) from why


def _called(text: str) -> tuple[str, str]:
    """The name in a text, and what stands between the parentheses behind it."""
    called = _CALL.fullmatch(text)
    if called is None:
        raise ValueError(f"{text!r} has no parentheses")
    return called[1], called[2]


def _trigger(text: str) -> Trigger:
    name, inside = _called(text)
    if name == spec.AfterProcessingTime.__name__:
        return spec.AfterProcessingTime(*map(_transform, parts_of(inside)))
    trigger: Trigger
    if name in _SEVERAL:
        trigger = _SEVERAL[name](*map(_trigger, parts_of(inside)))
    else:
        cls = _TRIGGERS.get(name)
        arguments = None if cls is None else read_arguments(cls, inside, {"trigger": _trigger})
        if cls is None or arguments is None:
            raise ValueError(f"there is no trigger {name} with these parts")
        trigger = cls(**arguments)
    return trigger


def _transform(text: str) -> spec.Delay | spec.AlignTo:
    if not text.startswith("AlignTo("):
        return spec.Delay(text)
    inside = text.removeprefix("AlignTo(").removesuffix(")")
    return spec.AlignTo(**read_arguments(spec.AlignTo, inside) or {})


def _window_fn(text: str) -> WindowFn:
    name, inside = _called(text)
    window_fn: WindowFn
    cls = WINDOW_FNS.get(name)
    if cls and issubclass(cls, CalendarWindows) and (parts := _CALENDAR.fullmatch(inside)):
        start = date.fromisoformat(parts[3])
        window_fn = cls(int(parts[1]), time_zone=parts[2], start=start)
        return window_fn
    arguments = None if cls is None else read_arguments(cls, inside)
    if cls is None or arguments is None:
        raise ValueError(text)
    window_fn = cls(**arguments)
    return window_fn

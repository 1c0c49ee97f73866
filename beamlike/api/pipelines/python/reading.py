"""Times as callers of Beam Python write them, read to the milliseconds of the core.

A bare number counts seconds. Texts such as ``"10 minutes"`` and ``"00:01:30"``, ``timedelta`` and
``datetime`` are read as everywhere in beamlike. A duration that is finer than a millisecond is
refused, and of an instant what is finer is cut off.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from math import ulp
from typing import Any, Final, TypeVar

from beamlike.api.pipelines.python.durations import Duration, is_number
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.errors import TimeError, TimeTypeError
from beamlike.model.time import (
    DurationOfItsOwn,
    InstantOfItsOwn,
    duration_ms,
    event_time_ms,
    not_whole,
)

Length = int | float | timedelta | str | DurationOfItsOwn
"""A duration: a number of seconds, `Duration`, a ``timedelta``, or text such as ``"60 s"``."""

Instant = int | float | datetime | str | InstantOfItsOwn
"""An instant: a number of seconds since the epoch, `Timestamp`, a ``datetime``, or text."""

T = TypeVar("T")

_NOISE: Final = 1e-9
"""What the last digits of a float may be off by, in milliseconds."""

_ADVICE_ON_LENGTHS: Final = '10 (seconds), Duration(10), timedelta(minutes=10) or "10 minutes"'
_ADVICE_ON_INSTANTS: Final = (
    '90 (seconds), Timestamp(90), a datetime, "2013-01-01T06:00:00Z" or "00:01:30"'
)


def in_millis(value: Any, argument: str) -> int:
    """A duration, 0 or more, in milliseconds.

    Args:
        value: What the caller wrote.
        argument: What the caller calls it; it opens the error message.

    Raises:
        TimeError: It is negative, not a whole number of milliseconds, or no duration.

    >>> in_millis(1.5, "delay"), in_millis("2 minutes", "delay")
    (1500, 120000)
    """
    try:
        return duration_ms(_of_number(value, argument), argument)
    except TimeError as error:
        raise _advising(error, _ADVICE_ON_LENGTHS) from None


def length(value: Any, argument: str) -> Duration:
    """A duration of the caller's as `Duration`; a negative one too."""
    if isinstance(value, timedelta):
        read = Duration(micros=value // timedelta(microseconds=1))
    else:
        read = _of_number(value, argument)
    if not isinstance(read, Duration):
        return Duration(micros=1000 * in_millis(value, argument))
    if read.micros % 1000:
        raise not_whole(argument, value)
    return read


def _of_number(value: Any, argument: str) -> Any:
    """A number of seconds as `Duration`, and anything else as it is."""
    if not _is_number(value):
        return value
    read = _finite(Duration, value, argument)
    if not isinstance(value, float):
        return read
    # A float is only near to what was written: 1.001 seconds are a little less than 1001 ms.
    milliseconds = 1000 * value
    nearest = round(milliseconds)
    if abs(milliseconds - nearest) > max(_NOISE, 16 * ulp(milliseconds)):
        raise not_whole(argument, value)
    return Duration(micros=1000 * nearest)


def moment(value: Any, argument: str) -> Timestamp:
    """An instant of the caller's as `Timestamp`.

    Args:
        value: What the caller wrote. A ``datetime`` without a zone is UTC.

    Raises:
        TimeError: It is no instant.

    >>> moment(90, "timestamp"), moment("00:01:30", "timestamp")
    (Timestamp(90), Timestamp(90))
    """
    if isinstance(value, Timestamp):
        return value
    if _is_number(value):
        return _finite(Timestamp, value, argument)
    try:
        return Timestamp.of_millis(event_time_ms(value, argument))
    except TimeError as error:
        raise _advising(error, _ADVICE_ON_INSTANTS) from None


def _is_number(value: Any) -> bool:
    return is_number(value) and not isinstance(value, bool)


def _finite(cls: Callable[[Any], T], seconds: Any, argument: str) -> T:
    try:
        return cls(seconds)
    except (OverflowError, ValueError):
        raise TimeError(f"{argument} is no time: {seconds!r}; give a finite number") from None


def _advising(error: TimeError, advice: str) -> TimeError:
    """The error of the core, with what to write where numbers count seconds.

    What cannot be read at all is of another type, as in Beam Python.
    """
    problem, hint, _ = str(error).partition("; write ")
    return TimeTypeError(f"{problem}; write {advice}") if hint else error

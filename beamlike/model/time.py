"""Event time and processing time: whole numbers inside, friendly types at the edge.

Inside, instants are plain numbers of ticks since the Unix epoch, UTC; what a tick is says the
`beamlike.model.resolution.Resolution` of a query, and it is a millisecond wherever nothing else is
said. A bare number that a user gives counts milliseconds.

Source: Beam Java, ``BoundedWindow.TIMESTAMP_MIN_VALUE``, ``TIMESTAMP_MAX_VALUE`` and
``GlobalWindow.maxTimestamp``.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Final, Protocol, runtime_checkable

from beamlike.errors import TimeError

MIN_TIMESTAMP: Final = -9223372036854775
"""The earliest timestamp and the watermark before any is known: -2**63 us, in ms."""

MAX_TIMESTAMP: Final = 9223372036854775
"""The end of time. A watermark here is "infinity"; elements lie strictly before it."""

END_OF_GLOBAL_WINDOW: Final = MAX_TIMESTAMP - 86_400_000
"""Last instant of the global window, one day early so that its timers can still fire."""


@runtime_checkable
class DurationOfItsOwn(Protocol):
    """A duration that knows its unit, such as Beam Python's ``Duration``."""

    @property
    def duration_ms(self) -> int | Fraction:
        """Milliseconds. Those that are not whole are refused."""


@runtime_checkable
class InstantOfItsOwn(Protocol):
    """An instant that knows its unit, such as Beam Python's ``Timestamp``."""

    @property
    def instant_ms(self) -> int:
        """Milliseconds since the epoch."""


DurationLike = int | timedelta | str | DurationOfItsOwn
"""Whole milliseconds, a timedelta, ``"10 minutes"``, ``"1h 30m"`` or ``"00:10:00"``."""

InstantLike = int | datetime | str | InstantOfItsOwn
"""Epoch milliseconds, a datetime, an ISO 8601 string, or a time of day on 1970-01-01."""

_LONGEST: Final = 2**63 - 1
"""As Beam Java has it. All of time is some five hundred times shorter."""
_UNITS: Final = {
    **dict.fromkeys(("us", "micro", "micros", "microsecond", "microseconds"), 1),
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1_000),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000_000),
    **dict.fromkeys(("w", "week", "weeks"), 604_800_000_000),
}
"""Microseconds."""
_AMOUNT: Final = re.compile(r"(\d{1,30})\s*([a-z]+)\s*", re.ASCII)
_TIME_OF_DAY: Final = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,6}))?)?", re.ASCII)
_LIKE_TIME_OF_DAY: Final = re.compile(r"\d+:\d+(:\d+(\.\d*)?)?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def duration_ms(value: DurationLike, argument: str) -> int:
    """Read a length of time, 0 or more, as whole milliseconds.

    Args:
        value: ``int`` milliseconds, a ``timedelta``, or text such as ``"10 minutes"``,
            ``"1h 30m"``, ``"500 ms"`` or ``"00:10:00"``.
        argument: What the caller calls it; it opens the error message.

    Raises:
        TimeError: Unreadable, negative, not a whole number of milliseconds, or 2**63 of them or
            more.

    >>> duration_ms("1h 30m", "size")
    5400000
    """
    micros = _micros(value, argument)
    if micros % 1_000:
        raise not_whole(argument, value)
    return int(micros) // 1_000


def duration_us(value: DurationLike, argument: str) -> int:
    """Read a length of time, 0 or more, as whole microseconds.

    Args:
        value: As of `duration_ms`, where texts may also say ``"250 us"``.
        argument: What the caller calls it; it opens the error message.

    Raises:
        TimeError: Unreadable, negative, not a whole number of microseconds, or 2**63 milliseconds
            or more.

    >>> duration_us("1 s 250 us", "gap")
    1000250
    """
    micros = _micros(value, argument)
    if micros % 1:
        raise TimeError(
            f"{argument} must be whole microseconds, got {_shown(value)}; round it first"
        )
    return int(micros)


def _micros(value: DurationLike, argument: str) -> int | Fraction:
    micros: int | Fraction | None
    match value:
        case bool():
            micros = None
        case int():
            micros = value * 1_000
        case timedelta():
            micros = value // _MICROSECOND
        case str() if value.strip().startswith("-"):
            # Whatever number of them it is, "-0 s" too, it is reported as negative.
            micros = None if _parse_duration(value.strip()[1:]) is None else -1
        case str():
            micros = _parse_duration(value)
        case DurationOfItsOwn():
            micros = value.duration_ms * 1_000
        case _:
            micros = None
    if micros is None:
        raise TimeError(
            f"{argument} is not a duration: {_shown(value)}; write 600000 (milliseconds), "
            'timedelta(minutes=10), "10 minutes", "1h 30m" or "00:10:00"'
        )
    if micros < 0:
        raise TimeError(f"{argument} must not be negative, got {_shown(value)}; give 0 or more")
    if micros > _LONGEST * 1_000:
        raise TimeError(
            f"{argument} is longer than 64 bits can hold: {_shown(value)}; give {_LONGEST} ms or "
            "less"
        )
    return micros


def not_whole(argument: str, value: object) -> TimeError:
    """The error of a time that is finer than the milliseconds that it is counted in."""
    return TimeError(f"{argument} must be whole milliseconds, got {_shown(value)}; round it first")


def without_unit(**durations: object) -> Mapping[str, int]:
    """The durations that were given as a number, and are no whole number of seconds.

    Such a number counts milliseconds, and was perhaps meant in seconds or minutes.

    >>> without_unit(gap=30, max_duration=60_000, size="30 ms")
    {'gap': 30}
    """
    return {name: span for name, span in durations.items() if type(span) is int and span % 1_000}


def instant_ms(value: InstantLike, argument: str) -> int:
    """Read a point in event time.

    Args:
        value: ``int`` epoch milliseconds; a ``datetime`` (naive means UTC); ISO 8601 text
            such as ``"2013-01-01T06:00:00Z"``; or a time of day such as ``"00:01:30"`` or
            ``"00:10:59.999"``, which lies on 1970-01-01 UTC as in the tests of Scio.

    Returns:
        Milliseconds since the epoch, UTC.

    Raises:
        TimeError: Unreadable, not a whole number of milliseconds, a time of day with more than 23
            hours, or outside `MIN_TIMESTAMP` .. `MAX_TIMESTAMP`.

    >>> instant_ms("00:01:30", "timestamp")
    90000
    """
    micros = event_time_us(value, argument)
    if micros % 1_000:
        raise not_whole(argument, value)
    return micros // 1_000


def event_time_ms(value: InstantLike, argument: str) -> int:
    """Read the event time of an element, which may be finer than a millisecond.

    Microseconds are cut off, as Beam's coders do.

    Raises:
        TimeError: Unreadable, a time of day with more than 23 hours, or outside
            `MIN_TIMESTAMP` .. `MAX_TIMESTAMP`.

    >>> event_time_ms("1970-01-01T00:00:01.000999", "timestamp")
    1000
    """
    return event_time_us(value, argument) // 1_000


def event_time_us(value: InstantLike, argument: str) -> int:
    """Read the event time of an element as microseconds since the epoch, UTC.

    Args:
        value: As of `instant_ms`. A bare number counts milliseconds.

    Raises:
        TimeError: As `event_time_ms`.

    >>> event_time_us("1970-01-01T00:00:01.000999", "timestamp")
    1000999
    """
    micros: int | None = None
    match value:
        case bool():
            pass
        case int():
            micros = value * 1_000
        case datetime():
            micros = _epoch_us(value)
        case str():
            micros = _parse_instant(value, argument)
        case InstantOfItsOwn():
            micros = value.instant_ms * 1_000
        case _:
            pass
    if micros is None:
        raise TimeError(
            f"{argument} is not an instant: {_shown(value)}; write epoch milliseconds, a datetime, "
            '"2013-01-01T06:00:00Z", or a time of day such as "00:01:30"'
        )
    if not MIN_TIMESTAMP * 1_000 <= micros <= MAX_TIMESTAMP * 1_000:
        raise TimeError(
            f"{argument} must lie between {MIN_TIMESTAMP} and {MAX_TIMESTAMP} ms, got "
            f"{_shown(value)}"
        )
    return micros


def show_instant(ticks: int, per_ms: int = 1) -> str:
    """An instant for people: a time of day on 1970-01-01, a date and time elsewhere.

    Args:
        ticks: Since the epoch.
        per_ms: Ticks in a millisecond.

    >>> show_instant(659_999), show_instant(1_357_020_000_000), show_instant(MAX_TIMESTAMP)
    ('00:10:59.999', '2013-01-01 06:00:00', 'infinity')
    """
    if ticks <= MIN_TIMESTAMP * per_ms:
        return "-infinity"
    if ticks >= MAX_TIMESTAMP * per_ms:
        return "infinity"
    if ticks - END_OF_GLOBAL_WINDOW * per_ms in (0, 1):
        return "end of time"
    seconds, rest = divmod(ticks, 1_000 * per_ms)
    micros = rest * 1_000 // per_ms
    fraction = ""
    if micros:
        fraction = f".{micros:06}" if micros % 1_000 else f".{micros // 1_000:03}"
    if 0 <= seconds < 86_400:
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    try:
        instant = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return f"{ticks} {'ms' if per_ms == 1 else 'us'}"
    # strftime would write the year 1 with one digit.
    return f"{instant.replace(tzinfo=None).isoformat(' ')}{fraction}"


def show_duration(ticks: int, per_ms: int = 1) -> str:
    """A duration for people, largest units first.

    Args:
        ticks: How long it is.
        per_ms: Ticks in a millisecond.

    >>> show_duration(5_400_000), show_duration(61_005), show_duration(0)
    ('1h 30m', '1m 1s 5ms', '0ms')
    """
    if ticks < 0:
        return "-" + show_duration(-ticks, per_ms)
    parts = []
    milliseconds, micros = divmod(ticks, per_ms)
    for unit, length in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        count, milliseconds = divmod(milliseconds, length)
        if count:
            parts.append(f"{count}{unit}")
    if milliseconds or not (parts or micros):
        parts.append(f"{milliseconds}ms")
    if micros:
        parts.append(f"{micros * 1_000 // per_ms}us")
    return " ".join(parts)


def _shown(value: object) -> str:
    """What was given, as Python writes it; not all of it if it is very long."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a number of {value.bit_length():,} bits"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:120]}... ({len(text):,} characters)"


def _parse_duration(text: str) -> int | None:
    text = text.strip().lower()
    if match := _TIME_OF_DAY.fullmatch(text):
        return _clock_us(match)
    total, position = 0, 0
    while position < len(text):
        amount = _AMOUNT.match(text, position)
        if amount is None or amount[2] not in _UNITS:
            return None
        total += int(amount[1]) * _UNITS[amount[2]]
        position = amount.end()
    return total if text else None


def _parse_instant(text: str, argument: str) -> int | None:
    text = text.strip()
    if match := _TIME_OF_DAY.fullmatch(text):
        micros = _clock_us(match)
        if micros < 86_400_000_000:
            return micros
        date = (_EPOCH + micros * _MICROSECOND).isoformat()
        raise TimeError(
            f"{argument} is no time of day: {_shown(text)}; hours go from 00 to 23. For a day "
            f'after 1970-01-01 write its date, too: "{date.replace("+00:00", "Z")}"'
        )
    if _LIKE_TIME_OF_DAY.fullmatch(text):
        raise TimeError(
            f"{argument} is no time of day: {_shown(text)}; write it as 06:30, 06:30:00 or "
            "06:30:00.250, with hours up to 23, and minutes and seconds up to 59"
        )
    try:
        return _epoch_us(datetime.fromisoformat(text))
    except ValueError:
        return None


def _clock_us(match: re.Match[str]) -> int:
    hours, minutes, seconds, fraction = match.groups()
    return (int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)) * 1_000_000 + int(
        (fraction or "0").ljust(6, "0")
    )


def _epoch_us(instant: datetime) -> int:
    aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND

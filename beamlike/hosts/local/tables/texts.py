"""Times and numbers in texts, as Spark reads them.

Source: Spark ``SparkDateTimeUtils.parseTimestampString`` and ``getZoneId``, ``Cast`` from strings
to doubles.
"""

import math
import re
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

from beamlike.errors import UnsupportedError

_TIMESTAMP: Final = re.compile(
    r"([+-]?)(\d{4,6})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d*))?([^\d.].*)?)?)?)?",
    re.ASCII | re.DOTALL,
)
_OFFSET: Final = re.compile(
    r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d{1,2}))?(?::?(\d{2}))?", re.ASCII
)
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[dDfF]?", re.ASCII)
_SPECIAL: Final = {
    **dict.fromkeys(("inf", "+inf", "infinity", "+infinity"), math.inf),
    **dict.fromkeys(("-inf", "-infinity"), -math.inf),
    "nan": math.nan,
}
_DAY: Final = 86_400_000_000
_SPACES: Final = "".join(map(chr, range(33)))
"""What Spark trims of a text: blanks and control characters."""


def read_timestamp(text: str) -> int | None:
    """The instant that a text names that begins with a date (us); None if it names none.

    Without a zone it is in UTC.

    Raises:
        UnsupportedError: Its zone has a name that only Java knows.

    >>> read_timestamp("2013-01-01 05:15"), read_timestamp("2013-02-30")
    (1357017300000000, None)
    """
    match = _TIMESTAMP.fullmatch(text.strip(_SPACES))
    if match is None:
        return None
    sign, year, month, day, *time, fraction, zone = match.groups()
    hour, minute, second = (int(part or 0) for part in time)
    days = _days(-int(year) if sign == "-" else int(year), int(month), int(day))
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    micros = int((fraction or "")[:6].ljust(6, "0"))
    local = days * _DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros
    if zone is None:
        return local
    ahead = _ahead(zone.strip(), local, text)
    return None if ahead is None else local - ahead


def _days(year: int, month: int, day: int) -> int | None:
    """Days since 1970 of a date in any year; None if there is no such date."""
    try:
        return int(np.datetime64(f"{year:05}-{month:02}-{day:02}").astype(np.int64))
    except ValueError:
        return None


def _ahead(zone: str, local: int, text: str) -> int | None:
    """How far a zone is ahead of UTC at a local time (us); None if no zone is named."""
    if zone in ("Z", "UTC", "GMT", "UT"):
        return 0
    offset = _OFFSET.fullmatch(zone)
    if offset is not None:
        sign, hours, minutes, seconds = offset.groups()
        size = (int(hours) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
        if int(minutes or 0) > 59 or int(seconds or 0) > 59 or size > 18 * 3600:
            return None
        return (-size if sign == "-" else size) * 1_000_000
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9~/._+-]+", zone) is None:
        return None
    try:
        if "/" not in zone:
            raise ZoneInfoNotFoundError
        naive = datetime(1970, 1, 1) + timedelta(microseconds=local)
        gone = naive.replace(tzinfo=ZoneInfo(zone)).utcoffset()
        assert gone is not None, "a zone knows how far it is ahead"
        return round(gone.total_seconds()) * 1_000_000
    except (ZoneInfoNotFoundError, OverflowError):
        raise UnsupportedError(
            f"the zone {zone!r} of the time {text!r} is not known without Spark; write Z, an "
            'offset such as "+01:00" or a region such as "Europe/Berlin", or test with host="spark"'
        ) from None


def read_double(text: str) -> float | None:
    """The number that a text shows; None if it shows none.

    >>> read_double(" 1.5 "), read_double("one")
    (1.5, None)
    """
    text = text.strip(_SPACES)
    if _NUMBER.fullmatch(text) is not None:
        return float(text.rstrip("dDfF"))
    return _SPECIAL.get(text.lower())

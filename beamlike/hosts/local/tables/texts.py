"""Times and numbers in texts, as Spark reads and writes them.

Source: Spark ``SparkDateTimeUtils.parseTimestampString`` and ``getZoneId``, ``Cast`` from strings
to doubles, ``JacksonGenerator``, ``IntervalUtils.toDayTimeIntervalString``.
"""

import base64
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pyarrow as pa

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
    found = _TIMESTAMP.fullmatch(text.strip(_SPACES))
    if found is None:
        return None
    sign, year, month, day, *time, fraction, zone = found.groups()
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
    lengths = (
        31,
        29 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 28,
        *_AFTER_FEBRUARY,
    )
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1]):
        return None
    before = year - 1
    leaps = before // 4 - before // 100 + before // 400
    return before * 365 + leaps + sum(lengths[: month - 1]) + day - 1 - 719_162


_AFTER_FEBRUARY: Final = (31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


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
        there = datetime(1970, 1, 1) + timedelta(microseconds=local)
        gone = there.replace(tzinfo=ZoneInfo(zone)).utcoffset()
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


# -- JSON ------------------------------------------------------------------------------------


def write_row(row: Mapping[str, pa.Scalar]) -> str:
    """A row as ``to_json`` writes it, nulls included.

    >>> write_row({"at": pa.scalar(2**62, pa.timestamp("us", "UTC")), "n": pa.scalar(1)})
    '{"at":"+148108-07-06T14:00:27.387Z","n":1}'
    """
    fields = (f"{_quoted(name)}:{_json(value)}" for name, value in row.items())
    return f"{{{','.join(fields)}}}"


def _json(value: pa.Scalar) -> str:
    dtype, is_a = value.type, pa.types
    if not value.is_valid:
        return "null"
    if is_a.is_struct(dtype):
        names = [field.name for field in dtype]
        items = (f"{_quoted(name)}:{_json(value[at])}" for at, name in enumerate(names))
        return f"{{{','.join(items)}}}"
    if is_a.is_map(dtype):
        entries = (f"{_quoted(_as_name(entry[0]))}:{_json(entry[1])}" for entry in value.values)
        return f"{{{','.join(entries)}}}"
    if is_a.is_nested(dtype):
        return f"[{','.join(map(_json, value.values))}]"
    # Of times Python has not all that Spark has.
    if is_a.is_timestamp(dtype):
        instant = np.datetime64(value.value // 1000, "ms")
        return f'"{_with_year(str(instant))}{"" if dtype.tz is None else "Z"}"'
    if is_a.is_date32(dtype):
        return f'"{_with_year(str(np.datetime64(value.value, "D")))}"'
    if is_a.is_duration(dtype):
        return _quoted(_interval(value.value))
    return _plain_json(value.as_py())


def _plain_json(value: Any) -> str:
    match value:
        case bool() | int():
            return json.dumps(value)
        case float():
            return _double(value)
        case Decimal():
            return format(value, "f")
        case bytes():
            return f'"{base64.b64encode(value).decode()}"'
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _as_name(key: pa.Scalar) -> str:
    return str(key.as_py()) if pa.types.is_string(key.type) else _json(key).strip('"')


def _with_year(text: str) -> str:
    """A date as Java writes it: years have four digits, and a sign if they have more."""
    year, rest = re.fullmatch(r"(-?\d+)(-.*)", text).groups()  # type: ignore[union-attr]
    sign = "-" if year.startswith("-") else "+" if len(year) > 4 else ""
    return f"{sign}{year.lstrip('-').zfill(4)}{rest}"


def _interval(micros: int) -> str:
    """A duration as a literal of SQL."""
    seconds, fraction = divmod(abs(micros), 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    part = f".{fraction:06}".rstrip("0") if fraction else ""
    sign = "-" if micros < 0 else ""
    return f"INTERVAL '{sign}{days} {hour:02}:{minute:02}:{second:02}{part}' DAY TO SECOND"


def _double(value: float) -> str:
    """As Java writes it."""
    if not math.isfinite(value):
        return {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, exponent = f"{Decimal(repr(value)):e}".lower().split("e")
    whole, _, fraction = digits.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}E{int(exponent)}"

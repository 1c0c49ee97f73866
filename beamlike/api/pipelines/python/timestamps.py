"""Instants as Beam Python has them: numbers beside them count seconds.

Source: Beam Python ``utils.timestamp``.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias, overload

from beamlike.api.pipelines.python.durations import Duration, DurationTypes
from beamlike.api.pipelines.python.reckoning import (
    MICROS,
    NANOS,
    Seconds,
    is_number,
    message,
    shown,
)
from beamlike.hosts.clock import wall_clock_seconds
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.time import MAX_TIMESTAMP as MAX_MILLIS
from beamlike.model.time import MIN_TIMESTAMP as MIN_MILLIS

__all__ = [
    "MAX_TIMESTAMP",
    "MIN_TIMESTAMP",
    "Timestamp",
    "TimestampDurationTypes",
    "TimestampTypes",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONG_FRACTION: Final = re.compile(r"\d{2}[.,](\d{7,})", re.ASCII)


_END_OF_GLOBAL_WINDOW: Final = 1000 * END_OF_GLOBAL_WINDOW - 1
"""The last instant of the global window (microseconds)."""


class Timestamp(Seconds):
    """A point in time, so many seconds since the epoch, UTC.

    It is compared and reckoned with `Duration` and with numbers, which count seconds. A whole
    number of units is kept, and no float: of ``10**-precision`` seconds, microseconds by default.

    The windows, timers and panes of a pipeline are exact to the millisecond. What is finer is cut
    off (rounded down) where a timestamp enters one, as Beam Java and Beam's coders do.

    >>> Timestamp(90) + Duration(0.5), Timestamp(90) > 89
    (Timestamp(90.500000), True)

    Args:
        seconds: Seconds since the epoch.
        subseconds: Units of ``10**-precision`` seconds besides.
        precision: Digits after the point: 3 for milliseconds, 6, 9 for nanoseconds.
        micros: Microseconds besides, in place of ``subseconds``.

    Raises:
        TypeError: An argument is no number.
        ValueError: The precision is not between 0 and 9, or does not go with ``micros``.

    Source: Beam Python ``Timestamp``.
    """

    MICROS_PRECISION: Final = MICROS
    NANOS_PRECISION: Final = NANOS

    __slots__ = ("_precision", "_units")

    def __init__(
        self,
        seconds: int | float = 0,
        subseconds: int | float = 0,
        precision: int = MICROS,
        *,
        micros: int | float | None = None,
    ) -> None:
        if type(seconds) is int and subseconds == 0 and precision == MICROS and micros is None:
            self._precision, self._units = MICROS, seconds * 1_000_000  # what each element needs
            return
        for name, value in (("seconds", seconds), ("subseconds", subseconds)):
            if not is_number(value):
                raise TypeError(f"Cannot interpret {value} {type(value)} as {name}.")
        if not isinstance(precision, int):
            raise TypeError(f"Cannot interpret {precision} {type(precision)} as precision.")
        if not 0 <= precision <= NANOS:
            raise ValueError(
                f"Timestamp precision must be between 0 and {NANOS} (inclusive), but was "
                f"{precision}."
            )
        if micros is not None:
            if not is_number(micros):
                raise TypeError(f"Cannot interpret {micros} {type(micros)} as micros.")
            if subseconds or precision != MICROS:
                raise ValueError(
                    "micros goes without subseconds and with the default precision, got "
                    f"micros={micros}, subseconds={subseconds}, precision={precision}; use "
                    "subseconds instead"
                )
            subseconds = micros
        self._precision = precision
        self._units = int(seconds * 10**precision) + int(subseconds)

    @staticmethod
    def of(seconds: Any) -> "Timestamp":
        """The timestamp that a number of seconds means, or a ``datetime`` in UTC.

        Raises:
            TypeError: It is something else, a `Duration` too.
        """
        if isinstance(seconds, Timestamp):
            return seconds
        if is_number(seconds):
            return Timestamp(seconds)
        if isinstance(seconds, datetime):
            return Timestamp.from_utc_datetime(seconds)
        raise TypeError(f"Cannot interpret {seconds} {type(seconds)} as Timestamp.")

    @staticmethod
    def of_millis(millis: int) -> "Timestamp":
        """So many milliseconds since the epoch: an instant of the core.

        The last instant of the global window is Beam Python's, a microsecond before the end.
        """
        return _made(1000 * millis - (millis == END_OF_GLOBAL_WINDOW))

    @staticmethod
    def now() -> "Timestamp":
        """What the clock of this computer says."""
        return Timestamp(wall_clock_seconds())

    @classmethod
    def from_utc_datetime(cls, dt: datetime) -> "Timestamp":
        """The same as a ``datetime`` with the zone UTC.

        Raises:
            ValueError: It has no zone, or another.
        """
        if dt.tzinfo is None:
            raise ValueError(f"dt has no timezone info: {dt}; write replace(tzinfo=timezone.utc)")
        if dt.tzinfo is not UTC and dt.tzname() != "UTC":
            raise ValueError(f"dt not in UTC: {dt}; write astimezone(timezone.utc)")
        return Timestamp(micros=(dt - _EPOCH) // timedelta(microseconds=1))

    @classmethod
    def from_rfc3339(cls, rfc3339: str) -> "Timestamp":
        """Read ``"2016-03-18T23:22:59.123456Z"``; without a zone it is UTC.

        More than six digits after the point make a timestamp as precise as they are.

        Raises:
            ValueError: It cannot be read, or has more than nine digits.
        """
        try:
            moment = datetime.fromisoformat(rfc3339)
        except ValueError as error:
            raise ValueError(
                f"Could not parse RFC 3339 string '{rfc3339}' due to error: '{error}'."
            ) from None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        timestamp = cls.from_utc_datetime(moment)
        found = _LONG_FRACTION.search(rfc3339)
        if found is None:
            return timestamp
        finer = found[1][MICROS:]
        if len(finer) > NANOS - MICROS:
            raise ValueError(
                f"Could not parse RFC 3339 string '{rfc3339}': fractional seconds beyond "
                "nanosecond precision are not supported."
            )
        units = timestamp._units * 10 ** len(finer) + int(finer)
        return _made(units, MICROS + len(finer))

    def to_proto(self) -> Any:
        """As ``google.protobuf.timestamp_pb2.Timestamp``."""
        return message("Timestamp", self.nanos)

    @staticmethod
    def from_proto(timestamp_proto: Any) -> "Timestamp":
        """What a ``google.protobuf.timestamp_pb2.Timestamp`` says, in nanoseconds if need be."""
        nanos = 10**NANOS * timestamp_proto.seconds + timestamp_proto.nanos
        return _made(nanos, NANOS) if nanos % 1000 else _made(nanos // 1000)

    def seconds(self) -> int:
        """Whole seconds, rounded down."""
        whole: int = self._units // 10**self._precision
        return whole

    def subseconds(self) -> int:
        """What is left of the second, 0 or more, in units of ``10**-precision`` seconds."""
        rest: int = self._units % 10**self._precision
        return rest

    def precision(self) -> int:
        """Digits after the point."""
        return self._precision

    @property
    def micros(self) -> int:
        """Microseconds since the epoch.

        Raises:
            ValueError: It is more precise than that.
        """
        if self._precision > MICROS:
            raise ValueError(
                f"{self!r} has greater than microsecond precision; use nanos, or "
                "to_precision(6, allow_lossy_conversion=True) first"
            )
        return self._in(MICROS)

    @property
    def nanos(self) -> int:
        """Nanoseconds since the epoch."""
        return self._in(NANOS)

    @property
    def instant_ms(self) -> int:
        """Milliseconds since the epoch, rounded down: what the core reckons with."""
        micros = self._in(NANOS) // 1000
        return (micros + (micros == _END_OF_GLOBAL_WINDOW)) // 1000

    def _in(self, precision: int) -> int:
        units: int = self._units * 10 ** (precision - self._precision)
        return units

    def to_precision(self, precision: int, allow_lossy_conversion: bool = False) -> "Timestamp":
        """The same with more or fewer digits after the point.

        Args:
            precision: How many.
            allow_lossy_conversion: Whether digits may be cut off.

        Raises:
            ValueError: There is no such precision, or digits would be lost.
        """
        if precision == self._precision:
            return self
        made = Timestamp(0, 0, precision)
        if precision > self._precision:
            made._units = self._in(precision)
            return made
        made._units, rest = divmod(self._units, 10 ** (self._precision - precision))
        if rest and not allow_lossy_conversion:
            raise ValueError(
                f"{self!r} cannot be represented exactly at precision {precision}. Set "
                "allow_lossy_conversion=True to truncate it."
            )
        return made

    def predecessor(self) -> "Timestamp":
        """The largest timestamp before this one, of its precision."""
        return _made(self._units - 1, self._precision)

    def successor(self) -> "Timestamp":
        """The smallest timestamp after this one, of its precision."""
        return _made(self._units + 1, self._precision)

    def to_utc_datetime(
        self, has_tz: bool = False, allow_lossy_conversion: bool = False
    ) -> datetime:
        """As a ``datetime`` in UTC.

        Args:
            has_tz: Whether it says its zone.
            allow_lossy_conversion: Whether nanoseconds may be cut off.

        Raises:
            ValueError: Nanoseconds would be lost.
            OverflowError: No ``datetime`` reaches so far.
        """
        if self._precision > MICROS and not allow_lossy_conversion:
            raise ValueError(
                f"Converting {self!r} to datetime truncates it to microseconds. Set "
                "allow_lossy_conversion=True to allow this conversion."
            )
        moment = _EPOCH + timedelta(microseconds=self._in(NANOS) // 1000)
        return moment if has_tz else moment.replace(tzinfo=None)

    def to_rfc3339(self) -> str:
        """As ``"2016-03-18T23:22:59.123456Z"``."""
        if self._precision <= MICROS:
            return f"{self.to_utc_datetime().isoformat()}Z"
        text = Timestamp(self.seconds()).to_utc_datetime().isoformat()
        fraction = f".{self.subseconds():0{self._precision}}" if self.subseconds() else ""
        return f"{text}{fraction}Z"

    # What says what it is made of may be a key.

    def __getstate__(self) -> tuple[int, int]:
        return self._units, self._precision

    def __setstate__(self, state: tuple[int, int]) -> None:
        self._units, self._precision = state

    def __repr__(self) -> str:
        return shown("Timestamp", self._units, self._precision)

    def __int__(self) -> int:
        return self.seconds()

    def __add__(self, other: DurationTypes) -> "Timestamp":
        return self._moved(Duration.of(other).micros)

    __radd__ = __add__

    @overload
    def __sub__(self, other: DurationTypes) -> "Timestamp": ...

    @overload
    def __sub__(self, other: "Timestamp") -> Duration: ...

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Timestamp):
            return _duration(self.nanos - other.nanos)
        return self._moved(-Duration.of(other).micros)

    def __mod__(self, other: DurationTypes) -> Duration:
        return _duration(self.nanos % (1000 * Duration.of(other).micros))

    def _moved(self, micros: int) -> "Timestamp":
        precision = max(self._precision, MICROS)
        units = self._in(precision) + micros * 10 ** (precision - MICROS)
        return _made(units, precision)


TimestampTypes: TypeAlias = int | float | Timestamp
"""What `Timestamp.of` reads."""

TimestampDurationTypes: TypeAlias = int | float | Duration | Timestamp
"""What both are compared with."""


def _made(units: int, precision: int = MICROS) -> Timestamp:
    """An instant of so many units, which are whole and need no reading."""
    made = Timestamp.__new__(Timestamp)
    made._precision, made._units = precision, units
    return made


def _duration(nanos: int) -> Duration:
    micros, rest = divmod(nanos, 1000)
    if rest:
        raise ValueError(
            "the result has sub-microsecond precision, which Duration cannot represent; truncate "
            "the operands with to_precision(6, allow_lossy_conversion=True) first"
        )
    return Duration(micros=micros)


MIN_TIMESTAMP: Final = Timestamp.of_millis(MIN_MILLIS)
"""The beginning of time: the event time of elements that have none."""

MAX_TIMESTAMP: Final = Timestamp.of_millis(MAX_MILLIS)
"""The end of time: a watermark here is infinity."""

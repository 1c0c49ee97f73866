"""Instants as Beam Python has them: numbers beside them count seconds.

Source: Beam Python ``utils.timestamp``.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final, overload

from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.python.durations import Duration, DurationTypes, Seconds, is_number
from beamlike.hosts.clock import wall_clock_seconds
from beamlike.model.time import END_OF_GLOBAL_WINDOW
from beamlike.model.time import MAX_TIMESTAMP as MAX_MILLIS
from beamlike.model.time import MIN_TIMESTAMP as MIN_MILLIS

__all__ = [
    "MAX_TIMESTAMP",
    "MIN_TIMESTAMP",
    "Timestamp",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROS: Final = 1_000_000
_LAST_MICRO: Final = 1000 * END_OF_GLOBAL_WINDOW - 1
"""The last instant of the global window (microseconds)."""


class Timestamp(Seconds):
    """A point in time, so many seconds since the epoch, UTC, exact to the microsecond.

    Numbers beside it, in comparisons and in sums, count seconds, as a `Duration` does.

    The windows, timers and panes of a pipeline are exact to the millisecond. What is finer is cut
    off (rounded down) where a timestamp enters one, as Beam Java and Beam's coders do.

    >>> Timestamp(90) + Duration(0.5), Timestamp(90) > 89
    (Timestamp(90.500000), True)

    Args:
        seconds: Seconds since the epoch.
        micros: Microseconds besides.

    Raises:
        TypeError: An argument is no number.

    Source: Beam Python ``Timestamp``; nanoseconds are in Beam's own SDK only.
    """

    __slots__ = ()

    to_precision: ClassVar[Any] = OfBeamsSDK("Timestamp.to_precision")
    to_proto: ClassVar[Any] = OfBeamsSDK("Timestamp.to_proto")
    from_proto: ClassVar[Any] = OfBeamsSDK("Timestamp.from_proto")

    def __init__(self, seconds: int | float = 0, micros: int | float = 0) -> None:
        if type(seconds) is int and type(micros) is int:
            self.micros = seconds * _MICROS + micros  # of each element
            return
        for name, value in (("seconds", seconds), ("micros", micros)):
            if not is_number(value):
                raise TypeError(f"Cannot interpret {value} {type(value)} as {name}.")
        self.micros = int(seconds * _MICROS) + int(micros)

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
        timestamp = Timestamp.__new__(Timestamp)  # of a whole number, which needs no check
        timestamp.micros = 1000 * millis - (millis == END_OF_GLOBAL_WINDOW)
        return timestamp

    @staticmethod
    def now() -> "Timestamp":
        """What the clock of this computer says."""
        return Timestamp(wall_clock_seconds())

    @classmethod
    def from_utc_datetime(cls, dt: datetime) -> "Timestamp":
        """The instant of a ``datetime`` with the zone UTC.

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
        """Read ``"2016-03-18T23:22:59.123456Z"``; without a zone it is UTC. Digits of
        nanoseconds are cut off.

        Raises:
            ValueError: It cannot be read.
        """
        try:
            moment = datetime.fromisoformat(rfc3339)
        except ValueError as error:
            raise ValueError(
                f"Could not parse RFC 3339 string '{rfc3339}' due to error: '{error}'."
            ) from None
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        return cls.from_utc_datetime(moment)

    def seconds(self) -> int:
        """Whole seconds, rounded down."""
        return self.micros // _MICROS

    @property
    def instant_ms(self) -> int:
        """Milliseconds since the epoch, rounded down: what the core reckons with."""
        return (self.micros + (self.micros == _LAST_MICRO)) // 1000

    def predecessor(self) -> "Timestamp":
        """The instant a microsecond before this one."""
        return Timestamp(micros=self.micros - 1)

    def successor(self) -> "Timestamp":
        """The instant a microsecond after this one."""
        return Timestamp(micros=self.micros + 1)

    def to_utc_datetime(self, has_tz: bool = False) -> datetime:
        """A ``datetime`` in UTC.

        Args:
            has_tz: Whether it says its zone.

        Raises:
            OverflowError: No ``datetime`` reaches so far.
        """
        moment = _EPOCH + timedelta(microseconds=self.micros)
        return moment if has_tz else moment.replace(tzinfo=None)

    def to_rfc3339(self) -> str:
        """A text such as ``"2016-03-18T23:22:59.123456Z"``."""
        return f"{self.to_utc_datetime().isoformat()}Z"

    def __getstate__(self) -> tuple[int, ...]:
        return self.micros, 6

    def __setstate__(self, state: tuple[int, ...]) -> None:
        units, digits = state  # earlier versions kept other fractions of a second, too
        self.micros = units * _MICROS // 10**digits

    def __int__(self) -> int:
        return self.seconds()

    def __add__(self, other: DurationTypes) -> "Timestamp":
        return Timestamp(micros=self.micros + Duration.of(other).micros)

    __radd__ = __add__

    @overload
    def __sub__(self, other: DurationTypes) -> "Timestamp": ...

    @overload
    def __sub__(self, other: "Timestamp") -> Duration: ...

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Timestamp):
            return Duration(micros=self.micros - other.micros)
        return Timestamp(micros=self.micros - Duration.of(other).micros)

    def __mod__(self, other: DurationTypes) -> Duration:
        return Duration(micros=self.micros % Duration.of(other).micros)


MIN_TIMESTAMP: Final = Timestamp.of_millis(MIN_MILLIS)
"""The beginning of time: the event time of elements that have none."""

MAX_TIMESTAMP: Final = Timestamp.of_millis(MAX_MILLIS)
"""The end of time: a watermark here is infinity."""

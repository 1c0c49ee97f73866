"""Durations as Beam Python has them.

Source: Beam Python ``utils.timestamp``.
"""

from fractions import Fraction
from typing import Any, Final, TypeAlias

from beamlike.api.pipelines.python.reckoning import MICROS, Seconds, is_number, message, shown

__all__ = ["TIME_GRANULARITY", "Duration", "DurationTypes"]


class Duration(Seconds):
    """A length of time, so many seconds, exact to the microsecond.

    It is compared and reckoned with numbers, which count seconds.

    >>> Duration(90) % 60, Duration(90) == 90
    (Duration(30), True)

    Args:
        seconds: Seconds.
        micros: Microseconds besides.

    Source: Beam Python ``Duration``.
    """

    __slots__ = ("micros",)

    def __init__(self, seconds: int | float = 0, micros: int | float = 0) -> None:
        self.micros: int = int(seconds * 10**MICROS) + int(micros)

    @staticmethod
    def of(seconds: "DurationTypes") -> "Duration":
        """The duration that a number of seconds means.

        Raises:
            TypeError: It is no number and no duration.
        """
        if isinstance(seconds, Duration):
            return seconds
        if not is_number(seconds):
            raise TypeError(f"Cannot interpret {seconds} {type(seconds)} as Duration.")
        return Duration(seconds)

    def to_proto(self) -> Any:
        """As ``google.protobuf.duration_pb2.Duration``."""
        return message("Duration", self.nanos)

    @staticmethod
    def from_proto(duration_proto: Any) -> "Duration":
        """What a ``google.protobuf.duration_pb2.Duration`` says.

        Raises:
            ValueError: It is finer than a microsecond.
        """
        if duration_proto.nanos % 1000:
            raise ValueError(
                "Cannot convert from nanoseconds to microseconds, because this loses precision; "
                f"round the message first, got nanos={duration_proto.nanos}"
            )
        return Duration(duration_proto.seconds, duration_proto.nanos // 1000)

    @property
    def nanos(self) -> int:
        """The same in nanoseconds."""
        return 1000 * self.micros

    @property
    def duration_ms(self) -> int | Fraction:
        """Milliseconds. Where a duration is an argument, those that are not whole are refused."""
        return Fraction(self.micros, 1000) if self.micros % 1000 else self.micros // 1000

    def __getstate__(self) -> tuple[int]:
        return (self.micros,)

    def __setstate__(self, state: tuple[int]) -> None:
        (self.micros,) = state

    def __repr__(self) -> str:
        return shown("Duration", self.micros, MICROS)

    def __neg__(self) -> "Duration":
        return Duration(micros=-self.micros)

    def __add__(self, other: "DurationTypes") -> "Duration":
        if isinstance(other, Seconds) and not isinstance(other, Duration):
            return NotImplemented  # an instant knows what to do
        return Duration(micros=self.micros + Duration.of(other).micros)

    def __radd__(self, other: "DurationTypes") -> "Duration":
        return self + other

    def __sub__(self, other: "DurationTypes") -> "Duration":
        return Duration(micros=self.micros - Duration.of(other).micros)

    def __rsub__(self, other: "DurationTypes") -> "Duration":
        return Duration.of(other) - self

    def __mul__(self, other: "DurationTypes") -> "Duration":
        return Duration(micros=self.micros * Duration.of(other).micros // 10**MICROS)

    __rmul__ = __mul__

    def __mod__(self, other: "DurationTypes") -> "Duration":
        return Duration(micros=self.micros % Duration.of(other).micros)


DurationTypes: TypeAlias = int | float | Duration
"""What `Duration.of` reads."""

TIME_GRANULARITY: Final = Duration(micros=1)
"""The least step of a duration."""

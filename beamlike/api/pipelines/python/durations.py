"""Durations as Beam Python has them, and what they share with instants.

Source: Beam Python ``utils.timestamp``.
"""

from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

from beamlike.api.pipelines.beams_own import OfBeamsSDK

__all__ = ["TIME_GRANULARITY", "Duration", "DurationTypes"]

_MICROS: Final = 1_000_000
_ENDLESS: Final = (float("inf"), float("-inf"))


class Seconds:
    """A number of seconds that is kept as whole microseconds, and compared with numbers of seconds.

    Attributes:
        micros: How many microseconds.
    """

    __slots__ = ("micros",)

    micros: int

    def __float__(self) -> float:
        return self.micros / _MICROS

    def __eq__(self, other: object) -> bool:
        micros = _micros(other)
        return NotImplemented if micros is None else self.micros == micros

    def __lt__(self, other: Any) -> bool:
        return self.micros < _comparable(other)

    def __le__(self, other: Any) -> bool:
        return self.micros <= _comparable(other)

    def __gt__(self, other: Any) -> bool:
        return self.micros > _comparable(other)

    def __ge__(self, other: Any) -> bool:
        return self.micros >= _comparable(other)

    def __hash__(self) -> int:
        return hash(self.micros)

    # What says what it is made of may be a key.

    def __getstate__(self) -> tuple[int, ...]:
        return (self.micros,)

    def __setstate__(self, state: tuple[int, ...]) -> None:
        self.micros = state[0]

    def __repr__(self) -> str:
        sign = "-" if self.micros < 0 else ""
        seconds, fraction = divmod(abs(self.micros), _MICROS)
        return f"{type(self).__name__}({sign}{seconds}{f'.{fraction:06}' if fraction else ''})"


class Duration(Seconds):
    """A length of time, so many seconds, exact to the microsecond.

    Numbers beside it, in comparisons and in sums, count seconds.

    >>> Duration(90) % 60, Duration(90) == 90
    (Duration(30), True)

    Args:
        seconds: Seconds.
        micros: Microseconds besides.
    """

    __slots__ = ()

    to_proto: ClassVar[Any] = OfBeamsSDK("Duration.to_proto")
    from_proto: ClassVar[Any] = OfBeamsSDK("Duration.from_proto")

    def __init__(self, seconds: int | float = 0, micros: int | float = 0) -> None:
        self.micros = int(seconds * _MICROS) + int(micros)

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

    @property
    def duration_ms(self) -> int | Fraction:
        """Milliseconds. Where a duration is an argument, those that are not whole are refused."""
        return Fraction(self.micros, 1000) if self.micros % 1000 else self.micros // 1000

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
        return Duration(micros=self.micros * Duration.of(other).micros // _MICROS)

    __rmul__ = __mul__

    def __mod__(self, other: "DurationTypes") -> "Duration":
        return Duration(micros=self.micros % Duration.of(other).micros)


DurationTypes: TypeAlias = int | float | Duration
"""What `Duration.of` reads."""

TIME_GRANULARITY: Final = Duration(micros=1)
"""The least step of a duration."""


def is_number(value: Any) -> bool:
    """Whether a value is a number; one of NumPy is not an ``int``, and counts."""
    return isinstance(value, int | float) or hasattr(value, "__index__")


def _micros(value: Any) -> int | None:
    """What a time or a number of seconds is in microseconds; None: it is neither."""
    if isinstance(value, Seconds):
        return value.micros
    if not is_number(value) or value in _ENDLESS or value != value:
        return None
    return int(value * _MICROS)


def _comparable(value: Any) -> int | float:
    micros = _micros(value)
    if micros is None:
        if isinstance(value, float):
            return value  # the end of time, or not a number
        raise TypeError(f"Cannot interpret {value} {type(value)} as Timestamp.")
    return micros

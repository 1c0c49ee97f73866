"""What instants and durations of Beam Python share: they are compared as numbers of seconds.

Source: Beam Python ``utils.timestamp``.
"""

from importlib import import_module
from typing import Any, Final

MICROS: Final = 6
"""Digits after the point, in microseconds."""

NANOS: Final = 9
"""The most digits after the point."""

_ENDLESS: Final = (float("inf"), float("-inf"))


class Seconds:
    """A number of seconds that is kept as whole units of a part of a second."""

    __slots__ = ()

    @property
    def nanos(self) -> int:
        """The same in nanoseconds."""
        raise NotImplementedError

    def __float__(self) -> float:
        return self.nanos / 10**NANOS

    def __eq__(self, other: object) -> bool:
        nanos = _nanos(other)
        return NotImplemented if nanos is None else self.nanos == nanos

    def __lt__(self, other: Any) -> bool:
        return self.nanos < _reckoned(other)

    def __le__(self, other: Any) -> bool:
        return self.nanos <= _reckoned(other)

    def __gt__(self, other: Any) -> bool:
        return self.nanos > _reckoned(other)

    def __ge__(self, other: Any) -> bool:
        return self.nanos >= _reckoned(other)

    def __hash__(self) -> int:
        return hash(self.nanos)


def is_number(value: Any) -> bool:
    """Whether it is a number; one of NumPy is no ``int``, and is one."""
    return isinstance(value, int | float) or hasattr(value, "__index__")


def shown(name: str, units: int, precision: int) -> str:
    """A number of units of so many digits after the point, as Beam shows it."""
    sign = "-" if units < 0 else ""
    whole, fraction = divmod(abs(units), 10**precision)
    return f"{name}({sign}{whole}{f'.{fraction:0{precision}}' if fraction else ''})"


def message(name: str, nanos: int) -> Any:
    """A message of protobuf, which must be installed, of so many nanoseconds.

    Args:
        name: ``"Timestamp"`` or ``"Duration"``.
        nanos: How many.
    """
    kind = getattr(import_module(f"google.protobuf.{name.lower()}_pb2"), name)
    return kind(seconds=nanos // 10**NANOS, nanos=nanos % 10**NANOS)


def _nanos(value: Any) -> int | None:
    """What a time or a number of seconds is in nanoseconds; None: it is none."""
    if isinstance(value, Seconds):
        return value.nanos
    if not is_number(value) or value in _ENDLESS or value != value:
        return None
    return 1000 * int(value * 10**MICROS)


def _reckoned(value: Any) -> int | float:
    nanos = _nanos(value)
    if nanos is None:
        if isinstance(value, float):
            return value  # no end of time, and nothing that is no number
        raise TypeError(f"Cannot interpret {value} {type(value)} as Timestamp.")
    return nanos

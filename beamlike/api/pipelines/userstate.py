"""What a function of Beam declares to have state and timers of its own.

It may be declared here. A `DoFn` that asks for one of them is refused when it is applied, with what
there is instead: `ApplyPerKey`, or a trigger and a grouping.

Source: Beam Python ``transforms.userstate``.
"""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import attrs

__all__ = [
    "BagStateSpec",
    "CombiningValueStateSpec",
    "OrderedListStateSpec",
    "ReadModifyWriteStateSpec",
    "SetStateSpec",
    "TimeDomain",
    "TimerSpec",
    "on_timer",
]

T = TypeVar("T")


@attrs.frozen
class _StateSpec:
    name: str
    coder: Any = None


class BagStateSpec(_StateSpec):
    """A bag of values."""


class SetStateSpec(_StateSpec):
    """A set of values."""


class ReadModifyWriteStateSpec(_StateSpec):
    """One value."""


class OrderedListStateSpec(_StateSpec):
    """Values in the order of their event times."""


@attrs.frozen
class CombiningValueStateSpec:
    """One value, which a combine function makes."""

    name: str
    coder: Any = None
    combine_fn: Any = None


class TimeDomain:
    """Which time a timer waits for."""

    WATERMARK: ClassVar[str] = "WATERMARK"
    REAL_TIME: ClassVar[str] = "REAL_TIME"


@attrs.frozen
class TimerSpec:
    """A timer."""

    name: str
    time_domain: str = TimeDomain.WATERMARK


def on_timer(_spec: TimerSpec) -> Callable[[T], T]:
    """A decorator of the method that a timer calls."""
    return lambda method: method

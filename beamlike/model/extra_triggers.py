"""Triggers that Beam does not have: intervals, a running count, a pause, a change of value,
a total.

They stand in a tree wherever Beam's do, and are written against the contract that triggers of one's
own keep, see `beamlike.model.custom_trigger`. One more is a class here and its line in
`EXTRA_TRIGGERS`: texts, scenario files, code and random trees are made by its ``arguments``.

Source: Flink ``DeltaTrigger``, ``ProcessingTimeoutTrigger``; Apex ``TriggerOption``.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final

import attrs

from beamlike.errors import TriggerError
from beamlike.model.copies import own_copy
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.described import ArgumentKind, HasDurations
from beamlike.model.interval_triggers import EveryEventTime, EveryProcessingTime, Kept
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike
from beamlike.model.trigger_context import ArrivedElements, TriggerContext

DeltaOf = Callable[[Any, Any], float]
"""How far a value (second) is from an earlier one (first)."""


def difference(before: Any, after: Any) -> float:
    """How far two numbers are apart."""
    return float(abs(after - before))


@attrs.frozen
class EveryCount(CustomTrigger[int | None]):
    """Fires whenever the number of elements that a window has received passes a multiple of
    ``count``. Never finishes.

    No firing begins the count anew, neither its own nor another one: ``Repeatedly(AfterCount(3))``
    counts the elements of a pane, and this those of the window. As the late trigger of
    `AfterWatermark` it counts the elements before the end too. It is evaluated once per bundle.

    Raises:
        TriggerError: The count is no whole number of 1 or more.

    Source: Apex ``TriggerOption.withEarlyFiringsAtEvery(long)``.

    >>> print(EveryCount(100))
    EveryCount(100)
    """

    firings = "repeated"
    keeps = "number"  # how many elements came since the last multiple that fired
    observes_all_elements = True
    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"count": "count"}

    count: int

    def __attrs_post_init__(self) -> None:
        whole_number(self.count, 1, "EveryCount count", TriggerError)

    def on_elements(self, state: Kept, arrived: ArrivedElements, now: TriggerContext) -> Kept:
        return (state or 0) + arrived.count

    def is_ready(self, state: int | None, now: TriggerContext) -> bool:
        return (state or 0) >= self.count

    def on_fire(self, state: int | None, now: TriggerContext) -> int | None:
        return self.on_end(state)

    def on_end(self, state: int | None) -> int | None:
        return None if state is None else state % self.count

    def merge(self, states: Sequence[int | None], now: TriggerContext) -> int | None:
        return sum(state or 0 for state in states)

    @property
    def always_fires(self) -> bool:
        return True

    def waits_for(self, state: int | None, now: TriggerContext) -> str | None:
        missing = self.count - (state or 0)
        return f"{missing} more element{'s' * (missing != 1)} of {self.count}"

    def reason(self) -> str:
        return f"the elements of the window have passed a multiple of {self.count}"


@attrs.frozen(init=False)
class AfterSilence(HasDurations, CustomTrigger[int | None]):
    """Fires once the clock is strictly past a time after the pane's latest element.

    Every element begins the waiting anew. `AfterProcessingTime` counts from the first one.

    Args:
        silence: How long no element must have come.

    Raises:
        TimeError: The duration cannot be read.

    Source: Flink ``ProcessingTimeoutTrigger`` with ``resetTimerOnNewRecord``.

    >>> print(AfterSilence("30 seconds"))
    AfterSilence(30s)
    """

    keeps = "number"  # the time that the clock must pass
    fires_on_arrival = False
    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"silence": "duration"}

    silence: int

    def __init__(self, silence: DurationLike) -> None:
        self._describe(silence=silence)

    def on_elements(self, state: Kept, arrived: ArrivedElements, now: TriggerContext) -> Kept:
        return now.clock + self.silence

    def is_ready(self, state: int | None, now: TriggerContext) -> bool:
        return state is not None and now.clock > state

    def processing_time_timers(self, state: int | None) -> Iterable[int]:
        return () if state is None else (state,)

    def merge(self, states: Sequence[int | None], now: TriggerContext) -> int | None:
        return max((state for state in states if state is not None), default=None)

    def merges_finished(self, result: bool, parts: Sequence[bool]) -> bool:
        return result

    def waits_for(self, state: int | None, now: TriggerContext) -> str | None:
        if state is None:
            return "an element to count the time from"
        return f"the clock to pass {self.resolution.show_instant(state)} without another element"

    def reason(self) -> str:
        return "the clock has passed {time}"


_Measured = tuple[int | None, tuple[Any, ...]]
"""1 once an element was far enough away; and what to measure from, if there is anything."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(number: float) -> float:
    """The same as a number of Python's own.

    Subclasses, as numpy's, have texts of their own, and a trigger is known by its text.
    """
    return int(number) if isinstance(number, int) else float(number)


@attrs.frozen(init=False)
class AfterDelta(CustomTrigger[_Measured]):
    """Fires once an element lies more than a threshold away from the one that it fired on last.

    The first element of a window is what the next ones are measured from; then that is each
    element that lies further away, also while it is the turn of another trigger. Of a bundle every
    element is measured, and the trigger is evaluated once, after all of them. What is measured from
    outlasts the firing: ``Repeatedly`` of it continues from there.

    Args:
        threshold: What the distance must be more than; 0 or more.
        delta: ``(earlier value, value) -> distance``. Default: the difference of two numbers. To
            save and compare the trigger, let it be a function at the top of a module.

    Raises:
        TriggerError: The threshold is no number of 0 or more, or ``delta`` is no function.

    Source: Flink ``DeltaTrigger``. In windows that merge, which Flink refuses, the merged window
    continues from the element of the first of them.

    >>> AfterDelta(5).is_far(100, 104), AfterDelta(5).is_far(100, 106)
    (False, True)
    """

    keeps = "both"
    looks_at = "values"
    observes_all_elements = True
    asked = "delta"
    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"threshold": "number", "delta": "function"}

    threshold: float
    delta: DeltaOf

    def __init__(self, threshold: float, delta: DeltaOf = difference) -> None:
        if not _is_number(threshold) or not threshold >= 0:
            raise TriggerError(
                f"AfterDelta threshold must be a number of 0 or more, got {threshold!r}"
            )
        if not callable(delta):
            raise TriggerError(
                f"AfterDelta delta must be a function of two values, got {delta!r}; write "
                "AfterDelta(0.5, delta=lambda before, after: abs(after.price - before.price))"
            )
        self.__attrs_init__(_plain(threshold), delta)

    def is_far(self, before: Any, after: Any) -> bool:
        """Whether a value is far enough from an earlier one."""
        return bool(self.delta(own_copy(before), own_copy(after)) > self.threshold)

    def start(self) -> _Measured:
        return None, ()

    def on_elements(
        self, state: _Measured, arrived: ArrivedElements, now: TriggerContext
    ) -> _Measured:
        is_due, origin = state
        for value in arrived.values:
            far = bool(origin) and self.is_far(origin[0], value)
            if far:
                is_due = 1
            if far or not origin:
                origin = (value,)
        return is_due, origin

    def is_ready(self, state: _Measured, now: TriggerContext) -> bool:
        return state[0] is not None

    def on_fire(self, state: _Measured, now: TriggerContext) -> _Measured:
        return self.on_end(state)

    def on_end(self, state: _Measured) -> _Measured:
        return None, state[1]

    def merge(self, states: Sequence[_Measured], now: TriggerContext) -> _Measured:
        is_due = max((is_due for is_due, _ in states if is_due is not None), default=None)
        return is_due, next((origin for _, origin in states if origin), ())

    def waits_for(self, state: _Measured, now: TriggerContext) -> str | None:
        if not state[1]:
            return "an element to measure from"
        return f"an element more than {self.threshold!r} away from {state[1][0]!r}"

    def reason(self) -> str:
        return f"an element came that is more than {self.threshold!r} away"


def _total(total: float) -> float:
    if not _is_number(total) or not math.isfinite(total):
        raise TriggerError(f"AfterTotal total must be a finite number, got {total!r}")
    return _plain(total)


@attrs.frozen
class AfterTotal(CustomTrigger[Fraction]):
    """Fires once the values of a pane add up to ``total`` or more.

    The sum is exact, whatever the order of the values; null counts for nothing. The trigger is
    evaluated once per bundle, so a pane may hold more. ``Repeatedly`` of it begins anew with each
    pane. Over a DataFrame the values are those of the column that ``window_input`` names.

    Raises:
        TriggerError: The total is no finite number.

    Source: Flink ``CountTrigger``, with values in place of counts.

    >>> print(AfterTotal(100))
    AfterTotal(100)
    """

    looks_at = "values"
    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"total": "number"}

    total: float = attrs.field(converter=_total)

    def start(self) -> Fraction:
        return Fraction()

    def on_elements(
        self, state: Fraction, arrived: ArrivedElements, now: TriggerContext
    ) -> Fraction:
        return sum((_exact(value) for value in arrived.values if value is not None), state)

    def is_ready(self, state: Fraction, now: TriggerContext) -> bool:
        return state >= self.total

    def merge(self, states: Sequence[Fraction], now: TriggerContext) -> Fraction:
        return sum(states, Fraction())

    def waits_for(self, state: Fraction, now: TriggerContext) -> str | None:
        return f"{float(self.total - state):g} more to a total of {self.total!r}"

    def reason(self) -> str:
        return f"the values of the pane add up to {self.total!r} or more"


def _exact(value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"AfterTotal adds up numbers, got {value!r}; over a DataFrame, window_input= names the "
            "column that has them"
        ) from None


_ALL: Final[Sequence[type[CustomTrigger[Any]]]] = (
    *(EveryProcessingTime, EveryEventTime, EveryCount),
    *(AfterSilence, AfterDelta, AfterTotal),
)
EXTRA_TRIGGERS: Final[Mapping[str, type[CustomTrigger[Any]]]] = {cls.__name__: cls for cls in _ALL}
"""Each by its name."""

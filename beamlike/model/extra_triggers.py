"""Triggers that Beam does not have: intervals, a count that goes on, a silence, a change of value.

They stand in a tree wherever Beam's do. How each one listens, gets ready, fires and merges stands
in `beamlike.machine.reference.extra_leaves`.

Source: Flink ``ContinuousEventTimeTrigger``, ``ContinuousProcessingTimeTrigger``,
``DeltaTrigger``, ``ProcessingTimeoutTrigger``; Apex ``TriggerOption``.
"""

from collections.abc import Callable
from typing import Any

import attrs

from beamlike.errors import TriggerError
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import whole_number
from beamlike.model.time import MAX_TIMESTAMP, DurationLike, duration_ms, show_duration
from beamlike.model.triggers import AfterWatermark, Trigger

__all__ = [
    "AfterDelta",
    "AfterSilence",
    "DeltaOf",
    "EveryCount",
    "EveryEventTime",
    "EveryProcessingTime",
    "difference",
    "reading",
]

DeltaOf = Callable[[Any, Any], float]
"""How far a value (second) is from an earlier one (first)."""


def difference(before: Any, after: Any) -> float:
    """How far two numbers are apart."""
    return float(abs(after - before))


def _interval_ms(owner: str, interval: DurationLike) -> int:
    interval_ms = duration_ms(interval, f"{owner} interval")
    if interval_ms == 0:
        raise TriggerError(f'{owner} needs an interval of more than 0 ms, such as "1 minute"')
    return interval_ms


def _flag(owner: str, name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise TriggerError(f"{owner} {name} must be True or False, got {value!r}")
    return value


class _Every(Trigger):
    """What the two interval triggers share."""

    interval: int
    offset: int
    fire_unchanged: bool

    @property
    def may_finish(self) -> bool:
        return False

    def first(self, least: int) -> int:
        """The first instant of the rhythm (ms) that is not before ``least``."""
        return least + (self.offset - least) % self.interval

    def _text(self, *flags: str) -> str:
        parts = [show_duration(self.interval)]
        parts += [f"offset={show_duration(self.offset)}"] if self.offset else []
        tick = getattr(self, "tick", 1)
        parts += [f"tick={show_duration(tick)}"] if tick != 1 else []
        parts += [f"{name}=True" for name in (*flags, "fire_unchanged") if getattr(self, name)]
        return f"{type(self).__name__}({', '.join(parts)})"


@attrs.frozen(init=False)
class EveryProcessingTime(_Every):
    """Fires whenever the clock has passed a multiple of an interval. Never finishes.

    Several that the clock passes in one step are one firing.

    Args:
        interval: From one multiple to the next, more than 0.
        offset: Added to each multiple; taken modulo the interval.
        since_firing: Count from the last firing of the window and not in multiples. A window that
            has not fired yet counts from ``offset`` after the beginning of processing time, so
            that it fires as soon as the clock moves if that is longer ago than the interval. An
            instant at which nothing was new, and nothing came out, counts as a firing.
        tick: Of ``since_firing`` only: the clock counts in steps of so much, as that of batches.
            A window fired at the beginning of the step in which it did, and the interval is
            rounded up to whole steps. Default: a millisecond.
        fire_unchanged: Fire also when nothing has come since the pane before: the value of that
            pane comes again. A window that has been emptied since (discarding) has nothing to
            fire. Default: no, as all triggers of Beam; each pane then waits for the first
            multiple after its first element.

    Raises:
        TriggerError: The interval or the tick is 0, a flag is no bool, or there is a tick without
            ``since_firing``.
        TimeError: A duration cannot be read.

    Source: Flink ``ContinuousProcessingTimeTrigger``; with ``since_firing`` Apex
    ``TriggerOption.withEarlyFiringsAtEvery``.

    >>> print(EveryProcessingTime("1 minute", since_firing=True))
    EveryProcessingTime(1m, since_firing=True)
    """

    interval: int
    offset: int
    since_firing: bool
    fire_unchanged: bool
    tick: int = 1

    def __init__(
        self,
        interval: DurationLike,
        offset: DurationLike = 0,
        *,
        since_firing: bool = False,
        tick: DurationLike = 1,
        fire_unchanged: bool = False,
    ) -> None:
        name = type(self).__name__
        tick_ms = duration_ms(tick, f"{name} tick")
        if tick_ms == 0 or (tick_ms != 1 and not since_firing):
            raise TriggerError(
                f"{name} tick must be 1 ms or more, and goes with since_firing=True, got "
                f"{show_duration(tick_ms)}"
            )
        self.__attrs_init__(
            _interval_ms(name, interval),
            duration_ms(offset, f"{name} offset"),
            _flag(name, "since_firing", since_firing),
            _flag(name, "fire_unchanged", fire_unchanged),
            tick_ms,
        )

    @property
    def needs_clock(self) -> bool:
        return True

    def before_firing(self, clock: int) -> int:
        """With ``since_firing``: the instant (ms) that a window waits for which has not fired yet,
        asked at ``clock``."""
        ever = self.offset + self.interval
        return max(ever + -ever % self.tick, clock - clock % self.tick)

    def after_firing(self, clock: int) -> int:
        """With ``since_firing``: the instant (ms) after a firing at ``clock``."""
        return clock - clock % self.tick + self.interval + -self.interval % self.tick

    def __str__(self) -> str:
        return self._text("since_firing")


@attrs.frozen(init=False)
class EveryEventTime(_Every):
    """Fires whenever the watermark has passed a multiple of an interval. Never finishes.

    The first one is after the time of the element that came first, and never one that the watermark
    has passed already. Several that the watermark passes in one step are one firing. It goes on
    after the end of the window for as long as the window lives; as an early trigger of
    `AfterWatermark` it ends there.

    Args:
        interval: From one multiple to the next, more than 0.
        offset: Added to each multiple; taken modulo the interval.
        to_end: Wait no longer than for the end of the window, and count on from there: a session
            that grows meanwhile fires where it would have ended. After the end it is silent.
        fire_unchanged: As of `EveryProcessingTime`.

    Raises:
        TriggerError: The interval is 0, or a flag is no bool.
        TimeError: A duration cannot be read.

    Source: Flink ``ContinuousEventTimeTrigger``.

    >>> print(EveryEventTime("1 hour"))
    EveryEventTime(1h)
    """

    interval: int
    offset: int
    to_end: bool
    fire_unchanged: bool

    def __init__(
        self,
        interval: DurationLike,
        offset: DurationLike = 0,
        *,
        to_end: bool = False,
        fire_unchanged: bool = False,
    ) -> None:
        name = type(self).__name__
        self.__attrs_init__(
            _interval_ms(name, interval),
            duration_ms(offset, f"{name} offset"),
            _flag(name, "to_end", to_end),
            _flag(name, "fire_unchanged", fire_unchanged),
        )

    @property
    def needs_elements(self) -> bool:
        return True

    def latest(self, max_timestamp: int) -> int:
        """The latest first instant (ms) of a window with elements up to ``max_timestamp``."""
        if self.to_end:
            return max_timestamp
        return min(self.first(max_timestamp + 1), MAX_TIMESTAMP)

    def __str__(self) -> str:
        return self._text("to_end")


@attrs.frozen
class EveryCount(Trigger):
    """Fires whenever the number of elements that a window has received passes a multiple of
    ``count``. Never finishes.

    No firing begins the count anew, neither its own nor another one: ``Repeatedly(AfterCount(3))``
    counts the elements of a pane, and this those of the window. As the late trigger of
    `AfterWatermark` it counts the elements before the end too. It is asked once per bundle.

    Raises:
        TriggerError: The count is no whole number of 1 or more.

    Source: Apex ``TriggerOption.withEarlyFiringsAtEvery(long)``.

    >>> print(EveryCount(100))
    EveryCount(100)
    """

    count: int

    def __attrs_post_init__(self) -> None:
        whole_number(self.count, 1, "EveryCount count", TriggerError)

    @property
    def may_finish(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"EveryCount({self.count})"


@attrs.frozen(init=False)
class AfterSilence(Trigger):
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

    silence: int

    def __init__(self, silence: DurationLike) -> None:
        self.__attrs_init__(duration_ms(silence, "AfterSilence silence"))

    @property
    def fires_once(self) -> bool:
        return True

    @property
    def needs_clock(self) -> bool:
        return True

    def __str__(self) -> str:
        return f"AfterSilence({show_duration(self.silence)})"


@attrs.frozen(init=False)
class AfterDelta(Trigger):
    """Fires once an element lies more than a threshold away from the one that it fired on last.

    The first element of a window is what the next ones are measured from; then that is each
    element that lies further away, also while it is the turn of another trigger. Of a bundle every
    element is measured, and the trigger is asked once, after all of them. What is measured from
    outlasts the firing: ``Repeatedly`` of it goes on from there.

    Args:
        threshold: What the distance must be more than; 0 or more.
        delta: ``(earlier value, value) -> distance``. Default: the difference of two numbers. To
            save and compare the trigger, let it be a function at the top of a module.

    Raises:
        TriggerError: The threshold is no number of 0 or more, or ``delta`` is no function.

    Source: Flink ``DeltaTrigger``. In windows that merge, which Flink refuses, the merged window
    goes on from the element of the first of them.

    >>> AfterDelta(5).is_far(100, 104), AfterDelta(5).is_far(100, 106)
    (False, True)
    """

    threshold: float
    delta: DeltaOf
    read: Callable[[Any], Any] | None = attrs.field(default=None, eq=False, repr=False)
    """How an element becomes what is measured, where elements rest as columns."""

    def __init__(self, threshold: float, delta: DeltaOf = difference) -> None:
        is_number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        if not is_number or not threshold >= 0:
            raise TriggerError(
                f"AfterDelta threshold must be a number of 0 or more, got {threshold!r}"
            )
        if not callable(delta):
            raise TriggerError(
                f"AfterDelta delta must be a function of two values, got {delta!r}; write "
                "AfterDelta(0.5, delta=lambda before, after: abs(after.price - before.price))"
            )
        # Subclasses, as numpy's, have texts of their own, and the trigger is known by its text.
        plain = int(threshold) if isinstance(threshold, int) else float(threshold)
        self.__attrs_init__(plain, delta)

    def reading(self, read: Callable[[Any], Any]) -> "AfterDelta":
        """The same over elements that rest as columns, of which ``read`` tells what is measured."""
        trigger = object.__new__(type(self))
        trigger.__attrs_init__(self.threshold, self.delta, read)
        return trigger

    def is_far(self, before: Any, after: Any) -> bool:
        """Whether a value is far enough from an earlier one."""
        return bool(self.delta(before, after) > self.threshold)

    def measured(self, value: Any) -> Any:
        """What is measured of an element with this value."""
        return value if self.read is None else self.read(value)

    @property
    def fires_once(self) -> bool:
        return True

    @property
    def needs_elements(self) -> bool:
        return True

    def __str__(self) -> str:
        delta = "" if self.delta is difference else f", delta={stable_repr(self.delta)}"
        return f"AfterDelta({self.threshold!r}{delta})"


def reading(trigger: Trigger, read: Callable[[Any], Any]) -> Trigger:
    """The same trigger over elements that rest as columns.

    Args:
        trigger: The trigger.
        read: From what an element is there to what triggers look at.
    """
    if not trigger.needs_elements:
        return trigger
    match trigger:
        case AfterDelta():
            return trigger.reading(read)
        case AfterWatermark(early=early, late=late):
            return AfterWatermark(early and reading(early, read), late and reading(late, read))
        case _ if trigger.children:
            make: Callable[..., Trigger] = type(trigger)
            return make(*(reading(child, read) for child in trigger.children))
        case _:
            return trigger

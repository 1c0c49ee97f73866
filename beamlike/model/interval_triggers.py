"""Triggers that fire again and again at multiples of an interval, of event or processing time.

They never wait for an instant that has passed: what they are armed with lies ahead of the clock in
question, or at it, and is due once that clock is past it.

Source: Flink ``ContinuousEventTimeTrigger``, ``ContinuousProcessingTimeTrigger``; Apex
``TriggerOption.withEarlyFiringsAtEvery``.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final

import attrs

from beamlike.errors import TriggerError
from beamlike.model.custom_trigger import CustomTrigger
from beamlike.model.described import ArgumentKind, HasDurations
from beamlike.model.time import DurationLike
from beamlike.model.trigger_context import ArrivedElements, TriggerContext
from beamlike.model.windows import Window

Kept = int | None

_BEGIN: Final = "an element to begin the interval with"


class _Every(HasDurations, CustomTrigger[int | None]):
    """What the two share. The state is the next instant; None: not armed."""

    firings = "repeated"
    keeps = "number"

    interval: int
    offset: int
    fire_unchanged: bool

    def _check(self) -> None:
        """Refuse arguments that fit neither."""
        owner = type(self).__name__
        if self.interval == 0:
            raise TriggerError(f'{owner} needs an interval of more than 0 ms, such as "1 minute"')
        for name, sort in self.arguments.items():
            value = getattr(self, name)
            if sort == "flag" and not isinstance(value, bool):
                raise TriggerError(f"{owner} {name} must be True or False, got {value!r}")

    def first(self, least: int) -> int:
        """The first instant of the rhythm that is not before ``least``."""
        return least + (self.offset - least) % self.interval

    def _armed(self, arrived: ArrivedElements, now: TriggerContext) -> int | None:
        """The first instant for the elements that come now."""
        raise NotImplementedError

    def _next(self, before: int | None, now: TriggerContext) -> int | None:
        """The first instant ahead; ``before`` was the one in question until now, if any was."""
        raise NotImplementedError

    def on_elements(self, state: Kept, arrived: ArrivedElements, now: TriggerContext) -> Kept:
        return self._armed(arrived, now) if state is None else state

    def on_fire(self, state: int | None, now: TriggerContext) -> int | None:
        # If nothing new is needed the rhythm goes on by itself, else with the next element.
        return self._next(state, now) if self.fire_unchanged else None

    def on_pane(self, state: int | None, now: TriggerContext) -> int | None:
        return None if state is None else self.on_fire(state, now)

    def merge(self, states: Sequence[int | None], now: TriggerContext) -> int | None:
        return min((state for state in states if state is not None), default=None)

    @property
    def fires_unchanged(self) -> bool:
        return self.fire_unchanged


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

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {
        "interval": "duration",
        "offset": "duration",
        "tick": "duration",
        "since_firing": "flag",
        "fire_unchanged": "flag",
    }

    interval: int
    offset: int
    tick: int
    since_firing: bool
    fire_unchanged: bool

    def __init__(
        self,
        interval: DurationLike,
        offset: DurationLike = 0,
        *,
        since_firing: bool = False,
        tick: DurationLike = 1,
        fire_unchanged: bool = False,
    ) -> None:
        self._describe(since_firing, fire_unchanged, interval=interval, offset=offset, tick=tick)
        self._count(self.resolution, interval=interval, offset=offset)
        self._check()
        per_ms = self.resolution.per_ms
        if self.tick < per_ms or (self.tick != per_ms and not since_firing):
            raise TriggerError(
                "EveryProcessingTime tick must be 1 ms or more, and goes with since_firing=True, "
                f"got {self.resolution.show_duration(self.tick)}"
            )

    def _armed(self, arrived: ArrivedElements, now: TriggerContext) -> int | None:
        if not self.since_firing:
            return self.first(now.clock)
        ever = self.offset + self.interval
        return max(ever + -ever % self.tick, now.clock - now.clock % self.tick)

    def _next(self, before: int | None, now: TriggerContext) -> int | None:
        if not self.since_firing:
            return self.first(now.clock)
        return now.clock - now.clock % self.tick + self.interval + -self.interval % self.tick

    def on_fire(self, state: int | None, now: TriggerContext) -> int | None:
        # Where it fired last has to be remembered, also until something new comes.
        return self._next(state, now) if self.since_firing else super().on_fire(state, now)

    def is_ready(self, state: int | None, now: TriggerContext) -> bool:
        return state is not None and now.clock > state

    def processing_time_timers(self, state: int | None) -> Iterable[int]:
        return () if state is None else (state,)

    @property
    def always_fires(self) -> bool:
        return True

    @property
    def fires_on_arrival(self) -> bool:
        # The step of the clock in which an element comes may have begun before it.
        return self.since_firing and self.tick > self.resolution.per_ms

    def waits_for(self, state: int | None, now: TriggerContext) -> str | None:
        if state is None:
            return _BEGIN
        return f"the clock to pass {self.resolution.show_instant(state)}"

    def reason(self) -> str:
        return "the clock has passed {time}"


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

    looks_at = "timestamps"
    arguments: ClassVar[Mapping[str, ArgumentKind]] = {
        "interval": "duration",
        "offset": "duration",
        "to_end": "flag",
        "fire_unchanged": "flag",
    }

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
        self._describe(to_end, fire_unchanged, interval=interval, offset=offset)
        self._check()

    def latest_first_firing(self, window: Window) -> int:
        if self.to_end:
            return window.max_timestamp
        return min(self.first(window.max_timestamp + 1), self.resolution.end_of_time)

    def _armed(self, arrived: ArrivedElements, now: TriggerContext) -> int | None:
        arrival = arrived.timestamps[0] + 1
        return self._no_later_than_end(self.first(max(arrival, now.watermark)), now)

    def _next(self, before: int | None, now: TriggerContext) -> int | None:
        return self._ahead(self.first(now.watermark) if before is None else before, now)

    def _ahead(self, first: int, now: TriggerContext) -> int | None:
        # A whole number of intervals on: where the window would have ended it may have left
        # the multiples.
        behind = now.watermark - first
        ahead = first + -(-behind // self.interval) * self.interval
        return self._no_later_than_end(ahead if behind > 0 else first, now)

    def _no_later_than_end(self, instant: int, now: TriggerContext) -> int | None:
        end_of_time = self.resolution.end_of_time
        last = now.window.max_timestamp if self.to_end else end_of_time
        # Nothing is past the end of time.
        return (
            min(instant, last)
            if now.watermark <= last and min(instant, last) < end_of_time
            else None
        )

    def merge(self, states: Sequence[int | None], now: TriggerContext) -> int | None:
        first = super().merge(states, now)
        return self._ahead(first, now) if first is not None and self.to_end else first

    def on_end(self, state: int | None) -> int | None:
        # It counts on from here if the window grows.
        return state if self.to_end else None

    @property
    def fires_on_arrival(self) -> bool:
        return False

    def is_ready(self, state: int | None, now: TriggerContext) -> bool:
        return state is not None and now.watermark > state

    def event_time_timers(self, state: int | None) -> Iterable[int]:
        return () if state is None else (state,)

    @property
    def always_fires(self) -> bool:
        return not self.to_end

    def waits_for(self, state: int | None, now: TriggerContext) -> str | None:
        if state is None:
            return None if self.to_end and now.end_reached else _BEGIN
        return f"the watermark to pass {self.resolution.show_instant(state)}"

    def reason(self) -> str:
        return "the watermark has passed {time}"

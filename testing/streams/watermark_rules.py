"""Streams by the clock: what arrives when, and a rule that makes the watermark of it."""

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Final, Protocol

import attrs

from beamlike.errors import WatermarkError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element
from beamlike.model.time import (
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    duration_ms,
    show_duration,
)
from beamlike.runtime.script import Arrive, Script, ScriptStep

Move = tuple[int, int]
"""A reading of the clock and the watermark from then on (ms)."""
_NOTHING: Final = Arrive(())
_MOST_STEPS: Final = 50
"""So often, about, an idle source lets the watermark move on before the next arrival."""


def _bound_ms(value: DurationLike) -> int:
    return duration_ms(value, "bound")


def _silence_ms(value: DurationLike) -> int:
    return duration_ms(value, "silence")


@attrs.frozen
class TimedElement:
    """An element with both of its times.

    Args:
        clock: The processing time (ms) at which it arrives.
        key: Its key.
        element: Its value and its event time.
    """

    clock: int
    key: Hashable
    element: Element

    @property
    def delay(self) -> int:
        """From when it happened to when it arrived (ms)."""
        return self.clock - self.element.timestamp


class WatermarkRule(Protocol):
    """What moves the watermark of a stream whose arrivals are known."""

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        """Where the watermark is moved to, and when.

        Args:
            arrivals: In order of arrival.
            end: The processing time (ms) at which the stream ends, not before the last arrival.
        """
        ...


@attrs.frozen
class PerfectWatermark:
    """Knows what is still to come: it stands at the earliest event time that has not arrived, so
    that nothing is ever late. With the last arrival it is at the end of time."""

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        moves, earliest = list[Move](), MAX_TIMESTAMP
        for index in reversed(range(len(arrivals))):
            moves.append((arrivals[index].clock, earliest))
            earliest = min(earliest, arrivals[index].element.timestamp)
        return _forward(reversed(moves))


@attrs.frozen
class BoundedDelay:
    """Stands a fixed time behind the latest event time that has arrived.

    Args:
        bound: How far behind, as a duration.
    """

    bound: int = attrs.field(converter=_bound_ms, repr=show_duration)

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        return _forward(
            (arrival.clock, arrival.element.timestamp - self.bound) for arrival in arrivals
        )


@attrs.frozen
class IdleAfter:
    """As `BoundedDelay`; and a source that is silent for a while no longer holds the watermark
    back, which then follows the clock, as far behind it.

    Args:
        bound: How far behind, as a duration.
        silence: So long after an arrival the source is idle, a duration. While it is, the
            watermark moves on as often.
    """

    bound: int = attrs.field(converter=_bound_ms, repr=show_duration)
    silence: int = attrs.field(converter=_silence_ms, repr=show_duration)

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        moves = list[Move]()
        for index, arrival in enumerate(arrivals):
            moves.append((arrival.clock, arrival.element.timestamp - self.bound))
            idle, is_last = arrival.clock + self.silence, index + 1 == len(arrivals)
            again = max(end, idle + 1) if is_last else arrivals[index + 1].clock
            step = max(self.silence, (again - idle) // _MOST_STEPS, 1)
            moves += [(clock, clock - self.bound) for clock in range(idle, again, step)]
        return _forward(moves)


@attrs.frozen
class PercentileOfDelays:
    """Stands as far behind the clock as most elements so far were late to arrive.

    Args:
        percent: The part of the delays so far that is not longer than that, more than 0 and at
            most 100.
    """

    percent: float = attrs.field(validator=lambda _, __, value: _check_percent(value))

    def moves(self, arrivals: Sequence[TimedElement], end: int) -> list[Move]:
        moves, delays = list[Move](), list[int]()
        for arrival in arrivals:
            delays = sorted((*delays, arrival.delay))
            rank = max(1, math.ceil(len(delays) * self.percent / 100))
            moves.append((arrival.clock, arrival.clock - delays[rank - 1]))
        return _forward(moves)


def script_by_clock(
    arrivals: Iterable[TimedElement],
    rule: WatermarkRule,
    *,
    end: int | None = None,
    every: int | None = None,
) -> Script:
    """The script of arrivals whose watermark a rule moves, up to the end of time.

    What arrives at one reading of the clock arrives first, one after the other, and then the
    watermark moves.

    Args:
        arrivals: In any order; those of one instant stay in theirs.
        rule: Moves the watermark.
        end: When the stream ends (ms), if that is after the last thing that happens.
        every: The clock passes each multiple of this (ms) by 1 ms, from the first thing that
            happens to the last.
    """
    ordered = sorted(arrivals, key=lambda arrival: arrival.clock)
    moves = rule.moves(ordered, max(ordered[-1].clock if ordered else 0, end or 0))
    arriving = [(arrival.clock, Arrive(((arrival.key, arrival.element),))) for arrival in ordered]
    events: list[tuple[int, ScriptStep]] = [
        *arriving,
        *((clock, AdvanceWatermark(to)) for clock, to in moves),
    ]
    events.sort(key=lambda event: event[0])
    if not events or events[-1][1] != AdvanceWatermark(MAX_TIMESTAMP):
        last = max(events[-1][0] if events else 0, end or 0)
        events.append((last, AdvanceWatermark(MAX_TIMESTAMP)))
    if every is not None:
        first, last = events[0][0], events[-1][0]
        passed = range((first // every + 1) * every + 1, last, every)
        events += [(clock, _NOTHING) for clock in passed]
        events.sort(key=lambda event: event[0])
    return tuple(step for step in with_clock(events) if step is not _NOTHING)


def with_clock(events: Iterable[tuple[int, ScriptStep]]) -> Script:
    """Steps with the readings of the clock at which they happen, as a script. It begins at 0."""
    script, clock = list[ScriptStep](), 0
    for instant, step in events:
        if instant > clock:
            clock = instant
            script.append(AdvanceClock(instant))
        script.append(step)
    return tuple(script)


def _forward(moves: Iterable[Move]) -> list[Move]:
    """The moves that go forward; of those of one instant the last."""
    ahead, watermark = list[Move](), MIN_TIMESTAMP
    for clock, to in moves:
        if to <= watermark:
            continue
        watermark = min(to, MAX_TIMESTAMP)
        if ahead and ahead[-1][0] == clock:
            ahead.pop()
        ahead.append((clock, watermark))
    return ahead


def _check_percent(value: object) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 100:
        raise WatermarkError(
            f"percent must be more than 0 and at most 100, got {value!r}; give 90 for nine of ten"
        )

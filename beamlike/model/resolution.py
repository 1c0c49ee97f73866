"""What a tick is: the unit in which one query counts time.

Windows, watermarks, clocks and timers are whole numbers of ticks, and the machines know no unit.
A description (a window function, a trigger, a strategy) counts milliseconds, or microseconds if it
has a duration that is finer; `in_resolution` of each gives the same in the ticks of a query.

Source: Beam Java, whose ``Instant`` counts milliseconds; Spark, whose timestamps count
microseconds.
"""

from collections.abc import Iterable
from enum import Enum
from fractions import Fraction
from typing import Final, Literal, Protocol, TypeVar

import attrs

from beamlike.errors import TimeError, WindowingError
from beamlike.model.copies import with_fields
from beamlike.model.time import (
    END_OF_GLOBAL_WINDOW,
    MAX_TIMESTAMP,
    MIN_TIMESTAMP,
    DurationLike,
    duration_us,
    event_time_us,
    not_whole,
    show_duration,
    show_instant,
)


class HasBounds(Protocol):
    """A window, as far as its text goes."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class Resolution(Enum):
    """How long a tick is. The value is how many of them make a millisecond.

    All of time, from ``earliest`` to ``end_of_time``, is as long in both.

    >>> Resolution.MICROSECONDS.show_duration(1_500), Resolution.MILLISECONDS.show_duration(1_500)
    ('1ms 500us', '1s 500ms')
    """

    MILLISECONDS = 1
    MICROSECONDS = 1_000

    def __init__(self, per_ms: int) -> None:
        self.per_ms: Final = per_ms
        self.micros: Final = 1_000 // per_ms
        """Microseconds in a tick."""
        self.earliest: Final = MIN_TIMESTAMP * per_ms
        """The earliest timestamp, and the watermark before any is known."""
        self.end_of_time: Final = MAX_TIMESTAMP * per_ms
        """A watermark here is "infinity"."""
        self.end_of_global_window: Final = END_OF_GLOBAL_WINDOW * per_ms
        """The last instant of the global window."""

    @property
    def word(self) -> str:
        """The name of the unit, as users write it."""
        return self.name.lower()

    def duration(self, value: DurationLike, argument: str) -> int:
        """Read a duration, in ticks.

        Raises:
            TimeError: As `beamlike.model.time.duration_us`; or it is finer than a tick.
        """
        micros = duration_us(value, argument)
        if micros % self.micros:
            raise not_whole(argument, value)
        return micros // self.micros

    def event_time(self, value: object, argument: str) -> int:
        """Read the event time of an element, in ticks, as `beamlike.model.time.event_time_us`. What
        is finer is cut off."""
        return event_time_us(value, argument) // self.micros  # type: ignore[arg-type]

    def from_ms(self, milliseconds: int) -> int:
        """An instant or a duration of so many milliseconds, in ticks."""
        return milliseconds * self.per_ms

    def to_ms(self, ticks: int) -> int:
        """The millisecond in which an instant lies."""
        return ticks // self.per_ms

    def show_instant(self, ticks: int) -> str:
        """An instant for people, see `beamlike.model.time.show_instant`."""
        return show_instant(ticks, self.per_ms)

    def show_exactly(self, ticks: int) -> str:
        """An instant for people, and its milliseconds."""
        return f"{self.show_instant(ticks)} ({self.to_ms(ticks)} ms)"

    def show_window(self, window: HasBounds) -> str:
        """A window for people."""
        if window.end > self.end_of_global_window and window.start == self.earliest:
            return "global"
        return f"[{self.show_instant(window.start)}, {self.show_instant(window.end)})"

    def show_duration(self, ticks: int) -> str:
        """A duration for people, see `beamlike.model.time.show_duration`."""
        return show_duration(ticks, self.per_ms)


MILLISECONDS: Final = Resolution.MILLISECONDS
MICROSECONDS: Final = Resolution.MICROSECONDS

ResolutionLike = Resolution | Literal["milliseconds", "microseconds"]


def resolution_of(resolution: ResolutionLike) -> Resolution:
    """The resolution that an argument names, if there is one of this name."""
    known = {unit.word: unit for unit in Resolution}
    if isinstance(resolution, Resolution):
        return resolution
    if isinstance(resolution, str) and resolution in known:
        return known[resolution]
    raise WindowingError(
        f'resolution must be "milliseconds" or "microseconds", got {resolution!r}; leave it out '
        "for the microseconds of Spark's timestamps"
    )


def finest(*micros: int) -> Resolution:
    """The resolution that durations of so many microseconds need.

    >>> finest(60_000_000, 1_500)
    <Resolution.MICROSECONDS: 1000>
    """
    return MICROSECONDS if any(duration % 1_000 for duration in micros) else MILLISECONDS


def finest_of(resolutions: Iterable[Resolution]) -> Resolution:
    """The finest of some resolutions; milliseconds if there are none."""
    return max(resolutions, key=lambda unit: unit.per_ms, default=MILLISECONDS)


@attrs.frozen
class Span:
    """A duration with its unit, where one is read that may be a bare number of milliseconds."""

    ticks: int
    resolution: Resolution

    @property
    def duration_ms(self) -> Fraction:
        """Milliseconds."""
        return Fraction(self.ticks, self.resolution.per_ms)

    def __repr__(self) -> str:
        return self.resolution.show_duration(self.ticks)


Described = TypeVar("Described")


def rescaled(described: Described, resolution: Resolution, *durations: str) -> Described:
    """The same description, in the ticks of another resolution.

    Args:
        durations: Its fields that are durations; those that are not whole numbers stay.

    Raises:
        TimeError: A duration is finer than these ticks.
    """
    before: Resolution = described.resolution  # type: ignore[attr-defined]
    if before is resolution:
        return described
    after = {
        name: converted(ticks, before, resolution, f"{type(described).__name__} {name}")
        for name in durations
        if isinstance(ticks := getattr(described, name), int)
    }
    return with_fields(described, resolution=resolution, **after)


def converted(ticks: int, before: Resolution, after: Resolution, argument: str) -> int:
    """A duration in the ticks of another resolution.

    Raises:
        TimeError: It is finer than these.
    """
    if before is after:
        return ticks
    if ticks * before.micros % after.micros:
        raise TimeError(
            f"{argument} must be whole {after.word}, got {before.show_duration(ticks)}; round it "
            "first"
        )
    return ticks * before.micros // after.micros

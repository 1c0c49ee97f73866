"""How a trigger moves the processing time that it waits for."""

from collections.abc import Mapping

import attrs

from beamlike.errors import TriggerError
from beamlike.model.readable import Readable
from beamlike.model.resolution import (
    MICROSECONDS,
    MILLISECONDS,
    Resolution,
    Span,
    finest,
    rescaled,
)
from beamlike.model.time import DurationLike, duration_us, without_unit


@attrs.frozen(init=False)
class Delay(metaclass=Readable):
    """Move a processing-time target ``by`` milliseconds on.

    ``by`` counts ``resolution``: microseconds, where the duration is finer than a millisecond.

    >>> Delay("1 minute").apply(5_000)
    65000
    """

    by: int
    resolution: Resolution = attrs.field(default=MILLISECONDS, init=False, repr=False)
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(self, by: DurationLike) -> None:
        micros = duration_us(by, "Delay")
        resolution = finest(micros)
        self.__attrs_init__(micros // resolution.micros)
        object.__setattr__(self, "resolution", resolution)
        object.__setattr__(self, "without_unit", without_unit(delay=by))

    def in_resolution(self, resolution: Resolution) -> "Delay":
        """The same delay, in the ticks of a resolution.

        Raises:
            TimeError: It is finer than these.
        """
        return rescaled(self, resolution, "by")

    def apply(self, instant: int) -> int:
        return instant + self.by

    def __str__(self) -> str:
        return self.resolution.show_duration(self.by)


@attrs.frozen(init=False)
class AlignTo(metaclass=Readable):
    """Move a processing-time target to the next instant equal to ``offset`` modulo ``period``.

    An instant that is aligned already stays.

    Source: Beam Java, ``TimestampTransform.AlignTo``; floor arithmetic before the offset.

    >>> AlignTo("1 minute").apply(5_000)
    60000
    """

    period: int
    offset: int
    resolution: Resolution = attrs.field(default=MILLISECONDS, init=False, repr=False)
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(self, period: DurationLike, offset: DurationLike = 0) -> None:
        period_us = duration_us(period, "AlignTo period")
        if period_us == 0:
            raise TriggerError('AlignTo period must be more than 0 ms; give one such as "1 minute"')
        offset_us = duration_us(offset, "AlignTo offset")
        resolution = finest(period_us, offset_us)
        tick = resolution.micros
        self.__attrs_init__(period_us // tick, offset_us // tick)
        object.__setattr__(self, "resolution", resolution)
        object.__setattr__(self, "without_unit", without_unit(period=period, offset=offset))

    def in_resolution(self, resolution: Resolution) -> "AlignTo":
        """The same alignment, in the ticks of a resolution.

        Raises:
            TimeError: It is finer than these.
        """
        return rescaled(self, resolution, "period", "offset")

    def apply(self, instant: int) -> int:
        return instant + (self.offset - instant) % self.period

    def __str__(self) -> str:
        show = self.resolution.show_duration
        offset = f", offset={show(self.offset)}" if self.offset else ""
        return f"AlignTo({show(self.period)}{offset})"


def transform_of(given: Delay | AlignTo | DurationLike, argument: str) -> Delay | AlignTo:
    """A transform of a target; a bare duration is a `Delay`.

    Raises:
        TimeError: The duration cannot be read.
    """
    if isinstance(given, Delay | AlignTo):
        return given
    micros = duration_us(given, argument)
    delay = Delay(Span(micros, MICROSECONDS))
    object.__setattr__(delay, "without_unit", without_unit(delay=given))
    return delay

"""How a trigger moves the processing time that it waits for."""

from collections.abc import Mapping
from typing import ClassVar

import attrs

from beamlike.errors import TriggerError
from beamlike.model.copies import with_fields
from beamlike.model.described import ArgumentKind, HasDurations
from beamlike.model.readable import Readable
from beamlike.model.resolution import MICROSECONDS, Span, finest
from beamlike.model.time import DurationLike, duration_us, without_unit


@attrs.frozen(init=False)
class Delay(HasDurations, metaclass=Readable):
    """Move a processing-time target ``by`` milliseconds on.

    ``by`` counts ``resolution``: microseconds, where the duration is finer than a millisecond.

    >>> Delay("1 minute").apply(5_000)
    65000
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"by": "duration"}

    by: int

    def __init__(self, by: DurationLike) -> None:
        micros = duration_us(by, "Delay")
        unit = finest(micros)
        self.__attrs_init__(micros // unit.micros)
        self._count(unit, delay=by)

    def apply(self, instant: int) -> int:
        return instant + self.by

    def __str__(self) -> str:
        return self.resolution.show_duration(self.by)


@attrs.frozen(init=False)
class AlignTo(HasDurations, metaclass=Readable):
    """Move a processing-time target to the next instant equal to ``offset`` modulo ``period``.

    An instant that is aligned already stays.

    Source: Beam Java, ``TimestampTransform.AlignTo``; floor arithmetic before the offset.

    >>> AlignTo("1 minute").apply(5_000)
    60000
    """

    arguments: ClassVar[Mapping[str, ArgumentKind]] = {"period": "duration", "offset": "duration"}

    period: int
    offset: int

    def __init__(self, period: DurationLike, offset: DurationLike = 0) -> None:
        self._describe(period=period, offset=offset)
        if self.period == 0:
            raise TriggerError('AlignTo period must be more than 0 ms; give one such as "1 minute"')

    def apply(self, instant: int) -> int:
        return instant + (self.offset - instant) % self.period


def transform_of(transform: Delay | AlignTo | DurationLike, argument: str) -> Delay | AlignTo:
    """A transform of a target; a bare duration is a `Delay`."""
    if isinstance(transform, Delay | AlignTo):
        return transform
    micros = duration_us(transform, argument)
    delay = Delay(Span(micros, MICROSECONDS))
    return with_fields(delay, without_unit=without_unit(delay=transform))

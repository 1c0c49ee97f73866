"""How a trigger moves the processing time that it waits for."""

from collections.abc import Mapping

import attrs

from beamlike.errors import TriggerError
from beamlike.model.readable import Readable
from beamlike.model.time import DurationLike, duration_ms, show_duration, without_unit


@attrs.frozen(init=False)
class Delay(metaclass=Readable):
    """Move a processing-time target ``by`` milliseconds on.

    >>> Delay("1 minute").apply(5_000)
    65000
    """

    by: int
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(self, by: DurationLike) -> None:
        self.__attrs_init__(duration_ms(by, "Delay"))
        object.__setattr__(self, "without_unit", without_unit(delay=by))

    def apply(self, instant: int) -> int:
        return instant + self.by

    def __str__(self) -> str:
        return show_duration(self.by)


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
    without_unit: Mapping[str, int] = attrs.field(init=False, eq=False, repr=False)

    def __init__(self, period: DurationLike, offset: DurationLike = 0) -> None:
        period_ms = duration_ms(period, "AlignTo period")
        if period_ms == 0:
            raise TriggerError('AlignTo period must be more than 0 ms; give one such as "1 minute"')
        self.__attrs_init__(period_ms, duration_ms(offset, "AlignTo offset"))
        object.__setattr__(self, "without_unit", without_unit(period=period, offset=offset))

    def apply(self, instant: int) -> int:
        return instant + (self.offset - instant) % self.period

    def __str__(self) -> str:
        offset = f", offset={show_duration(self.offset)}" if self.offset else ""
        return f"AlignTo({show_duration(self.period)}{offset})"


def transform_of(given: Delay | AlignTo | DurationLike, argument: str) -> Delay | AlignTo:
    """A transform of a target; a bare duration is a `Delay`.

    Raises:
        TimeError: The duration cannot be read.
    """
    if isinstance(given, Delay | AlignTo):
        return given
    delay = Delay(duration_ms(given, argument))
    object.__setattr__(delay, "without_unit", without_unit(delay=given))
    return delay

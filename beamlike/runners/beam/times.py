"""Times of Beam, and of beamlike's graph, for pipelines of Beam. Nothing else converts them.

Beam counts microseconds. So does the graph of such a pipeline: an instant in it is a number of
microseconds wherever a module of the graph says milliseconds. That is exact for 285 years around
1970. The first and the last 6,800 years of Beam's time, where elements without a timestamp and
the end of the global window are, are the first and the last of the graph, in milliseconds. An
instant between these is refused. Processing time is apart: it counts milliseconds.
"""

from typing import Any, Final

from apache_beam.utils.timestamp import MAX_TIMESTAMP as BEAM_MAX
from apache_beam.utils.timestamp import MIN_TIMESTAMP as BEAM_MIN
from apache_beam.utils.timestamp import Duration, Timestamp

from beamlike.errors import TimeError
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP

MICROS_PER_MS: Final = 1_000
LIMIT: Final = 2**53
"""Instants are exact whose microseconds are less than this, before and after 1970."""

_MIN: Final[int] = BEAM_MIN.micros
_MAX: Final[int] = BEAM_MAX.micros
_FIRST_YEARS: Final = _MIN + (-LIMIT - MIN_TIMESTAMP) * 1_000
_LAST_YEARS: Final = _MAX - (MAX_TIMESTAMP - LIMIT) * 1_000


def ticks_of(micros: int) -> int:
    """An instant of Beam's (us) as an instant of the graph.

    Raises:
        TimeError: The graph has no instant for it.
    """
    if -LIMIT < micros < LIMIT:
        return micros
    if micros <= _FIRST_YEARS:
        return MIN_TIMESTAMP + (micros - _MIN) // 1_000
    if micros >= _LAST_YEARS:
        return min(MAX_TIMESTAMP - (_MAX - micros) // 1_000, MAX_TIMESTAMP)
    raise TimeError(f"the instant {micros} us is more than 285 years from 1970; give a nearer one")


def micros_of(ticks: int) -> int:
    """An instant of the graph as one of Beam's (us)."""
    if -LIMIT < ticks < LIMIT:
        return ticks
    if ticks < 0:
        return _MIN + (ticks - MIN_TIMESTAMP) * 1_000
    return _MAX - (MAX_TIMESTAMP - ticks) * 1_000


def nearest_ticks(micros: int) -> int:
    """As `ticks_of`, for what only waits: an instant that the graph lacks is the next it has."""
    if LIMIT <= micros < _LAST_YEARS:
        return LIMIT
    if _FIRST_YEARS < micros <= -LIMIT:
        return -LIMIT
    return ticks_of(micros)


def duration_ticks(duration: Any) -> int:
    """A length of time of Beam's as one of the graph."""
    return min(int(Duration.of(duration).micros), LIMIT)


def clock_ms(instant: Any) -> int:
    """An instant of processing time of Beam's in milliseconds."""
    return int(Timestamp.of(instant).micros // 1_000)


def timestamp_of(ticks: int) -> Any:
    """An instant of the graph as a ``Timestamp``."""
    return Timestamp(micros=micros_of(ticks))

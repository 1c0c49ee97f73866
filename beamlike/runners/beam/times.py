"""Times of Beam, and of the graph of its pipelines: both count microseconds, from the same first
instant to the same last one.
"""

from typing import Any, Final

from apache_beam.utils.timestamp import Timestamp

from beamlike.model.resolution import MICROSECONDS

UNIT: Final = MICROSECONDS
"""What a tick of the graph of a pipeline of Beam is."""


def ticks_of(instant: Any) -> int:
    """An instant of Beam's, of event time or of processing time, as one of the graph."""
    return int(Timestamp.of(instant).micros)


def timestamp_of(ticks: int) -> Any:
    """An instant of the graph as a ``Timestamp``."""
    return Timestamp(micros=ticks)

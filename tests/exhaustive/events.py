"""What happens to one key, and what comes out of it, as plain tuples.

An engine and the model have only these in common.
"""

from typing import NamedTuple

from beamlike.model.time import MAX_TIMESTAMP


class Arrive(NamedTuple):
    """Elements that arrive together, by event time (ms)."""

    times: tuple[int, ...]


class Watermark(NamedTuple):
    """The input watermark becomes ``to`` (ms)."""

    to: int


class Clock(NamedTuple):
    """Processing time becomes ``to`` (ms)."""

    to: int


Event = Arrive | Watermark | Clock
Stream = tuple[Event, ...]

END = Watermark(MAX_TIMESTAMP)
"""The event that follows every stream."""

Row = tuple[object, ...]
"""Something that came out.

* ``(step, "pane" or "withdrawn", start, end, content, timestamp, timing, index, nonspeculative,
  is_first, is_last)``
* ``(step, "expired" or "closed", start, end, number of the element, missed by)``

The elements of a stream are numbered in order of arrival, and those of a bundle in order of time.
"""

BITS = 8
"""Bits for each element in the content of a pane, so that one that is in it twice shows."""


def content(numbers: list[int]) -> int:
    """Which elements a pane has, and how often each: the sum of a power of two for each."""
    return sum(1 << BITS * number for number in numbers)

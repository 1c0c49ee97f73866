"""A transform that gives elements their event time, in seconds where it is a number."""

from collections.abc import Callable
from typing import Any

from beamlike.api.pipelines import elements
from beamlike.api.pipelines.python.reading import Instant, Length, in_millis, moment
from beamlike.api.pipelines.python.timestamps import Timestamp

__all__ = ["WithTimestamps"]


class WithTimestamps(elements.WithTimestamps):
    """Each element at the event time that a function says. It stays in its windows.

    Args:
        fn: From an element to an instant: a number of seconds, `Timestamp`, a ``datetime`` or
            text.
        allowed_timestamp_skew: How far before the time that it has now an element may be moved, a
            duration. The watermark may have passed there, and then the element is late.

    Raises:
        PipelineError: It is no function; at run: an element is moved too far back.
        TimeError: The skew cannot be read; at run: the function returned no instant.

    Source: Beam Java ``WithTimestamps``.
    """

    def __init__(self, fn: Callable[[Any], Instant], allowed_timestamp_skew: Length = 0) -> None:
        skew = in_millis(allowed_timestamp_skew, "WithTimestamps allowed_timestamp_skew")
        super().__init__(fn, skew)

    @staticmethod
    def read(instant: Any) -> Timestamp:
        return moment(instant, "timestamp")

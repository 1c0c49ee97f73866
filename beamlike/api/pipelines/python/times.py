"""Transforms that give elements their event time, and those that show it.

Source: Beam Java ``WithTimestamps``; Beam Python ``util.Reify``.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from beamlike.api.pipelines import times
from beamlike.api.pipelines.elements import FlatMap
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.python.functions import DoFn
from beamlike.api.pipelines.python.reading import Instant, Length, in_millis, moment
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import TimestampedValue
from beamlike.api.pipelines.transform import PTransform

__all__ = ["Reify", "WithTimestamps"]


class WithTimestamps(times.WithTimestamps):
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
    def read(at: Any) -> Timestamp:
        return moment(at, "timestamp")


class _Shown(PTransform[Any, Any]):
    """Elements together with what a function shows of them."""

    step: ClassVar[str]
    shows: ClassVar[Callable[..., Iterable[Any]]]

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        return pcoll | self.step >> FlatMap(type(self).shows)


class Reify:
    """Transforms that make event time and windows a part of the elements.

    As in Beam Python, what is a `TimestampedValue` itself comes out as the element in it, at that
    time: `Timestamp` changes nothing that the next function sees.

    Source: Beam Python ``Reify``.
    """

    class Timestamp(_Shown):
        """Each element as a `TimestampedValue`."""

        step = "AddTimestampInfo"

        @staticmethod
        def shows(element: Any, timestamp: Any = DoFn.TimestampParam) -> Iterable[Any]:
            yield TimestampedValue(element, timestamp)

    class TimestampInValue(_Shown):
        """Each pair of key and value with a `TimestampedValue` in place of the value."""

        step = "AddTimestampInfo"

        @staticmethod
        def shows(element: Any, timestamp: Any = DoFn.TimestampParam) -> Iterable[Any]:
            key, value = element
            yield key, TimestampedValue(value, timestamp)

    class Window(_Shown):
        """Each element with its event time and its window, once for each window."""

        step = "AddWindowInfo"

        @staticmethod
        def shows(
            element: Any, timestamp: Any = DoFn.TimestampParam, window: Any = DoFn.WindowParam
        ) -> Iterable[Any]:
            yield element, timestamp, window

    class WindowInValue(_Shown):
        """Each pair with its value, event time and window in place of the value."""

        step = "AddWindowInfo"

        @staticmethod
        def shows(
            element: Any, timestamp: Any = DoFn.TimestampParam, window: Any = DoFn.WindowParam
        ) -> Iterable[Any]:
            key, value = element
            yield key, (value, timestamp, window)

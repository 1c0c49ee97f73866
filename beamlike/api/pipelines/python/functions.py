"""`DoFn` as Beam Python has it: what it is given of time is a `Timestamp` or a window of Beam's.

Source: Beam Python ``transforms.core.DoFn``.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Generic

import attrs

from beamlike.api import user_timers
from beamlike.api.pipelines import dofn, elements
from beamlike.api.pipelines.dofn import Param
from beamlike.api.pipelines.python.reading import Instant, Length, in_millis, moment
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.python.windows import WindowedValue, of_model
from beamlike.api.pipelines.variables import In, T

__all__ = ["DoFn", "WithTimestamps"]


@attrs.frozen
class TimeArithmetic(user_timers.TimeArithmetic):
    """Instants are `Timestamp`, and numbers count seconds."""

    def instant(self, value: Any, argument: str) -> int:
        return moment(value, argument).instant_ms

    def length(self, span: Any, argument: str) -> int:
        return in_millis(span, argument)

    def in_window(self, instant: int, latest: int | None) -> int:
        # Programs set timers to `window.end`, which is just after the last instant of the window.
        return instant - 1 if latest == instant - 1 else instant

    def shown(self, millis: int) -> Timestamp:
        return Timestamp.of_millis(millis)


class DoFn(dofn.DoFn[In, T], Generic[In, T]):
    """A function over elements, with a life.

    Subclasses write ``process(self, element)``, which returns or yields what comes out: plain
    values, `TimestampedValue`, `WindowedValue`, or `TaggedOutput` around any of them. More
    parameters may ask for more, by their default: ``timestamp=DoFn.TimestampParam`` (a
    `Timestamp`), ``window=DoFn.WindowParam`` (an `IntervalWindow` or the `GlobalWindow`),
    ``pane_info=DoFn.PaneInfoParam``, ``key=DoFn.KeyParam`` (that of a pair) and
    ``windowed=DoFn.WindowedValueParam``. A function that asks for its window is called once for
    each window of an element.

    A function of pairs of key and value may have states and timers for each key and window:
    ``total=DoFn.StateParam(TOTAL)``, ``later=DoFn.TimerParam(LATER)``, with specs of ``userstate``.
    A timer calls a method under ``@on_timer(LATER)``. That may ask for states and timers, its
    ``KeyParam``, ``WindowParam`` and ``DynamicTimerTagParam``, its ``TimestampParam``, which is the
    output timestamp of the timer, and its ``FireTimestampParam``, which it was set to.

    An output may happen earlier or later than the element that it came from. What the watermark has
    passed is late. ``allowed_timestamp_skew`` (a number of seconds, `Duration`, a ``timedelta`` or
    text) refuses what is earlier by more than that; a timer's output timestamp may be no earlier by
    default.
    """

    TimestampParam: ClassVar[Any] = Param("TimestampParam", Timestamp.of_millis)
    WindowParam: ClassVar[Any] = Param("WindowParam", of_model)
    WindowedValueParam: ClassVar[Any] = Param("WindowedValueParam", WindowedValue.of_model)
    FireTimestampParam: ClassVar[Any] = Param("FireTimestampParam", Timestamp.of_millis)

    _times: ClassVar[TimeArithmetic] = TimeArithmetic()

    allowed_timestamp_skew: Length | None = None
    """How far before its element an output may happen; None: at any time.

    Beam Java ``getAllowedTimestampSkew``. Beam Python has no such check.
    """


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

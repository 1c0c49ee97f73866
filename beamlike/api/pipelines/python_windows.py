"""Windows, triggers and times as Beam Python makes them, where a bare number counts seconds.

Here a number counts milliseconds. What was written for Beam Python would mean a thousandth of what
it says, and nothing would fail; so these refuse a bare number, and say what to write.

Source: Beam Python ``transforms.window``, ``transforms.trigger``, ``utils.timestamp``.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Never

from beamlike.api.pipelines import dofn
from beamlike.api.pipelines.doing import given_time
from beamlike.api.pipelines.variables import T
from beamlike.api.pipelines.windowing import WindowInto as AnyWindowInto
from beamlike.errors import PipelineError, TimeError
from beamlike.model import sessions, triggers, windowfns, windows
from beamlike.model.keyword_errors import argument_meant
from beamlike.model.options import AccumulationMode, ClosingBehavior, OnTimeBehavior
from beamlike.model.options import TimestampCombiner as Combiner
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import (
    END_OF_GLOBAL_WINDOW,
    MIN_TIMESTAMP,
    DurationLike,
    duration_ms,
    instant_ms,
)

__all__ = [
    "AfterProcessingTime",
    "Duration",
    "FixedWindows",
    "IntervalWindow",
    "Sessions",
    "SlidingWindows",
    "Timestamp",
    "TimestampCombiner",
    "TimestampedValue",
    "WindowInto",
    "duration_with_unit",
    "instant_with_unit",
]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"\d+", re.ASCII)

Length = timedelta | str
"""A duration that says its unit: ``"60 s"``, ``"10 minutes"`` or a ``timedelta``."""


Instant = datetime | str
"""An instant that says its unit."""


def duration_with_unit(value: Any, argument: str) -> DurationLike:
    """A duration that says its unit, or what is no duration at all.

    Raises:
        PipelineError: It is a bare number other than 0.
        TimeError: It cannot be read.
    """
    if isinstance(value, int | float) and value != 0:
        raise PipelineError(
            f"{argument}: {value!r} is {value!r} seconds in Beam Python and {value!r} milliseconds "
            f'here; write "{value!r} s", or timedelta(seconds={value!r})'
        )
    try:
        if not callable(value):  # as the gap of a session may be
            duration_ms(value, argument)
    except TimeError as error:
        told, advice, _ = str(error).partition("; write ")
        if not advice:
            raise
        # It advises a number of milliseconds, which is not taken here.
        text = f'"{value} s", ' if isinstance(value, str) and _NUMBER.fullmatch(value) else ""
        raise TimeError(
            f'{told}; write {text}"10 minutes", "1h 30m", "00:10:00" or timedelta(minutes=10)'
        ) from None
    length: DurationLike = value
    return length


def FixedWindows(size: Length, offset: Length | int = 0) -> windowfns.FixedWindows:
    """Windows one after the other, see `beamlike.FixedWindows`."""
    return windowfns.FixedWindows(
        duration_with_unit(size, "FixedWindows size"),
        duration_with_unit(offset, "FixedWindows offset"),
    )


def SlidingWindows(
    size: Length, period: Length, offset: Length | int = 0
) -> windowfns.SlidingWindows:
    """Windows that overlap, see `beamlike.SlidingWindows`."""
    return windowfns.SlidingWindows(
        duration_with_unit(size, "SlidingWindows size"),
        duration_with_unit(period, "SlidingWindows period"),
        duration_with_unit(offset, "SlidingWindows offset"),
    )


def Sessions(gap_size: Length) -> sessions.Sessions:
    """Windows of activity, ended by a gap, see `beamlike.Sessions`."""
    return sessions.Sessions(duration_with_unit(gap_size, "Sessions gap_size"))


def AfterProcessingTime(delay: Length | int = 0) -> triggers.AfterProcessingTime:
    """So long after the first element of a pane, see `beamlike.AfterProcessingTime`."""
    return triggers.AfterProcessingTime(duration_with_unit(delay, "AfterProcessingTime delay"))


def Duration(seconds: int | float = 0, micros: int = 0) -> timedelta:
    """A duration of so many seconds, as Beam Python's class of that name."""
    return timedelta(seconds=seconds, microseconds=micros)


def Timestamp(seconds: int | float = 0, micros: int = 0, *, millis: int = 0) -> datetime:
    """So many seconds after the epoch, as Beam Python's class of that name.

    ``Timestamp(millis=window.start)`` is what Beam writes ``window.start.to_utc_datetime()``.

    Args:
        seconds: Seconds.
        micros: Microseconds besides.
        millis: Milliseconds besides: a time of this project, as windows and ``TimestampParam``
            have it.

    Raises:
        TimeError: That is before the year 1 or after the year 9999.
    """
    try:
        return _EPOCH + timedelta(seconds=seconds, milliseconds=millis, microseconds=micros)
    except OverflowError:
        told = f"seconds={seconds!r}, micros={micros!r}"
        hint = "; seconds are needed, not milliseconds"
        if millis:
            told, hint = f"millis={millis!r}", ""
            if not MIN_TIMESTAMP < millis < END_OF_GLOBAL_WINDOW:
                hint = ", which is an end of time: the element or its window has no other"
        raise TimeError(f"Timestamp must lie in the years 1 to 9999, got {told}{hint}") from None


def TimestampedValue(value: T, timestamp: Instant) -> dofn.TimestampedValue[T]:
    """An element with an event time of its own.

    Args:
        value: The element.
        timestamp: An instant that says its unit: ``"00:01:30"``, ``"2013-01-01T06:00:00Z"``, a
            ``datetime``, `Timestamp`, or what ``DoFn.TimestampParam`` gave.

    Raises:
        TimeError: It is a bare number other than 0, or no instant.

    Source: Beam Python ``window.TimestampedValue``.
    """
    at: Any = timestamp
    if type(at) is not int or at != given_time():
        at = instant_with_unit(at, "TimestampedValue timestamp", "those of TimestampParam")
    return dofn.TimestampedValue(value, at)


def instant_with_unit(value: Any, argument: str, such_as: str) -> int:
    """An instant (ms) that says its unit.

    Args:
        such_as: What is in milliseconds here, to name it where a bare number is refused.

    Raises:
        TimeError: It is a bare number other than 0, or no instant.
    """
    whole = not isinstance(value, bool) and hasattr(value, "__index__")
    if (whole or isinstance(value, float)) and value != 0:
        millis = f", or Timestamp(millis={value!r}) for milliseconds such as {such_as}"
        raise TimeError(
            f"{argument}: {value!r} is {value!r} seconds in Beam Python and {value!r} "
            f"milliseconds here; write Timestamp({value!r}) for seconds{millis if whole else ''}"
        )
    try:
        return instant_ms(value, argument)
    except TimeError as error:
        problem, advice, _ = str(error).partition("; write ")
        if not advice:
            raise
        raise TimeError(
            f'{problem}; write "00:01:30", "2013-01-01T06:00:00Z", a datetime, or Timestamp(90)'
        ) from None


class _Window(type):
    """Makes windows of the model. They are of the class that it makes them in the name of."""

    def __call__(cls, start: Any, end: Any) -> windows.IntervalWindow:
        first, last = (
            instant_with_unit(bound, f"IntervalWindow {name}", "the bounds of a window")
            for name, bound in (("start", start), ("end", end))
        )
        return windows.IntervalWindow(first, last)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, windows.IntervalWindow)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, windows.IntervalWindow)


if TYPE_CHECKING:

    class IntervalWindow(windows.IntervalWindow):
        def __init__(self, start: Instant, end: Instant) -> None: ...

else:

    class IntervalWindow(metaclass=_Window):
        """A span of event time, see `beamlike.IntervalWindow`, of bounds that say their unit.

        Args:
            start: An instant such as ``"12:00"``, a ``datetime``, or `Timestamp`.
            end: Likewise.

        Raises:
            TimeError: One of them is a bare number other than 0, or no instant.
            WindowError: ``end`` is not after ``start``.
        """


class TimestampCombiner:
    """Which event time a pane is stamped with, in Beam Python's words."""

    OUTPUT_AT_EOW = Combiner.END_OF_WINDOW
    OUTPUT_AT_EARLIEST = Combiner.EARLIEST
    OUTPUT_AT_LATEST = Combiner.LATEST


class WindowInto(AnyWindowInto):
    """Elements put into windows, see `beamlike.api.pipelines.windowing.WindowInto`.

    Raises:
        PipelineError: There is no argument of that name, or a bare number is a lateness.
    """

    def __init__(
        self,
        windowfn: windowfns.WindowFn | None = None,
        trigger: triggers.Trigger | None = None,
        accumulation_mode: AccumulationMode | str | None = None,
        timestamp_combiner: Combiner | str | None = None,
        allowed_lateness: DurationLike | None = None,
        *,
        closing_behavior: ClosingBehavior | str | None = None,
        on_time_behavior: OnTimeBehavior | str | None = None,
        strategy: WindowingStrategy | None = None,
        **unknown: Never,
    ) -> None:
        for name in unknown:
            raise PipelineError(argument_meant(name, "WindowInto", _WINDOWING))
        lateness = allowed_lateness
        if lateness is not None:
            lateness = duration_with_unit(lateness, "WindowInto allowed_lateness")
        super().__init__(
            windowfn,
            trigger=trigger,
            accumulation_mode=accumulation_mode,
            timestamp_combiner=timestamp_combiner,
            allowed_lateness=lateness,
            closing_behavior=closing_behavior,
            on_time_behavior=on_time_behavior,
            strategy=strategy,
        )


_WINDOWING: Final = (
    *("windowfn", "trigger", "accumulation_mode", "timestamp_combiner", "allowed_lateness"),
    *("closing_behavior", "on_time_behavior", "strategy"),
)

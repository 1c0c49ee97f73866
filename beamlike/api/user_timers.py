"""Timers as functions of users see them.

Source: Beam Python ``userstate.RuntimeTimer``; Beam Java ``Timer``.
"""

from typing import Any, Self

import attrs

from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.state_specs import TimerSpec
from beamlike.model.stateful import TimerControl


@attrs.frozen
class TimeArithmetic:
    """In which form users write and read times: here as numbers of milliseconds.

    Args:
        unit: What the timers count.
    """

    unit: Resolution = MILLISECONDS

    def instant(self, value: Any, argument: str) -> int:
        """An instant of theirs, in ticks."""
        return self.unit.event_time(value, argument)

    def length(self, span: Any, argument: str) -> int:
        """A duration of theirs, in ticks."""
        return self.unit.duration(span, argument)

    def shown(self, instant: int) -> Any:
        """An instant in their form."""
        return self.unit.to_ms(instant)

    def timer(self, control: TimerControl) -> "UserTimer":
        """A timer in their form."""
        return UserTimer(control, self)

    def in_window(self, instant: int, latest: int | None) -> int:
        """The instant (ms) for a timer that is set to ``at``; ``latest`` is when its window
        expires, None in processing time."""
        return instant


class UserTimer:
    """A timer of a key and window. With tags it is as many timers as there are tags.

    Source: Beam Python ``RuntimeTimer``; Beam Java ``Timer`` and ``TimerMap``.
    """

    def __init__(self, control: TimerControl, times: TimeArithmetic) -> None:
        self._control, self._times = control, times
        self._offset = self._period = 0
        self._output: int | None = None
        self._holds = True

    @property
    def spec(self) -> TimerSpec:
        """What declares it."""
        return self._control.spec

    @property
    def current_relative_time(self) -> Any:
        """Where its clock stands: the input watermark, or processing time.

        Source: Beam Java ``Timer.getCurrentRelativeTime``.
        """
        return self._times.shown(self._control.now)

    @property
    def latest(self) -> Any:
        """The last instant that a timer of event time may be set to, when its window expires; None
        for one of processing time."""
        latest = self._control.latest
        return None if latest is None else self._times.shown(latest)

    def set(
        self, timestamp: Any, dynamic_timer_tag: str = "", output_timestamp: Any = None
    ) -> None:
        """Call the method of the timer once its clock is past an instant.

        What the same timer was set to before is forgotten. One of event time that is set to the
        past is called after the elements of the bundle.

        Args:
            timestamp: The instant: of event time, or of processing time. In Beam's names the end
                of a window stands for its last instant.
            dynamic_timer_tag: Which of several timers of the spec.
            output_timestamp: The event time of what the method brings out, where the output
                watermark waits. By default that is ``timestamp`` in event time; in processing time
                the event time of the element, or the output timestamp of the timer, that sets it.

        Raises:
            UserStateError: The instant, of event time, or the output timestamp is after the expiry
                of the window; or the output timestamp is before what it is by default in
                processing time.
            TimeError: One of them is no instant.
        """
        name = f"timer {self._control.spec.name!r}"
        instant = self._times.instant(timestamp, f"{name} timestamp")
        instant = self._times.in_window(instant, self._control.latest)
        if output_timestamp is not None:
            self._output = self._times.instant(output_timestamp, f"{name} output_timestamp")
        self._set(instant, dynamic_timer_tag)

    def clear(self, dynamic_timer_tag: str = "") -> None:
        """Do not call the method. Nothing happens if the timer is not set."""
        self._control.clear(dynamic_timer_tag)

    def offset(self, offset: Any) -> Self:
        """Let `set_relative` add a duration. Source: Beam Java ``Timer.offset``."""
        self._offset = self._times.length(offset, f"timer {self._control.spec.name!r} offset")
        return self

    def align(self, period: Any) -> Self:
        """Let `set_relative` go on to a multiple of a duration. Source: ``Timer.align``."""
        self._period = self._times.length(period, f"timer {self._control.spec.name!r} align")
        return self

    def with_output_timestamp(self, output_timestamp: Any) -> Self:
        """Let what the method brings out happen then. Source: ``Timer.withOutputTimestamp``."""
        name = f"timer {self._control.spec.name!r} output_timestamp"
        self._output, self._holds = self._times.instant(output_timestamp, name), True
        return self

    def with_no_output_timestamp(self) -> Self:
        """Let the output watermark not wait. Source: ``Timer.withNoOutputTimestamp``.

        The method then has to say the event time of everything that it brings out.
        """
        self._output, self._holds = None, False
        return self

    def set_relative(self, dynamic_timer_tag: str = "") -> None:
        """Set it to where its clock stands, and the offset, in event time at most to the expiry of
        the window. Source: Beam Java ``Timer.setRelative``.

        Raises:
            UserStateError: As `set`.
        """
        now, instant = self._control.now, self._control.now + self._offset
        if self._period:
            # As in Beam: the offset counts for which multiple it is, and is not added to it.
            rest = instant % self._period
            instant = now if rest == 0 else now + self._period - rest
        latest = self._control.latest
        self._set(instant if latest is None else min(instant, latest), dynamic_timer_tag)

    def _set(self, instant: int, tag: str) -> None:
        self._control.set(instant, tag, self._output, holds=self._holds)
        self._output, self._holds = None, True

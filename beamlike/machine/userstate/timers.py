"""The timers of one key and window while its function is called.

Source: Beam Java ``SimpleDoFnRunner.TimerInternalsTimer``, ``InMemoryTimerInternals``.
"""

from collections.abc import Callable

from beamlike.errors import UserStateError
from beamlike.machine.userstate.saved import SavedTimer, TimerId
from beamlike.model.state_specs import TimerSpec
from beamlike.model.time import MAX_TIMESTAMP, show_duration, show_instant
from beamlike.model.windows import Window


class WindowTimers:
    """The timers of a window that are set.

    Args:
        window: The window.
        expiry: The last instant (ms) at which one of event time may fire.
        known: Those that are set already.
        on_set: Called with each that is set.
    """

    def __init__(
        self,
        window: Window,
        expiry: int,
        known: dict[TimerId, SavedTimer],
        on_set: Callable[[TimerSpec, str, SavedTimer], None],
    ) -> None:
        self.window, self.expiry, self.known, self._on_set = window, expiry, known, on_set

    def set(self, spec: TimerSpec, tag: str, timer: SavedTimer) -> None:
        """Set one; it replaces what it was set to before."""
        self.known[spec.name, tag] = timer
        self._on_set(spec, tag, timer)


class Timer:
    """A timer of a key and window, or a family of them. See `beamlike.model.stateful.TimerControl`.

    Args:
        spec: Which one.
        timers: Those of its window.
        now: Where its clock stands (ms).
        given_at: The event time (ms) of the element, or the output timestamp of the timer, that the
            function is called for.
        skew: How far before that an output timestamp may be (ms).
    """

    def __init__(
        self, spec: TimerSpec, timers: WindowTimers, now: int, given_at: int, skew: int
    ) -> None:
        self.spec, self._timers, self.now = spec, timers, now
        self._given_at, self._skew = given_at, skew

    @property
    def latest(self) -> int | None:
        """The last instant that it may be set to (ms); None if any will do."""
        return self._timers.expiry if self.spec.is_event_time else None

    def set(
        self, at: int, tag: str = "", output_timestamp: int | None = None, *, holds: bool = True
    ) -> None:
        """Call back when its clock is past this (ms).

        Raises:
            UserStateError: The instant, or the output timestamp, is after the expiry of the window,
                or the output timestamp is before what the function is called for.
        """
        output: int | None = None
        if output_timestamp is not None:
            output = self._checked(output_timestamp)
        elif holds:
            output = at if self.spec.is_event_time else self._given_at
        if self.spec.is_event_time and at > self._timers.expiry:
            raise UserStateError(self._too_late("a firing timestamp", at))
        if output is not None and output > self._timers.expiry:
            raise UserStateError(self._too_late("an output timestamp", output))
        self._timers.set(self.spec, tag, (at, output))

    def clear(self, tag: str = "") -> None:
        """Do not call back."""
        self._timers.known.pop((self.spec.name, tag), None)

    def _checked(self, output: int) -> int:
        if self._given_at - self._skew <= output <= MAX_TIMESTAMP:
            return output
        raise UserStateError(
            f"Cannot output timer {self.spec.name!r} with output timestamp {show_instant(output)}. "
            "Output timestamps must be no earlier than the timestamp of the current input or "
            f"timer, {show_instant(self._given_at)}, minus the allowed skew, "
            f"{show_duration(self._skew)}; set it to a later one, or set allowed_timestamp_skew "
            "of the DoFn"
        )

    def _too_late(self, what: str, at: int) -> str:
        domain = "an event-time" if self.spec.is_event_time else "a processing-time"
        return (
            f"Attempted to set {domain} timer {self.spec.name!r} with {what} of "
            f"{show_instant(at)} that is after the expiration of window {self._timers.window}, "
            f"{show_instant(self._timers.expiry)}; set it to an instant before that, or do not set "
            "it"
        )

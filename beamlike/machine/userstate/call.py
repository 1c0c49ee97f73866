"""One window of a key while its function is called, and what a call may reach of it."""

from collections.abc import Callable
from typing import Any

from beamlike.errors import UserStateError
from beamlike.machine.userstate.cells import Cell, cell_of
from beamlike.machine.userstate.saved import Saved, SavedTimer
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.state_specs import StateSpec, TimerSpec
from beamlike.model.stateful import StatefulFn
from beamlike.model.windows import Window


class Timer:
    """A timer of a key and window, or a family of them. See `beamlike.model.stateful.TimerControl`.

    Args:
        now: The time of its clock (ticks).
        given_at: The event time of the element, or the output timestamp of the timer, for which the
            function is called (ticks).
        skew: How far before ``given_at`` an output timestamp may be (ticks).
    """

    def __init__(
        self, spec: TimerSpec, live: "LiveWindow", now: int, given_at: int, skew: int
    ) -> None:
        self.spec, self._live, self.now = spec, live, now
        self._given_at, self._skew = given_at, skew

    @property
    def latest(self) -> int | None:
        """The last instant to which it may be set (ticks); None if any is allowed."""
        return self._live.expiry if self.spec.is_event_time else None

    def set(
        self, due: int, tag: str = "", output_timestamp: int | None = None, *, holds: bool = True
    ) -> None:
        """Call back when its clock is past this.

        Raises:
            UserStateError: The instant, or the output timestamp, is after the expiry of the window,
                or the output timestamp is before what the function is called for.
        """
        output: int | None = None
        if output_timestamp is not None:
            output = self._checked(output_timestamp)
        elif holds:
            output = due if self.spec.is_event_time else self._given_at
        if self.spec.is_event_time and due > self._live.expiry:
            raise UserStateError(self._too_late("a firing timestamp", due))
        if output is not None and output > self._live.expiry:
            raise UserStateError(self._too_late("an output timestamp", output))
        self._live.set_timer(self.spec, tag, (due, output))

    def clear(self, tag: str = "") -> None:
        """Do not call back."""
        self._live.timers.pop((self.spec.name, tag), None)

    def _checked(self, output: int) -> int:
        if self._given_at - self._skew <= output <= self._live.unit.end_of_time:
            return output
        unit = self._live.unit
        show = unit.show_instant
        raise UserStateError(
            f"Cannot output timer {self.spec.name!r} with output timestamp {show(output)}. "
            "Output timestamps must be no earlier than the timestamp of the current input or "
            f"timer, {show(self._given_at)}, minus the allowed skew, "
            f"{unit.show_duration(self._skew)}; set it to a later one, or set "
            "allowed_timestamp_skew of the DoFn"
        )

    def _too_late(self, noun: str, instant: int) -> str:
        domain = "an event-time" if self.spec.is_event_time else "a processing-time"
        unit = self._live.unit
        show, window = unit.show_instant, unit.show_window(self._live.window)
        return (
            f"Attempted to set {domain} timer {self.spec.name!r} with {noun} of "
            f"{show(instant)} that is after the expiration of window {window}, "
            f"{show(self._live.expiry)}; set it to an instant before that, or do not set "
            "it"
        )


class LiveWindow:
    """The states and timers of a window during a step.

    A state is read from the saved state when the function asks for it.

    Args:
        expiry: The last instant at which its timers of event time may fire (ticks).
        saved: The state before the step.
        on_set: Called with the window and each timer that is set.
    """

    def __init__(
        self,
        fn: StatefulFn,
        window: Window,
        expiry: int,
        saved: Saved,
        on_set: Callable[[Window, TimerSpec, str, SavedTimer], None],
        unit: Resolution = MILLISECONDS,
    ) -> None:
        self.fn, self.window, self.expiry, self.key = fn, window, expiry, saved.key
        self.unit = unit
        self._on_set = on_set
        self.go_back(saved)

    def go_back(self, saved: Saved) -> None:
        """Restore states and timers as they were when `saved` returned this."""
        self.waiting = list(saved.waiting)
        self._saved = saved.cells
        self._cells: dict[str, Cell[Any]] = {}
        self.timers = dict(saved.timers)

    def set_timer(self, spec: TimerSpec, tag: str, timer: SavedTimer) -> None:
        """Set a timer; it replaces what it was set to before."""
        self.timers[spec.name, tag] = timer
        self._on_set(self.window, spec, tag, timer)

    def state(self, spec: StateSpec) -> Cell[Any]:
        """A state.

        Raises:
            UserStateError: The function does not declare it.
        """
        cell = self._cells.get(spec.name)
        if cell is None:
            declared = self.fn.states.get(spec.name)
            if declared is None:
                raise UserStateError(_undeclared("state", spec.name, [*self.fn.states]))
            cell = self._cells[spec.name] = cell_of(declared, self._saved.get(spec.name))
        return cell

    def saved(self) -> Saved:
        """The states and timers to save."""
        saved = {**self._saved, **{name: cell.saved() for name, cell in self._cells.items()}}
        cells = {name: value for name, value in saved.items() if value is not None}
        return Saved(self.key, cells, dict(self.timers), tuple(self.waiting))


class FunctionCall:
    """Gives a function its states and timers in one call. See `beamlike.model.stateful.UserStates`.

    Args:
        timestamp: The event time of the element, or the output timestamp of the timer.
    """

    def __init__(self, live: LiveWindow, timestamp: int, watermark: int, clock: int) -> None:
        self.key, self.window, self.state = live.key, live.window, live.state
        self._live, self._timestamp = live, timestamp
        self._watermark, self._clock = watermark, clock

    def timer(self, spec: TimerSpec) -> Timer:
        """A timer of the key and window.

        Raises:
            UserStateError: The function does not declare it.
        """
        fn = self._live.fn
        declared = fn.timers.get(spec.name)
        if declared is None:
            raise UserStateError(_undeclared("timer", spec.name, [*fn.timers]))
        now = self._watermark if declared.is_event_time else self._clock
        skew = self._live.unit.from_ms(fn.skew)
        return Timer(declared, self._live, now, self._timestamp, skew)


def _undeclared(noun: str, name: str, known: list[str]) -> str:
    declared = ", ".join(map(repr, known)) or "none"
    return (
        f"the {noun} {name!r} is not declared; the function declares: {declared}; ask for it with "
        "a parameter of process or of a callback"
    )

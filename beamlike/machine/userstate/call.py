"""One window of a key while its function is called, and what a call may reach of it."""

from collections.abc import Callable
from typing import Any

from beamlike.errors import UserStateError
from beamlike.machine.userstate.cells import Cell, cell_of
from beamlike.machine.userstate.saved import Saved, SavedTimer
from beamlike.machine.userstate.timers import Timer, WindowTimers
from beamlike.model.state_specs import StateSpec, TimerSpec
from beamlike.model.stateful import StatefulFn
from beamlike.model.windows import Window


class LiveWindow:
    """The states and timers of a window in a step, as they are by now.

    States are read from what was saved when the function asks for them.

    Args:
        fn: The function.
        window: The window.
        expiry: The last instant (ms) at which its timers of event time may fire.
        saved: What was remembered.
        on_set: Called with the window and each timer that is set.
    """

    def __init__(
        self,
        fn: StatefulFn,
        window: Window,
        expiry: int,
        saved: Saved,
        on_set: Callable[[Window, TimerSpec, str, SavedTimer], None],
    ) -> None:
        self.fn, self.window, self.expiry, self.key = fn, window, expiry, saved.key
        self._on_set = on_set
        self.go_back(saved)

    def go_back(self, saved: Saved) -> None:
        """Let everything be as it was when this was `saved`."""
        self.waiting = list(saved.waiting)
        self._saved = saved.cells
        self._cells: dict[str, Cell[Any]] = {}
        self.timers = WindowTimers(
            self.window,
            self.expiry,
            dict(saved.timers),
            lambda spec, tag, timer: self._on_set(self.window, spec, tag, timer),
        )

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
        """What is to be remembered."""
        cells = dict(self._saved)
        for name, cell in self._cells.items():
            value = cell.saved()
            if value is None:
                cells.pop(name, None)
            else:
                cells[name] = value
        return Saved(self.key, cells, dict(self.timers.known), tuple(self.waiting))


class Call:
    """What a function may reach in one call. See `beamlike.model.stateful.UserStates`.

    Args:
        live: The window.
        timestamp: The event time (ms) of the element, or the output timestamp of the timer.
        watermark: The input watermark (ms).
        clock: Processing time (ms).
    """

    def __init__(self, live: LiveWindow, timestamp: int, watermark: int, clock: int) -> None:
        self.key, self.window = live.key, live.window
        self._live, self._timestamp = live, timestamp
        self._watermark, self._clock = watermark, clock

    def state(self, spec: StateSpec) -> Any:
        """A state of the key and window, see `beamlike.machine.userstate.cells`.

        Raises:
            UserStateError: The function does not declare it.
        """
        return self._live.state(spec)

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
        return Timer(declared, self._live.timers, now, self._timestamp, fn.skew)


def _undeclared(what: str, name: str, known: list[str]) -> str:
    declared = ", ".join(map(repr, known)) or "none"
    return (
        f"the {what} {name!r} is not declared; the function declares: {declared}; ask for it with "
        "a parameter of process or of a callback"
    )

"""Functions with states and timers over rows: a `DoFn`, or an object of a plain class.

What such a class declares, and how it is called.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import attrs

from beamlike.api.dataframe.declared import DeclaredState, DeclaredTimer
from beamlike.api.dofn_rows import dofn_over_rows
from beamlike.api.function_rows import FunctionRows, Outputs, OverRows
from beamlike.api.marked_methods import (
    OF_BUNDLES,
    asks_for_order,
    calls_at_expiration,
    is_sorted,
)
from beamlike.api.pickle_coder import PickleCoder
from beamlike.api.user_timers import TimeArithmetic
from beamlike.errors import ColumnError, UnsupportedError
from beamlike.model.bundle import Windowed
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.state_specs import (
    BagStateSpec,
    MapStateSpec,
    ReadModifyWriteStateSpec,
    SetStateSpec,
    StateSpec,
    TimeDomain,
    TimerSpec,
)
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates
from beamlike.model.windows import IntervalWindow

_ON_END: Final = "on_window_expiration"
_KNOWN: Final = ("key", "timestamp", "window")
"""What each method may ask for besides states and timers."""

_STATES: Final[Mapping[str, Callable[[str], StateSpec]]] = {
    "value": lambda name: ReadModifyWriteStateSpec(name, PickleCoder()),
    "list": lambda name: BagStateSpec(name, PickleCoder()),
    "set": lambda name: SetStateSpec(name, PickleCoder()),
    "map": lambda name: MapStateSpec(name, PickleCoder(), PickleCoder()),
}
_DOMAINS: Final = {"event": TimeDomain.WATERMARK, "processing": TimeDomain.REAL_TIME}

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _shown(micros: int) -> datetime:
    """An instant (us) as a datetime, at most the first or the last that there is."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return (datetime.min if micros < 0 else datetime.max).replace(tzinfo=UTC)


@attrs.frozen
class _Datetimes(TimeArithmetic):
    """Instants are read and shown as datetimes."""

    def shown(self, instant: int) -> datetime:
        return _shown(instant * self.unit.micros)


class _PlainFn(OverRows, StatefulFn):
    """An object with a method ``process``, and what it declares."""

    def __init__(self, fn: object, rows: FunctionRows) -> None:
        self._fn, self._name, self.rows = fn, type(fn).__name__, rows
        self._unit, self._span = MILLISECONDS, rows.maker("start", "end")
        declared = {
            name: getattr(type(fn), name) for name in dir(type(fn)) if not name.startswith("__")
        }
        self.states: Mapping[str, StateSpec] = {
            name: _STATES[declaration.container](name)
            for name, declaration in declared.items()
            if isinstance(declaration, DeclaredState)
        }
        self.timers: Mapping[str, TimerSpec] = {
            name: TimerSpec(name, _DOMAINS[declaration.time])
            for name, declaration in declared.items()
            if isinstance(declaration, DeclaredTimer)
        }
        self.expires = callable(getattr(fn, _ON_END, None))
        self.sorts = is_sorted(fn)
        if not callable(getattr(fn, "process", None)):
            raise ColumnError(
                f"fn must be an object with a method process(self, row), or a DoFn, got {fn!r}"
            )
        self._check_names()
        callbacks = [f"on_{name}" for name in self.timers]
        # The row is the first argument, whatever its parameter is called.
        self._asked = {"process": self._asked_by("process", skipped=1)}
        for method in [*callbacks, *([_ON_END] if self.expires else [])]:
            self._asked[method] = self._asked_by(method, "tag" if method in callbacks else None)
        self._check_called(declared)

    def _check_names(self) -> None:
        for name in (*self.states, *self.timers):
            if name in (*_KNOWN, "tag"):
                raise ColumnError(
                    f"fn: {self._name}.{name} has the name of something else that methods may ask "
                    "for; give it another one"
                )
        for name in self.timers:
            if not callable(getattr(self._fn, f"on_{name}", None)):
                raise ColumnError(
                    f"fn: the timer {self._name}.{name} calls no method; write def on_{name}(self) "
                    f"in {self._name}"
                )

    def _check_called(self, declared: Mapping[str, Any]) -> None:
        """Refuse timers that no method sets, and methods that nothing will call."""
        asked = {name for names in self._asked.values() for name in names}
        for name in self.timers:
            if name not in asked:
                raise ColumnError(
                    f"fn: the timer {self._name}.{name} is never set, because no method asks for "
                    f"it; write def process(self, row, {name}), or leave the timer out"
                )
        methods = {name: method for name, method in declared.items() if callable(method)}
        for name, method in methods.items():
            place = f"fn: {self._name}.{name}"
            if name.startswith("on_") and name not in self._asked:
                timer = name.removeprefix("on_")
                raise ColumnError(
                    f"{place} is the callback of a timer that is not there; declare {timer} = "
                    f"bl.timer() in {self._name}, or give the method a name that does not begin "
                    "with on_"
                )
            if asks_for_order(method) and name != "process":
                raise ColumnError(
                    f"{place} is under @requires_time_sorted_input, which orders the rows of "
                    "process; write it over process"
                )
            if calls_at_expiration(method) and name != _ON_END:
                raise ColumnError(
                    f"{place} is under @on_window_expiration, and in a plain class the method is "
                    f"called by its name; call it {_ON_END}"
                )
            if name in OF_BUNDLES:
                raise UnsupportedError(
                    f"{place} is not called for rows of a Stream, where no bundle is known; keep "
                    "what has to wait in a state, and let a timer bring it out"
                )

    def _asked_by(self, method: str, *extra: str | None, skipped: int = 0) -> Sequence[str]:
        parameters = [*inspect.signature(getattr(self._fn, method)).parameters.values()]
        if len(parameters) < skipped:
            raise ColumnError(
                f"fn: {self._name}.{method} takes no row; write def {method}(self, row)"
            )
        known = [*self.states, *self.timers, *_KNOWN, *filter(None, extra)]
        for parameter in parameters[skipped:]:
            if parameter.name not in known:
                raise ColumnError(
                    f"fn: {self._name}.{method} asks for {parameter.name!r}, and is given by name "
                    f"only what there is: {', '.join(known)}; declare {parameter.name} = "
                    f"bl.state() in {self._name}, or leave the parameter out"
                )
        return [parameter.name for parameter in parameters[skipped:]]

    def in_resolution(self, resolution: Resolution) -> "_PlainFn":
        function = copy(self)
        function._unit = resolution
        return function

    @property
    def display_name(self) -> str:
        return f"{self._name}.process"

    def callback_words(self, spec: Any) -> str:
        return f"{self._name}.on_{spec.name}"

    @property
    def expiry_words(self) -> str:
        return f"{self._name}.{_ON_END}"

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        return self._called("process", user_states, element, self.rows.seen(element.value))

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        base = Windowed(None, timer.output_timestamp, (user_states.window,))
        return self._called(f"on_{timer.spec.name}", user_states, base, tag=timer.tag)

    def expire(self, user_states: UserStates, timestamp: int) -> Outputs:
        return self._called(_ON_END, user_states, Windowed(None, timestamp, (user_states.window,)))

    def _called(
        self, method: str, user_states: UserStates, base: Windowed, *row: Any, tag: str = ""
    ) -> Outputs:
        """What a method brings out, with the time, the window and the pane of ``base``."""
        unit, key = self._unit, self.rows.key(user_states.key)

        def argument(name: str) -> Any:
            if name in self.states:
                return user_states.state(self.states[name])
            if name in self.timers:
                return _Datetimes(unit).timer(user_states.timer(self.timers[name]))
            values = {"key": key, "tag": tag, "timestamp": _shown(base.timestamp * unit.micros)}
            return self._window(user_states.window) if name == "window" else values[name]

        asked = {name: argument(name) for name in self._asked[method]}
        answers = getattr(self._fn, method)(*row, **asked)
        if answers is None:
            answers = ()
        if isinstance(answers, str | bytes | Mapping) or not isinstance(answers, Iterable):
            raise ColumnError(
                f"{self._name}.{method} returned {answers!r}; return a list of rows, or yield each"
            )
        outputs = (("", attrs.evolve(base, value=answer)) for answer in answers)
        return self.rows.results(outputs, user_states)

    def _window(self, window: Any) -> Any:
        """A window as the column ``window`` has it."""
        if not isinstance(window, IntervalWindow):
            return self._span(None, None)
        return self._span(*(_shown(end * self._unit.micros) for end in (window.start, window.end)))


def row_function(fn: object, rows: FunctionRows, label: str) -> StatefulFn:
    """A function of a user's as a machine calls it."""
    if isinstance(fn, type):
        raise ColumnError(f"fn must be an object and not its class; write {fn.__name__}()")
    dofn = dofn_over_rows(fn, rows, label)
    return _PlainFn(fn, rows) if dofn is None else dofn

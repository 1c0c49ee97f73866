"""Functions with states and timers over rows: a `DoFn`, or an object of a plain class."""

from typing import Any

import attrs

from beamlike.api.dataframe.plain_functions import PlainFn
from beamlike.api.dofn_rows import dofn_over_rows
from beamlike.api.function_rows import FunctionRows, Outputs
from beamlike.errors import ColumnError
from beamlike.model.bundle import Windowed
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates


def row_function(fn: object, rows: FunctionRows, label: str) -> StatefulFn:
    """A function of a user's as a machine calls it.

    Args:
        fn: A `DoFn`, or an object of a plain class.
        rows: What it is given and what it answers.
        label: The name of the step, for messages.

    Raises:
        ColumnError: It is neither, or its states and timers do not go together.
        UnsupportedError: It has methods for the begin or the end of a bundle.
    """
    if isinstance(fn, type):
        raise ColumnError(f"fn must be an object and not its class; write {fn.__name__}()")
    dofn = dofn_over_rows(fn, rows, label)
    return _PlainRows(PlainFn(fn, label, rows.maker), rows) if dofn is None else dofn


class _PlainRows(StatefulFn):
    """An object of a plain class."""

    def __init__(self, fn: PlainFn, rows: FunctionRows, unit: Resolution = MILLISECONDS) -> None:
        self._fn, self._rows, self._unit = fn, rows, unit
        self.states, self.timers, self.expires = fn.states, fn.timers, fn.expires
        self.sorts = fn.sorts

    def in_resolution(self, resolution: Resolution) -> "_PlainRows":
        return _PlainRows(self._fn, self._rows, resolution)

    @property
    def words(self) -> str:
        return self._fn.words("process")

    def callback_words(self, spec: Any) -> str:
        return self._fn.words(f"on_{spec.name}")

    @property
    def expiry_words(self) -> str:
        return self._fn.words("on_window_expiration")

    def key_of(self, value: Any) -> Any:
        return self._rows.key_of(value)

    def shown(self, value: Any) -> Any:
        return self._rows.seen(value)

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        seen = (self._rows.seen(element.value),)
        return self._called("process", user_states, element.timestamp, element, seen)

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        at = timer.output_timestamp
        base = Windowed(None, at, (user_states.window,))
        return self._called(f"on_{timer.spec.name}", user_states, at, base, (), timer.tag)

    def expire(self, user_states: UserStates, timestamp: int) -> Outputs:
        base = Windowed(None, timestamp, (user_states.window,))
        return self._called("on_window_expiration", user_states, timestamp, base, ())

    def _called(
        self,
        method: str,
        user_states: UserStates,
        timestamp: int,
        base: Windowed,
        first: tuple[Any, ...],
        tag: str = "",
    ) -> Outputs:
        key = self._rows.key(user_states.key)
        answers = self._fn.call(method, user_states, key, timestamp, first, tag, self._unit)
        found = (("", attrs.evolve(base, value=answer)) for answer in answers)
        return self._rows.results(found, user_states)

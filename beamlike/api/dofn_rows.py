"""A function of Beam over rows of a `Stream`.

This module stands beside ``dataframe`` and ``pipelines``, which do not import one another.
"""

from collections.abc import Iterator
from copy import copy
from typing import Any

import attrs

from beamlike.api.function_rows import FunctionRows, Outputs, OverRows
from beamlike.api.marked_methods import OF_BUNDLES
from beamlike.api.pipelines.dofn import DoFn, Param
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker
from beamlike.api.pipelines.stateful_dofn_invoker import StatefulDoFnInvoker
from beamlike.errors import ColumnError, PipelineError, UnsupportedError
from beamlike.model.bundle import Windowed
from beamlike.model.fingerprint import stable_repr
from beamlike.model.rescaled import coarse
from beamlike.model.resolution import Resolution
from beamlike.model.state_specs import TimerSpec
from beamlike.model.stateful import DueTimer, StatefulFn, TimerControl, UserStates


def dofn_over_rows(fn: object, rows: FunctionRows, label: str) -> StatefulFn | None:
    """A `DoFn` as a machine calls it; None: it is something else."""
    if not isinstance(fn, DoFn):
        return None
    for name in OF_BUNDLES:
        if getattr(type(fn), name) is not getattr(DoFn, name):
            raise UnsupportedError(
                f"fn: {stable_repr(getattr(fn, name))} is not called for rows of a Stream, where "
                "no bundle is known; keep what has to wait in a state, and let a timer bring it out"
            )
    try:
        return _DoFnRows(fn, rows, label)
    except PipelineError as error:
        raise ColumnError(f"fn: {error}") from error


class _DoFnRows(OverRows, StatefulDoFnInvoker):
    """A `DoFn` whose elements are rows.

    It knows milliseconds, and is called with the one in which an instant lies. What it answers at
    that millisecond happens at the instant itself; a timer that it sets to a millisecond is due
    when that is over.
    """

    def __init__(self, fn: DoFn[Any, Any], rows: FunctionRows, label: str) -> None:
        super().__init__(DoFnInvoker(fn, (), {}, None, label, stateful=True))
        self.rows = rows
        self._per_ms = 1
        """How many ticks of the query are a millisecond."""

    def in_resolution(self, resolution: Resolution) -> "_DoFnRows":
        function = copy(self)
        function._per_ms = resolution.per_ms
        return function

    def argument(
        self, asked: Param, states: UserStates, element: Windowed, timer: DueTimer | None = None
    ) -> Any:
        if asked.name == "KeyParam":
            return self.rows.key(states.key)
        return super().argument(asked, states, element, timer)

    def process(self, states: UserStates, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        per_ms, exact = self._per_ms, element.timestamp
        row = Windowed(
            self.rows.seen(element.value),
            exact // per_ms,
            tuple(coarse(window, per_ms) for window in element.windows),
            element.pane,
        )
        return self._results(super().process(_Seen(states, exact, per_ms), row), states, exact)

    def fire(self, states: UserStates, timer: DueTimer) -> Iterator[tuple[str, Windowed]]:
        per_ms, exact = self._per_ms, timer.output_timestamp
        due = attrs.evolve(timer, instant=timer.instant // per_ms, output_timestamp=exact // per_ms)
        return self._results(super().fire(_Seen(states, exact, per_ms), due), states, exact)

    def expire(self, states: UserStates, timestamp: int) -> Iterator[tuple[str, Windowed]]:
        seen = _Seen(states, timestamp, self._per_ms)
        answers = super().expire(seen, timestamp // self._per_ms)
        return self._results(answers, states, timestamp)

    def _results(
        self, answers: Outputs, states: UserStates, exact: int
    ) -> Iterator[tuple[str, Windowed]]:
        for tag, output in self.rows.results(answers, states):
            instant = _exact(output.timestamp, exact, self._per_ms)
            yield tag, attrs.evolve(output, timestamp=instant, windows=(states.window,))


def _exact(millisecond: int, exact: int, per_ms: int) -> int:
    """The instant that a function means by a millisecond: of its own call, if it is that one."""
    return exact if exact // per_ms == millisecond else millisecond * per_ms


class _Seen:
    """States and timers as such a function is given them."""

    def __init__(self, states: UserStates, exact: int, per_ms: int) -> None:
        self.key, self.window, self.state = states.key, coarse(states.window, per_ms), states.state
        self._states, self._exact, self._per_ms = states, exact, per_ms

    def timer(self, spec: TimerSpec) -> TimerControl:
        return _TimerInMilliseconds(self._states.timer(spec), self._exact, self._per_ms)


class _TimerInMilliseconds:
    """A timer that is set to a millisecond, and is due when that is over."""

    def __init__(self, control: TimerControl, exact: int, per_ms: int) -> None:
        self.spec, self.clear = control.spec, control.clear
        self._control, self._exact, self._per_ms = control, exact, per_ms

    @property
    def now(self) -> int:
        return self._control.now // self._per_ms

    @property
    def latest(self) -> int | None:
        latest = self._control.latest
        return None if latest is None else latest // self._per_ms

    def set(
        self, due: int, tag: str = "", output_timestamp: int | None = None, *, holds: bool = True
    ) -> None:
        output = output_timestamp
        if output is not None:
            output = _exact(output, self._exact, self._per_ms)
        last_tick = due * self._per_ms + self._per_ms - 1
        if self.latest == due and self._control.latest is not None:
            last_tick = min(last_tick, self._control.latest)
        self._control.set(last_tick, tag, output, holds=holds)

"""A stateful function that knows milliseconds, where a query counts finer.

It is called with the millisecond in which an instant lies. What it answers at that millisecond
happens at the instant itself; a timer that it sets to a millisecond is due when that is over.
"""

from collections.abc import Iterable
from typing import Any

import attrs

from beamlike.model.bundle import Windowed
from beamlike.model.rescaled import coarse
from beamlike.model.resolution import Resolution
from beamlike.model.state_specs import StateSpec, TimerSpec
from beamlike.model.stateful import DueTimer, StatefulFn, TimerControl, UserStates
from beamlike.model.windows import Window
from beamlike.safe_text import UserRaised

Outputs = Iterable[tuple[str, Windowed]]


def function_in(fn: StatefulFn, resolution: Resolution) -> StatefulFn:
    """A function as a query calls it that counts so."""
    return fn.in_resolution(resolution) or _of_milliseconds(fn, resolution)


def _of_milliseconds(fn: StatefulFn, resolution: Resolution) -> StatefulFn:
    return _FunctionInMilliseconds(fn, resolution.per_ms) if resolution.per_ms > 1 else fn


class _FunctionInMilliseconds(StatefulFn):
    def __init__(self, fn: StatefulFn, per_ms: int) -> None:
        self.fn, self._per_ms = fn, per_ms
        self.states, self.timers, self.expires = fn.states, fn.timers, fn.expires
        self.sorts, self.skew = fn.sorts, fn.skew

    def in_resolution(self, resolution: Resolution) -> StatefulFn:
        return _of_milliseconds(self.fn, resolution)

    def key_of(self, value: Any) -> Any:
        return self.fn.key_of(value)

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        seen = _Seen(user_states, element.timestamp, self._per_ms)
        answers = self.fn.process(seen, self._coarse(element))
        return self._fine(answers, element.timestamp, element.windows[0])

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        exact = timer.output_timestamp
        due = attrs.evolve(
            timer,
            instant=timer.instant // self._per_ms,
            output_timestamp=None if exact is None else exact // self._per_ms,
        )
        answers = self.fn.fire(_Seen(user_states, exact, self._per_ms), due)
        return self._fine(answers, exact, user_states.window)

    def expire(self, user_states: UserStates, timestamp: int) -> Outputs:
        seen = _Seen(user_states, timestamp, self._per_ms)
        answers = self.fn.expire(seen, timestamp // self._per_ms)
        return self._fine(answers, timestamp, user_states.window)

    def setup(self) -> None:
        self.fn.setup()

    def start_bundle(self) -> None:
        self.fn.start_bundle()

    def teardown(self) -> None:
        self.fn.teardown()

    @property
    def answers_failures(self) -> bool:
        return self.fn.answers_failures

    def failed(self, element: Windowed, error: UserRaised) -> Outputs | None:
        answers = self.fn.failed(self._coarse(element), error)
        if answers is None:
            return None
        return self._fine(answers, element.timestamp, element.windows[0])

    def shown(self, value: Any) -> Any:
        return self.fn.shown(value)

    @property
    def display_name(self) -> str:
        return self.fn.display_name

    def callback_words(self, spec: TimerSpec) -> str:
        return self.fn.callback_words(spec)

    @property
    def expiry_words(self) -> str:
        return self.fn.expiry_words

    def _coarse(self, element: Windowed) -> Windowed:
        windows = tuple(coarse(window, self._per_ms) for window in element.windows)
        timestamp = element.timestamp // self._per_ms
        return attrs.evolve(element, timestamp=timestamp, windows=windows)

    def _fine(self, answers: Outputs, exact: int | None, window: Window) -> Outputs:
        for tag, output in answers:
            instant = _exact(output.timestamp, exact, self._per_ms)
            yield tag, attrs.evolve(output, timestamp=instant, windows=(window,))


def _exact(millisecond: int, exact: int | None, per_ms: int) -> int:
    """The instant that a function means by a millisecond: of its own call, if it is that one."""
    if exact is not None and exact // per_ms == millisecond:
        return exact
    return millisecond * per_ms


class _Seen:
    """States and timers as such a function is given them."""

    def __init__(self, user_states: UserStates, exact: int | None, per_ms: int) -> None:
        self.key, self.window = user_states.key, coarse(user_states.window, per_ms)
        self._given, self._exact, self._per_ms = user_states, exact, per_ms

    def state(self, spec: StateSpec) -> Any:
        return self._given.state(spec)

    def timer(self, spec: TimerSpec) -> TimerControl:
        return _TimerInMilliseconds(self._given.timer(spec), self._exact, self._per_ms)


class _TimerInMilliseconds:
    """A timer that is set to a millisecond, and is due when that is over."""

    def __init__(self, control: TimerControl, exact: int | None, per_ms: int) -> None:
        self.spec = control.spec
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
        latest = self._control.latest
        if latest is not None and latest // self._per_ms == due:
            last_tick = min(last_tick, latest)
        self._control.set(last_tick, tag, output, holds=holds)

    def clear(self, tag: str = "") -> None:
        self._control.clear(tag)

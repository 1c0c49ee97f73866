"""The rules of states and timers once more, as plainly as they can be said.

One key after the other, and each window of it from its first element on. Nothing is queued, derived
or forgotten: after each step the model looks at everything that is set, takes what comes first, and
looks again. It is slow, shares no code with the machine but the specs and the windows that elements
are given, and calls the functions itself. The numbers are those of docs/pages/state_and_timers.md.
"""

import inspect
from copy import deepcopy
from typing import Any

import attrs

from beamlike.api.marked_methods import is_sorted
from beamlike.api.pipelines.dofn import Param, StateAsked, TimerAsked, TimestampedValue
from beamlike.api.pipelines.userstate import expiration_of
from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.model.state_specs import TimerSpec
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import Window, expiry
from beamlike.runtime.script import Arrive
from tests.stateful.programs import NOWHERE, Dropped, Out, Outcome, Program
from tests.stateful.states import PlainState, plain_state


def by_the_rules(program: Program) -> Outcome:
    """What comes of a program."""
    keys = {key: _Key(program, key) for key in program.keys}
    reached: list[int] = []
    watermark = MIN_TIMESTAMP
    for number, step in enumerate(program.script):
        for key in keys.values():
            key.happen(number, step)
        if isinstance(step, AdvanceWatermark):
            watermark = step.to
        # Every key that has come sees every clock move.
        held = (key.output_watermark for key in keys.values() if key.has_come)
        reached.append(min(held, default=watermark))
    return Outcome(
        {key: tuple(it.outputs) for key, it in keys.items()},
        {key: tuple(it.dropped) for key, it in keys.items()},
        tuple(reached),
        any(key.due_in_bundles for key in keys.values()),
    )


class _RefusedError(Exception):
    """A timer cannot be set so (2.7)."""


@attrs.define
class _Window:
    """What there is of a window: states (1.1), timers (2.2) and elements that wait (5.1)."""

    window: Window
    expiry: int
    states: dict[str, PlainState] = attrs.field(factory=dict)
    timers: dict[tuple[str, str], tuple[int, int]] = attrs.field(factory=dict)
    waiting: list[tuple[int, Any]] = attrs.field(factory=list)

    @property
    def bounds(self) -> tuple[int, int]:
        return self.window.start, self.window.end


class _Timer:
    """A timer as a call sees it."""

    def __init__(self, spec: TimerSpec, own: _Window, now: int, given: int, skew: int) -> None:
        self._spec, self._own, self._now, self._given, self._skew = spec, own, now, given, skew
        self._offset = self._period = 0
        self._holds = True

    def clear(self, tag: str = "") -> None:
        self._own.timers.pop((self._spec.name, tag), None)

    def with_no_output_timestamp(self) -> None:
        self._holds = False

    def offset(self, offset: int) -> None:
        self._offset = offset

    def align(self, period: int) -> None:
        self._period = period

    def set_relative(self, tag: str = "") -> None:
        """To the next multiple of the period, at or after the clock and the offset, less what
        the offset reaches into it (2.8)."""
        at = self._now + self._offset
        if self._period:
            behind = at % self._period
            at = self._now + (self._period - behind if behind else 0)
        self.set(min(at, self._own.expiry) if self._spec.is_event_time else at, tag)

    def set(self, at: int, tag: str = "", output: int | None = None) -> None:
        holds, self._holds = self._holds, True
        if output is not None:
            if output < self._given - self._skew:
                raise _RefusedError
        elif holds:
            output = at if self._spec.is_event_time else self._given  # 2.6
        late = output is not None and output > self._own.expiry
        if late or (self._spec.is_event_time and at > self._own.expiry):
            raise _RefusedError
        self._own.timers[self._spec.name, tag] = (at, NOWHERE if output is None else output)


class _Key:
    """A key from the beginning of time on."""

    def __init__(self, program: Program, key: str) -> None:
        self.program, self.key, self.fn = program, key, program.fn
        self.skew = program.fn.skew_ms("")
        self.expires = expiration_of(program.fn)
        self.windows: dict[Window, _Window] = {}
        self.watermark, self.clock = MIN_TIMESTAMP, 0
        self.output_watermark, self.has_come = MIN_TIMESTAMP, False
        self.due_in_bundles = False
        self.outputs: list[Out] = []
        self.dropped: list[Dropped] = []

    def happen(self, number: int, step: Any) -> None:
        self.step = number
        if isinstance(step, Arrive):
            elements = [it for key, it in step.elements if key == self.key]
            if not elements:
                return
            if not self.has_come:
                self.has_come, self.output_watermark = True, self.watermark
            for element in elements:
                for window in self.program.window_fn.assign(element.timestamp):
                    self._take(element.value, element.timestamp, window)
        elif isinstance(step, AdvanceWatermark):
            self.watermark = step.to
        elif isinstance(step, AdvanceClock):
            self.clock = step.to
        while self._next():
            self.due_in_bundles |= isinstance(step, Arrive)
        self.output_watermark = max(self.output_watermark, min([self.watermark, *self._holds()]))

    def _take(self, value: Any, at: int, window: Window) -> None:
        lateness = self.program.lateness
        last = expiry(window, lateness)
        if is_sorted(self.fn):
            last = min(last, at + lateness)  # 5.1
        if self.watermark > last:  # 4.1
            self.dropped.append(Dropped(self.step, "expired", at, window))
            return
        own = self.windows.setdefault(window, _Window(window, expiry(window, lateness)))
        if is_sorted(self.fn):
            own.waiting.append((at, value))
        else:
            self._process(own, value, at)

    def _holds(self) -> list[int]:
        """Where windows hold the output watermark: 3.1, 5.1 and 3.3."""
        return [
            at
            for own in self.windows.values()
            for at in (
                *(output for _, output in own.timers.values() if output != NOWHERE),
                *(at for at, _ in own.waiting),
                *([own.window.max_timestamp] if self.expires else []),
            )
        ]

    # -- what is due -----------------------------------------------------------------------------

    def _next(self) -> bool:
        """Let what is due happen that comes first; whether there is something (2.3, 2.4)."""
        due = []
        for own in self.windows.values():
            for (name, tag), (at, output) in own.timers.items():
                is_event = self.fn_timers[name].is_event_time
                if at < (self.watermark if is_event else self.clock):
                    due.append(((not is_event, at, output, tag, name, *own.bounds), "timer", own))
            if own.waiting:
                turn = min(min(at for at, _ in own.waiting) + self.program.lateness, own.expiry)
                if turn < self.watermark:
                    due.append(((False, turn, turn, "", "", *own.bounds), "turn", own))
            if own.expiry + 1 < self.watermark:  # 4.2
                last = own.window.max_timestamp
                due.append(((False, own.expiry + 1, last, "", "", *own.bounds), "end", own))
        if not due:
            return False
        (_, at, output, tag, name, *_), what, own = min(due, key=lambda it: (it[0], it[1] != "end"))
        if what == "timer":
            self._fire(own, name, tag, at, output)
        elif what == "turn":
            self._turns(own, self.watermark)
        elif own.waiting:
            self._turns(own, own.expiry)
        else:
            self._end(own)
        return True

    @property
    def fn_timers(self) -> dict[str, TimerSpec]:
        specs = (self.fn.EVENT, self.fn.AFTER, self.fn.REAL)
        return {spec.name: spec for spec in specs}

    def _turns(self, window: _Window, until: int) -> None:
        ready = sorted((it for it in window.waiting if it[0] <= until), key=lambda it: it[0])
        window.waiting = [it for it in window.waiting if it[0] > until]
        for at, value in ready:
            self._process(window, value, at)

    def _fire(self, window: _Window, name: str, tag: str, at: int, output: int) -> None:
        spec = self.fn_timers[name]
        del window.timers[name, tag]
        if not spec.is_event_time and window.expiry < self.watermark:  # 4.3
            return
        assert spec.callback is not None
        asked = {"DynamicTimerTagParam": tag, "FireTimestampParam": at}
        self._call(window, spec.callback.__name__, output, asked)

    def _end(self, own: _Window) -> None:
        if self.expires is not None:  # 4.4
            self._call(own, self.expires, own.window.max_timestamp, {})
        del self.windows[own.window]

    # -- calls -----------------------------------------------------------------------------------

    def _process(self, window: _Window, value: Any, at: int) -> None:
        self._call(window, "process", at, {}, (self.key, value))

    def _call(
        self, own: _Window, method: str, at: int, asked: dict[str, Any], *element: Any
    ) -> None:
        before = deepcopy((own.states, own.timers))
        known = {"KeyParam": self.key, "WindowParam": own.window, "TimestampParam": at, **asked}
        given = {
            name: self._given(own, parameter.default, at, known)
            for name, parameter in inspect.signature(getattr(self.fn, method)).parameters.items()
            if isinstance(parameter.default, Param)
        }
        try:
            answers = [*getattr(self.fn, method)(*element, **given)]
        except Exception:
            if not self.program.fails:
                raise
            own.states, own.timers = before  # 6.2
            when = at if element else None
            self.dropped.append(Dropped(self.step, "failed", when, own.window))
            return
        for answer in answers:
            moved = isinstance(answer, TimestampedValue)
            value, when = (answer.value, answer.timestamp) if moved else (answer, at)
            self.outputs.append(Out(self.step, value, when, own.window))

    def _given(self, window: _Window, asked: Param, at: int, known: dict[str, Any]) -> Any:
        if isinstance(asked, StateAsked):
            return window.states.setdefault(asked.spec.name, plain_state(asked.spec))
        if isinstance(asked, TimerAsked):
            now = self.watermark if asked.spec.is_event_time else self.clock
            return _Timer(asked.spec, window, now, at, self.skew)
        return known[asked.name]

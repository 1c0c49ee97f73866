"""A step of a key: elements are given to the function, then everything that is due, in order.

First comes what is due by the watermark: timers, elements that waited for their turn, and the end
of windows. It happens in order of instants, across all windows; at one instant in order of output
timestamps, then of tags and names. A timer that a callback sets for an instant that has passed
takes its place in that order. Then, in the same order, comes what is due by the clock.

Source: Beam Java ``StatefulParDoEvaluatorFactory`` of the direct runner, ``TimerData.compareTo``.
"""

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, Final, NamedTuple, Protocol

from beamlike.errors import UserFunctionError, UserStateError, because_of
from beamlike.machine.events import Drop, DropReason, Effect, Element, Pane
from beamlike.machine.failures import OnFailure
from beamlike.machine.reference.state import KeyState, WindowState
from beamlike.machine.ungrouped import expired
from beamlike.machine.userstate.call import FunctionCall, LiveWindow
from beamlike.machine.userstate.saved import Saved, SavedTimer, in_state, of_state
from beamlike.model.bundle import Windowed
from beamlike.model.resolution import Resolution
from beamlike.model.state_specs import TimerSpec
from beamlike.model.stateful import DueTimer, StatefulFn
from beamlike.model.windows import Window, expiry, window_of
from beamlike.safe_text import USER_RAISED, UserRaised, problem_of, safe_repr

GC_DELAY: Final = 1
"""How long after its last timer a window is forgotten: a tick. Source: Beam ``GC_DELAY_MS``."""

MOST_CALLS: Final = 100_000
"""How often a timer of a key and window is called at most in a step while its instant does not move
forward. A timer that sets itself to its own instant would be called for ever. Beam would hang.
"""

_TIMER, _TURN, _END = "", "turn", "end"
_Answer = Callable[[FunctionCall], Iterable[tuple[str, Windowed]]]


class _Due(NamedTuple):
    """Something that is due; these sort in the order in which it happens."""

    instant: int
    output: int
    tag: str
    name: str
    start: int
    end: int
    event: str = _TIMER


class StatefulRules(Protocol):
    """The rules of a stateful function, which are the same in every step."""

    fn: StatefulFn
    allowed_lateness: int
    resolution: Resolution
    on_error: OnFailure
    tagged: bool


def next_event(machine: StatefulRules, saved: Saved, window: Window) -> int:
    """The event time that the watermark has to pass for something to be due in the window."""
    fn, lateness, unit = machine.fn, machine.allowed_lateness, machine.resolution
    last = expiry(window, lateness, unit)
    # No watermark is past the end of time.
    event = unit.end_of_time if fn.outlasts_input and saved.timers else last + GC_DELAY
    event = min([event, *saved.instants(fn.timers, event_time=True)])
    turn = _turn(saved.waiting, last, lateness)
    return event if turn is None else min(event, turn)


def _turn(waiting: Iterable[tuple[int, Any]], last: int, lateness: int) -> int | None:
    """When the first of the waiting elements has its turn; ``last`` is the expiry of their
    window."""
    first = min((timestamp for timestamp, _ in waiting), default=None)
    return None if first is None else min(first + lateness, last)


class StatefulStep:
    """A step of one key; ``state`` is its state before the step."""

    def __init__(self, machine: StatefulRules, state: KeyState, watermark: int, clock: int) -> None:
        self._machine, self._fn = machine, machine.fn
        self._watermark, self._clock = watermark, clock
        self._lateness, self._unit = machine.allowed_lateness, machine.resolution
        self._on_error, self._tagged = machine.on_error, machine.tagged
        # The output timestamp of a timer that nothing waits for: nothing can happen then.
        self._nowhere = self._unit.end_of_time + 1
        self._resting = dict(state.windows)
        self._live: dict[Window, LiveWindow] = {}
        self._by_watermark: list[_Due] = []
        self._by_clock: list[_Due] = []
        self._calls: dict[tuple[int, int, str, str], tuple[int, int]] = {}
        self.effects: list[Effect] = []

    # -- what happens ----------------------------------------------------------------------------

    def take(self, element: Element, window: Window) -> None:
        """Take an element in one of its windows.

        Raises:
            UserFunctionError: The function raised, and that is to be reported.
        """
        deadline = expiry(window, self._lateness, self._unit)
        if self._fn.sorts:
            deadline = min(deadline, element.timestamp + self._lateness)
        late = expired(element, window, deadline, self._watermark)
        if late is not None:
            self.effects.append(late)
            return
        live = self._window(window, element)
        if self._fn.sorts:
            live.waiting.append((element.timestamp, element.value))
        else:
            self._give(live, element)

    def settle(self) -> None:
        """Call the function for everything that is due.

        Raises:
            UserFunctionError: The function raised, and that is to be reported.
        """
        for window in [*self._resting, *self._live]:
            self._queue(window)
        while self._by_watermark or self._by_clock:
            due = heappop(self._by_watermark or self._by_clock)
            window = window_of(due.start, due.end)
            if window not in self._live and window not in self._resting:
                continue
            live = self._window(window)
            if due.event == _END:
                self._end(live, due)
            elif due.event == _TURN:
                self._take_turns(live, self._watermark)
            else:
                self._fire(live, due)

    def windows(self) -> dict[Window, WindowState]:
        """The windows to save.

        Raises:
            UserFunctionError: A coder cannot encode the content of a state.
        """
        after = dict(self._resting)
        for window, live in self._live.items():
            after.pop(window, None)
            saved = self._saved(live)
            if not saved.is_empty or self._fn.expires:
                after[window] = in_state(saved, self._fn, window)
        return after

    # -- what is due -----------------------------------------------------------------------------

    def _queue(self, window: Window) -> None:
        """Queue everything that is due in a window."""
        live = self._live.get(window)
        if live is None:
            resting = self._resting[window]
            saved = of_state(resting)
            first = next_event(self._machine, saved, window)
            if first >= self._watermark and not any(
                processing_timer < self._clock for processing_timer in resting.processing_timers
            ):
                return
            live = self._window(window)
        for (name, tag), timer in live.timers.items():
            self._queue_timer(window, self._fn.timers[name], tag, timer)
        turn = _turn(live.waiting, live.expiry, self._lateness)
        start, end = window.start, window.end
        if turn is not None and turn < self._watermark:
            heappush(self._by_watermark, _Due(turn, turn, "", "", start, end, _TURN))
        outlasts = self._fn.outlasts_input and live.timers
        if live.expiry + GC_DELAY < self._watermark and not outlasts:
            instant, output = live.expiry + GC_DELAY, window.max_timestamp
            heappush(self._by_watermark, _Due(instant, output, "", "", start, end, _END))

    def _queue_timer(self, window: Window, spec: TimerSpec, tag: str, timer: SavedTimer) -> None:
        instant, output = timer
        now, queue = self._watermark, self._by_watermark
        if not spec.is_event_time:
            now, queue = self._clock, self._by_clock
        if instant < now:
            place = self._nowhere if output is None else output
            heappush(queue, _Due(instant, place, tag, spec.name, window.start, window.end))

    def _fire(self, live: LiveWindow, due: _Due) -> None:
        known, name = live.timers, (due.name, due.tag)
        instant, output = known.get(name, (None, None))
        if (instant, self._nowhere if output is None else output) != (due.instant, due.output):
            return  # it was cleared, or set to another instant
        del known[name]
        spec = self._fn.timers[due.name]
        is_over = live.expiry < self._watermark and not self._fn.outlasts_input
        if not spec.is_event_time and is_over:
            return  # its window has expired
        timer = DueTimer(spec, due.tag, due.instant, due.output)
        has_no_end = self._calls_at(due) > MOST_CALLS

        def fire(call: FunctionCall) -> Iterable[tuple[str, Windowed]]:
            if has_no_end:
                raise UserStateError(
                    "the timer was set again, to no later an instant than it fired at, "
                    f"{MOST_CALLS:,} times in one step; set it to a later instant each time, or "
                    "not at all once there is nothing left to do"
                )
            return self._fn.fire(call, timer)

        tag = f" ({due.tag!r})" if due.tag else ""
        occasion = f"the timer {spec.name!r}{tag} at {self._unit.show_exactly(due.instant)}"
        function = self._fn.callback_words(spec)
        self._call(live, fire, due.output, function, occasion)

    def _calls_at(self, due: _Due) -> int:
        """How often the timer fired in this step since its instant moved forward, with this
        time."""
        timer = (due.start, due.end, due.name, due.tag)
        latest, calls = self._calls.get(timer, (due.instant, 0))
        calls = 1 if due.instant > latest else calls + 1
        self._calls[timer] = (max(latest, due.instant), calls)
        return calls

    def _take_turns(self, live: LiveWindow, until: int) -> bool:
        """Give the function the waiting elements up to an event time. Returns whether any did."""
        ready = sorted((pair for pair in live.waiting if pair[0] <= until), key=itemgetter(0))
        live.waiting = [pair for pair in live.waiting if pair[0] > until]
        for timestamp, value in ready:
            self._give(live, Element(value, timestamp, live.window))
        return bool(ready)

    def _end(self, live: LiveWindow, due: _Due) -> None:
        """End a window that has expired."""
        if self._take_turns(live, self._unit.end_of_time):
            heappush(self._by_watermark, due)  # what they have set fires before
            return
        if self._fn.expires:
            last = live.window.max_timestamp
            occasion = "the end of the window"
            function = self._fn.expiry_words
            self._call(live, lambda call: self._fn.expire(call, last), last, function, occasion)
        self._resting.pop(live.window, None)
        del self._live[live.window]

    # -- calls -----------------------------------------------------------------------------------

    def _give(self, live: LiveWindow, element: Element) -> None:
        windowed = _windowed(live, element)
        value, time, show = windowed.value, element.timestamp, self._unit.show_exactly
        self._call(
            live,
            lambda call: self._fn.process(call, windowed),
            element.timestamp,
            self._fn.display_name,
            lambda: f"the element {safe_repr(self._fn.shown(value))} at {show(time)}",
            element,
        )

    def _call(
        self,
        live: LiveWindow,
        answer: _Answer,
        timestamp: int,
        function: str,
        occasion: str | Callable[[], str],
        element: Element | None = None,
    ) -> None:
        drops = self._on_error is OnFailure.DROP
        before = live.saved() if drops or self._fn.answers_failures else None
        call = FunctionCall(live, timestamp, self._watermark, self._clock)

        def shown() -> str:
            return occasion if isinstance(occasion, str) else occasion()

        def failure(cause: UserRaised) -> UserFunctionError:
            return _failure(
                function, cause, f"{shown()}, window {self._unit.show_window(live.window)}"
            )

        try:
            self._fn.start_bundle()
        except USER_RAISED as cause:
            raise failure(cause) from cause  # no element is to blame: it would fail for all
        try:
            outputs = tuple(answer(call))
            if before is not None:
                live.saved()  # what its coder cannot take, is found here
        except USER_RAISED as cause:
            if before is None:
                raise failure(cause) from cause
            live.go_back(before)
            windowed = None if element is None else _windowed(live, element)
            instead = None if windowed is None else self._fn.failed(windowed, cause)
            if instead is not None:
                self._emit(instead)
                return
            if not drops:
                raise failure(cause) from cause
            problem = f"{function} raised {problem_of(cause)}"
            if element is None:  # the dropped row has none to show
                problem += f"; it was called for {shown()}"
            self.effects.append(
                Drop(
                    element,
                    live.window,
                    DropReason.FAILED,
                    watermark=self._watermark,
                    error=problem,
                    cause=cause,
                )
            )
            return
        self._emit(outputs)

    def _emit(self, outputs: Iterable[tuple[str, Windowed]]) -> None:
        for tag, output in outputs:
            value = (tag, output.value) if self._tagged else output.value
            for window in output.windows:
                self.effects.append(Pane(window, value, output.timestamp, output.pane))

    def _window(self, window: Window, element: Element | None = None) -> LiveWindow:
        live = self._live.get(window)
        if live is None:
            resting = self._resting.get(window)
            if resting is not None:
                saved = of_state(resting)
            else:
                assert element is not None, "a window begins with an element"
                value, _ = element.value
                saved = Saved(self._fn.key_of(value), {}, {})
            last = expiry(window, self._lateness, self._unit)
            live = self._live[window] = LiveWindow(
                self._fn, window, last, saved, self._queue_timer, self._unit
            )
        return live

    def _saved(self, live: LiveWindow) -> Saved:
        try:
            return live.saved()
        except USER_RAISED as cause:
            place = f"its states after the step, window {self._unit.show_window(live.window)}"
            raise _failure(self._fn.display_name, cause, place) from cause


def _windowed(live: LiveWindow, element: Element) -> Windowed:
    """An element in the form that the function takes."""
    value, info = element.value
    return Windowed(value, element.timestamp, (live.window,), info)


def _failure(function: str, cause: UserRaised, place: str) -> UserFunctionError:
    error = UserFunctionError(function, problem_of(cause), place)
    return because_of(error, cause)

"""Functions with states and timers that a scenario may name in its ``x_function``.

Each is a few lines on the contract of `beamlike.model.stateful.StatefulFn`, so that what a file
says does not depend on code that its reader would have to have.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

import attrs

from beamlike.machine.events import Bundle, Drop, Effect, Element, Event, OnEvent
from beamlike.machine.reference.state import KeyState
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.bundle import Windowed
from beamlike.model.coders import JsonCoder
from beamlike.model.panes import NO_FIRING
from beamlike.model.state_specs import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    StateSpec,
    TimeDomain,
    TimerSpec,
)
from beamlike.model.stateful import DueTimer, StatefulFn, TimerControl, UserStates
from beamlike.model.time import MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.testing.scenarios.places import Place

Outputs = Iterator[tuple[str, Windowed]]

_JSON: Final = JsonCoder()
_COUNT: Final = ReadModifyWriteStateSpec("count", _JSON)
_KNOWN: Final = ReadModifyWriteStateSpec("known", _JSON)
_KEPT: Final = BagStateSpec("kept", _JSON)
_EVENT: Final = TimerSpec("event", TimeDomain.WATERMARK)
_CLOCK: Final = TimerSpec("clock", TimeDomain.REAL_TIME)
_TIMERS: Final = {"event": _EVENT, "processing": _CLOCK}


_READERS: Final[Mapping[str, Callable[[Place], Any]]] = {
    "within_ms": lambda place: place.integer(least=1),
    "every_ms": lambda place: place.integer(least=1),
    "after_ms": lambda place: place.integer(least=0),
    "delay_ms": lambda place: place.integer(least=0),
    "most": lambda place: place.integer(least=1),
    "time": lambda place: place.one_of(_TIMERS),
    "hold": lambda place: place.one_of(("element", "firing", "nowhere")),
}
"""How each parameter of a function is read."""


class NamedFn(StatefulFn):
    """A function of the format. Its parameters are its fields, which are among `_READERS`."""

    name: ClassVar[str]
    states: Mapping[str, StateSpec] = {spec.name: spec for spec in (_COUNT, _KNOWN, _KEPT)}
    timers: Mapping[str, TimerSpec] = {spec.name: spec for spec in (_EVENT, _CLOCK)}
    skew = MAX_TIMESTAMP - MIN_TIMESTAMP
    """Times in a file are whatever it says."""

    def key_of(self, value: Any) -> Any:
        return None  # what comes out is of the key anyway

    @property
    def display_name(self) -> str:
        arguments = (f"{name}={getattr(self, name)!r}" for name in self.parameters())
        return f"{self.name}({', '.join(arguments)})"

    @classmethod
    def parameters(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name in _READERS]

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        raise AssertionError("this function sets no timer")

    def most_firings(self, first: int, latest: int, clock: int) -> int:
        """How often a timer can fire that one firing sets again, for a key and window: from the
        event time of its first element up to the latest, and up to the clock at the end (ms).
        """
        return 0


def _out(user_states: UserStates, value: Any, timestamp: int) -> tuple[str, Windowed]:
    return "", Windowed(value, timestamp, (user_states.window,))


@attrs.frozen
class CountPerKey(NamedFn):
    """The number of the element in its key and window, from 1."""

    name = "count_per_key"

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        state = user_states.state(_COUNT)
        state.write((state.read() or 0) + 1)
        yield _out(user_states, state.read(), element.timestamp)


@attrs.frozen
class Deduplicate(NamedFn):
    """The first element of a key and window, and the next one once that is forgotten."""

    name = "deduplicate"

    within_ms: int
    time: str

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        state = user_states.state(_KNOWN)
        if state.read():
            return
        state.write(True)
        timer = user_states.timer(_TIMERS[self.time])
        if self.time == "event":
            timer.set(_no_later(timer, element.timestamp + self.within_ms), holds=False)
        else:
            timer.set(timer.now + self.within_ms, holds=False)
        yield _out(user_states, element.value, element.timestamp)

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        user_states.state(_KNOWN).clear()
        yield from ()


@attrs.frozen
class LoopingHeartbeat(NamedFn):
    """How many elements have come, again and again from the first one on, until the window ends."""

    name = "looping_heartbeat"

    every_ms: int
    time: str

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        state = user_states.state(_COUNT)
        if not state.read():
            timer = user_states.timer(_TIMERS[self.time])
            first = element.timestamp if self.time == "event" else timer.now
            self._beat(timer, first)
        state.write((state.read() or 0) + 1)
        yield from ()

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        yield _out(user_states, user_states.state(_COUNT).read(), timer.output_timestamp)
        self._beat(user_states.timer(timer.spec), timer.instant)

    def most_firings(self, first: int, latest: int, clock: int) -> int:
        span = latest - first if self.time == "event" else clock
        return max(span, 0) // self.every_ms

    def _beat(self, timer: TimerControl, after: int) -> None:
        instant = after + self.every_ms
        if timer.latest is None or instant <= timer.latest:
            timer.set(instant)


@attrs.frozen
class BufferAndFlush(NamedFn):
    """A list of what has come, a while after its first element, or once it is long enough."""

    name = "buffer_and_flush"

    after_ms: int
    time: str
    most: int

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        kept, timer = user_states.state(_KEPT), user_states.timer(_TIMERS[self.time])
        if kept.is_empty():
            begun = element.timestamp if self.time == "event" else timer.now
            timer.set(_no_later(timer, begun + self.after_ms))
        kept.add(element.value)
        if len(kept.read()) >= self.most:
            timer.clear()
            yield from self._flush(user_states, element.timestamp)

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        return self._flush(user_states, timer.output_timestamp)

    def _flush(self, user_states: UserStates, timestamp: int) -> Outputs:
        kept = user_states.state(_KEPT)
        yield _out(user_states, kept.read(), timestamp)
        kept.clear()


@attrs.frozen
class HoldOutput(NamedFn):
    """Each element some time later, from a timer of its own that holds the output watermark.

    ``hold`` says where: at the event time of the element, at the instant that the timer is set to,
    or nowhere. What comes out happens there; with ``nowhere`` at the event time of the element.
    """

    name = "hold_output"

    delay_ms: int
    hold: str

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        timer = user_states.timer(_EVENT)
        user_states.state(_KEPT).add([element.timestamp, element.value])
        instant = _no_later(timer, element.timestamp + self.delay_ms)
        output = element.timestamp if self.hold == "element" else None
        timer.set(instant, str(element.timestamp), output, holds=self.hold != "nowhere")
        yield from ()

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        for timestamp, value in user_states.state(_KEPT).read():
            if str(timestamp) == timer.tag:
                nowhere = self.hold == "nowhere"
                yield _out(user_states, value, timestamp if nowhere else timer.output_timestamp)


@attrs.frozen
class LastWord(NamedFn):
    """A list of all elements of a window, when it expires."""

    name = "last_word"
    expires = True

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        user_states.state(_KEPT).add(element.value)
        yield from ()

    def expire(self, user_states: UserStates, timestamp: int) -> Outputs:
        yield _out(user_states, user_states.state(_KEPT).read(), timestamp)


@attrs.frozen
class InOrder(NamedFn):
    """Each element as it is, in order of event time."""

    name = "in_order"
    sorts = True

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        yield _out(user_states, element.value, element.timestamp)


@attrs.frozen
class ByCommand(NamedFn):
    """Does what the value of an element says.

    ``{"set": "a", "time": "event", "at_ms": 20, "output_ms": 15}`` sets a timer with this tag. An
    ``output_ms`` of ``"none"`` is no output timestamp; without ``output_ms`` it is the usual one.
    ``{"clear": "a", "time": "event"}`` clears it. A timer that fires brings out its tag.
    """

    name = "by_command"

    def process(self, user_states: UserStates, element: Windowed) -> Outputs:
        command = element.value
        timer = user_states.timer(_TIMERS[command["time"]])
        if "clear" in command:
            timer.clear(command["clear"])
        else:
            output = command.get("output_ms")
            output_timestamp = None if output in (None, "none") else output
            timer.set(command["at_ms"], command["set"], output_timestamp, holds=output != "none")
        yield from ()

    def fire(self, user_states: UserStates, timer: DueTimer) -> Outputs:
        timestamp = timer.output_timestamp
        yield _out(
            user_states, timer.tag, timestamp if timestamp <= MAX_TIMESTAMP else timer.instant
        )


def _no_later(timer: TimerControl, instant: int) -> int:
    """The instant, or the last that the timer may be set to."""
    return instant if timer.latest is None else min(instant, timer.latest)


FUNCTIONS: Final[Mapping[str, type[NamedFn]]] = {
    cls.name: cls
    for cls in (
        *(CountPerKey, Deduplicate, LoopingHeartbeat, BufferAndFlush, HoldOutput),
        *(LastWord, InOrder, ByCommand),
    )
}
"""By name."""


def read_function(place: Place) -> NamedFn:
    """The function of a scenario's ``x_function``: its name, and all of its parameters."""
    cls = FUNCTIONS[place.variant("name", FUNCTIONS)]
    fields = place.fields(("name", *cls.parameters()))
    return cls(**{name: _READERS[name](fields[name]) for name in cls.parameters()})


class ScenarioFunction(StatefulParDo):
    """The machine of such a function, whose elements are the values themselves."""

    def step(
        self, state: KeyState, event: Event, on_event: OnEvent | None = None
    ) -> tuple[KeyState, tuple[Effect, ...]]:
        if isinstance(event, Bundle):
            with_panes = (
                attrs.evolve(element, value=(element.value, NO_FIRING))
                for element in event.elements
                if isinstance(element, Element)
            )
            event = attrs.evolve(event, elements=tuple(with_panes))
        state, effects = super().step(state, event)
        effects = tuple(map(_plain, effects))
        for effect in effects:
            if on_event is not None and isinstance(effect, Drop):
                on_event(effect)
        return state, effects


def _plain(effect: Effect) -> Effect:
    """The effect; a drop is one of the value itself."""
    if not isinstance(effect, Drop) or not isinstance(effect.element, Element):
        return effect
    value, _ = effect.element.value
    return attrs.evolve(effect, element=attrs.evolve(effect.element, value=value))

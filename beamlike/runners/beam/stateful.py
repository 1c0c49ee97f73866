"""Functions with states and timers as functions of the graph."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

from apache_beam.transforms import userstate
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.utils.timestamp import Timestamp

from beamlike.errors import UnsupportedError
from beamlike.model import state_specs
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.coders import Coder
from beamlike.model.graph import Do
from beamlike.model.stateful import DueTimer, StatefulFn, TimerControl, UserStates
from beamlike.model.windows import bounds
from beamlike.runners.beam.combines import Combining
from beamlike.runners.beam.elements import ElementForm
from beamlike.runners.beam.keys import BeamCoder, Keys
from beamlike.runners.beam.metrics import Sampler
from beamlike.runners.beam.sdk import (
    PANE_INFO_UNKNOWN,
    FiredTimer,
    get_dofn_specs,
)
from beamlike.runners.beam.steps import Opening, Step, opened
from beamlike.runners.beam.strategies import last_instant
from beamlike.runners.beam.windows import ObjectWindows, ticks_of, timestamp_of

ANY_SKEW = 2**62
"""An output may happen at any time: what is late is Beam's business, and not that of states."""


class _OrderedList(state_specs.OrderedListStateSpec):
    def millis(self, timestamp: Any) -> int:
        return ticks_of(timestamp)

    def shown(self, millis: int) -> Any:
        return timestamp_of(millis)


_SPECS: Final[Sequence[tuple[Any, Callable[[str, Coder], state_specs.StateSpec]]]] = (
    (userstate.BagStateSpec, state_specs.BagStateSpec),
    (userstate.SetStateSpec, state_specs.SetStateSpec),
    (userstate.OrderedListStateSpec, _OrderedList),
    (userstate.ReadModifyWriteStateSpec, state_specs.ReadModifyWriteStateSpec),
)


def state_spec_of(spec: Any, label: str) -> state_specs.StateSpec:
    """A state of Beam's as one of the graph."""
    if isinstance(spec, userstate.CombiningValueStateSpec):
        # The spec may be an attribute of a class: its function is shared by all that use it.
        fn = Combining(deepcopy(spec.combine_fn), f"{label}, {spec.name}")
        return state_specs.CombiningValueStateSpec(spec.name, BeamCoder(spec.coder), fn)
    for theirs, ours in _SPECS:
        if isinstance(spec, theirs):
            return ours(spec.name, BeamCoder(spec.coder))
    raise UnsupportedError(
        f"{label!r} declares the state {spec!r}, which BeamlikeRunner does not know"
    )


class _SdkTimer(userstate.BaseTimer):  # type: ignore[misc]
    """A timer as a function sets it."""

    def __init__(self, control: TimerControl, domain: Any) -> None:
        self._control, self._domain = control, domain

    def set(
        self, timestamp: Any, dynamic_timer_tag: str = "", output_timestamp: Any = None
    ) -> None:
        """Call back at this time."""
        control, latest = self._control, self._control.latest
        instant = ticks_of(timestamp)
        if self._domain == TimeDomain.REAL_TIME:
            instant -= 1  # Beam Python fires at the instant, and the graph when it is past
        output = None if output_timestamp is None else ticks_of(output_timestamp)
        # Beam lets a timer stand at the bound of its window, too.
        control.set(instant if latest is None else min(instant, latest), dynamic_timer_tag, output)

    def clear(self, dynamic_timer_tag: str = "") -> None:
        """Do not call back."""
        self._control.clear(dynamic_timer_tag)


class _UserState(userstate.UserStateContext):  # type: ignore[misc]
    """Gives a function the states and timers of the key and window that it is called for."""

    def __init__(self, fn: "BeamStatefulFn") -> None:
        self.fn = fn
        self.states: UserStates | None = None

    def get_state(self, state_spec: Any, key: Any, window: Any) -> Any:
        """A state."""
        assert self.states is not None, "a function is called"
        return self.states.state(self.fn.states[state_spec.name])

    def get_timer(self, spec: Any, key: Any, window: Any, timestamp: Any, pane: Any) -> Any:
        """A timer."""
        assert self.states is not None, "a function is called"
        return _SdkTimer(self.states.timer(self.fn.timers[spec.name]), spec.time_domain)

    def commit(self) -> None:
        """Nothing: the graph keeps what has changed."""

    def reset(self) -> None:
        """Nothing, likewise."""


class BeamFn(Opening, StatefulFn):
    """A ``DoFn`` that is called key by key. Its step travels, and is opened where it is called."""

    skew = ANY_SKEW

    def __init__(self, step: Step, outputs: Mapping[str, ElementForm]) -> None:
        self._step, self._forms = step, outputs
        self._opened = None
        self._is_started = False
        self._declare()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _opened=None, _is_started=False)
        self._declare()

    @abstractmethod
    def _declare(self) -> None:
        """Set the states and the timers."""

    @property
    def display_name(self) -> str:
        return self._step.label

    def start_bundle(self) -> None:
        self.setup()
        if not self._is_started:
            self._is_started = True
            with self._sampler:
                self._open.start_bundle()

    def _taken(self) -> list[tuple[str, Windowed]]:
        taken = []
        for collection, elements in self._open.outputs.items():
            if elements:
                bundle = self._forms[collection].bundle(elements)
                taken += [(collection, element) for element in bundle]
                elements.clear()
        return taken

    def finish_bundle(self) -> list[tuple[str, Windowed]]:
        if not self._is_started:
            return []
        self._is_started = False
        return self._end_bundle(self._taken)


class BeamStatefulFn(BeamFn):
    """A ``DoFn`` with states and timers."""

    def __init__(
        self, step: Step, keys: Keys, takes: ElementForm, outputs: Mapping[str, ElementForm]
    ) -> None:
        self._keys, self._takes = keys, takes
        super().__init__(step, outputs)

    def _declare(self) -> None:
        fn, *_ = self._step.function
        states, timers = get_dofn_specs(fn)
        label = self._step.label
        self.states = {spec.name: state_spec_of(spec, label) for spec in states}
        self.timers = {
            spec.name: state_specs.TimerSpec(spec.name, spec.time_domain) for spec in timers
        }

    def __getstate__(self) -> dict[str, Any]:
        # The function travels once, by Beam's pickler.
        names = ("_step", "_keys", "_takes", "_forms")
        return {name: getattr(self, name) for name in names}

    # -- elements --------------------------------------------------------------------------------

    def _seen(self, value: Any) -> tuple[Any, Sequence[Any]]:
        """An element, and the side inputs that it sees."""
        if self._step.sides:
            value, contents = value
            return value, contents
        return value, ()

    def key_of(self, value: Any) -> Any:
        value, _ = self._seen(value)
        encode = self._keys.encode
        if self._takes.windows.carries_object:
            window, (key, _) = value
            return window, encode(key)
        key, _ = value
        return encode(key)

    def shown(self, value: Any) -> Any:
        value, _ = self._seen(value)
        return value[1] if self._takes.windows.carries_object else value

    # -- calls -----------------------------------------------------------------------------------

    def setup(self) -> None:
        if self._opened is not None:
            return
        self._sampler = Sampler()
        self._user_state = _UserState(self)
        wanted = self._step.outputs.values()
        steps, source = [self._step], self._step.source
        with self._sampler:
            self._opened = opened(steps, source, wanted, self._sampler, self._user_state)

    def process(self, user_states: UserStates, element: Windowed) -> list[tuple[str, Windowed]]:
        self._user_state.states = user_states
        value, contents = self._seen(element.value)
        for side, items in zip(self._open.sides, contents, strict=True):
            side.items = items
        bundle = Bundle.of([Windowed(value, element.timestamp, element.windows, element.pane)])
        for windowed in self._takes.values(bundle):
            with self._sampler:
                self._open.first.process(windowed)
        return self._taken()

    def fire(self, user_states: UserStates, timer: DueTimer) -> list[tuple[str, Windowed]]:
        self._user_state.states = user_states
        key, windows, span = user_states.key, self._takes.windows, bounds(user_states.window)
        window: Any
        if isinstance(windows, ObjectWindows):
            encoded, key = key
            window = windows.coder.decode(encoded)
        else:
            window = windows.window(span)
        stamp = Timestamp(micros=last_instant(windows, span, timer.output_timestamp))
        due = FiredTimer(
            user_key=self._keys.decode(key),
            dynamic_timer_tag=timer.tag,
            windows=(window,),
            clear_bit=False,
            fire_timestamp=stamp,
            hold_timestamp=stamp,
            paneinfo=PANE_INFO_UNKNOWN,
        )
        with self._sampler:
            self._open.first.process_timer(timer.spec.name, due)
        return self._taken()

    def teardown(self) -> None:
        if self._opened is not None:
            super().teardown()
            for spec in self.states.values():
                if isinstance(spec, state_specs.CombiningValueStateSpec):
                    spec.combine_fn.teardown()


class Attaching(Do):
    """Gives each element the side inputs that it sees."""

    def __init__(self, tag: str) -> None:
        self._tag = tag
        self._contents: tuple[Any, ...] = ()

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        self._contents = tuple(contents)

    def run(self, bundle: Bundle) -> Iterable[tuple[str, Bundle]]:
        seen = self._contents
        return [(self._tag, bundle.with_values([(value, seen) for value in bundle.values]))]

"""A `DoFn` with states and timers as a node of the graph."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from beamlike.api.marked_methods import is_sorted
from beamlike.api.pipelines.checks import check_states
from beamlike.api.pipelines.dofn import Param, StateAsked, TimerAsked, asked_by
from beamlike.api.pipelines.dofn_invoker import DoFnInvoker, read
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.userstate import (
    expiration_of,
    get_dofn_specs,
    validate_stateful_dofn,
)
from beamlike.api.pipelines.views import AsSideInput, with_side_inputs
from beamlike.errors import PipelineError
from beamlike.model.bundle import Windowed
from beamlike.model.fingerprint import stable_repr
from beamlike.model.graph import MAIN, Do, ParDoNode, StatefulParDoNode
from beamlike.model.state_specs import TimerSpec
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates
from beamlike.safe_text import UserRaised

_OF_CALLBACKS = (
    *("StateParam", "TimerParam", "KeyParam", "WindowParam", "TimestampParam", "PaneInfoParam"),
    *("DynamicTimerTagParam", "FireTimestampParam"),
)


class StatefulDoFnInvoker(StatefulFn):
    """A `DoFn` with states and timers as a machine knows it.

    Args:
        invoker: How it is called, made with ``stateful=True``.
    """

    def __init__(self, invoker: DoFnInvoker) -> None:
        fn, label = invoker.fn, invoker.label
        try:
            validate_stateful_dofn(fn)
        except PipelineError as error:
            raise PipelineError(f"{label!r}: {error}") from error
        self.fn, self.label, self._invoker = fn, label, invoker
        states, timers = get_dofn_specs(fn)
        self.states = {spec.name: spec for spec in sorted(states, key=lambda state: state.name)}
        self.timers = {spec.name: spec for spec in sorted(timers, key=lambda timer: timer.name)}
        self.sorts = is_sorted(fn)
        # A timer holds the watermark, so that by default it is not set back behind its element.
        self.skew = 0 if fn.allowed_timestamp_skew is None else self._invoker.skew
        self._expiration = expiration_of(fn)
        self.expires = self._expiration is not None
        self._callbacks = {spec.name: _name_of(spec) for spec in timers}
        methods = [*self._callbacks.values(), *filter(None, [self._expiration])]
        self._asked = {name: self._asked_by(name) for name in methods}
        self._is_set_up = self._is_open = False

    def _asked_by(self, name: str) -> Mapping[str, Param]:
        method = getattr(self.fn, name)
        asked = asked_by(method)
        for parameter, param in asked.items():
            if param.name not in _OF_CALLBACKS:
                raise PipelineError(
                    f"{self.label!r}: {stable_repr(method)} asks for {param!r} in its parameter "
                    f"{parameter!r}, and is called without an element; keep what it needs in a "
                    "state"
                )
        return asked

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_is_set_up": False, "_is_open": False}

    @property
    def display_name(self) -> str:
        return stable_repr(self.fn.called())

    def callback_words(self, spec: TimerSpec) -> str:
        return stable_repr(getattr(self.fn, self._callbacks[spec.name]))

    @property
    def expiry_words(self) -> str:
        name = self._expiration
        return self.display_name if name is None else stable_repr(getattr(self.fn, name))

    def key_of(self, value: Any) -> Any:
        pair = self.shown(value)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise PipelineError(
                f"Input elements to the transform {self.label!r} with stateful DoFn must be "
                f"key-value pairs, got {pair!r}; make pairs before it, for example with "
                "WithKeys(...) or Map(lambda x: (key, x))"
            )
        return pair[0]

    def shown(self, value: Any) -> Any:
        return value.value if isinstance(value, _Seeing) else value

    @property
    def answers_failures(self) -> bool:
        return self._invoker.instead is not None

    def failed(self, element: Windowed, error: UserRaised) -> Iterable[tuple[str, Windowed]] | None:
        if self._invoker.instead is None:
            return None
        base = attrs.evolve(element, value=self.shown(element.value))
        answer = self._invoker.instead(base.value, error)
        return None if answer is None else [*self._invoker.outputs([answer], base)]

    # -- calls -----------------------------------------------------------------------------------

    def process(self, states: UserStates, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        invoker = self._invoker
        if isinstance(element.value, _Seeing):
            invoker.see(element.value.contents)
            element = attrs.evolve(element, value=element.value.value)
        args, kwargs = invoker.arguments
        asked = {
            name: self.argument(param, states, element) for name, param in invoker.asked.items()
        }
        if invoker.takes_element:
            args = (element.value, *args)
        return invoker.outputs(invoker.fn.process(*args, **{**kwargs, **asked}), element)

    def fire(self, states: UserStates, timer: DueTimer) -> Iterator[tuple[str, Windowed]]:
        return self._called(self._callbacks[timer.spec.name], states, timer.output_timestamp, timer)

    def expire(self, states: UserStates, timestamp: int) -> Iterator[tuple[str, Windowed]]:
        assert self._expiration is not None, "it says that it is called"
        return self._called(self._expiration, states, timestamp)

    def _called(
        self, method: str, states: UserStates, timestamp: int, timer: DueTimer | None = None
    ) -> Iterator[tuple[str, Windowed]]:
        # What comes out is stamped as if it came of this one.
        base = Windowed((states.key, None), timestamp, (states.window,))
        asked = {
            name: self.argument(param, states, base, timer)
            for name, param in self._asked[method].items()
        }
        return self._invoker.outputs(getattr(self.fn, method)(**asked), base)

    def argument(
        self, asked: Param, states: UserStates, element: Windowed, timer: DueTimer | None = None
    ) -> Any:
        """What a parameter asks for."""
        if isinstance(asked, StateAsked):
            return states.state(asked.spec)
        if isinstance(asked, TimerAsked):
            assert asked.shown is not None, "it says how its users see it"
            return asked.shown(states.timer(asked.spec))
        if asked.name == "DynamicTimerTagParam":
            return None if timer is None else timer.tag
        if asked.name == "FireTimestampParam":
            shown = asked.shown or (lambda instant: instant)
            return None if timer is None else shown(timer.instant)
        return read(asked, element)

    # -- its life --------------------------------------------------------------------------------

    def setup(self) -> None:
        if not self._is_set_up:
            self._is_set_up = True
            self._invoker.setup()

    def start_bundle(self) -> None:
        if not self._is_open:
            self.setup()
            self._invoker.start_bundle()
            self._is_open = True

    def finish_bundle(self) -> Iterable[tuple[str, Windowed]]:
        if not self._is_open:
            return ()
        self._is_open = False
        return [*self._invoker.finish_bundle()]

    def teardown(self) -> None:
        if self._is_set_up:
            self._is_set_up = False
            self._invoker.teardown()


def _name_of(spec: TimerSpec) -> str:
    assert spec.callback is not None, "a timer without a callback has been refused"
    return spec.callback.__name__


def stateful_outputs(
    pcoll: PCollection[Any],
    invoker: StatefulDoFnInvoker,
    views: Sequence[AsSideInput[Any]],
    *,
    tagged: bool,
    drops_failures: bool,
    max_failures: float,
) -> PCollection[Any]:
    """The collection of everything that a function with states and timers answers without a tag."""
    pipeline, windowing = pcoll.pipeline, pcoll.windowing
    label = pipeline.label
    check_states(pcoll)
    declared = pcoll.declared_type
    if declared in (int, float, str, bytes, bool):
        raise PipelineError(
            f"Input elements to the transform {label!r} with stateful DoFn must be key-value "
            f"pairs. They are of type {declared.__name__}; make pairs before it, for example with "
            "WithKeys(...) or Map(lambda x: (key, x))"
        )
    if views:
        pcoll = with_side_inputs(pcoll, views, _AttachSideInputs(), f"{label}/Views")
    node = StatefulParDoNode(
        label, (pcoll.edge,), windowing, invoker, tagged, drops_failures, max_failures
    )
    outputs: PCollection[Any] = pipeline.add(node, windowing, pcoll.is_bounded)
    if not tagged:
        return outputs
    by_tag = ParDoNode(f"{label}/Outputs", (outputs.edge,), _ByTag())
    return pipeline.add(by_tag, windowing, pcoll.is_bounded)


@attrs.frozen
class _Seeing:
    """A value, with the items of each side input that it sees on its way to a state."""

    value: Any
    contents: Sequence[Sequence[Any]]


class _AttachSideInputs(Do):
    """Each element with what it sees."""

    def __init__(self) -> None:
        self._contents: Sequence[Sequence[Any]] = ()

    def see(self, contents: Sequence[Sequence[Any]]) -> None:
        self._contents = contents

    def process(self, element: Windowed) -> Sequence[tuple[str, Windowed]]:
        return ((MAIN, attrs.evolve(element, value=_Seeing(element.value, self._contents))),)


class _ByTag(Do):
    """Each element to the output that it is for."""

    def process(self, element: Windowed) -> Sequence[tuple[str, Windowed]]:
        tag, value = element.value
        return ((tag or MAIN, attrs.evolve(element, value=value)),)

"""A function with one state for each key and window: the least that has any."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from beamlike.api.pipelines.checks import check_states
from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.model.bundle import Windowed
from beamlike.model.fingerprint import stable_repr
from beamlike.model.graph import StatefulParDoNode
from beamlike.model.state_specs import ReadModifyWriteStateSpec
from beamlike.model.stateful import DueTimer, StatefulFn, UserStates

_MEMORY = ReadModifyWriteStateSpec("memory", PickleCoder())


@attrs.frozen
class ApplyFn(StatefulFn):
    """A function ``(state, pair, timestamp) -> (state, outputs)`` as one with a single state."""

    states = {_MEMORY.name: _MEMORY}  # noqa: RUF012
    timers = {}  # noqa: RUF012

    fn: Callable[[Any, Any, int], tuple[Any, Iterable[Any]]]
    label: str

    def key_of(self, value: Any) -> Any:
        return value[0]

    def process(self, user_states: UserStates, element: Windowed) -> Iterator[tuple[str, Windowed]]:
        memory = user_states.state(_MEMORY)
        after, outputs = self.fn(memory.read(), element.value, element.timestamp)
        if after is None:
            memory.clear()
        else:
            memory.write(after)
        for output in outputs:
            yield "", attrs.evolve(element, value=output)

    def fire(self, user_states: UserStates, timer: DueTimer) -> Iterable[tuple[str, Windowed]]:
        raise AssertionError("it has no timers")

    @property
    def display_name(self) -> str:
        return stable_repr(self.fn)


class ApplyPerKey(PTransform[Any, Any]):
    """Pairs, given one by one to a function of the state (None at first), the pair and its event
    time (ms), which returns the new state, None to remove it, and a list of outputs."""

    def __init__(self, fn: Callable[[Any, Any, int], tuple[Any, Iterable[Any]]]) -> None:
        self.fn = fn

    def expand(self, pcoll: PCollection[tuple[Any, Any]]) -> PCollection[Any]:
        label, windowing = pcoll.pipeline.label, pcoll.windowing
        check_states(pcoll)
        node = StatefulParDoNode(label, (pcoll.edge,), windowing, ApplyFn(self.fn, label))
        return pcoll.pipeline.add(node, windowing, pcoll.is_bounded)

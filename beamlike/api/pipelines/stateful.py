"""A function with a memory, for each key and window.

Source: Beam's stateful ``DoFn``, Scio ``applyPerKeyDoFn``.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic

import attrs

from beamlike.api.pipelines.checks import check_states
from beamlike.api.pipelines.coders import PickleCoder
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import R
from beamlike.errors import PipelineError, PipelineTypeError
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
        if not isinstance(value, tuple) or len(value) != 2:
            raise PipelineError(
                f"{self.label!r} remembers pairs of key and value, and got {value!r}; make pairs "
                "before it, for example with WithKeys(...) or Map(lambda x: (key, x))"
            )
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
    def words(self) -> str:
        return stable_repr(self.fn)


class ApplyPerKey(PTransform[Any, Any], Generic[R]):
    """Pairs of key and value, given one by one to a function with a state for each key and
    window.

    Nothing is grouped and there is no trigger: what the function answers comes out at once, in
    the window, at the timestamp and of the pane of its pair. A pair whose window has expired is
    dropped, and the state of a window is removed when it expires.

    Args:
        fn: Called with the state (None at first), a pair and its event time (ms). Returns
            the new state, None to remove it, and a list of outputs. It leaves the old
            state as it was.

    Raises:
        PipelineError: It is no function; when it is applied: the windows merge.

    Source: Scio ``applyPerKeyDoFn``; Beam's state and timers are not here.
    """

    def __init__(self, fn: Callable[[Any, Any, int], tuple[Any, Iterable[R]]]) -> None:
        if not callable(fn):
            raise PipelineTypeError(
                f"ApplyPerKey needs a function, got {fn!r}; write fn(state, pair, timestamp) that "
                "returns (state, outputs)"
            )
        self.fn = fn

    def default_label(self) -> str:
        return f"ApplyPerKey({function_label(self.fn)})"

    def expand(self, pcoll: PCollection[tuple[Any, Any]]) -> PCollection[R]:
        label, windowing = pcoll.pipeline.label, pcoll.windowing
        check_states(pcoll)
        node = StatefulParDoNode(label, (pcoll.edge,), windowing, ApplyFn(self.fn, label))
        return pcoll.pipeline.add(node, windowing, pcoll.is_bounded)

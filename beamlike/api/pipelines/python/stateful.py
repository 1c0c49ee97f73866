"""`ApplyPerKey` where event time is a `Timestamp`."""

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from beamlike.api.pipelines import stateful
from beamlike.api.pipelines.python.timestamps import Timestamp
from beamlike.api.pipelines.transform import function_label
from beamlike.api.pipelines.variables import R
from beamlike.model.fingerprint import stable_repr


class ApplyPerKey(stateful.ApplyPerKey[R]):
    """Pairs of key and value, given one by one to a function with a state for each key and
    window.

    Args:
        fn: Called with the state (None at first), a pair and its event time, a `Timestamp`.
            Returns the new state, None to remove it, and a list of outputs. It leaves
            the old state as it was.

    Raises:
        PipelineError: It is no function; when it is applied: the windows merge.

    Source: Scio ``applyPerKeyDoFn``; Beam's state and timers are not here.
    """

    def __init__(self, fn: Callable[[Any, Any, Timestamp], tuple[Any, Iterable[R]]]) -> None:
        super().__init__(_Timestamped(fn) if callable(fn) else fn)
        self.function = fn

    def default_label(self) -> str:
        return f"ApplyPerKey({function_label(self.function)})"


@attrs.frozen
class _Timestamped:
    """A function of a `Timestamp` as one of milliseconds."""

    fn: Callable[[Any, Any, Timestamp], Any]

    def __call__(self, state: Any, pair: Any, timestamp: int) -> Any:
        return self.fn(state, pair, Timestamp.of_millis(timestamp))

    def __repr__(self) -> str:
        return stable_repr(self.fn)

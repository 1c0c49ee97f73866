"""A function with a memory, for each key and window.

Source: Beam's stateful ``DoFn``, Scio ``applyPerKeyDoFn``.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform, function_label
from beamlike.api.pipelines.variables import R
from beamlike.errors import PipelineError, PipelineTypeError
from beamlike.model.graph import StatefulMapNode


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

    def expand(self, given: PCollection[tuple[Any, Any]]) -> PCollection[R]:
        label, windowing = given.pipeline.label, given.windowing
        if windowing.is_merging:
            raise PipelineError(
                f"{label!r}: MergingWindowFn is not supported for stateful functions: "
                f"{windowing.window_fn} merges windows, and a state cannot be merged; use "
                "FixedWindows, SlidingWindows, calendar windows or GlobalWindows"
            )
        node = StatefulMapNode(label, (given.edge,), windowing, self.fn)
        return given.pipeline.add(node, windowing, given.is_bounded)

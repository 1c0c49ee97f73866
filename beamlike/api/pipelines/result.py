"""What `Pipeline.run` returns.

What a function of the user's raised, a pipeline raises with its own type, too. So
``except ValueError`` around a pipeline finds the ``ValueError`` of a function, as in Beam.

Source: Beam Python ``runner.PipelineResult`` and ``PipelineState``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import ClassVar

from beamlike.api.pipelines.metrics import MetricResults
from beamlike.api.pipelines.scio.results import ScioResult
from beamlike.errors import TransformError, because_of
from beamlike.model.graph import Edge
from beamlike.model.time import DurationLike
from beamlike.runtime.graph.outputs import DroppedElement, OutputElement, PipelineRun

__all__ = ["PipelineResult", "PipelineState"]


class PipelineState:
    """How far a pipeline is, in Beam's words."""

    RUNNING: ClassVar[str] = "RUNNING"
    DONE: ClassVar[str] = "DONE"
    FAILED: ClassVar[str] = "FAILED"
    CANCELLED: ClassVar[str] = "CANCELLED"
    DRAINED: ClassVar[str] = "DRAINED"


class PipelineResult(ScioResult):
    """What a pipeline did, and how far it is.

    A pipeline over elements in memory, scripts or batch DataFrames has ended when `Pipeline.run`
    returns: there is nothing to wait for, and ``cancel`` and ``drain`` leave it as it is. One over
    streams continues, see `RunningResult`.

    Args:
        outputs: What came out, and what was lost.
    """

    def __init__(self, outputs: PipelineRun) -> None:
        self._outputs = outputs

    @property
    def outputs(self) -> PipelineRun:
        """What came out where outputs are kept, see `Pipeline.keep`, and what was lost."""
        return self._outputs

    @property
    def state(self) -> str:
        """How far the pipeline is."""
        return PipelineState.DONE

    def wait_until_finish(self, duration: DurationLike | None = None) -> str:
        """Wait for the end, or for so long; the state then."""
        return self.state

    def cancel(self) -> str:
        """End the pipeline without waiting for its data; the state then. One that ended stays."""
        return self.state

    def drain(self) -> str:
        """End the pipeline with the data that it has; the state then. One that ended stays.

        Source: Dataflow's drain.
        """
        return self.state

    def metrics(self) -> MetricResults:
        """What the functions of the pipeline counted."""
        return MetricResults(self.outputs.metrics)

    def out_of(self, edge: Edge) -> tuple[OutputElement, ...]:
        """What came out of an edge of the graph, in order."""
        return self.outputs.out_of(edge)

    @property
    def lost(self) -> tuple[DroppedElement, ...]:
        """The elements that were dropped, where and why: the newest 10,000 of them."""
        return self.outputs.lost

    @property
    def lost_counts(self) -> Mapping[tuple[str, str], int]:
        """How many elements were dropped, by the label of the transform and the reason: all."""
        return self.outputs.lost_counts

    def __repr__(self) -> str:
        return f"<PipelineResult {self.state}>"


@contextmanager
def with_own_types() -> Iterator[None]:
    """A `TransformError` that is raised in the block becomes one of its cause's type as well."""
    __tracebackhide__ = True
    try:
        yield
    except TransformError as error:
        cause = error.__cause__
        cls = None if cause is None else _of_both(type(cause))  # type: ignore[arg-type]
        if cls is None:
            raise
        raise because_of(cls(error.label, error.problem, error.place), cause) from cause


@cache
def _of_both(cls: type[BaseException]) -> type[TransformError] | None:
    if issubclass(TransformError, cls) or not issubclass(cls, Exception):
        return None
    try:
        joined = type("TransformError", (TransformError, cls), {"__module__": __name__})
        joined("label", "problem", "place")
    except TypeError:  # Python has no class that is both
        return None
    return joined

"""What `Pipeline.run` returns.

Source: Beam Python ``runner.PipelineResult`` and ``PipelineState``.
"""

from typing import ClassVar

from beamlike.api.pipelines.metrics import MetricResults
from beamlike.api.pipelines.scio.results import ScioResult
from beamlike.hosts.pipeline import Came, Lost, PipelineRun
from beamlike.model.graph import Edge
from beamlike.model.time import DurationLike

__all__ = ["PipelineResult", "PipelineState"]


class PipelineState:
    """How far a pipeline is, in Beam's words. Source: Beam ``PipelineState``."""

    RUNNING: ClassVar[str] = "RUNNING"
    DONE: ClassVar[str] = "DONE"
    FAILED: ClassVar[str] = "FAILED"
    CANCELLED: ClassVar[str] = "CANCELLED"
    DRAINED: ClassVar[str] = "DRAINED"


class PipelineResult(ScioResult):
    """A pipeline that ran to its end before anybody could ask."""

    def __init__(self, outputs: PipelineRun) -> None:
        self._outputs = outputs

    @property
    def outputs(self) -> PipelineRun:
        """Everything that came out, of every transform, and what was lost."""
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

    def metrics(self) -> MetricResults:
        """What the functions of the pipeline counted."""
        return MetricResults(self.outputs.metrics)

    def out_of(self, edge: Edge) -> tuple[Came, ...]:
        """What came out of an edge of the graph, in order."""
        return self.outputs.out_of(edge)

    @property
    def lost(self) -> tuple[Lost, ...]:
        """The elements that were dropped, where and why."""
        return self.outputs.lost

    def __repr__(self) -> str:
        return f"<PipelineResult {self.state}>"

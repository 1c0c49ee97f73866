"""The grouping that every transform which groups is made of."""

from typing import Any

from beamlike.api.pipelines.collection import PCollection
from beamlike.errors import BeamlikeError, PipelineError
from beamlike.model.combine import CombineFn
from beamlike.model.graph import Grouped
from beamlike.model.options import AccumulationMode

__all__ = ["grouped"]


def grouped(given: PCollection[Any], combine: CombineFn) -> PCollection[Any]:
    """The panes of a grouping, by the transform that is being applied.

    Raises:
        PipelineError: The windowing cannot be grouped.
    """
    pipeline, label, windowing = given.pipeline, given.pipeline.label, given.windowing
    if windowing.accumulation is AccumulationMode.RETRACTING:
        raise PipelineError(
            f"{label!r}: panes that withdraw earlier ones are no elements that a transform could "
            "take; use accumulating or discarding panes here, or windowed(...) on a DataFrame"
        )
    try:
        windowing.check_groupable(unbounded=not given.is_bounded)
        after = windowing.after_grouping()
    except BeamlikeError as error:
        raise PipelineError(f"{label!r}: {error}") from error
    node = Grouped(label, (given.edge,), windowing, combine)
    return pipeline.add(node, after, given.is_bounded)

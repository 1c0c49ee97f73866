"""The grouping that every transform which groups is made of."""

from typing import Any

from beamlike.api.pipelines.collection import PCollection
from beamlike.api.pipelines.repeating import warn_of_repeated
from beamlike.api.pipelines.types import element_type, value_type
from beamlike.errors import BeamlikeError, PipelineError
from beamlike.model.combine import CombineFn
from beamlike.model.graph import Grouped
from beamlike.model.options import AccumulationMode

__all__ = ["grouped"]


def grouped(
    given: PCollection[Any], combine: CombineFn, *, counts: bool = True
) -> PCollection[Any]:
    """The panes of a grouping, by the transform that is being applied.

    Args:
        counts: It matters how often an element is in them.

    Raises:
        PipelineError: The windowing cannot be grouped.

    Warns:
        RepeatedElementsWarning: It is given panes that repeat what earlier ones held.
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
    if counts:
        warn_of_repeated(given.edge, label)
    declared = value_type(element_type(given))
    combine = combine if declared is None else combine.for_type(declared)
    node = Grouped(label, (given.edge,), windowing, combine, declared)
    return pipeline.add(node, after, given.is_bounded)

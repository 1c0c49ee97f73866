"""What a transform checks of what it was applied to."""

from collections.abc import Mapping
from typing import Any

from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError, PipelineTypeError, WindowingError
from beamlike.machine.ungrouped import refuse_merging


def check_collection(inputs: Any, transform: PTransform[Any, Any]) -> str:
    """The full name of a transform that is being applied, if it was given one collection."""
    if isinstance(inputs, PCollection):
        return inputs.pipeline.label
    name = transform.label
    if isinstance(inputs, Mapping | tuple | list):
        raise PipelineError(
            f"{name!r} needs one collection, got {len(inputs)}; put them into one with Flatten(), "
            "or apply it to each"
        )
    full = getattr(inputs, "label", "") or name
    raise PipelineTypeError(
        f"{full!r} needs a PCollection as input. Got a PBegin/Pipeline instead. Start from a "
        f"collection, for example pipeline | Create(...) | {type(transform).__name__}(...)"
    )


def check_states(pcoll: PCollection[Any]) -> None:
    """Refuse a collection whose windows cannot have states."""
    if not pcoll.windowing.is_merging:
        return
    try:
        refuse_merging(pcoll.windowing.window_fn)
    except WindowingError as error:
        raise PipelineError(f"{pcoll.pipeline.label!r}: {error}") from error

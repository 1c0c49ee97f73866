"""The types of what transforms are applied to and of what they make, as a pipeline is built.

Source: Beam Python ``Pipeline.apply``.
"""

from collections.abc import Sequence
from typing import Any

from beamlike.api.pipelines.given import Collections, collections_in
from beamlike.api.pipelines.hints.wanted import made_type, no_hint
from beamlike.api.pipelines.option_classes import TypeOptions
from beamlike.api.pipelines.options import PipelineOptions
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.transform_names import AppliedPTransform


def check_given(transform: PTransform[Any, Any], given: Any, options: PipelineOptions) -> None:
    """Check what a transform is applied to.

    Raises:
        TypeCheckError: Its elements are of another type than the transform takes.
    """
    if options.view_as(TypeOptions).pipeline_type_check:
        transform.type_check_inputs(given)


def type_made(
    given: Any, made: Any, stack: Sequence[AppliedPTransform], options: PipelineOptions
) -> None:
    """Say of which type the elements are that a transform made.

    Args:
        given: What it was applied to.
        made: What it made.
        stack: The transform where it was applied, after those that it is a part of.
        options: Those of the pipeline.

    Raises:
        TypeCheckError: They are of another type than it declares; or it declares none, and the
            option ``type_check_strictness`` is ``ALL_REQUIRED``.
    """
    types = options.view_as(TypeOptions)
    transform: Any = stack[-1].transform
    read = list(collections_in(given))
    outputs = [it for it in collections_in(made) if all(it is not each for each in read)]
    if not types.pipeline_type_check:
        for it in outputs:
            it.element_type = None
        return
    transform.type_check_outputs(made)
    if types.type_check_strictness == "ALL_REQUIRED":
        _demand_hint(transform, stack)
    kinds = [it.element_type for it in read]
    hints = transform.get_type_hints()
    if isinstance(made, Collections):
        made.kinds = {tag: made_type(hints, kinds, tag) for tag in hints.tagged_output_types()}
        outputs = [made[None]]
    for it in outputs:
        if it.element_type in (None, Any):
            kind = made_type(hints, kinds)
            first = kinds[0] if kinds else None
            it.element_type = transform.infer_output_type(first) if kind is None else kind


def _demand_hint(transform: PTransform[Any, Any], stack: Sequence[AppliedPTransform]) -> None:
    """Refuse a transform of the user's, or one of its functions, that declares nothing."""
    within = [type(it.transform).__module__ for it in stack[1:-1]]
    if any(name.startswith("beamlike.") for name in within):
        return
    own = not type(transform).__module__.startswith("beamlike.")
    kind = transform.hinted_as or (type(transform).__name__ if own else "")
    if kind and transform.get_type_hints().output_types is None:
        raise no_hint(kind, stack[-1].full_label)

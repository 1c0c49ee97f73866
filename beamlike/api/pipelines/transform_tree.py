"""Transforms within transforms: their names in a pipeline, and the types of what they are given.

Source: Beam Python ``pipeline.AppliedPTransform``, ``Pipeline.apply``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from beamlike.api.pipelines.given import Collections, collections_in
from beamlike.api.pipelines.hints.wanted import made_type
from beamlike.api.pipelines.options import PipelineOptions, TypeOptions
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError


class LabelTakenError(PipelineError, RuntimeError):
    """A pipeline has a transform of this name already."""


@attrs.frozen
class AppliedPTransform:
    """A transform where it is applied.

    Args:
        transform: The transform; None at the top of a pipeline.
        full_label: Its name with those of the transforms around it before it.
    """

    transform: PTransform[Any, Any] | None
    full_label: str


class TransformTree:
    """The transforms of a pipeline under their names, as they are applied.

    Attributes:
        stack: The transforms that are being applied, the innermost last; first the root.
        labels: The full names that are taken.
    """

    def __init__(self) -> None:
        self.stack = [AppliedPTransform(None, "")]
        self.labels: dict[str, None] = {}

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return self.stack[-1].full_label

    def free_label(self, name: str) -> str:
        """The name, with a number after it if a transform has it where one is being applied."""
        label, number = name, 1
        while self._full(label) in self.labels:
            number += 1
            label = f"{name}{number}"
        return label

    @contextmanager
    def applying(self, transform: PTransform[Any, Any]) -> Iterator[None]:
        """Take the name of a transform, and hold it while the transform is applied.

        A transform that cannot be applied leaves nothing behind, also no name.

        Raises:
            LabelTakenError: Another transform has the name.
        """
        label = str(transform.label)
        full = self._full(label)
        known = len(self.labels)
        if full in self.labels:
            raise LabelTakenError(
                f"a transform named {full!r} is in this pipeline already; give this one a name "
                f'of its own: "another name" >> {transform.default_label().partition("(")[0]}(...)'
            )
        self.labels[full] = None
        self.stack.append(AppliedPTransform(transform, full))
        try:
            yield
        except BaseException:
            while len(self.labels) > known:
                self.labels.popitem()
            raise
        finally:
            self.stack.pop()

    def _full(self, label: str) -> str:
        return f"{self.label}/{label}" if len(self.stack) > 1 else label


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
        TypeCheckError: They are of another type than it declares.
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

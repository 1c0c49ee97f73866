"""The transforms of a pipeline as a tree, for those who look at what was built.

Source: Beam Python ``pipeline.AppliedPTransform`` and ``pipeline.PipelineVisitor``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any
from weakref import ProxyType, proxy

from beamlike.api.pipelines.given import collections_in
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError

__all__ = ["AppliedPTransform", "PipelineVisitor", "TransformTree"]


class LabelTakenError(PipelineError, RuntimeError):
    """A pipeline has a transform of this name already."""


class AppliedPTransform:
    """A transform where it was applied.

    Attributes:
        parent: What it was applied in; None at the top.
        transform: The transform; None at the top.
        full_label: Its name with those of its parents before it.
        inputs: The collections that it was applied to.
        parts: What was applied in it.
        outputs: The collections that it made, by a name or a number; by None if it is one.
    """

    def __init__(
        self,
        parent: "AppliedPTransform | None",
        transform: PTransform[Any, Any] | None,
        full_label: str,
        main_inputs: Any = None,
    ) -> None:
        self.parent, self.transform, self.full_label = parent, transform, full_label
        self.inputs = tuple(map(_light, collections_in(main_inputs)))
        self.parts: list[AppliedPTransform] = []
        self.outputs: dict[Any, Any] = {}

    def add_outputs(self, made: Any) -> None:
        """Keep what it made."""
        found = list(map(_light, collections_in(made)))
        names = made.keys() if isinstance(made, Mapping) else range(len(found))
        self.outputs = {None: found[0]} if len(found) == 1 else dict(zip(names, found, strict=True))

    def is_composite(self) -> bool:
        """Whether it is made of other transforms."""
        return bool(self.parts) or self.transform is None

    def visit(self, visitor: "PipelineVisitor") -> None:
        """Show this, and what it is made of, to a visitor."""
        if self.is_composite():
            visitor.enter_composite_transform(self)
            for part in self.parts:
                part.visit(visitor)
            visitor.leave_composite_transform(self)
        else:
            visitor.visit_transform(self)
        for output in self.outputs.values():
            visitor.visit_value(output, self)

    def __repr__(self) -> str:
        return f"AppliedPTransform({self.full_label!r})"


def _light(collection: Any) -> Any:
    """The same collection, which does not keep its pipeline: that one keeps this tree."""
    light = copy(collection)
    pipeline = collection.pipeline
    light.pipeline = pipeline if isinstance(pipeline, ProxyType) else proxy(pipeline)
    return light


class PipelineVisitor:
    """Looks at each transform of a pipeline: ``pipeline.visit(visitor)``."""

    def visit_value(self, value: Any, producer_node: AppliedPTransform) -> None:
        """A collection, and what made it."""

    def visit_transform(self, transform_node: AppliedPTransform) -> None:
        """A transform that is not made of others."""

    def enter_composite_transform(self, transform_node: AppliedPTransform) -> None:
        """A transform that is made of others, before these."""

    def leave_composite_transform(self, transform_node: AppliedPTransform) -> None:
        """The same after these."""


class TransformTree:
    """The transforms of a pipeline under their names, as they are applied.

    Attributes:
        stack: The transforms that are being applied, the innermost last; first the root.
        labels: The full names that are taken.
    """

    def __init__(self) -> None:
        self.stack = [AppliedPTransform(None, None, "")]
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
    def applying(self, transform: PTransform[Any, Any], given: Any) -> Iterator[AppliedPTransform]:
        """Take the name of a transform, and hold its place in the tree while it is applied.

        A transform that cannot be applied leaves nothing behind, also no name.

        Raises:
            LabelTakenError: Another transform has the name.
        """
        label = str(transform.label)
        full = self._full(label)
        parts, known, before = self.stack[-1].parts, len(self.labels), len(self.stack[-1].parts)
        if full in self.labels:
            raise LabelTakenError(
                f"a transform named {full!r} is in this pipeline already; give this one a name "
                f'of its own: "another name" >> {transform.default_label().partition("(")[0]}(...)'
            )
        applied = AppliedPTransform(self.stack[-1], transform, full, given)
        self.labels[full] = None
        parts.append(applied)
        self.stack.append(applied)
        try:
            yield applied
        except BaseException:
            del parts[before:]
            while len(self.labels) > known:
                self.labels.popitem()
            raise
        finally:
            self.stack.pop()

    def _full(self, label: str) -> str:
        return f"{self.label}/{label}" if len(self.stack) > 1 else label

"""The transforms of a pipeline as a tree, for those who look at what was built.

Source: Beam Python ``pipeline.AppliedPTransform`` and ``pipeline.PipelineVisitor``.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any
from weakref import ProxyType, proxy

if TYPE_CHECKING:
    from beamlike.api.pipelines.transform import PTransform

__all__ = ["AppliedPTransform", "PipelineVisitor", "collections_in"]


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
        transform: "PTransform[Any, Any] | None",
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


def collections_in(given: Any) -> Iterator[Any]:
    """The collections in what a transform was given or made."""
    # Circular otherwise: collections belong to pipelines, which keep this tree.
    from beamlike.api.pipelines.collection import PCollection
    from beamlike.api.pipelines.outputs import DoOutputs

    if isinstance(given, PCollection):
        yield given
    elif isinstance(given, Mapping):
        yield from collections_in(list(given.values()))
    elif isinstance(given, tuple | list | DoOutputs):
        for each in given:
            yield from collections_in(each)


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

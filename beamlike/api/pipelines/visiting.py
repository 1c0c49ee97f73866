"""The transforms of a pipeline as a tree, for those who look at what was built.

Source: Beam Python ``pipeline.AppliedPTransform`` and ``pipeline.PipelineVisitor``.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from beamlike.api.pipelines.transform import PTransform

__all__ = ["AppliedPTransform", "PipelineVisitor", "collections_in"]


class AppliedPTransform:
    """A transform where it was applied.

    Attributes:
        parent: What it was applied in; None at the top.
        transform: The transform; None at the top.
        full_label: Its name with those of its parents before it.
        main_inputs: What it was applied to.
        parts: What was applied in it.
        made: What it made.
    """

    def __init__(
        self,
        parent: "AppliedPTransform | None",
        transform: "PTransform[Any, Any] | None",
        full_label: str,
        main_inputs: Any = None,
    ) -> None:
        self.parent, self.transform, self.full_label = parent, transform, full_label
        self.main_inputs = main_inputs
        self.parts: list[AppliedPTransform] = []
        self.made: Any = None

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The collections that it was applied to."""
        return tuple(collections_in(self.main_inputs))

    @property
    def outputs(self) -> dict[Any, Any]:
        """The collections that it made, by a name or a number; None if it is one."""
        if isinstance(self.made, Mapping):
            return dict(self.made)
        found = list(collections_in(self.made))
        return {None: found[0]} if len(found) == 1 else dict(enumerate(found))

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
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, tuple | list):
        for each in given:
            yield from collections_in(each)
    elif hasattr(given, "edge"):
        yield given


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

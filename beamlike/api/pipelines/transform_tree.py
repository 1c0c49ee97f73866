"""Transforms within transforms: their names in a pipeline.

Source: Beam Python ``Pipeline.apply``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError


class LabelTakenError(PipelineError, RuntimeError):
    """A pipeline has a transform of this name already."""


class TransformTree:
    """The transforms of a pipeline under their names, as they are applied.

    Attributes:
        stack: The full names of the transforms that are being applied, the innermost last; first
            that of the root.
        labels: The full names that are taken.
    """

    def __init__(self) -> None:
        self.stack = [""]
        self.labels: dict[str, None] = {}

    @property
    def label(self) -> str:
        """The full name of the transform that is being applied."""
        return self.stack[-1]

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
        self.stack.append(full)
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

"""What transforms are given and what they make, by the classes that programs of Beam name.

Source: Beam Python ``pvalue``, with ``DoOutputsTuple``.
"""

from abc import ABCMeta
from typing import Any

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import Collections
from beamlike.errors import PipelineError
from beamlike.model.graph import Edge

__all__ = ["PBegin", "PDone", "PValue"]


class PValue(metaclass=ABCMeta):  # noqa: B024 - others are registered below it
    """A collection, the start of a pipeline, or the end of a branch."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline


class PBegin(PValue):
    """What starts a pipeline: the `Pipeline` itself is one.

    class Numbers(beam.PTransform):
        def expand(self, pbegin):
            assert isinstance(pbegin, beam.pvalue.PBegin)
            return pbegin | beam.Create([1, 2])
    """

    def __new__(cls, pipeline: Pipeline) -> Any:
        return pipeline


class PDone(PValue):
    """What a transform makes that has no output, such as one that writes. Nothing reads it."""


PBegin.register(Pipeline)
PValue.register(PCollection)


class MissingOutputError(PipelineError, KeyError):
    """A transform has no output of this name."""

    __str__ = PipelineError.__str__


class DoOutputs(Collections):
    """The outputs of a transform by name: ``outputs.name`` or ``outputs["name"]``.

    Source: Beam ``DoOutputsTuple``.
    """

    def __init__(
        self,
        main: PCollection[Any],
        tags: tuple[str, ...],
        name: str | None,
        any_name: bool,
    ) -> None:
        self._main, self._tags, self._name = main, tags, name
        self._any = any_name
        node, keeping = main.edge.node, main.pipeline.keeping
        for output in [node] if self._any else [Edge(node, tag) for tag in tags]:
            keeping.hold(self, output)

    def __getitem__(self, tag: str | None) -> PCollection[Any]:
        if tag is None or tag == self._name:
            return self._main
        if not self._any and tag not in self._tags:
            named = ", ".join(map(repr, [*self._tags, *([self._name] if self._name else [])]))
            raise MissingOutputError(f"there is no output {tag!r}; the outputs are {named}")
        main = self._main
        edge = Edge(main.edge.node, tag)
        return type(main)(main.pipeline, edge, main.windowing, main.is_bounded)

    def __getattr__(self, tag: str) -> PCollection[Any]:
        if tag.startswith("_"):
            raise AttributeError(tag)
        return self[tag]

    def __iter__(self) -> Any:
        """The main output if it has a name, then the others in the order of their names."""
        named = [self[None]] if self._name is not None else []
        return iter([*named, *(self[tag] for tag in self._tags)])

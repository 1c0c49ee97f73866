"""Inputs and outputs of a job by name, so that a test can put its own in their place.

Source: Scio ``customInput``, ``saveAsCustomOutput``, ``CustomIO``.
"""

from typing import Any, Generic

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import T
from beamlike.errors import PipelineError


class Read(PTransform[Pipeline, PCollection[T]], Generic[T]):
    """An input with a name.

    Args:
        name: What a ``JobTest`` calls it.

    Raises:
        PipelineError: The name is no text, or the source no transform; when it is applied: there
            is neither a source nor a test that has elements under this name.
    """

    def __init__(
        self, name: str, source: PTransform[Pipeline, PCollection[T]] | None = None
    ) -> None:
        self.name, self.source = _checked("Read", "source", name, source), source

    def default_label(self) -> str:
        return f"Read({self.name!r})"

    def expand(self, pipeline: Pipeline) -> PCollection[T]:
        if self.source is None:
            raise PipelineError(
                f"{pipeline.label!r}: nothing says what input {self.name!r} is; write "
                f"Read({self.name!r}, source), or run the job in a JobTest that has it"
            )
        return pipeline | self.source


class SaveAs(PTransform[PCollection[T], PCollection[T]], Generic[T]):
    """An output with a name. What it makes is what it was given.

    Raises:
        PipelineError: The name is no text, or the sink no transform; when it is applied: there is
            neither a sink nor a test that looks at this output.
    """

    def __init__(self, name: str, sink: PTransform[PCollection[T], Any] | None = None) -> None:
        self.name, self.sink = _checked("SaveAs", "sink", name, sink), sink

    def default_label(self) -> str:
        return f"SaveAs({self.name!r})"

    def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
        if self.sink is None:
            raise PipelineError(
                f"{pcoll.pipeline.label!r}: nothing says where output {self.name!r} goes; write "
                f"SaveAs({self.name!r}, sink), or run the job in a JobTest that looks at it"
            )
        pcoll | self.sink
        return pcoll


def _checked(owner: str, role: str, name: str, transform: object) -> str:
    if not isinstance(name, str) or not name:
        raise PipelineError(f"{owner} needs a name, got {name!r}")
    if transform is not None and not isinstance(transform, PTransform):
        raise PipelineError(
            f"the {role} of {owner}({name!r}) must be a transform, got {transform!r}"
        )
    return name

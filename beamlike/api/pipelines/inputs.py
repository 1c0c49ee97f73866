"""What transforms are applied to: collections, alone and several together."""

from collections.abc import Iterator, Mapping
from typing import Any

from beamlike.errors import PipelineTypeError, TypeCheckError


class Elements:
    """Elements on their way through a pipeline: what `PCollection` is to a transform."""

    pipeline: Any


class Collections:
    """Several collections by name, to iterate over: what `DoOutputs` is to a transform."""

    def __getitem__(self, tag: str | None) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError


class PipelineRoot:
    """Where transforms that read nothing begin: what `Pipeline` is to them."""


def collections_in(inputs: Any) -> Iterator[Any]:
    """The collections in what a transform was given or made."""
    if isinstance(inputs, Elements):
        yield inputs
    elif isinstance(inputs, Mapping):
        yield from collections_in(list(inputs.values()))
    elif isinstance(inputs, tuple | list | Collections):
        for part in inputs:
            yield from collections_in(part)


def pipelines_of(inputs: Any, label: str) -> Iterator[Any]:
    """The pipelines to which belongs what the transform of this label was given.

    Raises:
        PipelineError: Something of it belongs to none.
    """
    if isinstance(inputs, PipelineRoot):
        yield inputs
    elif isinstance(inputs, Elements):
        yield inputs.pipeline
    elif isinstance(inputs, Mapping | tuple | list):
        for part in inputs.values() if isinstance(inputs, Mapping) else inputs:
            yield from pipelines_of(part, label)
    elif inputs is None:
        raise TypeCheckError(
            f"{label!r} was applied to the output of a transform that has no output; "
            "let its expand return a collection, or apply this one to what it reads"
        )
    else:
        raise PipelineTypeError(
            f"{label!r} was given {inputs!r}, which is not a collection; apply it to a "
            "PCollection, to several in a tuple, or to a Pipeline; of plain values write "
            "pipeline | Create([...]) first"
        )

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


class Start:
    """Where transforms that read nothing begin: what `Pipeline` is to them."""


def collections_in(given: Any) -> Iterator[Any]:
    """The collections in what a transform was given or made."""
    if isinstance(given, Elements):
        yield given
    elif isinstance(given, Mapping):
        yield from collections_in(list(given.values()))
    elif isinstance(given, tuple | list | Collections):
        for each in given:
            yield from collections_in(each)


def pipelines_of(given: Any, label: str) -> Iterator[Any]:
    """The pipelines to which belongs what the transform of this label was given.

    Raises:
        PipelineError: Something of it belongs to none.
    """
    if isinstance(given, Start):
        yield given
    elif isinstance(given, Elements):
        yield given.pipeline
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from pipelines_of(each, label)
    elif isinstance(given, tuple | list):
        for each in given:
            yield from pipelines_of(each, label)
    elif given is None:
        raise TypeCheckError(
            f"{label!r} was applied to the output of a transform that has no output; "
            "let its expand return a collection, or apply this one to what it reads"
        )
    else:
        raise PipelineTypeError(
            f"{label!r} was given {given!r}, which is no collection; apply it to a PCollection, "
            "to several in a tuple, or to a Pipeline"
        )

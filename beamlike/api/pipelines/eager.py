"""Transforms of plain lists: they run at once, in memory.

Source: Beam Python ``PTransform.__ror__``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.given import collections_in
from beamlike.api.pipelines.outputs import DoOutputs
from beamlike.api.pipelines.pipeline import PCollection, Pipeline, apply
from beamlike.api.pipelines.transform import PTransform


def apply_to_lists(transform: PTransform[Any, Any], given: Any) -> Any:
    """Apply a transform to collections, to lists of elements, or to both.

    Returns:
        What the transform makes; where it was given no collection, the lists of what comes out.

    Raises:
        PipelineError: Something is neither a collection nor a list.
        TransformError: A function of the user's raised.
    """
    if isinstance(given, Iterator):
        given = list(given)
    is_several = isinstance(given, Mapping | tuple) or (
        isinstance(given, list)
        and (transform.takes_several or any(isinstance(it, PCollection) for it in given))
    )
    if is_several and not given:
        return apply(transform, given)
    parts: dict[Any, Any]
    if not is_several:
        parts = {None: given}
    elif isinstance(given, Mapping):
        parts = dict(given)
    else:
        parts = dict(enumerate(given))
    pipelines = [part.pipeline for part in parts.values() if isinstance(part, PCollection)]
    pipeline = pipelines[0] if pipelines else Pipeline()
    parts = {name: _collection(part, pipeline) for name, part in parts.items()}
    if not is_several:
        outputs = apply(transform, parts[None])
    else:
        outputs = apply(transform, parts if isinstance(given, Mapping) else tuple(parts.values()))
    if pipelines:
        return outputs
    pipeline.keep(*collections_in(outputs))
    pipeline.run()
    return _lists(outputs)


def _collection(given: Any, pipeline: Pipeline) -> Any:
    """What a transform is applied to for a collection, or for a list; others it will refuse."""
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | DoOutputs)
    if isinstance(given, PCollection) or not is_list:
        return given
    return pipeline | pipeline.free_label("Elements") >> Create(given)


def _lists(outputs: Any) -> Any:
    match outputs:
        case PCollection():
            return _elements(outputs)
        case DoOutputs():
            return _Lists(outputs)
        case Mapping():
            return {name: _lists(output) for name, output in outputs.items()}
        case tuple() if hasattr(outputs, "_fields"):
            return type(outputs)(*map(_lists, outputs))
        case tuple() | list():
            return type(outputs)(map(_lists, outputs))
    return outputs


def _elements(collection: PCollection[Any]) -> list[Any]:
    result = collection.pipeline.result
    assert result is not None, "it has just run"
    return [came.element.value for came in result.out_of(collection.edge)]


class _Lists(DoOutputs):
    """The outputs of a transform that ran: lists by name."""

    def __init__(self, outputs: DoOutputs) -> None:
        self.__dict__.update(outputs.__dict__)

    def __getitem__(self, tag: str | None) -> Any:
        return _elements(super().__getitem__(tag))


PTransform.applied_to_lists = staticmethod(apply_to_lists)

"""Collections of elements with timestamps, windows and panes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

from beamlike.api.pipelines.scio.verbs import ScioVerbs
from beamlike.api.pipelines.transform import Applied, PTransform
from beamlike.api.pipelines.variables import Out
from beamlike.errors import PipelineError, PipelineTypeError, TypeCheckError
from beamlike.model.graph import Edge
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from beamlike.api.pipelines.elements import Filter
    from beamlike.api.pipelines.pipeline import Pipeline

__all__ = ["PCollection", "apply", "check_collection"]

T_co = TypeVar("T_co", covariant=True)


class PCollection(ScioVerbs[T_co], Generic[T_co]):
    """Elements of one type on their way through a pipeline. Immutable; many may read it.

    Transforms make collections: ``pcoll | "name" >> Map(f)``.

    Source: Beam ``PCollection``.

    Attributes:
        pipeline: What it belongs to.
        edge: Where in the graph it comes out.
        windowing: How it is windowed, and what a grouping of it does.
        is_bounded: Whether it comes to an end by itself.
        element_type: The type of its elements, if hints say it or it can be inferred; else ``Any``.
            None: types are not checked.
        declared_type: The same, only of what its user declares.
    """

    def __init__(
        self, pipeline: "Pipeline", edge: Edge, windowing: WindowingStrategy, is_bounded: bool
    ) -> None:
        self.pipeline = pipeline
        self.edge = edge
        self.windowing = windowing
        self.is_bounded = is_bounded
        self.element_type: Any = Any
        self.declared_type: Any = Any
        pipeline.edges[edge] = None

    @overload
    def __or__(self, transform: "Filter[T_co]") -> "PCollection[T_co]": ...

    @overload
    def __or__(self, transform: "Applied[PCollection[T_co], Out]") -> Out: ...

    def __or__(self, transform: Any) -> Any:
        """Apply a transform.

        Raises:
            PipelineError: It is no transform, or its name is taken.
        """
        return apply(transform, self)

    @overload
    def apply(self, label: str, transform: "Filter[T_co]") -> "PCollection[T_co]": ...

    @overload
    def apply(self, label: str, transform: "Applied[PCollection[T_co], Out]") -> Out: ...

    @overload
    def apply(self, transform: "Applied[PCollection[T_co], Out]", label: str = "") -> Out: ...

    def apply(self, *parts: Any, **named: Any) -> Any:
        """Apply a transform under a name; Scio's way to write ``|`` and ``>>``.

        Beam Python's order is taken too: ``apply(transform)``, ``apply(transform, label)``.
        """
        given = [*parts, *named.values()]
        label = next((it for it in given if isinstance(it, str)), "")
        transform: Any = next((it for it in given if not isinstance(it, str)), None)
        return apply(label >> transform if label and transform else transform, self)

    if not TYPE_CHECKING:  # a type checker knows that there is neither

        def __iter__(self) -> NoReturn:
            raise PipelineError(
                f"{self!r} has no elements before the pipeline runs, and none to iterate over; "
                "apply FlatMap(...) or Map(...) to it, or look at the result of run() with "
                "out_of(collection.edge)"
            )

        def should(self, *_matchers: Any) -> NoReturn:
            raise PipelineError(
                "assertions are made with beamlike.testing: write expect(collection).to(...), or "
                "assert_that(collection, equal_to([...]))"
            )

        should_not = should

    def __eq__(self, other: object) -> bool:
        """Whether both are the same output of a transform, windowed in the same way."""
        if not isinstance(other, PCollection):
            return NotImplemented
        return self.edge == other.edge and self.windowing == other.windowing

    def __hash__(self) -> int:
        return hash(self.edge)

    def __repr__(self) -> str:
        tag = f", output {self.edge.tag!r}" if self.edge.tag else ""
        return f"<PCollection of {self.edge.node.label!r}{tag}>"


def check_collection(given: Any, transform: PTransform[Any, Any]) -> str:
    """The full name of a transform that is being applied, if it was given one collection.

    Raises:
        PipelineError: It was given something else.
    """
    if isinstance(given, PCollection):
        return given.pipeline.label
    name = transform.label
    if isinstance(given, Mapping | tuple | list):
        raise PipelineError(
            f"{name!r} needs one collection, got {len(given)}; put them into one with Flatten(), "
            "or apply it to each"
        )
    full = getattr(given, "label", "") or name
    raise PipelineTypeError(
        f"{full!r} needs a PCollection as input. Got a PBegin/Pipeline instead. Start from a "
        f"collection, for example pipeline | Create(...) | {type(transform).__name__}(...)"
    )


def apply(transform: PTransform[Any, Any], given: Any) -> Any:
    """Apply a transform to a collection, to several, or to a pipeline.

    Raises:
        PipelineError: It is no transform, nothing is given, or what is given belongs to several
            pipelines.
    """
    if not isinstance(transform, PTransform):
        call = f"; write {transform.__name__}(...)" if isinstance(transform, type) else ""
        raise PipelineError(f"| needs a transform such as Map(f), got {transform!r}{call}")
    pipelines = list(dict.fromkeys(_pipelines_of(given, transform)))
    if not pipelines and getattr(transform, "pipeline", None) is not None:
        pipelines = [transform.pipeline]  # type: ignore[attr-defined]
    if len(pipelines) != 1:
        number = "no pipeline" if not pipelines else "several pipelines"
        raise PipelineError(
            f"{transform.label!r} was given collections of {number}; "
            "give it collections that one pipeline has"
        )
    return pipelines[0].applied(transform, given)


def _pipelines_of(given: Any, transform: PTransform[Any, Any]) -> Iterable["Pipeline"]:
    from beamlike.api.pipelines.pipeline import Pipeline

    if isinstance(given, Pipeline):
        yield given
    elif isinstance(given, PCollection):
        yield given.pipeline
    elif isinstance(given, Mapping):
        for each in given.values():
            yield from _pipelines_of(each, transform)
    elif isinstance(given, tuple | list):
        for each in given:
            yield from _pipelines_of(each, transform)
    elif given is None:
        raise TypeCheckError(
            f"{transform.label!r} was applied to the output of a transform that has no output; "
            "let its expand return a collection, or apply this one to what it reads"
        )
    else:
        raise PipelineTypeError(
            f"{transform.label!r} was given {given!r}, which is no "
            "collection; apply it to a PCollection, to several in a tuple, or to a Pipeline"
        )

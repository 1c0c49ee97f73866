"""Transforms of a pipeline that a test puts its own in place of.

    with run_with_overrides(TransformOverride.of("Look up", {1: "one", 2: "two"})) as sc:
        numbers = sc.parallelize([1, 2]).with_name("Look up").map(ask_a_server)
        expect(numbers).to(contain_in_any_order(["one", "two"]))

Source: Scio ``TransformOverride``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError

Makes = Callable[[Any], Any] | Mapping[Any, Any]


@attrs.frozen
class TransformOverride:
    """A transform by its full name, and what a test has in its place.

    Made by `of`, `of_iter`, `of_kv`, `of_iter_kv` and `of_source`. What a transform is made of has
    the names of those around it: ``"Outer/Inner"``. What is replaced is not applied at all, and so
    must make one collection.

    Source: Scio ``TransformOverride``.
    """

    name: str
    transform: PTransform[Any, Any]
    is_source: bool = False

    @staticmethod
    def of(name: str, makes: Makes, takes: type | None = None) -> "TransformOverride":
        """One element for each: ``of("Look up", {1: "one"})``, or a function.

        Args:
            name: The full name of the transform.
            makes: A mapping or a function of the element.
            takes: The class of elements, if it is to be checked.

        Raises:
            PipelineError: The name is no text, or there is neither a mapping nor a function.
        """
        return TransformOverride(_name(name), Map(_override("of", name, makes, takes)))

    @staticmethod
    def of_iter(name: str, makes: Makes, takes: type | None = None) -> "TransformOverride":
        """Any number of elements for each, as `of`; what is made is a list of them."""
        return TransformOverride(_name(name), FlatMap(_override("of_iter", name, makes, takes)))

    @staticmethod
    def of_kv(name: str, makes: Makes, takes: type | None = None) -> "TransformOverride":
        """A pair of each element and what is made of it, as `of`."""
        pair = _override("of_kv", name, makes, takes, lambda element, value: (element, value))
        return TransformOverride(_name(name), Map(pair))

    @staticmethod
    def of_iter_kv(name: str, makes: Makes, takes: type | None = None) -> "TransformOverride":
        """Pairs of each element and everything that is made of it, as `of_iter`."""
        pairs = _override("of_iter_kv", name, makes, takes, _paired_with_each)
        return TransformOverride(_name(name), FlatMap(pairs))

    @staticmethod
    def of_source(name: str, elements: Iterable[Any]) -> "TransformOverride":
        """These elements, in place of a transform that starts from nothing.

        Raises:
            PipelineError: The name is no text, or there are no elements to take.
        """
        return TransformOverride(_name(name), Create(elements), is_source=True)

    def in_place_of(self, full_name: str, given: Any) -> PTransform[Any, Any]:
        """What is applied in place of the transform that has this name.

        Raises:
            PipelineError: The transform starts from nothing and the override does not, or the
                other way round.
        """
        starts = isinstance(given, Pipeline)
        if starts != self.is_source:
            does, other = (
                ("starts from nothing", "TransformOverride.of_source(name, elements)")
                if starts
                else ("reads a collection", "TransformOverride.of(name, function)")
            )
            raise PipelineError(f"{full_name!r} {does}, and cannot be overridden so; write {other}")
        return self.transform


def _override(
    verb: str,
    name: str,
    makes: Makes,
    takes: type | None,
    shaped: Callable[[Any, Any], Any] = lambda _, value: value,
) -> Callable[[Any], Any]:
    """What a mapping or a function has for an element, as a function that is named for it."""
    if not isinstance(makes, Mapping) and not callable(makes):
        raise PipelineError(
            f"TransformOverride.{verb} needs a mapping or a function, got {makes!r}; write "
            f'TransformOverride.{verb}("name", lambda element: ...)'
        )

    def override(element: Any) -> Any:
        if takes is not None and not isinstance(element, takes):
            raise TypeError(f"the override of {name!r} takes {takes.__name__}, got {element!r}")
        if not isinstance(makes, Mapping):
            return shaped(element, makes(element))
        try:
            return shaped(element, makes[element])
        except KeyError:
            known = ", ".join(map(repr, makes)) or "nothing"
            raise LookupError(
                f"the override of {name!r} has nothing for {element!r}; it has something "
                f"for: {known}"
            ) from None

    override.__name__ = f"override of {name}"
    return override


def _paired_with_each(element: Any, values: Iterable[Any]) -> list[tuple[Any, Any]]:
    return [(element, value) for value in values]


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise PipelineError(f"TransformOverride needs the name of a transform, got {name!r}")
    return name

"""What a test puts in place of parts of a pipeline: inputs, outputs, caches and transforms.

    with run_with_overrides(TransformOverride.of("Look up", {1: "one", 2: "two"})) as sc:
        numbers = sc.parallelize([1, 2]).with_name("Look up").map(ask_a_server)
        expect(numbers).to(contain_in_any_order(["one", "two"]))

Source: Scio ``TestDataManager``, ``TransformOverride``.
"""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

import attrs

from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.job_io import Read, SaveAs
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.testing.pipelines.checks import Check, Checks, TestLine

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
        pairs = _override(
            "of_iter_kv", name, makes, takes, lambda element, values: [(element, v) for v in values]
        )
        return TransformOverride(_name(name), FlatMap(pairs))

    @staticmethod
    def of_source(name: str, elements: Iterable[Any]) -> "TransformOverride":
        """These elements, in place of a transform that starts from nothing.

        Raises:
            PipelineError: The name is no text, or there are no elements to take.
        """
        return TransformOverride(_name(name), Create(elements), is_source=True)

    def in_place_of(self, full_name: str, source: Any) -> PTransform[Any, Any]:
        """What is applied in place of the transform that has this name.

        Raises:
            PipelineError: The transform starts from nothing and the override does not, or the
                other way round.
        """
        starts = isinstance(source, Pipeline)
        if starts != self.is_source:
            does = "starts from nothing" if starts else "reads a collection"
            other = "of_source(name, elements)" if starts else "of(name, function)"
            raise PipelineError(
                f"{full_name!r} {does}, and cannot be overridden so; write "
                f"TransformOverride.{other}"
            )
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


def _name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise PipelineError(f"TransformOverride needs the name of a transform, got {name!r}")
    return name


_MOST_NAMES: Final = 12

Source = PTransform[Pipeline, PCollection[Any]]
Assertion = Callable[[PCollection[Any]], object]


@attrs.define
class _Defined:
    """What a test has of one kind for a job, by name, and what of it the job met."""

    does: str
    noun: str
    add: str
    things: Mapping[Any, Any]
    met: list[Any] = attrs.field(factory=list)

    def meet(self, name: Any) -> Any:
        """The thing of this name, once if it is not a cache."""
        if name not in self.things:
            names = ", ".join(map(repr, self.things)) or "none"
            raise PipelineError(
                f"the job {self.does} {self.noun} {name!r}, which the test does not have; its "
                f"{self.noun}s are: {names}; add {self.add.format(name)}"
            )
        if name in self.met and self.does != "takes":
            advice = "; use the collection twice" if self.does == "reads" else ""
            raise PipelineError(f"the job {self.does} {self.noun} {name!r} twice{advice}")
        self.met.append(name)
        return self.things[name]


class Wiring:
    """What a pipeline meets in a test, and what of it was met.

    Inputs, outputs and caches are those of a job; without them nothing of these is known. What is
    ``around`` a job that is part of a pipeline has overrides, which hold in the job as well.
    """

    def __init__(
        self,
        inputs: Mapping[str, Source] | None = None,
        outputs: Mapping[str, tuple[TestLine, Assertion]] | None = None,
        caches: Mapping[Any, Callable[[], Any]] | None = None,
        overrides: Iterable[TransformOverride] = (),
        around: "Wiring | None" = None,
    ) -> None:
        self._is_job = inputs is not None
        self._inputs = _Defined("reads", "input", ".input({!r}, [...])", inputs or {})
        self._outputs = _Defined("saves", "output", ".output({!r})(...)", outputs or {})
        self._caches = _Defined("takes", "dist cache", ".dist_cache({!r}, content)", caches or {})
        self._overrides = checked_overrides(overrides)
        self._around = around
        self._in_force: dict[str, TransformOverride] = checked_overrides(
            [*(() if around is None else around._in_force.values()), *self._overrides.values()]
        )
        self._seen: dict[str, None] = {}

    def in_place_of(
        self, transform: PTransform[Any, Any], full_name: str, source: Any
    ) -> PTransform[Any, Any]:
        """What is applied in place of a transform; the same one by default."""
        self.note_name(full_name)
        override = self._in_force.get(full_name)
        if self._is_job and isinstance(transform, Read):
            if override is None or transform.name in self._inputs.things:
                transform = self._inputs.meet(transform.name)
        elif self._is_job and isinstance(transform, SaveAs):
            if override is not None:
                raise PipelineError(
                    f"{full_name!r} is an output of the job, and cannot be overridden; say what "
                    f"must come there: .output({transform.name!r})(...)"
                )
            self._outputs.meet(transform.name)
            transform = _Kept(transform.name)
        if override is not None:
            return override.in_place_of(full_name, source)
        return transform

    def note_name(self, full_name: str) -> None:
        """Note that there is a transform of this name, also in what is around."""
        self._seen[full_name] = None
        if self._around is not None:
            self._around.note_name(full_name)

    def look_at(self, transform: PTransform[Any, Any], collection: Any, checks: Checks) -> None:
        """Assert of an output what the test asserts."""
        if not isinstance(transform, _Kept):
            return
        place, assertion = self._outputs.things[transform.name]
        before = len(checks)
        assertion(collection)
        if len(checks) == before:
            text = f"this asserts nothing of output {transform.name!r}; write expect(out).to(...)"
            checks.add([Check(place, lambda run: f"{text} in it")])

    def cache(self, key: Any) -> Callable[[], Any]:
        """What makes the content of a cache."""
        make: Callable[[], Any] = self._caches.meet(key)
        return make

    def check_that_all_was_met(self) -> None:
        """Check that the pipeline has everything that the test names."""
        missing = [
            f"the job never {defined.does} {defined.noun} {name!r}"
            for defined in (self._inputs, self._outputs, self._caches)
            for name in defined.things
            if name not in defined.met
        ]
        missing += [
            f"no transform has the name {name!r} of an override; {self._names_like(name)}"
            for name in self._overrides
            if name not in self._seen
        ]
        if missing:
            raise PipelineError("; ".join(missing))

    def _names_like(self, name: str) -> str:
        like = get_close_matches(name, self._seen, _MOST_NAMES)
        names = ", ".join(map(repr, like or [*self._seen][:_MOST_NAMES])) or "none"
        return f"names like it are: {names}" if like else f"the names are: {names}"


class _Kept(PTransform[PCollection[Any], PCollection[Any]]):
    """In place of a sink."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def expand(self, pcoll: PCollection[Any]) -> PCollection[Any]:
        return pcoll


def checked_overrides(overrides: Iterable[TransformOverride]) -> dict[str, TransformOverride]:
    """Overrides by the names of their transforms."""
    by_name: dict[str, TransformOverride] = {}
    for override in overrides:
        if not isinstance(override, TransformOverride):
            raise PipelineError(
                f'an override is a TransformOverride, such as TransformOverride.of("name", '
                f"function), got {override!r}"
            )
        if override.name in by_name:
            raise PipelineError(f"the transform {override.name!r} is overridden twice")
        by_name[override.name] = override
    return by_name

"""What a test puts in place of parts of a pipeline: inputs, outputs, caches and transforms.

Source: Scio ``TestDataManager``.
"""

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from beamlike.api.pipelines.named import Read, SaveAs
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.testing.pipelines.checks import Checks, Place
from beamlike.testing.pipelines.overrides import TransformOverride

_MOST_NAMES: Final = 12

Source = PTransform[Pipeline, PCollection[Any]]
Assertion = Callable[[PCollection[Any]], object]


class Wiring:
    """What a pipeline meets in a test, and what of it was met.

    Args:
        inputs: What is read under a name; None: inputs, outputs and caches are not known.
        outputs: What is asserted of what is saved under a name.
        caches: What a cache holds, by the file or the files that it is made of.
        overrides: What is applied in place of transforms.
        around: What else holds, for a job that is part of a pipeline: its overrides do as well.
    """

    def __init__(
        self,
        inputs: Mapping[str, Source] | None = None,
        outputs: Mapping[str, tuple[Place, Assertion]] | None = None,
        caches: Mapping[Any, Callable[[], Any]] | None = None,
        overrides: Iterable[TransformOverride] = (),
        around: "Wiring | None" = None,
    ) -> None:
        self._is_job = inputs is not None
        self._inputs, self._outputs = inputs or {}, outputs or {}
        self._caches = caches or {}
        self._overrides = checked_overrides(overrides)
        self._around = around
        self._in_force = self._overrides
        if around is not None:
            self._in_force = checked_overrides(
                [*around._in_force.values(), *self._overrides.values()]
            )
        self._read: list[str] = []
        self._saved: list[str] = []
        self._taken: set[Any] = set()
        self._seen: dict[str, None] = {}

    def in_place_of(
        self, transform: PTransform[Any, Any], full_name: str, given: Any
    ) -> PTransform[Any, Any]:
        """What is applied in place of a transform; the same one by default."""
        self._see(full_name)
        override = self._in_force.get(full_name)
        if self._is_job and isinstance(transform, Read):
            name, known = transform.name, self._inputs
            if override is None or name in known:
                _check_name("input", "reads", name, known, self._read)
                self._read.append(name)
            transform = known.get(name, transform)
        elif self._is_job and isinstance(transform, SaveAs):
            if override is not None:
                raise PipelineError(
                    f"{full_name!r} is an output of the job, and cannot be overridden; say what "
                    f"must come there: .output({transform.name!r})(...)"
                )
            _check_name("output", "saves", transform.name, self._outputs, self._saved)
            self._saved.append(transform.name)
            transform = _Kept(transform.name)
        if override is not None:
            return override.in_place_of(full_name, given)
        return transform

    def _see(self, full_name: str) -> None:
        self._seen[full_name] = None
        if self._around is not None:
            self._around._see(full_name)

    def look_at(self, transform: PTransform[Any, Any], made: Any, checks: Checks) -> None:
        """Assert of an output what the test asserts."""
        if not isinstance(transform, _Kept):
            return
        place, assertion = self._outputs[transform.name]
        before = len(checks)
        assertion(made)
        if len(checks) == before:
            text = f"this asserts nothing of output {transform.name!r}; write expect(out).to(...)"
            checks.add(place, lambda run: f"{text} in it")

    def cache(self, key: Any) -> Callable[[], Any]:
        """What makes the content of a cache."""
        if key not in self._caches:
            names = ", ".join(map(repr, self._caches)) or "none"
            raise PipelineError(
                f"the job takes dist cache {key!r}, which the test does not have; its dist caches "
                f"are: {names}; add .dist_cache({key!r}, content)"
            )
        self._taken.add(key)
        return self._caches[key]

    def check_that_all_was_met(self) -> None:
        """Check that the pipeline has everything that the test names.

        Raises:
            PipelineError: It has not.
        """
        known = (
            ("reads input", self._inputs, self._read),
            ("saves output", self._outputs, self._saved),
            ("takes dist cache", self._caches, self._taken),
        )
        missing = [
            f"the job never {what} {name!r}"
            for what, names, used in known
            for name in names
            if name not in used
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

    def expand(self, given: PCollection[Any]) -> PCollection[Any]:
        return given


def checked_overrides(overrides: Iterable[TransformOverride]) -> dict[str, TransformOverride]:
    """Overrides by the names of their transforms."""
    found: dict[str, TransformOverride] = {}
    for override in overrides:
        if not isinstance(override, TransformOverride):
            raise PipelineError(
                f'an override is a TransformOverride, such as TransformOverride.of("name", '
                f"function), got {override!r}"
            )
        if override.name in found:
            raise PipelineError(f"the transform {override.name!r} is overridden twice")
        found[override.name] = override
    return found


def _check_name(
    kind: str, verb: str, name: str, known: Mapping[str, object], used: list[str]
) -> None:
    if name not in known:
        names = ", ".join(map(repr, known)) or "none"
        add = f".input({name!r}, [...])" if kind == "input" else f".output({name!r})(...)"
        raise PipelineError(
            f"the job {verb} {kind} {name!r}, which the test does not have; its {kind}s are: "
            f"{names}; add {add}"
        )
    if name in used:
        more = "; use the collection twice" if kind == "input" else ""
        raise PipelineError(f"the job {verb} {kind} {name!r} twice{more}")

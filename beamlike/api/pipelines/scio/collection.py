"""The collection that has Scio's verbs as methods."""

from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar, overload

from beamlike.api.pipelines.pipeline import PCollection, as_class
from beamlike.api.pipelines.scio.batching import BatchingVerbs
from beamlike.api.pipelines.scio.by_key import ByKeyVerbs
from beamlike.api.pipelines.scio.elementwise import ElementVerbs
from beamlike.api.pipelines.scio.global_combines import OverallVerbs
from beamlike.api.pipelines.scio.hints import HintVerbs
from beamlike.api.pipelines.scio.joining import JoinVerbs
from beamlike.api.pipelines.scio.pairs import KeyedVerbs
from beamlike.api.pipelines.scio.sampling import SamplingVerbs
from beamlike.api.pipelines.scio.side_lookups import LookingVerbs
from beamlike.api.pipelines.scio.steps import K, V
from beamlike.api.pipelines.scio.timing import TimingVerbs
from beamlike.api.pipelines.transform import Applied, KeepsElements
from beamlike.api.pipelines.variables import Out
from beamlike.errors import PipelineError

_OUTER_JOINS: Final = ("left_outer_join", "right_outer_join", "full_outer_join")

INSTEAD: Final = {
    **{f"sparse_{join}": f"{join}(...)" for join in (*_OUTER_JOINS, "join", "intersect_by_key")},
    **{f"skewed_{join}": f"{join}(...)" for join in (*_OUTER_JOINS, "join")},
    "sparse_lookup": "cogroup(...), whose lists have what each side has for a key",
    "batch_byte_sized": "batch_weighted(..., len) for texts or bytes",
    "batch_byte_sized_by_key": "batch_weighted_by_key(..., len) for texts or bytes",
    "sample_byte_sized": "sample_weighted(..., len) for texts or bytes",
}
"""What to write for verbs of Scio's that are not here. A sparse join of Scio's looks elements up in
a Bloom filter before it groups them, and a skewed join spreads hot keys: joins here do neither, and
give the same elements. Elements have no size in bytes."""

T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


class SCollection(
    ElementVerbs[T_co],
    KeyedVerbs[T_co],
    TimingVerbs[T_co],
    ByKeyVerbs[T_co],
    OverallVerbs[T_co],
    JoinVerbs[T_co],
    LookingVerbs[T_co],
    SamplingVerbs[T_co],
    BatchingVerbs[T_co],
    HintVerbs[T_co],
    PCollection[T_co],
    Generic[T_co],
):
    """A collection with Scio's verbs: ``words.map(str.lower).count_by_value()``.

    A verb is Scio's of the same name in camel case, where nothing else is said: ``map_values`` is
    ``mapValues``.

    `ScioContext` makes them, and so does each verb, and each transform of Beam's that is applied
    to one. ``sc.wrap(collection)`` makes one of a collection of Beam's, `internal` the way back.
    """

    @property
    def internal(self) -> PCollection[T_co]:
        """The same collection without the verbs."""
        return as_class(self, PCollection)

    if TYPE_CHECKING:  # what a transform of Beam's makes of a collection with verbs has verbs

        @overload  # type: ignore[override] # a PCollection[U] is an Out, which mypy does not see
        def __or__(self, transform: KeepsElements[T_co]) -> "SCollection[T_co]": ...

        @overload
        def __or__(
            self, transform: Applied[PCollection[T_co], PCollection[U]]
        ) -> "SCollection[U]": ...

        @overload
        def __or__(self, transform: Applied[PCollection[T_co], Out]) -> Out: ...

        def __or__(self, transform: Any) -> Any: ...

    else:

        def should(self, *_matchers: Any) -> NoReturn:
            raise PipelineError(
                "assertions are made with beamlike.testing: write expect(collection).to(...), or "
                "assert_that(collection, equal_to([...]))"
            )

        should_not = should

        def __getattr__(self, name: str) -> NoReturn:
            if (verb := INSTEAD.get(name)) is not None:
                raise AttributeError(f"SCollection has no {name}; write {verb}")
            super().__getattr__(name)


Pairs = SCollection[tuple[K, V]]
"""A collection of pairs of key and value, with Scio's verbs."""

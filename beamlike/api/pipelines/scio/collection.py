"""The collection that has Scio's verbs as methods."""

from typing import Any, Final, Generic, NoReturn, TypeVar

from beamlike.api.pipelines.pipeline import PCollection, as_class
from beamlike.api.pipelines.scio import combines, elements, joins, lookups, pairs, windows
from beamlike.api.pipelines.scio.call import NamedNext, T_co
from beamlike.api.pipelines.scio.table import methods
from beamlike.errors import PipelineError

K = TypeVar("K")
V = TypeVar("V")

_OUTER_JOINS: Final = ("left_outer_join", "right_outer_join", "full_outer_join")

INSTEAD: Final = {
    **{f"sparse_{join}": f"{join}(...)" for join in (*_OUTER_JOINS, "join", "intersect_by_key")},
    **{f"skewed_{join}": f"{join}(...)" for join in (*_OUTER_JOINS, "join")},
    "sparse_lookup": "cogroup(...), whose lists have what each side has for a key",
    "batch_byte_sized": "batch_weighted(..., len) for texts or bytes",
    "batch_byte_sized_by_key": "batch_weighted_by_key(..., len) for texts or bytes",
    "union_all": "union(...), or ScioContext.union_all([...])",
    "sample_byte_sized": "sample(...) of a number of elements",
    "sample_weighted": "aggregate(...) with a combine function that adds up what elements cost",
    "hash_full_outer_join": "full_outer_join(...)",
}
"""What to write for verbs of Scio's that are not here. A sparse join of Scio's looks elements up in
a Bloom filter before it groups them, and a skewed join spreads hot keys: joins here do neither, and
give the same elements. Elements have no size in bytes."""

TABLES: Final = (elements, pairs, windows, combines, joins, lookups)
"""The modules that have tables of verbs."""


class SCollection(NamedNext[T_co], Generic[T_co]):
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


for _table in TABLES:
    for _verb, _method in methods(_table).items():
        setattr(SCollection, _verb, _method)
SCollection.group_with = SCollection.cogroup

Pairs = SCollection[tuple[K, V]]
"""A collection of pairs of key and value, with Scio's verbs."""

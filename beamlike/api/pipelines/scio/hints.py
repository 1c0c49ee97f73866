"""Verbs of Scio's that say how to compute something and not what: the results are the same.

Source: Scio ``PairSCollectionFunctions``, ``SCollectionWithFanout``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.groups import check_fanout
from beamlike.api.pipelines.scio.steps import Verbs, composed, full_name, here, with_next_fanout
from beamlike.errors import PipelineError

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")

_SKEWED: Final = (
    "hot_key_method",
    "hot_key_threshold",
    "hot_key_fanout",
    "cms",
    "cms_eps",
    "cms_delta",
    "cms_seed",
    "sample_fraction",
    "sample_with_replacement",
)
"""The other arguments of Scio's skewed joins."""


class HintVerbs(Verbs[T_co]):
    """What one may say to make Scio faster.

    A sparse join of Scio's looks elements up in a Bloom filter before it groups them, and a skewed
    join spreads hot keys. Joins here do neither and give the same elements: a hint that may be
    left out is warned of with an `UnusedHintWarning`.
    """

    def with_fanout(self, fanout: int) -> "SCollection[T_co]":
        """A copy of the collection: what the next verb makes of all elements is combined by so
        many tasks before it is combined by one.

        Raises:
            PipelineError: It is not a number of 1 or more; when a verb follows: elements cannot be
                combined before they are grouped.

        Source: Scio ``withFanout``.
        """
        check_fanout(fanout, "with_fanout")
        return with_next_fanout(self, fanout)

    def with_hot_key_fanout(
        self: "HintVerbs[tuple[K, V]]", fanout: int | Callable[[K], int]
    ) -> "SCollection[tuple[K, V]]":
        """A copy of the collection: what the next verb makes of the values of a key is combined by
        so many tasks before it is combined by one; a function says for each key how many.

        Raises:
            PipelineError: It is not a number of 1 or more and not a function; when a verb follows:
                elements cannot be combined before they are grouped.

        Source: Scio ``withHotKeyFanout``.
        """
        check_fanout(fanout, "with_hot_key_fanout")
        return with_next_fanout(self, fanout)

    def sparse_join(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]]",
        rhs_num_keys: int,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, tuple[V, W]]]":
        """As ``join``. Source: Scio ``sparseJoin``."""
        _warn_of_filter(self, "sparse_join", fp_prob=fp_prob)
        return here(self).join(rhs)

    def sparse_left_outer_join(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]]",
        rhs_num_keys: int,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, tuple[V, W | None]]]":
        """As ``left_outer_join``. Source: Scio ``sparseLeftOuterJoin``."""
        _warn_of_filter(self, "sparse_left_outer_join", fp_prob=fp_prob)
        return here(self).left_outer_join(rhs)

    def sparse_right_outer_join(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]]",
        rhs_num_keys: int,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, tuple[V | None, W]]]":
        """As ``right_outer_join``. Source: Scio ``sparseRightOuterJoin``."""
        _warn_of_filter(self, "sparse_right_outer_join", fp_prob=fp_prob)
        return here(self).right_outer_join(rhs)

    def sparse_full_outer_join(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]]",
        rhs_num_keys: int,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, tuple[V | None, W | None]]]":
        """As ``full_outer_join``. Source: Scio ``sparseFullOuterJoin``."""
        _warn_of_filter(self, "sparse_full_outer_join", fp_prob=fp_prob)
        return here(self).full_outer_join(rhs)

    def sparse_intersect_by_key(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[K]",
        rhs_num_keys: int,
        compute_exact: bool = True,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, V]]":
        """As ``intersect_by_key``; always exact. Source: Scio ``sparseIntersectByKey``."""
        exact = None if compute_exact else False
        _warn_of_filter(self, "sparse_intersect_by_key", compute_exact=exact, fp_prob=fp_prob)
        return here(self).intersect_by_key(rhs)

    def skewed_join(
        self: "HintVerbs[tuple[K, V]]", rhs: "SCollection[tuple[K, W]]", **hints: Any
    ) -> "SCollection[tuple[K, tuple[V, W]]]":
        """As ``join``. Source: Scio ``skewedJoin``."""
        _warn_of_hot_keys(self, "skewed_join", hints)
        return here(self).join(rhs)

    def skewed_left_outer_join(
        self: "HintVerbs[tuple[K, V]]", rhs: "SCollection[tuple[K, W]]", **hints: Any
    ) -> "SCollection[tuple[K, tuple[V, W | None]]]":
        """As ``left_outer_join``. Source: Scio ``skewedLeftOuterJoin``."""
        _warn_of_hot_keys(self, "skewed_left_outer_join", hints)
        return here(self).left_outer_join(rhs)

    def skewed_full_outer_join(
        self: "HintVerbs[tuple[K, V]]", rhs: "SCollection[tuple[K, W]]", **hints: Any
    ) -> "SCollection[tuple[K, tuple[V | None, W | None]]]":
        """As ``full_outer_join``. Source: Scio ``skewedFullOuterJoin``."""
        _warn_of_hot_keys(self, "skewed_full_outer_join", hints)
        return here(self).full_outer_join(rhs)

    def sparse_lookup(
        self: "HintVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]]",
        this_num_keys: int,
        fp_prob: float | None = None,
    ) -> "SCollection[tuple[K, tuple[V, list[W]]]]":
        """Each value with all values that the other side has for its key.

        Source: Scio ``sparseLookup``.
        """
        _warn_of_filter(self, "sparse_lookup", fp_prob=fp_prob)

        def pairs(
            found: tuple[K, tuple[list[V], list[W]]],
        ) -> list[tuple[K, tuple[V, list[W]]]]:
            key, (ours, theirs) = found
            return [(key, (value, theirs)) for value in ours]

        def build(
            given: "SCollection[tuple[K, V]]",
        ) -> "SCollection[tuple[K, tuple[V, list[W]]]]":
            return given.cogroup(rhs).flat_map(pairs)

        return composed(self, "sparse_lookup", build)


def _warn_of_filter(given: Verbs[Any], verb: str, **hints: object) -> None:
    for argument, value in hints.items():
        if value is not None:
            why = "no Bloom filter is built, and the result is exact"
            warn_of_hint(repr(full_name(given, verb)), argument, value, why)


def _warn_of_hot_keys(given: Verbs[Any], verb: str, hints: dict[str, Any]) -> None:
    name = repr(full_name(given, verb))
    unknown = sorted(set(hints) - set(_SKEWED))
    if unknown:
        raise PipelineError(
            f"{name} has no argument {unknown[0]!r}; what it takes, and does "
            f"not need, is {', '.join(_SKEWED)}"
        )
    for argument, value in hints.items():
        warn_of_hint(name, argument, value, "hot keys are not spread in a join")

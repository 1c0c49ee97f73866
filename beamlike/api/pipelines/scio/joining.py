"""Verbs that bring collections of pairs together by key, all of them grouped at once.

Both sides need compatible windows. Sessions of both merge together, triggers see the elements
of both, and each pane joins what that pane holds.

Source: Scio ``PairSCollectionFunctions`` and ``SCollection``.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from beamlike.api.pipelines.cogroups import CoGroupByKey
from beamlike.api.pipelines.scio.steps import K, Keyed, T, T_co, V, Verbs, W, X, Y, composed, other

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class JoinVerbs(Verbs[T_co]):
    """How one can bring collections together by key.

    What a side lacks is None in the outer joins. All raise `PipelineError` if the windows are
    not compatible, or cannot be grouped.
    """

    @overload
    def cogroup(
        self: Keyed[K, V], rhs: "Pairs[K, W]", /
    ) -> "Pairs[K, tuple[list[V], list[W]]]": ...

    @overload
    def cogroup(
        self: Keyed[K, V],
        rhs: "Pairs[K, W]",
        rhs2: "Pairs[K, X]",
        /,
    ) -> "Pairs[K, tuple[list[V], list[W], list[X]]]": ...

    @overload
    def cogroup(
        self: Keyed[K, V],
        rhs: "Pairs[K, W]",
        rhs2: "Pairs[K, X]",
        rhs3: "Pairs[K, Y]",
        /,
    ) -> "Pairs[K, tuple[list[V], list[W], list[X], list[Y]]]": ...

    @overload
    def cogroup(
        self: Keyed[K, Any], *others: "Pairs[K, Any]"
    ) -> "Pairs[K, tuple[list[Any], ...]]": ...

    def cogroup(self: Any, *others: Any) -> "Pairs[Any, Any]":
        """Each key with the values that each collection has for it, as a tuple of lists.

        Source: Scio ``cogroup``, ``MultiJoin.cogroup``.
        """
        return _cogrouped(self, "cogroup", others)

    group_with = cogroup
    """The same as `cogroup`. Source: Scio ``groupWith``."""

    def join(self: Keyed[K, V], rhs: "Pairs[K, W]") -> "Pairs[K, tuple[V, W]]":
        """Each pair of values that both sides have for a key."""
        return _joined(self, "join", rhs, _as_is, _as_is)

    def left_outer_join(self: Keyed[K, V], rhs: "Pairs[K, W]") -> "Pairs[K, tuple[V, W | None]]":
        """As `join`; a value that the right side has none for comes with None."""
        return _joined(self, "left_outer_join", rhs, _as_is, _or_none)

    def right_outer_join(self: Keyed[K, V], rhs: "Pairs[K, W]") -> "Pairs[K, tuple[V | None, W]]":
        """As `join`; a value that the left side has none for comes with None."""
        return _joined(self, "right_outer_join", rhs, _or_none, _as_is)

    def full_outer_join(
        self: Keyed[K, V], rhs: "Pairs[K, W]"
    ) -> "Pairs[K, tuple[V | None, W | None]]":
        """As `join`; a value that the other side has none for comes with None.

        An empty pane gives one pair of None and None, as in Scio.
        """
        return _joined(self, "full_outer_join", rhs, _or_none, _or_none)

    def intersect_by_key(self: Keyed[K, V], rhs: "SCollection[K]") -> "Pairs[K, V]":
        """The pairs whose key is an element of the other collection."""
        return _kept(self, "intersect_by_key", rhs, lambda there: bool(there))

    def subtract_by_key(self: Keyed[K, V], rhs: "SCollection[K]") -> "Pairs[K, V]":
        """The pairs whose key is no element of the other collection."""
        return _kept(self, "subtract_by_key", rhs, lambda there: not there)

    def intersection(self: Verbs[T], that: "SCollection[T]") -> "SCollection[T]":
        """The elements that both collections have, each once for each pane."""
        other(self, "intersection", that)

        def build(given: "SCollection[T]") -> "SCollection[T]":
            sides = given.map(_marked).cogroup(that.map(_marked))
            return sides.filter(lambda group: all(group[1])).keys()

        return composed(self, "intersection", build)

    def subtract(self: Verbs[T], that: "SCollection[T]") -> "SCollection[T]":
        """The elements that the other collection does not have."""
        other(self, "subtract", that)
        return composed(
            self, "subtract", lambda values: values.map(_marked).subtract_by_key(that).keys()
        )


def _marked(element: T) -> tuple[T, None]:
    return element, None


def _as_is(values: list[Any]) -> list[Any]:
    return values


def _or_none(values: list[Any]) -> list[Any]:
    return values or [None]


def _cogrouped(given: Verbs[Any], verb: str, others: Sequence[Any]) -> "SCollection[Any]":
    for rhs in others:
        other(given, verb, rhs)
    return composed(given, verb, lambda it: (it, *others) | "CoGroupByKey" >> CoGroupByKey())


def _joined(
    given: Verbs[Any],
    verb: str,
    rhs: Any,
    left: Callable[[list[Any]], list[Any]],
    right: Callable[[list[Any]], list[Any]],
) -> "SCollection[Any]":
    def pairs(found: tuple[Any, tuple[list[Any], list[Any]]]) -> Iterable[Any]:
        key, (ours, theirs) = found
        return [(key, (one, other)) for other in right(theirs) for one in left(ours)]

    def build(it: "SCollection[Any]") -> "SCollection[Any]":
        return _cogrouped(it, "cogroup", (rhs,)).flat_map(pairs)

    return composed(given, verb, build)


def _kept(
    given: Verbs[Any], verb: str, rhs: "SCollection[Any]", keep: Callable[[list[Any]], bool]
) -> "SCollection[Any]":
    keys: SCollection[Any] = other(given, verb, rhs)

    def pairs(found: tuple[Any, tuple[list[Any], list[Any]]]) -> Iterable[Any]:
        key, (ours, there) = found
        return [(key, value) for value in ours] if keep(there) else []

    def build(it: "SCollection[Any]") -> "SCollection[Any]":
        return _cogrouped(it, "cogroup", (keys.map(_marked),)).flat_map(pairs)

    return composed(given, verb, build)

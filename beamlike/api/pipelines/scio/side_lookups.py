"""Verbs that look into a small collection, or that put elements into several.

What is looked into is a side input: an element sees the latest pane of the side window that
holds the last instant of its own window. As in Beam it waits until there is one, or until the
trigger of the side input must have fired there, if that window has no elements: by the default
trigger at its end, by one that waits for elements or for processing time when the window has
expired. Nothing is grouped: elements keep their time, window and pane. Sessions cannot be looked
into.

Source: Scio ``SCollection``, ``PairHashSCollectionFunctions``.
"""

from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.pipeline import rewindowed
from beamlike.api.pipelines.scio.looked_up import looked_up, union
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideOutput,
)
from beamlike.api.pipelines.scio.steps import Verbs, composed, here, joined, other
from beamlike.api.pipelines.views import AsDict, AsList, AsMultiMap, AsSideInput, AsSingleton
from beamlike.errors import PipelineError

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import SCollection

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")
U = TypeVar("U")
K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")

_NO_DEFAULT: Final[Any] = object()


class AsSet(AsSideInput[T]):
    """The elements of a collection in a window as a set.

    Source: Scio ``asSetSingletonSideInput``.
    """

    def seen(self, items: list[Any], label: str) -> frozenset[Any]:
        return frozenset(items)


class AsOne(AsSingleton[T]):
    """The one element of a collection in each window, which must be there.

    Source: Beam Java ``View.asSingleton``.
    """

    demands = True


class AsUniqueDict(AsDict[T]):
    """The pairs of a collection in a window as a mapping. A key may come once only.

    Source: Beam Java ``View.asMap``.
    """

    demands = True


class LookingVerbs(Verbs[T_co]):
    """What one can do with side inputs and side outputs.

    All that look raise `PipelineError` if the windows of the side input merge, or if it has
    windows and the collection has none.
    """

    def as_singleton_side_input(
        self: "LookingVerbs[T]", default_value: T = _NO_DEFAULT
    ) -> "SideInput[T]":
        """The one element of each window, to be looked into by `with_side_inputs`.

        Reading it fails if there are several, or none and no default.

        Source: Scio ``asSingletonSideInput``.
        """
        if default_value is _NO_DEFAULT:
            return SideInput(AsOne(here(self)))
        return SideInput(AsSingleton(here(self), default_value))

    def as_list_side_input(self: "LookingVerbs[T]") -> "SideInput[list[T]]":
        """The elements of each window as a list. Source: Scio ``asListSideInput``."""
        return SideInput(AsList(here(self)))

    def as_iterable_side_input(self: "LookingVerbs[T]") -> "SideInput[Iterable[T]]":
        """The elements of each window, to go through. Source: Scio ``asIterableSideInput``."""
        return here(self).as_list_side_input()

    def as_set_singleton_side_input(self: "LookingVerbs[T]") -> "SideInput[Set[T]]":
        """The elements of each window as a set. Source: Scio ``asSetSingletonSideInput``."""
        return SideInput(AsSet(here(self)))

    def as_map_side_input(
        self: "LookingVerbs[tuple[K, V]]",
    ) -> "SideInput[Mapping[K, V]]":
        """The pairs of each window as a mapping; reading fails if a key is there twice.

        Source: Scio ``asMapSideInput``, ``asMapSingletonSideInput``.
        """
        return SideInput(AsUniqueDict(here(self)))

    def as_multi_map_side_input(
        self: "LookingVerbs[tuple[K, V]]",
    ) -> "SideInput[Mapping[K, list[V]]]":
        """The pairs of each window as a mapping to lists.

        Source: Scio ``asMultiMapSideInput``, ``asMultiMapSingletonSideInput``.
        """
        return SideInput(AsMultiMap(here(self)))

    def with_side_inputs(
        self: "LookingVerbs[T]", *sides: "SideInput[Any]"
    ) -> "SCollectionWithSideInput[T]":
        """The same elements, for functions that look into side inputs.

        An element sees the latest pane, also one that is empty: a side input with a trigger and
        discarding panes needs ``on_time_behavior="fire_if_non_empty"``, or nothing is left of it
        at the end of its window.

        Raises:
            PipelineError: One of them is no side input.

        Source: Scio ``withSideInputs``.
        """
        for side in sides:
            if not isinstance(side, SideInput):
                raise PipelineError(
                    f"with_side_inputs of {self!r} needs side inputs, got {side!r}; make one with "
                    "collection.as_list_side_input() or one of its siblings"
                )
        return SCollectionWithSideInput(here(self), sides)

    def reify_side_input_as_values(
        self: "LookingVerbs[T]", side: "SideInput[U]"
    ) -> "SCollection[tuple[T, U]]":
        """Each element with what it sees of a side input.

        Source: Scio ``reifySideInputAsValues``.
        """

        def build(given: "SCollection[T]") -> "SCollection[tuple[T, U]]":
            seeing = given.with_side_inputs(side)
            return seeing.map(lambda it, context: (it, context(side))).to_scollection()

        return composed(self, "reify_side_input_as_values", build)

    def reify_as_list_in_global_window(self: "LookingVerbs[T]") -> "SCollection[list[T]]":
        """All elements of the global window as one list, an empty one of none.

        Source: Scio ``reifyAsListInGlobalWindow``.
        """
        verb = "reify_as_list_in_global_window"
        return _reified(self, verb, lambda it: it.as_list_side_input())

    def reify_as_iterable_in_global_window(self: "LookingVerbs[T]") -> "SCollection[Iterable[T]]":
        """The same as a list. Source: Scio ``reifyAsIterableInGlobalWindow``."""
        verb = "reify_as_iterable_in_global_window"
        return _reified(self, verb, lambda it: it.as_iterable_side_input())

    def reify_as_map_in_global_window(
        self: "LookingVerbs[tuple[K, V]]",
    ) -> "SCollection[Mapping[K, V]]":
        """All pairs of the global window as one mapping; it fails if a key is there twice.

        Source: Scio ``reifyAsMapInGlobalWindow``.
        """
        verb = "reify_as_map_in_global_window"
        return _reified(self, verb, lambda it: it.as_map_side_input())

    def reify_as_multi_map_in_global_window(
        self: "LookingVerbs[tuple[K, V]]",
    ) -> "SCollection[Mapping[K, list[V]]]":
        """All pairs of the global window as one mapping to lists.

        Source: Scio ``reifyAsMultiMapInGlobalWindow``.
        """
        verb = "reify_as_multi_map_in_global_window"
        return _reified(self, verb, lambda it: it.as_multi_map_side_input())

    def with_side_outputs(
        self: "LookingVerbs[T]", *sides: "SideOutput[Any]"
    ) -> "SCollectionWithSideOutput[T]":
        """The same elements, for functions with more than one output.

        Raises:
            PipelineError: One of them is no side output.

        Source: Scio ``withSideOutputs``.
        """
        for side in sides:
            if not isinstance(side, SideOutput):
                raise PipelineError(
                    f"with_side_outputs of {self!r} needs side outputs, got {side!r}; write "
                    'SideOutput("name")'
                )
        return SCollectionWithSideOutput(here(self), sides)

    def cross(self: "LookingVerbs[T]", that: "SCollection[U]") -> "SCollection[tuple[T, U]]":
        """Each element with each of a small collection. Source: Scio ``cross``."""
        small: SCollection[U] = other(self, "cross", that)

        def build(given: "SCollection[T]") -> "SCollection[tuple[T, U]]":
            side = small.as_list_side_input()
            seeing = given.with_side_inputs(side)
            return seeing.flat_map(
                lambda it, context: [(it, other) for other in context(side)]
            ).to_scollection()

        return composed(self, "cross", build)

    def hash_lookup(
        self: "LookingVerbs[T]", that: "SCollection[tuple[T, V]]"
    ) -> "SCollection[tuple[T, list[V]]]":
        """Each element with the values that a small collection has under it.

        Source: Scio ``hashLookup``.
        """
        small: SCollection[tuple[T, V]] = other(self, "hash_lookup", that)

        def build(given: "SCollection[T]") -> "SCollection[tuple[T, list[V]]]":
            side = small.as_multi_map_side_input()
            seeing = given.with_side_inputs(side)
            return seeing.map(lambda it, context: (it, context(side).get(it, []))).to_scollection()

        return composed(self, "hash_lookup", build)

    def hash_filter(
        self: "LookingVerbs[T]", that: "SCollection[T] | SideInput[Set[T]]"
    ) -> "SCollection[T]":
        """The elements that a small collection has too. Source: Scio ``hashFilter``."""

        def build(given: "SCollection[T]") -> "SCollection[T]":
            side = _set(given, that)
            seeing = given.with_side_inputs(side)
            return seeing.filter(lambda it, context: it in context(side)).to_scollection()

        return composed(self, "hash_filter", build)

    def hash_join(
        self: "LookingVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]] | SideInput[Mapping[K, list[W]]]",
    ) -> "SCollection[tuple[K, tuple[V, W]]]":
        """Each value with each that a small collection has for its key.

        Source: Scio ``hashJoin``.
        """

        def build(given: "SCollection[tuple[K, V]]") -> "SCollection[tuple[K, tuple[V, W]]]":
            side = _multi_map(given, rhs)
            return (
                given.with_side_inputs(side)
                .flat_map(
                    lambda it, context: [
                        (it[0], (it[1], other)) for other in context(side).get(it[0], [])
                    ]
                )
                .to_scollection()
            )

        return composed(self, "hash_join", build)

    def hash_left_outer_join(
        self: "LookingVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]] | SideInput[Mapping[K, list[W]]]",
    ) -> "SCollection[tuple[K, tuple[V, W | None]]]":
        """As `hash_join`; a value whose key the other side does not have comes with None.

        Source: Scio ``hashLeftOuterJoin``.
        """

        def build(
            given: "SCollection[tuple[K, V]]",
        ) -> "SCollection[tuple[K, tuple[V, W | None]]]":
            side = _multi_map(given, rhs)
            return (
                given.with_side_inputs(side)
                .flat_map(
                    lambda it, context: [
                        (it[0], (it[1], other)) for other in context(side).get(it[0], [None])
                    ]
                )
                .to_scollection()
            )

        return composed(self, "hash_left_outer_join", build)

    def hash_full_outer_join(
        self: "LookingVerbs[tuple[K, V]]",
        rhs: "SCollection[tuple[K, W]] | SideInput[Mapping[K, list[W]]]",
    ) -> "SCollection[tuple[K, tuple[V | None, W | None]]]":
        """As `hash_left_outer_join`; what no element has looked up comes with None as well.

        That is known only when all elements of the window have been seen: it comes out with the
        panes of a grouping, in the windows of this side. Each pane has all that no element has
        looked up so far. Where both sides have equal windows, the elements of one are enough;
        where they differ, a window without elements on this side says nothing of the other.

        Source: Scio ``hashFullOuterJoin``.
        """

        def build(
            given: "SCollection[tuple[K, V]]",
        ) -> "SCollection[tuple[K, tuple[V | None, W | None]]]":
            side = _multi_map(given, rhs)
            ours: SCollection[Any] = here(given).hash_left_outer_join(side)
            nothing: frozenset[Any] = frozenset()
            known = looked_up(given, side).aggregate(nothing, union, union)
            theirs: SCollection[Any] = (
                known.with_side_inputs(side)
                .flat_map(
                    lambda keys, context: [
                        (key, (None, other))
                        for key, values in context(side).items()
                        if key not in keys
                        for other in values
                    ]
                )
                .to_scollection()
            )
            return joined([ours, cast(Verbs[Any], rewindowed(theirs, ours.windowing))], "union")

        return composed(self, "hash_full_outer_join", build)

    def hash_intersect_by_key(
        self: "LookingVerbs[tuple[K, V]]", rhs: "SCollection[K] | SideInput[Set[K]]"
    ) -> "SCollection[tuple[K, V]]":
        """The pairs whose key a small collection has. Source: Scio ``hashIntersectByKey``."""

        def build(given: "SCollection[tuple[K, V]]") -> "SCollection[tuple[K, V]]":
            side = _set(given, rhs)
            seeing = given.with_side_inputs(side)
            return seeing.filter(lambda it, context: it[0] in context(side)).to_scollection()

        return composed(self, "hash_intersect_by_key", build)

    def hash_subtract_by_key(
        self: "LookingVerbs[tuple[K, V]]", rhs: "SCollection[K] | SideInput[Set[K]]"
    ) -> "SCollection[tuple[K, V]]":
        """The pairs whose key a small collection has not. Source: Scio ``hashSubtractByKey``."""

        def build(given: "SCollection[tuple[K, V]]") -> "SCollection[tuple[K, V]]":
            side = _set(given, rhs)
            seeing = given.with_side_inputs(side)
            return seeing.filter(lambda it, context: it[0] not in context(side)).to_scollection()

        return composed(self, "hash_subtract_by_key", build)


def _reified(
    given: Verbs[T], verb: str, side: "Callable[[SCollection[T]], SideInput[U]]"
) -> "SCollection[U]":
    def build(it: "SCollection[T]") -> "SCollection[U]":
        once = cast("SCollection[None]", it.pipeline | "Once" >> Create([None]))
        return once.reify_side_input_as_values(side(it.with_global_window())).values()

    return composed(given, verb, build)


def _multi_map(
    given: Verbs[Any], side: "SCollection[tuple[K, W]] | SideInput[Mapping[K, list[W]]]"
) -> "SideInput[Mapping[K, list[W]]]":
    if isinstance(side, Verbs):
        return here(side).as_multi_map_side_input()
    return _checked(given, side)


def _set(given: Verbs[Any], side: "SCollection[K] | SideInput[Set[K]]") -> "SideInput[Set[K]]":
    if isinstance(side, Verbs):
        return here(side).as_set_singleton_side_input()
    return _checked(given, side)


def _checked(given: Verbs[Any], side: Any) -> "SideInput[Any]":
    if not isinstance(side, SideInput):
        raise PipelineError(
            f"{here(given).pipeline.label!r} needs another collection or a side input, got {side!r}"
        )
    return side

"""Verbs that look into a small collection, or that put elements into several.

What is looked into is a side input: an element sees the latest pane of the side window that
holds the last instant of its own window. As in Beam it waits until there is one, or until the
trigger of the side input must have fired there, if that window has no elements: by the default
trigger at its end, by one that waits for elements or for processing time when the window has
expired. Nothing is grouped: elements keep their time, window and pane. Sessions cannot be looked
into.

Source: Scio ``SCollection``, ``PairHashSCollectionFunctions``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.pipeline import rewindowed
from beamlike.api.pipelines.scio.looked_up import looked_up, union
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideOutput,
)
from beamlike.api.pipelines.scio.steps import (
    K,
    Keyed,
    T,
    T_co,
    U,
    V,
    Verbs,
    W,
    composed,
    here,
    joined,
    other,
)
from beamlike.api.pipelines.views import AsDict, AsList, AsMultiMap, AsSideInput, AsSingleton
from beamlike.errors import PipelineError

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


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

    def as_singleton_side_input(self: Verbs[T], default_value: T = _NO_DEFAULT) -> "SideInput[T]":
        """The one element of each window, to be looked into by `with_side_inputs`.

        Reading it fails if there are several, or none and no default.
        """
        if default_value is _NO_DEFAULT:
            return SideInput(AsOne(here(self)))
        return SideInput(AsSingleton(here(self), default_value))

    def as_list_side_input(self: Verbs[T]) -> "SideInput[list[T]]":
        """The elements of each window as a list."""
        return SideInput(AsList(here(self)))

    def as_iterable_side_input(self: Verbs[T]) -> "SideInput[Iterable[T]]":
        """The elements of each window, to go through."""
        return here(self).as_list_side_input()

    def as_set_singleton_side_input(self: Verbs[T]) -> "SideInput[Set[T]]":
        """The elements of each window as a set."""
        return SideInput(AsSet(here(self)))

    def as_map_side_input(self: Keyed[K, V]) -> "SideInput[Mapping[K, V]]":
        """The pairs of each window as a mapping; reading fails if a key is there twice.

        Source: Scio ``asMapSideInput``, ``asMapSingletonSideInput``.
        """
        return SideInput(AsUniqueDict(here(self)))

    def as_multi_map_side_input(self: Keyed[K, V]) -> "SideInput[Mapping[K, list[V]]]":
        """The pairs of each window as a mapping to lists.

        Source: Scio ``asMultiMapSideInput``, ``asMultiMapSingletonSideInput``.
        """
        return SideInput(AsMultiMap(here(self)))

    def with_side_inputs(self: Verbs[T], *sides: "SideInput[Any]") -> "SCollectionWithSideInput[T]":
        """The same elements, for functions that look into side inputs.

        An element sees the latest pane, also one that is empty: a side input with a trigger and
        discarding panes needs ``on_time_behavior="fire_if_non_empty"``, or nothing is left of it
        at the end of its window.

        Raises:
            PipelineError: One of them is no side input.
        """
        for side in sides:
            if not isinstance(side, SideInput):
                raise PipelineError(
                    f"with_side_inputs of {self!r} needs side inputs, got {side!r}; make one with "
                    "collection.as_list_side_input() or one of its siblings"
                )
        return SCollectionWithSideInput(here(self), sides)

    def reify_side_input_as_values(self: Verbs[T], side: "SideInput[U]") -> "Pairs[T, U]":
        """Each element with what it sees of a side input."""

        def build(given: "SCollection[T]") -> "Pairs[T, U]":
            seeing = given.with_side_inputs(side)
            return seeing.map(lambda it, context: (it, context(side))).to_scollection()

        return composed(self, "reify_side_input_as_values", build)

    def reify_as_list_in_global_window(self: Verbs[T]) -> "SCollection[list[T]]":
        """All elements of the global window as one list, an empty one of none."""
        return _reified(self, "list")

    def reify_as_iterable_in_global_window(self: Verbs[T]) -> "SCollection[Iterable[T]]":
        """All elements of the global window as one list, an empty one of none."""
        return _reified(self, "iterable")

    def reify_as_map_in_global_window(self: Keyed[K, V]) -> "SCollection[Mapping[K, V]]":
        """All pairs of the global window as one mapping; it fails if a key is there twice."""
        return _reified(self, "map")

    def reify_as_multi_map_in_global_window(
        self: Keyed[K, V],
    ) -> "SCollection[Mapping[K, list[V]]]":
        """All pairs of the global window as one mapping to lists."""
        return _reified(self, "multi_map")

    def with_side_outputs(
        self: Verbs[T], *sides: "SideOutput[Any]"
    ) -> "SCollectionWithSideOutput[T]":
        """The same elements, for functions with more than one output.

        Raises:
            PipelineError: One of them is no side output.
        """
        for side in sides:
            if not isinstance(side, SideOutput):
                raise PipelineError(
                    f"with_side_outputs of {self!r} needs side outputs, got {side!r}; write "
                    'SideOutput("name")'
                )
        return SCollectionWithSideOutput(here(self), sides)

    def cross(self: Verbs[T], that: "SCollection[U]") -> "Pairs[T, U]":
        """Each element with each of a small collection."""
        other(self, "cross", that)
        return _look_up(
            self,
            "cross",
            that,
            "list",
            lambda element, small: [(element, each) for each in small],
        )

    def hash_lookup(self: Verbs[T], that: "Pairs[T, V]") -> "Pairs[T, list[V]]":
        """Each element with the values that a small collection has under it."""
        other(self, "hash_lookup", that)
        return _look_up(
            self,
            "hash_lookup",
            that,
            "multi_map",
            lambda element, small: (element, small.get(element, [])),
            by="map",
        )

    def hash_filter(self: Verbs[T], that: "SCollection[T] | SideInput[Set[T]]") -> "SCollection[T]":
        """The elements that a small collection has too."""
        return _look_up(
            self,
            "hash_filter",
            that,
            "set_singleton",
            lambda element, small: element in small,
            by="filter",
        )

    def hash_join(
        self: Keyed[K, V], rhs: "Pairs[K, W] | SideInput[Mapping[K, list[W]]]"
    ) -> "Pairs[K, tuple[V, W]]":
        """Each value with each that a small collection has for its key."""
        return _look_up(self, "hash_join", rhs, "multi_map", partial(_joined, ()))

    def hash_left_outer_join(
        self: Keyed[K, V], rhs: "Pairs[K, W] | SideInput[Mapping[K, list[W]]]"
    ) -> "Pairs[K, tuple[V, W | None]]":
        """As `hash_join`; a value whose key the other side does not have comes with None."""
        return _look_up(self, "hash_left_outer_join", rhs, "multi_map", partial(_joined, (None,)))

    def hash_full_outer_join(
        self: Keyed[K, V], rhs: "Pairs[K, W] | SideInput[Mapping[K, list[W]]]"
    ) -> "Pairs[K, tuple[V | None, W | None]]":
        """As `hash_left_outer_join`; what no element has looked up comes with None as well.

        That is known only when all elements of the window have been seen: it comes out with the
        panes of a grouping, in the windows of this side. Each pane has all that no element has
        looked up so far. Where both sides have equal windows, the elements of one are enough;
        where they differ, a window without elements on this side says nothing of the other.
        """

        def rest(
            looked_up_keys: frozenset[K], small: Mapping[K, list[W]]
        ) -> list[tuple[K, tuple[None, W]]]:
            unseen = (key for key in small if key not in looked_up_keys)
            return [(key, (None, value)) for key in unseen for value in small[key]]

        def build(pcoll: "Pairs[K, V]") -> "Pairs[K, tuple[V | None, W | None]]":
            side = _side_input(pcoll, rhs, "multi_map")
            left: SCollection[Any] = here(pcoll).hash_left_outer_join(side)
            nothing: frozenset[Any] = frozenset()
            known = looked_up(pcoll, side).aggregate(nothing, union, union)
            right = known.with_side_inputs(side).flat_map(
                lambda keys, context: rest(keys, context(side))
            )
            in_windows = rewindowed(right.to_scollection(), left.windowing)
            return joined([left, cast(Verbs[Any], in_windows)], "union")

        return composed(self, "hash_full_outer_join", build)

    def hash_intersect_by_key(
        self: Keyed[K, V], rhs: "SCollection[K] | SideInput[Set[K]]"
    ) -> "Pairs[K, V]":
        """The pairs whose key a small collection has."""
        return _look_up(
            self,
            "hash_intersect_by_key",
            rhs,
            "set_singleton",
            lambda pair, keys: pair[0] in keys,
            by="filter",
        )

    def hash_subtract_by_key(
        self: Keyed[K, V], rhs: "SCollection[K] | SideInput[Set[K]]"
    ) -> "Pairs[K, V]":
        """The pairs whose key a small collection has not."""
        return _look_up(
            self,
            "hash_subtract_by_key",
            rhs,
            "set_singleton",
            lambda pair, keys: pair[0] not in keys,
            by="filter",
        )


View = Literal["list", "iterable", "set_singleton", "map", "multi_map"]
"""``as_<view>_side_input`` makes a side input of a collection."""


def _side_input(pcoll: Verbs[Any], small: Any, view: View) -> "SideInput[Any]":
    """The small collection as this view, unless it is a side input already."""
    if isinstance(small, Verbs):
        side_input: SideInput[Any] = getattr(small, f"as_{view}_side_input")()
        return side_input
    if not isinstance(small, SideInput):
        label = here(pcoll).pipeline.label
        raise PipelineError(f"{label!r} needs another collection or a side input, got {small!r}")
    return small


def _look_up(
    pcoll: Verbs[Any],
    verb: str,
    small: Any,
    view: View,
    look: Callable[[Any, Any], Any],
    by: Literal["flat_map", "map", "filter"] = "flat_map",
) -> "SCollection[Any]":
    """What a function makes of each element and the contents of a small collection."""

    def build(inside: "SCollection[Any]") -> "SCollection[Any]":
        side = _side_input(inside, small, view)
        apply = getattr(inside.with_side_inputs(side), by)
        seen: SCollection[Any] = apply(
            lambda element, context: look(element, context(side))
        ).to_scollection()
        return seen

    return composed(pcoll, verb, build)


def _joined(missing: Sequence[None], pair: tuple[Any, Any], small: Mapping[Any, Any]) -> list[Any]:
    key, value = pair
    return [(key, (value, other_value)) for other_value in small.get(key, missing)]


def _reified(pcoll: Verbs[Any], view: View) -> "SCollection[Any]":
    def build(inside: "SCollection[Any]") -> "SCollection[Any]":
        once = cast("SCollection[None]", inside.pipeline | "Once" >> Create([None]))
        side = _side_input(inside, inside.with_global_window(), view)
        return once.reify_side_input_as_values(side).values()

    return composed(pcoll, f"reify_as_{view}_in_global_window", build)

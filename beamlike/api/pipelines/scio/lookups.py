"""Verbs that look into a small collection, or that put elements into several.

What is looked into is a side input: an element sees the latest pane of the side window that
holds the last instant of its own window. As in Beam it waits until there is one, or until the
trigger of the side input must have fired there, if that window has no elements: by the default
trigger at its end, by one that waits for elements or for processing time when the window has
expired. Nothing is grouped: elements keep their time, window and pane. Sessions cannot be looked
into. All that look raise `PipelineError` if the windows of the side input merge, or if it has
windows and the collection has none.

Source: Scio ``SCollection``, ``PairHashSCollectionFunctions``.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from beamlike.api.pipelines.elements import Create
from beamlike.api.pipelines.scio.call import Call, NamedNext, composite
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideOutput,
)
from beamlike.api.pipelines.variables import T
from beamlike.api.pipelines.views import AsDict, AsList, AsMultiMap, AsSideInput, AsSingleton
from beamlike.errors import PipelineError

VERBS: Final = """
of SCollection[T]
as_singleton_side_input(default_value: T = NO_DEFAULT) -> SideInput[T]
    The one element of each window, to be looked into by `with_side_inputs`.

    Reading it fails if there are several, or none and no default.
as_list_side_input() -> SideInput[list[T]]
    The elements of each window as a list.
as_iterable_side_input() -> SideInput[Iterable[T]]
    The elements of each window, to go through.
as_set_singleton_side_input() -> SideInput[Set[T]]
    The elements of each window as a set.
with_side_inputs(*sides: SideInput[Any]) -> SCollectionWithSideInput[T]
    The same elements, for functions that look into side inputs.

    An element sees the latest pane, also one that is empty: a side input with a trigger and
    discarding panes needs ``on_time_behavior="fire_if_non_empty"``, or nothing is left of it at the
    end of its window.

    Raises:
        PipelineError: One of them is not a side input.
with_side_outputs(*sides: SideOutput[Any]) -> SCollectionWithSideOutput[T]
    The same elements, for functions with more than one output.

    Raises:
        PipelineError: One of them is not a side output.
reify_side_input_as_values(side: SideInput[U]) -> Pairs[T, U]
    Each element with what it sees of a side input.
reify_as_list_in_global_window() -> SCollection[list[T]]
    All elements of the global window as one list, an empty one of none.
reify_as_iterable_in_global_window() -> SCollection[Iterable[T]]
    All elements of the global window as one list, an empty one of none.
cross(that: SCollection[U]) -> Pairs[T, U]
    Each element with each of a small collection.
hash_lookup(that: Pairs[T, V]) -> Pairs[T, list[V]]
    Each element with the values that a small collection has under it.
hash_filter(that: SCollection[T] | SideInput[Set[T]]) -> SCollection[T]
    The elements that a small collection has too.
of Pairs[K, V]
as_map_side_input() -> SideInput[Mapping[K, V]]
    The pairs of each window as a mapping; reading fails if a key is there twice.

    Source: Scio ``asMapSideInput``, ``asMapSingletonSideInput``.
as_multi_map_side_input() -> SideInput[Mapping[K, list[V]]]
    The pairs of each window as a mapping to lists.

    Source: Scio ``asMultiMapSideInput``, ``asMultiMapSingletonSideInput``.
reify_as_map_in_global_window() -> SCollection[Mapping[K, V]]
    All pairs of the global window as one mapping; it fails if a key is there twice.
reify_as_multi_map_in_global_window() -> SCollection[Mapping[K, list[V]]]
    All pairs of the global window as one mapping to lists.
hash_join(rhs: Pairs[K, W] | SideInput[Mapping[K, list[W]]]) -> Pairs[K, tuple[V, W]]
    Each value with each that a small collection has for its key.
hash_left_outer_join(rhs: Pairs[K, W] | SideInput[Mapping[K, list[W]]])
        -> Pairs[K, tuple[V, W | None]]
    Values as of `hash_join`; one whose key the other side does not have comes with None.
hash_intersect_by_key(rhs: SCollection[K] | SideInput[Set[K]]) -> Pairs[K, V]
    The pairs whose key a small collection has.
hash_subtract_by_key(rhs: SCollection[K] | SideInput[Set[K]]) -> Pairs[K, V]
    The pairs whose key a small collection has not.
"""

NO_DEFAULT: Final[Any] = object()


class AsSet(AsSideInput[T]):
    """The elements of a collection in a window as a set.

    Source: Scio ``asSetSingletonSideInput``.
    """

    def build_view(self, items: list[Any], label: str) -> frozenset[Any]:
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


def _as_singleton_side_input(call: Call, default: Any) -> SideInput[Any]:
    if default is NO_DEFAULT:
        return SideInput(AsOne(call.collection))
    return SideInput(AsSingleton(call.collection, default))


def _with_side_inputs(call: Call, *sides: Any) -> SCollectionWithSideInput[Any]:
    make = "make one with collection.as_list_side_input() or one of its siblings"
    _check_sides(call, sides, SideInput, "side inputs", make)
    return SCollectionWithSideInput(call.collection, sides)


def _with_side_outputs(call: Call, *sides: Any) -> SCollectionWithSideOutput[Any]:
    _check_sides(call, sides, SideOutput, "side outputs", 'write SideOutput("name")')
    return SCollectionWithSideOutput(call.collection, sides)


def _check_sides(call: Call, sides: Iterable[Any], cls: type, nouns: str, hint: str) -> None:
    for side in sides:
        if not isinstance(side, cls):
            raise PipelineError(
                f"{call.verb} of {call.collection!r} needs {nouns}, got {side!r}; {hint}"
            )


def _reify_all(view: str) -> Callable[[Call], Any]:
    """All elements of the global window as one value of this view."""

    def build(elements: Any) -> Any:
        once = elements.pipeline | "Once" >> Create([None])
        side = _side_input(elements, elements.with_global_window(), view)
        return once.reify_side_input_as_values(side).values()

    return composite(build)


def _side_input(elements: Any, small: Any, view: str) -> SideInput[Any]:
    """The small collection as this view, unless it is a side input already."""
    if isinstance(small, NamedNext):
        side_input: SideInput[Any] = getattr(small, f"as_{view}_side_input")()
        return side_input
    if not isinstance(small, SideInput):
        label = elements.pipeline.label
        raise PipelineError(f"{label!r} needs another collection or a side input, got {small!r}")
    return small


def _looking(
    view: str,
    look: Callable[[Any, Any], Any],
    verb: str = "flat_map",
    *,
    takes_side_inputs: bool = True,
) -> Callable[[Call, Any], Any]:
    """A verb for elements and the contents of a small collection, which ``as_<view>_side_input``
    makes; ``look`` is given both, and ``verb`` says what is made of its result."""

    def transform(call: Call, small: Any) -> Any:
        if not takes_side_inputs:
            call.other(small)

        def build(elements: Any) -> Any:
            side = _side_input(elements, small, view)
            apply = getattr(elements.with_side_inputs(side), verb)
            return apply(lambda element, context: look(element, context(side))).to_scollection()

        return call.composed(build)

    return transform


def _joined(
    missing: tuple[None, ...], pair: tuple[Any, Any], small: Mapping[Any, Any]
) -> list[Any]:
    key, value = pair
    return [(key, (value, other_value)) for other_value in small.get(key, missing)]


TRANSFORMS: Final = {
    "as_list_side_input": lambda call: SideInput(AsList(call.collection)),
    "as_iterable_side_input": lambda call: SideInput(AsList(call.collection)),
    "as_set_singleton_side_input": lambda call: SideInput(AsSet(call.collection)),
    "reify_side_input_as_values": composite(
        lambda elements, side: (
            elements.with_side_inputs(side)
            .map(lambda element, context: (element, context(side)))
            .to_scollection()
        )
    ),
    "reify_as_list_in_global_window": _reify_all("list"),
    "reify_as_iterable_in_global_window": _reify_all("iterable"),
    "cross": _looking(
        "list",
        lambda element, small: [(element, other) for other in small],
        takes_side_inputs=False,
    ),
    "hash_lookup": _looking(
        "multi_map",
        lambda element, small: (element, small.get(element, [])),
        "map",
        takes_side_inputs=False,
    ),
    "hash_filter": _looking("set_singleton", lambda element, small: element in small, "filter"),
    "as_map_side_input": lambda call: SideInput(AsUniqueDict(call.collection)),
    "as_multi_map_side_input": lambda call: SideInput(AsMultiMap(call.collection)),
    "reify_as_map_in_global_window": _reify_all("map"),
    "reify_as_multi_map_in_global_window": _reify_all("multi_map"),
    "hash_join": _looking("multi_map", partial(_joined, ())),
    "hash_left_outer_join": _looking("multi_map", partial(_joined, (None,))),
    "hash_intersect_by_key": _looking(
        "set_singleton", lambda pair, keys: pair[0] in keys, "filter"
    ),
    "hash_subtract_by_key": _looking(
        "set_singleton", lambda pair, keys: pair[0] not in keys, "filter"
    ),
}
"""What the verbs do."""

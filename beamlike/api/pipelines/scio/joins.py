"""Verbs that bring collections of pairs together by key, all of them grouped at once.

Both sides need compatible windows. Sessions of both merge together, triggers see the elements
of both, and each pane joins what that pane holds. What a side lacks is None in the outer joins. All
raise `PipelineError` if the windows are not compatible, or cannot be grouped.

Source: Scio ``PairSCollectionFunctions``, ``SCollection``.
"""

from collections.abc import Callable, Container, Sequence
from itertools import product
from typing import Any, Final

from beamlike.api.pipelines.cogroups import CoGroupByKey
from beamlike.api.pipelines.column_functions import with_no_value
from beamlike.api.pipelines.scio.call import Call

VERBS: Final = """
of Pairs[K, V]
cogroup(rhs: Pairs[K, W], /) -> Pairs[K, tuple[list[V], list[W]]]
cogroup(rhs: Pairs[K, W], rhs2: Pairs[K, X], /) -> Pairs[K, tuple[list[V], list[W], list[X]]]
cogroup(rhs: Pairs[K, W], rhs2: Pairs[K, X], rhs3: Pairs[K, Y], /)
        -> Pairs[K, tuple[list[V], list[W], list[X], list[Y]]]
cogroup(*rights: Pairs[K, Any]) -> Pairs[K, tuple[list[Any], ...]]
cogroup(*rights: Any) -> Pairs[Any, Any]
    Each key with the values that each collection has for it, as a tuple of lists.

    Source: Scio ``cogroup``, ``groupWith``, ``MultiJoin.cogroup``.
join(rhs: Pairs[K, W]) -> Pairs[K, tuple[V, W]]
    Each pair of values that both sides have for a key.
left_outer_join(rhs: Pairs[K, W]) -> Pairs[K, tuple[V, W | None]]
    Pairs of values as of `join`; a value that the right side has none for comes with None.
right_outer_join(rhs: Pairs[K, W]) -> Pairs[K, tuple[V | None, W]]
    Pairs of values as of `join`; a value that the left side has none for comes with None.
full_outer_join(rhs: Pairs[K, W]) -> Pairs[K, tuple[V | None, W | None]]
    Pairs of values as of `join`; a value that the other side has none for comes with None.

    An empty pane gives one pair of None and None, as in Scio.
intersect_by_key(rhs: SCollection[K]) -> Pairs[K, V]
    The pairs whose key is an element of the other collection.
subtract_by_key(rhs: SCollection[K]) -> Pairs[K, V]
    The pairs whose key is not an element of the other collection.
of SCollection[T]
intersection(that: SCollection[T]) -> SCollection[T]
    The elements that both collections have, each once for each pane.
subtract(that: SCollection[T]) -> SCollection[T]
    The elements that the other collection does not have.
"""

Sides = tuple[Sequence[Any], ...]
"""The values that each collection has for a key."""


def joining(
    call: Call, rights: Sequence[Any], optional: Container[int], *, in_turn: bool = False
) -> Any:
    """A join of the collection of the call with others: one value of each collection for a key.

    Args:
        call: The verb.
        rights: The others.
        optional: Which of them, counted from 0 for that of the call, may lack values for a key.
        in_turn: Whether the values of the first change last, and not those of the last.
    """
    step = 1 if in_turn else -1

    def pairs(group: tuple[Any, Sides]) -> list[Any]:
        key, sides = group
        filled = [
            values or [None] if side in optional else values for side, values in enumerate(sides)
        ]
        return [(key, values[::step]) for values in product(*filled[::step])]

    return call.composed(lambda first: first.cogroup(*rights).flat_map(pairs))


def _cogroup(call: Call, *rights: Any) -> Any:
    for rhs in rights:
        call.other(rhs)
    return call.composed(lambda first: (first, *rights) | "CoGroupByKey" >> CoGroupByKey())


def _keeping(keep: Callable[[Any], bool]) -> Callable[..., Any]:
    """The pairs of keys of which the other collection has elements that are kept."""

    def pairs(group: tuple[Any, Sides]) -> list[Any]:
        key, (values, keys) = group
        return [(key, value) for value in values] if keep(keys) else []

    def transform(call: Call, rhs: Any) -> Any:
        keys = call.other(rhs)
        return call.composed(lambda first: first.cogroup(keys.map(with_no_value)).flat_map(pairs))

    return transform


def _intersection(call: Call, that: Any) -> Any:
    def build(first: Any) -> Any:
        sides = first.map(with_no_value).cogroup(that.map(with_no_value))
        return sides.filter(lambda group: all(group[1])).keys()

    call.other(that)
    return call.composed(build)


def _subtract(call: Call, that: Any) -> Any:
    call.other(that)
    return call.composed(lambda first: first.map(with_no_value).subtract_by_key(that).keys())


TRANSFORMS: Final = {
    "join": lambda call, rhs: joining(call, [rhs], optional=()),
    "left_outer_join": lambda call, rhs: joining(call, [rhs], optional=(1,)),
    "right_outer_join": lambda call, rhs: joining(call, [rhs], optional=(0,)),
    "full_outer_join": lambda call, rhs: joining(call, [rhs], optional=(0, 1)),
    "intersect_by_key": _keeping(bool),
    "subtract_by_key": _keeping(lambda keys: not keys),
}
"""What the verbs do."""

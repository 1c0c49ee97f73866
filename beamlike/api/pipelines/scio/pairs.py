"""Verbs for pairs of key and value, and verbs that group without combining.

Those that group raise `PipelineError` if the windowing cannot be grouped.

Source: Scio ``PairSCollectionFunctions`` and ``SCollection``.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.scio.call import Call, composite
from beamlike.api.pipelines.scio.elements import with_fanout
from beamlike.model.combine.plain import digest

VERBS: Final = """
of Pairs[K, V]
keys() -> SCollection[K]
    The keys.
values() -> SCollection[V]
    The values.
swap() -> Pairs[V, K]
    Keys and values in each other's place.
map_keys(fn: Callable[[K], U]) -> Pairs[U, V]
    Each key becomes what a function makes of it.
map_values(fn: Callable[[V], U]) -> Pairs[K, U]
    Each value becomes what a function makes of it.
flat_map_values(fn: Callable[[V], Iterable[U] | None]) -> Pairs[K, U]
    Each value becomes what a function lists.
filter_values(fn: Callable[[V], Any]) -> Pairs[K, V]
    Pairs for whose value a function is true.
group_by_key() -> Pairs[K, list[V]]
    Each key with its values, for each pane. An empty pane has the empty list.

    The values have no order.
hash_partition_by_key(num_partitions: int) -> tuple[Pairs[K, V], ...]
    The collection in several parts, equal keys in one. Keys are plain data.
with_hot_key_fanout(fanout: int | Callable[[K], int]) -> Pairs[K, V]
    A copy of the collection: what the next verb makes of the values of a key is combined by so many
    tasks before it is combined by one; a function says for each key how many.

    Raises:
        PipelineError: It is not a number of 1 or more and not a function; when a verb follows:
            elements cannot be combined before they are grouped.
apply_per_key(fn: DoFn[Any, U]) -> SCollection[U]
    A `beamlike.beam.DoFn` over each pair, which may have states and timers for key and window.

    Nothing is grouped: what it answers comes out at once, in the window, at the time and of the
    pane of its pair. A pair whose window has expired is dropped, and the states of a window are
    removed then.

    Raises:
        PipelineError: The windows merge, or it is not a `DoFn`.

    Source: Scio ``applyPerKeyDoFn``.
of SCollection[tuple[K, Iterable[U]]]
flatten_values() -> Pairs[K, U]
    The items of values that are lists.
of SCollection[T]
group_by(fn: Callable[[T], K]) -> Pairs[K, list[T]]
    The elements by key, for each pane. An empty pane has the empty list.
group_map(fn: Callable[[T], K], value: Callable[[T], V]) -> Pairs[K, list[V]]
    What a function makes of the elements, by key. An empty pane has the empty list.

    Args:
        fn: From an element to its key.
        value: From an element to what is grouped.
group_map_reduce(fn: Callable[[T], K], op: Callable[[T, T], T]) -> Pairs[K, T]
    The elements of each key combined two by two, in any order.

    Args:
        fn: From an element to its key.
        op: From two elements to one.

    Raises:
        PipelineError: The windowing cannot be grouped.
        TransformError: In the run: a pane is empty.
"""


def _flat_map_values(call: Call, fn: Callable[[Any], Any]) -> Any:
    return call.flat_map(lambda pair: [(pair[0], value) for value in fn(pair[1]) or ()])


def _hash_partition_by_key(call: Call, number: int) -> Any:
    return call.collection.partition(number, partial(_hashed_key, number))


def _hashed_key(number: int, pair: tuple[Any, Any]) -> int:
    return digest(pair[0]) % number


def _apply_per_key(call: Call, fn: Any) -> Any:
    if not isinstance(fn, DoFn):
        raise call.error(f" needs a DoFn, got {fn!r}; write a class below beamlike.beam.DoFn")
    return call.apply(ParDo(fn))


TRANSFORMS: Final = {
    "keys": lambda call: call.map(lambda pair: pair[0]),
    "values": lambda call: call.map(lambda pair: pair[1]),
    "swap": lambda call: call.map(lambda pair: (pair[1], pair[0])),
    "map_keys": lambda call, fn: call.map(lambda pair: (fn(pair[0]), pair[1])),
    "map_values": lambda call, fn: call.map(lambda pair: (pair[0], fn(pair[1]))),
    "filter_values": lambda call, fn: call.flat_map(lambda pair: (pair,) if fn(pair[1]) else ()),
    "group_by_key": lambda call: call.apply(GroupByKey()),
    "with_hot_key_fanout": with_fanout,
    "flatten_values": lambda call: _flat_map_values(call, iter),
    "group_by": composite(lambda elements, fn: elements.key_by(fn).group_by_key()),
    "group_map": composite(
        lambda elements, fn, of: elements.map(lambda value: (fn(value), of(value))).group_by_key()
    ),
    "group_map_reduce": composite(lambda elements, fn, op: elements.key_by(fn).reduce_by_key(op)),
}
"""What the verbs do."""

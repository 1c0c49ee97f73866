"""Verbs for pairs of key and value, and verbs that group without combining.

Source: Scio ``PairSCollectionFunctions`` and ``SCollection``.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.scio.steps import (
    K,
    Keyed,
    T,
    T_co,
    U,
    V,
    Verbs,
    checked,
    composed,
    flat_mapped,
    full_name,
    here,
    mapped,
    stepped,
)
from beamlike.api.pipelines.stateful import ApplyPerKey
from beamlike.errors import PipelineError
from beamlike.model.combine.plain import digest

if TYPE_CHECKING:
    from beamlike.api.pipelines.dofn import DoFn
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class KeyedVerbs(Verbs[T_co]):
    """What one can do with pairs of key and value. Those that group raise `PipelineError` if the
    windowing cannot be grouped."""

    def keys(self: Keyed[K, V]) -> "SCollection[K]":
        """The keys."""
        return mapped(self, "keys", lambda pair: pair[0])

    def values(self: Keyed[K, V]) -> "SCollection[V]":
        """The values."""
        return mapped(self, "values", lambda pair: pair[1])

    def swap(self: Keyed[K, V]) -> "Pairs[V, K]":
        """Keys and values in each other's place."""
        return mapped(self, "swap", lambda pair: (pair[1], pair[0]))

    def map_keys(self: Keyed[K, V], fn: Callable[[K], U]) -> "Pairs[U, V]":
        """Each key becomes what a function makes of it."""
        change = checked(self, "map_keys", fn)
        return mapped(self, "map_keys", lambda pair: (change(pair[0]), pair[1]), fn)

    def map_values(self: Keyed[K, V], fn: Callable[[V], U]) -> "Pairs[K, U]":
        """Each value becomes what a function makes of it."""
        change = checked(self, "map_values", fn)
        return mapped(self, "map_values", lambda pair: (pair[0], change(pair[1])), fn)

    def flat_map_values(self: Keyed[K, V], fn: Callable[[V], Iterable[U] | None]) -> "Pairs[K, U]":
        """Each value becomes what a function lists."""
        change = checked(self, "flat_map_values", fn)

        def listed(pair: tuple[K, V]) -> list[tuple[K, U]]:
            return [(pair[0], value) for value in change(pair[1]) or ()]

        return flat_mapped(self, "flat_map_values", listed, fn)

    def flatten_values(self: Verbs[tuple[K, Iterable[U]]]) -> "Pairs[K, U]":
        """The items of values that are lists."""
        return flat_mapped(
            self, "flatten_values", lambda pair: [(pair[0], value) for value in pair[1]]
        )

    def filter_values(self: Keyed[K, V], fn: Callable[[V], Any]) -> "Pairs[K, V]":
        """Pairs for whose value a function is true."""
        keep = checked(self, "filter_values", fn)
        return flat_mapped(self, "filter_values", lambda pair: (pair,) if keep(pair[1]) else (), fn)

    def group_by_key(self: Keyed[K, V]) -> "Pairs[K, list[V]]":
        """Each key with its values, for each pane. An empty pane has the empty list.

        The values have no order.
        """
        return cast("Pairs[K, list[V]]", stepped(self, "group_by_key", GroupByKey()))

    def group_by(self: Verbs[T], fn: Callable[[T], K]) -> "Pairs[K, list[T]]":
        """The elements by key, for each pane. An empty pane has the empty list."""
        key_of = checked(self, "group_by", fn)
        return composed(self, "group_by", lambda values: values.key_by(key_of).group_by_key(), fn)

    def group_map(
        self: Verbs[T], fn: Callable[[T], K], value: Callable[[T], V]
    ) -> "Pairs[K, list[V]]":
        """What a function makes of the elements, by key. An empty pane has the empty list.

        Args:
            fn: From an element to its key.
            value: From an element to what is grouped.
        """
        key_of = checked(self, "group_map", fn)
        value_of = checked(self, "group_map", value)
        return composed(
            self,
            "group_map",
            lambda values: values.map(lambda it: (key_of(it), value_of(it))).group_by_key(),
            fn,
        )

    def group_map_reduce(
        self: Verbs[T], fn: Callable[[T], K], op: Callable[[T, T], T]
    ) -> "Pairs[K, T]":
        """The elements of each key combined two by two, in any order.

        Args:
            fn: From an element to its key.
            op: From two elements to one.

        Raises:
            PipelineError: The windowing cannot be grouped.
            TransformError: In the run: a pane is empty.
        """
        key_of = checked(self, "group_map_reduce", fn)
        reduced = checked(self, "group_map_reduce", op)
        return composed(
            self,
            "group_map_reduce",
            lambda values: values.key_by(key_of).reduce_by_key(reduced),
            fn,
        )

    def hash_partition_by_key(self: Keyed[K, V], num_partitions: int) -> "tuple[Pairs[K, V], ...]":
        """The collection in several parts, equal keys in one. Keys are plain data."""
        return here(self).partition(num_partitions, partial(_hashed_key, num_partitions))

    @overload
    def apply_per_key(self: Keyed[K, V], fn: "DoFn[Any, U]") -> "SCollection[U]": ...
    @overload
    def apply_per_key(
        self: Keyed[K, V], fn: Callable[[Any, V, int], tuple[Any, Iterable[U]]]
    ) -> "Pairs[K, U]": ...
    def apply_per_key(self: Keyed[K, V], fn: Any) -> Any:
        """Each value given to a function with a state for its key and window, or to a `DoFn`.

        Nothing is grouped: what the function answers comes out at once, in the window, at the
        time and of the pane of its pair. A pair whose window has expired is dropped, and the
        state of a window is removed then.

        Args:
            fn: A `beamlike.beam.DoFn` of pairs, with states and timers. Or a function with one
                state: called with the state (None at first), a value and its event time (ms), it
                returns the new state, None to remove it, and a list of outputs under the same
                key. It leaves the old state as it was.

        Raises:
            PipelineError: The windows merge, or the function is neither.

        Source: Scio ``applyPerKeyDoFn``.
        """
        if isinstance(fn, DoFn):
            return stepped(self, "apply_per_key", ParDo(fn), fn)
        if not callable(fn):
            raise PipelineError(
                f"{full_name(self, 'apply_per_key')!r} needs a DoFn or a function, got {fn!r}; "
                "write def fn(state, value, timestamp) that returns the new state and a list of "
                "what comes out"
            )
        step = fn

        def keyed(state: Any, pair: tuple[K, V], timestamp: int) -> tuple[Any, list[tuple[K, U]]]:
            state, values = step(state, pair[1], timestamp)
            return state, [(pair[0], value) for value in values]

        return stepped(self, "apply_per_key", ApplyPerKey(keyed), fn)


def _hashed_key(number: int, pair: tuple[Any, Any]) -> int:
    return digest(pair[0]) % number

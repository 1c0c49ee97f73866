"""Verbs that take elements one by one. Time, windows and pane of an element stay as they are.

Source: Scio ``SCollection``.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TextIO

from beamlike.api.pipelines.batches import BufferedBatches
from beamlike.api.pipelines.elements import Filter, FlatMap
from beamlike.api.pipelines.groups import check_fanout
from beamlike.api.pipelines.job_io import SaveAs
from beamlike.api.pipelines.pairs import Partition
from beamlike.api.pipelines.scio.call import Call, checked_name, named, union
from beamlike.api.pipelines.scio.functions import FAILED, Batching, catching
from beamlike.api.pipelines.scio.sampling import random_split
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.model.combine.plain import digest
from beamlike.model.options import whole_number
from beamlike.model.time import DurationLike, duration_ms

VERBS: Final = """
of SCollection[T]
with_name(name: str) -> SCollection[T]
    The same collection; the next verb that is called on it has this name.

    A name can be used once. Without one, verbs are named after themselves and numbered.

    Raises:
        PipelineError: The name is no text, or empty.
with_fanout(fanout: int) -> SCollection[T]
    A copy of the collection: what the next verb makes of all elements is combined by so many tasks
    before it is combined by one.

    Raises:
        PipelineError: It is not a number of 1 or more; when a verb follows: elements cannot be
            combined before they are grouped.

    Source: Scio ``SCollectionWithFanout``.
transform(name: str, fn: Callable[[SCollection[T]], U]) -> U
    Several verbs under one name.
apply_transform(transform: PTransform[SCollection[T], U]) -> U
    A transform of Beam's, named after itself or by `with_name`.
map(fn: Callable[[T], U]) -> SCollection[U]
    Each element becomes what a function makes of it.
flat_map(fn: Callable[[T], Iterable[U] | None]) -> SCollection[U]
    Each element becomes what a function lists, None nothing.
safe_flat_map(fn: Callable[[T], Iterable[U] | None]) ->
        tuple[SCollection[U], Pairs[T, Exception]]
    As `flat_map`, and the elements for which the function raised, each with the exception.

    Source: Scio ``safeFlatMap``, of its module ``extra``.
filter(fn: Callable[[T], Any]) -> SCollection[T]
    Elements for which a function is true.
filter_not(fn: Callable[[T], Any]) -> SCollection[T]
    Elements for which a function is false.
collect(fn: Callable[[T], U | None]) -> SCollection[U]
    What a function makes of the elements for which it is defined.

    Where Scala has a partial function, here is a function that returns None for elements without a
    case; these are left out. A ``match`` without a case for them does so by itself.
key_by(fn: Callable[[T], K]) -> Pairs[K, T]
    Each element with its key before it.
tap(fn: Callable[[T], Any]) -> SCollection[T]
    The same elements, each shown to a function first.
debug(out: Callable[[], TextIO] | None = None, prefix: str = '', enabled: bool = True)
        -> SCollection[T]
    The same elements, each printed. For panes, after `with_pane_info` or `with_window`.

    Args:
        out: Where to; by default the standard output.
        prefix: Printed before each element.
        enabled: False: the collection as it is.
hash_partition(num_partitions: int) -> tuple[SCollection[T], ...]
    The collection in several parts, equal elements in one. Elements are plain data.
union(*collections: SCollection[T]) -> SCollection[T]
    The elements of several collections as one; their windows have to be compatible.

    Source: Scio ``union``, ``++``.
__add__(other: SCollection[T]) -> SCollection[T]
    The elements of two collections as one, see `union`. Source: Scio ``++``.
partition(number: Callable[[T], Any]) -> tuple[SCollection[T], SCollection[T]]
partition(number: int, fn: Callable[[T], int]) -> tuple[SCollection[T], ...]
partition(number: Any, fn: Any = None) -> tuple[SCollection[Any], ...]
    The collection in several parts: ``partition(3, lambda it: it % 3)``.

    With a predicate alone, two parts: where it is true, and where it is not.

    Args:
        number: How many parts; or the predicate.
        fn: From an element to the number of its part, counted from 0.

    Raises:
        PipelineError: There would be no part.
        TransformError: In the run: there is no part of that number.
partition_by_key(keys: Iterable[K], fn: Callable[[T], K]) -> dict[K, SCollection[T]]
    A collection for each of these keys.

    Args:
        keys: All keys that there are.
        fn: From an element to one of them.

    Raises:
        PipelineError: There are no keys.
        TransformError: In the run: an element has another key.
random_split(weights: Iterable[float], *, seed: int | None = None) -> tuple[SCollection[T], ...]
random_split(weights: float, *, seed: int | None = None) -> tuple[SCollection[T], SCollection[T]]
random_split(weights: float, weight_b: float, *, seed: int | None = None) ->
        tuple[SCollection[T], SCollection[T], SCollection[T]]
random_split(weights: Any, weight_b: Any = None, *, seed: int | None = None) ->
        tuple[SCollection[Any], ...]
    The collection in several parts, each element in one of them by chance.

    ``random_split(0.8)`` has two parts, ``random_split(0.6, 0.2)`` three, and
    ``random_split([3, 1])`` one for each weight. Which part an element is in depends on its value
    and its event time alone, so a replay gives the same parts, and elements that are equal in both
    are in one part.

    Args:
        weights: The share of the first part, between 0 and 1; or the weight of each part.
        weight_b: The share of the second of three parts.
        seed: For another split, any whole number; by default the full name of the verb.

    Raises:
        PipelineError: The weights make no parts.
        TransformError: In the run: an element is not plain data.

    Source: Scio ``randomSplit``; its parts differ from run to run.
save_as(name: str, sink: PTransform[PCollection[T], Any] | None = None) -> SCollection[T]
    Write the elements somewhere; a ``JobTest`` looks at them instead, under this name.

    Args:
        name: The output's.
        sink: What writes it where no test runs.

    Raises:
        PipelineError: There is neither a sink nor a test.

    Source: Scio ``saveAsCustomOutput``.
batch(batch_size: int, max_live_windows: int = 10) -> SCollection[list[T]]
    Lists of elements of one window, for work that is cheaper for many at once.

    A list holds elements of one bundle, and comes out when it is full or at the end of the bundle,
    at the end of its window. How elements are cut into bundles is the host's.

    Args:
        batch_size: How many elements are enough.
        max_live_windows: With more windows in a bundle, the fullest list comes out early.
batch_weighted(batch_weight: int, cost: Callable[[T], int], max_live_windows: int = 10)
        -> SCollection[list[T]]
    Lists of elements as of `batch`; a list is full when what its elements cost is enough. Elements
    have no size in bytes, as nothing says how they would be written.
of SCollection[Iterable[U]]
flatten() -> SCollection[U]
    The items of elements that are lists.
of Pairs[K, V]
batch_by_key(batch_size: int, max_buffering_duration: DurationLike = 0) -> Pairs[K, list[V]]
    Lists of values of one key and window, from as many bundles as it takes.

    A list comes out with the pair that makes it full. What is left comes out when the window
    expires: its end and the allowed lateness are over. Each list is at the earliest event time in
    it. Triggers play no part.

    Args:
        batch_size: How many values are enough.
        max_buffering_duration: How long a list waits at most, in processing time, counted from its
            first value, before it comes out with what it has. 0 is no limit.

    Raises:
        PipelineError: The windows merge.

    Source: Scio ``batchByKey``, Beam Java ``GroupIntoBatches``.
batch_weighted_by_key(weight: int, cost: Callable[[V], int],
        max_buffering_duration: DurationLike = 0) -> Pairs[K, list[V]]
    Lists of values as of `batch_by_key`; a list is full when what its values cost is enough.

    A value that would make a list cost too much begins the next one.
"""


def with_fanout(call: Call, fanout: Any) -> Any:
    """A copy of the collection, with a fanout for what the next verb combines."""
    check_fanout(fanout, call.verb)
    copy = named(call.collection, call.collection.next_name)
    copy.next_fanout = fanout
    return copy


def _apply_transform(call: Call, transform: Any) -> Any:
    if not isinstance(transform, PTransform):
        return call.collection | transform  # which says what is wrong
    return Call(call.collection, transform.label).apply(transform)


def _safe_flat_map(call: Call, fn: Callable[[Any], Any]) -> tuple[Any, Any]:
    outputs = call.apply(FlatMap(catching(fn)).with_outputs(FAILED, main="main output"))
    return outputs["main output"], outputs[FAILED]


def _debug(call: Call, out: Callable[[], TextIO] | None, prefix: str, enabled: bool) -> Any:
    if not enabled:
        return call.collection

    def write(element: Any) -> None:
        print(f"{prefix}{element}", file=sys.stdout if out is None else out())

    return _tap(call, write)


def _tap(call: Call, look: Callable[[Any], Any]) -> Any:
    def shown(element: Any) -> Any:
        look(element)
        return element

    return call.map(shown)


def _hash_partition(call: Call, number: int) -> Any:
    return _parts(call, number, lambda element: digest(element) % number)


def _partition(call: Call, number: Any, fn: Any) -> Any:
    if callable(number):
        return _parts(
            Call(call.collection, call.verb, number), 2, lambda element: 0 if number(element) else 1
        )
    if fn is None:
        raise call.error(
            " needs to know the part of each element; write "
            f"partition({number!r}, lambda element: ...), or partition(lambda element: ...) "
            "with a condition for two parts"
        )
    return _parts(call, number, call.checked(fn))


def _partition_by_key(call: Call, keys: Any, key_of: Callable[[Any], Any]) -> dict[Any, Any]:
    if not isinstance(keys, Iterable):
        raise PipelineError(
            '\'partition_by_key\' needs all keys that there are, such as ["new", "old"], got '
            f"{keys!r}; write partition(number, function) for parts without keys"
        )
    known = list(dict.fromkeys(keys))

    def part(element: Any) -> int:
        key = key_of(element)
        if key not in known:
            raise LookupError(f"the key {key!r} is none of {known!r}; name all keys")
        return known.index(key)

    return dict(zip(known, _parts(call, len(known), part), strict=True))


def _parts(call: Call, number: int, part: Callable[[Any], Any]) -> Any:
    return call.apply(
        call.naming_the_verb(lambda: Partition(lambda element, _: part(element), number))
    )


def _batch_weighted(
    call: Call, weight: int, cost: Callable[[Any], int], max_live_windows: int
) -> Any:
    call = Call(call.collection, "batch")
    _check_number(call, "the size", weight)
    _check_number(call, "max_live_windows", max_live_windows)
    return call.apply_dofn(Batching(weight, cost, max_live_windows))


def _batch_weighted_by_key(call: Call, enough: int, cost: Any, duration: DurationLike) -> Any:
    _check_number(call, "the size", enough)
    wait = call.naming_the_verb(lambda: duration_ms(duration, "max_buffering_duration"))
    return call.apply_dofn(BufferedBatches(enough, wait, cost))


def _check_number(call: Call, argument: str, number: Any) -> None:
    whole_number(number, 1, f"{call.name!r}: {argument}", PipelineError)


TRANSFORMS: Final = {
    "with_fanout": with_fanout,
    "with_name": lambda call, name: named(call.collection, checked_name(name)),
    "transform": lambda call, name, fn: Call(named(call.collection, name), "").composed(fn),
    "map": Call.map,
    "flat_map": Call.flat_map,
    "filter": lambda call, fn: call.apply(Filter(fn)),
    "filter_not": lambda call, fn: call.flat_map(call.listing(fn)),
    "collect": lambda call, fn: call.flat_map(call.listing(fn)),
    "key_by": lambda call, fn: call.map(lambda element: (fn(element), element)),
    "union": lambda call, *collections: union([call.collection, *collections], "union"),
    "__add__": lambda call, other: union([call.collection, other], "union"),
    "random_split": random_split,
    "save_as": lambda call, name, sink: call.collection | SaveAs(name, sink),
    "batch": lambda call, size, windows: _batch_weighted(call, size, lambda _: 1, windows),
    "flatten": lambda call: call.flat_map(iter),
    "batch_by_key": lambda call, size, wait: _batch_weighted_by_key(call, size, None, wait),
}
"""What the verbs do."""

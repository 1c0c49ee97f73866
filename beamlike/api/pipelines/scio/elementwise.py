"""Verbs that take elements one by one. Time, windows and pane of an element stay as they are.

Source: Scio ``SCollection``.
"""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO, cast, overload

from beamlike.api.pipelines.elements import Filter
from beamlike.api.pipelines.named import SaveAs
from beamlike.api.pipelines.pairs import Partition
from beamlike.api.pipelines.pardo import ParDo
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.dofns import Catching
from beamlike.api.pipelines.scio.steps import (
    K,
    T,
    T_co,
    U,
    Verbs,
    checked,
    checked_name,
    composed,
    flat_mapped,
    full_name,
    here,
    joined,
    listing,
    made,
    mapped,
    named,
    stepped,
)
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError
from beamlike.model.combine.plain import digest

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class ElementVerbs(Verbs[T_co]):
    """What one can do with the elements of a collection, one by one."""

    def with_name(self: Verbs[T], name: str) -> "SCollection[T]":
        """The same collection; the next verb that is called on it has this name.

        A name can be used once. Without one, verbs are named after themselves and numbered.

        Raises:
            PipelineError: The name is no text, or empty.
        """
        return named(self, checked_name(name))

    def transform(self: Verbs[T], name: str, fn: "Callable[[SCollection[T]], U]") -> U:
        """Several verbs under one name."""
        return composed(named(self, name), "transform", checked(self, "transform", fn))

    def apply_transform(self: Verbs[T], transform: "PTransform[SCollection[T], U]") -> U:
        """A transform of Beam's, named after itself or by `with_name`."""
        if not isinstance(transform, PTransform):
            return here(self) | transform  # which says what is wrong
        label = transform.label
        return cast(U, stepped(self, label, transform))

    def map(self: Verbs[T], fn: Callable[[T], U]) -> "SCollection[U]":
        """Each element becomes what a function makes of it."""
        return mapped(self, "map", checked(self, "map", fn), fn)

    def flat_map(self: Verbs[T], fn: Callable[[T], Iterable[U] | None]) -> "SCollection[U]":
        """Each element becomes what a function lists, None nothing."""
        return flat_mapped(self, "flat_map", checked(self, "flat_map", fn), fn)

    def safe_flat_map(
        self: Verbs[T], fn: Callable[[T], Iterable[U] | None]
    ) -> "tuple[SCollection[U], Pairs[T, Exception]]":
        """As `flat_map`, and the elements for which the function raised, each with the exception.

        Source: Scio ``safeFlatMap``, of its module ``extra``.
        """
        caught = Catching(checked(self, "safe_flat_map", fn))
        pardo = ParDo(caught).with_outputs(Catching.FAILED, main="main output")
        outputs = stepped(self, "safe_flat_map", pardo, fn)
        return outputs["main output"], outputs[Catching.FAILED]

    def filter(self: Verbs[T], fn: Callable[[T], Any]) -> "SCollection[T]":
        """Elements for which a function is true."""
        return cast(
            "SCollection[T]", stepped(self, "filter", Filter(checked(self, "filter", fn)), fn)
        )

    def filter_not(self: Verbs[T], fn: Callable[[T], Any]) -> "SCollection[T]":
        """Elements for which a function is false."""
        return flat_mapped(self, "filter_not", listing(self, "filter_not", fn), fn)

    def collect(self: Verbs[T], fn: Callable[[T], U | None]) -> "SCollection[U]":
        """What a function makes of the elements for which it is defined.

        Where Scala has a partial function, here is a function that returns None for elements
        without a case; these are left out. A ``match`` without a case for them does
        so by itself.
        """
        return flat_mapped(self, "collect", listing(self, "collect", fn), fn)

    def flatten(self: Verbs[Iterable[U]]) -> "SCollection[U]":
        """The items of elements that are lists."""
        return flat_mapped(self, "flatten", iter)

    def key_by(self: Verbs[T], fn: Callable[[T], K]) -> "Pairs[K, T]":
        """Each element with its key before it."""
        key_of = checked(self, "key_by", fn)
        return mapped(self, "key_by", lambda it: (key_of(it), it), fn)

    def tap(self: Verbs[T], fn: Callable[[T], Any]) -> "SCollection[T]":
        """The same elements, each shown to a function first."""
        look = checked(self, "tap", fn)

        def shown(element: T) -> T:
            look(element)
            return element

        return mapped(self, "tap", shown, fn)

    def debug(
        self: Verbs[T],
        out: Callable[[], TextIO] = lambda: sys.stdout,
        prefix: str = "",
        enabled: bool = True,
    ) -> "SCollection[T]":
        """The same elements, each printed. For panes, after `with_pane_info` or `with_window`.

        Args:
            out: Where to.
            prefix: Printed before each element.
            enabled: False: the collection as it is.
        """
        if not enabled:
            return here(self)

        def shown(element: T) -> T:
            print(f"{prefix}{element}", file=out())
            return element

        return mapped(self, "debug", shown)

    def hash_partition(self: Verbs[T], num_partitions: int) -> "tuple[SCollection[T], ...]":
        """The collection in several parts, equal elements in one. Elements are plain data."""
        part = partial(_hashed, num_partitions)
        return _parts(self, "hash_partition", num_partitions, part, None)

    def union(self: Verbs[T], *others: "SCollection[T]") -> "SCollection[T]":
        """The elements of several collections as one; their windows have to be compatible.

        Source: Scio ``union``, ``++``.
        """
        return joined([self, *others], "union")

    @staticmethod
    def union_all(collections: "Iterable[SCollection[T]]") -> "SCollection[T]":
        """The elements of several collections as one; ``SCollection.union_all([one, other])``.

        Raises:
            PipelineError: There are none, see ``ScioContext.union_all``.
        """
        given = list(collections) if isinstance(collections, Iterable) else [collections]
        if not given:
            raise PipelineError(
                "union_all needs a collection at least; write sc.union_all(...), which knows the "
                "pipeline"
            )
        return joined(given, "union_all")

    def __add__(self: Verbs[T], other: "SCollection[T]") -> "SCollection[T]":
        """As `union`. Source: Scio ``++``."""
        return joined([self, other], "union")

    @overload
    def partition(
        self: Verbs[T], number: Callable[[T], Any]
    ) -> "tuple[SCollection[T], SCollection[T]]": ...

    @overload
    def partition(
        self: Verbs[T], number: int, fn: Callable[[T], int]
    ) -> "tuple[SCollection[T], ...]": ...

    def partition(self: Any, number: Any, fn: Any = None) -> "tuple[SCollection[Any], ...]":
        """The collection in several parts: ``partition(3, lambda it: it % 3)``.

        With a predicate alone, two parts: where it is true, and where it is not.

        Args:
            number: How many parts; or the predicate.
            fn: From an element to the number of its part, counted from 0.

        Raises:
            PipelineError: There would be no part.
            TransformError: In the run: there is no part of that number.
        """
        if callable(number):
            is_left = checked(self, "partition", number)
            return _parts(self, "partition", 2, lambda it: 0 if is_left(it) else 1, number)
        if fn is None:
            raise PipelineError(
                f"{full_name(self, 'partition')!r} needs to know the part of each element; write "
                f"partition({number!r}, lambda element: ...), or partition(lambda element: ...) "
                "with a condition for two parts"
            )
        return _parts(self, "partition", number, checked(self, "partition", fn), fn)

    def partition_by_key(
        self: Verbs[T], keys: Iterable[K], fn: Callable[[T], K]
    ) -> "dict[K, SCollection[T]]":
        """A collection for each of these keys.

        Args:
            keys: All keys that there are.
            fn: From an element to one of them.

        Raises:
            PipelineError: There are no keys.
            TransformError: In the run: an element has another key.
        """
        if not isinstance(keys, Iterable):
            raise PipelineError(
                '\'partition_by_key\' needs all keys that there are, such as ["new", "old"], got '
                f"{keys!r}; write partition(number, function) for parts without keys"
            )
        known = list(dict.fromkeys(keys))
        key_of = checked(self, "partition_by_key", fn)

        def part(element: T) -> int:
            key = key_of(element)
            if key not in known:
                raise LookupError(f"the key {key!r} is none of {known!r}; name all keys")
            return known.index(key)

        parts = _parts(self, "partition_by_key", len(known), part, fn)
        return dict(zip(known, parts, strict=True))

    def save_as(
        self: Verbs[T], name: str, sink: PTransform[PCollection[T], Any] | None = None
    ) -> "SCollection[T]":
        """Write the elements somewhere; a ``JobTest`` looks at them instead, under this name.

        Args:
            name: The output's.
            sink: What writes it where no test runs.

        Raises:
            PipelineError: There is neither a sink nor a test.

        Source: Scio ``saveAsCustomOutput``.
        """
        return here(self) | SaveAs(name, sink)


def _hashed(number: int, element: Any) -> int:
    return digest(element) % number


def _parts(
    given: Verbs[T], verb: str, number: int, part: Callable[[T], Any], of: Any
) -> "tuple[SCollection[T], ...]":
    transform = made(given, verb, lambda: Partition(lambda it, _: part(it), number))
    return cast("tuple[SCollection[T], ...]", stepped(given, verb, transform, of))

"""Apex's accumulations: how a window's elements become its value.

Most are the combine functions of this package under Apex's names.

=========================  =========================================================
here                       Apex
=========================  =========================================================
`Sum`                      ``SumInt``, ``SumLong``, ``SumFloat``, ``SumDouble``
`Count`, `Min`, `Max`      the same; of values by a comparator, ``TopN(1, by=...)``
`Average`                  ``Average``, but for its ``merge``, which miscounts
`Group`                    ``Group``
`Sort`                     ``Sort``
`TopN`, `TopNByKey`        the same
`RemoveDuplicates`         the same
`ReduceFn`, `FoldFn`       the same, with functions in place of subclasses
`CompositeAccumulation`    the same, with each part's output in place of its state
=========================  =========================================================

Those of two streams are in `apex_joins`. An accumulation of your own is a `CombineFn`. It says
nothing about retractions: a row that is withdrawn has the value that it had, whatever the
accumulation. Apex computes a payload for it, which only its sums and its count do right.

Source: Apex Malhar ``org.apache.apex.malhar.lib.window.accumulation``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from beamlike.dialects.arguments import check_combine
from beamlike.dialects.folds import Reduce
from beamlike.errors import CombineError
from beamlike.model.combine import Collect, CombineFn, Mean, Together, Top
from beamlike.model.copies import own_copy
from beamlike.model.options import whole_number

Average = Mean
"""The mean of all values."""

Group = Collect
"""All values, as a list."""

ReduceFn = Reduce
"""`Reduce` with a function in place of a subclass."""

TopN = Top
"""The greatest values, the greatest first."""


@attrs.frozen
class FoldFn(CombineFn):
    """Elements folded into an initial value, in order of arrival. Empty pane: the initial value.

    Args:
        initial: What the first element is folded into. It is never changed.
        fold: ``(folded, element) -> folded``.
        merge_folded: ``(folded, folded) -> folded``, for sessions that merge. Each of both began
            with the initial value.

    Source: Apex Malhar ``FoldFn``.
    """

    calls_users = True

    initial: Any
    fold: Callable[[Any, Any], Any]
    merge_folded: Callable[[Any, Any], Any]

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        for value in values:
            accumulator = (self.fold(self.extract(accumulator), value),)
        return accumulator

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        if not first or not second:
            return first or second
        return (self.merge_folded(first[0], second[0]),)

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return accumulator[0] if accumulator else own_copy(self.initial)


@attrs.frozen
class Sort(CombineFn):
    """All elements in order, equal ones in order of arrival. Empty pane: the empty list.

    Args:
        by: From an element to what is compared in its place; None compares the elements.
        reverse_sort: The greatest first.

    Source: Apex Malhar ``Sort``, which leaves the order of equal ones open.
    """

    calls_users = True

    by: Callable[[Any], Any] | None = None
    reverse_sort: bool = attrs.field(default=False, kw_only=True)

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return self._sorted((*accumulator, *values))

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._sorted(first + second)

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return list(accumulator)

    def _sorted(self, values: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(sorted(values, key=self.by, reverse=self.reverse_sort))


@attrs.frozen
class RemoveDuplicates(CombineFn):
    """The elements that differ, in the order in which they arrived first. They can be hashed.
    Empty pane: the empty list.

    Source: Apex Malhar ``RemoveDuplicates``.
    """

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return tuple(dict.fromkeys((*accumulator, *values)))

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return self.add(first, second, ())

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return list(accumulator)


@attrs.frozen
class TopNByKey(CombineFn):
    """The ``n`` greatest of the latest values of each key: a list of ``(key, value)``, the
    greatest first, equal ones in the order in which their keys came first. Empty pane: the empty
    list.

    Elements are such pairs. Of a key's values the last to arrive counts; when sessions merge, that
    of the later session, where Apex takes the greater one.

    Args:
        n: How many at most, 1 or more.
        by: From a value to what is compared in its place; None compares the values.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more.

    Source: Apex Malhar ``TopNByKey``.
    """

    calls_users = True

    n: int = 10
    by: Callable[[Any], Any] | None = None

    def __attrs_post_init__(self) -> None:
        whole_number(self.n, 1, "TopNByKey n", CombineError)

    def create(self) -> Mapping[Any, Any]:
        return {}

    def add(
        self, accumulator: Mapping[Any, Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> Mapping[Any, Any]:
        return {**accumulator, **dict(values)}

    def merge(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return {**first, **second}

    def extract(self, accumulator: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
        def place(pair: tuple[Any, Any]) -> Any:
            return pair[1] if self.by is None else self.by(pair[1])

        return sorted(accumulator.items(), key=place, reverse=True)[: self.n]


class CompositeAccumulation(Together):
    """Several accumulations of the same elements: a tuple of their values.

    Args:
        parts: The accumulations, in the order of the tuple.

    Raises:
        CombineError: There are none, or one of them is no combine function.

    Source: Apex Malhar ``CompositeAccumulation``, which emits what each part has accumulated.

    >>> both = CompositeAccumulation(Average(), Group())
    >>> both.extract(both.add(both.create(), [3, 4], [0, 0]))
    (3.5, [3, 4])
    """

    def __init__(self, *parts: CombineFn) -> None:
        if not parts:
            raise CombineError("CompositeAccumulation needs accumulations, such as Sum(), Count()")
        for part in parts:
            check_combine("an accumulation", part)
        super().__init__({str(at): (part, None) for at, part in enumerate(parts, 1)})


@attrs.frozen
class PerKey(CombineFn):
    """A combine function for the elements of each key: a mapping from keys to values, in the order
    in which the keys came first. Empty pane: the empty mapping.

    Elements are pairs of a key, which can be hashed, and a value.

    An operator of Apex keeps one trigger state for each window, also where elements have keys: it
    counts the elements of all keys together, keeps one rhythm for all of them, and a firing is of
    every key that the window has. The model keeps such state for each key and window. So where it
    matters all elements are one group here, and a pane has the value of each key, to be spread into
    rows. The price: all keys of a window are in one accumulator, in one shard.

    >>> from beamlike.model.combine import Sum
    >>> sums = PerKey(Sum())
    >>> sums.extract(sums.add(sums.create(), [("a", 1), ("b", 2), ("a", 3)], [0, 0, 0]))
    {'a': 4, 'b': 2}
    """

    calls_users = True

    of: CombineFn

    def create(self) -> Mapping[Any, Any]:
        return {}

    def add(
        self, accumulator: Mapping[Any, Any], values: Sequence[Any], timestamps: Sequence[int]
    ) -> Mapping[Any, Any]:
        of_key: dict[Any, tuple[list[Any], list[int]]] = {}
        for (key, value), at in zip(values, timestamps, strict=True):
            added = of_key.setdefault(key, ([], []))
            added[0].append(value)
            added[1].append(at)
        grown = dict(accumulator)
        for key, (added_values, added_times) in of_key.items():
            before = grown[key] if key in grown else self.of.create()
            grown[key] = self.of.add(before, added_values, added_times)
        return grown

    def merge(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Mapping[Any, Any]:
        merged = dict(first)
        for key, accumulator in second.items():
            merged[key] = self.of.merge(merged[key], accumulator) if key in merged else accumulator
        return merged

    def compact(self, accumulator: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return {key: self.of.compact(part) for key, part in accumulator.items()}

    def extract(self, accumulator: Mapping[Any, Any]) -> dict[Any, Any]:
        return {key: self.of.extract(part) for key, part in accumulator.items()}

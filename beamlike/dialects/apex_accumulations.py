"""Apex's accumulations: how a window's elements become its value.

Most are the combine functions of this package under Apex's names; a page of the documentation,
"Other systems' windows", says which. Of two streams elements are ``(stream, value)`` with streams 1
and 2, as `WindowedMergeOperator` makes them.

An accumulation of your own is a `CombineFn`. It says nothing about retractions: a row that is
withdrawn has the value that it had, whatever the accumulation. Apex computes a payload for it,
which only its sums and its count do right.

Source: Apex Malhar ``org.apache.apex.malhar.lib.window.accumulation``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

import attrs

from beamlike.dialects.folds import Elements, Reduce
from beamlike.dialects.stages import check_combine
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

Sides = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The values of stream 1 and those of stream 2, in order of arrival."""
KeyOf = Callable[[Any], Any]
"""From a value to what it is matched by."""


@attrs.frozen
class FoldFn(Elements):
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

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        for value in values:
            accumulator = (self.fold(self.extract(accumulator), value),)
        return accumulator

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return (self.merge_folded(*first, *second),) if first and second else first or second

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return accumulator[0] if accumulator else own_copy(self.initial)


@attrs.frozen
class Sort(Elements):
    """All elements in order, equal ones in order of arrival. Empty pane: the empty list.

    Args:
        by: From an element to what is compared in its place; None compares the elements.
        reverse_sort: The greatest first.

    Source: Apex Malhar ``Sort``, which leaves the order of equal ones open.
    """

    calls_users = True

    by: Callable[[Any], Any] | None = None
    reverse_sort: bool = attrs.field(default=False, kw_only=True)

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return sorted(accumulator, key=self.by, reverse=self.reverse_sort)


@attrs.frozen
class RemoveDuplicates(Elements):
    """The elements that differ, in the order in which they arrived first. They can be hashed.
    Empty pane: the empty list.

    Source: Apex Malhar ``RemoveDuplicates``.
    """

    def compact(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return _once(accumulator)

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return list(_once(accumulator))


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
        super().__init__({str(number): (part, None) for number, part in enumerate(parts, 1)})


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
        by_key: dict[Any, list[tuple[Any, int]]] = {}
        for (key, value), timestamp in zip(values, timestamps, strict=True):
            by_key.setdefault(key, []).append((value, timestamp))
        parts = dict(accumulator)
        for key, elements in by_key.items():
            before = parts[key] if key in parts else self.of.create()
            parts[key] = self.of.add(before, *zip(*elements, strict=True))
        return parts

    def merge(self, first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Mapping[Any, Any]:
        merged = dict(first)
        for key, accumulator in second.items():
            merged[key] = self.of.merge(merged[key], accumulator) if key in merged else accumulator
        return merged

    def compact(self, accumulator: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return {key: self.of.compact(part) for key, part in accumulator.items()}

    def extract(self, accumulator: Mapping[Any, Any]) -> dict[Any, Any]:
        return {key: self.of.extract(part) for key, part in accumulator.items()}


class _OfTwoStreams(CombineFn):
    """The elements of each stream, in order of arrival."""

    def create(self) -> Sides:
        return (), ()

    def add(self, accumulator: Sides, values: Sequence[Any], timestamps: Sequence[int]) -> Sides:
        left, right = accumulator
        return (
            (*left, *(value for stream, value in values if stream == 1)),
            (*right, *(value for stream, value in values if stream != 1)),
        )

    def merge(self, first: Sides, second: Sides) -> Sides:
        return first[0] + second[0], first[1] + second[1]


@attrs.frozen
class CoGroup(_OfTwoStreams):
    """The values of two streams, each side once: a list for each stream. Empty pane: two empty
    lists.

    Values can be hashed; they come in the order in which they arrived first.

    Source: Apex Malhar ``CoGroup``.
    """

    def compact(self, accumulator: Sides) -> Sides:
        return _once(accumulator[0]), _once(accumulator[1])

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        return [list(_once(side)) for side in accumulator]


@attrs.frozen
class InnerJoin(CoGroup):
    """Every pair of a value of the one stream and a value of the other. Empty pane: no pairs.

    Source: Apex Malhar ``InnerJoin``.
    """

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        lefts, rights = self.compact(accumulator)
        return [[left, right] for left in lefts for right in rights]


@attrs.frozen
class InnerJoinOn(_OfTwoStreams):
    """Every pair of elements of both streams that match. Empty pane: no pairs.

    Args:
        left_key: From a value of stream 1 to what it is matched by, which can be hashed; None: all
            match. To save and compare it, let it be a function at the top of a module.
        right_key: From a value of stream 2 to what it is matched by.

    Source: Apex Malhar ``PojoInnerJoin``.
    """

    keeps_left: ClassVar[bool] = False
    keeps_right: ClassVar[bool] = False

    left_key: KeyOf | None = None
    right_key: KeyOf | None = None

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        lefts = [(_key(self.left_key, left), left) for left in accumulator[0]]
        rights = [(_key(self.right_key, right), right) for right in accumulator[1]]
        by_key: dict[Any, list[Any]] = {}
        for key, right in rights:
            by_key.setdefault(key, []).append(right)
        alone = [None] if self.keeps_left else []
        pairs = [[left, right] for key, left in lefts for right in by_key.get(key, alone)]
        if self.keeps_right:
            matched_keys = {key for key, _ in lefts}
            pairs += [[None, right] for key, right in rights if key not in matched_keys]
        return pairs


@attrs.frozen
class LeftOuterJoin(InnerJoinOn):
    """As `InnerJoinOn`, and each value of stream 1 that matches nothing, with None.

    Source: Apex Malhar ``PojoLeftOuterJoin``.

    >>> join = LeftOuterJoin(str.lower, str.lower)
    >>> join.extract(join.add(join.create(), [(1, "A"), (1, "B"), (2, "a")], [0, 0, 0]))
    [['A', 'a'], ['B', None]]
    """

    keeps_left = True


@attrs.frozen
class RightOuterJoin(InnerJoinOn):
    """As `InnerJoinOn`, and after the pairs each value of stream 2 that matches nothing, with
    None before it.

    Source: Apex Malhar ``PojoRightOuterJoin``.
    """

    keeps_right = True


@attrs.frozen
class FullOuterJoin(InnerJoinOn):
    """As `InnerJoinOn`, and what matches nothing on either side, with None.

    Source: Apex Malhar ``PojoFullOuterJoin``.
    """

    keeps_left = True
    keeps_right = True


def _key(key_of: KeyOf | None, value: Any) -> Any:
    return None if key_of is None else key_of(value)


def _once(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))

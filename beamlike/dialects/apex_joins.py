"""Apex's accumulations of two streams: pairs, pairs with gaps, and both sides as they are.

Elements are ``(stream, value)`` with streams 1 and 2, as `WindowedMergeOperator` makes them. In an
operator with keys everything is of one key and window, so a join needs no key of its own. Joins
can have one besides: functions from a value to what both sides must share.

==================  ===============================  =====================================
here                Apex                             its sides
==================  ===============================  =====================================
`CoGroup`           ``CoGroup``                      sets: an equal value counts once
`InnerJoin`         ``InnerJoin``                    sets
`InnerJoinOn`       ``PojoInnerJoin``                lists: every element counts
`LeftOuterJoin`     ``PojoLeftOuterJoin``            lists
`RightOuterJoin`    ``PojoRightOuterJoin``           lists
`FullOuterJoin`     ``PojoFullOuterJoin``            lists
==================  ===============================  =====================================

Apex's joins of plain objects name the fields to compare and a class to fill. There is no use for
that in Python: here a function returns what is compared, and the output is the two values. They
also emit one object for all pairs of a key, with the fields of the last one. Here every pair
comes out.

A pair is a list of two, with None for a side that has nothing to match.

Source: Apex Malhar ``MergeAccumulation``, ``InnerJoin``, ``CoGroup``, ``AbstractPojoJoin``.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import attrs

from beamlike.model.combine import CombineFn

Sides = tuple[tuple[Any, ...], tuple[Any, ...]]
KeyOf = Callable[[Any], Any]
"""From a value to what it is matched by."""


@attrs.frozen
class CoGroup(CombineFn):
    """The values of two streams, each side once: a list for each stream. Empty pane: two empty
    lists.

    Values can be hashed; they come in the order in which they arrived first.

    Source: Apex Malhar ``CoGroup``.
    """

    def create(self) -> Sides:
        return (), ()

    def add(self, accumulator: Sides, values: Sequence[Any], timestamps: Sequence[int]) -> Sides:
        one, other = accumulator
        one = _once((*one, *(value for stream, value in values if stream == 1)))
        return one, _once((*other, *(value for stream, value in values if stream != 1)))

    def merge(self, first: Sides, second: Sides) -> Sides:
        return _once((*first[0], *second[0])), _once((*first[1], *second[1]))

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        return [list(side) for side in accumulator]


@attrs.frozen
class InnerJoin(CoGroup):
    """Every pair of a value of the one stream and a value of the other. Empty pane: no pairs.

    Source: Apex Malhar ``InnerJoin``.
    """

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        one, other = accumulator
        return [[left, right] for left in one for right in other]


@attrs.frozen
class _Join(CombineFn):
    """Pairs whose sides are matched, and what is left over of the sides that are kept."""

    keeps_left: ClassVar[bool] = False
    keeps_right: ClassVar[bool] = False

    left_key: KeyOf | None = None
    right_key: KeyOf | None = None

    def create(self) -> Sides:
        return (), ()

    def add(self, accumulator: Sides, values: Sequence[Any], timestamps: Sequence[int]) -> Sides:
        one, other = accumulator
        return (
            (*one, *(value for stream, value in values if stream == 1)),
            (*other, *(value for stream, value in values if stream != 1)),
        )

    def merge(self, first: Sides, second: Sides) -> Sides:
        return first[0] + second[0], first[1] + second[1]

    def extract(self, accumulator: Sides) -> list[list[Any]]:
        lefts, rights = accumulator
        by_key: dict[Any, list[Any]] = {}
        for right in rights:
            by_key.setdefault(_key(self.right_key, right), []).append(right)
        pairs, met = list[list[Any]](), set[Any]()
        for left in lefts:
            key = _key(self.left_key, left)
            met.add(key)
            matched = by_key.get(key, [None] if self.keeps_left else [])
            pairs += [[left, right] for right in matched]
        if self.keeps_right:
            alone = [right for right in rights if _key(self.right_key, right) not in met]
            pairs += [[None, right] for right in alone]
        return pairs


@attrs.frozen
class InnerJoinOn(_Join):
    """Every pair of elements of both streams that match. Empty pane: no pairs.

    Args:
        left_key: From a value of stream 1 to what it is matched by, which can be hashed; None: all
            match. To save and compare it, let it be a function at the top of a module.
        right_key: Likewise of stream 2.

    Source: Apex Malhar ``PojoInnerJoin``.
    """


@attrs.frozen
class LeftOuterJoin(_Join):
    """As `InnerJoinOn`, and each value of stream 1 that matches nothing, with None.

    Source: Apex Malhar ``PojoLeftOuterJoin``.

    >>> join = LeftOuterJoin(str.lower, str.lower)
    >>> join.extract(join.add(join.create(), [(1, "A"), (1, "B"), (2, "a")], [0, 0, 0]))
    [['A', 'a'], ['B', None]]
    """

    keeps_left = True


@attrs.frozen
class RightOuterJoin(_Join):
    """As `InnerJoinOn`, and after the pairs each value of stream 2 that matches nothing, with
    None before it.

    Source: Apex Malhar ``PojoRightOuterJoin``.
    """

    keeps_right = True


@attrs.frozen
class FullOuterJoin(_Join):
    """As `InnerJoinOn`, and what matches nothing on either side, with None.

    Source: Apex Malhar ``PojoFullOuterJoin``.
    """

    keeps_left = True
    keeps_right = True


def _key(key_of: KeyOf | None, value: Any) -> Any:
    return None if key_of is None else key_of(value)


def _once(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))

"""The values of the rows that are greatest or least by something else, whatever the order in which
rows arrive: on Spark no rule says which of two tasks reads its rows first."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

import attrs

from beamlike.errors import CombineError
from beamlike.model.combine.base import ExactMerge, Items, Listing
from beamlike.model.combine.distinct import place_of
from beamlike.model.combine.folds import rank
from beamlike.model.options import whole_number

Ranked = tuple[Any, Any, int]
"""A value, what is compared in its place, and its event time."""


class _ByOther(Listing, ExactMerge):
    """Pairs of a value and of what is compared; a pair in which that is null is left out."""

    n: int
    """How many are kept at most."""
    smallest: bool
    takes_nulls: ClassVar[bool] = True
    """Whether a value that is null is one to choose."""

    def add(self, accumulator: Items, values: Sequence[Any], timestamps: Sequence[int]) -> Items:
        present = (
            (value, compared, timestamp)
            for (value, compared), timestamp in zip(values, timestamps, strict=True)
            if compared is not None and (self.takes_nulls or value is not None)
        )
        return self._best((*accumulator, *present))

    def merge(self, first: Items, second: Items) -> Items:
        return self._best((*first, *second))

    def _best(self, rows: Iterable[Ranked]) -> Items:
        # Sorting keeps the order of equal ones, also in reverse.
        ordered = sorted(rows, key=itemgetter(2))
        ordered.sort(key=_compared, reverse=not self.smallest)
        best: list[Ranked] = []
        for _, of_one_time in groupby(ordered, lambda row: (_compared(row), row[2])):
            equal = list(of_one_time)
            if len(equal) > 1:
                equal.sort(key=lambda row: place_of(row[0]))
            best += equal
            if len(best) >= self.n:
                break
        return tuple(best[: self.n])


def _compared(row: Ranked) -> tuple[bool, Any]:
    is_nan, value = rank(row[1])
    return is_nan, 0 if is_nan else value


@attrs.frozen
class RankedBy(_ByOther):
    """The values that belong to the ``n`` greatest of something else, that of the greatest first.

    Of equal ones that with the least event time is first, and of equal times the least value, in
    the order of `CollectSet`. A pair with a null is left out. NaN is greater than all numbers.
    Empty pane: the empty list.

    Args:
        n: How many at most, 1 or more.
        smallest: Those of the least instead, that of the least first.

    Raises:
        CombineError: ``n`` is no whole number of 1 or more.

    >>> fn = RankedBy(2)
    >>> fn.extract(fn.add(fn.create(), [("tea", 5), ("cake", 5), ("milk", 3)], [9, 0, 0]))
    ['cake', 'tea']
    """

    n: int
    takes_nulls = False
    smallest: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        whole_number(self.n, 1, "Top n", CombineError)

    def extract(self, accumulator: Items) -> list[Any]:
        return [value for value, *_ in accumulator]


@attrs.frozen
class ExtremeBy(_ByOther):
    """The value that belongs to the greatest of something else; the value may be null.

    Of equal ones that with the least event time counts, and of equal times the least value, in the
    order of `CollectSet`. NaN is greater than all numbers. Empty pane: None.

    Args:
        smallest: That of the least instead.

    Source: Spark ``max_by`` and ``min_by``, which take any of equal ones.

    >>> fn = ExtremeBy()
    >>> fn.extract(fn.add(fn.create(), [("tea", 5), ("cake", 5), ("milk", 3)], [9, 0, 0]))
    'cake'
    """

    n = 1
    smallest: bool = attrs.field(default=False, kw_only=True)

    def extract(self, accumulator: Items) -> Any:
        return accumulator[0][0] if accumulator else None

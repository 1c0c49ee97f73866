"""Counts, sums, means and extremes: accumulators of one or two numbers."""

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from functools import reduce
from operator import add
from typing import Any, ClassVar

import attrs

from beamlike.model.combine.base import CombineFn, ExactMerge, WholeNumbersFold

EXACT = Context(prec=76)
"""Decimals of SQL have up to 38 digits; Python's own 28 would round their sums."""


def rank(value: Any) -> tuple[bool, Any]:
    """NaN after everything else: compared as it is, it would win or lose by its place."""
    return value != value, value


def _total(values: Sequence[Any], start: Any) -> Any:
    """The sum, one after the other: from Python 3.12 on, its own corrects floats on the way, and
    last digits would depend on how elements arrive and on who adds them."""
    return reduce(add, values, start)


class Counting(CombineFn):
    """A combine function whose accumulators are numbers that are added up, from 0 on."""

    def create(self) -> int:
        return 0

    def merge(self, first: int, second: int) -> int:
        return first + second


@attrs.frozen
class Count(Counting, ExactMerge):
    """How many elements. Empty pane: 0.

    >>> fn = Count()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    3
    """

    scio_operation = "countByKey"

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + len(values)


@attrs.frozen
class CountValues(Counting, ExactMerge):
    """How many values are not null, as SQL's ``count(column)``. Empty pane: 0.

    >>> fn = CountValues()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    2
    """

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + sum(value is not None for value in values)


@attrs.frozen
class Sum(CombineFn):
    """The sum of the values that are not null. Empty pane: 0, as in Beam (SQL says null).

    >>> fn = Sum()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    12
    """

    scio_operation: ClassVar[str | None] = "sumByKey"
    whole_numbers_fold: ClassVar[WholeNumbersFold | None] = "sum"

    def create(self) -> Any:
        return 0

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        present = [value for value in values if value is not None]
        if not any(isinstance(value, Decimal) for value in (accumulator, *present[:1])):
            return _total(present, accumulator)
        with localcontext(EXACT):
            return _total(present, accumulator)

    def merge(self, first: Any, second: Any) -> Any:
        with localcontext(EXACT):
            return first + second


Total = tuple[Any, int]
"""A sum, and of how many values it is."""


class Totalling(CombineFn):
    """A combine function of the sum of the values that are not null, and of how many they are."""

    zero: ClassVar[Any] = 0
    """The sum of nothing."""

    def create(self) -> Total:
        return (self.zero, 0)

    def add(self, accumulator: Total, values: Sequence[Any], timestamps: Sequence[int]) -> Total:
        present = [value for value in values if value is not None]
        return (_total(present, accumulator[0]), accumulator[1] + len(present))

    def merge(self, first: Total, second: Total) -> Total:
        return (first[0] + second[0], first[1] + second[1])


@attrs.frozen
class Mean(Totalling):
    """The mean of the values that are not null. Empty pane: null.

    >>> fn = Mean()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    6.0
    """

    scio_operation = "meanByKey"

    def extract(self, accumulator: Total) -> float | None:
        total, count = accumulator
        return total / count if count else None


class _Extreme(ExactMerge):
    """The least or the greatest value that is not null."""

    pick: ClassVar[Callable[..., Any]]

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        present = (value for value in values if value is not None)
        return self.merge(accumulator, self.pick(present, key=rank, default=None))

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return self.pick(first, second, key=rank)


@attrs.frozen
class Min(_Extreme):
    """The least value that is not null; NaN is the greatest, as in SQL. Empty pane: null.

    >>> fn = Min()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    5
    """

    scio_operation = "minByKey"
    whole_numbers_fold = "min"
    pick = min


@attrs.frozen
class Max(_Extreme):
    """The greatest value that is not null; NaN is greater than all. Empty pane: null.

    >>> fn = Max()
    >>> fn.extract(fn.add(fn.create(), [5, None, 7], [0, 0, 0]))
    7
    """

    scio_operation = "maxByKey"
    whole_numbers_fold = "max"
    pick = max

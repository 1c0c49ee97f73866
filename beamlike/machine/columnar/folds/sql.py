"""Means, and sums that are null if they have no values; see `beamlike.model.combine.sql`."""

from abc import abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Bools, Ints
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    array_of,
    numbers_of,
    objects,
    present_in,
)
from beamlike.machine.columnar.folds.numbers import DecimalSum, FloatSum, WholeSum
from beamlike.model.combine.sql import mean_of, nearest


class SumBeside(Fold):
    """Any sum, and for each window a marker that says whether the sum has values.

    Args:
        sums: The fold of the sum.
    """

    joined: ClassVar[np.ufunc]
    """How two markers become one: counts are added up."""
    empty: ClassVar[Any]
    """The marker of a sum without values."""

    def __init__(self, sums: Fold) -> None:
        self.sums = sums

    @abstractmethod
    def marker(self, elements: ElementsByWindow) -> Any:
        """The markers for the sums of elements, see `of`."""

    def create(self, count: int) -> Accumulators:
        return *self.sums.create(count), np.full(count, self.empty)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return *self.sums.of(elements), self.marker(elements)

    def add(self, held: Accumulators, elements: ElementsByWindow) -> Accumulators:
        totals = self.sums.add(held[:-1], elements)
        return *totals, self.joined(held[-1], self.marker(elements))

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        return *self.sums.merge(earlier[:-1], later[:-1]), self.joined(earlier[-1], later[-1])

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return *self.sums.merged(parts[:-1], first), self.joined.reduceat(parts[-1], first)

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        markers = self.joined(held[-1], self.joined.reduceat(parts[-1], first))
        return *self.sums.grown(held[:-1], parts[:-1], first), markers

    def values_of(self, columns: Sequence[pa.Array]) -> Values | None:
        return self.sums.values_of(columns)


class CountedSum(SumBeside):
    """Any sum, and how many values are in it."""

    joined, empty = np.add, np.int64(0)

    def types(self) -> list[pa.DataType]:
        return [*self.sums.types(), pa.int64()]

    def marker(self, elements: ElementsByWindow) -> Ints:
        return elements.present_counts()

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        *totals, count = accumulators
        return [*self.sums.save(tuple(totals)), array_of(count, None, pa.int64())]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        *totals, count = columns
        return *self.sums.load(totals), numbers_of(count)


class MeanFold(CountedSum):
    """The mean of floats."""

    def __init__(self) -> None:
        super().__init__(FloatSum())

    def extract(self, accumulators: Accumulators) -> Values:
        total, count = accumulators
        return Values(total / np.maximum(count, 1), count > 0)


class DecimalMeanFold(CountedSum):
    """The mean of decimals of 128 bits.

    Args:
        dtype: The type of their sum.
        scale: The decimal places of the mean.
    """

    def __init__(self, dtype: pa.DataType, scale: int) -> None:
        super().__init__(DecimalSum(dtype))
        self.scale, self.factor = scale, 10 ** (scale - dtype.scale)

    def extract(self, accumulators: Accumulators) -> Values:
        low, high, top, counts = accumulators
        greatest = max(int(low.max(initial=0)), -int(low.min(initial=0)))
        twice = 2 * greatest * self.factor + int(counts.max(initial=0))
        if twice < 2**63 and not high.any() and not top.any():
            return self._of_small(low, counts)
        totals = self.sums.extract(accumulators[:-1]).data.to_pylist()
        means = [
            mean_of(total, count, self.scale) if count else None
            for total, count in zip(totals, accumulators[-1].tolist(), strict=True)
        ]
        return Values(objects(means))

    def _of_small(self, totals: Ints, counts: Ints) -> Values:
        """The means of unscaled sums that leave room in 64 bits, see `nearest`."""
        divisors = np.maximum(counts, 1)
        quotients = (2 * self.factor * np.abs(totals) + divisors) // (2 * divisors)
        means = np.where(totals < 0, -quotients, quotients)
        pairs = np.stack([means, means >> 63], axis=1)
        return Values(array_of(pairs.ravel(), counts > 0, pa.decimal128(38, self.scale)))


class IntervalMeanFold(CountedSum):
    """The mean of durations."""

    def __init__(self, dtype: pa.DataType) -> None:
        super().__init__(WholeSum(dtype))

    def extract(self, accumulators: Accumulators) -> Values:
        totals, count = self.sums.extract(accumulators[:-1]).data.tolist(), accumulators[-1]
        pairs = zip(totals, count.tolist(), strict=True)
        means = [nearest(total, max(number, 1)) for total, number in pairs]
        return Values(np.array(means, np.int64), count > 0)


class NullOfNothing(SumBeside):
    """Any sum, and whether there is a value in it: if not, the sum is null."""

    joined, empty = np.logical_or, False

    def types(self) -> list[pa.DataType]:
        return self.sums.types()

    def marker(self, elements: ElementsByWindow) -> Bools:
        present = elements.values.validity
        if present is None:
            return np.ones(len(elements.first), np.bool_)
        return np.logical_or.reduceat(present, elements.first)

    def extract(self, accumulators: Accumulators) -> Values:
        *totals, present = accumulators
        data = self.sums.extract(tuple(totals)).data
        if isinstance(data, pa.Array):
            return Values(_nulled(data, present))
        return Values(data, present)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        *totals, present = accumulators
        return [_nulled(column, present) for column in self.sums.save(tuple(totals))]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        (column,) = columns
        present = present_in(column)
        if present is None:
            return *self.sums.load(columns), np.ones(len(column), np.bool_)
        zero = Decimal(0) if pa.types.is_decimal(column.type) else 0
        filled = pc.fill_null(column, pa.scalar(zero, column.type))
        return *self.sums.load([filled]), present


def _nulled(totals: pa.Array, present: Bools) -> pa.Array:
    if present.all():
        return totals
    return pc.if_else(pa.array(present), totals, pa.scalar(None, totals.type))

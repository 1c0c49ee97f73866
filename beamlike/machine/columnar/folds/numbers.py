"""Counts and means: accumulators that are added up."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Array, Ints, lengths_of
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    Fold,
    Values,
    array_of,
    number_values,
    numbers_of,
    present_in,
)


def _count_present(values: Values, first: Ints, counts: Ints) -> Ints:
    """How many are not null."""
    if values.present is None:
        return counts
    return np.add.reduceat(values.present, first, dtype=np.int64)


def _added_in_order(start: Array, values: Array, counts: Ints) -> Array:
    """To each number those of its run added, one after the other.

    ``np.add.reduceat`` is no faster, and adds floats in another order: other last digits.
    """
    total = start.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        np.add.at(total, np.repeat(np.arange(len(counts)), counts), values)
    return total


class CountFold(Fold):
    """How many elements."""

    def types(self) -> list[pa.DataType]:
        return [pa.int64()]

    def create(self, count: int) -> Accumulators:
        return (np.zeros(count, np.int64),)

    def of(
        self, values: Values | None, timestamps: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        return (counts,)

    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        return (one[0] + other[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return (np.add.reduceat(parts[0], first),)

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(accumulators[0])

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        return [array_of(accumulators[0], None, pa.int64())]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        return (numbers_of(columns[0]),)


class CountValuesFold(CountFold):
    """How many values are not null."""

    def of(
        self, values: Values | None, timestamps: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        assert values is not None, "which values are null is what it counts"
        return (_count_present(values, first, counts),)

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return Values(None, present_in(columns[0]))


class FloatSum(Fold):
    """The sum of floats, to the last digit that of one addition after the other."""

    def types(self) -> list[pa.DataType]:
        return [pa.float64()]

    def create(self, count: int) -> Accumulators:
        return (np.zeros(count),)

    def of(
        self, values: Values | None, timestamps: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        return self.add(self.create(len(first)), values, timestamps, first, counts)

    def add(
        self, held: Accumulators, values: Values | None, timestamps: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        assert values is not None, "a sum has something to add up"
        return (_added_in_order(held[0], _or_zero(values), counts),)

    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        with np.errstate(invalid="ignore", over="ignore"):
            return (one[0] + other[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self.grown(self.create(len(first)), parts, first)

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        return (_added_in_order(held[0], parts[0], lengths_of(first, len(parts[0]))),)

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(accumulators[0])

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return number_values(columns[0])

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        return [array_of(accumulators[0], None, pa.float64())]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        return (numbers_of(columns[0]),)


class MeanFold(FloatSum):
    """The mean of floats: their sum, and how many they are."""

    def types(self) -> list[pa.DataType]:
        return [pa.float64(), pa.int64()]

    def create(self, count: int) -> Accumulators:
        return np.zeros(count), np.zeros(count, np.int64)

    def add(
        self, held: Accumulators, values: Values | None, timestamps: Ints, first: Ints, counts: Ints
    ) -> Accumulators:
        assert values is not None, "a mean has something to add up"
        total = _added_in_order(held[0], _or_zero(values), counts)
        return total, held[1] + _count_present(values, first, counts)

    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        return *super().both(one, other), one[1] + other[1]

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        counts = held[1] + np.add.reduceat(parts[1], first)
        return *super().grown(held, parts, first), counts

    def extract(self, accumulators: Accumulators) -> Values:
        total, count = accumulators
        return Values(total / np.maximum(count, 1), count > 0)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        total, count = accumulators
        return [array_of(total, None, pa.float64()), array_of(count, None, pa.int64())]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        return numbers_of(columns[0]), numbers_of(columns[1])


def _or_zero(values: Values) -> Array:
    """Numbers to be added up; a null adds nothing."""
    if values.present is None:
        return values.data  # type: ignore[no-any-return]
    return np.where(values.present, values.data, 0.0)

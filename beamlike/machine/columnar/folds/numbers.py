"""Counts and sums of floats: accumulators that are added up."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Array, Ints, lengths_of
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    present_in,
)


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

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return (elements.counts,)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        return (earlier[0] + later[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return (np.add.reduceat(parts[0], first),)

    def values_of(self, columns: Sequence[pa.Array]) -> Values | None:
        return None


class CountValuesFold(CountFold):
    """How many values are not null."""

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return (elements.present_counts(),)

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return Values(None, present_in(columns[0]))


class FloatSum(Fold):
    """The sum of floats, to the last digit that of one addition after the other."""

    def types(self) -> list[pa.DataType]:
        return [pa.float64()]

    def create(self, count: int) -> Accumulators:
        return (np.zeros(count),)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return self.add(self.create(len(elements.first)), elements)

    def add(self, held: Accumulators, elements: ElementsByWindow) -> Accumulators:
        data, present = elements.values.data, elements.values.present
        numbers = data if present is None else np.where(present, data, 0.0)
        return (_added_in_order(held[0], numbers, elements.counts),)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        with np.errstate(invalid="ignore", over="ignore"):
            return (earlier[0] + later[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self.grown(self.create(len(first)), parts, first)

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        return (_added_in_order(held[0], parts[0], lengths_of(first, len(parts[0]))),)

"""Counts and sums over rows of which some withdraw others; see `beamlike.model.combine.corrected`.

The last input of each fold says which rows are withdrawn.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Ints
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    filled,
    numbers_of,
    present_in,
)
from beamlike.machine.columnar.folds.numbers import CountFold, WholeSum
from beamlike.machine.columnar.folds.sql import CountedSum

F = TypeVar("F", bound=Fold)


def shown(folds: Sequence[F]) -> Sequence[F]:
    """The folds whose values are in a pane. Where rows are withdrawn, the last fold counts the rows
    that are left, and is not one of them."""
    return folds[:-1] if folds and isinstance(folds[-1], NetCountFold) else folds


class NetCountFold(CountFold):
    """How many rows are left, without the withdrawn ones."""

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return (np.add.reduceat(elements.values.data, elements.first),)

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return Values(_signs(columns[-1]))


class NetCountValuesFold(NetCountFold):
    """How many values that are not null are left, without the withdrawn ones."""

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        return Values(filled(_signs(columns[-1]), present_in(columns[0]), 0))


class NetWholeSum(CountedSum):
    """The sum of the 64-bit whole numbers that are left, and how many they are."""

    sums: WholeSum

    def __init__(self) -> None:
        super().__init__(WholeSum())

    def of(self, elements: ElementsByWindow) -> Accumulators:
        *digits, signs = elements.values.data
        totals = self.sums.of_digits(tuple(digits), elements.first)
        return *totals, np.add.reduceat(signs, elements.first)

    add = Fold.add

    def extract(self, accumulators: Accumulators) -> Values:
        low, high, count = accumulators
        data = self.sums.extract((low, high)).data
        return Values(data, (low != 0) | (high != 0) | (count != 0))

    def values_of(self, columns: Sequence[pa.Array]) -> Values:
        """As digits, for the opposite of the least number has 65 bits, and as what each counts."""
        present, signs = present_in(columns[0]), _signs(columns[-1])
        negative, data = signs < 0, filled(numbers_of(columns[0]), present, 0)
        signs = filled(signs, present, 0)
        over = (negative & (data == np.iinfo(np.int64).min)).astype(np.int64)
        with np.errstate(over="ignore"):
            low = np.where(negative, -data, data)
        return Values((low, over, signs) if over.any() else (low, signs))


def _signs(withdrawn: pa.Array) -> Ints:
    back = withdrawn.fill_null(False).to_numpy(zero_copy_only=False)
    return np.where(back, -1, 1).astype(np.int64)

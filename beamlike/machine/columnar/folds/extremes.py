"""The least and the greatest value. NaN is the greatest of all numbers, nulls are ignored."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.machine.columnar.arrays import Array, Bools, Ints, choose, lengths_of
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    array_of,
    decimal_words,
    filled,
    numbers_of,
    numpy_type,
    present_in,
)


class _OneColumn(Fold):
    """An extreme that is saved in one column of the type of the values."""

    def __init__(self, dtype: pa.DataType, least: bool) -> None:
        self.dtype, self.least = dtype, least
        self.pick: np.ufunc = np.minimum if least else np.maximum


class Extreme(_OneColumn):
    """The least or greatest of numbers, dates and times: a number, and whether there is one."""

    def __init__(self, dtype: pa.DataType, least: bool) -> None:
        super().__init__(dtype, least)
        self.number: np.dtype[Any] = np.dtype(numpy_type(dtype))
        if self.number.kind == "f":
            # NaN is the greatest: the least ignores it unless there is nothing else.
            self.pick = np.fmin if least else np.maximum
            self.neutral = np.nan if least else -np.inf
        elif self.number.kind == "b":
            self.neutral = least
        else:
            bounds = np.iinfo(self.number)
            self.neutral = bounds.max if least else bounds.min

    def create(self, count: int) -> Accumulators:
        return np.full(count, self.neutral, self.number), np.zeros(count, np.bool_)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        data, present, first = elements.values.data, elements.values.present, elements.first
        if present is None:
            return self._picked(data, first), np.ones(len(first), np.bool_)
        return self.merged((self._filled(data, present), present), first)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        data = self.pick(earlier[0], later[0])
        if self.number.kind == "f":
            data = np.where(earlier[0] == later[0], earlier[0], data)  # of 0.0 and -0.0 the first
        return data, earlier[1] | later[1]

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self._picked(parts[0], first), np.logical_or.reduceat(parts[1], first)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        data, present = accumulators
        return [array_of(data, present, self.dtype)]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        data, present = numbers_of(columns[0]), present_in(columns[0])
        if present is None:
            return data, np.ones(len(data), np.bool_)
        return self._filled(data, present), present

    def _filled(self, data: Array, present: Bools) -> Array:
        filled: Array = np.where(present, data, self.number.type(self.neutral))
        return filled

    def _picked(self, data: Array, first: Ints) -> Array:
        extremes: Array = self.pick.reduceat(data, first)
        if self.number.kind != "f" or (extremes != 0).all():
            return extremes
        zeros = np.nonzero(data == 0)[0]
        if not np.signbit(data[zeros]).any():
            return extremes
        # 0.0 and -0.0 are equal: the first counts.
        place = np.minimum(np.searchsorted(zeros, first), len(zeros) - 1)
        return np.where(extremes == 0, data[zeros[place]], extremes)


class ExtremeDecimal(_OneColumn):
    """The least or greatest of decimals of 128 bits: their two words, in the order of numbers.

    In place of no value the upper word is beyond all decimals.
    """

    def __init__(self, dtype: pa.DataType, least: bool) -> None:
        super().__init__(dtype, least)
        self.none = 2**63 - 1 if least else -(2**63)

    def create(self, count: int) -> Accumulators:
        return np.zeros(count, np.int64), np.full(count, self.none, np.int64)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return self.merged(self.load([elements.values.data]), elements.first)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        (low, high), (other_low, other_high) = earlier, later
        better = np.less if self.least else np.greater
        second = better(other_high, high) | ((other_high == high) & better(other_low, low))
        return choose(second, later, earlier)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        low, high = parts
        best = self.pick.reduceat(high, first)
        lengths = lengths_of(first, len(high))
        low = np.where(high == np.repeat(best, lengths), low, self.none)
        return self.pick.reduceat(low, first), best

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(self.save(accumulators)[0])

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        low, high = accumulators
        pairs = np.stack([low ^ _SIGN, high], axis=1)
        return [array_of(pairs.ravel(), high != self.none, self.dtype)]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        low, high = decimal_words(columns[0])
        return low ^ _SIGN, filled(high, present_in(columns[0]), self.none)


_SIGN = np.int64(-(2**63))
"""With this bit flipped, unsigned lower words compare like signed numbers."""


class ExtremeText(_OneColumn):
    """The least or greatest of texts and bytes: an Arrow array, null where there is none.

    Arrow compares the bytes of texts, which gives the order of Python.
    """

    def create(self, count: int) -> Accumulators:
        return (pa.nulls(count, self.dtype),)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return self.merged((elements.values.data,), elements.first)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        (a,), (b,) = earlier, later
        if a.null_count == len(a):
            return later
        better = pc.less(b, a) if self.least else pc.greater(b, a)
        mask: Bools = pc.fill_null(better, pc.and_(pc.is_null(a), pc.is_valid(b))).to_numpy(
            zero_copy_only=False
        )
        return (choose(mask, b, a),)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        # Each value's place among all different ones is a number.
        coded = parts[0].dictionary_encode()
        order = numbers_of(pc.array_sort_indices(coded.dictionary)).astype(np.int64)
        different = len(order)
        if not different:
            return self.create(len(first))
        place = np.empty(different, np.int64)
        place[order] = np.arange(different)
        places = place[np.where(_presence(coded.indices), numbers_of(coded.indices), 0)]
        none = different if self.least else -1
        places = np.where(_presence(coded.indices), places, none)
        picked = self.pick.reduceat(places, first)
        rows = order[np.where(picked == none, 0, picked)]
        return (coded.dictionary.take(pa.array(rows, mask=picked == none)),)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        return list(accumulators)

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        return tuple(columns)


def _presence(indices: pa.Array) -> Any:
    present = present_in(indices)
    return True if present is None else present

"""Counts, sums of floats, and sums of whole numbers and decimals: accumulators that are added up.

Sums of whole numbers and decimals are exact, however great they become on the way. One is kept in
digits of 64 bits, signed and the lowest first: ``d0 + 2**64 * d1 + ...``. It has to fit its type
only where it is saved and where it is emitted.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import Array, Ints, lengths_of
from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    Values,
    array_of,
    decimal_words,
    filled,
    fitted,
    from_objects,
    numbers_of,
    present_in,
)

Digits = tuple[Ints, ...]

_HALF = 2**32 - 1
_INT64 = pa.int64()


def _added_in_order(start: Array, values: Array, counts: Ints) -> Array:
    """Each number plus the values of its run, added one after the other.

    ``np.add.reduceat`` is not faster, and adds floats in another order, with other last digits.
    """
    total = start.copy()
    with np.errstate(invalid="ignore", over="ignore"):
        np.add.at(total, np.repeat(np.arange(len(counts)), counts), values)
    return total


class CountFold(Fold):
    """How many elements."""

    dtype = _INT64

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
    """The sum of floats, to the last digit as if they were added one after the other."""

    dtype = pa.float64()

    def create(self, count: int) -> Accumulators:
        return (np.zeros(count),)

    def of(self, elements: ElementsByWindow) -> Accumulators:
        return self.add(self.create(len(elements.first)), elements)

    def add(self, held: Accumulators, elements: ElementsByWindow) -> Accumulators:
        numbers = filled(elements.values.data, elements.values.present, 0.0)
        return (_added_in_order(held[0], numbers, elements.counts),)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        with np.errstate(invalid="ignore", over="ignore"):
            return (earlier[0] + later[0],)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self.grown(self.create(len(first)), parts, first)

    def grown(self, held: Accumulators, parts: Accumulators, first: Ints) -> Accumulators:
        return (_added_in_order(held[0], parts[0], lengths_of(first, len(parts[0]))),)


class WholeSum(Fold):
    """The sum of 64-bit whole numbers, in two digits.

    Args:
        dtype: Their type: whole numbers, or durations.
    """

    width = 2

    def __init__(self, dtype: pa.DataType = _INT64) -> None:
        self.dtype = dtype

    def create(self, count: int) -> Accumulators:
        return tuple(np.zeros(count, np.int64) for _ in range(self.width))

    def of(self, elements: ElementsByWindow) -> Accumulators:
        numbers = filled(elements.values.data, elements.values.present, 0)
        return self.of_digits((numbers,), elements.first)

    def merge(self, earlier: Accumulators, later: Accumulators) -> Accumulators:
        digits, carry = [], None
        for a, b in zip(earlier, later, strict=True):
            digit, carry = _carried(*_plus(a, b), carry)
            digits.append(digit)
        return tuple(digits)

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self.of_digits(parts, first)

    def extract(self, accumulators: Accumulators) -> Values:
        low, high = accumulators
        return Values(low + high.astype(object) * 2**64 if high.any() else low)

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        data = self.extract(accumulators).data
        if data.dtype == object:
            return [from_objects(data.tolist(), self.dtype)]
        return [array_of(data, None, self.dtype)]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        low = numbers_of(columns[0])
        return low, np.zeros(len(low), np.int64)

    def of_digits(self, digits: Digits, first: Ints) -> Digits:
        """The sum of each run of numbers."""
        totals, carry = [], None
        for column in digits:
            digit, carry = _carried(*_run_sums(column, first), carry)
            totals.append(digit)
        while len(totals) < self.width:
            totals.append(np.zeros(len(first), np.int64) if carry is None else carry)
            carry = None
        return tuple(totals)


class DecimalSum(WholeSum):
    """The sum of decimals of 128 bits, in three digits of the unscaled number."""

    width = 3

    def of(self, elements: ElementsByWindow) -> Accumulators:
        present = elements.values.validity
        low, high = (filled(digit, present, 0) for digit in _digits(elements.values.data))
        return self.of_digits((low, high) if high.any() else (low,), elements.first)

    def extract(self, accumulators: Accumulators) -> Values:
        """As decimals of 256 bits: they hold every sum."""
        low, high, top = accumulators
        quads = np.empty((len(low), 4), np.int64)
        quads[:, 0] = low
        quads[:, 1] = high - (low < 0)
        quads[:, 2] = top - ((quads[:, 1] < 0) | (high == _LEAST) & (low < 0))
        quads[:, 3] = quads[:, 2] >> 63
        return Values(array_of(quads.ravel(), None, pa.decimal256(76, self.dtype.scale)))

    def save(self, accumulators: Accumulators) -> list[pa.Array]:
        return [fitted(self.extract(accumulators).data, self.dtype)]

    def load(self, columns: Sequence[pa.Array]) -> Accumulators:
        low, high = _digits(columns[0])
        return low, high, np.zeros(len(low), np.int64)


_LEAST = -(2**63)


def _digits(decimals: pa.Array) -> Digits:
    """The digits of decimals. The lower of a decimal's two words is unsigned."""
    low, high = decimal_words(decimals)
    return low, high + (low < 0)


def _run_sums(column: Ints, first: Ints) -> tuple[Ints, Ints | None]:
    """The sum of each run of numbers, and its carry; None: no sum has one."""
    greatest = max(int(column.max(initial=0)), -int(column.min(initial=0)))
    if greatest * len(column) < 2**63:
        return np.add.reduceat(column, first), None
    below = np.add.reduceat(column & _HALF, first)
    above = np.add.reduceat(column >> 32, first) + (below >> 32)
    return (above << 32) | (below & _HALF), (above + 2**31) >> 32


def _plus(a: Ints, b: Ints) -> tuple[Ints, Ints | None]:
    """The sum of two digits, and its carry."""
    total = a + b
    over = ((a ^ total) & (b ^ total)) < 0
    return total, np.where(over, np.where(a < 0, -1, 1), 0) if over.any() else None


def _carried(digit: Ints, carry: Ints | None, before: Ints | None) -> tuple[Ints, Ints | None]:
    """A digit and its carry, after the carry of the digit below was added."""
    if before is None:
        return digit, carry
    digit, second_carry = _plus(digit, before)
    if carry is None or second_carry is None:
        return digit, second_carry if carry is None else carry
    return digit, carry + second_carry

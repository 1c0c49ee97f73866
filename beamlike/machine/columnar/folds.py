"""Combine functions over columns: the elements of many windows become accumulators at once.

An accumulator is one or two columns, as it rests in state. Each fold says what its reference in
`beamlike.model.combine` says, for all windows of a bundle.
"""

from abc import ABC, abstractmethod
from functools import singledispatch
from typing import Any

import attrs
import numpy as np

from beamlike.errors import UnsupportedError
from beamlike.machine.columnar.arrays import Array, Bools, Ints
from beamlike.model import combine

__all__ = ["Accumulators", "Fold", "Values", "fold_of"]

Accumulators = tuple[Array, ...]
"""The columns of one fold, a row for each window."""


@attrs.frozen(eq=False)
class Values:
    """A column of values with its nulls; the data under a null is anything."""

    data: Array
    present: Bools


class Fold(ABC):
    """One combine function over columns. ``kind`` is the type of its values."""

    def __init__(self, kind: np.dtype[Any]) -> None:
        self.kind = kind

    @abstractmethod
    def create(self, count: int) -> Accumulators:
        """So many accumulators without elements."""

    @abstractmethod
    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        """The accumulators of elements that lie window by window.

        Args:
            values: The elements' values; None if the fold needs none.
            first: For each window its first element. Each has at least one.
            counts: For each window how many it has.
        """

    @abstractmethod
    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        """Merged window by window."""

    @abstractmethod
    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        """Accumulators that lie next to each other merged into one."""

    @abstractmethod
    def extract(self, accumulators: Accumulators) -> Values:
        """The values of panes."""


class _Added(Fold):
    """Folds whose columns are added up."""

    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        return tuple(a + b for a, b in zip(one, other, strict=True))

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return tuple(np.add.reduceat(column, first) for column in parts)

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(accumulators[0], np.ones(len(accumulators[0]), np.bool_))


class Count(_Added):
    def create(self, count: int) -> Accumulators:
        return (np.zeros(count, np.int64),)

    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        return (counts,)


class CountValues(_Added):
    def create(self, count: int) -> Accumulators:
        return (np.zeros(count, np.int64),)

    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        assert values is not None, "which values are null is what it counts"
        return (np.add.reduceat(values.present.astype(np.int64), first),)


class Sum(_Added):
    def create(self, count: int) -> Accumulators:
        return (np.zeros(count, self.kind),)

    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        assert values is not None, "a sum has something to add up"
        return (np.add.reduceat(np.where(values.present, values.data, self.kind.type(0)), first),)


class Mean(_Added):
    """A sum and a count."""

    def create(self, count: int) -> Accumulators:
        return np.zeros(count, np.float64), np.zeros(count, np.int64)

    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        assert values is not None, "a mean has something to add up"
        present = values.present
        total = np.add.reduceat(np.where(present, values.data, 0.0), first)
        return total, np.add.reduceat(present.astype(np.int64), first)

    def extract(self, accumulators: Accumulators) -> Values:
        total, count = accumulators
        return Values(total / np.maximum(count, 1), count > 0)


class _Extreme(Fold):
    """The least or the greatest: a value, and whether there is one. NaN is the greatest."""

    def __init__(self, kind: np.dtype[Any], least: bool) -> None:
        super().__init__(kind)
        # NaN is the greatest: the least ignores it unless there is nothing else.
        self.least = least
        self.pick = np.fmin if least else np.maximum
        bounds: Any = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)
        if kind.kind == "f":
            self.neutral = kind.type(np.nan if least else -np.inf)
        else:
            self.neutral = kind.type(bounds.max if least else bounds.min)

    def create(self, count: int) -> Accumulators:
        return np.full(count, self.neutral, self.kind), np.zeros(count, np.bool_)

    def of(self, values: Values | None, first: Ints, counts: Ints) -> Accumulators:
        assert values is not None, "an extreme is one of its values"
        data = np.where(values.present, values.data, self.neutral)
        return self.merged((data, values.present), first)

    def both(self, one: Accumulators, other: Accumulators) -> Accumulators:
        return self.pick(one[0], other[0]), one[1] | other[1]

    def merged(self, parts: Accumulators, first: Ints) -> Accumulators:
        return self.pick.reduceat(parts[0], first), np.logical_or.reduceat(parts[1], first)

    def extract(self, accumulators: Accumulators) -> Values:
        return Values(*accumulators)


@singledispatch
def fold_of(fn: combine.CombineFn, kind: np.dtype[Any]) -> Fold:
    """The fold of a combine function over values of this type.

    Raises:
        UnsupportedError: There is none.
    """
    raise UnsupportedError(f"the columnar machine has no columns for {fn}")


@fold_of.register
def _(fn: combine.Count, kind: np.dtype[Any]) -> Fold:
    return Count(kind)


@fold_of.register
def _(fn: combine.CountValues, kind: np.dtype[Any]) -> Fold:
    return CountValues(kind)


@fold_of.register
def _(fn: combine.Sum, kind: np.dtype[Any]) -> Fold:
    return Sum(kind)


@fold_of.register
def _(fn: combine.Mean, kind: np.dtype[Any]) -> Fold:
    return Mean(kind)


@fold_of.register
def _(fn: combine.Min, kind: np.dtype[Any]) -> Fold:
    return _Extreme(kind, least=True)


@fold_of.register
def _(fn: combine.Max, kind: np.dtype[Any]) -> Fold:
    return _Extreme(kind, least=False)

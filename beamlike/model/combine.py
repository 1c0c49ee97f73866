"""Combine functions: how the elements of a pane become one value.

The contract is Beam's: create an accumulator, add to it, merge two, extract the result.
Accumulators are values; ``add`` and ``merge`` return new ones and leave their arguments as
they were. The result for an empty pane is that of a fresh accumulator.

Source: Beam Java ``Combine.CombineFn``, Beam Python ``CombineFn``.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, localcontext
from typing import Any

import attrs

__all__ = [
    "Collect",
    "CollectByTimestamp",
    "CombineFn",
    "Count",
    "CountValues",
    "Latest",
    "Max",
    "Mean",
    "Min",
    "Stamped",
    "Sum",
    "Together",
]


_EXACT = Context(prec=76)
"""Decimals of SQL have up to 38 digits; Python's own 28 would round their sums."""


@attrs.frozen
class Stamped:
    """A value and its event time in milliseconds."""

    value: Any
    timestamp: int


class CombineFn(ABC):
    """Folds the elements of a pane into one value. A frozen value itself.

    ``merge(a, b)`` must equal adding b's elements after a's, and a fresh accumulator must be
    neutral: windows merge in an order that nobody promises.
    """

    @abstractmethod
    def create(self) -> Any:
        """The accumulator of an empty pane."""

    @abstractmethod
    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        """The accumulator with a bundle's elements added: their values and their event times
        (ms), in order of arrival."""

    @abstractmethod
    def merge(self, first: Any, second: Any) -> Any:
        """One accumulator for the elements of two."""

    def extract(self, accumulator: Any) -> Any:
        """The pane's value. By default the accumulator itself."""
        return accumulator


@attrs.frozen
class Count(CombineFn):
    """How many elements. Empty pane: 0."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + len(values)

    def merge(self, first: int, second: int) -> int:
        return first + second


@attrs.frozen
class CountValues(CombineFn):
    """How many values are not null, as SQL's ``count(column)``. Empty pane: 0."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + sum(value is not None for value in values)

    def merge(self, first: int, second: int) -> int:
        return first + second


@attrs.frozen
class Sum(CombineFn):
    """The sum of the values that are not null. Empty pane: 0, as in Beam (SQL says null)."""

    def create(self) -> Any:
        return 0

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        present = [value for value in values if value is not None]
        if not any(isinstance(value, Decimal) for value in (accumulator, *present[:1])):
            return sum(present, accumulator)
        with localcontext(_EXACT):
            return sum(present, accumulator)

    def merge(self, first: Any, second: Any) -> Any:
        with localcontext(_EXACT):
            return first + second


@attrs.frozen
class Mean(CombineFn):
    """The mean of the values that are not null. Empty pane: null."""

    def create(self) -> tuple[float, int]:
        return (0, 0)

    def add(
        self, accumulator: tuple[float, int], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[float, int]:
        present = [value for value in values if value is not None]
        return (sum(present, accumulator[0]), accumulator[1] + len(present))

    def merge(self, first: tuple[float, int], second: tuple[float, int]) -> tuple[float, int]:
        return (first[0] + second[0], first[1] + second[1])

    def extract(self, accumulator: tuple[float, int]) -> float | None:
        total, count = accumulator
        return total / count if count else None


def _rank(value: Any) -> tuple[bool, Any]:
    """NaN after everything else: compared as it is, it would win or lose by its place."""
    return value != value, value


@attrs.frozen
class Min(CombineFn):
    """The least value that is not null; NaN is the greatest, as in SQL. Empty pane: null."""

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        present = (value for value in values if value is not None)
        return self.merge(accumulator, min(present, key=_rank, default=None))

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return min(first, second, key=_rank)


@attrs.frozen
class Max(CombineFn):
    """The greatest value that is not null; NaN is greater than all. Empty pane: null."""

    def create(self) -> Any:
        return None

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        present = (value for value in values if value is not None)
        return self.merge(accumulator, max(present, key=_rank, default=None))

    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return max(first, second, key=_rank)


@attrs.frozen
class Collect(CombineFn):
    """All values as a list, in no promised order. Empty pane: the empty list.

    Args:
        keep_nulls: Whether a null value is an item. Beam keeps it; SQL's ``collect_list``,
            and so `beamlike.collect`, leaves it out.
    """

    keep_nulls: bool = True

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        if self.keep_nulls:
            return (*accumulator, *values)
        return (*accumulator, *(value for value in values if value is not None))

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return first + second

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return list(accumulator)


@attrs.frozen
class CollectByTimestamp(CombineFn):
    """All values as a list ordered by event time, equal times in order of arrival."""

    def create(self) -> tuple[Stamped, ...]:
        return ()

    def add(
        self, accumulator: tuple[Stamped, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Stamped, ...]:
        return self.merge(accumulator, tuple(map(Stamped, values, timestamps)))

    def merge(self, first: tuple[Stamped, ...], second: tuple[Stamped, ...]) -> tuple[Stamped, ...]:
        return tuple(sorted(first + second, key=lambda e: e.timestamp))

    def extract(self, accumulator: tuple[Stamped, ...]) -> list[Any]:
        return [e.value for e in accumulator]


@attrs.frozen
class Latest(CombineFn):
    """The value with the greatest event time, the last to arrive among equals. Empty: null."""

    def create(self) -> Stamped | None:
        return None

    def add(
        self, accumulator: Stamped | None, values: Sequence[Any], timestamps: Sequence[int]
    ) -> Stamped | None:
        for element in map(Stamped, values, timestamps):
            accumulator = self.merge(accumulator, element)
        return accumulator

    def merge(self, first: Stamped | None, second: Stamped | None) -> Stamped | None:
        if first is None or second is None:
            return second if first is None else first
        return first if first.timestamp > second.timestamp else second

    def extract(self, accumulator: Stamped | None) -> Any:
        return None if accumulator is None else accumulator.value


@attrs.frozen
class Together(CombineFn):
    """Several combine functions over one pane, each fed by its own part of the element.

    Elements are tuples; ``parts`` maps an output name to the function and to the position of
    its input in that tuple (None: the function needs no input). Accumulators and results are
    tuples in the order of ``parts``.
    """

    parts: Mapping[str, tuple[CombineFn, int | None]]

    def create(self) -> tuple[Any, ...]:
        return tuple(fn.create() for fn, _ in self.parts.values())

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return tuple(
            fn.add(part, values if at is None else [value[at] for value in values], timestamps)
            for part, (fn, at) in zip(accumulator, self.parts.values(), strict=True)
        )

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            fn.merge(one, other)
            for one, other, (fn, _) in zip(first, second, self.parts.values(), strict=True)
        )

    def extract(self, accumulator: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            fn.extract(part) for part, (fn, _) in zip(accumulator, self.parts.values(), strict=True)
        )

"""Combine functions out of plain functions, as Scio makes them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from beamlike.errors import CombineError
from beamlike.model.combine import ApproxDistinct, CombineFn
from beamlike.model.copies import own_copy


@attrs.frozen
class Combined(CombineFn):
    """The elements of a pane made into one value, starting with the first of them.

    The result is a tuple of that value; of an empty pane it is the empty tuple.

    Args:
        first: From the first element to a combined value.
        more: A combined value and another element.
        both: Two combined values.

    Source: Scio ``combineByKey``, ``reduceByKey``.
    """

    calls_users = True

    first: Callable[[Any], Any]
    more: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        values = list(values)
        if not values:
            return accumulator
        combined = accumulator[0] if accumulator else self.first(values.pop(0))
        for value in values:
            combined = self.more(combined, value)
        return (combined,)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        if not first or not second:
            return first or second
        return (self.both(first[0], second[0]),)


@attrs.frozen
class Aggregated(CombineFn):
    """The elements of a pane made into one value, starting with a zero. Empty pane: the zero.

    Args:
        zero: A value that changes nothing when it is combined with another.
        more: An aggregate and another element.
        both: Two aggregates.

    Source: Scio ``aggregateByKey``, ``foldByKey``.
    """

    calls_users = True

    zero: Any
    more: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]

    def create(self) -> Any:
        return own_copy(self.zero)

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        for value in values:
            accumulator = self.more(accumulator, value)
        return accumulator

    def merge(self, first: Any, second: Any) -> Any:
        return self.both(first, second)


@attrs.frozen
class FirstOf(CombineFn):
    """The first ``n`` elements to arrive, as a list. Empty pane: the empty list.

    Source: Beam ``Sample.any``, which takes any.
    """

    n: int

    def create(self) -> tuple[Any, ...]:
        return ()

    def add(
        self, accumulator: tuple[Any, ...], values: Sequence[Any], timestamps: Sequence[int]
    ) -> tuple[Any, ...]:
        return (*accumulator, *values)[: self.n]

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        return (first + second)[: self.n]

    def extract(self, accumulator: tuple[Any, ...]) -> list[Any]:
        return list(accumulator)


def distinct_within(error: float) -> ApproxDistinct:
    """What counts different values so well that 95 of 100 estimates are not further off.

    Args:
        error: The error; or a whole number, the size of a sample that is as good in Beam.

    Raises:
        CombineError: It is neither.

    Source: Beam ``ApproximateUnique``, whose estimates from ``n`` are off by ``2 / sqrt(n)``.
    """
    is_number = isinstance(error, int | float) and not isinstance(error, bool)
    of_sample = isinstance(error, int)
    if not is_number or not (error >= 16 if of_sample else 0.01 <= error <= 0.5):
        raise CombineError(
            "the error must be a number from 0.01 to 0.5, or a whole number of 16 or more for a "
            f"sample of that size, got {error!r}"
        )
    # The standard error of the sketch is 1.04 / sqrt(2 ** precision), and two of them are meant.
    needed = 1.04**2 * error if of_sample else (2 * 1.04 / error) ** 2
    return ApproxDistinct(min(max(math.ceil(math.log2(needed)), 7), 21))

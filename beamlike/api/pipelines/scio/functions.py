"""Combine functions out of plain functions, as Scio makes them."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from beamlike.model.combine import CombineFn

__all__ = ["Aggregated", "Combined", "FirstOf"]


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
        combined = own(accumulator[0]) if accumulator else self.first(values.pop(0))
        for value in values:
            combined = self.more(combined, value)
        return (combined,)

    def merge(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        if not first or not second:
            return first or second
        return (self.both(own(first[0]), second[0]),)


@attrs.frozen
class Aggregated(CombineFn):
    """The elements of a pane made into one value, starting with a zero. Empty pane: the zero.

    Args:
        zero: A value that changes nothing when it is combined with another.
        more: An aggregate and another element.
        both: Two aggregates.

    Source: Scio ``aggregateByKey``, ``foldByKey``.
    """

    zero: Any
    more: Callable[[Any, Any], Any]
    both: Callable[[Any, Any], Any]

    def create(self) -> Any:
        return own(self.zero)

    def add(self, accumulator: Any, values: Sequence[Any], timestamps: Sequence[int]) -> Any:
        accumulator = own(accumulator)
        for value in values:
            accumulator = self.more(accumulator, value)
        return accumulator

    def merge(self, first: Any, second: Any) -> Any:
        return self.both(own(first), second)


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


def own(value: Any) -> Any:
    """A value that may be changed: Scio lets functions change their first argument, but what
    is remembered has to stay as it is."""
    try:
        hash(value)
    except TypeError:
        return copy.deepcopy(value)
    # What nobody says how to compare can be hashed, and be changed.
    by_identity: Any = object.__hash__
    return copy.deepcopy(value) if type(value).__hash__ is by_identity else value

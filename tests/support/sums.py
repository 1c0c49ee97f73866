"""Sums as users write them: a combine function, one in Beam's shape, one that fails for a value."""

from collections.abc import Iterable, Sequence
from typing import Any

from beamlike.model.combine import CombineFn


class Added(CombineFn):
    """A sum of any size."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[Any], timestamps: Sequence[int]) -> int:
        return accumulator + sum(values)

    def merge(self, first: int, second: int) -> int:
        return first + second


class SumOfTheLucky(Added):
    """A sum that cannot take a 13."""

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        if 13 in values:
            raise ValueError("13 is unlucky")
        return super().add(accumulator, values, timestamps)


class AddedInSteps:
    """A sum in the shape of Beam's combine functions, and no subclass of theirs."""

    def create_accumulator(self) -> int:
        return 0

    def add_input(self, accumulator: int, element: Any) -> int:
        return accumulator + element

    def merge_accumulators(self, accumulators: Iterable[int]) -> int:
        return sum(accumulators)

    def extract_output(self, accumulator: int) -> Any:
        return accumulator

"""A combine function that fails for one value, and is right about all others."""

from collections.abc import Sequence

from beamlike.model.combine import CombineFn


class SumOfTheLucky(CombineFn):
    """A sum that cannot take a 13."""

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Sequence[int], timestamps: Sequence[int]) -> int:
        if 13 in values:
            raise ValueError("13 is unlucky")
        return accumulator + sum(values)

    def merge(self, first: int, second: int) -> int:
        return first + second

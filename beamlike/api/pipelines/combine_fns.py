"""Built-in combine functions with the names that Beam Python has for them.

Source: Beam Python ``transforms.combiners``.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import attrs

from beamlike.model import combine
from beamlike.model.fingerprint import stable_repr


class _OfBeam(combine.CombineFn):
    """A function by Beam's name, which saved state knows by its own."""

    kept_as: ClassVar[str]

    def __str__(self) -> str:
        return stable_repr(self).replace(type(self).__name__, self.kept_as, 1)


@attrs.frozen
class CountCombineFn(combine.Count, _OfBeam):
    """How many elements there are."""

    kept_as = "Count"


@attrs.frozen
class MeanCombineFn(combine.Mean, _OfBeam):
    """The mean of numbers; NaN of no numbers."""

    kept_as = "Mean"

    def extract(self, accumulator: tuple[float, int]) -> float:
        mean = super().extract(accumulator)
        return float("nan") if mean is None else mean


class SampleCombineFn(combine.Sample, _OfBeam):
    """Elements drawn without replacement."""

    kept_as = "Sample"


class ToListCombineFn(combine.Collect, _OfBeam):
    """All elements as a list."""

    kept_as = "Collect"


class ToDictCombineFn(combine.Collect, _OfBeam):
    """All pairs as a mapping."""

    kept_as = "_AsDict"

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return dict(accumulator)


class ToSetCombineFn(combine.Collect, _OfBeam):
    """All elements as a set."""

    kept_as = "_AsSet"

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return set(accumulator)


class TopCombineFn(combine.Top, _OfBeam):
    """The ``n`` greatest elements, the greatest first. Source: Beam Python ``TopCombineFn``.

    Args:
        n: How many at most.
        key: From an element to what is compared in its place.
        reverse: The least, the least first.
    """

    kept_as = "Top"

    def __init__(
        self, n: int, key: Callable[[Any], Any] | None = None, reverse: bool = False
    ) -> None:
        super().__init__(n, key, smallest=reverse)

"""Built-in combine functions with the names and the methods that Beam Python has for them.

Source: Beam Python ``transforms.combiners``.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import attrs

from beamlike.api.pipelines.combinefn import CombineFn
from beamlike.api.pipelines.hints.declared import with_input_types, with_output_types
from beamlike.api.pipelines.hints.forms import T, form
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP
from beamlike.model import combine
from beamlike.model.fingerprint import stable_repr


class _WithSteps(combine.CombineFn):
    """Beam Python's four methods, of a function that folds whole bundles.

    Accumulators are as the function has them: nothing but its own methods can read them.
    """

    kept_as: ClassVar[str]
    """The name by which saved state knows it."""

    def __str__(self) -> str:
        return stable_repr(self).replace(type(self).__name__, self.kept_as, 1)

    def setup(self) -> None:
        """Nothing."""

    def teardown(self) -> None:
        """Nothing."""

    def create_accumulator(self) -> Any:
        """The accumulator of no elements."""
        return self.create()

    def add_input(self, mutable_accumulator: Any, element: Any) -> Any:
        """The accumulator with one more element."""
        return self.add(mutable_accumulator, [element], [0])

    def add_inputs(self, mutable_accumulator: Any, elements: Iterable[Any]) -> Any:
        """The accumulator with more elements."""
        values = list(elements)
        return self.add(mutable_accumulator, values, [0] * len(values))

    def merge_accumulators(self, accumulators: Iterable[Any]) -> Any:
        """One accumulator for the elements of several."""
        whole = self.create()
        for each in accumulators:
            whole = self.merge(whole, each)
        return whole

    def extract_output(self, accumulator: Any) -> Any:
        """The value of an accumulator."""
        return self.extract(accumulator)

    def apply(self, elements: Iterable[Any]) -> Any:
        """The value of these elements."""
        return self.extract(self.compact(self.add_inputs(self.create(), elements)))


@attrs.frozen
class CountCombineFn(combine.Count, _WithSteps):
    """How many elements there are. Source: Beam Python ``CountCombineFn``."""

    kept_as = "Count"


@attrs.frozen
class MeanCombineFn(combine.Mean, _WithSteps):
    """The mean of numbers; NaN of no numbers. Source: Beam Python ``MeanCombineFn``."""

    kept_as = "Mean"

    def extract(self, accumulator: tuple[float, int]) -> float:
        mean = super().extract(accumulator)
        return float("nan") if mean is None else mean


@with_input_types(form(tuple, T, Any))
@with_output_types(T)
class LatestCombineFn(CombineFn[tuple[Any, Any], Any]):
    """The value with the greatest time, of pairs of a value and its time.

    `Latest` of values at their event times is ``Latest.Globally`` and ``Latest.PerKey``.

    Source: Beam Python ``LatestCombineFn``.
    """

    def create_accumulator(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        return None, MIN_TIMESTAMP

    def add_input(
        self, mutable_accumulator: tuple[Any, Any], element: tuple[Any, Any], *args: Any, **_: Any
    ) -> tuple[Any, Any]:
        return mutable_accumulator if mutable_accumulator[1] > element[1] else element

    def merge_accumulators(
        self, accumulators: Iterable[tuple[Any, Any]], *args: Any, **kwargs: Any
    ) -> tuple[Any, Any]:
        latest = self.create_accumulator()
        for each in accumulators:
            latest = self.add_input(latest, each)
        return latest

    def extract_output(self, accumulator: tuple[Any, Any], *args: Any, **kwargs: Any) -> Any:
        return accumulator[0]


class SampleCombineFn(combine.Sample, _WithSteps):
    """Elements drawn without replacement. Source: Beam Python ``SampleCombineFn``."""

    kept_as = "Sample"


class ToListCombineFn(combine.Collect, _WithSteps):
    """All elements as a list. Source: Beam Python ``ToListCombineFn``."""

    kept_as = "Collect"


class _Listed(combine.Collect, _WithSteps):
    """All elements, made into something at the end."""

    made: ClassVar[Callable[[Any], Any]]

    def extract(self, accumulator: tuple[Any, ...]) -> Any:
        return type(self).made(accumulator)


class ToDictCombineFn(_Listed):
    """All pairs as a mapping. Source: Beam Python ``ToDictCombineFn``."""

    kept_as = "_AsDict"
    made = dict


class ToSetCombineFn(_Listed):
    """All elements as a set. Source: Beam Python ``ToSetCombineFn``."""

    kept_as = "_AsSet"
    made = set


class TopCombineFn(combine.Top, _WithSteps):
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


class Largest(TopCombineFn):
    """The ``n`` greatest values, the greatest first."""

    def __init__(self, n: int) -> None:
        super().__init__(n)


class Smallest(TopCombineFn):
    """The ``n`` least values, the least first."""

    def __init__(self, n: int) -> None:
        super().__init__(n, reverse=True)

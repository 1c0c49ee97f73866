"""Built-in combine functions with the names that Beam Python has for them.

Source: Beam Python ``transforms.combiners``.
"""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import attrs

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.combinefn import CombineFn, combine_fn
from beamlike.api.pipelines.python.timestamps import MIN_TIMESTAMP
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


class LatestCombineFn(CombineFn[tuple[Any, Any], Any]):
    """The value with the greatest time, of pairs of a value and its time.

    `Latest` of values at their event times is ``Latest.Globally`` and ``Latest.PerKey``.
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
        for accumulator in accumulators:
            latest = self.add_input(latest, accumulator)
        return latest

    def extract_output(self, accumulator: tuple[Any, Any], *args: Any, **kwargs: Any) -> Any:
        return accumulator[0]


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


class TupleCombineFn(combine.Together):
    """A combine function for each place of elements that are tuples: a tuple of what they make.

    Args:
        fns: Combine functions, or plain functions of all values.
        merge_accumulators_batch_size: How many accumulators Beam merges at a time. It has no effect
            and is warned of: accumulators merge two by two.

    Raises:
        PipelineError: One of them is neither.
    """

    def __init__(self, *fns: Any, merge_accumulators_batch_size: int | None = None) -> None:
        owner = type(self).__name__
        if merge_accumulators_batch_size is not None:
            why = "accumulators merge two by two"
            warn_of_hint(owner, "merge_accumulators_batch_size", merge_accumulators_batch_size, why)
        checked = [combine_fn(fn, owner) for fn in fns]
        super().__init__(
            {f"{place}": (fn, self.input_of(place)) for place, fn in enumerate(checked)}
        )

    def input_of(self, place: int) -> int | None:
        """What of an element the function at this place is given; None: all."""
        return place

    def with_common_input(self) -> "SingleInputTupleCombineFn":
        """A function that gives each element to all functions."""
        return SingleInputTupleCombineFn(*(fn for fn, _ in self.parts.values()))


class SingleInputTupleCombineFn(TupleCombineFn):
    """Several combine functions of the same elements: a tuple of what each makes of them.

    The arguments are those of `TupleCombineFn`.
    """

    def input_of(self, place: int) -> None:
        return None

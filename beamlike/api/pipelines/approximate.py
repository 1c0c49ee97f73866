"""Quantiles and numbers of distinct elements, nearly.

Source: Beam Python ``transforms.stats``.
"""

import math
import operator
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final

import cloudpickle

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.combinefn import CombineFn
from beamlike.api.pipelines.groups import CombineGlobally, CombinePerKey
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import K, T
from beamlike.errors import PipelineError
from beamlike.model.options import whole_number

__all__ = [
    "ApproximateQuantiles",
    "ApproximateQuantilesCombineFn",
    "ApproximateUnique",
    "ApproximateUniqueCombineFn",
]

_KEPT: Final = 10_000
"""So many elements give exact quantiles, and of more so many are kept, each for several."""

_NEARNESS: Final = f"of up to {_KEPT:,} elements quantiles are exact, and of more so many are kept"

Weighted = list[tuple[Any, float]]
"""Elements, and how many each stands for."""


class ApproximateQuantilesCombineFn(CombineFn[Any, list[Any]]):
    """The quantiles of elements; exact ones of up to 10,000. Arguments as of
    `ApproximateQuantiles`."""

    def __init__(
        self,
        num_quantiles: int,
        key: Callable[[Any], Any] | None = None,
        reverse: bool = False,
        weighted: bool = False,
        input_batched: bool = False,
    ) -> None:
        self.number = whole_number(num_quantiles, 2, "num_quantiles", PipelineError)
        self.key, self.reverse = key, reverse
        self.weighted, self.batched = weighted, input_batched

    @classmethod
    def create(
        cls,
        num_quantiles: int,
        epsilon: float | None = None,
        max_num_elements: int | None = None,
        key: Callable[[Any], Any] | None = None,
        reverse: bool = False,
        weighted: bool = False,
        input_batched: bool = False,
    ) -> "ApproximateQuantilesCombineFn":
        """The function, in Beam's words.

        Args:
            num_quantiles: How many, with the least and the greatest.
            epsilon: How near Beam comes. It has no effect and is warned of: quantiles of up to
                10,000 elements are exact, and of more so many are kept.
            max_num_elements: From what Beam computes how many to keep; as ``epsilon``.
            key: From an element to what is compared in its place.
            reverse: The greatest first.
            weighted: Elements are pairs of an element and how many it stands for.
            input_batched: Elements are lists of elements, or pairs of lists if ``weighted``.
        """
        for argument, value in (("epsilon", epsilon), ("max_num_elements", max_num_elements)):
            if value is not None:
                warn_of_hint("ApproximateQuantilesCombineFn", argument, value, _NEARNESS)
        return cls(num_quantiles, key, reverse, weighted, input_batched)

    def create_accumulator(self, *args: Any, **kwargs: Any) -> Weighted:
        return []

    def add_input(
        self, mutable_accumulator: Weighted, element: Any, *args: Any, **kwargs: Any
    ) -> Weighted:
        mutable_accumulator += self._weighted(element)
        return self._smaller(mutable_accumulator)

    def _weighted(self, element: Any) -> Iterable[tuple[Any, float]]:
        match self.batched, self.weighted:
            case False, False:
                return [(element, 1)]
            case False, True:
                return [tuple(element)]
            case True, False:
                return [(each, 1) for each in element]
        return zip(*element, strict=True)

    def merge_accumulators(
        self, accumulators: Iterable[Weighted], *args: Any, **kwargs: Any
    ) -> Weighted:
        return self._smaller([each for accumulator in accumulators for each in accumulator])

    def extract_output(self, accumulator: Weighted, *args: Any, **kwargs: Any) -> list[Any]:
        if not accumulator:
            return []
        found = self._sorted(accumulator)
        total = sum(weight for _, weight in found)
        step, offset = total / (self.number - 1), (total - 1) / (self.number - 1)
        between = _picked(found, [step * at + offset for at in range(self.number - 2)])
        return [found[0][0], *between, found[-1][0]]

    def _sorted(self, elements: Weighted) -> Weighted:
        key = self.key
        by = operator.itemgetter(0) if key is None else lambda pair: key(pair[0])
        return sorted(elements, key=by, reverse=self.reverse)

    def _smaller(self, elements: Weighted) -> Weighted:
        if len(elements) <= 2 * _KEPT:
            return elements
        found = self._sorted(elements)
        step = sum(weight for _, weight in found) / _KEPT
        inner = _picked(found[1:-1], [step * (at + 0.5) for at in range(_KEPT)])
        # The least and the greatest stay what they are.
        return [found[0], *((each, step) for each in inner), found[-1]]


def _picked(found: Weighted, places: list[float]) -> list[Any]:
    """The elements at these places, where each stands as often as it weighs."""
    picked, at, end = [], 0, found[0][1]
    for place in places:
        while end <= place and at < len(found) - 1:
            at += 1
            end += found[at][1]
        picked.append(found[at][0])
    return picked


class ApproximateQuantiles:
    """Quantiles: the least element, so many between at equal distances, and the greatest.

    Source: Beam ``ApproximateQuantiles``.
    """

    class Globally(PTransform[Any, Any]):
        """Of each window.

        Args:
            num_quantiles: How many, with the least and the greatest.
            key: From an element to what is compared in its place.
            reverse: The greatest first.
            weighted: Elements are pairs of an element and how many it stands for.
            input_batched: Elements are lists of elements, or pairs of lists if ``weighted``.
        """

        def __init__(
            self,
            num_quantiles: int,
            key: Callable[[Any], Any] | None = None,
            reverse: bool = False,
            weighted: bool = False,
            input_batched: bool = False,
        ) -> None:
            super().__init__()
            self.fn = ApproximateQuantilesCombineFn(
                num_quantiles, key, reverse, weighted, input_batched
            )

        def expand(self, given: PCollection[T]) -> PCollection[list[T]]:
            return given | "Combine" >> CombineGlobally[Any](self.fn)

    class PerKey(Globally):
        """Of each key; arguments as of `Globally`."""

        def expand(self, given: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]:  # type: ignore[override]
            return given | "Combine" >> CombinePerKey[Any](self.fn)


class ApproximateUniqueCombineFn(CombineFn[Any, int]):
    """How many distinct elements there are.

    Args:
        sample_size: So many hashes are kept. Fewer distinct elements are counted exactly.
    """

    def __init__(self, sample_size: int, coder: Any = None) -> None:
        self.size, self.coder = sample_size, coder

    def create_accumulator(self, *args: Any, **kwargs: Any) -> set[int]:
        return set()

    def add_input(
        self, mutable_accumulator: set[int], element: Any, *args: Any, **kwargs: Any
    ) -> set[int]:
        encoded = cloudpickle.dumps(element)
        mutable_accumulator.add(int.from_bytes(blake2b(encoded, digest_size=8).digest(), "big"))
        return self._smaller(mutable_accumulator)

    def merge_accumulators(
        self, accumulators: Iterable[set[int]], *args: Any, **kwargs: Any
    ) -> set[int]:
        return self._smaller(set().union(*accumulators))

    def _smaller(self, hashes: set[int]) -> set[int]:
        if len(hashes) <= 2 * self.size:
            return hashes
        return set(sorted(hashes)[: self.size])

    def extract_output(self, accumulator: set[int], *args: Any, **kwargs: Any) -> int:
        if len(accumulator) < self.size:
            return len(accumulator)
        # So many hashes lie below the greatest of the least ones.
        kept = sorted(accumulator)[: self.size]
        return round((self.size - 1) / ((kept[-1] + 1) / 2**64))


class ApproximateUnique:
    """The number of distinct elements, nearly. Source: Beam ``ApproximateUnique``."""

    @staticmethod
    def parse_input_params(size: int | None = None, error: float | None = None) -> int:
        """How many hashes are kept for a size or an error.

        Raises:
            PipelineError: There is neither, or both, or it is out of range.
        """
        if (size is None) is (error is None):
            raise PipelineError(
                f"Either size or error should be set. Received {{size = {size}, error = {error}}}."
            )
        if size is not None:
            if not isinstance(size, int) or size < 16:
                raise PipelineError(
                    "ApproximateUnique needs a size >= 16 for an error <= 0.50. In general, the "
                    f"estimation error is about 2 / sqrt(sample_size). Received {{size = {size}}}."
                )
            return size
        assert error is not None, "it is one of both"
        if not 0.01 <= error <= 0.5:
            raise PipelineError(
                "ApproximateUnique needs an estimation error between 0.01 and 0.50. Received "
                f"{{error = {error}}}."
            )
        return math.ceil(4 / error**2)

    class Globally(PTransform[Any, Any]):
        """In each window.

        Args:
            size: How many hashes are kept: the error is about 2 / sqrt(size).
            error: The error, in place of the size.
        """

        def __init__(self, size: int | None = None, error: float | None = None) -> None:
            super().__init__()
            self.fn = ApproximateUniqueCombineFn(ApproximateUnique.parse_input_params(size, error))

        def expand(self, given: PCollection[Any]) -> PCollection[int]:
            return given | "CountGlobalUniqueValues" >> CombineGlobally[int](self.fn)

    class PerKey(Globally):
        """Of each key; arguments as of `Globally`."""

        def expand(self, given: PCollection[tuple[K, Any]]) -> PCollection[tuple[K, int]]:  # type: ignore[override]
            return given | "CountPerKeyUniqueValues" >> CombinePerKey[int](self.fn)

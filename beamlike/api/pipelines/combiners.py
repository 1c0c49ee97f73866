"""Combine functions as transforms: counts, means, extremes, samples and the like.

Each is a name with a transform for all elements of a window (``Globally``) and one for each key
(``PerKey``). Those for all elements have a value of nothing in the global window; elsewhere say
``without_defaults()``, as of `CombineGlobally`.

Source: Beam Python ``transforms.combiners``; `Sum`, `Min` and `Max` are Beam Java's.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic

import attrs

from beamlike.api.pipelines.checks import check_collection
from beamlike.api.pipelines.elements import Filter, FlatMap, Map
from beamlike.api.pipelines.groups import (
    CombineGlobally,
    CombinePerKey,
    WithDefaults,
    check_defaults,
)
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.variables import K, R, T
from beamlike.errors import PipelineError
from beamlike.model import combine
from beamlike.model.combine import CombineFn
from beamlike.model.fingerprint import stable_repr
from beamlike.model.options import whole_number

__all__ = [
    "Count",
    "CountCombineFn",
    "Latest",
    "Max",
    "Mean",
    "MeanCombineFn",
    "Min",
    "Sample",
    "SampleCombineFn",
    "Sum",
    "ToDict",
    "ToDictCombineFn",
    "ToList",
    "ToListCombineFn",
    "ToSet",
    "ToSetCombineFn",
    "Top",
    "TopCombineFn",
]


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


class _Global(WithDefaults, Generic[R]):
    """Something made of all elements of a window."""

    fn: CombineFn

    def expand(self, pcoll: PCollection[Any]) -> PCollection[R]:
        check_collection(pcoll, self)
        if self.has_defaults:
            check_defaults(pcoll, type(self).__qualname__)
        combine: CombineGlobally[Any] = CombineGlobally(self.fn)
        return pcoll | "Combine" >> (combine if self.has_defaults else combine.without_defaults())


class _PerKey(PTransform[Any, Any], Generic[R]):
    """Something made of the values of a key and window."""

    fn: CombineFn

    def expand(self, pcoll: PCollection[tuple[K, Any]]) -> PCollection[tuple[K, R]]:
        return pcoll | "Combine" >> CombinePerKey[Any](self.fn)


class _OneOf(_Global[Any]):
    """One element of all."""

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[T]) -> PCollection[T]: ...


class _OneOfEach(_PerKey[Any]):
    """One value of each key."""

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[tuple[K, T]]: ...


class _ListOf(_Global[Any]):
    """Some elements of all."""

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[T]) -> PCollection[list[T]]: ...


class _ListOfEach(_PerKey[Any]):
    """Some values of each key."""

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[tuple[K, list[T]]]: ...


class Count:
    """How many elements there are."""

    class Globally(_Global[int]):
        """In each window."""

        fn = CountCombineFn()

    class PerKey(_PerKey[int]):
        """Of each key."""

        fn = CountCombineFn()

    class PerElement(PTransform[Any, Any]):
        """Of each value: pairs of an element and how often it is there."""

        def expand(self, pcoll: PCollection[T]) -> PCollection[tuple[T, int]]:
            pairs = pcoll | "PairWithItself" >> Map(lambda element: (element, element))
            return pairs | "Combine" >> CombinePerKey[Any](CountCombineFn())


class Mean:
    """The mean of numbers; NaN of no numbers."""

    class Globally(_Global[float]):
        """In each window."""

        fn = MeanCombineFn()

    class PerKey(_PerKey[float]):
        """Of each key."""

        fn = MeanCombineFn()


class _OfValues:
    """A combine function of values that makes one of their type, for windows and for keys."""

    class Globally(_OneOf):
        """In each window."""

    class PerKey(_OneOfEach):
        """Of each key."""

    def __init_subclass__(cls, fn: CombineFn) -> None:
        for name in ("Globally", "PerKey"):
            named = f"{cls.__name__}.{name}"
            body = {"fn": fn, "__qualname__": named, "__module__": cls.__module__}
            setattr(cls, name, type(name, (getattr(cls, name),), body))


class Sum(_OfValues, fn=combine.Sum()):
    """The sum of numbers. Source: Beam Java ``Sum``."""


class Min(_OfValues, fn=combine.Min()):
    """The least of values; None of no values. Source: Beam Java ``Min``."""


class Max(_OfValues, fn=combine.Max()):
    """The greatest of values; None of no values. Source: Beam Java ``Max``."""


class Latest(_OfValues, fn=combine.Latest()):
    """The value with the greatest event time; None of no values."""


class _OfSample:
    fn: CombineFn

    def __init__(self, n: int, seed: int = 0) -> None:
        self.fn = SampleCombineFn(n, seed)


class Sample:
    """Elements drawn without replacement. Source: Beam ``Sample``.

    The same elements give the same sample, see `beamlike.combine_fns.Sample`.
    """

    class FixedSizeGlobally(_OfSample, _ListOf):
        """``n`` of each window."""

    class FixedSizePerKey(_OfSample, _ListOfEach):
        """``n`` of each key."""

    class Any(PTransform[PCollection[T], PCollection[T]]):
        """Any ``n`` elements of each window, as they are, and all if there are fewer."""

        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = whole_number(n, 0, "Sample.Any n", PipelineError)

        def default_label(self) -> str:
            return f"Any({self.n})"

        def expand(self, pcoll: PCollection[T]) -> PCollection[T]:
            if not self.n:
                return pcoll | "None" >> Filter[Any](lambda _element: False)
            sample = CombineGlobally[list[T]](combine.Sample(self.n)).without_defaults()
            return pcoll | "Sample" >> sample | "Each" >> FlatMap()


class _OfTop:
    fn: CombineFn

    def __init__(
        self, n: int, key: Callable[[Any], Any] | None = None, reverse: bool = False
    ) -> None:
        self.fn = TopCombineFn(n, key, reverse=reverse)


class Top:
    """The greatest or the least elements, as lists."""

    class Of(_OfTop, _ListOf):
        """The ``n`` greatest of each window, the greatest first.

        Args:
            n: How many at most.
            key: From an element to what is compared in its place.
            reverse: The least, the least first.
        """

    class PerKey(_OfTop, _ListOfEach):
        """The ``n`` greatest of each key; arguments as of `Of`."""

    class Largest(Of):
        """The ``n`` greatest of each window, the greatest first."""

        def __init__(
            self, n: int, has_defaults: bool = True, key: Callable[[Any], Any] | None = None
        ) -> None:
            super().__init__(n, key)
            self.has_defaults = has_defaults

    class Smallest(Of):
        """The ``n`` least of each window, the least first."""

        def __init__(
            self, n: int, has_defaults: bool = True, key: Callable[[Any], Any] | None = None
        ) -> None:
            super().__init__(n, key, reverse=True)
            self.has_defaults = has_defaults

    class LargestPerKey(PerKey):
        """The ``n`` greatest of each key, the greatest first."""

        def __init__(self, n: int, key: Callable[[Any], Any] | None = None) -> None:
            super().__init__(n, key)

    class SmallestPerKey(PerKey):
        """The ``n`` least of each key, the least first."""

        def __init__(self, n: int, key: Callable[[Any], Any] | None = None) -> None:
            super().__init__(n, key, reverse=True)


class ToList(_ListOf):
    """All elements of a window as a list, in no particular order."""

    fn = ToListCombineFn()


class ToDict(_Global[Any]):
    """All pairs of a window as a mapping; of several values of a key, any."""

    fn = ToDictCombineFn()

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[tuple[K, T]]) -> PCollection[dict[K, T]]: ...


class ToSet(_Global[Any]):
    """All elements of a window as a set."""

    fn = ToSetCombineFn()

    if TYPE_CHECKING:

        def expand(self, pcoll: PCollection[T]) -> PCollection[set[T]]: ...

"""Verbs that make the values of each key and pane into one.

What they give for a pane without values differs, and is as in Scio:

==============================================================  ==============
verbs                                                           empty pane
==============================================================  ==============
``sum_by_key``, ``reduce_by_key``, ``combine_by_key``           fails
``min_by_key``, ``max_by_key``                                  fails
``aggregate_by_key``, ``fold_by_key``                           the zero
``count_by_key``, ``count_by_value``                            0
``mean_by_key``                                                 NaN
``latest_by_key``                                               None
``top_by_key``, ``sample_by_key``, ``approx_quantiles_by_key``  the empty list
==============================================================  ==============

A pane is empty if nothing came since the pane before and the mode is ``"discarding"``: the
on-time pane after an early one for example.

Source: Scio ``PairSCollectionFunctions``.
"""

import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, overload

from beamlike.api.pipelines.scio.dofns import Present
from beamlike.api.pipelines.scio.functions import Aggregated, Combined, distinct_within
from beamlike.api.pipelines.scio.sampling import drawn_by_key
from beamlike.api.pipelines.scio.steps import (
    C,
    K,
    Keyed,
    T,
    T_co,
    U,
    V,
    Verbs,
    checked,
    combined,
    composed,
    done,
    full_name,
    made,
)
from beamlike.errors import PipelineError
from beamlike.model.combine import (
    ApproxQuantiles,
    CombineFn,
    Count,
    Latest,
    Mean,
    Sample,
    Top,
)

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class ByKeyVerbs(Verbs[T_co]):
    """What one can make of the values of each key, for each pane.

    All raise `PipelineError` if the windowing cannot be grouped.
    """

    @overload
    def aggregate_by_key(self: Keyed[K, V], zero: CombineFn) -> "Pairs[K, Any]": ...

    @overload
    def aggregate_by_key(
        self: Keyed[K, V],
        zero: U,
        seq_op: Callable[[U, V], U],
        comb_op: Callable[[U, U], U],
    ) -> "Pairs[K, U]": ...

    def aggregate_by_key(
        self: Any, zero: Any, seq_op: Any = None, comb_op: Any = None
    ) -> "Pairs[Any, Any]":
        """The values of each key added to a zero. Empty pane: the zero.

        With a combine function alone, what that makes of the values.

        Args:
            zero: A value that changes nothing when it is combined with another; or the combine
                function.
            seq_op: From an aggregate and a value to an aggregate. It may change the aggregate.
            comb_op: From two aggregates to one. It may change the first.

        Source: Scio ``aggregateByKey``.
        """
        fn = zeroed(self, "aggregate_by_key", zero, seq_op, comb_op)
        return _combined(self, "aggregate_by_key", fn)

    def fold_by_key(
        self: Keyed[K, V], zero: V, op: Callable[[V, V], V] = operator.add
    ) -> "Pairs[K, V]":
        """The values of each key combined with a zero. Empty pane: the zero.

        Args:
            zero: A value that changes nothing when it is combined with another: 0 for sums.
            op: From two values to one; ``+`` by default.

        Source: Scio ``foldByKey``.
        """
        fn = Aggregated(zero, checked(self, "fold_by_key", op), op)
        return _combined(self, "fold_by_key", fn)

    def combine_by_key(
        self: Keyed[K, V],
        create_combiner: Callable[[V], C],
        merge_value: Callable[[C, V], C],
        merge_combiners: Callable[[C, C], C],
    ) -> "Pairs[K, C]":
        """The values of each key combined, starting with the first of them.

        Args:
            create_combiner: From a value to a combined one.
            merge_value: From a combined value and another value to a combined one.
            merge_combiners: From two combined values to one.

        Raises:
            TransformError: In the run: a pane is empty.

        Source: Scio ``combineByKey``.
        """
        for fn in (create_combiner, merge_value, merge_combiners):
            checked(self, "combine_by_key", fn)
        return _failing(
            self, "combine_by_key", Combined(create_combiner, merge_value, merge_combiners)
        )

    def reduce_by_key(self: Keyed[K, V], op: Callable[[V, V], V]) -> "Pairs[K, V]":
        """The values of each key combined two by two, in any order.

        Raises:
            TransformError: In the run: a pane is empty.

        Source: Scio ``reduceByKey``.
        """
        return _failing(self, "reduce_by_key", _reduce(checked(self, "reduce_by_key", op)))

    def sum_by_key(
        self: Keyed[K, V], semigroup: Callable[[V, V], V] = operator.add
    ) -> "Pairs[K, V]":
        """The sum of the values of each key.

        Args:
            semigroup: What a sum is; ``+`` by default, so classes with ``__add__`` can be summed.

        Raises:
            TransformError: In the run: a pane is empty. For a sum that is 0 then,
                ``fold_by_key(0)``.

        Source: Scio ``sumByKey``.
        """
        return _failing(self, "sum_by_key", _reduce(checked(self, "sum_by_key", semigroup)))

    def min_by_key(self: Keyed[K, V], key: Callable[[V], Any] | None = None) -> "Pairs[K, V]":
        """The least value of each key.

        Args:
            key: From a value to what is compared in its place.

        Raises:
            TransformError: In the run: a pane is empty.

        Source: Scio ``minByKey``.
        """
        return _failing(self, "min_by_key", extreme(min, key))

    def max_by_key(self: Keyed[K, V], key: Callable[[V], Any] | None = None) -> "Pairs[K, V]":
        """The greatest value of each key.

        Args:
            key: From a value to what is compared in its place.

        Raises:
            TransformError: In the run: a pane is empty.

        Source: Scio ``maxByKey``.
        """
        return _failing(self, "max_by_key", extreme(max, key))

    def latest_by_key(self: Keyed[K, V]) -> "Pairs[K, V]":
        """The value of each key with the greatest event time. Empty pane: None.

        Source: Scio ``latestByKey``.
        """
        return _combined(self, "latest_by_key", Latest())

    def mean_by_key(self: Keyed[K, float]) -> "Pairs[K, float]":
        """The mean of the values of each key. Empty pane: NaN. Source: Scio ``meanByKey``."""

        def build(given: "Pairs[K, float]") -> "Pairs[K, float]":
            return combined(given, Mean()).map_values(as_number)

        return composed(self, "mean_by_key", build)

    def count_by_key(self: Keyed[K, V]) -> "Pairs[K, int]":
        """How many values each key has. Empty pane: 0. Source: Scio ``countByKey``."""
        return _combined(self, "count_by_key", Count())

    def count_by_value(self: Verbs[T]) -> "Pairs[T, int]":
        """How often each element is there. Empty pane: 0. Source: Scio ``countByValue``."""

        def build(given: "SCollection[T]") -> "Pairs[T, int]":
            return combined(given.map(lambda it: (it, it)), Count())

        return composed(self, "count_by_value", build)

    def top_by_key(
        self: Keyed[K, V],
        num: int,
        key: Callable[[V], Any] | None = None,
        *,
        reverse: bool = False,
    ) -> "Pairs[K, list[V]]":
        """The greatest values of each key, the greatest first. Empty pane: the empty list.

        Args:
            num: How many at most.
            key: From a value to what is compared in its place.
            reverse: The least instead, the least first.

        Source: Scio ``topByKey``.
        """
        fn = made(self, "top_by_key", lambda: Top(num, key, smallest=reverse))
        return _combined(self, "top_by_key", fn)

    @overload
    def sample_by_key(
        self: Keyed[K, V], sample_size: int, *, seed: int = 0
    ) -> "Pairs[K, list[V]]": ...

    @overload
    def sample_by_key(
        self: Keyed[K, V],
        with_replacement: bool,
        /,
        fractions: Mapping[K, float],
        seed: int | None = None,
    ) -> "Pairs[K, V]": ...

    @overload
    def sample_by_key(
        self: Keyed[K, V],
        *,
        with_replacement: bool,
        fractions: Mapping[K, float],
        seed: int | None = None,
    ) -> "Pairs[K, V]": ...

    def sample_by_key(
        self: Any,
        sample_size: Any = None,
        fractions: Any = None,
        seed: Any = None,
        *,
        with_replacement: Any = None,
    ) -> "Pairs[Any, Any]":
        """Values of each key by chance, as ``sample`` of a collection.

        With a number alone, so many values of each key drawn without replacement, as one list for
        each pane; empty pane: the empty list. With a choice and fractions, pairs as they are.

        Args:
            sample_size: How many at most; or, before fractions, ``with_replacement``.
            fractions: One for each key that there is.
            seed: For another sample, any whole number.
            with_replacement: Whether a pair may be drawn several times.

        Raises:
            PipelineError: A number or a fraction that makes no sample.
            TransformError: In the run: a key has no fraction, a value is not plain data.

        Source: Scio ``sampleByKey``, which gives another sample in each run.
        """
        if fractions is not None or with_replacement is not None or isinstance(sample_size, bool):
            choice = sample_size if with_replacement is None else with_replacement
            return drawn_by_key(self, choice, fractions, seed)
        fn = made(self, "sample_by_key", lambda: Sample(sample_size, 0 if seed is None else seed))
        return _combined(self, "sample_by_key", fn)

    def approx_quantiles_by_key(
        self: Keyed[K, float], num_quantiles: int
    ) -> "Pairs[K, list[float]]":
        """Estimates of quantiles of the numbers of each key. Empty pane: the empty list.

        Args:
            num_quantiles: How many, 2 or more, the least and the greatest number included.

        Source: Scio ``approxQuantilesByKey``.
        """
        fn = made(self, "approx_quantiles_by_key", lambda: ApproxQuantiles(num_quantiles))
        return _combined(self, "approx_quantiles_by_key", fn)

    def count_approx_distinct_by_key(self: Keyed[K, V], error: float = 0.02) -> "Pairs[K, int]":
        """An estimate of how many different values each key has. Empty pane: 0.

        Args:
            error: How far most estimates are off at most, from 0.01 to 0.5, as a share; or a whole
                number of 16 or more: as good as a sample of so many.

        Source: Scio ``countApproxDistinctByKey``.
        """
        fn = made(self, "count_approx_distinct_by_key", lambda: distinct_within(error))
        return _combined(self, "count_approx_distinct_by_key", fn)


def zeroed(
    given: Verbs[Any], verb: str, zero: Any, seq_op: Any = None, comb_op: Any = None
) -> CombineFn:
    """The combine function of a zero and two functions, or the one that is given in its place.

    Raises:
        PipelineError: Something is missing, or is no function.
    """
    if seq_op is None and comb_op is None:
        if isinstance(zero, CombineFn):
            return zero
        hint = (
            f"write {zero.__name__}()"
            if isinstance(zero, type)
            else (f"write {verb}(zero, lambda aggregate, value: ..., lambda one, other: ...)")
        )
        raise PipelineError(
            f"{full_name(given, verb)!r} needs a combine function or a zero with two functions, "
            f"got {zero!r}; {hint}"
        )
    return Aggregated(zero, checked(given, verb, seq_op), checked(given, verb, comb_op))


def extreme(choose: Callable[..., Any], key: Callable[[Any], Any] | None) -> CombineFn:
    """The least or the greatest value, the first to come among equals."""
    return _reduce(lambda one, other: choose(one, other, key=key))


def as_number(mean: float | None) -> float:
    """A mean as Beam gives it."""
    return math.nan if mean is None else mean


def _reduce(op: Callable[[Any, Any], Any]) -> CombineFn:
    return Combined(_itself, op, op)


def _itself(value: Any) -> Any:
    return value


def _combined(given: Verbs[Any], verb: str, fn: CombineFn) -> "Pairs[Any, Any]":
    return composed(given, verb, lambda it: combined(it, fn))


def _failing(given: Verbs[Any], verb: str, fn: CombineFn) -> "Pairs[Any, Any]":
    instead = "fold_by_key(zero, op) or aggregate_by_key(zero, seq_op, comb_op)"
    label = full_name(given, verb)

    def build(it: "Pairs[Any, Any]") -> "Pairs[Any, Any]":
        return done(combined(it, fn), "Present", Present(label, instead, keyed=True))

    return composed(given, verb, build)

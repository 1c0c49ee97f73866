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
    from beamlike.api.pipelines.scio.collection import Pairs


class ByKeyVerbs(Verbs[T_co]):
    """What one can make of the values of each key, for each pane.

    Each verb takes what the verb for all elements takes: ``top_by_key`` what `top` does. All raise
    `PipelineError` if the windowing cannot be grouped, and those that fail for an empty pane, see
    above, `TransformError` in the run.
    """

    @overload
    def aggregate_by_key(self: Keyed[K, V], zero: CombineFn) -> "Pairs[K, Any]": ...

    @overload
    def aggregate_by_key(
        self: Keyed[K, V], zero: U, seq_op: Callable[[U, V], U], comb_op: Callable[[U, U], U]
    ) -> "Pairs[K, U]": ...

    def aggregate_by_key(self: Any, zero: Any, seq_op: Any = None, comb_op: Any = None) -> Any:
        """The values of each key added to a zero; or with a combine function alone, what that
        makes of them. Empty pane: the zero."""
        fn = zeroed(self, "aggregate_by_key", zero, seq_op, comb_op)
        return _combined(self, "aggregate_by_key", fn)

    def fold_by_key(
        self: Keyed[K, V], zero: V, op: Callable[[V, V], V] = operator.add
    ) -> "Pairs[K, V]":
        """The values of each key combined with a zero, by default by ``+``. Empty pane: the
        zero."""
        fn = Aggregated(zero, checked(self, "fold_by_key", op), op)
        return _combined(self, "fold_by_key", fn)

    def combine_by_key(
        self: Keyed[K, V],
        create_combiner: Callable[[V], C],
        merge_value: Callable[[C, V], C],
        merge_combiners: Callable[[C, C], C],
    ) -> "Pairs[K, C]":
        """The values of each key combined, starting with the first of them."""
        functions = (create_combiner, merge_value, merge_combiners)
        fns = (checked(self, "combine_by_key", fn) for fn in functions)
        return _failing(self, "combine_by_key", Combined(*fns))

    def reduce_by_key(self: Keyed[K, V], op: Callable[[V, V], V]) -> "Pairs[K, V]":
        """The values of each key combined two by two, in any order."""
        return _failing(self, "reduce_by_key", reduced(checked(self, "reduce_by_key", op)))

    def sum_by_key(
        self: Keyed[K, V], semigroup: Callable[[V, V], V] = operator.add
    ) -> "Pairs[K, V]":
        """The sum of the values of each key. For one that is 0 in an empty pane,
        ``fold_by_key(0)``."""
        return _failing(self, "sum_by_key", reduced(checked(self, "sum_by_key", semigroup)))

    def min_by_key(self: Keyed[K, V], key: Callable[[V], Any] | None = None) -> "Pairs[K, V]":
        """The least value of each key, or that for which ``key`` is least."""
        return _failing(self, "min_by_key", extreme(min, key))

    def max_by_key(self: Keyed[K, V], key: Callable[[V], Any] | None = None) -> "Pairs[K, V]":
        """The greatest value of each key, or that for which ``key`` is greatest."""
        return _failing(self, "max_by_key", extreme(max, key))

    def latest_by_key(self: Keyed[K, V]) -> "Pairs[K, V]":
        """The value of each key with the greatest event time. Empty pane: None."""
        return _combined(self, "latest_by_key", Latest())

    def mean_by_key(self: Keyed[K, float]) -> "Pairs[K, float]":
        """The mean of the values of each key. Empty pane: NaN."""
        return composed(
            self, "mean_by_key", lambda pairs: combined(pairs, Mean()).map_values(as_number)
        )

    def count_by_key(self: Keyed[K, V]) -> "Pairs[K, int]":
        """How many values each key has. Empty pane: 0."""
        return _combined(self, "count_by_key", Count())

    def count_by_value(self: Verbs[T]) -> "Pairs[T, int]":
        """How often each element is there. Empty pane: 0."""
        return composed(
            self,
            "count_by_value",
            lambda values: combined(values.map(lambda value: (value, value)), Count()),
        )

    def top_by_key(
        self: Keyed[K, V],
        num: int,
        key: Callable[[V], Any] | None = None,
        *,
        reverse: bool = False,
    ) -> "Pairs[K, list[V]]":
        """The greatest values of each key, the greatest first. Empty pane: the empty list."""
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
    ) -> Any:
        """Values of each key by chance: ``sample_by_key(10)`` as one list for each pane, or with a
        choice and a fraction for each key pairs as they are. Empty pane: the empty list.

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
        """Estimates of so many quantiles of the numbers of each key, 2 or more, the least and the
        greatest number included. Empty pane: the empty list."""
        fn = made(self, "approx_quantiles_by_key", lambda: ApproxQuantiles(num_quantiles))
        return _combined(self, "approx_quantiles_by_key", fn)

    def count_approx_distinct_by_key(self: Keyed[K, V], error: float = 0.02) -> "Pairs[K, int]":
        """An estimate of how many different values each key has. Empty pane: 0."""
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
        hint = f"write {verb}(zero, lambda aggregate, value: ..., lambda one, other: ...)"
        if isinstance(zero, type):
            hint = f"write {zero.__name__}()"
        raise PipelineError(
            f"{full_name(given, verb)!r} needs a combine function or a zero with two functions, "
            f"got {zero!r}; {hint}"
        )
    return Aggregated(zero, checked(given, verb, seq_op), checked(given, verb, comb_op))


def extreme(choose: Callable[..., Any], key: Callable[[Any], Any] | None) -> CombineFn:
    """The least or the greatest value, the first to come among equals."""
    return reduced(lambda one, other: choose(one, other, key=key))


def as_number(mean: float | None) -> float:
    """A mean as Beam gives it."""
    return math.nan if mean is None else mean


def reduced(op: Callable[[Any, Any], Any]) -> CombineFn:
    """All values combined two by two."""
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

"""Verbs that make all elements of each window and pane into one, and verbs for what is distinct.

For an empty collection, and for a pane without elements:

=======================================================  ================  ===========
verbs                                                    empty collection  empty pane
=======================================================  ================  ===========
``sum``, ``reduce``, ``combine``, ``min``, ``max``,      nothing           fails
``latest``                                               nothing           fails
``mean``                                                 nothing           NaN
``aggregate``, ``fold``                                  the zero          the zero
``count``                                                0                 0
``top``, ``sample``, ``sample_weighted``                 ``[]``            ``[]``
``quantiles_approx``                                     ``[]``            ``[]``
=======================================================  ================  ===========

An empty collection has a value only if it was not windowed.

Source: Scio ``SCollection``.
"""

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast, overload

from beamlike.api.pipelines.cogroups import Distinct
from beamlike.api.pipelines.scio.by_key import as_number, extreme, reduced, zeroed
from beamlike.api.pipelines.scio.dofns import Present
from beamlike.api.pipelines.scio.functions import (
    Aggregated,
    Combined,
    FirstOf,
    Weighed,
    distinct_within,
)
from beamlike.api.pipelines.scio.sampling import drawn
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
    combined_globally,
    composed,
    done,
    full_name,
    here,
    made,
    stepped,
)
from beamlike.errors import CombineError, PipelineError
from beamlike.model.combine import (
    ApproxQuantiles,
    CombineFn,
    Count,
    Mean,
    Sample,
    Top,
)
from beamlike.model.options import whole_number
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class OverallVerbs(Verbs[T_co]):
    """What one can make of all elements, for each window and pane.

    All raise `PipelineError` if the windowing cannot be grouped, and those that fail for an empty
    pane, see above, `TransformError` in the run.
    """

    @overload
    def aggregate(self, zero: CombineFn) -> "SCollection[Any]": ...

    @overload
    def aggregate(
        self,
        zero: U,
        seq_op: Callable[[U, T_co], U],
        comb_op: Callable[[U, U], U],
    ) -> "SCollection[U]": ...

    def aggregate(self, zero: Any, seq_op: Any = None, comb_op: Any = None) -> "SCollection[Any]":
        """All elements added to a zero; or with a combine function alone, what that makes.

        Args:
            zero: A value that changes nothing when it is combined with another; or the combine
                function.
            seq_op: From an aggregate and an element to an aggregate. It may change the aggregate.
            comb_op: From two aggregates to one. It may change the first.
        """
        fn = zeroed(self, "aggregate", zero, seq_op, comb_op)
        return _with_default(self, "aggregate", fn)

    def fold(self: Verbs[T], zero: T, op: Callable[[T, T], T] = operator.add) -> "SCollection[T]":
        """All elements combined with a zero.

        Args:
            zero: A value that changes nothing when it is combined with another: 0 for sums.
            op: From two elements to one; ``+`` by default.
        """
        return _with_default(self, "fold", Aggregated(zero, checked(self, "fold", op), op))

    def combine(
        self: Verbs[T],
        create_combiner: Callable[[T], C],
        merge_value: Callable[[C, T], C],
        merge_combiners: Callable[[C, C], C],
    ) -> "SCollection[C]":
        """All elements combined, starting with the first of them."""
        functions = (create_combiner, merge_value, merge_combiners)
        fns = (checked(self, "combine", fn) for fn in functions)
        return _failing(self, "combine", Combined(*fns))

    def reduce(self: Verbs[T], op: Callable[[T, T], T]) -> "SCollection[T]":
        """All elements combined two by two, in any order."""
        return _failing(self, "reduce", reduced(checked(self, "reduce", op)))

    def sum(self: Verbs[T], semigroup: Callable[[T, T], T] = operator.add) -> "SCollection[T]":
        """The sum of all elements; ``+`` by default, so classes with ``__add__`` can be summed.
        For a sum that is 0 in an empty pane, ``fold(0)``."""
        return _failing(self, "sum", reduced(checked(self, "sum", semigroup)))

    def min(self, key: Callable[[T_co], Any] | None = None) -> "SCollection[T_co]":
        """The least element, or that for which ``key`` is least."""
        return _failing(self, "min", extreme(min, key))

    def max(self, key: Callable[[T_co], Any] | None = None) -> "SCollection[T_co]":
        """The greatest element, or that for which ``key`` is greatest."""
        return _failing(self, "max", extreme(max, key))

    def latest(self: Verbs[T]) -> "SCollection[T]":
        """The element with the greatest event time."""
        return composed(
            self,
            "latest",
            lambda values: values.with_timestamp().max(key=lambda timed: timed[1]).keys(),
        )

    def mean(self: Verbs[float]) -> "SCollection[float]":
        """The mean of all numbers."""
        return composed(
            self,
            "mean",
            lambda numbers: combined_globally(numbers, Mean(), has_default=False).map(as_number),
        )

    def count(self) -> "SCollection[int]":
        """How many elements."""
        return _with_default(self, "count", Count())

    def top(
        self, num: int, key: Callable[[T_co], Any] | None = None, *, reverse: bool = False
    ) -> "SCollection[list[T_co]]":
        """The greatest elements as a list, the greatest first. Source: Scio ``top``.

        Args:
            num: How many at most.
            key: From an element to what is compared in its place.
            reverse: The least instead, the least first.
        """
        fn = made(self, "top", lambda: Top(num, key, smallest=reverse))
        return _with_default(self, "top", fn)

    @overload
    def sample(self, sample_size: int, *, seed: int = 0) -> "SCollection[list[T_co]]": ...

    @overload
    def sample(
        self: Verbs[T],
        with_replacement: bool,
        /,
        fraction: float,
        seed: int | None = None,
    ) -> "SCollection[T]": ...

    @overload
    def sample(
        self: Verbs[T],
        *,
        with_replacement: bool,
        fraction: float,
        seed: int | None = None,
    ) -> "SCollection[T]": ...

    def sample(
        self: Any,
        sample_size: Any = None,
        fraction: Any = None,
        seed: Any = None,
        *,
        with_replacement: Any = None,
    ) -> "SCollection[Any]":
        """Elements by chance: ``sample(10)`` of each pane, ``sample(False, 0.1)`` one by one.

        With a number alone, so many elements drawn without replacement, as one list. With a choice
        and a fraction, elements as they are, and nothing is grouped: each is drawn with that
        chance, or with replacement so often on average. Both give the same for the same elements
        at the same times, see `sampling`. Elements are plain data.

        Args:
            sample_size: How many at most; or, before a fraction, ``with_replacement``.
            fraction: From 0 to 1, and with replacement any number of 0 or more.
            seed: For another sample, any whole number.
            with_replacement: Whether an element may be drawn several times.

        Raises:
            PipelineError: A number or a fraction that makes no sample.
            TransformError: In the run: an element is not plain data.
        """
        if fraction is not None or with_replacement is not None or isinstance(sample_size, bool):
            choice = sample_size if with_replacement is None else with_replacement
            return drawn(self, choice, fraction, seed)
        fn = made(self, "sample", lambda: Sample(sample_size, 0 if seed is None else seed))
        return _with_default(self, "sample", fn)

    def sample_weighted(
        self, total_weight: float, cost: Callable[[T_co], float], *, seed: int = 0
    ) -> "SCollection[list[T_co]]":
        """Elements drawn without replacement that cost so much together at most, as a list.

        The same elements at the same times give the same sample. Elements are plain data.

        Args:
            total_weight: What they cost together at most.
            cost: What an element costs, 0 or more.
            seed: For another sample, any whole number.

        Raises:
            PipelineError: The total is no number of 0 or more, or the cost no function.
            TransformError: In the run: an element costs less than 0.
        """
        if not isinstance(total_weight, int | float) or not total_weight >= 0:
            raise PipelineError(
                f"{full_name(self, 'sample_weighted')!r}: total_weight must be a number of 0 or "
                f"more, got {total_weight!r}"
            )
        fn = Weighed(total_weight, checked(self, "sample_weighted", cost), seed)
        return _with_default(self, "sample_weighted", fn)

    def take(self: Verbs[T], num: int) -> "SCollection[T]":
        """Any elements, so many at most of each pane."""
        made(self, "take", lambda: whole_number(num, 1, "num", CombineError))
        return composed(
            self,
            "take",
            lambda values: combined_globally(values, FirstOf(num), has_default=False).flatten(),
        )

    def quantiles_approx(self: Verbs[float], num_quantiles: int) -> "SCollection[list[float]]":
        """Estimates of quantiles of all numbers, as a list."""
        fn = made(self, "quantiles_approx", lambda: ApproxQuantiles(num_quantiles))
        return _with_default(self, "quantiles_approx", fn)

    def count_approx_distinct(self, error: float = 0.02) -> "SCollection[int]":
        """An estimate of how many different elements. Source: Scio ``countApproxDistinct``.

        Args:
            error: How far most estimates are off at most, from 0.01 to 0.5, as a share; or a whole
                number of 16 or more: as good as a sample of so many.
        """
        fn = made(self, "count_approx_distinct", lambda: distinct_within(error))
        return _with_default(self, "count_approx_distinct", fn)

    def distinct(self: Verbs[T]) -> "SCollection[T]":
        """Each element once in each window: when the first pane with it comes out.

        Raises:
            PipelineError: The windows merge, and there is a trigger or an allowed lateness.

        Source: Scio ``distinct``, Beam ``Distinct``.
        """
        return cast("SCollection[T]", stepped(self, "distinct", Distinct()))

    def distinct_by(self: Verbs[T], fn: Callable[[T], Any]) -> "SCollection[T]":
        """One element of all for which a function gives the same, for each pane that has one."""
        same = checked(self, "distinct_by", fn)
        return composed(
            self,
            "distinct_by",
            lambda values: values.key_by(same).aggregate_by_key(FirstOf(1)).values().flatten(),
            fn,
        )

    def distinct_by_key(self: Keyed[K, V]) -> "Pairs[K, V]":
        """One pair of each key, for each pane that has one."""
        return composed(
            self, "distinct_by_key", lambda pairs: pairs.distinct_by(lambda pair: pair[0])
        )


def _with_default(given: Verbs[Any], verb: str, fn: CombineFn) -> "SCollection[Any]":
    windowing = here(given).windowing
    # A window without elements has no value: such windows are not known.
    is_windowed = windowing != WindowingStrategy.unwindowed() or windowing.said - {"window_fn"}
    return composed(given, verb, lambda it: combined_globally(it, fn, has_default=not is_windowed))


def _failing(given: Verbs[Any], verb: str, fn: CombineFn) -> "SCollection[Any]":
    label = full_name(given, verb)
    present = Present(label, "fold(zero, op) or aggregate(zero, seq_op, comb_op)", keyed=False)

    def build(it: "SCollection[Any]") -> "SCollection[Any]":
        return done(combined_globally(it, fn, has_default=False), "Present", present)

    return composed(given, verb, build)

"""Verbs that make all elements of a pane into one, or all values of each key, and what is distinct.

For an empty collection, and for a pane without elements:

===========================================================  ================  ===========
verbs, and those with ``_by_key``                            empty collection  empty pane
===========================================================  ================  ===========
``sum``, ``reduce``, ``combine``, ``min``, ``max``           nothing           fails
``latest``                                                   nothing           fails
``latest_by_key``                                            nothing           None
``mean``                                                     nothing           NaN
``aggregate``, ``fold``                                      the zero          the zero
``count``, ``count_by_value``, ``count_approx_distinct``     0                 0
``top``, ``sample``                                          ``[]``            ``[]``
``quantiles_approx``, ``approx_quantiles_by_key``            ``[]``            ``[]``
===========================================================  ================  ===========

An empty collection has a value only if it was not windowed, and no key has one. A pane is empty if
nothing came since the pane before and the mode is ``"discarding"``: the on-time pane after an early
one for example. All verbs raise `PipelineError` if the windowing cannot be grouped, and those that
fail for an empty pane `TransformError` in the run.

Source: Scio ``SCollection``, ``PairSCollectionFunctions``.
"""

import math
import re
from collections.abc import Callable
from typing import Any, Final

from beamlike.api.pipelines.cogroups import Distinct
from beamlike.api.pipelines.scio.call import Call, combined, combined_globally, composite
from beamlike.api.pipelines.scio.functions import (
    Aggregated,
    Combined,
    FirstOf,
    distinct_within,
    fail_on_empty,
)
from beamlike.api.pipelines.scio.sampling import bernoulli_sample, bernoulli_sample_by_key
from beamlike.api.pipelines.scio.table import Transform
from beamlike.errors import CombineError
from beamlike.model.combine import ApproxQuantiles, CombineFn, Count, Latest, Mean, Sample, Top
from beamlike.model.options import whole_number
from beamlike.model.strategy import WindowingStrategy

_BOTH: Final = """
aggregate(zero: CombineFn) -> Any
aggregate(zero: U, seq_op: Callable[[U, T], U], comb_op: Callable[[U, U], U]) -> U
aggregate(zero: Any, seq_op: Any = None, comb_op: Any = None) -> Any
    {Elements} added to a zero; or with a combine function alone, what that makes.

    Args:
        zero: A value that changes nothing when it is combined with another; or the combine
            function. An empty pane has it.
        seq_op: From an aggregate and an element to an aggregate. It may change the aggregate.
        comb_op: From two aggregates to one. It may change the first.
fold(zero: T, op: Callable[[T, T], T] = add) -> T
    {Elements} combined with a zero.

    Args:
        zero: A value that changes nothing when it is combined with another: 0 for sums. An empty
            pane has it.
        op: From two elements to one; ``+`` by default.
combine(create_combiner: Callable[[T], C], merge_value: Callable[[C, T], C],
        merge_combiners: Callable[[C, C], C]) -> C
    {Elements} combined, starting with the first of them. An empty pane fails.
reduce(op: Callable[[T, T], T]) -> T
    {Elements} combined two by two, in any order. An empty pane fails.
sum(semigroup: Callable[[T, T], T] = add) -> T
    The sum of {elements}; ``+`` by default, so classes with ``__add__`` can be summed. An empty
    pane fails. For a sum that is 0 there, ``{fold}(0)``.
min(key: Callable[[T], Any] | None = None) -> T
    The least of {elements}, or that for which ``key`` is least. An empty pane fails.
max(key: Callable[[T], Any] | None = None) -> T
    The greatest of {elements}, or that for which ``key`` is greatest. An empty pane fails.
count() -> int
    How many elements {there} are. Empty pane: 0.
top(num: int, key: Callable[[T], Any] | None = None, *, reverse: bool = False) -> list[T]
    The greatest of {elements} as a list, the greatest first. Empty pane: the empty list.

    Args:
        num: How many at most.
        key: From an element to what is compared in its place.
        reverse: The least instead, the least first.
count_approx_distinct(error: float = 0.02) -> int
    An estimate of how many of {elements} are different. Empty pane: 0.

    Args:
        error: How far most estimates are off at most, from 0.01 to 0.5, as a share; or a whole
            number of 16 or more: as good as a sample of so many.
"""
"""Verbs for all elements, and by another name for the values of each key."""

_ONE_BY_ONE: Final = """
of SCollection[float]
mean() -> SCollection[float]
    The mean of all numbers. Empty pane: NaN.
quantiles_approx(num_quantiles: int) -> SCollection[list[float]]
    Estimates of so many quantiles of all numbers, 2 or more, as a list. Empty pane: the empty list.
of Pairs[K, float]
mean_by_key() -> Pairs[K, float]
    The mean of the values of each key. Empty pane: NaN.
approx_quantiles_by_key(num_quantiles: int) -> Pairs[K, list[float]]
    Estimates of so many quantiles of the numbers of each key, 2 or more, the least and the greatest
    number included. Empty pane: the empty list.
of SCollection[T]
latest() -> SCollection[T]
    The element with the greatest event time. An empty pane fails.
count_by_value() -> Pairs[T, int]
    How often each element is there. Empty pane: 0.
sample(sample_size: int, *, seed: int = 0) -> SCollection[list[T]]
sample(with_replacement: bool, /, fraction: float, seed: int | None = None) -> SCollection[T]
sample(*, with_replacement: bool, fraction: float, seed: int | None = None) -> SCollection[T]
sample(sample_size: Any = None, fraction: Any = None, seed: Any = None, *,
        with_replacement: Any = None) -> SCollection[Any]
    Elements by chance: ``sample(10)`` of each pane, ``sample(False, 0.1)`` one by one.

    With a number alone, so many elements drawn without replacement, as one list. With a choice and
    a fraction, elements as they are, and nothing is grouped: each is drawn with that chance, or
    with replacement so often on average. Both give the same for the same elements at the same
    times. Elements are plain data.

    Args:
        sample_size: How many at most; or, before a fraction, ``with_replacement``.
        fraction: From 0 to 1, and with replacement any number of 0 or more.
        seed: For another sample, any whole number.
        with_replacement: Whether an element may be drawn several times.

    Raises:
        PipelineError: A number or a fraction that makes no sample.
        TransformError: In the run: an element is not plain data.
take(num: int) -> SCollection[T]
    Any elements, so many at most of each pane.
distinct() -> SCollection[T]
    Each element once in each window: when the first pane with it comes out.

    Raises:
        PipelineError: The windows merge, and there is a trigger or an allowed lateness.

    Source: Scio ``distinct``, Beam ``Distinct``.
distinct_by(fn: Callable[[T], Any]) -> SCollection[T]
    One element of all for which a function gives the same, for each pane that has one.
of Pairs[K, V]
latest_by_key() -> Pairs[K, V]
    The value of each key with the greatest event time. Empty pane: None.
sample_by_key(sample_size: int, *, seed: int = 0) -> Pairs[K, list[V]]
sample_by_key(with_replacement: bool, /, fractions: Mapping[K, float], seed: int | None = None)
        -> Pairs[K, V]
sample_by_key(*, with_replacement: bool, fractions: Mapping[K, float], seed: int | None = None)
        -> Pairs[K, V]
sample_by_key(sample_size: Any = None, fractions: Any = None, seed: Any = None, *,
        with_replacement: Any = None) -> Any
    Values of each key by chance: ``sample_by_key(10)`` as one list for each pane, or with a choice
    and a fraction for each key pairs as they are. Empty pane: the empty list.

    Raises:
        PipelineError: A number or a fraction that makes no sample.
        TransformError: In the run: a key has no fraction, a value is not plain data.

    Source: Scio ``sampleByKey``, which gives another sample in each run.
distinct_by_key() -> Pairs[K, V]
    One pair of each key, for each pane that has one.
"""


def _written(text: str, by_key: bool) -> str:
    """The table for all elements, or for the values of each key."""
    elements = "the values of each key" if by_key else "all elements"
    phrases = {
        "{elements}": elements,
        "{Elements}": elements[0].upper() + elements[1:],
        "{there}": "of each key there" if by_key else "there",
        "{fold}": "fold_by_key" if by_key else "fold",
    }
    lines = [f"of {'Pairs[K, V]' if by_key else 'SCollection[T]'}"]
    for line in text.strip().splitlines():
        if not line.startswith("    ") or line.startswith(" " * 8 + "merge_"):
            line = re.sub(r"^\w+", r"\g<0>_by_key", line) if by_key else line
            line = re.sub(r"-> (.*)", "-> Pairs[K, \\1]" if by_key else "-> SCollection[\\1]", line)
            line = re.sub(r"\bT\b", "V", line) if by_key else line
        lines.append(re.sub(r"{\w+}", lambda match: phrases[match[0]], line))
    return "\n".join(lines)


VERBS: Final = "\n".join([_written(_BOTH, False), _written(_BOTH, True), _ONE_BY_ONE.strip()])


def _zeroed(call: Call, zero: Any, seq_op: Any, comb_op: Any) -> CombineFn:
    """The combine function of a zero and two functions, or the one in the place of the zero."""
    if seq_op is None and comb_op is None:
        if isinstance(zero, CombineFn):
            return zero
        hint = f"write {call.verb}(zero, lambda aggregate, value: ..., lambda one, other: ...)"
        if isinstance(zero, type):
            hint = f"write {zero.__name__}()"
        raise call.error(
            f" needs a combine function or a zero with two functions, got {zero!r}; {hint}"
        )
    return Aggregated(zero, call.checked(seq_op), call.checked(comb_op))


def _extreme(choose: Callable[..., Any], key: Any) -> CombineFn:
    """The least or the greatest value, the first to come among equals."""
    return _reduced(lambda first, second: choose(first, second, key=key))


def _reduced(op: Callable[[Any, Any], Any]) -> CombineFn:
    """All values combined two by two."""
    return Combined(_itself, op, op)


def _itself(value: Any) -> Any:
    return value


_FAILING: Final = ("combine", "reduce", "sum", "min", "max")
_FUNCTIONS: Final[dict[str, Callable[..., CombineFn]]] = {
    "aggregate": _zeroed,
    "fold": lambda call, zero, op: Aggregated(zero, op, op),
    "combine": lambda call, *functions: Combined(*functions),
    "reduce": lambda call, op: _reduced(op),
    "sum": lambda call, semigroup: _reduced(semigroup),
    "min": lambda call, key: _extreme(min, key),
    "max": lambda call, key: _extreme(max, key),
    "count": lambda call: Count(),
    "top": lambda call, num, key, reverse: Top(num, key, smallest=reverse),
    "count_approx_distinct": lambda call, error: distinct_within(error),
}


def _combining(verb: str, by_key: bool) -> Transform:
    """What a verb does, for all elements or by key."""

    def transform(call: Call, *arguments: Any) -> Any:
        fn = call.naming_the_verb(lambda: _FUNCTIONS[verb](call, *arguments))
        if verb not in _FAILING:
            return _per_key(call, fn) if by_key else _with_default(call, fn)
        suffix = "_by_key" if by_key else ""
        instead = f"fold{suffix}(zero, op) or aggregate{suffix}(zero, seq_op, comb_op)"
        present = fail_on_empty(call.name, instead, keyed=by_key)
        combine = combined if by_key else _without_default
        return call.composed(lambda elements: Call(combine(elements, fn), "Present").map(present))

    return transform


def _per_key(call: Call, fn: CombineFn) -> Any:
    return call.composed(lambda pairs: combined(pairs, fn))


def _without_default(elements: Any, fn: CombineFn) -> Any:
    return combined_globally(elements, fn, has_default=False)


def _with_default(call: Call, fn: CombineFn) -> Any:
    windowing = call.collection.windowing
    # A window without elements has no value: such windows are not known.
    is_windowed = windowing != WindowingStrategy.unwindowed() or windowing.said - {"window_fn"}
    return call.composed(
        lambda elements: combined_globally(elements, fn, has_default=not is_windowed)
    )


def as_number(mean: float | None) -> float:
    """A mean as Beam gives it."""
    return math.nan if mean is None else mean


def _quantiles(call: Call, number: int) -> CombineFn:
    return call.naming_the_verb(lambda: ApproxQuantiles(number))


def _sample(call: Call, size: Any, fraction: Any, seed: Any, with_replacement: Any) -> Any:
    by_key = call.verb == "sample_by_key"
    if fraction is not None or with_replacement is not None or isinstance(size, bool):
        choice = size if with_replacement is None else with_replacement
        draw = bernoulli_sample_by_key if by_key else bernoulli_sample
        return draw(call, choice, fraction, seed)
    fn = call.naming_the_verb(lambda: Sample(size, 0 if seed is None else seed))
    return _per_key(call, fn) if by_key else _with_default(call, fn)


def _take(call: Call, num: int) -> Any:
    call.naming_the_verb(lambda: whole_number(num, 1, "num", CombineError))
    return call.composed(lambda elements: _without_default(elements, FirstOf(num)).flatten())


TRANSFORMS: Final[dict[str, Transform]] = {
    **{verb: _combining(verb, by_key=False) for verb in _FUNCTIONS},
    **{f"{verb}_by_key": _combining(verb, by_key=True) for verb in _FUNCTIONS},
    "quantiles_approx": lambda call, number: _with_default(call, _quantiles(call, number)),
    "approx_quantiles_by_key": lambda call, number: _per_key(call, _quantiles(call, number)),
    "mean": composite(lambda elements: _without_default(elements, Mean()).map(as_number)),
    "mean_by_key": composite(lambda elements: combined(elements, Mean()).map_values(as_number)),
    "latest": composite(
        lambda elements: elements.with_timestamp().max(key=lambda timed: timed[1]).keys()
    ),
    "latest_by_key": lambda call: _per_key(call, Latest()),
    "count_by_value": composite(
        lambda elements: combined(elements.map(lambda value: (value, value)), Count())
    ),
    "sample_by_key": _sample,
    "distinct": lambda call: call.apply(Distinct()),
    "distinct_by": composite(
        lambda elements, fn: elements.key_by(fn).aggregate_by_key(FirstOf(1)).values().flatten()
    ),
    "distinct_by_key": composite(lambda pairs: pairs.distinct_by(lambda pair: pair[0])),
}
"""What the verbs do."""

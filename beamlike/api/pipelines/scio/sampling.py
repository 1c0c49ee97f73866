"""Elements drawn one by one, each with a chance of its own.

Scio asks a random number for each element, so a bundle that is worked on twice may give another
sample, and its seed says the same of the n-th element of a bundle, which is another element on
another day. Here the number is a hash of a seed, the element and its event time: the same on
every host, on every replay, in any order of arrival, however elements are cut into bundles.

By default the seed is the full name of the verb in the pipeline, so two samples of one collection
are independent of one another, and so is a sample of a part of `random_split`. The price: elements
of equal value and equal time are drawn together, or not at all; with an id in them they are not.
Elements are plain data, as those of ``sample``.

Source: Scio ``SampleSCollectionFunctions``, ``PairSCollectionFunctions.sampleByKey``,
``SCollection.randomSplit``.
"""

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, overload

from beamlike.api.pipelines.scio.dofns import Copies
from beamlike.api.pipelines.scio.steps import T, T_co, Verbs, composed, done, full_name
from beamlike.errors import PipelineError
from beamlike.model.combine.plain import digest

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


_SLACK: Final = 1e-6
"""How far a fraction may be off, as in Scio: sums of fractions are not exact."""
_STEEP: Final = 100.0
"""From here on a Poisson number is the sum of several: ``exp`` of more underflows some day."""


class SamplingVerbs(Verbs[T_co]):
    """How one can split a collection by chance."""

    @overload
    def random_split(
        self: Verbs[T], weights: Iterable[float], *, seed: int | None = None
    ) -> "tuple[SCollection[T], ...]": ...

    @overload
    def random_split(
        self: Verbs[T], weights: float, *, seed: int | None = None
    ) -> "tuple[SCollection[T], SCollection[T]]": ...

    @overload
    def random_split(
        self: Verbs[T], weights: float, weight_b: float, *, seed: int | None = None
    ) -> "tuple[SCollection[T], SCollection[T], SCollection[T]]": ...

    def random_split(
        self: Any, weights: Any, weight_b: Any = None, *, seed: int | None = None
    ) -> "tuple[SCollection[Any], ...]":
        """The collection in several parts, each element in one of them by chance.

        ``random_split(0.8)`` has two parts, ``random_split(0.6, 0.2)`` three, and
        ``random_split([3, 1])`` one for each weight. Which part an element is in depends on its
        value and its event time alone, so a replay gives the same parts, and elements that are
        equal in both are in one part.

        Args:
            weights: The share of the first part, between 0 and 1; or the weight of each part.
            weight_b: The share of the second of three parts.
            seed: For another split, any whole number; by default the full name of the verb.

        Raises:
            PipelineError: The weights make no parts.
            TransformError: In the run: an element is not plain data.

        Source: Scio ``randomSplit``; its parts differ from run to run.
        """
        parts = _weights(self, weights, weight_b)
        salt = _salt(self, "random_split", seed)
        bounds = [sum(parts[:at]) / sum(parts) for at in range(1, len(parts))]

        def part(timed: tuple[Any, int]) -> int:
            return bisect.bisect_right(bounds, _chance(salt, *timed))

        def build(given: "SCollection[Any]") -> "tuple[SCollection[Any], ...]":
            return tuple(it.keys() for it in given.with_timestamp().partition(len(parts), part))

        return composed(self, "random_split", build)


def drawn(
    given: Verbs[T], with_replacement: Any, fraction: Any, seed: int | None
) -> "SCollection[T]":
    """Elements by chance, for ``sample``.

    Raises:
        PipelineError: A choice or a fraction that is none.
    """
    verb = "sample"
    _check(given, verb, with_replacement, [fraction], "sample(False, 0.1)")
    return _drawn(given, verb, with_replacement, lambda _: float(fraction), seed)


def drawn_by_key(
    given: Verbs[tuple[Any, Any]], with_replacement: Any, fractions: Any, seed: int | None
) -> "Pairs[Any, Any]":
    """Pairs by chance, for ``sample_by_key``.

    Raises:
        PipelineError: A choice or a fraction that is none.
    """
    verb = "sample_by_key"
    instead = "sample_by_key(False, {'key': 0.1})"
    if not isinstance(fractions, Mapping):
        raise PipelineError(
            f"{full_name(given, verb)!r} needs the fraction of each key in a mapping, got "
            f"{fractions!r}; write {instead}"
        )
    _check(given, verb, with_replacement, fractions.values(), instead)
    known = {key: float(fraction) for key, fraction in fractions.items()}

    def fraction_of(pair: tuple[Any, Any]) -> float:
        if pair[0] not in known:
            raise LookupError(
                f"the key {pair[0]!r} has no fraction, and those that have are {list(known)!r}; "
                "name all keys"
            )
        return known[pair[0]]

    return _drawn(given, verb, with_replacement, fraction_of, seed)


def _drawn(
    given: Verbs[T],
    verb: str,
    with_replacement: bool,
    fraction_of: Callable[[T], float],
    seed: int | None,
) -> "SCollection[T]":
    salt = _salt(given, verb, seed)
    number = _poisson if with_replacement else _bernoulli

    def copies(element: T, timestamp: int) -> int:
        return number(fraction_of(element), salt, element, timestamp)

    return done(given, verb, Copies(copies))


def _bernoulli(fraction: float, salt: str, element: Any, timestamp: int) -> int:
    if fraction <= 0 or fraction >= 1:
        return int(fraction >= 1)
    return int(_chance(salt, element, timestamp) < fraction)


def _poisson(fraction: float, salt: str, element: Any, timestamp: int) -> int:
    if fraction <= 0:
        return 0
    several = math.ceil(fraction / _STEEP)
    chances = (_chance(f"{salt}|{at}", element, timestamp) for at in range(several))
    return sum(_poisson_at(fraction / several, chance) for chance in chances)


def _poisson_at(mean: float, chance: float) -> int:
    """The number that so large a share of all Poisson numbers is not above."""
    each = total = math.exp(-mean)
    for number in itertools.count():
        # At the far end chances are too small to be added.
        if chance < total or not each:
            return number
        each *= mean / (number + 1)
        total += each
    raise AssertionError("there are enough numbers")


def _chance(salt: str, element: Any, timestamp: int) -> float:
    """A number from 0 up to 1, as random as a hash."""
    # As many bits as a float has: with more, one could be rounded up to 1.
    return (digest(element, f"{salt}|{timestamp}") >> 11) % 2**53 / 2**53


def _salt(given: Verbs[Any], verb: str, seed: Any) -> str:
    if seed is None:
        return full_name(given, verb)
    if not isinstance(seed, int):
        raise PipelineError(
            f"{full_name(given, verb)!r}: the seed must be a whole number such as 1, got {seed!r}"
        )
    return f"{verb} {int(seed)}"


def _check(
    given: Verbs[Any], verb: str, with_replacement: Any, fractions: Iterable[Any], instead: str
) -> None:
    label = full_name(given, verb)
    if not isinstance(with_replacement, bool):
        raise PipelineError(
            f"{label!r} needs to know whether an element may be drawn several times, got "
            f"{with_replacement!r} in place of True or False; write {instead}, or {verb}(10) for "
            "so many elements"
        )
    most = math.inf if with_replacement else 1 + _SLACK
    for fraction in fractions:
        if not _is_number(fraction) or not -_SLACK <= fraction <= most:
            allowed = "0 or more" if with_replacement else "from 0 to 1"
            raise PipelineError(
                f"{label!r}: a fraction must be a number {allowed}, got {fraction!r}; write "
                f"{instead}"
            )


def _weights(given: Verbs[Any], weights: Any, weight_b: Any) -> list[float]:
    verb = "random_split"
    if isinstance(weights, Iterable) and not isinstance(weights, str) and weight_b is None:
        parts = list(weights)
        if all(_is_number(it) and it >= 0 for it in parts) and sum(parts) > 0:
            return [float(it) for it in parts]
    else:
        shares = [weights] if weight_b is None else [weights, weight_b]
        if all(_is_number(it) and it > 0 for it in shares) and sum(shares) < 1:
            return [*map(float, shares), 1.0 - float(sum(shares))]
    got = repr(weights) if weight_b is None else f"{weights!r} and {weight_b!r}"
    raise PipelineError(
        f"{full_name(given, verb)!r} needs shares above 0 that leave something of 1 for the last "
        f"part, or a list of weights, got {got}; write random_split(0.8), or random_split([4, 1])"
    )


def _is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool) and math.isfinite(given)

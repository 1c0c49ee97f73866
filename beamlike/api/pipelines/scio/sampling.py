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
from typing import Any, Final

from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.scio.call import Call
from beamlike.model.combine.plain import digest

_SLACK: Final = 1e-6
"""How far a fraction may be off, as in Scio: sums of fractions are not exact."""
_STEEP: Final = 100.0
"""From here on a Poisson number is the sum of several: ``exp`` of more underflows some day."""


def random_split(call: Call, weights: Any, weight_b: Any, seed: Any) -> tuple[Any, ...]:
    """The collection in parts, for the verb."""
    shares = _weights(call, weights, weight_b)
    salt = _salt(call, seed)
    bounds = [sum(shares[:index]) / sum(shares) for index in range(1, len(shares))]

    def part(timed: tuple[Any, int]) -> int:
        return bisect.bisect_right(bounds, _chance(salt, *timed))

    def build(elements: Any) -> tuple[Any, ...]:
        parts = elements.with_timestamp().partition(len(shares), part)
        return tuple(split.keys() for split in parts)

    return call.composed(build)


def bernoulli_sample(call: Call, with_replacement: Any, fraction: Any, seed: Any) -> Any:
    """Elements by chance, for ``sample``."""
    _check(call, with_replacement, [fraction], "sample(False, 0.1)")
    return _drawn(call, with_replacement, lambda _: float(fraction), seed)


def bernoulli_sample_by_key(call: Call, with_replacement: Any, fractions: Any, seed: Any) -> Any:
    """Pairs by chance, for ``sample_by_key``."""
    instead = "sample_by_key(False, {'key': 0.1})"
    if not isinstance(fractions, Mapping):
        raise call.error(
            f" needs the fraction of each key in a mapping, got {fractions!r}; write {instead}"
        )
    _check(call, with_replacement, fractions.values(), instead)
    known = {key: float(fraction) for key, fraction in fractions.items()}

    def fraction_of(pair: tuple[Any, Any]) -> float:
        if pair[0] not in known:
            raise LookupError(
                f"the key {pair[0]!r} has no fraction, and those that have are {list(known)!r}; "
                "name all keys"
            )
        return known[pair[0]]

    return _drawn(call, with_replacement, fraction_of, seed)


def _drawn(
    call: Call, with_replacement: bool, fraction_of: Callable[[Any], float], seed: Any
) -> Any:
    salt = _salt(call, seed)
    number = _poisson if with_replacement else _bernoulli

    def copies(element: Any, timestamp: int = DoFn.TimestampParam) -> list[Any]:
        return [element] * number(fraction_of(element), salt, element, timestamp)

    return call.flat_map(copies)


def _bernoulli(fraction: float, salt: str, element: Any, timestamp: int) -> int:
    if fraction <= 0 or fraction >= 1:
        return int(fraction >= 1)
    return int(_chance(salt, element, timestamp) < fraction)


def _poisson(fraction: float, salt: str, element: Any, timestamp: int) -> int:
    if fraction <= 0:
        return 0
    several = math.ceil(fraction / _STEEP)
    chances = (_chance(f"{salt}|{part}", element, timestamp) for part in range(several))
    return sum(_poisson_quantile(fraction / several, chance) for chance in chances)


def _poisson_quantile(mean: float, chance: float) -> int:
    """The number that so large a share of all Poisson numbers is not above."""
    share = total = math.exp(-mean)
    for number in itertools.count():
        # At the far end chances are too small to be added.
        if chance < total or not share:
            return number
        share *= mean / (number + 1)
        total += share
    raise AssertionError("there are enough numbers")


def _chance(salt: str, element: Any, timestamp: int) -> float:
    """A number from 0 up to 1, as random as a hash."""
    # As many bits as a float has: with more, one could be rounded up to 1.
    return (digest(element, f"{salt}|{timestamp}") >> 11) % 2**53 / 2**53


def _salt(call: Call, seed: Any) -> str:
    if seed is None:
        return call.name
    if not isinstance(seed, int):
        raise call.error(f": the seed must be a whole number such as 1, got {seed!r}")
    return f"{call.verb} {int(seed)}"


def _check(call: Call, with_replacement: Any, fractions: Iterable[Any], instead: str) -> None:
    if not isinstance(with_replacement, bool):
        raise call.error(
            " needs to know whether an element may be drawn several times, got "
            f"{with_replacement!r} in place of True or False; write {instead}, or "
            f"{call.verb}(10) for so many elements"
        )
    most = math.inf if with_replacement else 1 + _SLACK
    for fraction in fractions:
        if not _is_number(fraction) or not -_SLACK <= fraction <= most:
            allowed = "0 or more" if with_replacement else "from 0 to 1"
            raise call.error(
                f": a fraction must be a number {allowed}, got {fraction!r}; write {instead}"
            )


def _weights(call: Call, weights: Any, weight_b: Any) -> list[float]:
    if isinstance(weights, Iterable) and not isinstance(weights, str) and weight_b is None:
        parts = list(weights)
        if all(_is_number(weight) and weight >= 0 for weight in parts) and sum(parts) > 0:
            return [float(weight) for weight in parts]
    else:
        shares = [weights] if weight_b is None else [weights, weight_b]
        if all(_is_number(share) and share > 0 for share in shares) and sum(shares) < 1:
            return [*map(float, shares), 1.0 - float(sum(shares))]
    got = repr(weights) if weight_b is None else f"{weights!r} and {weight_b!r}"
    raise call.error(
        " needs shares above 0 that leave something of 1 for the last part, or a list of weights, "
        f"got {got}; write random_split(0.8), or random_split([4, 1])"
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)

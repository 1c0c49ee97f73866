"""Estimates from sketches: how far off they may be, and that they are the same each time."""

import math
import sys
from bisect import bisect_left, bisect_right
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from beamlike.errors import CombineError, EnvironmentProblem
from beamlike.model.combine import ApproxDistinct, ApproxQuantiles, CombineFn
from tests.support.refusals import refusal

FRACTIONS = [0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1]


def in_bundles(fn: CombineFn, values: list[Any], size: int) -> Any:
    accumulator = fn.create()
    for index in range(0, len(values), size):
        bundle = values[index : index + size]
        accumulator = fn.compact(fn.add(accumulator, bundle, [0] * len(bundle)))
    return accumulator


def in_windows(fn: CombineFn, values: list[Any], size: int) -> Any:
    merged = fn.create()
    for index in range(0, len(values), size):
        merged = fn.merge(in_bundles(fn, values[index : index + size], size), merged)
    return merged


def numbers(shape: str, count: int) -> list[float]:
    dice = Random(7)
    draw = {
        "even": dice.random,
        "long tail": lambda: dice.lognormvariate(0, 3),
        "few values": lambda: dice.randrange(20),
    }[shape]
    return [draw() for _ in range(count)]


@pytest.mark.parametrize("shape", ["even", "long tail", "few values"])
@pytest.mark.parametrize("count", [1, 2, 9, 100])
def test_quantiles_of_up_to_a_hundred_numbers_are_exact_however_they_are_cut(
    shape: str, count: int
) -> None:
    values, fn = numbers(shape, count), ApproxQuantiles(FRACTIONS)
    in_order = sorted(values)
    exact = [in_order[min(count - 1, math.floor(fraction * count))] for fraction in FRACTIONS]

    for accumulator in (
        in_bundles(fn, values, count),
        in_bundles(fn, values, 1),
        in_windows(fn, values, 7),
    ):
        assert fn.extract(accumulator) == exact


@pytest.mark.parametrize("shape", ["even", "long tail", "few values"])
@pytest.mark.parametrize("cut", [in_bundles, in_windows])
def test_quantiles_of_many_numbers_keep_their_bounds(shape: str, cut: Any) -> None:
    values, fn = numbers(shape, 5000), ApproxQuantiles(FRACTIONS)
    in_order = sorted(values)

    accumulator = cut(fn, values, 300)

    estimates = fn.extract(accumulator)
    assert estimates[0] == in_order[0]
    assert estimates[-1] == in_order[-1]
    for fraction, estimate in zip(FRACTIONS, estimates, strict=True):
        low, high = bisect_left(in_order, estimate) / 5000, bisect_right(in_order, estimate) / 5000
        bound = 0.05 if 0.01 < fraction < 0.99 else 0.003
        assert low - bound <= fraction <= high + bound
    assert len(accumulator) < 5000


def test_a_replay_gives_the_same_bytes() -> None:
    values = numbers("long tail", 3000)
    for fn in (ApproxQuantiles([0.5]), ApproxDistinct()):
        assert in_bundles(fn, values, 100) == in_bundles(fn, values, 100)


def test_a_number_of_quantiles_stands_for_equal_distances() -> None:
    assert ApproxQuantiles(5) == ApproxQuantiles([0, 0.25, 0.5, 0.75, 1])
    assert ApproxQuantiles(2).fractions == (0.0, 1.0)


def test_what_is_no_finite_number_is_not_counted_among_quantiles() -> None:
    fn = ApproxQuantiles([0, 0.5, 1])
    values = [None, math.nan, 2, math.inf, Decimal("1.5"), -math.inf, 1, math.nan]
    assert fn.extract(in_bundles(fn, values, 3)) == [1.0, 1.5, 2.0]
    assert fn.extract(in_bundles(fn, [None, math.nan], 1)) == []


@pytest.mark.parametrize("count", [1, 10, 100, 300])
def test_some_hundred_distinct_values_are_counted_exactly(count: int) -> None:
    fn, values = ApproxDistinct(), [f"tail {n % count}" for n in range(3 * count)]
    assert fn.extract(in_bundles(fn, values, 50)) == count
    assert fn.extract(in_windows(fn, values, 50)) == count


@pytest.mark.parametrize("count", [1000, 5000, 20_000])
@pytest.mark.parametrize("precision", [10, 12, 14])
def test_an_estimate_of_distinct_values_keeps_its_bounds(count: int, precision: int) -> None:
    fn = ApproxDistinct(precision)
    accumulator = in_bundles(fn, list(range(count)), 2000)
    error = abs(fn.extract(accumulator) - count) / count
    assert error < 2.6 * 1.04 / math.sqrt(2**precision)
    assert len(accumulator) < 2**precision + 100


@pytest.mark.parametrize("count", [350, 400, 500, 4000])
def test_an_estimate_of_distinct_values_depends_on_nothing_but_their_set(count: int) -> None:
    fn, values = ApproxDistinct(), list(range(count))
    shuffled = values * 2
    Random(2).shuffle(shuffled)

    estimates = {
        fn.extract(accumulator)
        for accumulator in (
            in_bundles(fn, values, count),
            in_bundles(fn, shuffled, 90),
            in_windows(fn, values, 90),
            in_windows(fn, shuffled, 450),
        )
    }

    assert len(estimates) == 1


def test_equal_values_are_one_and_null_is_none() -> None:
    fn = ApproxDistinct()
    values = [1, 1.0, True, Decimal("1.00"), "1", None, math.nan, -math.nan, [1], (1,), {"a": 1}]
    assert fn.extract(in_bundles(fn, values, 3)) == 5
    assert fn.extract(in_bundles(fn, [None, None], 1)) == 0


@pytest.mark.parametrize(
    ("fractions", "shown"),
    [
        ([0.5, 1.1], "0.5, 1.1"),
        ([-0.1], "-0.1"),
        ([], "none"),
        (0.5, "0.5"),
        ("0.5", "'0.5'"),
        (["0.5"], "'0.5'"),
        ([True], "True"),
        ([math.nan], "nan"),
        (None, "None"),
    ],
)
def test_fractions_that_are_none_are_refused(fractions: Any, shown: str) -> None:
    assert refusal(CombineError, lambda: ApproxQuantiles(fractions)) == (
        "ApproxQuantiles fractions must be a list of numbers from 0 to 1 such as [0.5, 0.99], or "
        f"how many quantiles, 2 or more; got {shown}"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: ApproxQuantiles(1),  # type: ignore[arg-type]
            "ApproxQuantiles fractions, as a number of quantiles, must be a whole number of 2 or "
            "more, got 1",
        ),
        (
            lambda: ApproxQuantiles(2**80),  # type: ignore[arg-type]
            "ApproxQuantiles fractions, as a number of quantiles, must be 65535 at most, got "
            "1208925819614629174706176",
        ),
        (
            lambda: ApproxQuantiles([0.5], 9),
            "ApproxQuantiles compression must be a whole number of 10 or more, got 9",
        ),
        (
            lambda: ApproxQuantiles([0.5], 70_000),
            "ApproxQuantiles compression must be 65535 at most, got 70000",
        ),
        (
            lambda: ApproxDistinct(6),
            "ApproxDistinct precision must be a whole number of 7 or more, got 6",
        ),
        (lambda: ApproxDistinct(22), "ApproxDistinct precision must be 21 at most, got 22"),
    ],
)
def test_a_sketch_of_no_size_is_refused(make: Any, message: str) -> None:
    assert refusal(CombineError, make) == message


@pytest.mark.parametrize("make", [lambda: ApproxQuantiles([0.5]), ApproxDistinct])
def test_without_the_library_the_extra_to_install_is_named(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fn = make()
    monkeypatch.setitem(sys.modules, "datasketches", None)

    for use in (make, lambda: fn.add(fn.create(), [1], [0])):
        assert refusal(EnvironmentProblem, use) == (
            f"{type(fn).__name__} needs datasketches, which is not installed; run: "
            'pip install "beamlike[sketches]", on the workers too'
        )

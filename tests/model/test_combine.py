"""Combine functions: what a pane's elements become, in one bundle or in several."""

import math
from decimal import Decimal

import pytest

from beamlike.model.combine import (
    Collect,
    CollectByTimestamp,
    CombineFn,
    Count,
    CountValues,
    Latest,
    Max,
    Mean,
    Min,
    Sum,
    Together,
)

VALUES = [3, None, 1, 2]
TIMES = [20, 30, 10, 20]
EVERYTHING = Together({"rows": (Count(), None), "sum": (Sum(), 0), "latest": (Latest(), 1)})

# The value of the four elements above, and of a pane without elements.
RESULTS = [
    (Count(), 4, 0),
    (CountValues(), 3, 0),
    (Sum(), 6, 0),
    (Mean(), 2.0, None),
    (Min(), 1, None),
    (Max(), 3, None),
    (Collect(), [3, None, 1, 2], []),
    (Collect(keep_nulls=False), [3, 1, 2], []),
    (CollectByTimestamp(), [1, 3, 2, None], []),
    (Latest(), None, None),
]


@pytest.mark.parametrize(("combine", "result", "empty"), RESULTS, ids=str)
def test_a_bundle_becomes_one_value(combine: CombineFn, result: object, empty: object):
    assert combine.extract(combine.add(combine.create(), VALUES, TIMES)) == result
    assert combine.extract(combine.create()) == empty


@pytest.mark.parametrize(("combine", "result", "empty"), RESULTS, ids=str)
@pytest.mark.parametrize("cut", range(5))
def test_bundles_one_after_the_other_become_the_same_value(
    combine: CombineFn, result: object, empty: object, cut: int
):
    first = combine.add(combine.create(), VALUES[:cut], TIMES[:cut])
    assert combine.extract(combine.add(first, VALUES[cut:], TIMES[cut:])) == result


@pytest.mark.parametrize(("combine", "result", "empty"), RESULTS, ids=str)
@pytest.mark.parametrize("cut", range(5))
def test_accumulators_that_merge_become_the_same_value_and_stay_as_they_were(
    combine: CombineFn, result: object, empty: object, cut: int
):
    first = combine.add(combine.create(), VALUES[:cut], TIMES[:cut])
    second = combine.add(combine.create(), VALUES[cut:], TIMES[cut:])
    before = combine.extract(first), combine.extract(second)
    assert combine.extract(combine.merge(first, second)) == result
    assert (combine.extract(first), combine.extract(second)) == before


def test_the_latest_value_is_that_of_the_greatest_time_and_of_the_last_arrival_among_equals():
    latest = Latest()
    accumulator = latest.add(latest.create(), ["a", "b", "c", "d"], [5, 7, 7, 6])
    assert latest.extract(accumulator) == "c"
    assert latest.extract(latest.add(accumulator, ["e"], [6])) == "c"
    assert latest.extract(latest.add(accumulator, ["f"], [7])) == "f"


def test_values_of_equal_times_stay_in_order_of_arrival():
    collect = CollectByTimestamp()
    accumulator = collect.add(collect.create(), ["a", "b"], [5, 5])
    accumulator = collect.add(accumulator, ["c", "d"], [4, 5])
    assert collect.extract(accumulator) == ["c", "a", "b", "d"]


def test_several_functions_share_a_pane_and_each_reads_its_own_part():
    bundle, times = [(1, "a"), (None, "b"), (5, "c")], [1, 9, 5]
    accumulator = EVERYTHING.add(EVERYTHING.create(), bundle, times)
    assert EVERYTHING.extract(accumulator) == (3, 6, "b")
    assert EVERYTHING.extract(EVERYTHING.create()) == (0, 0, None)
    more = EVERYTHING.add(EVERYTHING.create(), [(2, "d")], [10])
    assert EVERYTHING.extract(EVERYTHING.merge(accumulator, more)) == (4, 8, "d")


def test_a_sum_of_decimals_keeps_all_their_digits():
    large, small = Decimal("12345678901234567890123456789012.12"), Decimal("0.01")

    one_bundle = Sum().add(0, [large, small], [0, 0])
    two_windows = Sum().merge(Sum().add(0, [large], [0]), Sum().add(0, [small], [0]))

    assert str(one_bundle) == str(two_windows) == "12345678901234567890123456789012.13"


@pytest.mark.parametrize("values", [[math.nan, 1.0], [1.0, math.nan]])
def test_nan_is_the_greatest_value_wherever_it_stands(values: list[float]):
    assert Min().add(None, values, [0, 0]) == 1.0
    assert math.isnan(Max().add(None, values, [0, 0]))
    assert Min().merge(values[0], values[1]) == 1.0
    assert math.isnan(Max().merge(values[0], values[1]))

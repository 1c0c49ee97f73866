"""First and last in time, greatest and least: who wins among equals, and what is left out."""

import math
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from beamlike.errors import CombineError
from beamlike.model.combine import CombineFn, First, Last, Latest, Top, TopBy
from tests.support.refusals import refusal


def result(fn: CombineFn, *bundles: list[Any], times: list[int] | None = None) -> Any:
    accumulator, arrived = fn.create(), 0
    for values in bundles:
        stamps = [0] * len(values) if times is None else times[arrived : arrived + len(values)]
        accumulator = fn.compact(fn.add(accumulator, values, stamps))
        arrived += len(values)
    return fn.extract(accumulator)


def test_first_is_the_least_time_and_the_first_arrival_among_equals() -> None:
    assert result(First(), ["a", "b"], ["c", "d"], times=[7, 5, 5, 6]) == "b"


def test_last_is_the_greatest_time_and_the_last_arrival_among_equals() -> None:
    assert Last is Latest
    assert result(Last(), ["a", "b"], ["c", "d"], times=[5, 7, 7, 6]) == "c"


def test_a_null_can_be_the_first_or_the_last_unless_it_is_passed_over() -> None:
    values, times = [None, "a", "b", None], [1, 2, 3, 4]
    assert result(First(), values, times=times) is None
    assert result(Last(), values, times=times) is None
    assert result(First(keep_nulls=False), values, times=times) == "a"
    assert result(Last(keep_nulls=False), values, times=times) == "b"
    assert result(Last(keep_nulls=False), [None], times=[1]) is None


@pytest.mark.parametrize(
    ("values", "greatest", "least"),
    [
        ([3, None, -1, 9, 3], [9, 3, 3], [-1, 3, 3]),
        (["b", "é", "", "a"], ["é", "b", "a"], ["", "a", "b"]),
        ([Decimal("1.5"), 2, 0.5], [2, Decimal("1.5"), 0.5], [0.5, Decimal("1.5"), 2]),
        ([date(2020, 1, 2), None, date(2020, 1, 1)],)
        + ([date(2020, 1, 2), date(2020, 1, 1)],) * 1
        + ([date(2020, 1, 1), date(2020, 1, 2)],),
        ([None, None], [], []),
        ([], [], []),
    ],
)
def test_top_is_the_greatest_first_and_its_mirror_the_least(
    values: list[Any], greatest: list[Any], least: list[Any]
) -> None:
    assert result(Top(3), values) == greatest
    assert result(Top(3, smallest=True), values) == least


def test_nan_is_greater_than_all_numbers_also_in_a_ranking() -> None:
    values = [1.0, math.nan, math.inf, -math.inf]
    assert repr(result(Top(2), values)) == "[nan, inf]"
    assert repr(result(Top(4, smallest=True), values)) == "[-inf, 1.0, inf, nan]"


def test_equal_values_stay_in_order_of_arrival_in_both_directions() -> None:
    words = ["bb", "a", "cc"], ["dd", "e", "fff"]
    assert result(Top(4, by=len), *words) == ["fff", "bb", "cc", "dd"]
    assert result(Top(3, by=len, smallest=True), *words) == ["a", "e", "bb"]


def test_values_may_belong_to_what_is_compared() -> None:
    pairs = [("a", 1), ("b", 3), ("c", None), (None, 9), ("d", 3), ("e", 2)]
    assert result(TopBy(3), pairs) == ["b", "d", "e"]
    assert result(TopBy(2, smallest=True), pairs) == ["a", "e"]


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "3", None])
def test_a_ranking_without_places_is_refused(n: Any) -> None:
    for make in (Top, TopBy):
        with pytest.raises(CombineError) as refused:
            make(n)
        assert str(refused.value) == f"Top n must be a whole number of 1 or more, got {n!r}"


def test_what_cannot_compare_is_refused() -> None:
    assert refusal(CombineError, lambda: Top(3, by="delay")) == (
        "Top by must be a function from a value to what is compared, such as "
        "operator.itemgetter(1), got 'delay'"
    )

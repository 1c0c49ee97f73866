"""The laws of combine functions, for every one of them, over values that are hard to combine."""

import math
from datetime import timedelta
from decimal import Decimal
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike.model.combine as combine
from beamlike.model.combine import (
    ApproxDistinct,
    ApproxQuantiles,
    Collect,
    CollectByTimestamp,
    CollectSet,
    CombineFn,
    Count,
    CountDistinct,
    CountValues,
    EmptyPane,
    First,
    Latest,
    Max,
    Mean,
    Min,
    Sample,
    Sum,
    Together,
    Top,
    TopBy,
    ValueAtExtreme,
)
from beamlike.model.combine.sql import DecimalMean, IntervalMean, SqlSum
from beamlike.testing import check_combine_fn
from tests.support.examples import examples

TIMES = st.integers(-3, 3)  # few, so that many are equal
WHOLE = st.none() | st.integers(-5, 5)
NUMBERS = WHOLE | st.sampled_from([0.5, -0.0, 2.5, math.nan, Decimal("1.00")])
ANYTHING = NUMBERS | st.sampled_from(["", "a", "é", b"a", (1, "a"), (1.0, "a")])
SQL = {"SqlSum", "DecimalMean", "IntervalMean"}
SPANS = st.none() | st.timedeltas(timedelta(days=-3), timedelta(days=3))
DECIMALS = st.none() | st.decimals(-10, 10, places=2)
PAIRS = st.tuples(st.none() | st.sampled_from("abc"), st.none() | st.integers(0, 3))

# The function, what it is given, whether order of arrival cannot matter, and its empty pane.
FUNCTIONS: list[tuple[CombineFn, Any, bool, EmptyPane]] = [
    (Count(), ANYTHING, True, EmptyPane(0, False, "countByKey")),
    (CountValues(), ANYTHING, True, EmptyPane(0, False, None)),
    (Sum(), WHOLE, True, EmptyPane(0, True, "sumByKey")),
    (SqlSum(), WHOLE, True, EmptyPane(None, False, None)),
    (SqlSum(), SPANS, True, EmptyPane(None, False, None)),
    (DecimalMean(scale=4), DECIMALS, True, EmptyPane(None, False, None)),
    (IntervalMean(), SPANS, True, EmptyPane(None, False, None)),
    (Mean(), WHOLE | st.sampled_from([0.5, math.nan]), True, EmptyPane(None, False, "meanByKey")),
    (Min(), NUMBERS, True, EmptyPane(None, True, "minByKey")),
    (Max(), NUMBERS, True, EmptyPane(None, True, "maxByKey")),
    (Collect(), ANYTHING, False, EmptyPane([], False, "groupByKey")),
    (Collect(keep_nulls=False), ANYTHING, False, EmptyPane([], False, "groupByKey")),
    (CollectByTimestamp(), ANYTHING, False, EmptyPane([], False, "groupByKey")),
    (First(), ANYTHING, False, EmptyPane(None, False, None)),
    (First(keep_nulls=False), ANYTHING, False, EmptyPane(None, False, None)),
    (Latest(), ANYTHING, False, EmptyPane(None, False, "latestByKey")),
    (Latest(keep_nulls=False), ANYTHING, False, EmptyPane(None, False, "latestByKey")),
    (Top(2), NUMBERS, True, EmptyPane([], False, "topByKey")),
    (Top(3, smallest=True), NUMBERS, True, EmptyPane([], False, "topByKey")),
    (Top(2, by=itemgetter(1)), PAIRS, False, EmptyPane([], False, "topByKey")),
    (TopBy(2), PAIRS, False, EmptyPane([], False, "topByKey")),
    (TopBy(2, smallest=True), PAIRS, False, EmptyPane([], False, "topByKey")),
    (ValueAtExtreme(), PAIRS, False, EmptyPane(None, False, None)),
    (ValueAtExtreme(smallest=True), PAIRS, False, EmptyPane(None, False, None)),
    (Sample(2), ANYTHING, True, EmptyPane([], False, "sampleByKey")),
    (Sample(3, seed=1, keep_nulls=False), WHOLE, True, EmptyPane([], False, "sampleByKey")),
    (ApproxQuantiles([0, 0.5, 1]), NUMBERS, True, EmptyPane([], False, "approxQuantilesByKey")),
    (CollectSet(), ANYTHING, True, EmptyPane([], False, None)),
    (CountDistinct(), ANYTHING, True, EmptyPane(0, False, None)),
    (ApproxDistinct(), ANYTHING, True, EmptyPane(0, False, None)),
    (
        Together({"sum": (Sum(), 1), "pairs": (TopBy(1), (0, 1)), "rows": (Count(), None)}),
        PAIRS,
        False,
        EmptyPane((0, [], 0), True, None),
    ),
]


def test_no_function_is_left_out() -> None:
    tried = {type(fn).__name__ for fn, _, _, _ in FUNCTIONS} - SQL
    others = {"CombineFn", "EmptyPane", "Stamped", "Last", "WholeNumbersFold"}
    assert tried == set(combine.__all__) - others


@pytest.mark.parametrize(
    ("fn", "values", "any_order"), [pytest.param(*case[:3], id=str(case[0])) for case in FUNCTIONS]
)
@given(data=st.data())
@settings(max_examples=examples(15))
def test_every_function_keeps_the_laws(
    fn: CombineFn, values: Any, any_order: bool, data: st.DataObject
) -> None:
    elements = data.draw(st.lists(st.tuples(values, TIMES), min_size=1, max_size=7))
    given_values, times = zip(*elements, strict=True)

    check_combine_fn(fn, given_values, timestamps=times, any_order=any_order)


@pytest.mark.parametrize(("fn", "empty"), [(case[0], case[3]) for case in FUNCTIONS], ids=str)
def test_an_empty_pane_says_what_it_gives_and_whether_scio_fails(fn: CombineFn, empty: EmptyPane):
    assert fn.on_empty == empty
    assert fn.extract(fn.compact(fn.create())) == empty.value


class Words(CombineFn):
    """A function of a user who knows nothing of attrs."""

    def __init__(self, least: int, clean: Any) -> None:
        self.least = least
        self.clean = clean

    def create(self) -> int:
        return 0

    def add(self, accumulator: int, values: Any, timestamps: Any) -> int:
        return accumulator + sum(len(self.clean(value)) >= self.least for value in values)

    def merge(self, first: int, second: int) -> int:
        return first + second


def test_a_function_of_one_s_own_says_its_parameters_and_no_address() -> None:
    assert str(Words(3, str.strip)) == "Words(least=3, clean=str.strip)"
    assert str(Words(3, [tidy])) == "Words(least=3, clean=[tidy])"
    assert str(Top(2, by=tidy)) == "Top(n=2, by=tidy, smallest=False)"
    assert Words(3, tidy).on_empty == EmptyPane(0, False, None)


def tidy(text: str) -> str:
    return text.strip().lower()

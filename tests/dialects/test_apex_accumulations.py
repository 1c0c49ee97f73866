"""Apex's accumulations: they keep the contract of combine functions, and say what they should."""

from operator import add
from typing import Any

import pytest

from beamlike.dialects import apex
from beamlike.dialects.apex_accumulations import PerKey
from beamlike.errors import CombineError
from beamlike.model.combine import CombineFn
from beamlike.testing import check_combine_fn
from tests.support.contracts import broken_by

NUMBERS = [3, -1, 3, 0, 2]
PAIRS = [("a", 1), ("b", 3), ("a", 4), ("c", 0), ("a", 0)]
TWO_STREAMS = [(1, "a"), (2, "b"), (1, "A"), (1, "c"), (2, "C"), (2, "b"), (1, "a"), (2, "C")]

SAYS: list[tuple[CombineFn, list[Any], Any]] = [
    (apex.Sum(), NUMBERS, 7),
    (apex.Count(), NUMBERS, 5),
    (apex.Average(), NUMBERS, 1.4),
    (apex.Min(), NUMBERS, -1),
    (apex.Max(), NUMBERS, 3),
    (apex.Group(), NUMBERS, [3, -1, 3, 0, 2]),
    (apex.Sort(), NUMBERS, [-1, 0, 2, 3, 3]),
    (apex.Sort(str.lower, reverse_sort=True), ["a", "B", "A", "c"], ["c", "B", "a", "A"]),
    (apex.TopN(2), NUMBERS, [3, 3]),
    (apex.TopN(1, len), ["a", "bb", "cc"], ["bb"]),
    (apex.TopNByKey(2), PAIRS, [("b", 3), ("a", 0)]),
    (apex.TopNByKey(1, abs), [("a", -5), ("b", 3)], [("a", -5)]),
    (apex.RemoveDuplicates(), NUMBERS, [3, -1, 0, 2]),
    (apex.ReduceFn(add), ["a", "b", "a"], "aba"),
    (apex.FoldFn(0, add, add), NUMBERS, 7),
    (apex.CompositeAccumulation(apex.Sum(), apex.Max(), apex.TopN(1)), NUMBERS, (7, 3, [3])),
    (apex.CoGroup(), TWO_STREAMS, [["a", "A", "c"], ["b", "C"]]),
    (
        apex.InnerJoin(),
        TWO_STREAMS,
        [["a", "b"], ["a", "C"], ["A", "b"], ["A", "C"], ["c", "b"], ["c", "C"]],
    ),
    (apex.InnerJoinOn(str.lower, str.lower), TWO_STREAMS, [["c", "C"], ["c", "C"]]),
    (
        apex.LeftOuterJoin(str.lower, str.lower),
        TWO_STREAMS,
        [["a", None], ["A", None], ["c", "C"], ["c", "C"], ["a", None]],
    ),
    (
        apex.RightOuterJoin(str.lower, str.lower),
        TWO_STREAMS,
        [["c", "C"], ["c", "C"], [None, "b"], [None, "b"]],
    ),
    (
        apex.FullOuterJoin(str.lower, str.lower),
        TWO_STREAMS,
        [
            ["a", None],
            ["A", None],
            ["c", "C"],
            ["c", "C"],
            ["a", None],
            [None, "b"],
            [None, "b"],
        ],
    ),
    (apex.FullOuterJoin(), [(2, "x"), (2, "y")], [[None, "x"], [None, "y"]]),
    (PerKey(apex.Sum()), PAIRS, {"a": 5, "b": 3, "c": 0}),
    (PerKey(apex.TopN(1)), PAIRS, {"a": [4], "b": [3], "c": [0]}),
]


@pytest.mark.parametrize(("combine", "values", "result"), SAYS, ids=lambda it: str(it)[:40])
def test_an_accumulation_keeps_the_contract_and_says_what_it_should(
    combine: CombineFn, values: list[Any], result: Any
) -> None:
    assert broken_by(check_combine_fn, combine, values) == []
    assert combine.extract(combine.add(combine.create(), values, [0] * len(values))) == result


EMPTY: list[tuple[CombineFn, Any]] = [
    (apex.FoldFn("none", add, add), "none"),
    (apex.Sort(), []),
    (apex.TopNByKey(), []),
    (apex.RemoveDuplicates(), []),
    (apex.CompositeAccumulation(apex.Sum(), apex.Average()), (0, None)),
    (apex.CoGroup(), [[], []]),
    (apex.InnerJoin(), []),
    (apex.FullOuterJoin(), []),
    (PerKey(apex.Sum()), {}),
]


@pytest.mark.parametrize(("combine", "value"), EMPTY, ids=lambda it: str(it)[:40])
def test_an_empty_pane_has_the_value_that_is_documented(combine: CombineFn, value: Any) -> None:
    assert combine.on_empty.value == value


def test_a_top_of_nothing_is_refused() -> None:
    with pytest.raises(CombineError, match="TopNByKey n must be a whole number of 1 or more"):
        apex.TopNByKey(0)

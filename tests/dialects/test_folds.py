"""The combine functions of the dialects keep the contract and say what they should, and Kafka's
fold keeps its order."""

from operator import add
from typing import Any

import pytest

from beamlike.dialects import akka, apex, flink
from beamlike.dialects.apex_accumulations import PerKey
from beamlike.dialects.folds import Fold, Kept, Record, Reduce, Then
from beamlike.model.combine import CombineFn
from beamlike.testing import check_combine_fn
from tests.support.contracts import broken_by

VALUES = [3, None, 3, 1]
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
        [["a", None], ["A", None], ["c", "C"], ["c", "C"], ["a", None], [None, "b"], [None, "b"]],
    ),
    (apex.FullOuterJoin(), [(2, "x"), (2, "y")], [[None, "x"], [None, "y"]]),
    (Reduce(add), ["a", "b", "c", "", "b"], "abcb"),
    (Kept(), VALUES, VALUES),
    (Kept(flink.CountEvictor.of(2)), VALUES, [3, 1]),
    (Kept(flink.TimeEvictor.of(1500)), VALUES, VALUES),
    (Then(Kept(), len), VALUES, 4),
    (akka.SessionWindow(5, 2, "drop_oldest").combine, VALUES, [3, 1]),
    (akka.SessionWindow(5, 2, "drop_newest").combine, VALUES, [3, None]),
    (PerKey(apex.Sum()), PAIRS, {"a": 5, "b": 3, "c": 0}),
    (PerKey(apex.TopN(1)), PAIRS, {"a": [4], "b": [3], "c": [0]}),
]


@pytest.mark.parametrize(("combine", "values", "result"), SAYS, ids=lambda it: str(it)[:40])
def test_a_combine_function_keeps_the_contract_and_says_what_it_should(
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


def test_kafka_begins_anew_with_every_record_and_adds_it_last() -> None:
    fold = Fold(
        lambda: "0",
        (lambda key, value, text: f"{text}+{value}", lambda key, value, text: f"{text}-{value}"),
        lambda key, one, other: f"{key}({one},{other})",
    )
    sessions = fold.merge(
        fold.add(fold.create(), [Record("k", "a")], [0]),
        fold.add(fold.create(), [Record("k", "b", 1)], [20]),
    )

    assert sessions == ("0+a", "0-b")
    assert fold.extract(fold.add(sessions, [Record("k", "c")], [10])) == "k(k(0,0+a),0-b)+c"
    assert fold.extract(fold.create()) is None

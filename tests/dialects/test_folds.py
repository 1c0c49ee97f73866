"""The combine functions of the dialects keep the contract, and Kafka's fold its order."""

from operator import add
from typing import Any

import pytest

from beamlike.dialects import akka, flink
from beamlike.dialects.folds import Fold, Kept, Record, Reduce, Then
from beamlike.model.combine import CombineFn
from beamlike.testing import check_combine_fn
from tests.support.contracts import broken_by


@pytest.mark.parametrize(
    ("combine", "values"),
    [
        (Reduce(add), ["a", "b", "c", "", "b"]),
        (Kept(), [3, None, 3, 1]),
        (Kept(flink.CountEvictor.of(2)), [3, None, 3, 1]),
        (Kept(flink.TimeEvictor.of(1500)), [3, None, 3, 1]),
        (Then(Kept(), len), [3, None, 3, 1]),
        (akka.SessionWindow(5, 2, "drop_oldest").combine, [3, None, 3, 1]),
        (akka.SessionWindow(5, 2, "drop_newest").combine, [3, None, 3, 1]),
    ],
    ids=str,
)
def test_a_combine_function_keeps_the_contract(combine: CombineFn, values: list[Any]) -> None:
    assert broken_by(check_combine_fn, combine, values) == []


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

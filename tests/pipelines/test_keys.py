"""What one key is: the same on every host, whatever ``==`` says."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from beamlike.hosts.keys import key_bytes, key_of
from beamlike.hosts.pipeline import run_pipeline
from beamlike.model.panes import Timing
from beamlike.model.windows import IntervalWindow
from beamlike.testing.in_letters import run_in_letters

KEYS: list[Any] = [
    *(None, True, 1, 1.0, -1, 2**80, 0.1, float("inf"), "", "é", "\ud800", b"", b"\x00"),
    *((), (1,), (1, ("a", None)), frozenset({1, "a"}), Decimal("1.50"), Decimal("1.5")),
    *(date(2020, 1, 1), datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)),
    *(timedelta(days=-1), UUID(int=3), Timing.EARLY, IntervalWindow(1, 2)),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_key_comes_back_as_it_was(key: Any) -> None:
    back = key_of(key_bytes(key))

    assert (type(back), back) == (type(key), key)


def test_what_differs_in_kind_is_no_one_key() -> None:
    assert len({key_bytes(key) for key in KEYS}) == len(KEYS)


def test_there_is_one_nan_and_one_zero() -> None:
    assert key_bytes(float("nan")) == key_bytes(-float("nan"))
    assert key_bytes(0.0) == key_bytes(-0.0)


def test_equal_texts_are_one_key_whether_or_not_they_are_one_object() -> None:
    shared = "".join(("a", "b"))

    assert key_bytes((shared, shared)) == key_bytes((shared, "".join(("a", "b"))))


class Plain:
    """Nobody knows when two of them are equal."""


def test_what_may_be_equal_or_not_is_no_key() -> None:
    with pytest.raises(PipelineError) as refusal:
        key_bytes(("a", Plain))

    assert str(refusal.value).endswith(
        "is a type, and nobody knows when two of them are equal; use a text, a number, a tuple, or "
        "a frozen data class"
    )


def test_both_hosts_have_the_same_keys() -> None:
    pipeline = beam.Pipeline()
    pairs = [(key, at) for at, key in enumerate([1, True, 1.0, 0.0, -0.0, float("nan"), 1])]
    sums = pipeline | beam.Create([*pairs, (-float("nan"), 10)]) | beam.CombinePerKey(sum)

    def found(run: Any) -> list[str]:
        return sorted(repr(came.element.value) for came in run.out_of(sums.edge))

    wanted = ["(0.0, 7)", "(1, 6)", "(1.0, 2)", "(True, 1)", "(nan, 15)"]
    assert found(run_pipeline(pipeline.nodes)) == wanted
    assert found(run_in_letters(pipeline.nodes, dice=Random(0))) == wanted

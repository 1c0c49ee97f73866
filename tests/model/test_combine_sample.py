"""Samples: as good as random, and the same each time."""

import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import attrs
import pytest

from beamlike.errors import CombineError
from beamlike.model.combine import Sample
from beamlike.model.combine.plain import digest, plain_text
from tests.support.refusals import refusal


def drawn(sample: Sample, values: list[Any], times: list[int] | None = None) -> list[Any]:
    stamps = list(range(len(values))) if times is None else times
    result = sample.extract(sample.add(sample.create(), values, stamps))
    assert isinstance(result, list)
    return result


def test_the_same_elements_give_the_same_sample_in_every_order_and_cut() -> None:
    sample, elements = Sample(5), [(f"flight {n}", n * 10) for n in range(50)]
    values, times = map(list, zip(*elements, strict=True))
    expected = drawn(sample, values, times)

    Random(1).shuffle(elements)
    values, times = map(list, zip(*elements, strict=True))
    parts = [
        sample.add(sample.create(), values[index : index + 7], times[index : index + 7])
        for index in range(0, 50, 7)
    ]
    merged = sample.create()
    for part in parts:
        merged = sample.merge(part, merged)

    assert expected == ["flight 28", "flight 43", "flight 36", "flight 33", "flight 44"]
    assert sample.extract(merged) == drawn(sample, values, times) == expected


def test_another_seed_draws_others() -> None:
    values = list(range(100))
    assert drawn(Sample(5, seed=1), values) != drawn(Sample(5, seed=2), values)


def test_few_elements_are_all_drawn_and_none_twice() -> None:
    assert sorted(drawn(Sample(5), [3, 1, 2])) == [1, 2, 3]


def test_every_element_is_as_likely_as_any_other() -> None:
    """3 of 10 in 2,000 samples: each element is due 600 times, with a deviation of 20.5."""
    counts = Counter(
        value for seed in range(2000) for value in drawn(Sample(3, seed), list("abcdefghij"))
    )
    assert sum(counts.values()) == 6000
    assert set(counts) == set("abcdefghij")
    assert max(abs(count - 600) for count in counts.values()) < 3.5 * 20.5


def test_every_pair_is_as_likely_as_any_other() -> None:
    """One of 10 pairs of 5 in each of 2,000 samples: each is due 200 times, deviation 13.4."""
    counts = Counter(frozenset(drawn(Sample(2, seed), list("abcde"))) for seed in range(2000))
    assert len(counts) == 10
    assert max(abs(count - 200) for count in counts.values()) < 3.5 * 13.4


def test_elements_of_equal_value_and_time_are_drawn_together() -> None:
    twins, times = ["a", "b", "a", "c"], [5, 5, 5, 5]
    samples = {tuple(sorted(drawn(Sample(2, seed), twins, times))) for seed in range(100)}
    # "a" and another: when that comes first there is room for one twin only.
    assert samples == {("a", "a"), ("a", "b"), ("a", "c"), ("b", "c")}


def test_the_same_value_at_another_time_is_another_element() -> None:
    same, times = ["a"] * 50, list(range(50))
    sample = Sample(3)
    (one, two) = (
        sample.add(sample.create(), same[:25], times[:25]),
        sample.add(sample.create(), same[25:], times[25:]),
    )
    assert len({place for place, _ in sample.merge(one, two)}) == 3


def test_a_null_is_drawn_unless_it_is_left_out() -> None:
    assert drawn(Sample(3), [None, None]) == [None, None]
    assert drawn(Sample(3, keep_nulls=False), [None, 1, None]) == [1]


@attrs.frozen
class Ride:
    taxi: str
    fare: float


NEW_YEAR = datetime(2020, 1, 1, 12, tzinfo=UTC)

SAME: list[list[Any]] = [
    [1, 1.0, True, Decimal("1.00"), Fraction(2, 2)],
    [0, 0.0, -0.0, Decimal("-0")],
    [0.5, Decimal("0.50"), Fraction(1, 2)],
    [float("nan"), -float("nan"), Decimal("NaN")],
    [float("inf"), Decimal("Infinity")],
    [-float("inf")],
    [2**70, float(2**70)],
    [2**70 + 1],
    ["1"],
    [b"1", bytearray(b"1")],
    [None],
    ["null"],
    [""],
    [NEW_YEAR, NEW_YEAR.astimezone(timezone(timedelta(hours=5)))],
    [NEW_YEAR.replace(tzinfo=None)],
    [date(2020, 1, 1)],
    [time(12)],
    [timedelta(hours=12), timedelta(minutes=720)],
    [[1, "a"], (1.0, "a")],
    [["1", "a"]],
    [[[1], "a"]],
    [["1;s1:a"]],
    [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}],
    [{"a": 2, "b": 1}],
    [{1, 2}, frozenset((2.0, 1))],
    [Ride("x", 2.0), Ride("x", 2)],
    [Ride("y", 2.0)],
]


def test_equal_values_have_equal_texts_and_no_others_do() -> None:
    texts = [{plain_text(value) for value in group} for group in SAME]
    assert [len(group) for group in texts] == [1] * len(SAME)
    assert len(set[str]().union(*texts)) == len(SAME)


def test_the_place_in_line_is_the_same_in_every_process() -> None:
    script = (
        "from beamlike.model.combine.plain import digest; print(digest({'a': ['é', 1.5]}, '0|7'))"
    )
    for seed in ("1", "2"):  # of Python's own hashes
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        )
        assert int(done.stdout) == digest({"a": ["é", 1.5]}, "0|7") == 2099895790600138885


def test_a_value_that_is_no_plain_data_is_refused() -> None:
    class Taxi:
        def __repr__(self) -> str:
            return "a taxi"

    assert refusal(CombineError, lambda: drawn(Sample(3), [[Taxi()]])) == (
        "a sample or a count of distinct values needs plain values, got a taxi of type Taxi; give "
        "it as a text, a number, a tuple or a mapping of them"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sample(0), "Sample n must be a whole number of 1 or more, got 0"),
        (
            lambda: Sample(1, seed="x"),  # type: ignore[arg-type]
            "Sample seed must be a whole number such as 0, got 'x'",
        ),
    ],
)
def test_a_sample_of_nothing_is_refused(make: Any, message: str) -> None:
    assert refusal(CombineError, make) == message

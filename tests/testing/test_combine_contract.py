"""The check of combine functions: it passes those that keep the laws and names broken ones."""

import operator
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest

from beamlike.errors import TestStreamError
from beamlike.model.combine import ApproxDistinct, Collect, CombineFn, Latest, Mean, Sum
from beamlike.testing import CombineFnAssertionError, check_combine_fn
from tests.support.contracts import broken_by
from tests.support.refusals import refusal

Values = Sequence[Any]
Times = Sequence[int]


class Joined(CombineFn):
    """A function that keeps all laws; those below each spoil something of it."""

    def create(self) -> Any:
        return []

    def add(self, accumulator: Any, values: Values, timestamps: Times) -> Any:
        return accumulator + [str(value) for value in values]

    def merge(self, first: Any, second: Any) -> Any:
        return first + second

    def compact(self, accumulator: Any) -> Any:
        return ["".join(accumulator)] if accumulator else accumulator

    def extract(self, accumulator: Any) -> Any:
        return "".join(accumulator)


class ChangesWhatItIsGiven(Joined):
    def add(self, accumulator: Any, values: Values, timestamps: Times) -> Any:
        accumulator.extend(str(value) for value in values)
        return list(accumulator)


class ChangesTheValues(Joined):
    def add(self, accumulator: Any, values: Any, timestamps: Times) -> Any:
        values.sort(key=str)
        return super().add(accumulator, values, timestamps)


class MergesBackwards(Joined):
    def merge(self, first: Any, second: Any) -> Any:
        return second + first


class StartsWithSomething(Joined):
    def create(self) -> Any:
        return [">"]


class RemembersBundles(Joined):
    def add(self, accumulator: Any, values: Values, timestamps: Times) -> Any:
        return [*super().add(accumulator, values, timestamps), *("|" if values else "")]


class CompactsTooMuch(Joined):
    def compact(self, accumulator: Any) -> Any:
        return accumulator[:1]


class LosesWhatWasMerged(Joined):
    def merge(self, first: Any, second: Any) -> Any:
        return (*first, *(second if isinstance(second, list) else ()))

    def add(self, accumulator: Any, values: Values, timestamps: Times) -> Any:
        return super().add(list(accumulator), values, timestamps)

    def compact(self, accumulator: Any) -> Any:
        return accumulator


class CountsItsReaders(Joined):
    def extract(self, accumulator: Any) -> Any:
        accumulator.append("!")
        return "".join(accumulator)


class Unpicklable(Joined):
    def create(self) -> Any:
        return (each for each in ())


class CannotTakeB(Joined):
    def add(self, accumulator: Any, values: Values, timestamps: Times) -> Any:
        if "b" in values:
            raise ValueError("no b, please")
        return super().add(accumulator, values, timestamps)


class SaysItsAddress(Joined):
    def __str__(self) -> str:
        return "<Joined object at 0x7f>"


@pytest.mark.parametrize("fn", [Joined(), Collect(), Latest(), Mean(), Sum(), ApproxDistinct()])
def test_a_function_that_keeps_the_laws_passes(fn: CombineFn) -> None:
    check_combine_fn(fn, [3, 1, 2, 1], timestamps=["00:00:05", 3, 3, 0])
    check_combine_fn(fn, range(30))


MERGED = "merge(a, b) must equal adding b's elements after a's, but merging those of"

BROKEN: list[tuple[CombineFn, list[str]]] = [
    (
        ChangesWhatItIsGiven(),
        [
            "add must leave its arguments as they were, but add of ['b'] to the accumulator of [] "
            "changed one",
            f"{MERGED} [] and ['b'] gives 'bb', and adding 'b'",
            "compact must change no result, but adding ['b'] to the compact accumulator of [] "
            "gives 'bb', and adding all at once 'b'",
        ],
    ),
    (
        ChangesTheValues(),
        [
            "add must leave the values as they were, but add of ['b', 'a'] to the accumulator of "
            "[] changed them",
            "bundles must not matter, but adding ['b'] and then ['a'] gives 'ba', and adding all "
            "at once 'ab'",
            f"{MERGED} ['b'] and ['a'] gives 'ba', and adding 'ab'",
            "compact must change no result, but adding ['a'] to the compact accumulator of ['b'] "
            "gives 'ba', and adding all at once 'ab'",
        ],
    ),
    (
        MergesBackwards(),
        [
            f"{MERGED} ['b'] and ['a'] gives 'ab', and adding 'ba'",
            "compact must change no result, but merging the compact accumulators of ['b'] and "
            "['a'] gives 'ab', and adding all at once 'ba'",
        ],
    ),
    (
        StartsWithSomething(),
        [
            "a fresh accumulator must be neutral, but merge(create(), a), with a of [], gives "
            "'>>', and a '>'",
            f"{MERGED} [] and [] gives '>>', and adding '>'",
            "compact must change no result, but merging the compact accumulators of [] and [] "
            "gives '>>', and adding all at once '>'",
        ],
    ),
    (
        RemembersBundles(),
        [
            "bundles must not matter, but adding ['b'] and then ['a'] gives 'b|a|', and adding "
            "all at once 'ba|'",
            f"{MERGED} ['b'] and ['a'] gives 'b|a|', and adding 'ba|'",
            "compact must change no result, but adding ['a'] to the compact accumulator of ['b'] "
            "gives 'b|a|', and adding all at once 'ba|'",
        ],
    ),
    (
        LosesWhatWasMerged(),
        [
            "which two are merged first must not matter, but for the parts [], [] and ['b'] "
            "merge(merge(a, b), c) gives 'b', and merge(a, merge(b, c)) ''"
        ],
    ),
    (
        CompactsTooMuch(),
        [
            "compact must change no result, but merging the compact accumulators of [] and "
            "['b', 'a'] gives 'b', and adding all at once 'ba'"
        ],
    ),
]


@pytest.mark.parametrize(("fn", "sentences"), BROKEN, ids=lambda case: str(case)[:30])
def test_each_broken_law_is_named_with_a_small_example(fn: CombineFn, sentences: list[str]) -> None:
    assert broken_by(check_combine_fn, fn, ["b", "a", "c", "b"]) == sentences


def test_a_function_that_raises_is_reported_with_the_call() -> None:
    assert broken_by(check_combine_fn, CannotTakeB(), ["a", "b"]) == [
        "add of ['a', 'b'] to the accumulator of [] raised ValueError: no b, please"
    ]


def test_an_accumulator_that_cannot_be_saved_is_reported() -> None:
    (sentence,) = broken_by(check_combine_fn, Unpicklable(), ["a"])
    assert sentence.startswith("accumulators must survive pickling, but: TypeError: cannot pickle")


def test_reading_a_pane_must_change_nothing() -> None:
    assert broken_by(check_combine_fn, CountsItsReaders(), ["a"])[0].startswith(
        "extract must leave its arguments as they were, but extract of "
    )


def test_a_function_must_say_the_same_in_every_process() -> None:
    assert broken_by(check_combine_fn, SaysItsAddress(), ["a"]) == [
        "str(fn) must be the same in every process, because saved state belongs to it, but it is "
        "'<Joined object at 0x7f>'; leave __str__ as CombineFn has it, or write one"
    ]


def test_a_function_must_travel_to_the_workers() -> None:
    @attrs.frozen
    class Holding(Joined):
        held: Any

    assert broken_by(check_combine_fn, Holding(len), ["a"]) == []
    (sentence,) = broken_by(check_combine_fn, Holding(each for each in ()), ["a"])
    assert sentence.startswith("the function must survive pickling, but: TypeError: cannot pickle")


def test_order_of_arrival_matters_only_where_it_is_asked() -> None:
    check_combine_fn(Collect(), [1, 2])
    with pytest.raises(CombineFnAssertionError) as failed:
        check_combine_fn(Collect(), [1, 2], any_order=True)
    assert str(failed.value) == (
        "Collect(keep_nulls=True) breaks a law of combine functions:\n"
        "  - the order of arrival must not matter, but [2, 1] gives [2, 1], and [1, 2] [1, 2]"
    )


def test_floats_may_differ_in_their_last_digits_and_nan_is_nan() -> None:
    tenths = [0.1, 0.2, 0.3, 0.7, float("nan")]
    check_combine_fn(Sum(), tenths[:4])
    check_combine_fn(Mean(), tenths)
    assert broken_by(check_combine_fn, Sum(), tenths[:4], equal=operator.eq) != []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: check_combine_fn(Sum, [1]),  # type: ignore[arg-type]
            "check_combine_fn needs a combine function, got <class "
            "'beamlike.model.combine.folds.Sum'>; write Sum()",
        ),
        (
            lambda: check_combine_fn(Sum(), []),
            "check_combine_fn has nothing to check: give at least one value",
        ),
        (
            lambda: check_combine_fn(Sum(), [1, 2], timestamps=[0]),
            "check_combine_fn needs a timestamp for each value, got 1 for 2",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused(call: Callable[[], None], message: str) -> None:
    assert refusal(TestStreamError, call) == message

"""Scio's verbs that leave elements to chance: the same elements in each run."""

import itertools
import random
from collections import Counter
from typing import Any

import pytest

from beamlike.errors import PipelineError, TransformError
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import test_stream_of as stream_of
from tests.support.pipelines.results_of_runs import values

MANY = range(2000)


def numbers() -> SCollection[int]:
    return ScioContext().parallelize(MANY)


# -- a sample --------------------------------------------------------------------------------------


def test_a_fraction_is_about_that_share_of_the_elements_each_once():
    sample = values(numbers().sample(False, 0.25))

    assert sample == sorted(set(sample))
    assert 440 < len(sample) < 560  # three standard deviations around 500


def test_with_replacement_an_element_comes_so_often_on_average():
    sample = values(numbers().sample(True, 2.5))

    assert 4800 < len(sample) < 5200
    times = Counter(sample)
    shares = [sum(times[n] == copies for n in MANY) / len(MANY) for copies in range(4)]
    assert shares == pytest.approx([0.082, 0.205, 0.257, 0.214], abs=0.03)  # Poisson's


def test_a_large_fraction_with_replacement_is_met_as_well():
    assert (
        240_000 < len(values(ScioContext().parallelize(range(1000)).sample(True, 250))) < (260_000)
    )


def test_all_and_nothing_are_no_chance():
    assert values(numbers().sample(False, 1)) == list(MANY)
    assert values(numbers().sample(False, 0)) == []
    assert values(numbers().sample(True, 0)) == []
    assert values(ScioContext().parallelize([{1}]).sample(False, 1.0000001)) == [{1}]


def test_a_sample_does_not_depend_on_order_and_bundles():
    shuffled = list(MANY)
    random.Random(1).shuffle(shuffled)
    stream = stream_of()
    for start in range(0, len(MANY), 100):
        stream = stream.add_elements_at_time(0, *shuffled[start : start + 100])
    timed = [(n, 0) for n in MANY]

    at_once = ScioContext().parallelize_timestamped(timed).sample(False, 0.1)
    in_bundles = ScioContext().test_stream(stream.advance_watermark_to_infinity())
    assert sorted(values(in_bundles.sample(False, 0.1))) == values(at_once)


def test_samples_of_one_collection_are_independent_unless_they_have_one_seed():
    given = numbers()
    one, other = (given.sample(False, 0.5) for _ in range(2))
    seeded, again, unlike = (given.sample(False, 0.5, seed) for seed in (1, 1, 2))

    assert values(seeded) == values(again)
    assert 430 < len(set(values(one)) & set(values(other))) < 570
    assert 430 < len(set(values(seeded)) & set(values(unlike))) < 570


def test_a_sample_of_a_sample_is_smaller():
    assert 430 < len(values(numbers().sample(False, 0.5).sample(False, 0.5))) < 570


def test_equal_elements_at_one_time_are_drawn_together_and_at_several_times_apart():
    sc = ScioContext()
    together = sc.parallelize_timestamped([("a", 0)] * 100).sample(False, 0.5)
    apart = sc.parallelize_timestamped([("a", index) for index in range(100)]).sample(False, 0.5)

    assert len(values(together)) in (0, 100)
    assert 30 < len(values(apart)) < 70


def test_arguments_have_names():
    given = numbers()
    named = given.sample(with_replacement=False, fraction=0.1, seed=3)
    assert values(named) == values(given.sample(False, 0.1, 3))
    assert values(given.sample(sample_size=1, seed=3)) == values(given.sample(1, seed=3))


def test_each_element_keeps_its_time_window_and_pane():
    timed = ScioContext().parallelize_timestamped([("a", 5)]).with_fixed_windows("1 minute")
    sample = timed.sample(False, 1).with_timestamp().with_window().with_pane_info()
    assert values(sample) == values(timed.with_timestamp().with_window().with_pane_info())


def test_each_key_has_its_own_fraction():
    pairs = numbers().key_by(lambda n: n % 2)
    sample = values(pairs.sample_by_key(False, {0: 1, 1: 0.5}))

    assert [n for key, n in sample if key == 0] == list(range(0, 2000, 2))
    assert 450 < len([n for key, n in sample if key == 1]) < 550
    twice = values(pairs.sample_by_key(with_replacement=True, fractions={0: 0, 1: 2}))
    assert {key for key, _ in twice} == {1}
    assert 1850 < len(twice) < 2150


def test_a_key_without_a_fraction_fails_in_the_run():
    pairs = ScioContext().parallelize([("a", 1)]).sample_by_key(False, {"b": 0.5})
    with pytest.raises(TransformError, match=r"the key 'a' has no fraction, .* name all keys"):
        values(pairs)


@pytest.mark.parametrize(
    ("verb", "problem"),
    [
        (lambda it: it.sample(10, 0.1), "whether an element may be drawn several times, got 10"),
        (lambda it: it.sample(False), "a fraction must be a number from 0 to 1, got None"),
        (lambda it: it.sample(False, 1.5), "a fraction must be a number from 0 to 1, got 1.5"),
        (lambda it: it.sample(True, -1), "a fraction must be a number 0 or more, got -1"),
        (lambda it: it.sample(True, float("nan")), "a number 0 or more, got nan"),
        (lambda it: it.sample(False, 0.1, "x"), "the seed must be a whole number such as 1"),
        (lambda it: it.sample_by_key(False, 0.1), "the fraction of each key in a mapping"),
        (lambda it: it.sample_by_key(False, {1: 2}), "a number from 0 to 1, got 2"),
    ],
)
def test_a_sample_that_is_none_is_refused(verb: Any, problem: str):
    with pytest.raises(PipelineError, match=f"^'sample.*{problem}"):
        verb(ScioContext().parallelize([]))


# -- a split ---------------------------------------------------------------------------------------


def test_a_split_puts_each_element_into_one_part():
    given = numbers()
    for parts, shares in (
        (given.random_split(0.8), [0.8, 0.2]),
        (given.random_split(0.5, 0.25), [0.5, 0.25, 0.25]),
        (given.random_split([1, 0, 3]), [0.25, 0, 0.75]),
    ):
        found = [values(part) for part in parts]
        assert sorted(itertools.chain.from_iterable(found)) == list(MANY)
        for part, share in zip(found, shares, strict=True):
            assert abs(len(part) / len(MANY) - share) < 0.04


def test_a_split_is_the_same_in_each_run_and_another_with_another_seed():
    assert values(numbers().random_split(0.5)[0]) == values(numbers().random_split(0.5)[0])
    given = numbers()
    one, same, other = (given.random_split(0.5, seed=seed)[0] for seed in (1, 1, 2))
    assert values(one) == values(same)
    assert 430 < len(set(values(one)) & set(values(other))) < 570


def test_a_sample_of_a_part_is_a_sample_of_it():
    part, _ = numbers().random_split(0.5)
    assert 430 < len(values(part.sample(False, 0.5))) < 570


@pytest.mark.parametrize(
    "weights", [(0,), (1,), (2,), (0.5, 0.5), ([],), ([0, 0],), ([1, -1],), ("ab",), ([1], 2)]
)
def test_weights_that_make_no_parts_are_refused(weights: Any):
    with pytest.raises(PipelineError, match=r"'random_split' needs shares .* random_split\(0.8\)"):
        numbers().random_split(*weights)

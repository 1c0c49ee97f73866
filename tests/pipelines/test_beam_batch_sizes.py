"""How long batches are, from how long the functions behind took over earlier ones."""

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.batch_sizes import line_through
from beamlike.beam.testing.test_pipeline import TestPipeline
from beamlike.beam.testing.util import assert_that, equal_to
from tests.support.pipelines.in_layers import run_in_letters


class Clock:
    """A clock that goes on when a function works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def standing() -> float:
    """A clock that never moves."""
    return 0.0


def lengths(number: int, cost: Callable[[int], float], **batching: Any) -> list[int]:
    """The sizes of batches of so many elements, where a batch of a size takes so long (s)."""
    clock, found = Clock(), list[int]()

    def work(batch: list[int]) -> None:
        found.append(len(batch))
        clock.now += cost(len(batch))

    pipeline = beam.Pipeline()
    batches = pipeline | beam.Create(range(number)) | beam.BatchElements(clock=clock, **batching)
    _ = batches | beam.Map(work)
    pipeline.run()
    assert sum(found) == number
    return found


def test_batches_of_no_measurable_cost_grow_to_the_greatest_size():
    def free(size: int) -> float:
        return 0.0

    assert lengths(164, free, max_batch_size=50) == [1, 1, 2, 4, 8, 16, 32, 50, 50]
    assert lengths(30, free, min_batch_size=6, max_batch_size=10) == [6, 6, 10, 8]


def test_a_batch_takes_as_long_as_it_should():
    def slow(size: int) -> float:
        return 3 + 0.25 * size

    steady = {"target_batch_overhead": None, "variance": 0}
    assert lengths(60, slow, target_batch_duration_secs=2, **steady) == ([1, 1, 2, 4, *(8,) * 6, 4])
    found = lengths(
        60,
        slow,
        target_batch_duration_secs=None,
        target_batch_duration_secs_including_fixed_cost=6,
        **steady,
    )
    assert found == [1, 1, 2, 4, 8, 12, 12, 12, 8]


def test_what_any_batch_costs_is_no_more_than_its_share():
    def mostly_fixed(size: int) -> float:
        return 1.05 + 0.125 * size

    found = lengths(
        100,
        mostly_fixed,
        target_batch_overhead=0.4,
        target_batch_duration_secs=None,
        variance=0,
    )
    assert found == [1, 1, 2, 4, 8, *(12,) * 7]


def test_sizes_vary_around_the_best_one():
    def slow(size: int) -> float:
        return 3 + 0.25 * size

    found = lengths(4_000, slow, target_batch_overhead=None, target_batch_duration_secs=10)
    best = found[12:-1]
    assert (min(best), max(best)) == (31, 49)
    assert 38 < sum(best) / len(best) < 42


def test_measurements_far_from_the_line_count_for_nothing():
    line = [(size, 2 + 0.5 * size) for size in range(1, 12)]
    assert line_through(line) == pytest.approx((2, 0.5))
    assert line_through([*line, (12, 300.0)]) == pytest.approx((2, 0.5))
    assert line_through([(4, 1.0), (4, 3.0)]) == pytest.approx((0, 0.5))


def test_sizes_and_times_are_metrics():
    pipeline = beam.Pipeline()
    batching = beam.BatchElements(max_batch_size=4, clock=standing)
    batches = pipeline | beam.Create(range(10)) | batching
    _ = batches | beam.Map(len)
    counted = pipeline.run().metrics().query()["distributions"]
    found = {it.key.metric.name: it.committed for it in counted}
    assert sorted(found) == ["batch_size", "msec_per_batch"]
    sizes = found["batch_size"]
    assert (sizes.count, sizes.sum, sizes.min, sizes.max) == (5, 10, 1, 4)


class Bundles(beam.DoFn[Any, Any]):
    """Says where its bundles end."""

    def process(self, element: Any) -> Iterable[Any]:
        yield element

    def finish_bundle(self) -> Iterable[Any]:
        yield beam.WindowedValue("end", 0, [beam.GlobalWindow()])


def shown(transform: Any) -> list[Any]:
    """What comes of six batches that a transform is given."""
    pipeline = beam.Pipeline()
    batching = beam.BatchElements(max_batch_size=2, clock=standing)
    found = pipeline | beam.Create(range(6)) | batching | transform
    return [came.element.value for came in pipeline.run().out_of(found.edge)]


def test_each_measured_batch_is_a_bundle_of_what_follows_up_to_a_grouping():
    ends = ["end"] * 4
    assert shown(beam.ParDo(Bundles())) == [[0], "end", [1], "end", [2, 3], "end", [4, 5], "end"]
    behind = beam.Map(repr) | "Again" >> beam.ParDo(Bundles())
    assert shown(behind) == ["[0]", "end", "[1]", "end", "[2, 3]", "end", "[4, 5]", "end"]
    grouped = beam.ParDo(Bundles()) | beam.Map(str) | beam.combiners.Count.PerElement()
    assert dict(shown(grouped)) == {"[0]": 1, "[1]": 1, "[2, 3]": 1, "[4, 5]": 1, "end": len(ends)}


def test_batches_are_measured_between_the_layers_of_spark_too():
    clock = Clock()

    def work(batch: list[int]) -> list[int]:
        clock.now += 3 + 0.25 * len(batch)
        return batch

    pipeline = beam.Pipeline()
    batches = (
        pipeline
        | beam.Create(range(60))
        | beam.BatchElements(
            target_batch_overhead=None, target_batch_duration_secs=2, variance=0, clock=clock
        )
    )
    worked = batches | beam.Map(work) | "Bundles" >> beam.ParDo(Bundles())
    run = run_in_letters([worked.edge.node], dice=Random(1), wanted=[worked.edge])
    values = [it.element.value for it in run.out_of(worked.edge)]
    assert values[1::2] == ["end"] * 11
    assert sorted(n for batch in values[::2] for n in batch) == [*range(60)]
    assert [len(batch) for batch in values[::2]] == [1, 1, 2, 4, *(8,) * 6, 4]


def test_collections_of_several_batchings_flow_together():
    with TestPipeline() as pipeline:
        numbers = pipeline | beam.Create(range(5))
        measured = numbers | beam.BatchElements(max_batch_size=2, clock=standing)
        again = measured | "Again" >> beam.BatchElements(max_batch_size=3, clock=standing)
        alike = numbers | "Alike" >> beam.BatchElements(4, 4)
        both = (measured, alike) | beam.Flatten() | beam.Map(lambda batch, other: (batch, other), 7)
        assert_that(
            both,
            equal_to([([0], 7), ([1], 7), ([2, 3], 7), ([4], 7), ([0, 1, 2, 3], 7), ([4], 7)]),
        )
        assert_that(again, equal_to([[[0]], [[1]], [[2, 3], [4]]]), label="Again is right")


def test_no_more_than_ten_windows_have_a_batch_at_a_time():
    with TestPipeline() as pipeline:
        batches = (
            pipeline
            | beam.Create([beam.TimestampedValue(n, n) for n in (0, 0.5, *range(1, 12))])
            | beam.WindowInto(beam.window.FixedWindows(1))
            | beam.BatchElements(5, 5)
        )
        assert_that(batches, equal_to([[0, 0.5], *([n] for n in range(1, 12))]))


@pytest.mark.parametrize("batching", [{}, {"target_batch_duration_secs": 0.5}])
def test_a_function_that_fails_over_a_batch_is_named(batching: dict[str, Any]):
    def fails(batch: list[int]) -> int:
        return batch[3]

    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([1, 2]) | beam.BatchElements(**batching) | "Take" >> beam.Map(fails)
    with pytest.raises(
        IndexError, match=r"'Take' raised IndexError: list index out of range for \[1\]"
    ):
        pipeline.run()

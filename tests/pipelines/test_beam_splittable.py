"""Splittable functions: restrictions, trackers, and what is deferred."""

from collections.abc import Iterator
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.io.iobase import RestrictionProgress
from beamlike.beam.io.restriction_trackers import (
    OffsetRange,
    OffsetRestrictionTracker,
    UnsplittableRestrictionTracker,
)
from beamlike.beam.io.watermark_estimators import (
    ManualWatermarkEstimator,
    MonotonicWatermarkEstimator,
)
from beamlike.beam.testing.test_pipeline import TestPipeline as Pipeline
from beamlike.beam.testing.util import assert_that, equal_to
from beamlike.beam.transforms.window import TimestampedValue
from beamlike.beam.utils.timestamp import Duration, Timestamp
from beamlike.errors import PipelineError, TransformError


class Numbers(beam.RestrictionProvider):
    """As many numbers as the element says, in parts of two."""

    def initial_restriction(self, element: int) -> OffsetRange:
        return OffsetRange(0, element)

    def split(self, element: int, restriction: OffsetRange) -> Iterator[OffsetRange]:
        return restriction.split(2)

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, element: int, restriction: OffsetRange) -> int:
        return restriction.size()


class Count(beam.DoFn):
    def process(
        self,
        element: int,
        more: int = 0,
        tracker: Any = beam.DoFn.RestrictionParam(Numbers()),  # noqa: B008
    ) -> Iterator[Any]:
        at = tracker.current_restriction().start
        while tracker.try_claim(at):
            yield element, at + more, repr(tracker.current_restriction())
            at += 1


class CountItself(beam.DoFn, Numbers):
    def process(
        self,
        element: int,
        tracker: Any = beam.DoFn.RestrictionParam(),  # noqa: B008
    ) -> Iterator[int]:
        start = tracker.current_restriction().start
        if not tracker.try_claim(start):
            return
        yield start
        tracker.defer_remainder(Duration(0.001) if start else Timestamp.now())


class Ticks(beam.DoFn):
    """Outputs with times of their own, which an estimator observes."""

    def process(
        self,
        element: int,
        tracker: Any = beam.DoFn.RestrictionParam(Numbers()),  # noqa: B008
        watermark: Any = beam.DoFn.WatermarkEstimatorParam(  # noqa: B008
            MonotonicWatermarkEstimator.default_provider()  # noqa: B008
        ),
    ) -> Iterator[Any]:
        at = tracker.current_restriction().start
        while tracker.try_claim(at):
            yield TimestampedValue((at, watermark.current_watermark()), at)
            at += 1


class Unfinished(beam.DoFn):
    def process(
        self,
        element: int,
        tracker: Any = beam.DoFn.RestrictionParam(Numbers()),  # noqa: B008
    ) -> list[int]:
        return [element] if tracker.try_claim(tracker.current_restriction().start) else []


@pytest.mark.parametrize("host", ["memory", "local"])
def test_each_part_of_an_element_has_a_tracker(host: str):
    pipeline = Pipeline()
    counted = pipeline | beam.Create([3, 1, 0]) | beam.ParDo(Count(), more=10)
    assert_that(
        counted,
        equal_to(
            [
                (3, 10, "OffsetRange(0, 2)"),
                (3, 11, "OffsetRange(0, 2)"),
                (3, 12, "OffsetRange(2, 3)"),
                (1, 10, "OffsetRange(0, 1)"),
            ]
        ),
    )
    pipeline.run(host=host)


def test_a_function_that_provides_its_own_restrictions_goes_on_with_what_it_deferred():
    with Pipeline() as pipeline:
        assert_that(
            pipeline | beam.Create([5, 1]) | beam.ParDo(CountItself()),
            equal_to([0, 1, 2, 3, 4, 0]),
        )


def test_an_estimator_observes_the_time_of_each_output_of_its_part():
    with Pipeline() as pipeline:
        assert_that(
            pipeline | beam.Create([3]) | beam.ParDo(Ticks()),
            equal_to([(0, None), (1, Timestamp(0)), (2, None)]),
        )


def test_a_part_that_is_neither_claimed_nor_deferred_is_an_error_of_the_function():
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([2]) | "Count" >> beam.ParDo(Unfinished())
    with pytest.raises(TransformError) as problem:
        pipeline.run()
    assert "work in range [1, 2) has not been claimed" in str(problem.value)
    assert isinstance(problem.value, ValueError)


def test_a_function_without_a_provider_is_refused_where_it_is_applied():
    class Nothing(beam.DoFn):
        def process(self, element: Any, tracker: Any = beam.DoFn.RestrictionParam()) -> list[Any]:  # noqa: B008
            return []

    numbers = beam.Pipeline() | beam.Create([1])
    with pytest.raises(PipelineError) as refusal:
        _ = numbers | "Count" >> beam.ParDo(Nothing())
    assert str(refusal.value) == (
        "'Count': tracker=DoFn.RestrictionParam() has no provider; write "
        "RestrictionParam(provider), with a RestrictionProvider, or derive the DoFn from it"
    )


def test_failures_of_a_splittable_function_can_be_handled():
    with Pipeline() as pipeline:
        good, bad = pipeline | beam.Create([2]) | beam.ParDo(Unfinished()).with_exception_handling()
        assert_that(good, equal_to([]), label="good")
        assert_that(bad | beam.Map(lambda it: (it[0], it[1][0])), equal_to([(2, ValueError)]))


class TestTrackers:
    def test_positions_are_claimed_in_ascending_order(self):
        tracker = OffsetRestrictionTracker(OffsetRange(10, 12))
        assert tracker.try_claim(10)
        with pytest.raises(ValueError, match="Positions claimed should strictly increase"):
            tracker.try_claim(10)
        with pytest.raises(ValueError, match="smaller than the start position"):
            OffsetRestrictionTracker(OffsetRange(10, 12)).try_claim(9)

    def test_the_rest_is_given_up_after_the_last_claim(self):
        tracker = OffsetRestrictionTracker(OffsetRange(0, 10))
        tracker.try_claim(3)
        assert tracker.try_split(0) == (OffsetRange(0, 4), OffsetRange(4, 10))
        assert tracker.check_done()

    def test_half_of_the_rest_is_given_up(self):
        tracker = OffsetRestrictionTracker(OffsetRange(0, 100))
        assert tracker.try_split(0.5) == (OffsetRange(0, 49), OffsetRange(49, 100))

    def test_nothing_is_given_up_where_nothing_is_left(self):
        tracker = OffsetRestrictionTracker(OffsetRange(0, 2))
        tracker.try_claim(1)
        assert tracker.try_split(0) is None

    def test_a_tracker_that_is_not_split_is_given_up_as_a_whole_or_not(self):
        tracker = UnsplittableRestrictionTracker(OffsetRestrictionTracker(OffsetRange(0, 10)))
        assert tracker.try_split(0.5) is None
        assert tracker.try_claim(0)
        assert tracker.try_split(0) == (OffsetRange(0, 1), OffsetRange(1, 10))
        assert tracker.start_position() == 0

    def test_progress_is_a_share_or_an_amount_of_work(self):
        tracker = OffsetRestrictionTracker(OffsetRange(0, 4))
        tracker.try_claim(1)
        progress = tracker.current_progress()
        assert (progress.completed_work, progress.remaining_work) == (1, 3)
        assert RestrictionProgress(fraction=0.25).fraction_remaining == 0.75
        with pytest.raises(PipelineError, match="needs fraction="):
            RestrictionProgress(completed=1)

    def test_a_watermark_that_is_set_does_not_go_back(self):
        provider = ManualWatermarkEstimator.default_provider()
        estimator = provider.create_watermark_estimator(Timestamp(10))
        estimator.set_watermark(Timestamp(20))
        assert estimator.current_watermark() == 20
        with pytest.raises(ValueError, match="monotonically increasing"):
            estimator.set_watermark(Timestamp(19))
        with pytest.raises(ValueError, match="expects a Timestamp"):
            estimator.set_watermark(21)


class Pages(beam.DoFn):
    """Several outputs, a side input, and the window of the element."""

    def process(
        self,
        element: int,
        names: list[str],
        tracker: Any = beam.DoFn.RestrictionParam(Numbers()),  # noqa: B008
        window: Any = beam.DoFn.WindowParam,
    ) -> Iterator[Any]:
        at = tracker.current_restriction().start
        while tracker.try_claim(at):
            page = (names[at % len(names)], int(window.start))
            yield page if at % 2 else beam.TaggedOutput("even", page)
            at += 1


@pytest.mark.parametrize(
    "host",
    ["memory", "local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])],
)
def test_parts_have_side_inputs_windows_and_outputs_on_every_host(
    host: str, request: pytest.FixtureRequest
):
    session = (request.getfixturevalue("spark"),) if host == "spark" else ()
    pipeline = Pipeline()
    names = beam.pvalue.AsList(pipeline | "Names" >> beam.Create(["a", "b", "c"]))
    pages = (
        pipeline
        | beam.Create([TimestampedValue(3, 5), TimestampedValue(2, 12)])
        | beam.WindowInto(beam.window.FixedWindows(10))
        | beam.ParDo(Pages(), names).with_outputs("even", main="odd")
    )
    counts = pages.even | beam.combiners.Count.PerKey()
    assert_that(pages.odd, equal_to([("b", 0), ("b", 10)]), label="odd")
    assert_that(counts, equal_to([("a", 1), ("c", 1), ("a", 1)]), label="even")
    pipeline.run(host, *session)

"""What a pipeline answers to what is wrong, and what it shows, in the words and types of Beam."""

import logging
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.testing.test_stream import TestStream
from beamlike.beam.testing.util import TestWindowedValue, assert_that, equal_to, equal_to_per_window
from beamlike.beam.transforms import userstate
from beamlike.beam.utils.windowed_value import PaneInfo, PaneInfoTiming
from beamlike.errors import PipelineError, TypeCheckError
from beamlike.model.panes import NO_FIRING


class Nothing(beam.PTransform[Any, Any]):
    """Makes no collection."""

    def expand(self, given: Any) -> None:
        return None


class Nested(beam.PTransform[Any, Any]):
    def expand(self, given: Any) -> Any:
        return given | beam.Map(print)


VALUE = beam.DoFn.StateParam(userstate.ReadModifyWriteStateSpec("value", beam.coders.PickleCoder()))


class Last(beam.DoFn[Any, Any]):
    """Knows the last value of each key."""

    def process(self, element: Any, value: Any = VALUE) -> None:  # type: ignore[override]
        value.write(element)


def test_a_transform_of_no_output_is_answered_with_a_type_error() -> None:
    with pytest.raises(TypeCheckError, match=r"'Map\(str\)' was applied to the output of a transf"):
        beam.Pipeline() | Nothing() | beam.Map(str)


def test_what_is_no_collection_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="'Flatten' was given 'words'"):
        {"name": "words"} | beam.Flatten()  # type: ignore[operator]
    with pytest.raises(TypeError, match="'Flatten' needs several collections, got one"):
        beam.Pipeline() | beam.Create([1]) | beam.Flatten()


def test_a_pipeline_in_place_of_a_collection_is_named_with_the_full_label() -> None:
    with pytest.raises(TypeError, match=r"'Nested/Map\(print\)' .* Got a PBegin/Pipeline instead"):
        beam.Pipeline() | Nested()


def test_a_state_needs_pairs_and_elements_are_declared_to_be_none() -> None:
    words = beam.Pipeline() | beam.Create([1, 2]) | beam.Map(str).with_output_types(str)
    with pytest.raises(ValueError, match=r"with stateful DoFn must be key-value pairs\. They are"):
        words | beam.ParDo(Last())


def test_a_number_of_buckets_is_refused_in_beams_words() -> None:
    with pytest.raises(ValueError, match="it has to be an integer greater than 0, got 0"):
        beam.Reshuffle(0)


def test_assertions_come_before_the_run() -> None:
    with beam.Pipeline() as pipeline:
        numbers = pipeline | beam.Create([1])
    with pytest.raises(RuntimeError, match="about a pipeline that has run already"):
        assert_that(numbers, equal_to([1]))


def test_elements_by_window_are_compared_in_beams_windows() -> None:
    matcher: Any = equal_to_per_window({beam.IntervalWindow(0, 60): [1]})
    window = [beam.IntervalWindow(0, 60)]
    matcher([TestWindowedValue(1, 30, window)])
    with pytest.raises(AssertionError, match="element 2 not found in window"):
        matcher([TestWindowedValue(2, 30, window)])
    with pytest.raises(AssertionError, match=r"unmatched elements \[1\] in window"):
        matcher([])


def test_elements_that_are_created_keep_their_panes() -> None:
    late = PaneInfo(PaneInfoTiming.LATE, 1, 1, False, False)
    elements = [
        beam.WindowedValue("a", 5, [beam.GlobalWindow()], late),
        beam.TimestampedValue("b", 6),
        "c",
    ]
    with beam.Pipeline() as pipeline:
        made = pipeline | beam.Create(elements) | beam.Reshuffle()
    assert pipeline.result is not None
    found = [output.element for output in pipeline.result.out_of(made.edge)]
    assert [(it.value, it.pane) for it in found] == [
        ("a", late),
        ("b", NO_FIRING),
        ("c", NO_FIRING),
    ]
    assert [it.timestamp for it in found[:2]] == [5_000, 6_000]


def test_a_gauge_has_a_value() -> None:
    def last(number: int) -> None:
        beam.Metrics.gauge("numbers", "last").set(number)

    with beam.Pipeline() as pipeline:
        pipeline | beam.Create([1, 2]) | beam.Map(last)
    assert pipeline.result is not None
    (gauge,) = pipeline.result.metrics().query()["gauges"]
    assert (gauge.result.value, gauge.committed.value) == (2, 2)


def test_a_default_of_an_unbounded_collection_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    stream = TestStream().add_elements([1]).advance_watermark_to_infinity()
    often = beam.WindowInto(
        beam.GlobalWindows(),
        trigger=beam.Repeatedly(beam.AfterCount(1)),
        accumulation_mode=beam.AccumulationMode.DISCARDING,
    )
    windowed = beam.Pipeline() | stream | often
    with caplog.at_level(logging.ERROR):
        windowed | "No" >> beam.CombineGlobally(sum).without_defaults()
        assert not caplog.records
        windowed | "Sum" >> beam.CombineGlobally(sum)
    assert "elements in unbounded collections with a trigger" in caplog.text


def test_one_trigger_among_several_does_what_it_does_alone() -> None:
    stream = TestStream().advance_watermark_to(0)
    for index in range(1, 4):
        stream = stream.add_elements([index])
    early = beam.AfterWatermark(early=beam.AfterAll(beam.AfterCount(1)))
    with beam.Pipeline() as pipeline:
        sums = (
            pipeline
            | stream.advance_watermark_to_infinity()
            | beam.WindowInto(beam.GlobalWindows(), trigger=early, accumulation_mode="accumulating")
            | beam.CombineGlobally(sum).without_defaults()
        )
    assert pipeline.result is not None
    assert [it.element.value for it in pipeline.result.out_of(sums.edge)] == [1, 3, 6, 6]


def test_a_check_of_a_pipeline_error_stays_one() -> None:
    with pytest.raises(PipelineError):
        beam.Pipeline() | beam.Map(str)

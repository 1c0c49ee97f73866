"""What is written for Beam Python, means nothing here, and is refused with what to write."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TestStreamError, TimeError
from beamlike.testing import TestStream
from tests.support.refusals import refusal


def test_an_argument_of_another_name_is_reported_the_right_one() -> None:
    for given, shown in (
        ({"accumulation": "discarding"}, "'accumulation'; write accumulation_mode="),
        ({"acumulation_mode": "discarding"}, "'acumulation_mode'; write accumulation_mode="),
        ({"lateness": "1 m"}, "'lateness'; write allowed_lateness="),
        (
            {"colour": 1},
            "'colour'; it takes windowfn, trigger, accumulation_mode, timestamp_combiner, "
            "allowed_lateness, closing_behavior, on_time_behavior, strategy",
        ),
    ):
        with pytest.raises(PipelineError) as refusal:
            beam.WindowInto(beam.FixedWindows("1 m"), **given)
        assert str(refusal.value) == f"WindowInto has no argument {shown}"


def test_the_parts_of_windowing_may_be_given_in_the_order_of_beam_python() -> None:
    trigger = beam.AfterWatermark(late=beam.AfterCount(1))
    by_place = beam.WindowInto(
        beam.FixedWindows("1 m"), trigger, "discarding", "latest", beam.Duration(60)
    )
    by_name = beam.WindowInto(
        beam.FixedWindows("1 m"),
        trigger=trigger,
        accumulation_mode="discarding",
        timestamp_combiner="latest",
        allowed_lateness=beam.Duration(60),
    )
    assert (by_place.window_fn, by_place.parts) == (by_name.window_fn, by_name.parts)


def test_what_is_no_time_is_reported_with_what_is() -> None:
    lengths = '10 (seconds), Duration(10), timedelta(minutes=10) or "10 minutes"'
    instants = '90 (seconds), Timestamp(90), a datetime, "2013-01-01T06:00:00Z" or "00:01:30"'
    made: list[tuple[Any, str]] = [
        (
            lambda: beam.FixedWindows("60"),
            f"FixedWindows size is not a duration: '60'; write {lengths}",
        ),
        (
            lambda: beam.AfterProcessingTime("soon"),
            f"AfterProcessingTime delay is not a duration: 'soon'; write {lengths}",
        ),
        (
            lambda: beam.AfterProcessingTime(-5),
            "AfterProcessingTime delay must not be negative, got Duration(-5); give 0 or more",
        ),
        (
            lambda: beam.WindowInto(beam.FixedWindows(60), allowed_lateness=float("inf")),
            "WindowInto allowed_lateness is no time: inf; give a finite number",
        ),
        (
            lambda: beam.TimestampedValue("tea", "10"),
            f"TimestampedValue timestamp is not an instant: '10'; write {instants}",
        ),
        (
            lambda: beam.IntervalWindow("noon", 5),
            f"IntervalWindow start is not an instant: 'noon'; write {instants}",
        ),
        (
            lambda: beam.IntervalWindow(0, True),
            f"IntervalWindow end is not an instant: True; write {instants}",
        ),
    ]
    for make, shown in made:
        assert refusal(TimeError, make) == shown


def test_a_name_that_is_taken_is_reported_with_the_transform_and_not_the_name() -> None:
    numbers = beam.Pipeline() | beam.Create([1])
    _ = numbers | "x" >> beam.Map(str)

    assert refusal(PipelineError, lambda: numbers | "x" >> beam.Map(str)) == (
        "a transform named 'x' is in this pipeline already; give this one a name of its own: "
        '"another name" >> Map(...)'
    )


def test_a_collection_is_no_list() -> None:
    numbers = beam.Pipeline() | "Numbers" >> beam.Create([1])

    assert refusal(PipelineError, lambda: list(numbers)) == (
        "<PCollection of 'Numbers'> has no elements before the pipeline runs, and none to iterate "
        "over; apply FlatMap(...) or Map(...) to it, or look at the result of run() with "
        "out_of(collection.edge)"
    )


def test_a_test_stream_is_reported_when_by_another_method() -> None:
    with pytest.raises(TestStreamError) as refusal:
        TestStream().add_elements(["a", "b"], event_timestamp=10)
    assert str(refusal.value) == (
        "add_elements has no event_timestamp= here; write add_elements_at_time(Timestamp(10), "
        "'a', 'b'), with the elements one by one, and Timestamp of beamlike.beam for seconds. "
        "Beam's is beamlike.beam.testing.test_stream.TestStream"
    )
    with pytest.raises(TestStreamError, match="has no tag= here; each collection has a TestStr"):
        TestStream().add_elements("a", tag="side")
    with pytest.raises(TestStreamError, match="has no at= here; write add_elements"):
        TestStream().add_elements("a", at=5)

"""Mistakes raise what Beam Python raises, so that ``except`` and ``assertRaises`` find it.

They say what to write instead.
"""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.transforms import window
from beamlike.errors import BeamlikeError, PipelineError, TestStreamError, TimeError
from beamlike.testing import TestStream
from tests.support.refusals import refusal


def built(build: Callable[[beam.Pipeline], Any]) -> Callable[[], None]:
    def run() -> None:
        with beam.Pipeline() as p:
            build(p)

    return run


def ones(p: beam.Pipeline) -> beam.PCollection[int]:
    return p | beam.Create([1])


MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "Create of no list": (TypeError, lambda: beam.Create(5)),
    "Map of no function": (TypeError, lambda: beam.Map(5)),
    "FlatMap of no function": (TypeError, lambda: beam.FlatMap("x")),
    "MapTuple of no function": (TypeError, lambda: beam.MapTuple(5)),
    "Filter of no function": (TypeError, lambda: beam.Filter(None)),
    "ParDo of no DoFn": (TypeError, lambda: beam.ParDo(5)),
    "CombinePerKey of no function": (TypeError, lambda: beam.CombinePerKey(5)),
    "what is no transform": (TypeError, built(lambda p: ones(p) | 5)),
    "a class of transforms": (TypeError, built(lambda p: ones(p) | beam.Map)),
    "a collection as a list": (TypeError, built(lambda p: list(ones(p)))),
    "Flatten of a pipeline": (ValueError, built(lambda p: p | beam.Flatten())),
    "a text as an instant": (TypeError, lambda: window.TimestampedValue(1, "x")),
    "a text as a bound": (TypeError, lambda: window.IntervalWindow("a", 2)),
    "no expand": (NotImplementedError, built(lambda p: p | beam.PTransform())),
    "no process": (NotImplementedError, built(lambda p: ones(p) | beam.ParDo(beam.DoFn()))),
    "no such file": (OSError, built(lambda p: p | beam.io.ReadFromText("no/such/file"))),
    "the same name twice": (RuntimeError, built(lambda p: (ones(p), ones(p)))),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_raises_what_beam_raises(mistake: str) -> None:
    kind, make = MISTAKES[mistake]
    with pytest.raises(kind) as raised:
        make()
    assert isinstance(raised.value, BeamlikeError)


@pytest.mark.parametrize(("operand", "first"), [("text", "text"), (5, 5), ([1, 2], 1)])
def test_a_transform_is_applied_to_collections(operand, first):
    assert refusal(PipelineError, lambda: operand | beam.Map(str)) == (
        f"'Map(str)' was given {first!r}, which is not a collection; apply it to a PCollection, "
        "to several in a tuple, or to a Pipeline; of plain values write "
        "pipeline | Create([...]) first"
    )


def test_a_transform_of_one_collection_is_given_one():
    pipeline = beam.Pipeline()
    words = pipeline | beam.Create(["a"])
    for number, transform in enumerate((beam.Map(str), beam.GroupByKey(), beam.WindowInto())):
        named: Any = f"It {number}" >> transform
        assert refusal(PipelineError, lambda named=named: (words, words) | named) == (
            f"'It {number}' needs one collection, got 2; put them into one with Flatten(), or "
            "apply it to each"
        )
    assert refusal(PipelineError, lambda: pipeline | beam.Map(str)) == (  # type: ignore[operator]
        "'Map(str)' needs a PCollection as input. Got a PBegin/Pipeline instead. Start from a "
        "collection, for example pipeline | Create(...) | Map(...)"
    )


def test_a_source_starts_from_the_pipeline():
    words = beam.Pipeline() | beam.Create(["a"])
    assert refusal(PipelineError, lambda: words | "More" >> beam.Create(["b"])) == (
        "'More' starts from the pipeline, and was applied to <PCollection of 'Create'>; write "
        "pipeline | Create(...), and put both into one with (one, other) | Flatten()"
    )


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
        said = refusal(PipelineError, beam.WindowInto, beam.FixedWindows("1 m"), **given)
        assert said == f"WindowInto has no argument {shown}"


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
    add = TestStream().add_elements
    assert refusal(TestStreamError, add, ["a", "b"], event_timestamp=10) == (
        "add_elements has no event_timestamp= here; write add_elements_at_time(Timestamp(10), "
        "'a', 'b'), with the elements one by one, and Timestamp of beamlike.beam for seconds. "
        "Beam's is beamlike.beam.testing.test_stream.TestStream"
    )
    with pytest.raises(TestStreamError, match="has no tag= here; each collection has a TestStr"):
        TestStream().add_elements("a", tag="side")
    with pytest.raises(TestStreamError, match="has no at= here; write add_elements"):
        TestStream().add_elements("a", at=5)

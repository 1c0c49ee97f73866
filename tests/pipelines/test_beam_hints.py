"""What is written for Beam Python, means nothing here, and is told with what to write instead."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TestStreamError, TimeError, TransformError
from beamlike.testing import TestStream


def values(pipeline: beam.Pipeline, collection: beam.PCollection[Any]) -> list[Any]:
    return [came.element.value for came in pipeline.run().out_of(collection.edge)]


def stamped(function: Any) -> Any:
    """An element at 00:01:30 in a window of a minute, through a function."""
    pipeline = beam.Pipeline()
    found = (
        pipeline
        | beam.Create([beam.TimestampedValue("tea", "00:01:30")])
        | beam.WindowInto(beam.FixedWindows("1 minute"))
        | "Say" >> beam.Map(function)
    )
    return values(pipeline, found)[0]


AS_DATETIME = (
    "a time is a number of milliseconds here; write beam.Timestamp(millis=...), which is a datetime"
)

BEAM_TIMES: dict[str, tuple[Any, str]] = {
    "to_utc_datetime": (
        lambda tea, window=beam.DoFn.WindowParam: window.start.to_utc_datetime(),
        AS_DATETIME,
    ),
    "strftime": (lambda tea, at=beam.DoFn.TimestampParam: at.strftime("%Y"), AS_DATETIME),
    "to_rfc3339": (
        lambda tea, at=beam.DoFn.TimestampParam: at.to_rfc3339(),
        "a time is a number of milliseconds here; write beam.Timestamp(millis=...).isoformat() "
        "for text",
    ),
    "micros": (
        lambda tea, window=beam.DoFn.WindowParam: window.end.micros,
        "a time is a number of milliseconds here; write 1000 * ... for microseconds",
    ),
    "seconds": (
        lambda tea, window=beam.DoFn.WindowParam: window.end.seconds(),
        "a time is a number of milliseconds here; write ... // 1000 for seconds",
    ),
}


@pytest.mark.parametrize("name", BEAM_TIMES)
def test_what_beam_pythons_times_can_do_is_told_with_what_to_write(name: str) -> None:
    function, hint = BEAM_TIMES[name]

    with pytest.raises(TransformError) as failure:
        stamped(function)

    assert str(failure.value) == (
        f"'Say' raised AttributeError: 'int' object has no attribute '{name}'; {hint} for 'tea' "
        "at 00:01:30"
    )


def test_the_end_of_a_window_is_no_method() -> None:
    with pytest.raises(TransformError) as failure:
        stamped(lambda tea, window=beam.DoFn.WindowParam: window.max_timestamp())

    assert "'int' object is not callable; the end of a window is no method here; write " in str(
        failure.value
    )


def test_other_mistakes_of_a_function_are_told_as_they_are() -> None:
    for function, told in (
        (lambda tea: tea.nope, "AttributeError: 'str' object has no attribute 'nope'"),
        (lambda tea: (5).nope, "AttributeError: 'int' object has no attribute 'nope'"),
        (lambda tea: len(tea)(), "TypeError: 'int' object is not callable"),
        (lambda tea: {}.seconds, "AttributeError: 'dict' object has no attribute 'seconds'"),
    ):
        with pytest.raises(TransformError) as failure:
            stamped(function)
        assert str(failure.value) == f"'Say' raised {told} for 'tea' at 00:01:30"


def test_the_start_of_a_window_becomes_text_and_a_datetime() -> None:
    def said(tea: str, window: Any = beam.DoFn.WindowParam, at: int = beam.DoFn.TimestampParam):
        start = beam.Timestamp(millis=window.start)
        return f"{start:%H:%M:%S}", start.isoformat(), beam.Timestamp(millis=at).second

    assert stamped(said) == ("00:01:00", "1970-01-01T00:01:00+00:00", 30)


def test_a_time_without_a_year_says_why() -> None:
    pipeline = beam.Pipeline()
    _ = (
        pipeline
        | beam.Create(["tea"])
        | "Say" >> beam.Map(lambda tea, at=beam.DoFn.TimestampParam: beam.Timestamp(millis=at))
    )
    with pytest.raises(TransformError) as failure:
        pipeline.run()
    assert str(failure.value) == (
        "'Say' raised TimeError: Timestamp must lie in the years 1 to 9999, got "
        "millis=-9223372036854775, which is an end of time: the element or its window has no "
        "other for 'tea' at -infinity"
    )


def test_an_argument_of_another_name_is_told_the_right_one() -> None:
    for given, told in (
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
        assert str(refusal.value) == f"WindowInto has no argument {told}"


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


def test_what_is_advised_is_not_refused_next() -> None:
    for make, told in (
        (
            lambda: beam.FixedWindows("60"),
            "FixedWindows size is not a duration: '60'; write \"60 s\", ",
        ),
        (
            lambda: beam.AfterProcessingTime("soon"),
            "AfterProcessingTime delay is not a duration: 'soon'; write ",
        ),
    ):
        with pytest.raises(TimeError) as refusal:
            make()
        assert str(refusal.value) == (
            f'{told}"10 minutes", "1h 30m", "00:10:00" or timedelta(minutes=10)'
        )
    with pytest.raises(TimeError) as refusal:
        beam.TimestampedValue("tea", "10")
    assert str(refusal.value) == (
        "TimestampedValue timestamp is not an instant: '10'; write \"00:01:30\", "
        '"2013-01-01T06:00:00Z", a datetime, or Timestamp(90)'
    )


def test_a_name_that_is_taken_is_told_with_the_transform_and_not_the_name() -> None:
    numbers = beam.Pipeline() | beam.Create([1])
    _ = numbers | "x" >> beam.Map(str)

    with pytest.raises(PipelineError) as refusal:
        _ = numbers | "x" >> beam.Map(str)

    assert str(refusal.value) == (
        "a transform named 'x' is in this pipeline already; give this one a name of its own: "
        '"another name" >> Map(...)'
    )


def test_a_collection_is_no_list_and_asserts_nothing_by_itself() -> None:
    numbers = beam.Pipeline() | "Numbers" >> beam.Create([1])

    with pytest.raises(PipelineError) as refusal:
        list(numbers)
    assert str(refusal.value) == (
        "<PCollection of 'Numbers'> has no elements before the pipeline runs, and none to iterate "
        "over; apply FlatMap(...) or Map(...) to it, or look at the result of run() with "
        "out_of(collection.edge)"
    )
    for name in ("should", "should_not"):
        with pytest.raises(PipelineError) as refusal:
            getattr(numbers, name)(1)
        assert str(refusal.value) == (
            "assertions are made with beamlike.testing: write expect(collection).to(...), or "
            "assert_that(collection, equal_to([...]))"
        )


def test_a_test_stream_is_told_when_by_another_method() -> None:
    with pytest.raises(TestStreamError) as refusal:
        TestStream().add_elements(["a", "b"], event_timestamp=10)
    assert str(refusal.value) == (
        "add_elements has no event_timestamp= here; write add_elements_at_time(Timestamp(10), "
        "'a', 'b'), with the elements one by one, and Timestamp of beamlike.beam for seconds"
    )
    with pytest.raises(TestStreamError, match="has no tag= here; each collection has a TestStr"):
        TestStream().add_elements("a", tag="side")
    with pytest.raises(TestStreamError, match="has no at= here; write add_elements"):
        TestStream().add_elements("a", at=5)

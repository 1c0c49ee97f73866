"""What fingers that know Beam write, and what they are told where it means nothing here."""

import re

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TestStreamError, TimeError, TransformError
from beamlike.testing import TestStream


def values(pipeline: beam.Pipeline, collection: beam.PCollection) -> list[object]:
    return [came.element.value for came in pipeline.run().out_of(collection.edge)]


def test_two_lambdas_on_two_lines_are_two_transforms() -> None:
    pipeline = beam.Pipeline()

    found = (
        pipeline
        | beam.Create([1, 2])
        | beam.Map(lambda number: number + 1)
        | beam.Map(lambda number: number * 2)
    )

    assert values(pipeline, found) == [4, 6]
    assert re.fullmatch(r"Map\(<lambda at test_beam_habits.py:\d+>\)", found.edge.node.label)


def test_a_par_do_takes_a_function_that_lists_what_comes_out() -> None:
    pipeline = beam.Pipeline()

    found = pipeline | beam.Create(["to be"]) | beam.ParDo(str.split)

    assert values(pipeline, found) == ["to", "be"]
    assert found.edge.node.label == "ParDo(str.split)"


def test_a_par_do_of_a_class_is_told_to_make_one() -> None:
    class Split(beam.DoFn):
        pass

    with pytest.raises(PipelineError, match=r"got <class .*Split'>; write ParDo\(Split\(\)\)$"):
        beam.ParDo(Split)  # type: ignore[arg-type]


def test_a_collection_is_no_side_input_until_it_is_said_how_it_is_seen() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "side" >> beam.Create([1])
    main = pipeline | "main" >> beam.Create([7])

    for number, options in enumerate(({"args": (side,)}, {"kwargs": {"other": side}})):
        with pytest.raises(PipelineError) as refusal:
            _ = main | f"look {number}" >> beam.Map(
                lambda one, other: (one, other),
                *options.get("args", ()),
                **options.get("kwargs", {}),
            )
        assert str(refusal.value) == (
            f"'look {number}' was given <PCollection of 'side'> as an argument; say how a function "
            "is to see it: AsSingleton(...), AsList(...) or AsDict(...) around it"
        )


def test_a_side_input_inside_of_something_is_not_looked_for() -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "side" >> beam.Create([1])
    main = pipeline | "main" >> beam.Create([7])

    with pytest.raises(PipelineError) as refusal:
        _ = main | "look" >> beam.Map(lambda one, other: one, {"other": beam.AsList(side)})

    assert str(refusal.value) == (
        "'look' was given a AsList inside a dict, where nobody looks for it; give each side input "
        "as an argument of its own"
    )


class Plain:
    """Two of them are never equal."""


def test_a_key_that_equals_only_itself_is_refused() -> None:
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([(("a", Plain()), 1)]) | "group" >> beam.GroupByKey()

    with pytest.raises(PipelineError, match="nobody knows when two of them are equal"):
        pipeline.run()


def test_elements_of_a_test_stream_are_given_one_by_one() -> None:
    with pytest.raises(TestStreamError) as refusal:
        TestStream().add_elements(["a", "b"])

    assert str(refusal.value) == (
        "elements are given one by one, got one list ['a', 'b']; write add_elements(*elements), "
        'or, if the list is an element, add_elements(TimestampedValue([...], "00:01:00"))'
    )


def test_a_function_that_knows_no_answer_for_an_empty_pane_is_told_of_it() -> None:
    pipeline = beam.Pipeline()
    stream = TestStream().add_elements_at_time("00:00:10", ("a", 1))
    _ = (
        pipeline
        | stream.advance_watermark_to_infinity()
        | beam.WindowInto(
            beam.FixedWindows("1 minute"),
            trigger=beam.AfterWatermark(early=beam.AfterCount(1)),
            accumulation_mode="discarding",
            allowed_lateness="0 s",
        )
        | "most" >> beam.CombinePerKey(max)
    )

    with pytest.raises(TransformError) as failure:
        pipeline.run()

    assert (
        "the pane is empty, as an on-time pane may be when everything came out before it: say "
        'on_time_behavior="fire_if_non_empty"'
    ) in str(failure.value)


def test_a_number_that_may_be_seconds_or_milliseconds_is_no_event_time() -> None:
    with pytest.raises(TransformError) as failure:
        _ = [{"at": 5}] | "Stamp" >> beam.Map(lambda row: beam.TimestampedValue(row, row["at"]))

    assert str(failure.value) == (
        "'Stamp' raised TimeError: TimestampedValue timestamp: 5 is 5 seconds in Beam Python and "
        "5 milliseconds here; write Timestamp(5) for seconds, or Timestamp(millis=5) for "
        "milliseconds such as those of TimestampParam for {'at': 5} at -infinity"
    )
    with pytest.raises(TimeError) as refusal:
        beam.TimestampedValue("a", 1.5)  # type: ignore[arg-type]
    assert str(refusal.value) == (
        "TimestampedValue timestamp: 1.5 is 1.5 seconds in Beam Python and 1.5 milliseconds here; "
        "write Timestamp(1.5) for seconds"
    )


def test_seconds_and_milliseconds_that_say_so_are_an_event_time() -> None:
    def again(word: str, at: int = beam.DoFn.TimestampParam) -> object:
        return beam.TimestampedValue(word, beam.Timestamp(micros=1000 * at))

    pipeline = beam.Pipeline()
    found = (
        pipeline
        | beam.Create([beam.TimestampedValue("a", beam.Timestamp(1.5))])
        | beam.Map(again)
        | beam.Reify.Timestamp()
    )

    assert values(pipeline, found) == [beam.TimestampedValue("a", "00:00:01.500")]
    with pytest.raises(TimeError, match="seconds=1357020000000, micros=0; seconds are needed, not"):
        beam.Timestamp(1_357_020_000_000)


def test_a_window_is_written_as_people_say_it() -> None:
    noon = beam.IntervalWindow("12:00", "12:05")

    assert noon == beam.IntervalWindow(43_200_000, 43_500_000)
    assert (noon.start, noon.end, str(noon)) == (43_200_000, 43_500_000, "[12:00:00, 12:05:00)")
    assert beam.IntervalWindow(beam.Timestamp(0), beam.Timestamp(5)).end == 5_000
    for start, end, told in (
        ("noon", "12:05", "IntervalWindow start is not an instant: 'noon'; write epoch millisec"),
        (0, 2.5, "IntervalWindow end is not an instant: 2.5; write epoch milliseconds, a datet"),
        (True, 5, "IntervalWindow start is not an instant: True; write epoch milliseconds, a d"),
    ):
        with pytest.raises(TimeError, match=f"^{re.escape(told)}"):
            beam.IntervalWindow(start, end)  # type: ignore[arg-type]


def test_what_windows_a_collection_is_told_of_in_the_words_of_beam() -> None:
    words = beam.Pipeline() | beam.Create(["a"])
    hour = beam.FixedWindows("1 hour")
    told = {
        "Mode": (
            beam.WindowInto(hour, trigger=beam.AfterCount(1), allowed_lateness="0 s"),
            "trigger AfterCount(1) requires that the accumulation mode be specified, because a "
            'window may emit several panes; add accumulation_mode="discarding" (each pane holds '
            'what is new) or accumulation_mode="accumulating" (each pane holds everything so far)',
        ),
        "Word": (
            beam.WindowInto(hour, accumulation_mode="adding"),
            "accumulation_mode must be one of 'discarding', 'accumulating', 'retracting', got "
            "'adding'",
        ),
        "Windows": (
            beam.WindowInto(beam.FixedWindows),
            'WindowInto needs windows such as FixedWindows("1 hour"), got FixedWindows',
        ),
    }

    for label, (transform, message) in told.items():
        with pytest.raises(PipelineError) as refusal:
            _ = words | label >> transform
        assert str(refusal.value) == f"{label!r}: {message}"


def test_collections_that_do_not_fit_are_told_of_in_the_words_of_beam() -> None:
    words = beam.Pipeline() | beam.Create([("a", 1)])
    hours = words | "Hours" >> beam.WindowInto(beam.FixedWindows("1 hour"))
    visits = words | "Visits" >> beam.WindowInto(beam.Sessions("1 minute"))
    counted = words | "Counted" >> beam.WindowInto(
        trigger=beam.Repeatedly(beam.AfterCount(2)), accumulation_mode="discarding"
    )
    merged = visits | "Merged" >> beam.GroupByKey()

    told = {
        "A": (
            (hours, visits),
            "window windowFns: <PCollection of 'Hours'> has FixedWindows(1h), "
            "<PCollection of 'Visits'> has Sessions(1m); FixedWindows and Sessions are different "
            "kinds of windows; give <PCollection of 'Visits'> the windows of "
            "<PCollection of 'Hours'> first: WindowInto(FixedWindows(1h))",
        ),
        "B": (
            (words, counted),
            "triggers: <PCollection of 'Create'> has DefaultTrigger(), <PCollection of 'Create'>, "
            "input 1, has Repeatedly(AfterCount(2)); give <PCollection of 'Create'>, input 1, the "
            "trigger of <PCollection of 'Create'> first: WindowInto(trigger=DefaultTrigger())",
        ),
        "C": (
            (visits, merged),
            "window windowFns: the Sessions(1m) of <PCollection of 'Merged'> were merged by a "
            "grouping, those of <PCollection of 'Visits'> were not; write "
            "WindowInto(Sessions(1m)) on <PCollection of 'Merged'> first",
        ),
    }

    for label, (pair, message) in told.items():
        with pytest.raises(PipelineError) as refusal:
            _ = pair | label >> beam.Flatten()
        assert str(refusal.value) == f"{label!r}: Inputs to Flatten had incompatible {message}"


def test_a_name_that_is_taken_and_free() -> None:
    pipeline = beam.Pipeline()
    assert pipeline.free_label("Words") == "Words"

    for _ in range(3):
        _ = pipeline | pipeline.free_label("Words") >> beam.Create([1])

    assert [node.label for node in pipeline.nodes] == ["Words", "Words2", "Words3"]


def test_without_a_function_a_flat_map_opens_lists() -> None:
    assert [[1, 2], [3]] | beam.FlatMap() == [1, 2, 3]


def test_what_a_function_cannot_take_is_tagged_by_the_function() -> None:
    with pytest.raises(PipelineError) as refusal:
        beam.Map(int).with_exception_handling()

    assert str(refusal.value) == (
        "'Map(int)' has no with_exception_handling here; catch the exception in the function, "
        'yield TaggedOutput("bad", element) there, and write with_outputs("bad", main="good")'
    )

"""What fingers that know Beam write, and the error where it means nothing here."""

import re
from functools import partial
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike import FixedWindows
from beamlike.errors import PipelineError, TestStreamError, TransformError
from beamlike.testing import TestStream, expect, have_size, run_with_context
from tests.support.pipelines.results_of_runs import values
from tests.support.refusals import refusal


def test_two_lambdas_on_two_lines_are_two_transforms() -> None:
    pipeline = beam.Pipeline()

    found = (
        pipeline
        | beam.Create([1, 2])
        | beam.Map(lambda number: number + 1)
        | beam.Map(lambda number: number * 2)
    )

    assert values(found) == [4, 6]
    assert re.fullmatch(r"Map\(<lambda at test_beam_habits.py:\d+>\)", found.edge.node.label)


def test_a_par_do_takes_a_function_that_lists_what_comes_out() -> None:
    pipeline = beam.Pipeline()

    found = pipeline | beam.Create(["to be"]) | beam.ParDo(str.split)

    assert values(found) == ["to", "be"]
    assert found.edge.node.label == "ParDo(split)"


def test_a_par_do_of_a_class_is_reported_to_make_one() -> None:
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
        "'look' was given a AsList inside a dict, where it is not found; give each side input "
        "as an argument of its own"
    )


class Plain:
    """Two of them are never equal."""


def test_a_key_that_equals_only_itself_is_refused() -> None:
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([(("a", Plain()), 1)]) | "group" >> beam.GroupByKey()

    with pytest.raises(PipelineError, match="has no deterministic coder"):
        pipeline.run()


def test_elements_of_a_test_stream_are_given_one_by_one() -> None:
    assert refusal(TestStreamError, lambda: TestStream().add_elements(["a", "b"])) == (
        "elements are given one by one, got one list ['a', 'b']; write add_elements(*elements), "
        'or, if the list is an element, add_elements(TimestampedValue([...], "00:01:00"))'
    )


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_function_without_an_answer_for_an_empty_pane_is_named_with_its_key(host: Any) -> None:
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
        pipeline.run(host=host)

    assert str(failure.value).endswith("in max for window [00:00:00, 00:01:00), key 'a'")
    assert (
        "the pane is empty, as an on-time pane may be when everything came out before it: say "
        'on_time_behavior="fire_if_non_empty"'
    ) in str(failure.value)


def test_lambdas_in_different_lines_have_different_labels() -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([(1, 2)])
    made: list[Any] = [
        pairs | beam.MapTuple(lambda a, b: a),
        pairs | beam.MapTuple(lambda a, b: b),
        pairs | beam.FlatMapTuple(lambda a, b: [a]),
        pairs | beam.FlatMapTuple(lambda a, b: [b]),
        pairs | beam.MapTuple(pow),
        pairs | beam.MapTuple(partial(pow, mod=2)),
    ]
    labels = [re.sub(r"\d+(?=>)", "N", it.edge.node.label) for it in made]
    at = "<lambda at test_beam_habits.py:N>"
    assert labels == [
        *[f"MapTuple({at})"] * 2,
        *[f"FlatMapTuple({at})"] * 2,
        *("MapTuple(pow)", "MapTuple(partial(pow))"),
    ]
    assert len({it.edge.node.label for it in made}) == len(made)


REFUSED = (
    "{call}: 10 is 10 milliseconds in beamlike.testing and 10 seconds in Beam Python; write "
    "{seconds}(10) of beamlike.beam for seconds, or {millis} for milliseconds, or take Beam's test "
    "stream: from beamlike.beam.testing.test_stream import TestStream"
)
INSTANT = partial(REFUSED.format, seconds="Timestamp", millis='"00:00:00.010"')
DURATION = REFUSED.format(
    call="advance_processing_time duration", seconds="Duration", millis='"10ms"'
)


@pytest.mark.parametrize(
    ("stream", "refusal"),
    [
        (
            TestStream().advance_watermark_to(10).add_elements("a"),
            INSTANT(call="advance_watermark_to instant"),
        ),
        (
            TestStream().add_elements_at_time(10, "a").advance_watermark_to(20),
            INSTANT(call="add_elements_at_time time"),
        ),
        (TestStream().add_elements("a").advance_processing_time(10), DURATION),
    ],
    ids=["watermark", "time", "clock"],
)
def test_a_test_stream_with_a_bare_number_is_refused_by_a_pipeline(
    stream: TestStream, refusal: str
) -> None:
    finished = stream.advance_watermark_to_infinity()
    for name, source in (("TestStream", finished), ("Words", "Words" >> finished)):
        with pytest.raises(PipelineError) as error:
            beam.Pipeline() | source
        assert str(error.value) == f"{name!r}: {refusal}"
    # By itself, and in Scio's words, it counts milliseconds.
    with run_with_context() as sc:
        expect(sc.test_stream(finished)).to(have_size(1))
    pairs = TestStream().add_elements_at_time(10, ("a", 1)).advance_watermark_to_infinity()
    assert len(pairs.run(window=FixedWindows("1 s")).panes) == 1


def test_a_test_stream_of_times_that_say_their_unit_is_taken() -> None:
    stream = (
        TestStream()
        .advance_watermark_to(0)
        .add_elements(beam.TimestampedValue("a", beam.Timestamp(5)))
        .add_elements_at_time("00:00:01", "b")
        .advance_processing_time("10 s")
        .advance_watermark_to(beam.Timestamp(10))
        # No seconds reach so far, and nothing else can say it.
        .add_elements_at_time(9_223_372_036_000_000, "c")
        .advance_watermark_to_infinity()
    )
    assert values(beam.Pipeline() | stream) == ["a", "b", "c"]


def test_what_windows_a_collection_is_reported_of_in_the_words_of_beam() -> None:
    words = beam.Pipeline() | beam.Create(["a"])
    hour = beam.FixedWindows("1 hour")
    shown = {
        "Windows": (
            beam.WindowInto(beam.FixedWindows),  # type: ignore[arg-type]
            'WindowInto needs windows such as FixedWindows("1 hour"), got FixedWindows',
        ),
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
    }
    for label, (transform, message) in shown.items():
        with pytest.raises(PipelineError) as refusal:
            _ = words | label >> transform
        assert str(refusal.value) == f"{label!r}: {message}"


def test_collections_that_do_not_fit_are_reported_of_in_the_words_of_beam() -> None:
    words = beam.Pipeline() | beam.Create([("a", 1)])
    hours = words | "Hours" >> beam.WindowInto(beam.FixedWindows("1 hour"))
    visits = words | "Visits" >> beam.WindowInto(beam.Sessions("1 minute"))
    counted = words | "Counted" >> beam.WindowInto(
        trigger=beam.Repeatedly(beam.AfterCount(2)), accumulation_mode="discarding"
    )
    merged = visits | "Merged" >> beam.GroupByKey()

    shown = {
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

    for label, (pair, message) in shown.items():
        with pytest.raises(PipelineError) as refusal:
            _ = pair | label >> beam.Flatten()
        assert str(refusal.value) == f"{label!r}: Inputs to Flatten had incompatible {message}"


def test_a_name_that_is_taken_and_free() -> None:
    pipeline = beam.Pipeline()
    assert pipeline.free_label("Words") == "Words"

    for _ in range(3):
        _ = pipeline | pipeline.free_label("Words") >> beam.Create([1])

    assert [node.label for node in pipeline.nodes] == ["Words", "Words2", "Words3"]


def test_what_a_function_cannot_take_is_an_output() -> None:
    pipeline = beam.Pipeline()
    texts = pipeline | beam.Create(["1", "two", "3"])

    good, bad = texts | beam.Map(int).with_exception_handling()
    errors = bad | beam.MapTuple(lambda element, error: (element, error[0], error[1]))

    result = pipeline.run()
    assert [it.element.value for it in result.out_of(good.edge)] == [1, 3]
    said = "ValueError(\"invalid literal for int() with base 10: 'two'\")"
    assert [it.element.value for it in result.out_of(errors.edge)] == [("two", ValueError, said)]


def test_an_argument_of_exception_handling_that_there_is_not() -> None:
    with pytest.raises(PipelineError, match="unexpected keyword argument 'catch'; leave it out"):
        beam.Map(int).with_exception_handling(catch=ValueError)


def test_a_pipeline_raises_what_its_function_raised() -> None:
    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([{}]) | "Look" >> beam.Map(lambda found: found["here"])

    with pytest.raises(KeyError, match=r"'Look' raised KeyError: 'here' for \{\}"):
        pipeline.run()
    with pytest.raises(TransformError):
        pipeline.run()

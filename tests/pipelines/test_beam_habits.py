"""What fingers that know Beam write, and what they are told where it means nothing here."""

import re

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TestStreamError, TransformError
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

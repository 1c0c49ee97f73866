"""Transforms of plain lists: they run at once, and lists come out."""

from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError


def sorted_out(number: int) -> Any:
    yield number
    yield beam.TaggedOutput("even" if number % 2 == 0 else "odd", number)


def test_a_list_a_set_or_a_generator_is_a_collection():
    assert [1, 2] | beam.Map(str) == ["1", "2"]
    assert {3} | "Named" >> beam.Map(str) == ["3"]
    assert range(3) | beam.CombineGlobally(sum) == [3]
    assert [] | beam.combiners.Count.Globally() == [0]


def test_transforms_of_lists_make_a_chain():
    counts = ["to be", "or not to be"] | beam.FlatMap(str.split) | beam.combiners.Count.PerElement()
    assert counts == [("to", 2), ("be", 2), ("or", 1), ("not", 1)]


def test_several_lists_are_several_collections():
    assert ([1, 2], [3]) | beam.Flatten() == [1, 2, 3]
    assert [[1, 2], [3]] | beam.Flatten() == [1, 2, 3]
    assert {"a": [("k", 1)], "b": [("k", 2), ("l", 3)]} | beam.CoGroupByKey() == [
        ("k", {"a": [1], "b": [2]}),
        ("l", {"a": [], "b": [3]}),
    ]


def test_several_outputs_are_several_lists():
    assert [1, 2, 3] | beam.Partition(lambda number, _: number % 2, 2) == ([2], [1, 3])
    outputs = [1, 2, 3] | beam.ParDo(sorted_out).with_outputs("odd", "even", main="all")
    assert (outputs.odd, outputs["even"], outputs.all) == ([1, 3], [2], [1, 2, 3])
    assert list(outputs) == [[1, 2, 3], [1, 3], [2]]


def test_a_list_beside_a_collection_is_created_in_its_pipeline():
    pipeline = beam.Pipeline()
    one = pipeline | beam.Create([1])
    both = (one, [2]) | "First" >> beam.Flatten()
    again = (both, [3]) | "Second" >> beam.Flatten()
    came = pipeline.run().out_of(again.edge)
    assert sorted(it.element.value for it in came) == [1, 2, 3]


def test_what_is_no_list_of_elements_is_refused():
    for given in ("text", 5):
        with pytest.raises(PipelineError) as refusal:
            _ = given | beam.Map(str)  # type: ignore[operator]
        assert str(refusal.value) == (
            f"'Map(str)' was given {given!r}, which is no collection; apply it to a PCollection, "
            "to several in a tuple, or to a Pipeline"
        )


def test_what_fails_in_a_list_fails_at_once():
    with pytest.raises(TransformError, match=r"'Map\(int\)' raised ValueError: invalid literal"):
        _ = ["one"] | beam.Map(int)


def test_a_transform_of_one_collection_is_given_one():
    pipeline = beam.Pipeline()
    words = pipeline | beam.Create(["a"])
    for number, transform in enumerate((beam.Map(str), beam.GroupByKey(), beam.WindowInto())):
        with pytest.raises(PipelineError) as refusal:
            _ = (words, words) | f"It {number}" >> transform
        assert str(refusal.value) == (
            f"'It {number}' needs one collection, got 2; put them into one with Flatten(), or "
            "apply it to each"
        )
    with pytest.raises(PipelineError) as refusal:
        _ = pipeline | beam.Map(str)  # type: ignore[operator]
    assert str(refusal.value) == (
        "'Map(str)' needs a PCollection as input. Got a PBegin/Pipeline instead. Start from a "
        "collection, for example pipeline | Create(...) | Map(...)"
    )


def test_a_source_starts_from_the_pipeline():
    words = beam.Pipeline() | beam.Create(["a"])
    with pytest.raises(PipelineError) as refusal:
        _ = words | "More" >> beam.Create(["b"])  # type: ignore[operator]
    assert str(refusal.value) == (
        "'More' starts from the pipeline, and was applied to <PCollection of 'Create'>; write "
        "pipeline | Create(...), and put both into one with (one, other) | Flatten()"
    )

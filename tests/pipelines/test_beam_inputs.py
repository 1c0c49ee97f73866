"""What transforms are applied to."""

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from tests.support.refusals import refusal


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
    assert refusal(PipelineError, lambda: words | "More" >> beam.Create(["b"])) == (
        "'More' starts from the pipeline, and was applied to <PCollection of 'Create'>; write "
        "pipeline | Create(...), and put both into one with (one, other) | Flatten()"
    )

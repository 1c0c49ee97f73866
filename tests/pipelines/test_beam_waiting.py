"""Transforms that let elements pass, and those of texts."""

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError
from beamlike.model.triggers import AfterCount, AfterProcessingTime, Never, Repeatedly, Trigger
from beamlike.testing import TestStream
from tests.support.pipelines.results_of_runs import values

MINUTES = beam.WindowInto(beam.FixedWindows("1 minute"))


def tea() -> beam.PCollection[str]:
    return beam.Pipeline() | beam.Create([beam.TimestampedValue("tea", "00:00:10.5")])


def test_an_element_waits_until_the_window_of_another_collection_is_done():
    pipeline = beam.Pipeline()
    two = TestStream().add_elements_at_time("00:00:05", "first")
    two = two.add_elements_at_time("00:01:05", "second")
    one = TestStream().add_elements_at_time("00:00:10", "s").advance_watermark_to("00:01:00")
    words = pipeline | "Words" >> two.advance_watermark_to_infinity() | MINUTES
    saved = pipeline | "Saved" >> one.advance_watermark_to_infinity() | "Minutes" >> MINUTES
    waited = words | beam.WaitOn(saved)
    pipeline.keep(words, saved)
    result = pipeline.run()
    came = {
        name: [(it.step, it.element.value, it.element.timestamp) for it in result.out_of(of.edge)]
        for name, of in (("words", words), ("saved", saved), ("waited", waited))
    }
    assert came == {
        "words": [(0, "first", 5_000), (2, "second", 65_000)],
        "saved": [(1, "s", 10_000)],
        "waited": [(3, "first", 5_000), (5, "second", 65_000)],
    }


@pytest.mark.parametrize(
    "trigger",
    [
        AfterCount(3),
        Repeatedly(AfterCount(3)),
        Repeatedly(AfterProcessingTime("10 s")),
        Never(),
    ],
    ids=str,
)
def test_an_element_waits_for_the_watermark_whatever_the_trigger_of_what_it_waits_for(
    trigger: Trigger,
):
    pipeline = beam.Pipeline()
    two = TestStream().add_elements_at_time("00:00:05", "first")
    two = two.add_elements_at_time("00:01:05", "second")
    one = TestStream().add_elements_at_time("00:00:10", "s").advance_watermark_to("00:01:00")
    words = pipeline | "Words" >> two.advance_watermark_to_infinity() | MINUTES
    fired = beam.WindowInto(
        beam.FixedWindows("1 minute"),
        trigger=trigger,
        accumulation_mode="accumulating",
        allowed_lateness="0 s",
    )
    saved = pipeline | "Saved" >> one.advance_watermark_to_infinity() | "Fired" >> fired

    waited = words | beam.WaitOn(saved)

    assert [
        (it.step, it.element.value, it.element.timestamp)
        for it in pipeline.run().out_of(waited.edge)
    ] == [(3, "first", 5_000), (5, "second", 65_000)]


def test_waiting_needs_collections():
    with pytest.raises(PipelineError, match=r"WaitOn needs collections, got \[1\]"):
        beam.WaitOn([1])  # type: ignore[arg-type]


def test_an_impulse_is_one_element():
    assert values(beam.Pipeline() | beam.Impulse()) == [b""]


def test_elements_as_texts():
    for elements, transform, texts in (
        ([1, None], beam.ToString.Element(), ["1", "None"]),
        ([("a", 1)], beam.ToString.Kvs(), ["a,1"]),
        ([[1, 2, 3]], beam.ToString.Iterables("; "), ["1; 2; 3"]),
    ):
        pipeline = beam.Pipeline()
        lines = pipeline | beam.Create(elements) | transform
        came = pipeline.run().out_of(lines.edge)
        assert [it.element.value for it in came] == texts

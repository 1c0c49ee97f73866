"""Programs as the documentation of Beam Python writes them, with another import."""

import inspect
from typing import Any

import pytest

import beamlike.beam as beam


def values(pcoll: beam.PCollection[Any]) -> list[Any]:
    """Everything that comes out of a collection when its pipeline runs, in order."""
    return [came.element.value for came in pcoll.pipeline.run().out_of(pcoll.edge)]


@pytest.mark.parametrize("name", beam.__all__)
def test_every_name_is_there_and_says_what_it_is(name: str):
    assert inspect.getdoc(getattr(beam, name))


def test_the_names_of_beam_pythons_modules_mean_the_same():
    for module in (beam.window, beam.trigger, beam.pvalue):
        for name in vars(module):
            if not name.startswith("_"):
                assert getattr(module, name) is getattr(beam, name)


def test_word_count():
    @beam.typehints.with_input_types(str)
    @beam.typehints.with_output_types(str)
    class WordExtractingDoFn(beam.DoFn[str, str]):
        def process(self, element: str, *args: Any, **kwargs: Any) -> list[str]:
            return element.split()

    with beam.Pipeline() as p:
        lines = p | "Read" >> beam.Create(["to be", "or not to be"])
        counts = (
            lines
            | "Split" >> (beam.ParDo(WordExtractingDoFn()).with_output_types(str))
            | "PairWithOne" >> beam.Map(lambda x: (x, 1))
            | "GroupAndSum" >> beam.CombinePerKey(sum)
        )
        output = counts | "Format" >> beam.MapTuple(lambda word, count: f"{word}: {count}")
    assert p.result is not None
    assert [it.element.value for it in p.result.out_of(output.edge)] == [
        "to: 2",
        "be: 2",
        "or: 1",
        "not: 1",
    ]


def test_early_and_late_panes_as_in_the_programming_guide():
    windowed = (
        beam.Pipeline()
        | beam.Create([beam.window.TimestampedValue(("k", n), f"00:0{n}:00") for n in range(3)])
        | beam.WindowInto(
            beam.window.FixedWindows("2 minutes"),
            trigger=beam.trigger.AfterWatermark(
                early=beam.trigger.AfterProcessingTime("30 s"), late=beam.trigger.AfterCount(1)
            ),
            accumulation_mode=beam.trigger.AccumulationMode.DISCARDING,
            timestamp_combiner=beam.window.TimestampCombiner.OUTPUT_AT_LATEST,
            allowed_lateness=beam.Duration(seconds=3600),
        )
    )
    assert values(windowed | beam.GroupByKey()) == [("k", [0, 1]), ("k", [2])]


def test_names_and_filters_from_the_transform_catalogue():
    plants = beam.Pipeline() | beam.Create(
        [("spring", "strawberry"), ("spring", "carrot"), ("winter", "leek")]
    )
    groups = {"first": plants, "again": plants | beam.Filter(lambda pair: pair[0] == "winter")}
    assert values(groups | beam.CoGroupByKey()) == [
        ("spring", {"first": ["strawberry", "carrot"], "again": []}),
        ("winter", {"first": ["leek"], "again": ["leek"]}),
    ]
    by_length = plants | beam.Values() | beam.GroupBy(len)
    assert values(by_length) == [(10, ["strawberry"]), (6, ["carrot"]), (4, ["leek"])]
    longest = plants | "V" >> beam.Values() | beam.combiners.Top.Of(1, key=len)
    assert values(longest) == [["strawberry"]]

"""Programs as the documentation of Beam Python writes them, with another import."""

import inspect
from types import ModuleType
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
    for module in (beam.window, beam.trigger, beam.pvalue, beam.transforms):
        assert [name for name in module.__all__ if not hasattr(beam, name)] == [
            name for name in module.__all__ if name not in beam.__all__
        ]
        for name in set(module.__all__) & set(beam.__all__):
            assert same(getattr(module, name), getattr(beam, name))


def same(one: Any, other: Any) -> bool:
    """Whether two names mean the same, or are modules of the same names."""
    if not isinstance(one, ModuleType):
        return one is other
    return all(getattr(one, name) is getattr(other, name) for name in other.__all__)


# What stands in a program, with ``apache_beam`` replaced, and a name that must be there then.
IMPORTS = {
    "from beamlike.beam.coders import BytesCoder": "BytesCoder",
    "from beamlike.beam.combiners import Count": "Count",
    "from beamlike.beam.metrics import Metrics": "Metrics",
    "from beamlike.beam.metrics.metric import MetricsFilter": "MetricsFilter",
    "from beamlike.beam.options.pipeline_options import PipelineOptions": "PipelineOptions",
    "from beamlike.beam.options.pipeline_options import SetupOptions": "SetupOptions",
    "from beamlike.beam.pvalue import AsDict": "AsDict",
    "from beamlike.beam.pvalue import TaggedOutput": "TaggedOutput",
    "from beamlike.beam.transforms import trigger": "trigger",
    "from beamlike.beam.transforms import PTransform": "PTransform",
    "from beamlike.beam.transforms.combiners import Count": "Count",
    "from beamlike.beam.transforms.core import ParDo": "ParDo",
    "from beamlike.beam.transforms.core import WindowInto": "WindowInto",
    "from beamlike.beam.transforms.ptransform import ptransform_fn": "ptransform_fn",
    "from beamlike.beam.transforms.trigger import AccumulationMode": "AccumulationMode",
    "from beamlike.beam.transforms.trigger import AfterWatermark": "AfterWatermark",
    "from beamlike.beam.transforms.userstate import BagStateSpec": "BagStateSpec",
    "from beamlike.beam.transforms.util import BatchElements": "BatchElements",
    "from beamlike.beam.transforms.window import FixedWindows": "FixedWindows",
    "from beamlike.beam.transforms.window import TimestampedValue": "TimestampedValue",
    "from beamlike.beam.trigger import AfterCount": "AfterCount",
    "from beamlike.beam.typehints import with_input_types": "with_input_types",
    "from beamlike.beam.utils.timestamp import Timestamp": "Timestamp",
    "from beamlike.beam.utils.windowed_value import PaneInfoTiming": "PaneInfoTiming",
    "from beamlike.beam.window import FixedWindows": "FixedWindows",
    "import beamlike.beam.transforms.window as window": "window",
}


@pytest.mark.parametrize("line", IMPORTS)
def test_a_module_of_beam_pythons_can_be_imported_by_its_name(line: str):
    program: dict[str, Any] = {}

    exec(line, program)

    name = IMPORTS[line]
    assert inspect.getdoc(program[name])
    if name in beam.__all__:
        assert same(program[name], getattr(beam, name))


FILES = (
    "read with FromDataFrame(spark.read...), TestStream() or Create(...), and write with "
    "WriteRows(...) or to_data_frame(...)"
)
HARNESS = (
    "beamlike.beam has no 'testing'; what tests need is in beamlike.testing: from beamlike.testing "
    "import TestPipeline, TestStream, assert_that, equal_to"
)
OWN_WINDOWS = "window functions of your own are subclasses of beamlike.WindowFn"

REFUSED_IMPORTS = {
    "from beamlike.beam.testing.util import assert_that, equal_to": HARNESS,
    "from beamlike.beam.testing.test_pipeline import TestPipeline": HARNESS,
    "from beamlike.beam.testing.test_stream import TestStream": HARNESS,
    "from beamlike.beam.io import ReadFromText": f"beamlike.beam has no 'io'; {FILES}",
    "import beamlike.beam.io.textio": f"beamlike.beam has no 'io'; {FILES}",
    "from beamlike.beam import io": f"beamlike.beam has no 'io'; {FILES}",
    "from beamlike.beam.runners import DirectRunner": (
        "beamlike.beam has no 'runners'; a pipeline runs in this process, or with "
        'run(host="spark") on Spark'
    ),
    "from beamlike.beam import TestStream": (
        "beamlike.beam has no 'TestStream'; what tests need is in beamlike.testing: from "
        "beamlike.testing import TestStream"
    ),
    "from beamlike.beam.transforms.window import WindowFn": (
        f"beamlike.beam.transforms.window has no 'WindowFn'; {OWN_WINDOWS}"
    ),
    "from beamlike.beam import FixedWindow": "beamlike.beam has no 'FixedWindow'",
    "import beamlike.beam.transforms.sql": "beamlike.beam.transforms has no 'sql'",
}


@pytest.mark.parametrize("line", REFUSED_IMPORTS)
def test_an_import_of_what_is_not_here_says_what_to_write(line: str):
    with pytest.raises(ImportError) as refusal:
        exec(line, {})
    assert str(refusal.value) == REFUSED_IMPORTS[line]


def test_an_attribute_that_is_not_here_says_what_to_write():
    for owner, name, said in (
        (beam, "ReadFromText", f"beamlike.beam has no 'ReadFromText'; {FILES}"),
        (beam, "WindowFn", f"beamlike.beam has no 'WindowFn'; {OWN_WINDOWS}"),
        (beam.window, "WindowFn", f"beamlike.beam.window has no 'WindowFn'; {OWN_WINDOWS}"),
        (beam.trigger, "AfterCounts", "beamlike.beam.trigger has no 'AfterCounts'"),
    ):
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError) as refusal:
            getattr(owner, name)
        assert str(refusal.value) == said


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

"""Programs as the documentation of Beam Python writes them, with another import."""

import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.here import definition
from beamlike.beam.tree import _Absent, names
from beamlike.errors import PipelineError, UnsupportedError
from tests.beam_suite.stubs import FOLDER, write_stubs
from tests.support.pipelines.results_of_runs import values
from tests.support.refusals import refusal


def test_every_name_is_there_and_says_what_it_is():
    assert [name for name in beam.__all__ if not inspect.getdoc(getattr(beam, name))] == []


def public(module: ModuleType) -> list[str]:
    """The names of a module of Beam that are here."""
    return [name for name in module.__all__ if not isinstance(getattr(module, name), _Absent)]


def test_every_module_of_beam_has_every_name():
    here = {module: import_module(f"beamlike.beam.{module}") for module in names() if module}
    absent = {
        f"{module}.{name}"
        for module, found in here.items()
        for name in names()[module]
        if getattr(found, name, None) is None
    }
    assert absent == set()


def test_a_name_means_the_same_in_every_module():
    for module in (beam.window, beam.trigger, beam.pvalue, beam.transforms, beam.transforms.core):
        for name in {*public(module)} & {*beam.__all__}:
            if not isinstance(getattr(beam, name), ModuleType):
                assert getattr(module, name) is getattr(beam, name)
    for name, (module, original) in names()[""].items():
        if name in beam.__all__ and original:
            assert definition(module, original) is getattr(beam, name)


# What stands in a program, with ``apache_beam`` replaced, and a name that must be there then. That
# each name is in each of its modules is asked above.
IMPORTS = {
    "import beamlike.beam.runners.interactive.interactive_beam as ib": "ib",
    "from beamlike.beam import io": "io",
    "from beamlike.beam.coders.coders import Coder": "Coder",
    "from beamlike.beam.io.gcp.bigquery import WriteToBigQuery": "WriteToBigQuery",
    "from beamlike.beam.testing.util import assert_that, equal_to": "assert_that",
    "from beamlike.beam.transforms import trigger": "trigger",
    "from beamlike.beam.transforms.core import WindowInto": "WindowInto",
    "from beamlike.beam.transforms.window import TimestampedValue": "TimestampedValue",
    "from beamlike.beam.typehints import Dict, List, Tuple": "Tuple",
}


@pytest.mark.parametrize("line", IMPORTS)
def test_an_import_of_beam_works_by_another_beginning(line: str):
    program: dict[str, Any] = {}
    exec(line, program)
    name = IMPORTS[line]
    assert inspect.getdoc(program[name])
    if name in beam.__all__ and not isinstance(program[name], ModuleType):
        assert program[name] is getattr(beam, name)


@pytest.mark.parametrize("line", ["import beamlike.beam.io.textile", "import beamlike.beam.text"])
def test_a_module_that_beam_does_not_have_is_not_here_either(line: str):
    with pytest.raises(ModuleNotFoundError):
        exec(line, {})


SDK = 'install "beamlike[beam]" and run the pipeline of Beam\'s own SDK with BeamlikeRunner'
BIG_QUERY = "apache_beam.io.gcp.bigquery.ReadFromBigQuery"


def test_what_is_not_here_fails_when_it_is_used():
    class MyWatch(beam.io.watch.Watch):  # type: ignore[misc,name-defined]
        pass

    uses = {
        BIG_QUERY: lambda: beam.io.ReadFromBigQuery("a.b"),
        "apache_beam.io.watch.Watch": MyWatch,
        "apache_beam.io.mongodbio.ReadFromMongoDB": (
            lambda: beam.io.mongodbio.ReadFromMongoDB.expand
        ),
        "apache_beam.utils.histogram.Histogram": lambda: beam.utils.histogram.Histogram(),
    }
    for name, use in uses.items():
        assert refusal(UnsupportedError, use) == (f"{name} is not in beamlike.beam; {SDK}")
    assert repr(beam.io.ReadFromBigQuery) == f"<{BIG_QUERY}, which is not here>"
    assert not hasattr(beam.io.ReadFromBigQuery, "expand")


OF_BEAMS_SDK: dict[str, Callable[[], Any]] = {
    "coders.coders.TupleCoder": lambda: beam.coders.TupleCoder(()),
    "transforms.trigger.DataLossReason": lambda: beam.trigger.DataLossReason.MAY_FINISH,
    "transforms.core.Windowing": lambda: beam.transforms.core.Windowing(beam.GlobalWindows()),
    "transforms.error_handling.ErrorHandler": (
        lambda: beam.transforms.error_handling.ErrorHandler(beam.Map(print))
    ),
    "transforms.stats.ApproximateUnique": lambda: beam.ApproximateUnique.Globally(16),
    "utils.sharded_key.ShardedKey": lambda: beam.transforms.util.ShardedKey("key", b""),
    "coders.row_coder.RowCoder": lambda: beam.coders.RowCoder(dict),
    "io.avroio.ReadFromAvro": lambda: beam.io.ReadFromAvro("in.avro"),
    "io.filebasedsink.FileBasedSink": lambda: beam.io.filebasedsink.FileBasedSink("out", None),
    "io.fileio.MatchFiles": lambda: beam.io.fileio.MatchFiles("*"),
    "io.filesystems.FileSystems": lambda: beam.io.filesystems.FileSystems.match(["*"]),
    "io.iobase.Read": lambda: beam.io.Read(None),
    "io.parquetio.WriteToParquet": lambda: beam.io.WriteToParquet("out", None),
    "io.restriction_trackers.OffsetRange": (lambda: beam.io.restriction_trackers.OffsetRange(0, 1)),
    "io.textio.ReadFromCsv": lambda: beam.io.ReadFromCsv("in.csv"),
    "io.tfrecordio.ReadFromTFRecord": lambda: beam.io.ReadFromTFRecord("in"),
    "options.pipeline_options.WorkerOptions": (
        lambda: beam.options.pipeline_options.WorkerOptions()
    ),
    "options.value_provider.StaticValueProvider": (
        lambda: beam.options.value_provider.StaticValueProvider(int, 1)
    ),
    "pipeline.PipelineVisitor": lambda: beam.pipeline.PipelineVisitor(),
    "transforms.error_handling.CollectingErrorHandler": (
        lambda: beam.transforms.error_handling.CollectingErrorHandler()
    ),
    "transforms.util.BatchElements": lambda: beam.transforms.util.BatchElements(),
    "utils.shared.Shared": lambda: beam.utils.shared.Shared(),
    "transforms.core.RestrictionProvider": lambda: beam.transforms.core.RestrictionProvider(),
    "transforms.util.LogElements": lambda: beam.transforms.util.LogElements(),
    "transforms.util.Regex": lambda: beam.transforms.util.Regex.find("a"),
    "transforms.util.Tee": lambda: beam.transforms.util.Tee(),
    "typehints.trivial_inference.infer_return_type": (
        lambda: beam.typehints.trivial_inference.infer_return_type(len, [str])
    ),
    "utils.retry.with_exponential_backoff": lambda: beam.utils.retry.with_exponential_backoff(),
}


@pytest.mark.parametrize("name", OF_BEAMS_SDK)
def test_what_only_beams_sdk_has_is_refused_by_its_name(name: str):
    with pytest.raises(UnsupportedError) as refusal:
        OF_BEAMS_SDK[name]()
    assert str(refusal.value) == f"apache_beam.{name} is not in beamlike.beam; {SDK}"


def declare(option: str) -> Any:
    class Late(beam.PipelineOptions):
        @classmethod
        def _add_argparse_args(cls, parser: Any) -> None:
            parser.add_value_provider_argument(option)

    return Late([])


def applied(transform: Any) -> Any:
    return beam.Pipeline() | beam.Create([1, 2]) | transform


class OfBatches(beam.DoFn[int, int]):
    def process_batch(self, batch: list[int]) -> Iterator[list[int]]:
        yield batch


METHODS: dict[str, Callable[[], Any]] = {
    "DoFn.BundleContextParam": lambda: beam.DoFn.BundleContextParam(open),
    "DoFn.SetupContextParam": lambda: beam.DoFn.SetupContextParam(open),
    "DoFn.process_batch": lambda: applied(beam.ParDo(OfBatches())),
    "DoFn.yields_batches": lambda: beam.DoFn.yields_batches(len),
    "DoFn.yields_elements": lambda: beam.DoFn.yields_elements(len),
    "GroupIntoBatches.WithShardedKey": lambda: beam.GroupIntoBatches.WithShardedKey(2),
    "ParDo.with_error_handler": lambda: beam.Map(int).with_error_handler(None),
    "Map(abs) | Map(str)": lambda: beam.Map(abs) | beam.Map(str),
    **{
        f"with_exception_handling({name}=...)": (
            lambda name=name: beam.Map(int).with_exception_handling(**{name: 0.5})
        )
        for name in ("error_handler", "on_failure_callback", "threshold", "threshold_windowing")
    },
    "DoFn.RestrictionParam": lambda: beam.DoFn.RestrictionParam(),
    "DoFn.WatermarkEstimatorParam": lambda: beam.DoFn.WatermarkEstimatorParam(),
    "DoFn.unbounded_per_element": lambda: beam.DoFn.unbounded_per_element(),
    "CombineGlobally.as_singleton_view": lambda: beam.CombineGlobally(sum).as_singleton_view(),
    "PipelineRunner.run": lambda: beam.runners.DirectRunner().run(beam.Create([1])),
    "ReadFromText(delimiter=...)": lambda: beam.io.ReadFromText("in", delimiter=b";"),
    "ReadAllFromText(escapechar=...)": lambda: beam.io.ReadAllFromText(escapechar=b"-"),
    "WriteToText(max_bytes_per_shard=...)": (
        lambda: beam.io.WriteToText("out", max_bytes_per_shard=9)
    ),
    "WriteToText(triggering_frequency=...)": (
        lambda: beam.io.WriteToText("out", triggering_frequency=60)
    ),
    "WriteToText(shard_name_template=...)": (
        lambda: beam.io.WriteToText("out", shard_name_template="-SS")
    ),
    "MetricsFilter.with_names": lambda: beam.MetricsFilter().with_names(["seen"]),
    "Pipeline.display_data": lambda: beam.Pipeline().display_data(),
    "ptransform_fn of a function with type_hints": (
        lambda: beam.ptransform_fn(lambda pcoll, type_hints: pcoll)
    ),
    "Pipeline.visit": lambda: beam.Pipeline().visit(None),
    "with_exception_handling(timeout=...)": (
        lambda: beam.Map(int).with_exception_handling(timeout=1)
    ),
    "with_exception_handling(use_subprocess=...)": (
        lambda: beam.Map(int).with_exception_handling(use_subprocess=True)
    ),
    "add_value_provider_argument": lambda: declare("--start"),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_only_beams_sdk_has_is_refused_by_its_name(name: str):
    assert refusal(UnsupportedError, METHODS[name]) == (
        f'{name} is for Beam\'s own SDK; install "beamlike[beam]", import apache_beam, and run the '
        "pipeline with --runner=beamlike.BeamlikeRunner"
    )


def test_what_is_not_here_may_stand_in_hints_and_in_except_clauses():
    def write(to: beam.io.watch.Watch[int] | None) -> str:
        try:
            raise LookupError(to)
        except beam.utils.retry.PermanentException:
            return "Beam's error"
        except LookupError:
            return "another error"

    assert write(None) == "another error"


def test_an_attribute_that_beam_does_not_have_is_not_here_either():
    for owner, name, said in (
        (beam, "FixedWindow", "beamlike.beam has no 'FixedWindow', nor has Beam"),
        (beam.trigger, "AfterCounts", "beamlike.beam.transforms.trigger has no 'AfterCounts', nor"),
    ):
        assert not hasattr(owner, name)
        assert refusal(AttributeError, getattr, owner, name).startswith(said)


def test_a_program_of_beam_runs_as_it_is_where_the_package_answers_for_beam():
    program = """
import apache_beam as beam
from apache_beam.testing.test_pipeline import TestPipeline
from apache_beam.testing.util import assert_that, equal_to
import apache_beam.transforms.window

with TestPipeline() as pipeline:
    assert_that(pipeline | beam.Create([1, 2]) | beam.Map(lambda x: 2 * x), equal_to([2, 4]))
windows = apache_beam.transforms.window
"""
    ran: dict[str, Any] = {}
    with beam.install_as("apache_beam"):
        exec(program, ran)
        assert sys.modules["apache_beam"] is beam
        assert ran["windows"] is beam.transforms.window
    assert "apache_beam" not in sys.modules
    assert beam.__spec__.name == "beamlike.beam"


def test_what_had_the_name_before_has_it_afterwards(tmp_path: Path, monkeypatch: Any):
    (tmp_path / "another_beam.py").write_text("here = 1")
    monkeypatch.syspath_prepend(tmp_path)
    before = import_module("another_beam")
    alias = beam.install_as("another_beam")
    assert import_module("another_beam.transforms.window") is beam.window
    alias.remove()
    alias.remove()
    assert import_module("another_beam") is before


@pytest.mark.parametrize("name", ["", "apache.beam", 5, "beamlike"])
def test_only_a_package_can_be_answered_for(name: Any):
    assert refusal(PipelineError, lambda: beam.install_as(name)) == (
        f'the name must be that of a package such as "apache_beam", got {name!r}'
    )


def test_type_checkers_see_what_is_here(tmp_path: Path):
    write_stubs(tmp_path)
    assert texts(tmp_path) == texts(FOLDER), "run python -m tests.beam_suite --names"


def texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.pyi")}


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

"""What the result of a run keeps: what comes out at the ends, and what it is asked to keep."""

from pathlib import Path
from typing import Any, get_args

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.options import Host
from beamlike.beam.testing.test_stream import TestStream
from beamlike.errors import PipelineError, TestStreamError
from beamlike.runtime.graph.outputs import KEPT_LOST, PipelineRun
from beamlike.testing import TestPipeline, equal_to, inside
from beamlike.testing.pipelines.beam import assert_that
from tests.support.pipelines.files import HOSTS

WORDS = ("to be", "or not", "to be")


def pairs_of(line: str) -> list[tuple[str, int]]:
    return [(word, 1) for word in line.split()]


def values(result: Any, pcoll: beam.PCollection[Any]) -> list[Any]:
    return sorted(output.element.value for output in result.out_of(pcoll.edge))


def refusal(label: str) -> str:
    return (
        f"what came out of {label} was not kept: a run keeps what no other transform reads and a "
        "variable holds, and streams everything else on; call pipeline.keep(collection) before "
        "run()"
    )


def kept(run: PipelineRun) -> dict[str, int]:
    """How many elements are kept, by the label of what they came out of."""
    return {edge.node.label: len(came) for edge, came in run.came.items() if came}


@HOSTS
def test_a_run_keeps_what_nothing_reads_and_a_variable_holds(host: Any) -> None:
    pipeline = beam.Pipeline()
    lines = pipeline | "Lines" >> beam.Create(WORDS)
    pairs = lines | "Pairs" >> beam.FlatMap(pairs_of)
    counts = pairs | "Counts" >> beam.CombinePerKey(sum)
    pairs | "Printed" >> beam.Map(str)
    result = pipeline.run(host)
    assert kept(result.outputs) == {"Counts": 4}
    assert values(result, counts) == [("be", 2), ("not", 1), ("or", 1), ("to", 2)]
    for pcoll, label in ((lines, "'Lines'"), (pairs, "'Pairs'")):
        with pytest.raises(PipelineError) as refused:
            result.out_of(pcoll.edge)
        assert str(refused.value) == refusal(label)


@HOSTS
def test_a_pipeline_keeps_what_it_is_asked_to_keep(host: Any):
    pipeline = beam.Pipeline()
    lines = pipeline | "Lines" >> beam.Create(WORDS)
    pairs = lines | "Pairs" >> beam.FlatMap(pairs_of)
    counts = pairs | "Counts" >> beam.CombinePerKey(sum)
    printed = (counts | "Printed" >> beam.Map(str)).edge
    pipeline.keep(lines, counts)
    result = pipeline.run(host)
    assert values(result, lines) == ["or not", "to be", "to be"]
    assert values(result, counts) == [("be", 2), ("not", 1), ("or", 1), ("to", 2)]
    with pytest.raises(PipelineError) as refused:
        result.out_of(printed)
    assert str(refused.value) == refusal("'Printed'")


@HOSTS
def test_a_pipeline_that_keeps_everything_shows_what_happens_inside_of_it(host: Any) -> None:
    pipeline = beam.Pipeline()
    lines = pipeline | "Lines" >> beam.Create(WORDS)
    counts = lines | "Pairs" >> beam.FlatMap(pairs_of) | "Counts" >> beam.CombinePerKey(sum)
    counts | "Printed" >> beam.Map(str)
    pipeline.keep()
    result = pipeline.run(host)
    assert kept(result.outputs) == {"Lines": 3, "Pairs": 6, "Counts": 4, "Printed": 4}
    assert len(inside(result, "Counts").run.panes) == 4


@HOSTS
def test_a_plain_run_has_no_record_of_what_happens_inside_of_it(host: Any) -> None:
    pipeline = beam.Pipeline()
    _ = pipeline | "Lines" >> beam.Create([("a", 1)]) | "Counts" >> beam.CombinePerKey(sum)
    result = pipeline.run(host)
    assert result.outputs.groupings == ()
    with pytest.raises(TestStreamError) as refused:
        inside(result)
    assert str(refused.value) == (
        "inside: no record was kept of what happened inside of this pipeline; call "
        "pipeline.keep() before run(), or make a TestPipeline"
    )


@HOSTS
def test_outputs_by_name_are_kept_if_a_variable_holds_them_together(host: Any) -> None:
    pipeline = beam.Pipeline()
    numbers = pipeline | "Numbers" >> beam.Create([1, 2, 3])
    parity = numbers | "Parity" >> beam.FlatMap(
        lambda n: [beam.pvalue.TaggedOutput("odd" if n % 2 else "even", n)]
    ).with_outputs("odd", "even")
    parity.even | "Doubled" >> beam.Map(lambda n: 2 * n)
    result = pipeline.run(host)
    assert values(result, parity.odd) == [1, 3]
    with pytest.raises(PipelineError) as refused:
        result.out_of(parity.even.edge)
    assert str(refused.value) == refusal("'Parity', output 'even'")


@pytest.mark.parametrize("host", ["memory", "local"])
def test_outputs_of_any_name_are_kept_if_a_variable_holds_them_together(host: Host) -> None:
    pipeline = beam.Pipeline()
    tagged = (
        pipeline
        | beam.Create([1, 2, 3])
        | beam.FlatMap(
            lambda n: [beam.pvalue.TaggedOutput("odd" if n % 2 else "even", n)]
        ).with_outputs()
    )
    result = pipeline.run(host)
    assert values(result, tagged.odd) == [1, 3]
    assert values(result, tagged.even) == [2]


@pytest.mark.parametrize("host", get_args(Host)[:2])
def test_a_test_keeps_everything(host: Host) -> None:
    with TestPipeline(host=host) as pipeline:
        lines = pipeline | "Lines" >> beam.Create(WORDS)
        lines | "Pairs" >> beam.FlatMap(pairs_of) | "Counts" >> beam.CombinePerKey(sum)
    assert pipeline.result is not None
    assert kept(pipeline.result.outputs) == {"Lines": 3, "Pairs": 6, "Counts": 4}
    assert len(inside(pipeline).run.panes) == 4


def test_a_pipeline_about_which_something_is_asserted_keeps_everything() -> None:
    pipeline = beam.Pipeline()
    lines = pipeline | "Lines" >> beam.Create(WORDS)
    lines | "Pairs" >> beam.FlatMap(pairs_of)
    assert_that(lines, equal_to(WORDS))
    assert kept(pipeline.run().outputs) == {"Lines": 3, "Pairs": 6}


def test_only_collections_of_the_pipeline_can_be_kept() -> None:
    pipeline = beam.Pipeline()
    other = beam.Pipeline() | "Others" >> beam.Create([1])
    for wrong, shown in ((other, "<PCollection of 'Others'>"), ("Lines", "'Lines'")):
        with pytest.raises(PipelineError) as refused:
            pipeline.keep(wrong)  # type: ignore[arg-type]
        assert str(refused.value) == (
            f"keep takes collections of this pipeline, got {shown}; write "
            "pipeline.keep(collection), or pipeline.keep() for everything"
        )


# -- on Spark ---------------------------------------------------------------------------------

WRITTEN = (
    "a pipeline that reads DataFrames, or writes on Spark, keeps nothing in the driver; read what "
    'it wrote, or run it over created elements with host="local"'
)


@pytest.mark.spark
def test_a_pipeline_that_writes_on_spark_keeps_only_what_it_is_asked_to_keep(
    spark: Any, tmp_path: Path
) -> None:
    pipeline = beam.Pipeline()
    lines = pipeline | "Lines" >> beam.Create(WORDS)
    _ = lines | beam.io.WriteToText(str(tmp_path / "plain"))
    with pytest.raises(PipelineError) as refused:
        pipeline.run("spark", spark).out_of(lines.edge)
    assert str(refused.value) == f"what came out of 'Lines' was not kept: {WRITTEN}"
    pipeline.keep(lines)
    assert values(pipeline.run("spark", spark), lines) == ["or not", "to be", "to be"]


@pytest.mark.spark
def test_nothing_of_a_pipeline_that_reads_dataframes_can_be_kept(spark: Any) -> None:
    pipeline = beam.Pipeline()
    pipeline.keep(pipeline | "Rows" >> beam.FromDataFrame(spark.range(3)))
    with pytest.raises(PipelineError) as refused:
        pipeline.run("spark", spark)
    assert str(refused.value) == f"keep cannot keep what comes out of 'Rows': {WRITTEN}"


@pytest.mark.nightly
@HOSTS
def test_a_side_input_of_a_million_items_is_seen(host: Any) -> None:
    pipeline = beam.Pipeline()
    side = pipeline | "Side" >> beam.Create(range(1_000_000))
    main = pipeline | "Main" >> beam.Create(range(5))
    seen = main | beam.Map(lambda number, side: (number, len(side)), beam.pvalue.AsList(side))
    result = pipeline.run(host)
    assert values(result, seen) == [(number, 1_000_000) for number in range(5)]


@HOSTS
def test_of_what_is_lost_the_newest_is_kept_and_all_is_counted(host: Any) -> None:
    count = KEPT_LOST + 5
    pipeline = beam.Pipeline()
    elements = [beam.window.TimestampedValue(("a", number), 5) for number in range(count)]
    late = pipeline | TestStream().advance_watermark_to(1_000).add_elements(elements)
    windows = late | beam.WindowInto(beam.FixedWindows("10 s"), allowed_lateness=0)
    _ = windows | "Sum" >> beam.CombinePerKey(sum)

    result = pipeline.run(host)

    assert len(result.lost) == KEPT_LOST
    assert result.lost_counts == {("Sum", "expired"): count}

"""Pipelines on a real streaming query, many side by side: the same comes out as in memory."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.errors import PipelineTypeError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.spark.graph import query
from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from tests.support.generated.early_combining import any_combined
from tests.support.generated.pipelines import any_pipeline
from tests.support.pipelines.results_of_runs import readable_run

pytestmark = pytest.mark.spark


@pytest.mark.nightly
def test_random_pipelines_give_on_spark_what_they_give_in_memory(spark: Any) -> None:
    compared([any_pipeline(Random(seed)) for seed in range(40)], spark)


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_random_streams_are_combined_early_on_spark_as_in_memory(spark: Any) -> None:
    compared([any_combined(Random(seed)) for seed in range(30)], spark)


def test_random_pipelines_that_end_give_the_same_in_one_job(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "_playing", None)  # no streaming query is started

    compared([any_pipeline(Random(seed), ends=True) for seed in range(40)], spark)


def compared(pipelines: Sequence[Pipeline], spark: Any) -> None:
    """Run pipelines on Spark and in memory, and compare all that comes out."""
    in_memory = [run_pipeline(pipeline.nodes) for pipeline in pipelines]
    scripted = [
        Scripted(pipeline.nodes, list(run.came))
        for pipeline, run in zip(pipelines, in_memory, strict=True)
    ]

    on_spark = run_pipelines_on_spark(scripted, spark)

    for seed, (found, wanted) in enumerate(zip(on_spark, in_memory, strict=True)):
        assert readable_run(found) == readable_run(wanted), f"seed {seed}"
        assert found.metrics == wanted.metrics, f"seed {seed}"


@pytest.mark.parametrize(
    ("transform", "kind", "words"),
    [
        (Map(lambda number: 1 / number), ZeroDivisionError, "'Fails' raised ZeroDivisionError: "),
        (Map(lambda number: {}[number]), KeyError, "'Fails' raised KeyError: 0"),
        (FlatMap(lambda number: number), PipelineTypeError, "'Fails' returned 0 for one element"),
    ],
)
def test_what_a_worker_raises_has_the_type_that_it_has_in_this_process(
    transform: Any, kind: type[Exception], words: str, spark: Any
) -> None:
    pipeline = Pipeline()
    _ = pipeline | Create([0]) | "Fails" >> transform

    for host in ("local", "spark"):
        with pytest.raises(kind, match=words):
            pipeline.run(host, spark if host == "spark" else None)


@pytest.mark.parametrize("fanout", [1, 3])
def test_rows_of_many_partitions_are_summed_up(spark: Any, fanout: int) -> None:
    rows = spark.range(100_000).repartition(8)
    numbers = beam.Pipeline() | beam.FromDataFrame(rows) | beam.Map(lambda row: row.id)
    total = numbers | beam.CombineGlobally(sum).with_fanout(fanout)

    (row,) = beam.to_data_frame(total, "total long").collect()

    assert row.total == sum(range(100_000))


def test_a_stream_of_rows_is_combined_early_and_what_is_late_is_counted(spark: Any, tmp_path: Path):
    (tmp_path / "in").mkdir()
    schema = "key string, at timestamp, v long"
    rows = (
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(tmp_path / "in"))
    )
    pairs = (
        beam.Pipeline()
        | beam.FromDataFrame(rows, timestamp="at", watermark="0 seconds")
        | beam.Map(lambda row: (row.key, row.v))
        | beam.WindowInto(beam.FixedWindows(60))
    )
    hot = beam.CombinePerKey(sum).with_hot_key_fanout(2)
    sums = beam.to_data_frame(pairs | hot, "key string, s long")
    arrivals = [
        [("a", 0, 1), ("a", 30, 2), ("b", 59, 4)],
        [("a", 130, 8), ("a", 131, 16)],
        [("a", 1, 32), ("a", 2, 64), ("b", 125, 128)],  # two are late
        [("c", 600, 256)],
        [("c", 601, 512)],
    ]
    for number, elements in enumerate(arrivals):
        lines = (
            json.dumps({"key": key, "at": f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z", "v": v})
            for key, at, v in elements
        )
        (tmp_path / "in" / f"{number}.json").write_text("\n".join(lines))
        os.utime(tmp_path / "in" / f"{number}.json", (number, number))

    query = (
        sums.writeStream.format("memory")
        .queryName("sums")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    try:
        query.processAllAvailable()
        found = sorted((row.key, row.s) for row in spark.table("sums").collect())
        counts = [one.observedMetrics for one in query.recentProgress]
    finally:
        query.stop()
        spark.catalog.dropTempView("sums")

    assert found == [("a", 3), ("a", 24), ("b", 4), ("b", 128)]
    expired = [counts_of["CombinePerKey(sum)"].dropped_expired for counts_of in counts if counts_of]
    assert sum(expired) == 2

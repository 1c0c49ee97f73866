"""Pipelines on a real streaming query, many side by side: the same comes out as in memory."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from beamlike.api.pipelines.elements import Create, FlatMap, Map
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.errors import PipelineTypeError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.spark.graph import query
from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from tests.support.generated.pipelines import any_pipeline
from tests.support.pipelines.results_of_runs import readable_run

pytestmark = pytest.mark.spark


@pytest.mark.nightly
def test_random_pipelines_give_on_spark_what_they_give_in_memory(spark: Any) -> None:
    compared([any_pipeline(Random(seed)) for seed in range(40)], spark)


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

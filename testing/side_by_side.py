"""Tests of pipelines that are played together: one streaming query of Spark for all of them.

Starting a query costs seconds and a step a fraction of one, whatever it holds. So pipelines of many
tests go side by side, step n of all of them in one micro-batch, and share nothing but the query.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING

import attrs

from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.hosts.pipeline import PipelineRun
from beamlike.testing.pipelines import TestPipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Played", "play_on_spark"]

Build = Callable[[ScioContext], None]
"""Builds a pipeline and asserts things of it; whoever calls it runs it."""


@attrs.frozen
class Played:
    """A pipeline that was played, with what was asserted of it; or what went wrong building it."""

    pipeline: TestPipeline
    outcome: PipelineRun | Exception

    def check(self) -> None:
        """Ask everything that was asserted.

        Raises:
            PaneAssertionError: Some of it does not hold.
        """
        __tracebackhide__ = True
        if isinstance(self.outcome, Exception):
            raise self.outcome
        self.pipeline.checks.evaluate(self.outcome)


def play_on_spark(
    builds: Mapping[Hashable, Build], spark: "SparkSession"
) -> dict[Hashable, Played]:
    """Build pipelines and play them in one query.

    Raises:
        TransformError: A function of the user's raised in one of them.
    """
    from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark

    built: dict[Hashable, TestPipeline] = {}
    played: dict[Hashable, Played] = {}
    for name, build in builds.items():
        pipeline = TestPipeline()
        try:
            build(ScioContext(pipeline))
            built[name] = pipeline
        except Exception as failure:  # of this one: the others run all the same
            played[name] = Played(pipeline, failure)
        pipeline.checks.give_up()
    scripted = [Scripted(pipeline.nodes, pipeline.outputs) for pipeline in built.values()]
    runs = run_pipelines_on_spark(scripted, spark)
    for (name, pipeline), run in zip(built.items(), runs, strict=True):
        played[name] = Played(pipeline, run)
    return played

"""Tests of pipelines that are played together: one streaming query of Spark for all of them.

Starting a query costs seconds and a step a fraction of one, whatever it holds. So pipelines of many
tests go side by side, step n of all of them in one micro-batch, and share nothing but the query.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING

import attrs

from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.errors import BeamlikeError, TransformError
from beamlike.hosts.in_process import run_pipeline
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.pipelines.contexts import TestPipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Build = Callable[[ScioContext], None]
"""Builds a pipeline and asserts things of it; whoever calls it runs it."""


@attrs.frozen
class Played:
    """A pipeline that was played, with what was asserted of it."""

    pipeline: TestPipeline
    outcome: PipelineRun | Exception | None = None
    refused: Exception | None = None

    def check(self) -> None:
        """Ask everything that was asserted."""
        __tracebackhide__ = True
        if self.refused is not None:
            raise self.refused
        if isinstance(self.outcome, Exception):
            self.pipeline.checks.evaluate_error(self.outcome)
        elif self.outcome is not None:
            self.pipeline.checks.evaluate(self.outcome)


Group = dict[Hashable, TestPipeline]


def play_on_spark(
    builds: Mapping[Hashable, Build], spark: "SparkSession"
) -> dict[Hashable, Played]:
    """Build pipelines and play them in one query.

    A pipeline that is to end with an error has a query of its own. One that raises without having
    said so ends the query; the others are then played again without it.
    """
    built: Group = {}
    played: dict[Hashable, Played] = {}
    for name, build in builds.items():
        pipeline = TestPipeline()
        try:
            build(ScioContext(pipeline))
            pipeline.wiring.check_that_all_was_met()
            built[name] = pipeline
        except Exception as failure:  # of this one: the others run all the same
            played[name] = Played(pipeline, refused=failure)
        pipeline.checks.give_up()
    alone = {name: it for name, it in built.items() if it.checks.wants_error}
    together = {name: it for name, it in built.items() if name not in alone}
    groups = [together, *({name: it} for name, it in alone.items())]
    for group in groups:
        for name, outcome in _play(group, spark).items():
            played[name] = Played(built[name], outcome)
    return played


def _play(group: Group, spark: "SparkSession") -> dict[Hashable, PipelineRun | Exception]:
    """What comes out of pipelines in one query, or in several if one of them raises."""
    from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark

    if not group:
        return {}
    scripted = [Scripted(pipeline.nodes, pipeline.outputs) for pipeline in group.values()]
    try:
        return dict(zip(group, run_pipelines_on_spark(scripted, spark), strict=True))
    except BeamlikeError as failure:  # anything else is none of the pipelines'
        if len(group) == 1:
            return dict.fromkeys(group, failure)
        suspects = _suspects(group, failure)
    others = {name: it for name, it in group.items() if name not in suspects}
    return _play(others, spark) | _play(suspects, spark)


def _suspects(group: Group, failure: BeamlikeError) -> Group:
    """Some of the pipelines, but not all, one of which is likely to have raised this."""
    likely = group
    if isinstance(failure, TransformError):
        likely = {
            name: it
            for name, it in group.items()
            if any(node.label == failure.label for node in it.nodes)
        }
    for narrowed in ({name: it for name, it in likely.items() if _raises(it)}, likely):
        if 0 < len(narrowed) < len(group):
            return narrowed
    names = list(group)
    return {name: group[name] for name in names[: len(names) // 2]}


def _raises(pipeline: TestPipeline) -> bool:
    """Whether a pipeline raises in memory, which is quickly found out."""
    try:
        run_pipeline(pipeline.nodes)
    except BeamlikeError:
        return True
    return False

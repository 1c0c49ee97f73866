"""Scripts on a real streaming query: graphs of two nodes, run as pipelines of test streams are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from beamlike.errors import UserFunctionError
from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from beamlike.hosts.spark.session import local_session
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import CombineFn
from beamlike.runtime.graph.scripted_graph import ScriptedGraph, Stage
from beamlike.runtime.script import Run, Script

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def replay_on_spark(
    stages: Sequence[tuple[Stage, CombineFn | None, Script]],
    spark: "SparkSession | None" = None,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> list[Run]:
    """Run many scripts side by side in one streaming query, step n of all in one micro-batch.

    Returns what `run_in_memory` returns for each, without trace.

    Args:
        stages: What each script is for, the combine function of a strategy, and the script.
        spark: The session; None takes the active one or starts one.
        on_error: What strategies do when a function of the user's raises, as `Grouping`.

    Raises:
        UnsupportedError: A strategy has no combine function, or its state has no layout on Spark;
            or a script moves the watermark of a side input.
        WatermarkError: A script moves a clock back.
        UserFunctionError: A function of the user's raised, and that is to be reported. Its cause is
            of the type of what was raised, with the user's frames.
    """
    graphs: list[ScriptedGraph] = []
    first = 0
    for stage, combine, script in stages:
        graph = ScriptedGraph.of(stage, combine, script, on_error, first)
        graphs.append(graph)
        first += len(graph.keys)
    pipelines = [Scripted([graph.node], kept=frozenset(), notes=True) for graph in graphs]
    session = spark or local_session("beamlike replay")
    try:
        runs = run_pipelines_on_spark(pipelines, session, shards=1)
    except UserFunctionError as error:
        blamed = [graph for graph in graphs if graph.names(error)]
        raise next((graph.named(error) for graph in blamed), error) from error.__cause__
    played = zip(graphs, runs, strict=True)
    return [graph.run_of(run.inside(graph.node)) for graph, run in played]

"""Scripts on the local host: a graph of two nodes, run as a pipeline is.

The stage is stepped as a shard is in a streaming query: its elements come as Arrow tables, its
state is saved as bytes between any two steps, and the columnar machine steps it wherever it can.
"""

from beamlike.errors import UserFunctionError
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import CombineFn
from beamlike.runtime.graph.scripted_graph import ScriptedGraph, Stage
from beamlike.runtime.script import Run, Script


def run_in_local(
    stage: Stage,
    combine: CombineFn | None,
    script: Script,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> Run:
    """Run a script from the beginning of time, each step as a micro-batch of its own.

    Args:
        stage: A strategy, a window function that only assigns, or another machine.
        combine: The combine function of a strategy.
        script: What happens.
        on_error: What a strategy does when a function of the user's raises.

    Raises:
        UnsupportedError: A strategy without a combine function, or one whose state has no layout;
            or the script moves the watermark of a side input.
        WatermarkError: The script moves a clock back.
        UserFunctionError: A function of the user's raised, and that is to be reported.
    """
    graph = ScriptedGraph.of(stage, combine, script, on_error)
    try:
        run = run_pipeline([graph.node], local_worker_of)
    except UserFunctionError as error:
        raise graph.named(error) from error.__cause__
    return graph.run_of(run.inside(graph.node))

"""Where a pipeline runs: its nodes on one of the hosts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, get_args

import attrs

from beamlike.api.pipelines.keeping import EdgesToKeep
from beamlike.api.pipelines.on_spark import SparkOptions, run_on_spark
from beamlike.api.pipelines.options import Host
from beamlike.api.pipelines.result import PipelineResult
from beamlike.errors import PipelineError
from beamlike.hosts.in_process import run_pipeline
from beamlike.model.graph import Edge, Node

if TYPE_CHECKING:
    from beamlike.hosts.spark.graph.running import Sink


@attrs.frozen
class Built:
    """A pipeline that is built.

    Args:
        nodes: Its graph.
        outputs: The outputs that have a collection.
        sinks: Where rows are written.
        writes: Whether functions of it write.
        kept: The outputs that the result keeps; None: all, and what happens inside of groupings,
            also if it writes.
    """

    nodes: Sequence[Node]
    outputs: Sequence[Edge]
    sinks: "Sequence[Sink]"
    writes: bool
    kept: EdgesToKeep | None


def run_on(host: Host, built: Built, options: SparkOptions) -> PipelineResult:
    """Run it.

    Raises:
        PipelineError: There is no such host, or it does not run this, or not with these options.
    """
    if host not in get_args(Host):
        raise PipelineError(f'host must be "memory", "local" or "spark", got {host!r}')
    if host == "spark":
        return run_on_spark(
            built.nodes,
            built.outputs,
            built.sinks,
            options,
            writes=built.writes,
            kept=built.kept,
        )
    if options != SparkOptions():
        chosen = attrs.asdict(options, recurse=False)
        name = next(name for name, value in chosen.items() if value is not None)
        what = "a Spark session" if name == "spark" else f"{name}="
        raise PipelineError(f'{what} was given, but the host is "{host}"; add host="spark"')
    if built.sinks:
        label = built.sinks[0].edge.node.label
        raise PipelineError(
            f'what {label!r} brings out is written as rows, which Spark does: run(host="spark")'
        )
    records = built.kept is None
    if host == "memory":
        return PipelineResult(run_pipeline(built.nodes, kept=built.kept, records=records))
    from beamlike.hosts.local.nodes import local_worker_of

    run = run_pipeline(built.nodes, local_worker_of, kept=built.kept, records=records)
    return PipelineResult(run)

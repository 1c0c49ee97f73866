"""The graph of a query, shown before it runs."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from beamlike.errors import ColumnError
from beamlike.extras import needs
from beamlike.model.graph import Node, StatefulNode
from beamlike.runtime.options import PLAN_METADATA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.api.dataframe.stream import Stream
    from beamlike.api.pipelines.pipeline import PCollection, Pipeline
    from beamlike.api.pipelines.scio.context import ScioContext
    from beamlike.runtime.plan import Plan

_NOTHING = "nothing is grouped here"


def explain_plan(panes: "DataFrame | Stream | Pipeline | PCollection[Any] | ScioContext") -> str:
    """Which machine runs a grouping, and why, for each grouping of a query.

    Args:
        panes: What `beamlike.windowed` returned, or a `Stream` after its groupings. A DataFrame
            made of panes will do as long as it has the column ``pane``, and shows the last
            grouping only. Or a pipeline, a Scio context, or one of their collections: then each
            transform that keeps state is shown, as it runs on ``"local"`` and ``"spark"``.

    Raises:
        ColumnError: It does not come from beamlike, or has lost the column.

    >>> import beamlike.beam as beam
    >>> pipeline = beam.Pipeline()
    >>> counted = pipeline | beam.Create([("tea", 1)]) | beam.CombinePerKey(sum)
    >>> print(explain_plan(pipeline).splitlines()[0])
    CombinePerKey(sum): columnar machine
    """
    from beamlike.api.dataframe.stream import Stream
    from beamlike.api.pipelines.pipeline import Pipeline

    if isinstance(panes, Stream):
        nodes: Sequence[Node] = [*panes.inputs.stages.values()]
    elif isinstance(pipeline := getattr(panes, "pipeline", panes), Pipeline):
        needs("explain_plan of a pipeline", "local")
        nodes = pipeline.nodes
    else:
        return _noted_on(panes)
    return "\n".join(_texts(nodes)) or _NOTHING


def _noted_on(frame: Any) -> str:
    """What a grouping wrote on the column ``pane`` of its frame."""
    fields = {field.name: field for field in getattr(frame, "schema", ())}
    notes = (fields["pane"].metadata or {}) if "pane" in fields else {}
    text = notes.get(PLAN_METADATA, notes.get(PLAN_METADATA.encode()))  # of Spark, of pyarrow
    if text is None:
        raise ColumnError(
            "explain_plan reads what windowed() wrote on the column 'pane', and this frame has no "
            "such column; call it with the frame that windowed() returned, with a Stream, or with "
            "a pipeline"
        )
    return text if isinstance(text, str) else text.decode()


def _texts(nodes: Sequence[Node]) -> Iterator[str]:
    """Each node that keeps state, in the order in which they were applied."""
    from beamlike.runtime.stepping import node_text

    for node in nodes:
        if isinstance(node, StatefulNode):
            planned = node.plan is not None
            plan = node.plan if planned else _plan_in_pipeline(node)
            identity = plan.identity if planned else plan.operation.state_identity
            yield node_text(node, plan, identity)


def _plan_in_pipeline(node: StatefulNode) -> "Plan":
    from beamlike.runtime.graph.nodes import worker_of
    from beamlike.runtime.graph.side_inputs import SideInputWorker
    from beamlike.runtime.graph.stage import plan_of
    from beamlike.runtime.graph.stateful import StatefulWorker
    from beamlike.runtime.graph.wire import Wire

    worker = worker_of(node)
    assert isinstance(worker, SideInputWorker | StatefulWorker), "it keeps state"
    # With several side inputs, the other machines are like the first.
    machine = worker.machine if isinstance(worker, StatefulWorker) else worker.machines[0]
    return plan_of(node, machine, Wire.declared(), shards=1, buckets=1, clocks=None)

"""The plan of a query on Spark, shown before it runs."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from beamlike.api.dataframe.stage_plan import METADATA, StagePlan
from beamlike.errors import ColumnError
from beamlike.extras import needs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from beamlike.api.dataframe.stream import Stream
    from beamlike.api.pipelines.pipeline import PCollection, Pipeline
    from beamlike.api.pipelines.scio.context import ScioContext

_NOTHING = "nothing is grouped here"
_NAMED = ("machine", "transform")
"""Of a pipeline's stage: what its first line says."""


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
        stages = [stage for stage in panes.inputs.stages.values() if isinstance(stage, StagePlan)]
        return "\n".join(map(str, stages)) or _NOTHING
    if isinstance(pipeline := getattr(panes, "pipeline", panes), Pipeline):
        return "\n".join(map(str, _stages_of(pipeline))) or _NOTHING
    fields = {field.name: field for field in getattr(panes, "schema", ())}
    notes = (fields["pane"].metadata or {}) if "pane" in fields else {}
    plan = notes.get(METADATA, notes.get(METADATA.encode()))  # of Spark, of pyarrow
    if plan is None:
        raise ColumnError(
            "explain_plan reads what windowed() wrote on the column 'pane', and this frame has no "
            "such column; call it with the frame that windowed() returned, with a Stream, or with "
            "a pipeline"
        )
    return str(StagePlan(**json.loads(plan)))


def _stages_of(pipeline: "Pipeline") -> Iterator[StagePlan]:
    """All nodes that keep state, in the order in which they were applied."""
    needs("explain_plan of a pipeline", "local")
    from beamlike.runtime.graph.nodes import worker_of
    from beamlike.runtime.graph.side_inputs import SideInputWorker
    from beamlike.runtime.graph.stage import plan_of
    from beamlike.runtime.graph.staged import StagedWorker
    from beamlike.runtime.graph.wire import Wire

    for node in pipeline.nodes:
        worker, machine = worker_of(node), None
        if isinstance(worker, StagedWorker):
            machine = worker.machine
        elif isinstance(worker, SideInputWorker):
            machine, *_ = worker.machines  # those of the others are alike
        if machine is not None:
            wire = Wire.declared()
            plan = plan_of(node, machine, wire, shards=1, buckets=1, clocks=None)
            # How keys are spread is known when it runs.
            does = {what: how for what, how in plan.operation.words.items() if what not in _NAMED}
            yield StagePlan.of(plan, does)

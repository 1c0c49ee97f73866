"""The groupings of a pipeline that has run: each can be shown, explained and checked by itself.

    with run_with_context() as sc:
        counts = sc.test_stream(lines).flat_map(str.split).count_by_value()
    print(inside(sc).timeline())

Every host records the input and the output of each grouping.
"""

from typing import Any

from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.result import PipelineResult
from beamlike.errors import TestStreamError
from beamlike.model.graph import Edge, GroupNode
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing.assertions.groupings import asserted_in, grouping_of
from beamlike.testing.streams.results import Results


def inside(of: Any, grouping: str | PCollection[Any] | None = None) -> Results:
    """What happened inside of a grouping of a pipeline, as if it had been run by itself.

    ``inside(result).timeline()`` shows it; ``figure``, ``explain``, ``save_page``, all matchers
    and `compare` take it likewise. The steps are those of the grouping: the elements that reached
    it, in its windows, and the moves of its watermark and of its clock.

    Args:
        of: What `Pipeline.run` returned, or a pipeline or context that has run: in memory, or on
            Spark with test streams and created elements as its sources.
        grouping: Which one: its label, or the end of it if no other label ends so; or the
            collection of its panes, or one that was made of them element by element. Not needed
            if there is one only.

    Raises:
        TestStreamError: It has not run, or without a trace; or there is no such
            grouping, or there are several. The message lists them.
    """
    run = _run_of(of)
    known = run.groupings
    if not known:
        if run.kept is not None:
            raise TestStreamError(
                "inside: no record was kept of what happened inside of this pipeline; call "
                "pipeline.keep() before run(), or make a TestPipeline"
            )
        raise TestStreamError(
            "inside: there is no record of a grouping of this pipeline: it has none, or ended with "
            "an error, or reads or writes DataFrames; give it test streams or created elements"
        )
    node = _chosen(known, grouping)
    found = asserted_in(run, Edge(node))
    assert found is not None, "it is one of those that are known"
    return Results(found.run, found.strategy, found.combine)


def _run_of(of: Any) -> PipelineRun:
    if isinstance(of, PipelineRun):
        return of
    of = getattr(of, "pipeline", of)
    result = of.result if isinstance(of, Pipeline) else of
    if isinstance(result, PipelineResult):
        return result.outputs
    if isinstance(of, Pipeline):
        raise TestStreamError("inside: the pipeline has not run; call run(), or leave its block")
    raise TestStreamError(
        f"inside needs what Pipeline.run returned, or a pipeline that has run, got {of!r}"
    )


def _chosen(known: tuple[GroupNode, ...], wanted: str | PCollection[Any] | None) -> GroupNode:
    if wanted is None:
        if len(known) == 1:
            return known[0]
        raise TestStreamError(f"inside: name one of {len(known)} groupings: {_labels(known)}")
    if isinstance(wanted, PCollection):
        node = grouping_of(wanted.edge)
        if node in known:
            return node
        raise TestStreamError(
            f"inside: {wanted!r} is not made of the panes of a grouping element by element; the "
            f"groupings are {_labels(known)}"
        )
    if not isinstance(wanted, str):
        raise TestStreamError(
            f"inside: a grouping is named by its label or its collection, got {wanted!r}; the "
            f"labels are {_labels(known)}"
        )
    # "Count" rather means "Words/Count" than "Recount".
    for ending in (None, f"/{wanted}", wanted):
        found = [it for it in known if it.label == wanted or (ending and it.label.endswith(ending))]
        if len(found) == 1:
            return found[0]
        if found:
            raise TestStreamError(
                f"inside: {len(found)} groupings end with {wanted!r}: {_labels(found)}; write more "
                "of the label"
            )
    raise TestStreamError(f"inside: there is no grouping {wanted!r}; there are {_labels(known)}")


def _labels(of: "tuple[GroupNode, ...] | list[GroupNode]") -> str:
    return ", ".join(repr(node.label) for node in of)

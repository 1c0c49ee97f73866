"""Random pipelines in memory and through the layers of the Spark host: the same comes out."""

from random import Random
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.spark.graph.query import Scripted
from beamlike.machine.events import Element
from beamlike.model.graph import Edge, ReadNode
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.script import Arrive
from tests.support.generated.pipelines import any_pipeline
from tests.support.pipelines.in_layers import run_in_letters, run_side_by_side
from tests.support.pipelines.results_of_runs import readable_run


def edges(run: PipelineRun) -> list[Edge]:
    return list(run.came)


@pytest.mark.parametrize("seed", range(300))
def test_a_random_pipeline_gives_in_letters_what_it_gives_in_memory(seed: int) -> None:
    dice = Random(seed)
    pipeline = any_pipeline(dice)
    in_memory = run_pipeline(pipeline.nodes)

    in_letters = run_in_letters(
        pipeline.nodes,
        dice=dice,
        wanted=edges(in_memory),
        shards=dice.randint(1, 3),
        buckets=dice.randint(1, 3),
    )

    assert readable_run(in_letters) == readable_run(in_memory)
    assert in_letters.metrics == in_memory.metrics


class Pairs(beam.PTransform[Any, Any]):
    """Pairs, one by one, of a stream that does not end."""

    def __init__(self, *values: str) -> None:
        super().__init__()
        self.values = values

    def expand(self, pipeline: beam.Pipeline) -> Any:
        script = tuple(Arrive(((None, Element(("k", value), 0)),)) for value in self.values)
        node = ReadNode(pipeline.label, (), script, bounded=False)
        return pipeline.add(node, WindowingStrategy.unwindowed(), is_bounded=False)


def waiting(*values: str) -> beam.Pipeline:
    """A grouping whose panes wait for the clock, which stands still."""
    pipeline = beam.Pipeline()
    early = beam.trigger.AfterWatermark(early=beam.trigger.AfterProcessingTime(60))
    into = beam.WindowInto(beam.FixedWindows(60), trigger=early, accumulation_mode="discarding")
    _ = pipeline | Pairs(*values) | into | beam.GroupByKey()
    return pipeline


def test_a_pipeline_whose_script_is_over_has_no_step_while_others_have_theirs() -> None:
    pipelines = [waiting("a"), waiting("b", "c", "d")]
    in_memory = [run_pipeline(pipeline.nodes) for pipeline in pipelines]
    scripted = [
        Scripted(pipeline.nodes, edges(run))
        for pipeline, run in zip(pipelines, in_memory, strict=True)
    ]

    together = run_side_by_side(scripted, dice=Random(0))

    assert [*map(readable_run, together)] == [*map(readable_run, in_memory)]
    assert [run.metrics for run in together] == [run.metrics for run in in_memory]

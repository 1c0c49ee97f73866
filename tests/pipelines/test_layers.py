"""Random pipelines in memory and through the layers of the Spark host: the same comes out."""

from random import Random

import pytest

from beamlike.hosts.memory.pipeline import PipelineRun, run_pipeline
from beamlike.model.graph import Edge
from tests.support.generated.pipelines import any_pipeline
from tests.support.pipelines.in_layers import run_in_letters
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

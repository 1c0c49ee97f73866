"""Random functions with states and timers on all hosts: the same comes out, of each key in order.

On the local host and in the layers of Spark's, states and timers rest as bytes between any two
steps, so each of them is a restart.
"""

import os
from collections import defaultdict
from random import Random
from typing import Any

import pytest

from beamlike.api.pipelines.elements import Map, ParDo
from beamlike.api.pipelines.groups import CombinePerKey
from beamlike.api.pipelines.pipeline import PCollection, Pipeline
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.hosts.memory.pipeline import PipelineRun, run_pipeline
from beamlike.machine.events import Element
from beamlike.model.combine import Count
from beamlike.model.panes import Timing
from beamlike.model.sessions import Sessions
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import WindowFn
from beamlike.runtime.script import Arrive, Script
from tests.support.generated.pipelines import From
from tests.support.generated.scenarios import any_script
from tests.support.generated.stateful import AnyExpiringFn, AnyFn, AnySortedFn
from tests.support.generated.strategies import any_window_fn
from tests.support.pipelines.in_layers import run_in_letters
from tests.support.pipelines.results_of_runs import readable_run

EXAMPLES = int(os.environ.get("BEAMLIKE_EXAMPLES", "200"))


def one_by_one(script: Script) -> Script:
    """Elements arrive alone: in which order a shard sees those of one step is open."""
    return tuple(
        part
        for step in script
        for part in (
            [Arrive((it,)) for it in step.elements] if isinstance(step, Arrive) else [step]
        )
    )


def in_pairs(script: Script) -> Script:
    """The keys of elements as a part of their values, as pipelines have them."""
    return tuple(
        Arrive(
            tuple(
                (None, Element((key, element.value), element.timestamp))
                for key, element in step.elements
                if isinstance(element, Element)
            )
        )
        if isinstance(step, Arrive)
        else step
        for step in script
    )


def any_stateful(dice: Random, seed: int, *, alone: bool) -> tuple[Pipeline, PCollection[Any]]:
    """A random function over a random stream, and a grouping behind it, which shows by what is
    late where the output watermark was held."""
    window_fn: WindowFn = Sessions(1)
    while window_fn.is_merging:
        window_fn = any_window_fn(dice)
    lateness = dice.choice((0, 0, 3, 20))
    script = in_pairs(any_script(dice, keys=("a", "b", "c")))
    fn = dice.choice((AnyFn, AnyExpiringFn, AnySortedFn))(seed, lateness)
    pipeline = Pipeline()
    pairs = pipeline | "Source" >> From(one_by_one(script) if alone else script, False)
    windowed = pairs | WindowInto(
        window_fn,
        trigger=AfterWatermark(late=AfterCount(1)),
        allowed_lateness=lateness,
        accumulation_mode="discarding",
    )
    out = windowed | "States" >> ParDo(fn)
    _ = out | "Keys" >> Map(lambda it: (it[0], it)) | "Count" >> CombinePerKey(Count())
    return pipeline, out


def by_key(run: PipelineRun, out: PCollection[Any]) -> Any:
    found = defaultdict(list)
    for came in run.out_of(out.edge):
        found[came.element.value[0]].append(came)
    return dict(found)


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_a_random_function_with_states_gives_on_the_local_host_what_it_gives_in_memory(
    seed: int,
) -> None:
    dice = Random(seed)
    pipeline, out = any_stateful(dice, seed, alone=False)
    in_memory = run_pipeline(pipeline.nodes)
    local = run_pipeline(pipeline.nodes, local_worker_of)

    assert by_key(local, out) == by_key(in_memory, out)
    assert readable_run(local) == readable_run(in_memory)


@pytest.mark.parametrize("seed", range(EXAMPLES, EXAMPLES + EXAMPLES // 2))
def test_a_random_function_with_states_gives_in_letters_what_it_gives_in_memory(
    seed: int,
) -> None:
    dice = Random(seed)
    pipeline, out = any_stateful(dice, seed, alone=True)
    in_memory = run_pipeline(pipeline.nodes)
    in_letters = run_in_letters(
        pipeline.nodes,
        dice=dice,
        wanted=list(in_memory.came),
        shards=dice.randint(1, 3),
        buckets=dice.randint(1, 3),
    )

    assert by_key(in_letters, out) == by_key(in_memory, out)
    assert readable_run(in_letters) == readable_run(in_memory)


def test_the_random_functions_do_all_that_they_may() -> None:
    """Else the tests above would say little."""
    kinds: dict[str, int] = defaultdict(int)
    timings: dict[Timing, int] = defaultdict(int)
    late = 0
    for seed in range(60):
        pipeline, out = any_stateful(Random(seed), seed, alone=False)
        run = run_pipeline(pipeline.nodes)
        for came in run.out_of(out.edge):
            kinds[came.element.value[1]] += 1
        late += sum(lost.label == "States" for lost in run.lost)
        for edge, came in run.came.items():
            if edge.node.label.startswith("Count"):
                for it in came:
                    timings[it.element.pane.timing] += 1
    assert min(kinds[kind] for kind in ("states", "event", "real", "end")) > 50, dict(kinds)
    assert late > 50
    assert min(timings[it] for it in (Timing.ON_TIME, Timing.LATE)) > 20, dict(timings)

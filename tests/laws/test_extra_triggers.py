"""Laws of the triggers that Beam does not have, in any tree with Beam's own.

Half of the triggers in each tree are of that kind.
"""

from random import Random

from beamlike.machine.reference.step import Grouping
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Script
from beamlike.testing.scenarios.files import AGGREGATIONS
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import OWN_TRIGGERS, TRIGGERS, any_strategy, any_trigger
from tests.support.machines.in_shard import micro_batches, run_in_shard
from tests.support.machines.laws import in_any_order

EXAMPLES = examples(400)


def scenario(seed: int) -> tuple[WindowingStrategy, Script]:
    random = Random(f"own triggers {seed}")
    trigger = any_trigger(random, 3, (*TRIGGERS, *OWN_TRIGGERS * 3))
    strategy = any_strategy(random, trigger=trigger, gap_functions=True, retracting_options=True)
    return strategy, any_script(random, steps=18)


def test_state_at_rest_on_spark_is_what_a_run_in_memory_remembers() -> None:
    combine = AGGREGATIONS["list"]
    assert combine is not None
    for seed in range(EXAMPLES // 4):
        strategy, script = scenario(seed)
        batches, _ = micro_batches(script, together=False)
        there, _ = run_in_shard(strategy, "list", batches, buckets=2, move_at=len(batches) // 2)
        here = run_in_memory(Grouping(strategy, combine), script).outputs
        assert in_any_order(there) == in_any_order(here), f"{seed}: {strategy}"

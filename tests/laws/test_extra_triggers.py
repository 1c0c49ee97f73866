"""Laws of the triggers that Beam does not have, in any tree with Beam's own.

Half of the triggers in each tree are of that kind.
"""

from random import Random

from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.script import Script
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import OWN_TRIGGERS, TRIGGERS, any_strategy, any_trigger
from tests.support.machines.either import Setting, in_turn, never, unlike_memory_in_shard
from tests.support.machines.in_shard import micro_batches, plan_of_numbers

EXAMPLES = examples(400)


def scenario(seed: int) -> tuple[WindowingStrategy, Script]:
    random = Random(f"own triggers {seed}")
    trigger = any_trigger(random, 3, (*TRIGGERS, *OWN_TRIGGERS * 3))
    strategy = any_strategy(random, trigger=trigger, gap_functions=True, retracting_options=True)
    return strategy, any_script(random, steps=18)


def test_state_at_rest_on_spark_is_what_a_run_in_memory_remembers() -> None:
    for seed in range(EXAMPLES // 4):
        strategy, script = scenario(seed)
        batches, _ = micro_batches(script, together=False)
        setting = Setting(plan_of_numbers(strategy, Collect(), 2), batches, never, restarts=in_turn)
        assert unlike_memory_in_shard(setting) == [], f"{seed}: {strategy}"

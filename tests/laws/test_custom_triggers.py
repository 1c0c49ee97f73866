"""Laws of triggers of a user's own: written again, Beam's say the same anywhere in a tree."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterProcessingTime, Trigger
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Script
from tests.support.examples import examples
from tests.support.generated.own_triggers import written_again
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import TRIGGERS, any_strategy, any_trigger
from tests.support.machines.laws import in_any_order

EXAMPLES = examples(400)
KINDS: tuple[type[Trigger], ...] = (*TRIGGERS, *(AfterCount, AfterProcessingTime) * 4)


def scenario(seed: int) -> tuple[WindowingStrategy, WindowingStrategy, Script]:
    """A random scenario with Beam's triggers, and the same with triggers written again."""
    random = Random(f"custom triggers {seed}")
    trigger = any_trigger(random, 3, KINDS)
    strategy = any_strategy(random, trigger=trigger)
    again = strategy.configured(trigger=written_again(trigger))
    return strategy, again, any_script(random, steps=18)


@settings(max_examples=EXAMPLES)
@given(st.integers(0, 2**32))
def test_a_count_and_a_delay_written_again_say_the_same_in_memory(seed: int) -> None:
    strategy, again, script = scenario(seed)
    theirs = run_in_memory(Grouping(strategy, Collect()), script)

    assert run_in_memory(Grouping(again, Collect()), script).outputs == theirs.outputs


@settings(max_examples=EXAMPLES // 10)
@given(st.integers(0, 2**32))
def test_a_count_and_a_delay_written_again_say_the_same_on_local(seed: int) -> None:
    strategy, again, script = scenario(seed)
    theirs = run_in_memory(Grouping(strategy, Collect()), script)

    there = run_in_local(again, Collect(), script)
    assert in_any_order(there.outputs) == in_any_order(theirs.outputs)


def test_two_in_three_scenarios_have_one() -> None:
    found = [scenario(seed) for seed in range(100)]
    assert sum(strategy != again for strategy, again, _ in found) > 60

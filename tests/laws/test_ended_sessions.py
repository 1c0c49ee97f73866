"""Sessions that an event ends, in any script, on both machines."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive
from tests.support.differential import broken_in_memory
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy, is_fifth
from tests.support.machines.columnar import unlike_memory
from tests.support.machines.laws import in_any_order

law = settings(max_examples=examples(200), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


def any_ended(random: Random) -> Sessions:
    gap = random.randint(2, 12)
    return Sessions(
        gap,
        max_duration=random.choice((None, None, gap + random.randint(0, 15))),
        max_elements=random.choice((None, None, random.randint(1, 4))),
        merge_touching=random.randrange(3) == 0,
        ends_with=is_fifth,
    )


@law
@given(chance)
def test_both_machines_and_the_production_runtime_do_the_same(random: Random):
    strategy = any_strategy(random, window_fn=any_ended(random), retracting_options=True)
    script = any_script(random)
    assert unlike_memory(strategy, script, Collect()) == []
    memory = run_in_memory(Grouping(strategy, Collect()), script)
    local = run_in_local(strategy, Collect(), script)
    assert in_any_order(local.outputs) == in_any_order(memory.outputs)


@law
@given(chance)
def test_the_laws_of_panes_hosts_and_conservation_hold(random: Random):
    strategy = any_strategy(random, window_fn=any_ended(random), retracting_options=True)
    assert broken_in_memory(strategy, any_script(random)) == []


@law
@given(chance)
def test_what_arrives_together_is_cut_behind_each_end_event(random: Random):
    """By a plain rule, over the times in order: every multiple of 5 is an end event."""
    gap = random.randint(2, 12)
    times = [random.randrange(60) for _ in range(random.randint(1, 20))]
    expected: list[list[int]] = []
    for time in sorted(times):
        before = expected[-1][-1] if expected else None
        if before is None or time - before >= gap or (time > before and before % 5 == 0):
            expected.append([])
        expected[-1].append(time)
    strategy = WindowingStrategy(Sessions(gap, ends_with=is_fifth), None, "discarding", 0)
    arrival = Arrive(tuple(("a", Element(time, time)) for time in times))
    run = run_in_memory(Grouping(strategy, Collect()), (arrival, AdvanceWatermark(MAX_TIMESTAMP)))
    found = [sorted(pane.effect.value) for pane in run.panes if isinstance(pane.effect, Pane)]
    assert sorted(found) == expected

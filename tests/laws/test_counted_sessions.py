"""Sessions that may hold only so many elements, in any script."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.events import Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CollectByTimestamp
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.memory import run_in_memory
from tests.support.differential import broken_in_memory
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy
from tests.support.machines.laws import run_lazily

law = settings(max_examples=examples(200), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


def any_counted(random: Random) -> Sessions:
    gap = random.randint(1, 12)
    longest = random.choice((None, gap + random.randint(0, 15)))
    return Sessions(gap, max_duration=longest, max_elements=random.randint(1, 4))


@law
@given(chance)
def test_the_laws_of_panes_hosts_and_conservation_hold(random: Random):
    strategy = any_strategy(random, window_fn=any_counted(random), retracting_options=True)
    assert broken_in_memory(strategy, any_script(random)) == []


@law
@given(chance)
def test_only_elements_of_one_time_make_a_session_too_full(random: Random):
    sessions = any_counted(random)
    strategy = WindowingStrategy(
        sessions, None, "accumulating", 20, late_check=random.choice(("assigned", "merged"))
    )
    script = any_script(random)
    run = run_in_memory(Grouping(strategy, CollectByTimestamp()), script)
    times = {
        element.value: element.timestamp
        for step in script
        for _, element in getattr(step, "elements", ())
    }
    for output in run.panes:
        pane = output.effect
        assert isinstance(pane, Pane)
        if len(pane.value) > sessions.max_elements:
            assert len({times[value] for value in pane.value}) == 1


@law
@given(chance)
def test_the_count_of_a_window_is_the_number_of_its_elements(random: Random):
    strategy = any_strategy(random, window_fn=any_counted(random)).configured(
        accumulation="accumulating", unchanged="re_emit"
    )
    lazy = run_lazily(Grouping(strategy, Collect()), any_script(random, to_infinity=False))
    for state in lazy.states.values():
        for window in state.windows.values():
            assert window.closed or window.size == len(window.accumulator)

"""What holds for every strategy and every script, on scenarios drawn by hypothesis.

Most laws of one scenario are `LAWS` of `tests.support.differential`. Here are those that compare
several keys or strategies, and the laws of memory on strategies that others rarely have. Runs are
the same every time; how many scenarios each law is tried on, `tests.support.examples` says.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.events import Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, AfterProcessingTime, Repeatedly, Trigger
from beamlike.model.windowfns import FixedWindows, WindowFn
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run, Script, with_elements
from beamlike.testing.contracts.window_fn import check_window_fn
from tests.support.differential import broken_in_memory
from tests.support.examples import examples
from tests.support.generated import strategies as random_strategies
from tests.support.generated.own_triggers import written_again
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import (
    OWN_TRIGGERS,
    TRIGGERS,
    any_counted_sessions,
    any_ended_sessions,
    any_trigger,
    gap_of_number,
)
from tests.support.generated.window_fns import Absorbing, Shifts, Touching, any_user_fn
from tests.support.machines.laws import broken_conservation, broken_pane_laws, broken_retractions

law = settings(max_examples=examples(200), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

# The elements of `any_script` are whole numbers, so windows may look at them.
any_strategy = partial(random_strategies.any_strategy, gap_functions=True)


def machine_of(strategy: WindowingStrategy) -> Grouping:
    return Grouping(strategy, Collect())


def with_mode(strategy: WindowingStrategy, mode: AccumulationMode) -> WindowingStrategy:
    return strategy.configured(accumulation=mode)


# -- hosting ---------------------------------------------------------------------------------


@law
@given(chance)
def test_a_key_sees_the_same_whether_others_live_beside_it_or_not(random: Random):
    strategy, script = any_strategy(random), any_script(random, keys=("a", "b", "c"))
    machine = machine_of(strategy)
    together = run_in_memory(machine, script).outputs
    for key in ("a", "b", "c"):
        alone = run_in_memory(machine, only(key, script)).outputs
        assert alone == tuple(output for output in together if output.key == key)


def only(key: str, script: Script) -> Script:
    return with_elements(script, lambda other, it: (key, it) if other == key else None)


Scenario = tuple[WindowingStrategy, Script]


def of_windows(window_fn: Callable[[Random], WindowFn]) -> Callable[[Random], Scenario]:
    def scenario(random: Random) -> Scenario:
        strategy = any_strategy(random, window_fn=window_fn(random), retracting_options=True)
        return strategy, any_script(random, to_infinity=random.randrange(3) != 0)

    return scenario


def of_triggers(*kinds: type[Trigger]) -> Callable[[Random], Scenario]:
    """In any tree with Beam's own, in which these are about half."""

    def scenario(random: Random) -> Scenario:
        trigger = any_trigger(random, 3, (*TRIGGERS, *kinds))
        strategy = any_strategy(random, trigger=trigger, retracting_options=True)
        return strategy, any_script(random, steps=18)

    return scenario


def with_triggers_written_again(random: Random) -> Scenario:
    strategy, script = of_triggers(*(AfterCount, AfterProcessingTime) * 4)(random)
    return strategy.configured(trigger=written_again(strategy.trigger)), script


def at_the_ends_of_time(random: Random) -> Scenario:
    origin = random.choice((MIN_TIMESTAMP + 100, END_OF_GLOBAL_WINDOW - 400))
    return any_strategy(random), any_script(random, origin=origin)


SCENARIOS: dict[str, Callable[[Random], Scenario]] = {
    "at both ends of time": at_the_ends_of_time,
    "of window functions that users write": of_windows(any_user_fn),
    "of sessions that may hold only so many elements": of_windows(any_counted_sessions),
    "of sessions that an event ends": of_windows(any_ended_sessions),
    "of triggers that users write": with_triggers_written_again,
    "of triggers that Beam does not have": of_triggers(*OWN_TRIGGERS * 3),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
@law
@given(chance)
def test_the_laws_of_panes_hosts_and_conservation_hold(
    scenario: Callable[[Random], Scenario], random: Random
):
    assert broken_in_memory(*scenario(random)) == []


def test_the_window_functions_of_users_keep_the_contract():
    around, values = range(-20, 20), range(12)
    for window_fn in (Shifts(8), Touching(3), Absorbing(8), Sessions(gap_of_number)):
        check_window_fn(window_fn, timestamps=around, values=values)
    for window_fn in (Sessions(5, max_duration=12), Sessions(gap_of_number, max_duration=9)):
        check_window_fn(window_fn, timestamps=around, values=values, any_arrival_order=False)


@law
@given(chance)
def test_the_accumulation_mode_decides_contents_and_nothing_else(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    discarding, accumulating = (
        run_in_memory(machine_of(with_mode(strategy, mode)), script).outputs
        for mode in (AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING)
    )
    assert [without_value(output) for output in discarding] == [
        without_value(output) for output in accumulating
    ]


def without_value(output: Output) -> Output:
    if not isinstance(output.effect, Pane):
        return output
    return attrs.evolve(output, effect=attrs.evolve(output.effect, value=None))


# -- the laws can be broken ------------------------------------------------------------------


def a_run_of_three_panes() -> tuple[WindowingStrategy, Run]:
    strategy = WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(1)))
    arrivals = tuple(Arrive((("k", Element(value, value)),)) for value in (1, 2, 3))
    return strategy, run_in_memory(machine_of(strategy), arrivals)


def test_conservation_notices_a_lost_pane_and_a_doubled_one():
    strategy, run = a_run_of_three_panes()
    assert broken_conservation(strategy, run, {}) == []
    assert broken_conservation(strategy, attrs.evolve(run, outputs=run.outputs[:2]), {}) == [
        "('k', 3): in 1 window, accounted for 0 times"
    ]
    doubled = attrs.evolve(run, outputs=(*run.outputs, run.outputs[0]))
    assert broken_conservation(strategy, doubled, {}) == [
        "('k', 1): in 1 window, accounted for 2 times"
    ]


def test_pane_laws_notice_a_missing_first_pane():
    _, run = a_run_of_three_panes()
    beheaded = attrs.evolve(run, outputs=run.outputs[1:])
    assert broken_pane_laws(beheaded, merging=False) == [
        "key 'k', window [00:00:00, 00:00:00.010): indices [1, 2] are not 0, 1, 2, ...",
        "key 'k', window [00:00:00, 00:00:00.010): not exactly the pane with index 0 is the first",
    ]


def test_the_law_of_retractions_notices_a_pane_that_was_not_withdrawn():
    accumulating, retracting = (
        run_in_memory(
            machine_of(WindowingStrategy(FixedWindows(10), Repeatedly(AfterCount(1)), mode)),
            tuple(Arrive((("k", Element(value, value)),)) for value in (1, 2)),
        )
        for mode in ("accumulating", "retracting")
    )
    assert broken_retractions(retracting, accumulating, merging=False) == []
    assert broken_retractions(accumulating, accumulating, merging=False) == [
        "('k', IntervalWindow(start=0, end=10), 1) stands 2 times"
    ]

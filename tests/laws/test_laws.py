"""What holds for every strategy and every script, on scenarios drawn by hypothesis.

Most laws of one scenario are `LAWS` of `tests.support.differential`. Here are those that compare
several keys or strategies, and those of both ends of time. Runs are the same every time; how many
scenarios each law is tried on, `tests.support.examples` says.
"""

from functools import partial
from random import Random

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.events import Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, Repeatedly
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run, Script
from tests.support.differential import broken_in_memory
from tests.support.examples import examples
from tests.support.generated import strategies as random_strategies
from tests.support.generated.scenarios import any_script
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
    return tuple(
        Arrive(tuple(pair for pair in happens.elements if pair[0] == key))
        if isinstance(happens, Arrive)
        else happens
        for happens in script
    )


@law
@given(chance, st.sampled_from([MIN_TIMESTAMP + 100, END_OF_GLOBAL_WINDOW - 400]))
def test_the_laws_of_hosting_hold_at_both_ends_of_time(random: Random, origin: int):
    strategy, script = any_strategy(random), any_script(random, origin=origin)
    assert broken_in_memory(strategy, script) == []


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

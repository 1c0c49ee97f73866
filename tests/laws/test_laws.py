"""What holds for every strategy and every script, on scenarios drawn by hypothesis.

Runs are the same every time. The environment variable ``BEAMLIKE_EXAMPLES`` says how many
scenarios each law is tried on, here and in the files beside this one (default 200 here):
``BEAMLIKE_EXAMPLES=20000 python -m pytest tests/laws`` looks further, for some minutes.
"""

import os
import pickle
from functools import partial
from random import Random

import attrs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beamlike.hosts.memory import run_in_memory
from beamlike.hosts.script import Arrive, Output, Run, Script
from beamlike.machine.events import AdvanceWatermark, Drop, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CollectByTimestamp
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.triggers import AfterCount, AfterEach, Always, Repeatedly, Trigger
from beamlike.model.windowfns import FixedWindows, WindowFn
from beamlike.testing import generate
from beamlike.testing.generate import TRIGGERS, any_script, any_trigger, any_window_fn
from beamlike.testing.laws import (
    Restarting,
    broken_conservation,
    broken_pane_laws,
    broken_retractions,
    cut_bundles,
    in_any_order,
    run_lazily,
)

law = settings(
    max_examples=int(os.environ.get("BEAMLIKE_EXAMPLES", "200")),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
chance = st.randoms(use_true_random=False)

# The elements of `any_script` are whole numbers, so windows may look at them.
any_strategy = partial(generate.any_strategy, gap_functions=True)


def machine_of(strategy: WindowingStrategy) -> Grouping:
    return Grouping(strategy, Collect())


def with_mode(strategy: WindowingStrategy, mode: AccumulationMode) -> WindowingStrategy:
    return strategy.configured(accumulation=mode)


# -- hosting ---------------------------------------------------------------------------------


@law
@given(chance)
def test_a_restart_before_any_event_changes_nothing(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    machine = machine_of(strategy)
    restarted = Restarting(machine, lambda state: pickle.loads(pickle.dumps(state)))
    assert run_in_memory(restarted, script) == run_in_memory(machine, script)


@law
@given(chance)
def test_stepping_a_key_only_when_it_is_due_gives_the_same_outputs_step_by_step(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    machine = machine_of(strategy)
    lazy = run_lazily(machine, script)
    assert in_any_order(lazy.outputs) == in_any_order(run_in_memory(machine, script).outputs)


@law
@given(chance)
def test_no_wake_is_ever_in_the_past(random: Random):
    strategy, script = any_strategy(random), any_script(random, to_infinity=False)
    assert run_lazily(machine_of(strategy), script).past_wakes == ()


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
    machine = machine_of(strategy)
    eager, lazy = run_in_memory(machine, script), run_lazily(machine, script)
    assert in_any_order(lazy.outputs) == in_any_order(eager.outputs)
    assert (lazy.states, lazy.past_wakes) == ({}, ())
    assert broken_conservation(strategy, eager, lazy.states) == []
    assert broken_pane_laws(eager, merging=strategy.is_merging) == []


# -- bundles ---------------------------------------------------------------------------------


def patient_strategy(random: Random) -> WindowingStrategy:
    """A strategy that does not care how elements are bundled while their windows are open.

    Nothing in the trigger is ready merely because elements came. Where windows merge,
    bundles also decide what merges with what: there, in addition, no window may close, and no
    `AfterEach` may find a later child ready once an earlier one has fired. Sessions have no
    bound: where a bundle that comes later brings earlier data, it decides where they are cut.
    """
    window_fn: WindowFn = any_window_fn(random, gap_functions=True)
    if isinstance(window_fn, Sessions):
        window_fn = Sessions(window_fn.gap)
    impatient: set[type[Trigger]] = {AfterCount, Always}
    if window_fn.is_merging:
        impatient.add(AfterEach)
    kinds = [kind for kind in TRIGGERS if kind not in impatient]
    trigger = any_trigger(random, 3, kinds)
    while window_fn.is_merging and trigger.may_finish:
        trigger = any_trigger(random, 3, kinds)
    return any_strategy(random, window_fn=window_fn, trigger=trigger)


def while_open(script: Script, window_fn: WindowFn) -> Script:
    """The script without the elements that come after the end of one of their windows."""
    watermark = MIN_TIMESTAMP
    kept = []
    for happens in script:
        if isinstance(happens, AdvanceWatermark):
            watermark = happens.to
        elif isinstance(happens, Arrive):
            happens = Arrive(
                tuple(
                    (key, element)
                    for key, element in happens.elements
                    if watermark <= last_open(window_fn, element)
                )
            )
        kept.append(happens)
    return tuple(kept)


def last_open(window_fn: WindowFn, element: Element) -> int:
    """The last watermark at which none of an element's windows is over."""
    windows = window_fn.assign(element.timestamp, element.value)
    return min((window.max_timestamp for window in windows), default=MAX_TIMESTAMP)


def by_content(run: Run, origin: list[int]) -> dict[str, int]:
    """Outputs with their step counted in the original script, and values without their order."""

    def plain(output: Output) -> Output:
        effect = output.effect
        if isinstance(effect, Pane):
            effect = attrs.evolve(effect, value=sorted(effect.value))
        return attrs.evolve(output, step=origin[output.step], effect=effect)

    return in_any_order(map(plain, run.outputs))


@law
@given(chance)
def test_cutting_bundles_elsewhere_changes_nothing_for_a_patient_strategy(random: Random):
    strategy = patient_strategy(random)
    script = while_open(any_script(random), strategy.window_fn)
    cut, origin = cut_bundles(script, lambda: random.randint(1, 2))
    machine = Grouping(strategy, CollectByTimestamp())
    whole, pieces = (without_neighbours(run_in_memory(machine, one)) for one in (script, cut))
    assert by_content(pieces, origin) == by_content(whole, list(range(len(script))))


def without_neighbours(run: Run) -> Run:
    """The run with drops that do not say which session they nearly joined.

    That is a session as it was just then, and a smaller bundle may have made it grow already.
    """
    return attrs.evolve(
        run,
        outputs=tuple(
            attrs.evolve(output, effect=attrs.evolve(output.effect, nearly=None))
            if isinstance(output.effect, Drop)
            else output
            for output in run.outputs
        ),
    )


@law
@given(chance)
def test_the_order_inside_a_bundle_changes_nothing_but_the_order_of_values(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    shuffled = []
    for happens in script:
        if isinstance(happens, Arrive):
            elements = list(happens.elements)
            random.shuffle(elements)
            happens = Arrive(tuple(elements))
        shuffled.append(happens)
    machine, steps = machine_of(strategy), list(range(len(script)))
    assert by_content(run_in_memory(machine, tuple(shuffled)), steps) == by_content(
        run_in_memory(machine, script), steps
    )


# -- panes -----------------------------------------------------------------------------------


@law
@given(chance)
def test_panes_of_a_window_are_early_then_on_time_then_late_and_counted(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    run = run_in_memory(machine_of(strategy), script)
    assert broken_pane_laws(run, merging=strategy.is_merging) == []


@law
@given(chance, st.booleans())
def test_every_element_is_in_a_pane_or_dropped_or_still_buffered(random: Random, ends: bool):
    mode = [AccumulationMode.DISCARDING, AccumulationMode.ACCUMULATING][random.randrange(2)]
    strategy = any_strategy(random, accumulation=mode)
    script = any_script(random, to_infinity=ends)
    machine = machine_of(strategy)
    run = run_in_memory(machine, script)
    assert broken_conservation(strategy, run, run_lazily(machine, script).states) == []


@law
@given(chance)
def test_nothing_is_left_when_the_watermark_reaches_infinity(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    assert script[-1] == AdvanceWatermark(MAX_TIMESTAMP)
    assert run_lazily(machine_of(strategy), script).states == {}


@law
@given(chance)
def test_folding_retractions_leaves_what_accumulating_says_last(random: Random):
    strategy, script = any_strategy(random), any_script(random)
    runs = [
        run_in_memory(machine_of(with_mode(strategy, mode)), script)
        for mode in (AccumulationMode.RETRACTING, AccumulationMode.ACCUMULATING)
    ]
    assert broken_retractions(*runs, merging=strategy.is_merging) == []


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
    lost = attrs.evolve(run, outputs=run.outputs[:2])
    assert broken_conservation(strategy, lost, {}) == [
        "('k', 3): in 1 windows, accounted for 0 times"
    ]
    doubled = attrs.evolve(run, outputs=(*run.outputs, run.outputs[0]))
    assert broken_conservation(strategy, doubled, {}) == [
        "('k', 1): in 1 windows, accounted for 2 times"
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

"""The laws of every machine hold for window functions that users write, and for all sessions."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CollectByTimestamp
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from beamlike.testing.contracts.window_fn import check_window_fn
from tests.support.differential import broken_in_memory
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy
from tests.support.generated.window_fns import Absorbing, Shifts, Touching
from tests.support.machines.laws import cut_bundles, run_lazily

law = settings(max_examples=examples(100), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)


# -- window functions that users write -------------------------------------------------------


def gap_of(value):
    return 1 + value % 7


def any_user_fn(random: Random) -> WindowFn:
    length = random.randint(2, 12)
    kinds = (
        Shifts(length),
        Touching(length),
        Absorbing(length),
        Sessions(gap_of),
        Sessions(length, max_duration=length + random.randint(0, 15)),
        Sessions(gap_of, max_duration=random.randint(1, 15)),
    )
    return kinds[random.randrange(len(kinds))]


def machine_of(strategy: WindowingStrategy) -> Grouping:
    return Grouping(strategy, Collect())


def test_the_functions_of_these_laws_keep_the_contract():
    around, values = range(-20, 20), range(12)
    for window_fn in (Shifts(8), Touching(3), Absorbing(8), Sessions(gap_of)):
        check_window_fn(window_fn, timestamps=around, values=values)
    for window_fn in (Sessions(5, max_duration=12), Sessions(gap_of, max_duration=9)):
        check_window_fn(window_fn, timestamps=around, values=values, any_arrival_order=False)


@law
@given(chance)
def test_the_laws_of_panes_hosts_and_conservation_hold(random: Random):
    strategy = any_strategy(random, window_fn=any_user_fn(random))
    script = any_script(random, to_infinity=random.randrange(2) != 0)
    assert broken_in_memory(strategy, script) == []


# -- bounded sessions ------------------------------------------------------------------------

times = st.lists(st.integers(-40, 40), min_size=1, max_size=14)
gaps = st.integers(1, 8)
slack = st.integers(0, 20)


def settled(sessions: Sessions, bundles: list[list[int]]) -> dict[int, IntervalWindow]:
    """In which session each time is once these bundles have arrived. Nothing closes."""
    script = [Arrive(tuple(("k", Element(at, at)) for at in bundle)) for bundle in bundles]
    machine = Grouping(WindowingStrategy(sessions), CollectByTimestamp())
    run: Run = run_in_memory(machine, (*script, AdvanceWatermark(MAX_TIMESTAMP)))
    panes = [output.effect for output in run.outputs]
    return {value: pane.window for pane in panes for value in pane.value}


def one_after_the_other(at_once: list[int], gap: int, longest: int) -> dict[int, IntervalWindow]:
    """The same without windows: walk through time, and cut when it is silent or too long."""
    sessions: list[list[int]] = []
    for at in sorted(at_once):
        last = sessions[-1] if sessions else None
        if last and at < last[-1] + gap and at + gap - last[0] <= longest:
            last.append(at)
        else:
            sessions.append([at])
    return {
        at: IntervalWindow(session[0], session[-1] + gap) for session in sessions for at in session
    }


@law
@given(times, gaps, slack)
def test_a_bundle_is_cut_where_a_walk_through_time_would_cut_it(at_once, gap, more):
    sessions = Sessions(gap, max_duration=gap + more)
    assert settled(sessions, [at_once]) == one_after_the_other(at_once, gap, gap + more)


@law
@given(chance, times, gaps, slack)
def test_bundles_do_not_matter_to_data_in_order_of_time(random: Random, all_times, gap, more):
    sessions, ordered = Sessions(gap, max_duration=gap + more), sorted(all_times)
    script: Script = (Arrive(tuple(("k", Element(at, at)) for at in ordered)),)
    cut, _ = cut_bundles(script, lambda: random.randint(1, 3))
    bundles = [[element.timestamp for _, element in part.elements] for part in cut]
    assert settled(sessions, bundles) == settled(sessions, [ordered])


@law
@given(chance, times, gaps)
def test_order_does_not_matter_where_the_bound_is_never_reached(random: Random, all_times, gap):
    span = max(all_times) - min(all_times) + gap
    random.shuffle(all_times)
    bounded = Sessions(gap, max_duration=max(span, gap))
    assert settled(bounded, [[time] for time in all_times]) == settled(Sessions(gap), [all_times])


@law
@given(chance)
def test_no_session_is_longer_than_its_bound_in_any_script(random: Random):
    longest = random.randint(8, 20)
    sessions = Sessions((gap_of, 8)[random.randrange(2)], max_duration=longest)
    strategy, script = any_strategy(random, window_fn=sessions), any_script(random)
    panes = [output.effect for output in run_in_memory(machine_of(strategy), script).panes]
    assert all(isinstance(pane, Pane) for pane in panes)
    assert [p for p in panes if p.window.end - p.window.start > longest] == []


@law
@given(chance)
def test_no_two_open_sessions_are_left_that_could_be_one(random: Random):
    longest = random.randint(8, 20)
    gap, touching = (gap_of, 8)[random.randrange(2)], random.randrange(2)
    sessions = Sessions(gap, max_duration=longest, merge_touching=bool(touching))
    strategy = any_strategy(random, window_fn=sessions)
    script = any_script(random, to_infinity=False)
    for state in run_lazily(machine_of(strategy), script).states.values():
        opened = sorted(window for window, kept in state.windows.items() if not kept.closed)
        for index, first in enumerate(opened):
            for second in opened[index + 1 :]:
                span = max(first.end, second.end) - first.start
                assert first.end + touching <= second.start or span > longest

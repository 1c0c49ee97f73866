"""Sessions that are bounded, counted or ended by an event, in any script."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.hosts.local.nodes import run_in_local
from beamlike.machine.events import AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, CollectByTimestamp
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Run, Script
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import (
    any_counted_sessions,
    any_ended_sessions,
    any_strategy,
    gap_of_number,
    is_fifth,
)
from tests.support.machines.either import run_in_both
from tests.support.machines.laws import cut_bundles, in_any_order, run_lazily

law = settings(max_examples=examples(200), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

# -- of a longest duration -------------------------------------------------------------------

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
    sessions = Sessions((gap_of_number, 8)[random.randrange(2)], max_duration=longest)
    strategy, script = any_strategy(random, window_fn=sessions), any_script(random)
    panes = [output.effect for output in run_in_memory(Grouping(strategy, Collect()), script).panes]
    assert all(isinstance(pane, Pane) for pane in panes)
    assert [p for p in panes if p.window.end - p.window.start > longest] == []


@law
@given(chance)
def test_no_two_open_sessions_are_left_that_could_be_one(random: Random):
    longest = random.randint(8, 20)
    gap, touching = (gap_of_number, 8)[random.randrange(2)], random.randrange(2)
    sessions = Sessions(gap, max_duration=longest, merge_touching=bool(touching))
    strategy = any_strategy(random, window_fn=sessions)
    script = any_script(random, to_infinity=False)
    for state in run_lazily(Grouping(strategy, Collect()), script).states.values():
        opened = sorted(window for window, kept in state.windows.items() if not kept.closed)
        for index, first in enumerate(opened):
            for second in opened[index + 1 :]:
                span = max(first.end, second.end) - first.start
                assert first.end + touching <= second.start or span > longest


# -- of a largest number of elements ---------------------------------------------------------


@law
@given(chance)
def test_only_elements_of_one_time_make_a_session_too_full(random: Random):
    sessions = any_counted_sessions(random)
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
    strategy = any_strategy(random, window_fn=any_counted_sessions(random)).configured(
        accumulation="accumulating", unchanged="re_emit"
    )
    lazy = run_lazily(Grouping(strategy, Collect()), any_script(random, to_infinity=False))
    for state in lazy.states.values():
        for window in state.windows.values():
            assert window.closed or window.size == len(window.accumulator)


# -- ended by an event -----------------------------------------------------------------------


@law
@given(chance)
def test_both_machines_and_the_production_runtime_do_the_same(random: Random):
    strategy = any_strategy(random, window_fn=any_ended_sessions(random), retracting_options=True)
    script = any_script(random)
    memory = run_in_both(strategy, script, Collect())
    local = run_in_local(strategy, Collect(), script)
    assert in_any_order(local.outputs) == in_any_order(memory.outputs)


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

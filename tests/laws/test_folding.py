"""Folding retractions, and the changes made of them, gives the batch result at any time.

The batch result is computed here once more without panes, triggers and clocks: the elements that
were accepted, in the windows that the window function gives them, or for sessions in runs without a
silence as long as the gap.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.changelog import changelog, upserts
from beamlike.machine.events import Drop, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CollectByTimestamp, CombineFn, Max, Sum
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import AfterCount, AfterWatermark, Always, Repeatedly, Trigger
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow, Window
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Output, Run
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_trigger, any_window_fn

law = settings(max_examples=examples(150), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

Table = dict[tuple[Hashable, Window], Any]
KEYS = ("a", "b", "c")
COMBINES = (Sum(), Max(), CollectByTimestamp())
RESULTS: dict[type[CombineFn], Callable[[list[Element]], Any]] = {
    Sum: lambda elements: sum(e.value for e in elements),
    Max: lambda elements: max(e.value for e in elements),
    CollectByTimestamp: lambda elements: [
        e.value for e in sorted(elements, key=lambda e: (e.timestamp, e.value))
    ],
}
EAGER = (Repeatedly(AfterCount(1)), Always())


def any_retracting(
    random: Random, trigger: Trigger, window_fn: WindowFn | None = None
) -> WindowingStrategy:
    """Retracting panes of windows whose batch result is known: no bounded sessions.

    Expired sessions are retained: in Beam's way an element may begin a session too close to one
    that has expired, where a batch has only one.
    """
    window_fn = window_fn or any_window_fn(random)
    if isinstance(window_fn, Sessions):
        window_fn = Sessions(window_fn.gap)
    return WindowingStrategy(
        window_fn,
        trigger,
        "retracting",
        random.choice((0, 0, 1, 7, 20)),
        late_check="retain",
        on_time_behavior=random.choice(("fire_always", "fire_if_non_empty")),
        closing_behavior=random.choice(("fire_always", "fire_if_non_empty")),
        unchanged=random.choice(("re_emit", "omit")),
    )


def safe_trigger(random: Random) -> Trigger:
    """One that closes no window before it expires."""
    trigger = any_trigger(random)
    return Repeatedly(trigger) if trigger.may_finish else trigger


# -- batch -----------------------------------------------------------------------------------


def accepted(strategy: WindowingStrategy, run: Run, steps: int) -> Iterator[tuple[Any, Any, Any]]:
    """Each key, window and element of the first steps that was not dropped."""
    dropped = Counter(
        (output.step, output.key, output.effect.element, output.effect.window)
        for output in run.outputs
        if isinstance(output.effect, Drop)
    )
    for number, happens in enumerate(run.script[:steps]):
        for key, element in happens.elements if isinstance(happens, Arrive) else ():
            for window in strategy.window_fn.assign(element.timestamp, element.value):
                place = (number, key, element, window)
                if dropped[place]:
                    dropped[place] -= 1
                else:
                    yield key, window, element


def batch(
    strategy: WindowingStrategy, combine: CombineFn, run: Run, steps: int | None = None
) -> Table:
    """The result of everything that was accepted in the first steps, as of a batch job."""
    groups: dict[tuple[Hashable, Window], list[Element]] = {}
    everything = sorted(
        accepted(strategy, run, len(run.script) if steps is None else steps),
        key=lambda one: (one[0], one[1].start, one[1].end),
    )
    for key, window, element in everything:
        if strategy.is_merging and groups:
            last_key, last = next(reversed(groups))
            if last_key == key and window.start < last.end:
                elements = groups.pop((last_key, last))
                window = IntervalWindow(last.start, max(last.end, window.end))
                groups[key, window] = elements
        groups.setdefault((key, window), []).append(element)
    result = RESULTS[type(combine)]
    return {place: result(elements) for place, elements in groups.items()}


# -- folds -----------------------------------------------------------------------------------


def standing(outputs: tuple[Output, ...]) -> list[tuple[Hashable, Pane]]:
    """The panes that were not withdrawn."""
    stand: list[tuple[Hashable, Pane]] = []
    for output in outputs:
        pane = output.effect
        if not isinstance(pane, Pane):
            continue
        if pane.retraction:
            withdrawn = [
                index
                for index, (key, old) in enumerate(stand)
                if key == output.key
                and (old.window, old.value, old.timestamp, old.info)
                == (pane.window, pane.value, pane.timestamp, pane.info)
            ]
            del stand[withdrawn[0]]
        else:
            stand.append((output.key, pane))
    return stand


def table_of(stand: list[tuple[Hashable, Pane]]) -> Table:
    """As a table by window, where each stands once."""
    assert len({(key, pane.window) for key, pane in stand}) == len(stand)
    return {(key, pane.window): pane.value for key, pane in stand}


def folded(outputs: tuple[Output, ...], render: Callable[..., Any]) -> dict[Any, Pane]:
    """The rows left by the changes of each key."""
    rows: dict[Any, Pane] = {}
    for key in KEYS:
        for change in render(output.effect for output in outputs if output.key == key):
            if change.op == "upsert":
                rows[key, change.identity] = change.pane
            else:
                del rows[key, change.identity]
    return rows


def prefixes(run: Run) -> Iterator[tuple[int, tuple[Output, ...]]]:
    for steps in range(len(run.script) + 1):
        yield steps, tuple(output for output in run.outputs if output.step < steps)


def panes_in(rows: dict[Any, Pane]) -> Counter[str]:
    return Counter(f"{key} {pane}" for (key, _), pane in rows.items())


# -- laws ------------------------------------------------------------------------------------


@law
@given(chance, st.sampled_from(EAGER), st.sampled_from(COMBINES))
def test_with_an_eager_trigger_what_stands_is_the_batch_result_at_any_time(
    random: Random, trigger: Trigger, combine: CombineFn
):
    strategy = any_retracting(random, trigger)
    script = any_script(random, keys=KEYS)
    run = run_in_memory(Grouping(strategy, combine), script)
    for steps, outputs in prefixes(run):
        assert table_of(standing(outputs)) == batch(strategy, combine, run, steps)


@law
@given(chance, st.sampled_from(COMBINES))
def test_at_the_end_of_time_what_stands_is_the_batch_result_of_all(
    random: Random, combine: CombineFn
):
    strategy = any_retracting(random, safe_trigger(random))
    script = any_script(random, keys=KEYS)
    run = run_in_memory(Grouping(strategy, combine), script)
    assert table_of(standing(run.outputs)) == batch(strategy, combine, run)


def any_at_all(random: Random) -> WindowingStrategy:
    """Any retracting strategy, sessions with bounds and triggers that finish included."""
    window_fn = any_window_fn(random)
    if isinstance(window_fn, Sessions) and random.randrange(2):
        window_fn = Sessions(
            window_fn.gap,
            max_duration=window_fn.max_duration,
            max_elements=random.randint(1, 4),
            merge_touching=window_fn.merge_touching,
        )
    return WindowingStrategy(
        window_fn,
        random.choice((*EAGER, any_trigger(random))),
        "retracting",
        random.choice((0, 0, 1, 7, 20)),
        late_check=random.choice(("assigned", "merged", "element", "retain")),
        unchanged=random.choice(("re_emit", "omit")),
    )


@law
@given(chance, st.sampled_from(COMBINES))
def test_folding_upserts_gives_what_stands_for_any_strategy(random: Random, combine: CombineFn):
    script = any_script(random, keys=KEYS)
    run = run_in_memory(Grouping(any_at_all(random), combine), script)
    for _, outputs in prefixes(run):
        stand = standing(outputs)
        assert panes_in(folded(outputs, upserts)) == Counter(f"{key} {pane}" for key, pane in stand)


@law
@given(chance)
def test_no_two_panes_that_stand_tell_of_the_same_session(random: Random):
    run = run_in_memory(Grouping(any_at_all(random), Sum()), any_script(random, keys=KEYS))
    for _, outputs in prefixes(run):
        names = Counter((key, pane.session) for key, pane in standing(outputs))
        assert [name for name, times in names.items() if times > 1] == []


@law
@given(chance, st.sampled_from(COMBINES))
def test_folding_the_changelog_gives_what_stands(random: Random, combine: CombineFn):
    strategy = any_retracting(random, random.choice((*EAGER, safe_trigger(random))))
    run = run_in_memory(Grouping(strategy, combine), any_script(random, keys=KEYS))
    for _, outputs in prefixes(run):
        stand = standing(outputs)
        assert folded(outputs, changelog) == {(key, pane.window): pane for key, pane in stand}


# -- sessions that are retained --------------------------------------------------------------


@law
@given(chance, st.integers(1, 12), st.sampled_from([None, AfterWatermark()]))
def test_at_any_time_the_sessions_that_stand_are_a_gap_apart(
    random: Random, gap: int, trigger: Trigger | None
):
    strategy = any_retracting(random, trigger or safe_trigger(random), Sessions(gap))
    if strategy.may_lose_data:
        strategy = WindowingStrategy(Sessions(gap), trigger, "retracting", late_check="retain")
    run = run_in_memory(Grouping(strategy, CollectByTimestamp()), any_script(random, keys=KEYS))
    happened = {
        element.value: element.timestamp
        for step in run.script
        for _, element in (step.elements if isinstance(step, Arrive) else ())
    }
    for _, outputs in prefixes(run):
        stand = sorted(standing(outputs), key=lambda one: (str(one[0]), one[1].window.start))
        for (key, one), (next_key, after) in pairwise(stand):
            if key == next_key:
                assert not one.window.intersects(after.window)
                latest = max(happened[value] for value in one.value)
                assert min(happened[value] for value in after.value) - latest >= gap
    assert table_of(standing(run.outputs)) == batch(strategy, CollectByTimestamp(), run)


def test_in_beam_s_way_two_sessions_that_stand_may_be_too_close():
    gap, found = 10, 0
    for seed in range(200):
        random = Random(seed)
        strategy = WindowingStrategy(Sessions(gap), None, "retracting", late_check="assigned")
        run = run_in_memory(Grouping(strategy, Sum()), any_script(random, keys=("a",)))
        found += table_of(standing(run.outputs)) != batch(strategy, Sum(), run)
    assert found > 0


@pytest.mark.parametrize("render", [changelog, upserts])
def test_the_laws_of_changes_are_tried_on_rows_that_disappear(render):
    gone = 0
    for seed in range(50):
        random = Random(seed)
        strategy = any_retracting(random, EAGER[0], Sessions(10))
        run = run_in_memory(Grouping(strategy, Sum()), any_script(random, keys=("a",)))
        gone += sum(change.op == "delete" for change in render(o.effect for o in run.outputs))
    assert gone > 20

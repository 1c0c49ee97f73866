"""Which groupings can put an element into several panes, and that streams keep to it."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.repetition import repetition
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script, with_elements
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy

TEN, EVERYTHING, VISIT = bl.FixedWindows(10), bl.GlobalWindows(), bl.Sessions(10)
COUNT, DELAY, END, LATE = (
    bl.AfterCount(1),
    bl.AfterProcessingTime(5),
    bl.AfterWatermark(),
    bl.AfterCount(1),
)

# The trigger; then whether panes repeat elements without lateness, with lateness, and bounded.
ANSWERS: list[tuple[bl.Trigger, str]] = [
    (bl.DefaultTrigger(), "- yes -"),
    (END, "- - -"),
    (bl.AfterWatermark(early=COUNT), "yes yes yes"),
    (bl.AfterWatermark(early=DELAY), "yes yes -"),
    (bl.AfterWatermark(early=bl.Never()), "- - -"),
    (bl.AfterWatermark(late=LATE), "- yes -"),
    (bl.AfterWatermark(late=bl.Never()), "- yes -"),
    (bl.AfterWatermark(early=DELAY, late=LATE), "yes yes -"),
    (bl.AfterWatermark(early=bl.AfterAll(COUNT, DELAY), late=LATE), "yes yes -"),
    (bl.AfterWatermark(early=bl.AfterFirst(COUNT, DELAY), late=LATE), "yes yes yes"),
    (bl.Never(), "- - -"),
    (bl.Always(), "yes yes yes"),
    (COUNT, "- - -"),
    (bl.Repeatedly(COUNT), "yes yes yes"),
    (bl.Repeatedly(DELAY), "yes yes -"),
    (bl.Repeatedly(END), "- yes -"),
    (bl.Repeatedly(bl.Never()), "- - -"),
    (bl.AfterEach(COUNT, DELAY), "yes yes yes"),
    (bl.AfterEach(END, bl.Repeatedly(COUNT)), "- yes -"),
    (bl.OrFinally(bl.Repeatedly(COUNT), END), "yes yes yes"),
    (bl.OrFinally(COUNT, END), "- - -"),
    (bl.EveryCount(1), "yes yes yes"),
    (bl.EveryEventTime(5), "yes yes -"),
    (bl.EveryProcessingTime(5), "yes yes -"),
    (bl.Repeatedly(bl.AfterSilence(5)), "yes yes -"),
]


def said(strategy: bl.WindowingStrategy, unbounded: bool = True) -> str:
    return "yes" if repetition(strategy, unbounded=unbounded) else "-"


@pytest.mark.parametrize("windows", [TEN, VISIT], ids=str)
@pytest.mark.parametrize(("trigger", "expected"), ANSWERS, ids=str)
def test_accumulating_panes_repeat_elements_where_a_window_stays_open_after_a_pane(
    windows: bl.WindowFn, trigger: bl.Trigger, expected: str
):
    strategies = [bl.WindowingStrategy(windows, trigger, "accumulating", at) for at in (0, 30)]
    answers = [*map(said, strategies), said(strategies[0], unbounded=False)]
    assert " ".join(answers) == expected
    assert said(strategies[1], unbounded=False) == answers[2]


@pytest.mark.parametrize("accumulation", ["discarding", "retracting"])
@pytest.mark.parametrize(("trigger", "expected"), ANSWERS, ids=str)
def test_other_panes_repeat_nothing_or_withdraw_it(
    accumulation: str, trigger: bl.Trigger, expected: str
):
    strategy = bl.WindowingStrategy(TEN, trigger, accumulation, 30)
    assert said(strategy) == said(strategy, unbounded=False) == "-"


def test_the_global_window_has_no_late_panes():
    assert (
        said(bl.WindowingStrategy(EVERYTHING, bl.AfterWatermark(late=LATE), "accumulating", 30))
        == "-"
    )
    assert said(bl.WindowingStrategy(EVERYTHING, bl.Repeatedly(DELAY), "accumulating")) == "yes"


def test_a_session_that_is_retained_comes_again_in_the_longer_one():
    strategy = bl.WindowingStrategy(VISIT, END, "accumulating", late_check="retain")
    found = repetition(strategy, unbounded=True)
    assert found is not None
    assert (found.because, found.one_pane) == (
        'late_check="retain" puts the elements of a session that has expired into the panes of a '
        "longer one, too",
        frozenset(),
    )
    # Where windows do not merge, or a grouping has merged them, nothing is retained; and in bounded
    # data nothing comes after the end.
    assert said(bl.WindowingStrategy(TEN, END, "accumulating", late_check="retain")) == "-"
    assert said(strategy.after_grouping()) == "-"
    assert said(strategy, unbounded=False) == "-"


def test_why_and_which_panes_repeat_nothing_is_said():
    trigger = bl.AfterWatermark(early=bl.AfterCount(100))
    fixed = repetition(bl.WindowingStrategy(TEN, trigger, "accumulating"), unbounded=True)
    assert fixed is not None
    assert (
        fixed.because == "AfterWatermark(early=AfterCount(100)) can fire several times for a window"
    )
    assert fixed.one_pane == {"is_first", "is_last", "on_time"}
    sessions = repetition(bl.WindowingStrategy(VISIT, trigger, "accumulating"), unbounded=True)
    assert sessions is not None
    assert sessions.one_pane == {"is_last"}


# -- streams keep to it ----------------------------------------------------------------------

law = settings(max_examples=examples(300), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

MARKED = {
    "is_first": lambda pane: pane.is_first,
    "is_last": lambda pane: pane.is_last,
    "on_time": lambda pane: pane.timing is bl.Timing.ON_TIME,
}


def numbered(script: Script) -> Script:
    """The same script, with elements that differ."""
    count = iter(range(1_000_000))
    return with_elements(script, lambda key, it: (key, Element(next(count), it.timestamp)))


def at_once(script: Script) -> Script:
    """All elements of a script as bounded data: in one bundle, then comes the end."""
    elements = [pair for step in script if isinstance(step, Arrive) for pair in step.elements]
    clock = [step for step in script if isinstance(step, AdvanceClock)][:1]
    arrive = [Arrive(tuple(elements))] if elements else []
    return (*clock, *arrive, AdvanceWatermark(MAX_TIMESTAMP))


def repeated(strategy: bl.WindowingStrategy, script: Script, mark: Any = None) -> list[Any]:
    """The elements that are in several panes, of those with a mark; if windows do not merge, in
    several panes of one window."""
    seen: Counter[Any] = Counter()
    for output in run_in_memory(Grouping(strategy, Collect()), numbered(script)).outputs:
        pane = output.effect
        if isinstance(pane, Pane) and (mark is None or mark(pane.info)):
            window = None if strategy.is_merging else pane.window
            seen.update((output.key, element, window) for element in pane.value)
    return [element for element, times in seen.items() if times > 1]


def accumulating(random: Random) -> bl.WindowingStrategy:
    return any_strategy(random, accumulation=bl.AccumulationMode.ACCUMULATING)


@law
@given(chance)
def test_no_element_is_repeated_where_that_is_ruled_out(random: Random):
    strategy, script = accumulating(random), any_script(random)
    if repetition(strategy, unbounded=True) is None:
        assert repeated(strategy, script) == []
    if repetition(strategy, unbounded=False) is None:
        assert repeated(strategy, at_once(script)) == []


@law
@given(chance)
def test_panes_with_one_mark_repeat_nothing(random: Random):
    strategy, script = accumulating(random), any_script(random)
    found = repetition(strategy, unbounded=True)
    for name in sorted(found.one_pane) if found else []:
        assert repeated(strategy, script, MARKED[name]) == []


def test_the_streams_above_do_repeat_elements():
    often: Counter[str] = Counter()
    for seed in range(200):
        random = Random(seed)
        strategy, script = accumulating(random), any_script(random)
        often["stream"] += bool(repeated(strategy, script))
        often["bounded"] += bool(repeated(strategy, at_once(script)))
        often["ruled out"] += repetition(strategy, unbounded=True) is None
    assert min(often.values()) > 10

"""Which groupings can put an element into several panes, and that streams keep to it."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Element, Pane
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect
from beamlike.model.extra_triggers import (
    AfterSilence,
    EveryCount,
    EveryEventTime,
    EveryProcessingTime,
)
from beamlike.model.panes import Timing
from beamlike.model.repetition import repetition
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import AccumulationMode, WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterWatermark,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import FixedWindows, GlobalWindows, WindowFn
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive, Script
from tests.support.examples import examples
from tests.support.generated.scenarios import any_script
from tests.support.generated.strategies import any_strategy

TEN, EVERYTHING, VISIT = FixedWindows(10), GlobalWindows(), Sessions(10)
COUNT, DELAY, END, LATE = AfterCount(1), AfterProcessingTime(5), AfterWatermark(), AfterCount(1)

# The trigger; then whether panes repeat elements without lateness, with lateness, and bounded.
ANSWERS: list[tuple[Trigger, str]] = [
    (DefaultTrigger(), "- yes -"),
    (END, "- - -"),
    (AfterWatermark(early=COUNT), "yes yes yes"),
    (AfterWatermark(early=DELAY), "yes yes -"),
    (AfterWatermark(early=Never()), "- - -"),
    (AfterWatermark(late=LATE), "- yes -"),
    (AfterWatermark(late=Never()), "- yes -"),
    (AfterWatermark(early=DELAY, late=LATE), "yes yes -"),
    (AfterWatermark(early=AfterAll(COUNT, DELAY), late=LATE), "yes yes -"),
    (AfterWatermark(early=AfterFirst(COUNT, DELAY), late=LATE), "yes yes yes"),
    (Never(), "- - -"),
    (Always(), "yes yes yes"),
    (COUNT, "- - -"),
    (Repeatedly(COUNT), "yes yes yes"),
    (Repeatedly(DELAY), "yes yes -"),
    (Repeatedly(END), "- yes -"),
    (Repeatedly(Never()), "- - -"),
    (AfterEach(COUNT, DELAY), "yes yes yes"),
    (AfterEach(END, Repeatedly(COUNT)), "- yes -"),
    (OrFinally(Repeatedly(COUNT), END), "yes yes yes"),
    (OrFinally(COUNT, END), "- - -"),
    (EveryCount(1), "yes yes yes"),
    (EveryEventTime(5), "yes yes -"),
    (EveryProcessingTime(5), "yes yes -"),
    (Repeatedly(AfterSilence(5)), "yes yes -"),
]


def said(strategy: WindowingStrategy, unbounded: bool = True) -> str:
    return "yes" if repetition(strategy, unbounded=unbounded) else "-"


@pytest.mark.parametrize("windows", [TEN, VISIT], ids=str)
@pytest.mark.parametrize(("trigger", "expected"), ANSWERS, ids=str)
def test_accumulating_panes_repeat_elements_where_a_window_stays_open_after_a_pane(
    windows: WindowFn, trigger: Trigger, expected: str
):
    strategies = [WindowingStrategy(windows, trigger, "accumulating", at) for at in (0, 30)]
    answers = [*map(said, strategies), said(strategies[0], unbounded=False)]
    assert " ".join(answers) == expected
    assert said(strategies[1], unbounded=False) == answers[2]


@pytest.mark.parametrize("accumulation", ["discarding", "retracting"])
@pytest.mark.parametrize(("trigger", "expected"), ANSWERS, ids=str)
def test_other_panes_repeat_nothing_or_withdraw_it(
    accumulation: str, trigger: Trigger, expected: str
):
    strategy = WindowingStrategy(TEN, trigger, accumulation, 30)
    assert said(strategy) == said(strategy, unbounded=False) == "-"


def test_the_global_window_has_no_late_panes():
    assert said(WindowingStrategy(EVERYTHING, AfterWatermark(late=LATE), "accumulating", 30)) == "-"
    assert said(WindowingStrategy(EVERYTHING, Repeatedly(DELAY), "accumulating")) == "yes"


def test_a_session_that_is_retained_comes_again_in_the_longer_one():
    strategy = WindowingStrategy(VISIT, END, "accumulating", late_check="retain")
    found = repetition(strategy, unbounded=True)
    assert found is not None
    assert (found.because, found.one_pane) == (
        'late_check="retain" puts the elements of a session that has expired into the panes of a '
        "longer one, too",
        frozenset(),
    )
    # Where windows do not merge, or a grouping has merged them, nothing is retained; and in bounded
    # data nothing comes after the end.
    assert said(WindowingStrategy(TEN, END, "accumulating", late_check="retain")) == "-"
    assert said(strategy.after_grouping()) == "-"
    assert said(strategy, unbounded=False) == "-"


def test_why_and_which_panes_repeat_nothing_is_said():
    trigger = AfterWatermark(early=AfterCount(100))
    fixed = repetition(WindowingStrategy(TEN, trigger, "accumulating"), unbounded=True)
    assert fixed is not None
    assert (
        fixed.because == "AfterWatermark(early=AfterCount(100)) can fire several times for a window"
    )
    assert fixed.one_pane == {"is_first", "is_last", "on_time"}
    sessions = repetition(WindowingStrategy(VISIT, trigger, "accumulating"), unbounded=True)
    assert sessions is not None
    assert sessions.one_pane == {"is_last"}


# -- streams keep to it ----------------------------------------------------------------------

law = settings(max_examples=examples(300), derandomize=True, database=None)
chance = st.randoms(use_true_random=False)

MARKED = {
    "is_first": lambda pane: pane.is_first,
    "is_last": lambda pane: pane.is_last,
    "on_time": lambda pane: pane.timing is Timing.ON_TIME,
}


def numbered(script: Script) -> Script:
    """The same script, with elements that differ."""
    count = iter(range(1_000_000))
    return tuple(
        Arrive(tuple((key, Element(next(count), it.timestamp)) for key, it in step.elements))
        if isinstance(step, Arrive)
        else step
        for step in script
    )


def at_once(script: Script) -> Script:
    """All elements of a script as bounded data: in one bundle, then comes the end."""
    elements = [pair for step in script if isinstance(step, Arrive) for pair in step.elements]
    clock = [step for step in script if isinstance(step, AdvanceClock)][:1]
    arrive = [Arrive(tuple(elements))] if elements else []
    return (*clock, *arrive, AdvanceWatermark(MAX_TIMESTAMP))


def repeated(strategy: WindowingStrategy, script: Script, mark: Any = None) -> list[Any]:
    """The elements that are in several panes, of those with a mark; if windows do not merge, in
    several panes of one window."""
    seen: Counter[Any] = Counter()
    for output in run_in_memory(Grouping(strategy, Collect()), numbered(script)).outputs:
        pane = output.effect
        if isinstance(pane, Pane) and (mark is None or mark(pane.info)):
            window = None if strategy.is_merging else pane.window
            seen.update((output.key, element, window) for element in pane.value)
    return [element for element, times in seen.items() if times > 1]


def accumulating(random: Random) -> WindowingStrategy:
    return any_strategy(random, accumulation=AccumulationMode.ACCUMULATING)


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

"""Alarms: when the clock wakes a window, and what an alarm does that nobody waits for."""

import pytest

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Element
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping, Wakes, minds_stale_alarms
from beamlike.model.combine import Count
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.triggers import (
    AfterAll,
    AfterCount,
    AfterEach,
    AfterFirst,
    AfterProcessingTime,
    AfterSynchronizedProcessingTime,
    AfterWatermark,
    Always,
    DefaultTrigger,
    Never,
    OrFinally,
    Repeatedly,
    Trigger,
)
from beamlike.model.windowfns import FixedWindows, Sessions, SlidingWindows
from beamlike.model.windows import IntervalWindow

TEN = FixedWindows(10)
HOUR = 3_600_000
SOON = AfterProcessingTime(5)
COUNT = AfterCount(2)


# -- which triggers mind a stale alarm -------------------------------------------------------


@pytest.mark.parametrize(
    "trigger",
    [
        DefaultTrigger(),
        AfterWatermark(),
        AfterWatermark(early=SOON, late=COUNT),
        SOON,
        COUNT,
        AfterSynchronizedProcessingTime(),
        Never(),
        Always(),
        Repeatedly(AfterFirst(COUNT, SOON)),
        AfterAll(COUNT, SOON),
        OrFinally(Repeatedly(SOON), COUNT),
        OrFinally(Repeatedly(SOON), AfterFirst(COUNT, SOON)),
        OrFinally(Repeatedly(SOON), AfterWatermark()),
        OrFinally(Repeatedly(SOON), Never()),
    ],
    ids=str,
)
def test_common_triggers_do_not_mind_a_stale_alarm(trigger: Trigger):
    assert not minds_stale_alarms(trigger)
    assert not Grouping(WindowingStrategy(TEN, trigger), Count()).keeps_alarms


EACH = AfterEach(SOON, COUNT)


@pytest.mark.parametrize(
    "trigger",
    [
        EACH,
        Repeatedly(EACH),
        AfterFirst(COUNT, AfterAll(COUNT, EACH)),
        AfterWatermark(early=EACH),
        AfterWatermark(late=EACH),
        OrFinally(EACH, COUNT),
        OrFinally(COUNT, EACH),
        OrFinally(SOON, Repeatedly(COUNT)),
        OrFinally(SOON, DefaultTrigger()),
        OrFinally(SOON, Always()),
        OrFinally(SOON, AfterWatermark(late=COUNT)),
        OrFinally(SOON, OrFinally(COUNT, COUNT)),
        Repeatedly(OrFinally(SOON, Repeatedly(COUNT))),
    ],
    ids=str,
)
def test_after_each_anywhere_and_or_finally_with_an_until_that_goes_on_mind_it(trigger: Trigger):
    assert minds_stale_alarms(trigger)
    assert Grouping(WindowingStrategy(TEN, trigger), Count()).keeps_alarms


# -- what a stale alarm does -----------------------------------------------------------------

EARLY_THEN_FIRST = AfterEach(AfterWatermark(early=SOON), AfterFirst(DefaultTrigger(), SOON))


def test_a_stale_alarm_wakes_the_next_child_which_finishes_without_a_pane(play):
    strategy = WindowingStrategy(TEN, EARLY_THEN_FIRST, "discarding", 100)
    # The early child asked to be woken at 5 and went with the on-time pane. The alarm stays; the
    # next child, ready since the end of the window, fires, is suppressed, and is the last.
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceClock(6), [6]) == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "3 [0,10) dropped 6, closed",
    ]


def test_while_the_stale_alarm_is_not_over_the_window_is_open(play):
    strategy = WindowingStrategy(TEN, EARLY_THEN_FIRST, "discarding", 100)
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceClock(5), [6]) == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "3 [0,10) LATE #1/1 last [6] @9",
    ]


def test_a_stale_alarm_closes_the_sliding_windows_that_fired_and_no_others(play):
    strategy = WindowingStrategy(
        SlidingWindows(15, period=5, offset=2), EARLY_THEN_FIRST, "discarding", 100
    )
    outputs = play(
        strategy,
        AdvanceWatermark(-20),
        [-25],
        AdvanceWatermark(-11),
        AdvanceClock(10),
        [6, -5, -20],
        AdvanceWatermark(-1),
        AdvanceWatermark(300),
    )
    assert outputs == [
        "1 [-38,-23) LATE #0/0 first [-25] @-24",
        "2 [-33,-18) ON_TIME #0/0 first [-25] @-19",
        "2 [-28,-13) ON_TIME #0/0 first [-25] @-14",
        # The clock is past the alarms of -25: two of its windows closed without a pane.
        "4 [-28,-13) dropped -20, closed",
        "4 [-33,-18) dropped -20, closed",
        "5 [-23,-8) ON_TIME #0/0 first [-20] @-9",
        "5 [-18,-3) ON_TIME #0/0 first [-5] @-4",
        "6 [-13,2) ON_TIME #0/0 first last [-5] @1",
        "6 [-8,7) ON_TIME #0/0 first last [-5, 6] @6",
        "6 [-3,12) ON_TIME #0/0 first last [6] @11",
        "6 [2,17) ON_TIME #0/0 first last [6] @16",
    ]


# -- alarms that nobody needs are not kept ---------------------------------------------------


def alarms(state: KeyState) -> list[tuple[int, ...]]:
    return [window.alarms for window in state.windows.values()]


def test_a_trigger_that_fires_often_does_not_pile_up_alarms():
    trigger = Repeatedly(AfterFirst(AfterCount(1), AfterProcessingTime("1 hour")))
    machine = Grouping(WindowingStrategy(TEN, trigger), Count())
    state, panes = KeyState(), 0
    for second in range(50):
        state, _ = machine.step(state, AdvanceClock(second * 1_000))
        state, out = machine.step(state, Bundle((Element(second, 5),)))
        panes += len(out)
        assert alarms(state) == [()]
    assert panes == 50


def test_a_trigger_that_waits_keeps_one_alarm_for_its_target():
    machine = Grouping(WindowingStrategy(TEN, Repeatedly(AfterProcessingTime("1 hour"))), Count())
    state = KeyState()
    for second in range(50):
        state, _ = machine.step(state, AdvanceClock(second * 1_000))
        state, _ = machine.step(state, Bundle((Element(second, 5),)))
    assert alarms(state) == [(HOUR,)]
    assert machine.wakes(state) == Wakes(9, HOUR)


def test_a_merged_session_waits_only_for_the_earliest_target_of_its_parts():
    machine = Grouping(WindowingStrategy(Sessions(10), Repeatedly(SOON)), Count())
    state = KeyState()
    for clock, timestamp in ((0, 15), (2, 0), (4, 9)):
        state, _ = machine.step(state, AdvanceClock(clock))
        state, _ = machine.step(state, Bundle((Element(timestamp, timestamp),)))
    assert {window: kept.alarms for window, kept in state.windows.items()} == {
        IntervalWindow(0, 25): (5,)
    }


def test_a_trigger_that_minds_keeps_each_alarm_until_the_clock_is_past_it():
    machine = Grouping(
        WindowingStrategy(
            TEN,
            Repeatedly(
                AfterEach(
                    AfterFirst(AfterCount(2), SOON),
                    AfterFirst(AfterCount(2), AfterProcessingTime(7)),
                )
            ),
        ),
        Count(),
    )
    state = KeyState()
    for clock in (0, 1):
        state, _ = machine.step(state, AdvanceClock(clock))
        for timestamp in (3, 4):
            state, _ = machine.step(state, Bundle((Element(timestamp, timestamp),)))
    assert alarms(state) == [(5, 8)]
    state, _ = machine.step(state, AdvanceClock(5))
    assert alarms(state) == [(5, 8)]
    state, _ = machine.step(state, AdvanceClock(6))
    assert alarms(state) == [(8,)]


def test_a_trigger_without_processing_time_has_no_alarms():
    machine = Grouping(WindowingStrategy(TEN, AfterEach(COUNT, COUNT)), Count())
    state, _ = machine.step(KeyState(), Bundle((Element(5, 5),)))
    assert machine.wakes(state) == Wakes(9, None)

"""Processing-time timers: when they are due, and what a stale one does."""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Element, Event
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.trigger_analysis import minds_stale_processing_timers

TEN = bl.FixedWindows(10)
HOUR = 3_600_000
SOON = bl.AfterProcessingTime(5)
COUNT = bl.AfterCount(2)


# -- which triggers mind a stale alarm -------------------------------------------------------


@pytest.mark.parametrize(
    "trigger",
    [
        bl.DefaultTrigger(),
        bl.AfterWatermark(),
        bl.AfterWatermark(early=SOON, late=COUNT),
        SOON,
        COUNT,
        bl.AfterSynchronizedProcessingTime(),
        bl.Never(),
        bl.Always(),
        bl.Repeatedly(bl.AfterFirst(COUNT, SOON)),
        bl.AfterAll(COUNT, SOON),
        bl.OrFinally(bl.Repeatedly(SOON), COUNT),
        bl.OrFinally(bl.Repeatedly(SOON), bl.AfterFirst(COUNT, SOON)),
        bl.OrFinally(bl.Repeatedly(SOON), bl.AfterWatermark()),
        bl.OrFinally(bl.Repeatedly(SOON), bl.Never()),
    ],
    ids=str,
)
def test_common_triggers_do_not_mind_a_stale_alarm(trigger: bl.Trigger):
    assert not minds_stale_processing_timers(trigger)
    assert not Grouping(bl.WindowingStrategy(TEN, trigger), Count()).keeps_processing_timers


EACH = bl.AfterEach(SOON, COUNT)


@pytest.mark.parametrize(
    "trigger",
    [
        EACH,
        bl.Repeatedly(EACH),
        bl.AfterFirst(COUNT, bl.AfterAll(COUNT, EACH)),
        bl.AfterWatermark(early=EACH),
        bl.AfterWatermark(late=EACH),
        bl.OrFinally(EACH, COUNT),
        bl.OrFinally(COUNT, EACH),
        bl.OrFinally(SOON, bl.Repeatedly(COUNT)),
        bl.OrFinally(SOON, bl.DefaultTrigger()),
        bl.OrFinally(SOON, bl.Always()),
        bl.OrFinally(SOON, bl.AfterWatermark(late=COUNT)),
        bl.OrFinally(SOON, bl.OrFinally(COUNT, COUNT)),
        bl.Repeatedly(bl.OrFinally(SOON, bl.Repeatedly(COUNT))),
    ],
    ids=str,
)
def test_after_each_anywhere_and_or_finally_with_an_until_that_goes_on_mind_it(trigger: bl.Trigger):
    assert minds_stale_processing_timers(trigger)
    assert Grouping(bl.WindowingStrategy(TEN, trigger), Count()).keeps_processing_timers


# -- what a stale alarm does -----------------------------------------------------------------

EARLY_THEN_FIRST = bl.AfterEach(
    bl.AfterWatermark(early=SOON), bl.AfterFirst(bl.DefaultTrigger(), SOON)
)


def test_a_stale_alarm_wakes_the_next_child_which_finishes_without_a_pane(play):
    strategy = bl.WindowingStrategy(TEN, EARLY_THEN_FIRST, "discarding", 100)
    # The early child asked to be woken at 5 and went with the on-time pane. The alarm stays; the
    # next child, ready since the end of the window, fires, is suppressed, and is the last.
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceClock(6), [6]) == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "3 [0,10) dropped 6, closed",
    ]


def test_while_the_stale_alarm_is_not_over_the_window_is_open(play):
    strategy = bl.WindowingStrategy(TEN, EARLY_THEN_FIRST, "discarding", 100)
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceClock(5), [6]) == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "3 [0,10) LATE #1/1 last [6] @9",
    ]


def test_a_stale_alarm_closes_the_sliding_windows_that_fired_and_no_others(play):
    strategy = bl.WindowingStrategy(
        bl.SlidingWindows(15, period=5, offset=2), EARLY_THEN_FIRST, "discarding", 100
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


# -- timers that are not needed are not kept ---------------------------------------------------


def processing_timers(state: KeyState) -> list[tuple[int, ...]]:
    return [window.processing_timers for window in state.windows.values()]


def test_a_trigger_that_fires_often_does_not_pile_up_alarms():
    trigger = bl.Repeatedly(bl.AfterFirst(bl.AfterCount(1), bl.AfterProcessingTime("1 hour")))
    machine = Grouping(bl.WindowingStrategy(TEN, trigger), Count())
    state, panes = KeyState(), 0
    for second in range(50):
        state, _ = machine.step(state, AdvanceClock(second * 1_000))
        state, out = machine.step(state, Bundle((Element(second, 5),)))
        panes += len(out)
        assert processing_timers(state) == [()]
    assert panes == 50


def test_a_trigger_that_waits_keeps_one_alarm_for_its_target():
    machine = Grouping(
        bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime("1 hour"))), Count()
    )
    state = KeyState()
    for second in range(50):
        state, _ = machine.step(state, AdvanceClock(second * 1_000))
        state, _ = machine.step(state, Bundle((Element(second, 5),)))
    assert processing_timers(state) == [(HOUR,)]
    assert machine.next_timers(state) == NextTimers(9, HOUR)


def test_a_merged_session_waits_only_for_the_earliest_target_of_its_parts():
    machine = Grouping(bl.WindowingStrategy(bl.Sessions(10), bl.Repeatedly(SOON)), Count())
    state = KeyState()
    for clock, timestamp in ((0, 15), (2, 0), (4, 9)):
        state, _ = machine.step(state, AdvanceClock(clock))
        state, _ = machine.step(state, Bundle((Element(timestamp, timestamp),)))
    assert {window: kept.processing_timers for window, kept in state.windows.items()} == {
        bl.IntervalWindow(0, 25): (5,)
    }


def test_a_trigger_that_minds_keeps_each_alarm_until_the_clock_is_past_it():
    machine = Grouping(
        bl.WindowingStrategy(
            TEN,
            bl.Repeatedly(
                bl.AfterEach(
                    bl.AfterFirst(bl.AfterCount(2), SOON),
                    bl.AfterFirst(bl.AfterCount(2), bl.AfterProcessingTime(7)),
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
    assert processing_timers(state) == [(5, 8)]
    state, _ = machine.step(state, AdvanceClock(5))
    assert processing_timers(state) == [(5, 8)]
    state, _ = machine.step(state, AdvanceClock(6))
    assert processing_timers(state) == [(8,)]


def test_a_trigger_without_processing_time_has_no_alarms():
    machine = Grouping(bl.WindowingStrategy(TEN, bl.AfterEach(COUNT, COUNT)), Count())
    state, _ = machine.step(KeyState(), Bundle((Element(5, 5),)))
    assert machine.next_timers(state) == NextTimers(9, None)


# -- alarms one by one -----------------------------------------------------------------------


def test_an_alarm_at_the_clock_still_wakes_when_an_earlier_one_has_passed(play):
    both = bl.AfterAll(bl.AfterProcessingTime(5), bl.AfterProcessingTime(8))
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(both))
    # At 8 the first alarm has passed and the second has not.
    assert play(strategy, [1], AdvanceClock(8), AdvanceClock(9)) == [
        "2 [0,10) EARLY #0/-1 first [1] @9"
    ]


def test_the_clock_visits_windows_in_their_order_and_not_in_that_of_their_arrival(play):
    assert play(bl.WindowingStrategy(TEN, bl.Repeatedly(SOON)), [11, 1], AdvanceClock(6)) == [
        "1 [0,10) EARLY #0/-1 first [1] @9",
        "1 [10,20) EARLY #0/-1 first [11] @19",
    ]


ALWAYS_ONCE = bl.AfterFirst(bl.Always(), bl.Never())
# When two panes are out, any alarm finishes it.
TWO_PANES = bl.AfterEach(bl.AfterFirst(bl.AfterCount(1), SOON), bl.AfterCount(1), ALWAYS_ONCE)


def test_a_session_that_keeps_its_bounds_keeps_its_stale_alarms(play):
    strategy = bl.WindowingStrategy(bl.Sessions(10), TWO_PANES, "discarding", 100)
    panes = ["0 [0,15) EARLY #0/-1 first [0, 5] @14", "2 [0,15) EARLY #1/-1 [3] @14"]
    open_still = play(strategy, [0, 5], AdvanceClock(4), [3], AdvanceClock(5), [4])
    closed = play(strategy, [0, 5], AdvanceClock(4), [3], AdvanceClock(6), [4])
    assert open_still == [*panes, "4 [0,15) EARLY #2/-1 last [4] @14"]
    assert closed == [*panes, "4 [4,14) EARLY #0/-1 first [4] @13"]


def test_a_session_that_outgrows_its_bounds_leaves_its_stale_alarms_behind(play):
    strategy = bl.WindowingStrategy(bl.Sessions(10), TWO_PANES, "discarding", 100)
    panes = ["0 [0,10) EARLY #0/-1 first [0] @9", "2 [0,15) EARLY #0/-1 first [5] @14"]
    open_still = play(strategy, [0], AdvanceClock(4), [5], AdvanceClock(6), [3])
    closed = play(strategy, [0], AdvanceClock(4), [5], AdvanceClock(10), [3])
    assert open_still == [*panes, "4 [0,15) EARLY #1/-1 last [3] @14"]
    assert closed == [*panes, "4 [3,13) EARLY #0/-1 first [3] @12"]


# -- the end of the window as an alarm -------------------------------------------------------


@pytest.mark.parametrize(
    "trigger",
    [
        bl.Repeatedly(bl.Always()),
        bl.AfterEach(bl.AfterCount(1), bl.DefaultTrigger()),
        bl.Repeatedly(bl.AfterEach(bl.AfterCount(1), bl.DefaultTrigger())),
    ],
    ids=str,
)
def test_the_end_wakes_no_window_whose_trigger_did_not_wait_for_it_when_elements_came(
    play, trigger: bl.Trigger
):
    strategy = bl.WindowingStrategy(TEN, trigger, "discarding", 5)
    assert play(strategy, [5], AdvanceWatermark(10), [6]) == [
        "0 [0,10) EARLY #0/-1 first [5] @9",
        "2 [0,10) LATE #1/0 [6] @9",
    ]


def test_a_wait_for_the_end_is_not_taken_back_by_a_child_that_does_not_wait(play):
    trigger = bl.AfterEach(
        bl.AfterFirst(bl.AfterCount(1), bl.AfterWatermark()), COUNT, bl.DefaultTrigger()
    )
    strategy = bl.WindowingStrategy(TEN, trigger, "discarding", 5)
    # Only the first child waited for the end; the last one finds itself ready there.
    assert play(strategy, [1], [2], [3], AdvanceWatermark(10)) == [
        "0 [0,10) EARLY #0/-1 first [1] @9",
        "2 [0,10) EARLY #1/-1 [2, 3] @9",
        "3 [0,10) ON_TIME #2/0 [] @9",
    ]


# -- what a key asks of its host -------------------------------------------------------------


def wakes_after_each(machine: Grouping, *events: Event) -> list[NextTimers]:
    state, asked = KeyState(), []
    for event in events:
        state, _ = machine.step(state, event)
        asked.append(machine.next_timers(state))
    return asked


def test_a_key_waits_for_the_end_of_its_window_and_then_for_its_expiry():
    machine = Grouping(bl.WindowingStrategy(TEN, None, "discarding", 5), Count())
    element = Bundle((Element(5, 5),))
    at_9, at_10, at_15 = (AdvanceWatermark(to) for to in (9, 10, 15))
    assert wakes_after_each(machine, element, at_9, at_10, element, at_15) == [
        NextTimers(9, None),
        NextTimers(9, None),
        NextTimers(14, None),
        NextTimers(14, None),
        NextTimers(None, None),
    ]


def test_a_key_does_not_wait_for_a_target_that_is_behind_the_clock():
    trigger = bl.Repeatedly(bl.AfterAll(SOON, bl.AfterCount(3)))
    machine = Grouping(bl.WindowingStrategy(TEN, trigger), Count())
    element, at_5, at_6 = Bundle((Element(5, 5),)), AdvanceClock(5), AdvanceClock(6)
    assert wakes_after_each(machine, element, at_5, at_6, element) == [
        NextTimers(9, 5),
        NextTimers(9, 5),
        NextTimers(9, None),
        NextTimers(9, None),
    ]

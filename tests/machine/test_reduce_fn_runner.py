"""What ``ReduceFnRunnerTest`` of Beam Java plays, and the panes that it asserts.

Each test names its original. Where that has a mock as trigger, a real one
answers the same here. The timer that it fires by hand comes due by a clock.
"""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark
from beamlike.model.combine import Sum
from beamlike.model.time import END_OF_GLOBAL_WINDOW

TEN, HUNDRED = bl.FixedWindows(10), bl.FixedWindows(100)
TEN_AFTER = bl.Repeatedly(bl.AfterProcessingTime(10))
TWO_THEN_ONE = bl.AfterEach(bl.AfterCount(2), bl.AfterCount(1))
TWO_OR_END = bl.Repeatedly(bl.AfterFirst(bl.AfterCount(2), bl.AfterWatermark()))
EARLY_THEN_LATE = bl.AfterEach(
    bl.OrFinally(bl.Repeatedly(bl.AfterProcessingTime(5)), bl.AfterWatermark()),
    bl.Repeatedly(bl.AfterProcessingTime(25)),
)


def strategy(window_fn, trigger, accumulation, lateness, **rest) -> bl.WindowingStrategy:
    """The tester of the original stamps panes with the earliest time unless told otherwise."""
    rest = {"timestamp_combiner": "earliest"} | rest
    return bl.WindowingStrategy(window_fn, trigger, accumulation, lateness, **rest)


# -- one pane after the other ----------------------------------------------------------------


def test_each_discarding_pane_is_stamped_by_what_is_new_in_it(play_in_both):
    """``testOnElementBufferingDiscarding``"""
    assert play_in_both(strategy(TEN, TWO_THEN_ONE, "discarding", 100), [1], [2], [3], [4]) == [
        "1 [0,10) EARLY #0/-1 first [1, 2] @1",
        "2 [0,10) EARLY #1/-1 last [3] @3",
        "3 [0,10) dropped 4, closed",
    ]


def test_so_is_each_discarding_sum(play_in_both):
    """``testOnElementCombiningDiscarding``"""
    combined = strategy(TEN, TWO_THEN_ONE, "discarding", 100)
    assert play_in_both(combined, [2], [3], [4], [6], combine=Sum()) == [
        "1 [0,10) EARLY #0/-1 first 5 @2",
        "2 [0,10) EARLY #1/-1 last 4 @4",
        "3 [0,10) dropped 6, closed",
    ]


@pytest.mark.parametrize(
    ("accumulation", "everything"), [("discarding", [3]), ("accumulating", [1, 2, 3])]
)
def test_a_firing_with_nothing_new_uses_no_index(play_in_both, accumulation, everything):
    """``testIdempotentEmptyPanesDiscarding``, ``testIdempotentEmptyPanesAccumulating``"""
    until = bl.AfterAll(bl.AfterProcessingTime(5), bl.AfterCount(3))
    repeats = strategy(TEN, bl.OrFinally(bl.DefaultTrigger(), until), accumulation, 100)
    # When the delay is over the trigger is asked, and the default trigger in it is still ready.
    assert play_in_both(repeats, [1], [2], AdvanceWatermark(12), AdvanceClock(6), [3]) == [
        "2 [0,10) ON_TIME #0/0 first [1, 2] @1",
        f"4 [0,10) LATE #1/1 last {everything} @9",
    ]


def test_the_only_pane_of_a_window_that_is_over_may_be_late_and_first_and_last(play_in_both):
    """``testPaneInfoSkipToNonSpeculativeAndFinish``"""
    once = strategy(TEN, bl.AfterCount(1), "discarding", 100)
    assert play_in_both(once, AdvanceWatermark(15), [1]) == ["1 [0,10) LATE #0/0 first last [1] @9"]


# -- empty panes -----------------------------------------------------------------------------


@pytest.mark.parametrize(("accumulation", "shown"), [("discarding", []), ("accumulating", [1, 2])])
def test_the_end_and_the_expiry_each_give_a_pane_although_nothing_is_new(
    play_in_both, accumulation, shown
):
    """``testPaneInfoAllStatesAfterWatermark``, ``...AfterWatermarkAccumulating``"""
    always = strategy(TEN, TWO_OR_END, accumulation, 100, closing_behavior="fire_always")
    advances = AdvanceWatermark(50), AdvanceWatermark(150)
    assert play_in_both(always, AdvanceWatermark(0), [1, 2], *advances) == [
        "1 [0,10) EARLY #0/-1 first [1, 2] @1",
        f"2 [0,10) ON_TIME #1/0 {shown} @9",
        f"3 [0,10) LATE #2/1 last {shown} @9",
    ]


def test_an_expiry_with_nothing_new_gives_none_unless_asked_for(play_in_both):
    """``noEmptyPanesFinalIfNonEmpty``"""
    quiet = strategy(TEN, TWO_OR_END, "accumulating", 100, closing_behavior="fire_if_non_empty")
    advances = AdvanceWatermark(20), AdvanceWatermark(250)
    assert play_in_both(quiet, AdvanceWatermark(0), [1, 2], *advances) == [
        "1 [0,10) EARLY #0/-1 first [1, 2] @1",
        "2 [0,10) ON_TIME #1/0 [1, 2] @9",
    ]


def test_an_empty_pane_may_be_on_time_and_final_at_once(play_in_both):
    """``testPaneInfoFinalAndOnTime``"""
    until_end = bl.OrFinally(bl.Repeatedly(bl.AfterCount(2)), bl.AfterWatermark())
    final = strategy(TEN, until_end, "discarding", 100, closing_behavior="fire_always")
    assert play_in_both(final, AdvanceWatermark(0), [1, 2], AdvanceWatermark(150)) == [
        "1 [0,10) EARLY #0/-1 first [1, 2] @1",
        "2 [0,10) ON_TIME #1/0 last [] @9",
    ]


def test_an_empty_on_time_pane_comes_out_of_a_window_that_closes_with_data_only(play_in_both):
    """``testEmptyOnTimeWithOnTimeBehaviorBackwardCompatibility``"""
    early = strategy(TEN, bl.AfterWatermark(early=bl.AfterCount(1)), "accumulating", 0)
    advance = AdvanceWatermark(11)
    assert play_in_both(early, AdvanceWatermark(0), [(1, 1)], advance, combine=Sum()) == [
        "1 [0,10) EARLY #0/-1 first 1 @1",
        "2 [0,10) ON_TIME #1/0 last 1 @9",
    ]


def test_without_one_the_first_pane_that_is_not_early_is_late(play_in_both):
    """``testEmptyOnTimeWithOnTimeBehaviorFireIfNonEmptyAndLateData``"""
    silent = strategy(
        TEN, EARLY_THEN_LATE, "accumulating", 100, on_time_behavior="fire_if_non_empty"
    )
    outputs = play_in_both(
        silent,
        AdvanceWatermark(0),
        [(1, 1), (1, 3), (1, 7), (1, 5)],
        AdvanceClock(6),
        AdvanceWatermark(11),
        [(1, 9)],
        AdvanceClock(6 + 25 + 1),
        combine=Sum(),
    )
    assert outputs == ["2 [0,10) EARLY #0/-1 first 4 @1", "5 [0,10) LATE #1/0 5 @9"]


# -- clocks and expiry -----------------------------------------------------------------------


def test_processing_time_ends_no_window(play_in_both):
    """``testProcessingTimeTimerDoesNotGc``"""
    waiting = strategy(HUNDRED, TEN_AFTER, "accumulating", 0)
    start, later = AdvanceClock(5000), AdvanceClock(10000)
    assert play_in_both(waiting, start, [2], [5], later, [7], combine=Sum()) == [
        "3 [0,100) EARLY #0/-1 first 7 @2"
    ]


def test_a_delay_that_is_over_after_the_expiry_fires_nothing(play_in_both):
    """``testLateProcessingTimeTimer``, ``testCombiningAccumulatingProcessingTime``"""
    waiting = strategy(HUNDRED, TEN_AFTER, "accumulating", 0)
    advances = AdvanceWatermark(100), AdvanceClock(5010), AdvanceClock(6000)
    assert play_in_both(waiting, AdvanceClock(5000), [2], [5], *advances, combine=Sum()) == [
        "3 [0,100) ON_TIME #0/0 first last 7 @2"
    ]


def test_a_session_may_end_and_expire_at_once(play_in_both):
    """``testSessionEowAndGcTogether``"""
    sessions = strategy(bl.Sessions(10), None, "accumulating", 50, closing_behavior="fire_always")
    assert play_in_both(sessions, AdvanceWatermark(0), [1], AdvanceWatermark(100)) == [
        "2 [1,11) ON_TIME #0/0 first last [1] @1"
    ]


def test_what_comes_at_the_last_millisecond_of_lateness_comes_out_with_the_expiry(play_in_both):
    """``setGarbageCollectionHoldOnLateElements``"""
    two_late = bl.AfterWatermark(late=bl.AfterCount(2))
    late = strategy(TEN, two_late, "discarding", 100, timestamp_combiner="end_of_window")
    last, over = AdvanceWatermark(109), AdvanceWatermark(110)
    assert play_in_both(late, AdvanceWatermark(0), [1], last, [2], over) == [
        "2 [0,10) ON_TIME #0/0 first [1] @9",
        "4 [0,10) LATE #1/1 last [2] @9",
    ]


def test_a_window_whose_lateness_would_outlast_time_is_over_with_it(play_in_both):
    """``testFixedWindowEndOfTimeGarbageCollection``"""
    year = 365 * 86_400_000
    at = END_OF_GLOBAL_WINDOW - year + 1
    start = at - at % 10
    patient = strategy(TEN, bl.AfterWatermark(late=bl.Never()), "discarding", year)
    steps = (
        [(13, at)],
        AdvanceWatermark(start + 9),
        [(42, at)],
        AdvanceWatermark(END_OF_GLOBAL_WINDOW),
        [(1, at)],
        AdvanceWatermark(END_OF_GLOBAL_WINDOW + 1),
        [(2, at)],
    )
    window = f"[{start},{start + 10})"
    assert play_in_both(patient, *steps, combine=Sum()) == [
        f"3 {window} ON_TIME #0/0 first 55 @{at}",
        f"5 {window} LATE #1/1 last 1 @{start + 9}",
        f"6 {window} dropped 2, expired by 1",
    ]


# -- closed windows --------------------------------------------------------------------------


def test_an_element_is_dropped_once_for_each_closed_window_that_it_is_in(play_in_both):
    """``testDropDataMultipleWindowsFinishedTrigger``"""
    sliding = bl.WindowingStrategy(
        bl.SlidingWindows(100, period=30), bl.AfterWatermark(), "discarding", 1000
    )
    outputs = play_in_both(
        sliding,
        [(10, 23), (12, 40)],
        AdvanceWatermark(70),
        [(14, 60)],
        AdvanceWatermark(130),
        [(16, 40)],
        combine=Sum(),
    )
    assert outputs == [
        "1 [-60,40) ON_TIME #0/0 first last 10 @39",
        "1 [-30,70) ON_TIME #0/0 first last 22 @69",
        "2 [-30,70) dropped 14, closed",
        "3 [0,100) ON_TIME #0/0 first last 36 @99",
        "3 [30,130) ON_TIME #0/0 first last 26 @129",
        "4 [30,130) dropped 16, closed",
        "4 [0,100) dropped 16, closed",
        "4 [-30,70) dropped 16, closed",
    ]


def test_a_session_that_closed_expires_without_another_pane(play_in_both):
    """``testMergingWithCloseBeforeGC``"""
    once = strategy(bl.Sessions(10), bl.AfterWatermark(), "discarding", 50)
    assert play_in_both(once, [1, 10], AdvanceWatermark(30), AdvanceWatermark(100)) == [
        "1 [1,20) ON_TIME #0/0 first last [1, 10] @1"
    ]


def test_an_element_with_the_bounds_of_a_closed_session_may_merge_with_others(play_in_both):
    """``testMergingWithClosedDoesNotPoison``"""
    once = strategy(bl.Sessions(10), bl.AfterProcessingTime(0), "discarding", 50)
    closed = [2], AdvanceClock(1)
    assert play_in_both(once, *closed, [2], [1, 2, 3], AdvanceWatermark(100)) == [
        "1 [2,12) EARLY #0/-1 first last [2] @2",
        "2 [2,12) dropped 2, closed",
        "4 [1,13) ON_TIME #0/0 first last [1, 2, 3] @1",
    ]

"""Triggers at work in a grouping: what Beam's tests of them play, and the panes that come of it.

Originals: the ``*StateMachineTest`` classes of Beam Java, ``strategy_test.go`` of Prism,
``trigger_test.py`` and ``trigger_transcripts.yaml`` of Beam Python. Java's let two windows that
overlap live side by side until they merge. A grouping merges them at once; so here
they lie apart, and a later element joins them.
"""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark

TEN, SESSIONS = bl.FixedWindows(10), bl.Sessions(10)
ONE, TWO, THREE, FOUR, FIVE = map(bl.AfterCount, range(1, 6))


def late(window_fn, trigger, accumulation="discarding") -> bl.WindowingStrategy:
    return bl.WindowingStrategy(window_fn, trigger, accumulation, 100)


# -- merging ---------------------------------------------------------------------------------


def test_all_of_several_wait_again_where_one_is_unfinished_after_a_merge(play_in_both):
    """``AfterAllStateMachineTest.testOnMergeRewinds``"""
    rewound = bl.AfterEach(bl.AfterAll(bl.AfterWatermark(), ONE), bl.Repeatedly(ONE))
    to_first, to_second = AdvanceWatermark(11), AdvanceWatermark(25)
    outputs = play_in_both(
        late(SESSIONS, rewound), [1], [15], to_first, [6], [3], to_second, [2], [2]
    )
    assert outputs == [
        "2 [1,11) ON_TIME #0/0 first [1] @10",
        "5 [1,25) ON_TIME #0/0 first [3, 6, 15] @24",
        "6 [1,25) LATE #1/1 [2] @24",
        "7 [1,25) LATE #2/2 [2] @24",
    ]


def test_the_first_of_several_waits_again_after_a_merge(play_in_both):
    """``AfterFirstStateMachineTest.testShouldFireAfterMerge``"""
    rewound = bl.AfterEach(bl.AfterFirst(FIVE, bl.AfterWatermark()), bl.Repeatedly(ONE))
    outputs = play_in_both(late(SESSIONS, rewound), [1], AdvanceWatermark(11), [5], [1, 2, 3, 4, 5])
    assert outputs == [
        "1 [1,11) ON_TIME #0/0 first [1] @10",
        "3 [1,15) EARLY #0/-1 first [1, 2, 3, 4, 5, 5] @14",
    ]


PHASES = [
    pytest.param(bl.AfterEach(bl.AfterWatermark(), bl.Repeatedly(ONE)), id="after each"),
    pytest.param(bl.AfterWatermark(early=bl.AfterCount(100), late=ONE), id="early and late"),
]


@pytest.mark.parametrize("trigger", PHASES)
def test_sessions_that_both_fired_at_their_ends_are_late_together(
    play_in_both, trigger: bl.Trigger
):
    """``testOnMergeAlreadyFinished``, ``testEarlyAndLateOnMergeAlreadyFinished``"""
    both = AdvanceWatermark(25)
    assert play_in_both(late(SESSIONS, trigger), [1], [15], both, [1], [15], [6], [1]) == [
        "2 [1,11) ON_TIME #0/0 first [1] @10",
        "2 [15,25) ON_TIME #0/0 first [15] @24",
        "3 [1,11) LATE #1/1 [1] @10",
        "4 [15,25) LATE #1/1 [15] @24",
        "5 [1,25) LATE #0/0 first [6] @24",
        "6 [1,25) LATE #1/1 [1] @24",
    ]


@pytest.mark.parametrize("trigger", PHASES)
def test_sessions_of_which_one_fired_at_its_end_wait_for_the_other_s(
    play_in_both, trigger: bl.Trigger
):
    """``testOnMergeRewinds``, ``testEarlyAndLateOnMergeRewinds``"""
    first, second = AdvanceWatermark(11), AdvanceWatermark(25)
    assert play_in_both(late(SESSIONS, trigger), [1], [15], first, [1], [6], [1], second) == [
        "2 [1,11) ON_TIME #0/0 first [1] @10",
        "3 [1,11) LATE #1/1 [1] @10",
        "6 [1,25) ON_TIME #0/0 first [1, 6, 15] @24",
    ]


def test_a_closed_session_merges_with_nothing_that_comes_later(play_in_both):
    """``AfterPaneStateMachineTest.testAfterPaneElementCountSessions``"""
    assert play_in_both(late(SESSIONS, TWO), [1, 2], [7, 9]) == [
        "0 [1,12) EARLY #0/-1 first last [1, 2] @11",
        "1 [7,19) EARLY #0/-1 first last [7, 9] @18",
    ]


def test_two_sessions_with_one_element_each_make_two_when_they_merge(play_in_both):
    """``RepeatedlyStateMachineTest.testShouldFireAfterMerge``"""
    assert play_in_both(late(SESSIONS, bl.Repeatedly(TWO)), [1], [5], [3]) == [
        "1 [1,15) EARLY #0/-1 first [1, 5] @14"
    ]


# -- one window ------------------------------------------------------------------------------


def test_a_count_of_one_window_says_nothing_of_another(play_in_both):
    """``AfterPaneStateMachineTest.testAfterPaneElementCountFixedWindows``"""
    assert play_in_both(late(TEN, TWO), [1], [2], [11], [3], [12]) == [
        "1 [0,10) EARLY #0/-1 first last [1, 2] @9",
        "3 [0,10) dropped 3, closed",
        "4 [10,20) EARLY #0/-1 first last [11, 12] @19",
    ]


def test_the_default_trigger_fires_each_window_at_its_end_and_goes_on(play_in_both):
    """``DefaultTriggerStateMachineTest.testDefaultTriggerFixedWindows``"""
    advances = AdvanceWatermark(99), AdvanceWatermark(100), AdvanceWatermark(199)
    default = late(bl.FixedWindows(100), None)
    assert play_in_both(default, [1, 101], *advances, [2], AdvanceWatermark(200), [102]) == [
        "2 [0,100) ON_TIME #0/0 first [1] @99",
        "4 [0,100) LATE #1/1 [2] @99",
        "5 [100,200) ON_TIME #0/0 first [101] @199",
        "6 [100,200) LATE #1/1 [102] @199",
    ]


def test_until_judges_all_elements_and_not_those_of_the_pane(play_in_both):
    """``OrFinallyStateMachineTest.testActualFiresButUntilFinishes``"""
    until_three = bl.OrFinally(bl.Repeatedly(TWO), until=THREE)
    assert play_in_both(late(TEN, until_three), [1], [2], [3], [4]) == [
        "1 [0,10) EARLY #0/-1 first [1, 2] @9",
        "2 [0,10) EARLY #1/-1 last [3] @9",
        "3 [0,10) dropped 4, closed",
    ]


def test_what_comes_first_starts_everything_over(play_in_both):
    """``RepeatedlyStateMachineTest``: ``testRepeatedlyAfterFirstProcessingTime``, ``...Count``"""
    first = late(TEN, bl.Repeatedly(bl.AfterFirst(bl.AfterProcessingTime(15), FIVE)))
    clocks = [AdvanceClock(at) for at in (15, 16, 31, 32)]
    assert play_in_both(first, [1], *clocks[:2], [2], [3, 4, 5, 6], [7], *clocks[2:]) == [
        "2 [0,10) EARLY #0/-1 first [1] @9",
        "4 [0,10) EARLY #1/-1 [2, 3, 4, 5, 6] @9",
        "7 [0,10) EARLY #2/-1 [7] @9",
    ]


def test_always_asks_for_a_pane_of_every_bundle_and_never_finishes(play_in_both):
    """``ReshuffleTriggerStateMachineTest``, ``TriggerAlways`` of ``windowinto.go``"""
    always = late(bl.FixedWindows(100), bl.Always())
    at_end, at_expiry = AdvanceWatermark(100), AdvanceWatermark(500)
    # Nothing wakes the trigger at the end of a window, so its on-time pane may never come.
    assert play_in_both(always, [1], [301, 302], [2], at_end, at_expiry) == [
        "0 [0,100) EARLY #0/-1 first [1] @99",
        "1 [300,400) EARLY #0/-1 first [301, 302] @399",
        "2 [0,100) EARLY #1/-1 [2] @99",
        "4 [300,400) ON_TIME #1/0 last [] @399",
    ]


# -- one element after the other -------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        (bl.Never(), "-------"),
        (ONE, "*--"),
        (TWO, "-*--"),
        (bl.Repeatedly(TWO), "-*-*-*"),
        (bl.Always(), "***"),
        (bl.AfterEach(TWO, ONE, THREE), "-**--*----"),
        (bl.AfterFirst(TWO, THREE, FOUR), "-*--------"),
        (bl.AfterAll(TWO, THREE, FOUR), "---*------"),
        # In Prism a count that is the main trigger of another goes on by itself.
        (bl.OrFinally(bl.Repeatedly(TWO), until=bl.AfterCount(7)), "-*-*-**----"),
        (bl.OrFinally(TWO, until=bl.AfterCount(7)), "-*---------"),
        (bl.Repeatedly(bl.AfterEach(TWO, ONE, THREE)), "-**--*-**--*-"),
        (bl.Repeatedly(bl.AfterFirst(TWO, THREE, FOUR)), "-*-*-*-*-*"),
        (bl.Repeatedly(bl.AfterAll(TWO, THREE, FOUR)), "---*---*--"),
        (bl.Repeatedly(bl.OrFinally(bl.Repeatedly(TWO), until=bl.AfterCount(7))), "-*-*-**-*-*"),
    ],
    ids=str,
)
def test_which_elements_make_a_trigger_fire(play_in_both, trigger: bl.Trigger, fires: str):
    """``TestTriggers_isReady`` of Prism"""
    bundles = [[number] for number in range(len(fires))]
    outputs = play_in_both(
        bl.WindowingStrategy(bl.GlobalWindows(), trigger, "discarding", 0), *bundles
    )
    panes = [line for line in outputs if "dropped" not in line]
    assert [int(line.split()[0]) for line in panes] == [
        number for number, fired in enumerate(fires) if fired == "*"
    ]


# -- Beam Python's transcripts ---------------------------------------------------------------


def test_early_panes_and_an_empty_last_one(play_in_both):
    """``discarding_early_fixed``"""
    early = bl.WindowingStrategy(TEN, bl.AfterWatermark(early=TWO), "discarding")
    assert play_in_both(early, [1, 2, 3], [4], [14], [5], [18], [6], AdvanceWatermark(100)) == [
        "0 [0,10) EARLY #0/-1 first [1, 2, 3] @9",
        "3 [0,10) EARLY #1/-1 [4, 5] @9",
        "4 [10,20) EARLY #0/-1 first [14, 18] @19",
        "6 [0,10) ON_TIME #2/0 last [6] @9",
        "6 [10,20) ON_TIME #1/0 last [] @19",
    ]


def test_a_closed_window_is_remembered_until_it_expires(play_in_both):
    """``garbage_collection``"""
    once = bl.WindowingStrategy(TEN, TWO, "discarding", 10)
    steps = [1, 2, 3, 10, 11, 25], AdvanceWatermark(19), [4], AdvanceWatermark(20), [5], [12]
    assert play_in_both(once, *steps) == [
        "0 [0,10) EARLY #0/-1 first last [1, 2, 3] @9",
        "0 [10,20) EARLY #0/-1 first last [10, 11] @19",
        "2 [0,10) dropped 4, closed",
        "4 [0,10) dropped 5, expired by 1",
        "5 [10,20) dropped 12, closed",
    ]


@pytest.mark.parametrize(
    ("watermark", "times", "stamp"), [(5, [2, 3, 7, 8], 7), (8, [2, 3, 7], 9)], ids=str
)
def test_data_known_to_be_late_gives_no_pane_its_time(play_in_both, watermark, times, stamp):
    """``known_late_data_watermark``, ``known_late_data_no_watermark_hold_possible``"""
    earliest = bl.WindowingStrategy(TEN, timestamp_combiner="earliest")
    assert play_in_both(earliest, AdvanceWatermark(watermark), times, AdvanceWatermark(11)) == [
        f"2 [0,10) ON_TIME #0/0 first last {times} @{stamp}"
    ]


def test_sessions_grow_from_early_panes_over_one_on_time_to_late_ones(play_in_both):
    """``test_sessions_watermark_with_early_late`` of ``TriggerTest``"""
    everything = late(SESSIONS, bl.AfterWatermark(early=TWO, late=ONE), "accumulating")
    steps = [1, 15], [7, 30], AdvanceWatermark(100), [1, 2], [21]
    assert play_in_both(everything, *steps) == [
        "1 [1,25) EARLY #0/-1 first [1, 7, 15] @24",
        "2 [1,25) ON_TIME #1/0 [1, 7, 15] @24",
        "2 [30,40) ON_TIME #0/0 first [30] @39",
        "3 [1,25) LATE #2/1 [1, 1, 2, 7, 15] @24",
        "4 [1,40) LATE #0/0 first [1, 1, 2, 7, 15, 21, 30] @39",
    ]


def test_late_data_completes_what_all_of_several_wait_for(play_in_both):
    """``test_sessions_after_all`` of ``TriggerTest``"""
    five = late(SESSIONS, bl.AfterAll(FIVE, bl.AfterWatermark()), "accumulating")
    apart = [1], [2], [3], AdvanceWatermark(100), [1], [2]
    together = [1, 2], [3], AdvanceWatermark(100), [1, 2]
    # A late element that merges keeps the output back no longer: the next one finds it moved on.
    assert play_in_both(five, *apart) == ["5 [1,13) LATE #0/0 first last [1, 1, 2, 2, 3] @12"]
    assert play_in_both(five, *together) == ["3 [1,13) ON_TIME #0/0 first last [1, 1, 2, 2, 3] @12"]


def test_counts_of_phases_start_over_also_where_sessions_grow(play_in_both):
    """``test_sessions_after_each`` of ``TriggerTest``"""
    pairs = [[number, number + 1] for number in range(0, 10, 2)]
    phases = bl.AfterEach(TWO, THREE)
    assert play_in_both(late(SESSIONS, phases, "accumulating"), *pairs) == [
        "0 [0,11) EARLY #0/-1 first [0, 1] @10",
        "2 [0,15) EARLY #0/-1 first last [0, 1, 2, 3, 4, 5] @14",
        # It is closed, and what comes next is another session.
        "3 [6,17) EARLY #0/-1 first [6, 7] @16",
    ]
    assert play_in_both(late(SESSIONS, bl.Repeatedly(phases), "accumulating"), *pairs) == [
        "0 [0,11) EARLY #0/-1 first [0, 1] @10",
        "2 [0,15) EARLY #0/-1 first [0, 1, 2, 3, 4, 5] @14",
        "3 [0,17) EARLY #0/-1 first [0, 1, 2, 3, 4, 5, 6, 7] @16",
    ]

"""Where a rule turns: one millisecond before, at, and after each boundary."""

import beamlike as bl
from beamlike.machine.events import AdvanceClock, AdvanceWatermark

TEN = bl.FixedWindows(10)
LATE_AND_EARLY = bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1))


# -- the end of a window against the watermark -----------------------------------------------


def test_a_window_is_open_while_the_watermark_is_at_its_last_millisecond(play):
    assert play(bl.WindowingStrategy(TEN), [5], AdvanceWatermark(9)) == []


def test_a_window_fires_when_the_watermark_is_at_its_end(play):
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, [5], AdvanceWatermark(10)) == ["1 [0,10) ON_TIME #0/0 first [5] @9"]


def test_a_window_fires_when_the_watermark_jumps_over_its_end(play):
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, [5], AdvanceWatermark(11)) == ["1 [0,10) ON_TIME #0/0 first [5] @9"]


def test_a_window_of_negative_times_fires_at_its_end_too(play):
    outputs = play(
        bl.WindowingStrategy(TEN), [-1, -10, -11], AdvanceWatermark(-1), AdvanceWatermark(0)
    )
    assert outputs == [
        "1 [-20,-10) ON_TIME #0/0 first last [-11] @-11",
        "2 [-10,0) ON_TIME #0/0 first last [-10, -1] @-1",
    ]


def test_an_advance_to_where_the_watermark_stands_changes_nothing(play):
    advance = AdvanceWatermark(10)
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, [5], advance, advance) == ["1 [0,10) ON_TIME #0/0 first [5] @9"]


# -- expiry ----------------------------------------------------------------------------------


def test_without_lateness_the_end_of_the_window_is_its_expiry(play):
    assert play(bl.WindowingStrategy(TEN), [5], AdvanceWatermark(10), [6]) == [
        "1 [0,10) ON_TIME #0/0 first last [5] @9",
        "2 [0,10) dropped 6, expired by 1",
    ]


def test_an_element_is_accepted_at_the_last_millisecond_of_lateness(play):
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, AdvanceWatermark(14), [5]) == ["1 [0,10) LATE #0/0 first [5] @9"]


def test_an_element_is_dropped_one_millisecond_later(play):
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, AdvanceWatermark(15), [5]) == ["1 [0,10) dropped 5, expired by 1"]


def test_a_drop_says_by_how_much_it_missed(play):
    strategy = bl.WindowingStrategy(TEN, allowed_lateness=5)
    assert play(strategy, AdvanceWatermark(16), [5]) == ["1 [0,10) dropped 5, expired by 2"]


def test_being_behind_the_watermark_alone_drops_nothing(play):
    outputs = play(bl.WindowingStrategy(TEN), AdvanceWatermark(9), [0], AdvanceWatermark(10))
    assert outputs == ["2 [0,10) ON_TIME #0/0 first last [0] @9"]


def test_a_window_waits_for_its_expiry_and_then_gives_what_it_has(play):
    strategy = bl.WindowingStrategy(TEN, bl.Never(), "discarding", 5)
    assert play(strategy, [5], AdvanceWatermark(14)) == []
    assert play(strategy, [5], AdvanceWatermark(15)) == ["1 [0,10) ON_TIME #0/0 first last [5] @9"]


def test_at_its_last_millisecond_of_lateness_a_window_goes_on_as_before(play):
    strategy = bl.WindowingStrategy(TEN, None, "discarding", 5)
    outputs = play(
        strategy, [5], AdvanceWatermark(10), AdvanceWatermark(14), [6], [7], AdvanceWatermark(15)
    )
    assert outputs == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "3 [0,10) LATE #1/1 [6] @9",
        "4 [0,10) LATE #2/2 [7] @9",
    ]


def test_one_jump_over_end_and_expiry_gives_one_pane(play):
    strategy = bl.WindowingStrategy(TEN, bl.AfterWatermark(late=bl.AfterCount(1)), "discarding", 5)
    assert play(strategy, [5], AdvanceWatermark(15)) == ["1 [0,10) ON_TIME #0/0 first last [5] @9"]


def test_a_fire_always_window_closes_with_an_empty_pane_only_past_its_expiry(play):
    strategy = bl.WindowingStrategy(
        TEN, allowed_lateness=5, accumulation="discarding", closing_behavior="fire_always"
    )
    on_time = "1 [0,10) ON_TIME #0/0 first [5] @9"
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceWatermark(14)) == [on_time]
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceWatermark(15)) == [
        on_time,
        "2 [0,10) LATE #1/1 last [] @9",
    ]


def test_an_accumulating_closing_pane_shows_the_unchanged_content(play):
    strategy = bl.WindowingStrategy(TEN, None, "accumulating", 5, closing_behavior="fire_always")
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceWatermark(15)) == [
        "1 [0,10) ON_TIME #0/0 first [5] @9",
        "2 [0,10) LATE #1/1 last [5] @9",
    ]


def test_a_fire_always_window_whose_trigger_finished_closes_without_another_pane(play):
    strategy = bl.WindowingStrategy(
        TEN, bl.AfterCount(1), "discarding", 5, closing_behavior="fire_always"
    )
    assert play(strategy, [5], [6], AdvanceWatermark(15)) == [
        "0 [0,10) EARLY #0/-1 first last [5] @9",
        "1 [0,10) dropped 6, closed",
    ]


# -- the empty on-time pane ------------------------------------------------------------------


def test_an_on_time_pane_is_emitted_although_it_is_empty(play):
    strategy = bl.WindowingStrategy(TEN, LATE_AND_EARLY, "discarding", 5)
    assert play(strategy, [5], AdvanceWatermark(10)) == [
        "0 [0,10) EARLY #0/-1 first [5] @9",
        "1 [0,10) ON_TIME #1/0 [] @9",
    ]


def test_a_suppressed_on_time_pane_uses_no_index_and_the_next_one_is_late(play):
    strategy = bl.WindowingStrategy(
        TEN, LATE_AND_EARLY, "discarding", 5, on_time_behavior="fire_if_non_empty"
    )
    assert play(strategy, [5], AdvanceWatermark(10), [6]) == [
        "0 [0,10) EARLY #0/-1 first [5] @9",
        "2 [0,10) LATE #1/0 [6] @9",
    ]


def test_fire_always_at_closing_says_nothing_about_the_on_time_pane(play):
    strategy = bl.WindowingStrategy(
        TEN,
        LATE_AND_EARLY,
        "discarding",
        5,
        closing_behavior="fire_always",
        on_time_behavior="fire_if_non_empty",
    )
    assert play(strategy, [5], AdvanceWatermark(10), AdvanceWatermark(15)) == [
        "0 [0,10) EARLY #0/-1 first [5] @9",
        "2 [0,10) LATE #1/0 last [] @9",
    ]


def test_a_count_leaves_an_empty_on_time_pane_at_expiry_when_the_output_waited(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(1)), "discarding")
    assert play(strategy, [5], AdvanceWatermark(10)) == [
        "0 [0,10) EARLY #0/-1 first [5] @9",
        "1 [0,10) ON_TIME #1/0 last [] @9",
    ]


def test_a_count_leaves_no_pane_at_expiry_when_the_output_had_moved_on(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(1)), "discarding", 5)
    outputs = play(strategy, [5], AdvanceWatermark(10), AdvanceWatermark(15))
    assert outputs == ["0 [0,10) EARLY #0/-1 first [5] @9"]


# -- processing time -------------------------------------------------------------------------


def test_a_delay_is_not_over_when_the_clock_is_at_its_target(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime(5)))
    assert play(strategy, [1], AdvanceClock(4), AdvanceClock(5)) == []


def test_a_delay_is_over_one_millisecond_after_its_target(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime(5)))
    assert play(strategy, [1], AdvanceClock(6)) == ["1 [0,10) EARLY #0/-1 first [1] @9"]


def test_a_delay_of_nothing_still_waits_for_the_clock_to_move(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime(0)))
    assert play(strategy, [1], AdvanceClock(0)) == []
    assert play(strategy, [1], AdvanceClock(1)) == ["1 [0,10) EARLY #0/-1 first [1] @9"]


def test_only_the_first_element_of_a_pane_sets_the_target(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime(5)))
    outputs = play(
        strategy,
        [1],
        AdvanceClock(5),
        [2],
        AdvanceClock(6),
        [3],
        AdvanceClock(11),
        AdvanceClock(12),
    )
    assert outputs == ["3 [0,10) EARLY #0/-1 first [1, 2] @9", "6 [0,10) EARLY #1/-1 [3] @9"]


def test_an_aligned_arrival_stays_and_a_later_one_goes_to_the_next_mark(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterProcessingTime(bl.AlignTo(10))))
    fires = "2 [0,10) EARLY #0/-1 first [1] @9"
    assert play(strategy, AdvanceClock(10), [1], AdvanceClock(11)) == [fires]
    assert play(strategy, AdvanceClock(11), [1], AdvanceClock(20)) == []
    assert play(strategy, AdvanceClock(11), [1], AdvanceClock(21)) == [fires]


# -- counts ----------------------------------------------------------------------------------


def test_a_count_is_not_reached_by_one_element_less(play):
    assert play(bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(3))), [1, 2]) == []


def test_a_count_is_reached_across_bundles(play):
    outputs = play(bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(3))), [1, 2], [3])
    assert outputs == ["1 [0,10) EARLY #0/-1 first [1, 2, 3] @9"]


def test_a_bundle_beyond_the_count_is_one_pane_and_the_count_starts_at_zero(play):
    outputs = play(
        bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(3))), [1, 2, 3, 4, 5], [6, 7], [8]
    )
    assert outputs == [
        "0 [0,10) EARLY #0/-1 first [1, 2, 3, 4, 5] @9",
        "2 [0,10) EARLY #1/-1 [6, 7, 8] @9",
    ]


def test_always_fires_once_per_bundle(play):
    assert play(bl.WindowingStrategy(TEN, bl.Always(), "accumulating"), [1, 2], [3]) == [
        "0 [0,10) EARLY #0/-1 first [1, 2] @9",
        "1 [0,10) EARLY #1/-1 [1, 2, 3] @9",
    ]


def test_an_empty_bundle_does_nothing(play):
    assert play(bl.WindowingStrategy(TEN, bl.Always()), []) == []


# -- sliding windows -------------------------------------------------------------------------


def test_an_element_in_two_windows_is_judged_by_each_of_them(play):
    outputs = play(
        bl.WindowingStrategy(bl.SlidingWindows(10, period=5)),
        AdvanceWatermark(10),
        [7],
        AdvanceWatermark(15),
    )
    assert outputs == [
        "1 [0,10) dropped 7, expired by 1",
        "2 [5,15) ON_TIME #0/0 first last [7] @14",
    ]


def test_an_element_in_a_gap_between_windows_vanishes_and_is_no_drop(play):
    strategy = bl.WindowingStrategy(bl.SlidingWindows(5, period=10))
    assert play(strategy, [4, 5, 9, 10], AdvanceWatermark(15)) == [
        "1 [0,5) ON_TIME #0/0 first last [4] @4",
        "1 [10,15) ON_TIME #0/0 first last [10] @14",
    ]

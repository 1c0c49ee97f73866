"""Sessions: when windows merge, and what the merged window remembers of its parts."""

from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Element
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.model.triggers import (
    AfterCount,
    AfterEach,
    AfterProcessingTime,
    AfterWatermark,
    Repeatedly,
)
from beamlike.model.windows import IntervalWindow

GAP_TEN = Sessions(10)
END = AdvanceWatermark(MAX_TIMESTAMP)
EACH = Repeatedly(AfterCount(1))


# -- which windows merge ---------------------------------------------------------------------


def test_an_element_between_two_sessions_joins_them(play):
    assert play(WindowingStrategy(GAP_TEN), [0, 18], [9], END) == [
        "2 [0,28) ON_TIME #0/0 first last [0, 9, 18] @27"
    ]


def test_an_element_that_only_touches_both_neighbours_stays_alone(play):
    assert play(WindowingStrategy(GAP_TEN), [0, 20], [10], END) == [
        "2 [0,10) ON_TIME #0/0 first last [0] @9",
        "2 [10,20) ON_TIME #0/0 first last [10] @19",
        "2 [20,30) ON_TIME #0/0 first last [20] @29",
    ]


def test_touching_windows_merge_where_they_are_reported_to(play):
    assert play(WindowingStrategy(Sessions(10, merge_touching=True)), [0, 20, 41], [10], END) == [
        "2 [0,30) ON_TIME #0/0 first last [0, 10, 20] @29",
        "2 [41,51) ON_TIME #0/0 first last [41] @50",
    ]


def test_an_element_at_the_end_of_a_session_that_is_over_opens_the_next_one(play):
    touching = WindowingStrategy(Sessions(10, merge_touching=True))
    assert play(touching, [0], AdvanceWatermark(10), [10], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [10,20) ON_TIME #0/0 first last [10] @19",
    ]


def test_an_element_whose_own_window_expired_is_dropped_although_a_session_lives(play):
    assert play(WindowingStrategy(GAP_TEN), [5], AdvanceWatermark(10), [0], END) == [
        "2 [0,10) dropped 0, expired by 1",
        "3 [5,15) ON_TIME #0/0 first last [5] @14",
    ]


def test_an_element_whose_own_window_is_at_its_last_millisecond_extends_the_session(play):
    outputs = play(WindowingStrategy(GAP_TEN), [5], AdvanceWatermark(9), [0], END)
    assert outputs == ["3 [0,15) ON_TIME #0/0 first last [0, 5] @14"]


def test_a_session_that_grew_is_over_at_its_new_end(play):
    outputs = play(
        WindowingStrategy(GAP_TEN),
        [0],
        [5],
        AdvanceWatermark(10),
        AdvanceWatermark(14),
        AdvanceWatermark(15),
    )
    assert outputs == ["4 [0,15) ON_TIME #0/0 first last [0, 5] @14"]


# -- the pane history of a merged window -----------------------------------------------------


def test_a_session_that_keeps_its_bounds_keeps_counting_its_panes(play):
    assert play(WindowingStrategy(GAP_TEN, EACH), [0, 5], [3]) == [
        "0 [0,15) EARLY #0/-1 first [0, 5] @14",
        "1 [0,15) EARLY #1/-1 [3] @14",
    ]


def test_a_session_that_outgrows_its_bounds_starts_its_panes_anew(play):
    assert play(WindowingStrategy(GAP_TEN, EACH), [0], [1], [2]) == [
        "0 [0,10) EARLY #0/-1 first [0] @9",
        "1 [0,11) EARLY #0/-1 first [1] @10",
        "2 [0,12) EARLY #0/-1 first [2] @11",
    ]


def test_an_accumulating_session_holds_what_its_parts_had_emitted(play):
    assert play(WindowingStrategy(GAP_TEN, EACH, "accumulating"), [0], [15], [8]) == [
        "0 [0,10) EARLY #0/-1 first [0] @9",
        "1 [15,25) EARLY #0/-1 first [15] @24",
        "2 [0,25) EARLY #0/-1 first [0, 8, 15] @24",
    ]


def test_retractions_of_all_parts_precede_the_merged_pane(play):
    assert play(WindowingStrategy(GAP_TEN, EACH, "retracting"), [0], [15], [8], [9]) == [
        "0 [0,10) EARLY #0/-1 first [0] @9",
        "1 [15,25) EARLY #0/-1 first [15] @24",
        "2 [0,10) EARLY #0/-1 first withdrawn [0] @9",
        "2 [15,25) EARLY #0/-1 first withdrawn [15] @24",
        "2 [0,25) EARLY #0/-1 first [0, 8, 15] @24",
        "3 [0,25) EARLY #0/-1 first withdrawn [0, 8, 15] @24",
        "3 [0,25) EARLY #1/-1 [0, 8, 9, 15] @24",
    ]


def test_a_session_that_expires_without_news_leaves_its_pane_standing(play):
    strategy = WindowingStrategy(GAP_TEN, EACH, "retracting", on_time_behavior="fire_if_non_empty")
    assert play(strategy, [0], END) == ["0 [0,10) EARLY #0/-1 first [0] @9"]


# -- closed sessions -------------------------------------------------------------------------

ONCE = WindowingStrategy(GAP_TEN, AfterCount(1))


def test_new_data_opens_a_session_next_to_a_closed_one(play):
    assert play(ONCE, [0], [5]) == [
        "0 [0,10) EARLY #0/-1 first last [0] @9",
        "1 [5,15) EARLY #0/-1 first last [5] @14",
    ]


def test_new_data_with_exactly_the_bounds_of_a_closed_session_is_dropped(play):
    assert play(ONCE, [0], [0], [0, 5]) == [
        "0 [0,10) EARLY #0/-1 first last [0] @9",
        "1 [0,10) dropped 0, closed",
        "2 [0,15) EARLY #0/-1 first last [0, 5] @14",
    ]


def test_new_data_that_merges_into_the_bounds_of_a_closed_session_is_dropped(play):
    assert play(ONCE, [0, 5], [0, 5], [0]) == [
        "0 [0,15) EARLY #0/-1 first last [0, 5] @14",
        "1 [0,15) dropped 0, closed",
        "1 [0,15) dropped 5, closed",
        "2 [0,10) EARLY #0/-1 first last [0] @9",
    ]


def test_live_data_that_merges_into_the_bounds_of_a_closed_session_opens_it_again(play):
    assert play(WindowingStrategy(GAP_TEN, AfterCount(3)), [0, 3, 5], [0], [5], END) == [
        "0 [0,15) EARLY #0/-1 first last [0, 3, 5] @14",
        "3 [0,15) ON_TIME #0/0 first last [0, 5] @14",
    ]


def test_a_closed_session_is_forgotten_when_it_expires(play):
    assert play(WindowingStrategy(GAP_TEN, AfterCount(1)), [0], AdvanceWatermark(10), [0]) == [
        "0 [0,10) EARLY #0/-1 first last [0] @9",
        "2 [0,10) dropped 0, expired by 1",
    ]


# -- what the trigger remembers --------------------------------------------------------------


def test_counts_of_the_parts_add_up(play):
    strategy = WindowingStrategy(GAP_TEN, Repeatedly(AfterCount(4)))
    assert play(strategy, [0, 1], [15], [9]) == ["2 [0,25) EARLY #0/-1 first [0, 1, 9, 15] @24"]


def test_the_earliest_target_of_the_parts_counts(play):
    strategy = WindowingStrategy(GAP_TEN, Repeatedly(AfterProcessingTime(5)))
    outputs = play(
        strategy, [15], AdvanceClock(2), [0], AdvanceClock(4), [9], AdvanceClock(5), AdvanceClock(6)
    )
    assert outputs == ["6 [0,25) EARLY #0/-1 first [0, 9, 15] @24"]


def test_a_session_that_was_on_time_is_early_again_when_it_grows_past_the_watermark(play):
    strategy = WindowingStrategy(GAP_TEN, AfterWatermark(late=AfterCount(1)), "accumulating", 50)
    outputs = play(
        strategy, [0], AdvanceWatermark(10), [8], AdvanceWatermark(17), AdvanceWatermark(18)
    )
    assert outputs == [
        "1 [0,10) ON_TIME #0/0 first [0] @9",
        "4 [0,18) ON_TIME #0/0 first [0, 8] @17",
    ]


def test_a_session_stays_late_when_all_its_parts_and_the_watermark_are_past_the_end(play):
    strategy = WindowingStrategy(GAP_TEN, AfterWatermark(late=AfterCount(2)), "discarding", 50)
    assert play(strategy, [0], [15], AdvanceWatermark(30), [9], [10]) == [
        "2 [0,10) ON_TIME #0/0 first [0] @9",
        "2 [15,25) ON_TIME #0/0 first [15] @24",
        "4 [0,25) LATE #0/0 first [9, 10] @24",
    ]


def test_two_late_elements_that_merge_without_a_live_session_fire_at_once(play):
    strategy = WindowingStrategy(GAP_TEN, AfterWatermark(late=AfterCount(9)), "discarding", 50)
    assert play(strategy, AdvanceWatermark(30), [0, 5]) == ["1 [0,15) LATE #0/0 first [0, 5] @14"]


def test_after_each_goes_back_to_a_first_child_that_the_merge_rewound(play):
    strategy = WindowingStrategy(
        GAP_TEN, AfterEach(AfterWatermark(), Repeatedly(AfterCount(1))), "discarding", 50
    )
    assert play(strategy, [0], AdvanceWatermark(10), [1], [8], AdvanceWatermark(18), [2]) == [
        "1 [0,10) ON_TIME #0/0 first [0] @9",
        # The session grew past the watermark twice, so it waits for its end again.
        "4 [0,18) ON_TIME #0/0 first [1, 8] @17",
        "5 [0,18) LATE #1/1 [2] @17",
    ]


def test_an_early_trigger_that_was_on_time_in_all_parts_is_done_when_they_merge_past_their_end(
    play,
):
    strategy = WindowingStrategy(
        GAP_TEN,
        AfterEach(AfterWatermark(early=AfterCount(5)), Repeatedly(AfterCount(1))),
        "discarding",
        50,
    )
    assert play(strategy, [0], [15], AdvanceWatermark(30), [9], [10, 11], END) == [
        "2 [0,10) ON_TIME #0/0 first [0] @9",
        "2 [15,25) ON_TIME #0/0 first [15] @24",
        # The merged session goes on with the second child, which answers each bundle.
        "3 [0,25) LATE #0/0 first [9] @24",
        "4 [0,25) LATE #1/1 [10, 11] @24",
    ]


def test_a_delay_that_was_over_in_a_session_stays_over_while_its_bounds_do(play):
    strategy = WindowingStrategy(GAP_TEN, AfterEach(AfterProcessingTime(5), EACH))
    assert play(strategy, [0, 5], AdvanceClock(6), [3]) == [
        "1 [0,15) EARLY #0/-1 first [0, 5] @14",
        "2 [0,15) EARLY #1/-1 [3] @14",
    ]


def test_a_delay_that_was_over_in_a_session_begins_anew_when_it_outgrows_its_bounds(play):
    strategy = WindowingStrategy(GAP_TEN, AfterEach(AfterProcessingTime(5), EACH))
    assert play(strategy, [0, 5], AdvanceClock(6), [8], AdvanceClock(11), AdvanceClock(12)) == [
        "1 [0,15) EARLY #0/-1 first [0, 5] @14",
        "4 [0,18) EARLY #0/-1 first [8] @17",
    ]


def test_what_the_parts_had_not_emitted_adds_up():
    machine, state = Grouping(WindowingStrategy(GAP_TEN), Count()), KeyState()
    for bundle in ((0, 1), (15,), (9,)):
        state, _ = machine.step(state, Bundle(tuple(Element(at, at) for at in bundle)))
    kept = {window: (part.accumulator, part.new_elements) for window, part in state.windows.items()}
    assert kept == {IntervalWindow(0, 25): (4, 4)}


# -- holds -----------------------------------------------------------------------------------


def test_a_merged_session_is_stamped_with_its_own_end(play):
    assert play(WindowingStrategy(GAP_TEN), [0], [5], END) == [
        "2 [0,15) ON_TIME #0/0 first last [0, 5] @14"
    ]


def test_a_merged_session_is_stamped_with_the_earliest_hold_of_its_parts(play):
    strategy = WindowingStrategy(GAP_TEN, timestamp_combiner="earliest")
    assert play(strategy, [15], [0], AdvanceWatermark(5), [8], END) == [
        "4 [0,25) ON_TIME #0/0 first last [0, 8, 15] @0"
    ]


def test_a_merged_session_is_stamped_with_the_latest_hold_of_its_parts(play):
    strategy = WindowingStrategy(GAP_TEN, timestamp_combiner="latest")
    assert play(strategy, [15], [0], AdvanceWatermark(5), [8], END) == [
        "4 [0,25) ON_TIME #0/0 first last [0, 8, 15] @15"
    ]


def test_a_part_whose_pane_released_its_hold_gives_no_timestamp(play):
    strategy = WindowingStrategy(GAP_TEN, EACH, "accumulating", timestamp_combiner="earliest")
    assert play(strategy, [0], [8]) == [
        "0 [0,10) EARLY #0/-1 first [0] @0",
        "1 [0,18) EARLY #0/-1 first [0, 8] @8",
    ]


def test_an_early_trigger_that_says_repeatedly_does_not_bring_the_end_of_a_session_back(play):
    strategy = WindowingStrategy(
        Sessions(10),
        AfterWatermark(early=Repeatedly(AfterCount(5)), late=AfterCount(2)),
        allowed_lateness=100,
    )
    # Both children listen in windows that merge. One late element is none the less not enough.
    assert play(strategy, [0], AdvanceWatermark(20), [0], [0]) == [
        "1 [0,10) ON_TIME #0/0 first [0] @9",
        "3 [0,10) LATE #1/1 [0, 0] @9",
    ]

"""What holds the output watermark, and so stamps a pane and makes it on time or late."""

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark, Bundle, Element, Pane
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count

TEN = bl.FixedWindows(10)
LATE_AND_EARLY = bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1))
EARLIEST = bl.WindowingStrategy(TEN, timestamp_combiner="earliest")
LATEST = bl.WindowingStrategy(TEN, timestamp_combiner="latest")


def test_an_element_at_the_output_watermark_holds_it(play):
    outputs = play(EARLIEST, AdvanceWatermark(5), [5], AdvanceWatermark(10))
    assert outputs == ["2 [0,10) ON_TIME #0/0 first last [5] @5"]


def test_an_element_one_millisecond_behind_the_output_watermark_does_not_hold_it(play):
    outputs = play(EARLIEST, AdvanceWatermark(5), [4], AdvanceWatermark(10))
    assert outputs == ["2 [0,10) ON_TIME #0/0 first last [4] @9"]


def test_the_earliest_element_that_is_not_behind_gives_the_timestamp(play):
    outputs = play(EARLIEST, AdvanceWatermark(5), [4, 8, 6], AdvanceWatermark(10))
    assert outputs == ["2 [0,10) ON_TIME #0/0 first last [4, 6, 8] @6"]


def test_the_latest_element_that_is_not_behind_gives_the_timestamp(play):
    outputs = play(LATEST, [2], AdvanceWatermark(5), [8, 6], AdvanceWatermark(10))
    assert outputs == ["3 [0,10) ON_TIME #0/0 first last [2, 6, 8] @8"]


def test_a_held_output_watermark_lets_an_element_behind_the_input_hold_too(play):
    outputs = play(EARLIEST, [2], AdvanceWatermark(5), [1, 3], AdvanceWatermark(10))
    assert outputs == ["3 [0,10) ON_TIME #0/0 first last [1, 2, 3] @2"]


def test_an_element_that_comes_after_its_window_ended_holds_nothing(play):
    strategy = bl.WindowingStrategy(
        TEN, bl.Repeatedly(bl.AfterCount(2)), "discarding", 20, timestamp_combiner="latest"
    )
    outputs = play(strategy, [1], AdvanceWatermark(10), [3])
    assert outputs == ["2 [0,10) ON_TIME #0/0 first [1, 3] @1"]


def test_an_element_that_comes_before_its_window_ended_holds_it(play):
    strategy = bl.WindowingStrategy(
        TEN, bl.Repeatedly(bl.AfterCount(2)), "discarding", 20, timestamp_combiner="latest"
    )
    assert play(strategy, [1], AdvanceWatermark(9), [3]) == ["2 [0,10) EARLY #0/-1 first [1, 3] @3"]


def test_each_pane_is_stamped_by_what_it_added_also_when_accumulating(play):
    strategy = bl.WindowingStrategy(
        TEN, LATE_AND_EARLY, "accumulating", 5, timestamp_combiner="earliest"
    )
    assert play(strategy, [3], [5], AdvanceWatermark(10)) == [
        "0 [0,10) EARLY #0/-1 first [3] @3",
        "1 [0,10) EARLY #1/-1 [3, 5] @5",
        "2 [0,10) ON_TIME #2/0 [3, 5] @9",
    ]


def test_a_key_that_holds_its_output_back_is_on_time_where_another_is_late(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(2)), "discarding", 20)
    assert play(strategy, {"a": [1]}, AdvanceWatermark(12), {"a": [3], "b": [3, 4]}) == [
        "2 a: [0,10) ON_TIME #0/0 first [1, 3] @9",
        "2 b: [0,10) LATE #0/0 first [3, 4] @9",
    ]


def test_the_output_watermark_stands_still_during_a_step(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(1)), "discarding", 20)
    # The advance to 30 passes the ends of both windows; the promise made before it was 5.
    outputs = play(
        strategy, [1, 11], AdvanceWatermark(5), AdvanceWatermark(30), AdvanceWatermark(60)
    )
    assert outputs == [
        "0 [0,10) EARLY #0/-1 first [1] @9",
        "0 [10,20) EARLY #0/-1 first [11] @19",
        "2 [0,10) ON_TIME #1/0 last [] @9",
    ]


def test_an_element_that_comes_at_the_last_instant_of_its_window_holds_it(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(2)), "discarding", 20)
    outputs = play(strategy, AdvanceWatermark(9), [5], AdvanceWatermark(12), [6])
    assert outputs == ["3 [0,10) ON_TIME #0/0 first [5, 6] @9"]


def test_a_key_without_windows_has_promised_its_input_watermark():
    machine = Grouping(bl.WindowingStrategy(TEN, bl.AfterCount(1), "discarding", 20), Count())
    for state in (KeyState.unseen(12, 0), KeyState(0, output_watermark=0).caught_up(12, 0)):
        after, panes = machine.step(state, Bundle((Element(5, 5),)))
        assert panes == (
            Pane(bl.IntervalWindow(0, 10), 1, 9, bl.PaneInfo(bl.Timing.LATE, 0, 0, True, True)),
        )
        assert after.output_watermark == 12


def test_a_closed_window_holds_nothing(play):
    strategy = bl.WindowingStrategy(TEN, bl.AfterCount(2), "discarding", 50)
    assert play(strategy, [1, 2], AdvanceWatermark(25), [11, 12]) == [
        "0 [0,10) EARLY #0/-1 first last [1, 2] @9",
        "2 [10,20) LATE #0/0 first last [11, 12] @19",
    ]


def test_a_session_that_merges_past_its_end_holds_nothing_any_more(play):
    strategy = bl.WindowingStrategy(
        bl.Sessions(10), bl.Repeatedly(bl.AfterCount(3)), "discarding", 50
    )
    # The second element makes the session end at 11.
    held = play(strategy, [0], AdvanceWatermark(10), [1], AdvanceWatermark(13), [2])
    released = play(strategy, [0], AdvanceWatermark(11), [1], AdvanceWatermark(13), [2])
    assert held == ["4 [0,12) ON_TIME #0/0 first [0, 1, 2] @11"]
    assert released == ["4 [0,12) LATE #0/0 first [0, 1, 2] @11"]

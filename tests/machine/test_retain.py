"""Expired sessions that are kept until nothing can reach them: ``late_check="retain"``."""

import attrs
import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Drop, Element
from beamlike.machine.reference.next_timers import NextTimers
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Count
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive
from tests.support.refusals import refusal

END = AdvanceWatermark(MAX_TIMESTAMP)
# A session [0, 10): it expires when the watermark reaches 10, and is forgotten at 20.
TEN = bl.Sessions(10)


def retaining(trigger=None, mode="retracting", window_fn=TEN, **options):
    return bl.WindowingStrategy(window_fn, trigger, mode, late_check="retain", **options)


# -- how long --------------------------------------------------------------------------------


def test_an_expired_session_is_reached_by_an_element_that_is_not_expired(play):
    # 9 opens [9, 19), which is open at 18 and overlaps [0, 10).
    assert play(retaining(), [0], AdvanceWatermark(18), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "3 [0,19) ON_TIME #0/0 first last [0, 9] @18",
    ]


def test_in_beam_these_are_two_sessions_closer_than_the_gap(play):
    strategy = bl.WindowingStrategy(TEN, None, "retracting")
    assert play(strategy, [0], AdvanceWatermark(18), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [9,19) ON_TIME #0/0 first last [9] @18",
    ]


def test_a_millisecond_later_what_could_reach_it_has_expired_itself(play):
    assert play(retaining(), [0], AdvanceWatermark(19), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "2 [9,19) dropped 9, expired by 1",
    ]


def test_an_element_that_only_touches_an_expired_session_is_another_session(play):
    assert play(retaining(), [0], AdvanceWatermark(19), [10], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [10,20) ON_TIME #0/0 first last [10] @19",
    ]


TOUCHING = bl.Sessions(10, merge_touching=True)


def test_an_element_that_touches_an_expired_session_joins_it_if_touching_windows_merge(play):
    # 10 opens [10, 20), which is open at 19: a millisecond longer than what has to overlap.
    assert play(retaining(window_fn=TOUCHING), [0], AdvanceWatermark(19), [10], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "3 [0,20) ON_TIME #0/0 first last [0, 10] @19",
    ]


def test_a_millisecond_later_what_could_touch_it_has_expired_itself(play):
    assert play(retaining(window_fn=TOUCHING), [0], AdvanceWatermark(20), [10], [11], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "2 [10,20) dropped 10, expired by 1",
        "4 [11,21) ON_TIME #0/0 first last [11] @20",
    ]


def windows_at(strategy, watermark):
    """The windows that are left of an element at 0 when the watermark gets there in one go."""
    stage = MemoryStage(Grouping(strategy, Count()))
    stage.play(Arrive((("k", Element("a", 0)),)))
    stage.play(AdvanceWatermark(watermark))
    return list(stage._states["k"].windows)


@pytest.mark.parametrize("lateness", [0, 5])
def test_it_is_kept_to_the_last_millisecond_and_forgotten_one_later(lateness):
    strategy = retaining(allowed_lateness=lateness)
    session = bl.IntervalWindow(0, 10)
    assert strategy.expiry(session) == 9 + lateness
    assert strategy.forgotten(session) == 18 + lateness
    assert windows_at(strategy, 18 + lateness) == [session]
    assert windows_at(strategy, 19 + lateness) == []


@pytest.mark.parametrize("lateness", [0, 5])
def test_what_may_be_touched_is_kept_a_millisecond_longer(lateness):
    strategy = retaining(window_fn=TOUCHING, allowed_lateness=lateness)
    session = bl.IntervalWindow(0, 10)
    assert strategy.expiry(session) == 9 + lateness
    assert strategy.forgotten(session) == 19 + lateness
    assert windows_at(strategy, 19 + lateness) == [session]
    assert windows_at(strategy, 20 + lateness) == []


def test_nothing_is_kept_longer_than_time_lasts(play):
    strategy = retaining(allowed_lateness=MAX_TIMESTAMP)
    assert strategy.forgotten(bl.IntervalWindow(0, 10)) == END_OF_GLOBAL_WINDOW
    assert windows_at(strategy, MAX_TIMESTAMP) == []


def test_the_allowed_lateness_counts_for_the_element_that_reaches_it(play):
    strategy = retaining(bl.AfterWatermark(late=bl.AfterCount(1)), allowed_lateness=5)
    assert play(strategy, [0], AdvanceWatermark(23), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "2 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "2 [0,19) LATE #0/0 first [0, 9] @18",
    ]


def test_with_gaps_of_their_own_the_longest_gap_says_how_long():
    strategy = retaining(window_fn=bl.Sessions(lambda value: 3, max_duration=30))
    assert strategy.forgotten(bl.IntervalWindow(0, 3)) == 2 + 29


def test_windows_that_do_not_merge_are_not_kept():
    strategy = retaining(window_fn=bl.FixedWindows(10))
    assert strategy.forgotten(bl.IntervalWindow(0, 10)) == strategy.expiry(bl.IntervalWindow(0, 10))


# -- panes -----------------------------------------------------------------------------------


def test_what_no_trigger_let_out_comes_out_at_expiry_and_not_later(play):
    assert play(retaining(bl.Never()), [0], AdvanceWatermark(9), AdvanceWatermark(10)) == [
        "2 [0,10) ON_TIME #0/0 first last [0] @9"
    ]


def test_a_session_at_rest_emits_nothing_more(play):
    strategy = retaining(bl.Never(), closing_behavior="fire_always", allowed_lateness=5)
    outputs = play(strategy, [0], AdvanceWatermark(15), AdvanceWatermark(16), AdvanceClock(9), END)
    assert outputs == ["1 [0,10) ON_TIME #0/0 first last [0] @9"]


def test_a_jump_over_everything_gives_one_pane(play):
    assert play(retaining(), [0], END) == ["1 [0,10) ON_TIME #0/0 first last [0] @9"]


def test_discarding_panes_hold_each_element_once(play):
    assert play(retaining(mode="discarding"), [0], AdvanceWatermark(18), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,19) ON_TIME #0/0 first last [9] @18",
    ]


def test_accumulating_panes_of_the_longer_session_hold_everything(play):
    assert play(retaining(mode="accumulating"), [0], AdvanceWatermark(18), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,19) ON_TIME #0/0 first last [0, 9] @18",
    ]


def test_an_element_joins_an_expired_session_and_a_live_one(play):
    assert play(retaining(), [0, 15], AdvanceWatermark(17), [8], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "3 [0,25) ON_TIME #0/0 first last [0, 8, 15] @24",
    ]


def test_a_count_starts_over_when_its_elements_came_out_at_expiry(play):
    strategy = retaining(bl.Repeatedly(bl.AfterCount(2)), on_time_behavior="fire_if_non_empty")
    assert play(strategy, [0], AdvanceWatermark(12), [9], [9]) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "3 [0,19) EARLY #0/-1 first [0, 9, 9] @18",
    ]


def test_no_clock_wakes_a_session_at_rest(play):
    machine = Grouping(retaining(bl.Repeatedly(bl.AfterProcessingTime(5))), Count())
    stage = MemoryStage(machine)
    stage.play(Arrive((("k", Element("a", 0)),)))
    stage.play(AdvanceWatermark(10))
    assert machine.next_timers(stage._states["k"]) == NextTimers(18, None)


def test_a_session_at_rest_holds_no_watermark_back():
    stage = MemoryStage(Grouping(retaining(timestamp_combiner="earliest"), Count()))
    stage.play(Arrive((("k", Element("a", 0)),)))
    stage.play(AdvanceWatermark(12))
    assert stage._states["k"].output_watermark == 12


def test_without_lateness_a_trigger_that_fires_once_loses_nothing(play):
    # Its one firing is at the end of the window. That is its expiry, where no trigger is asked,
    # so no window closes.
    strategy = bl.WindowingStrategy.declared(
        TEN,
        trigger=bl.AfterWatermark(),
        accumulation="retracting",
        allowed_lateness=0,
        late_check="retain",
    )
    assert play(strategy, [0], AdvanceWatermark(18), [9], END) == [
        "1 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [0,10) ON_TIME #0/0 first last withdrawn [0] @9",
        "3 [0,19) ON_TIME #0/0 first last [0, 9] @18",
    ]


def test_a_window_that_its_trigger_closed_is_forgotten_at_expiry(play):
    assert windows_at(retaining(bl.AfterCount(1)), 9) == [bl.IntervalWindow(0, 10)]
    assert windows_at(retaining(bl.AfterCount(1)), 10) == []


# -- drops -----------------------------------------------------------------------------------


def drops(strategy, *steps):
    stage = MemoryStage(Grouping(strategy, Count()))
    for step in steps:
        stage.play(step)
    return [output.effect for output in stage.run.drops]


def test_a_drop_does_not_say_that_it_nearly_joined_a_session_at_rest():
    arrive = [Arrive((("k", Element("a", at)),)) for at in (0, -5)]
    (drop,) = drops(retaining(), arrive[0], AdvanceWatermark(12), arrive[1])
    assert isinstance(drop, Drop)
    assert (drop.missed_by, drop.nearest_session, drop.watermark) == (8, None, 12)


def test_a_drop_says_which_session_it_nearly_joined():
    arrive = [Arrive((("k", Element("a", at)),)) for at in (0, 8, -5)]
    (drop,) = drops(retaining(), *arrive[:2], AdvanceWatermark(12), arrive[2])
    assert drop.nearest_session == bl.IntervalWindow(-5, 18)


# -- what is refused -------------------------------------------------------------------------


@attrs.frozen
class Touching(bl.MergingWindowFn):
    def assign(self, timestamp, value=None):
        return (bl.IntervalWindow(timestamp, timestamp + 5),)

    def merge(self, windows):
        run = tuple(sorted(windows))
        return (
            (bl.Merge(run, bl.IntervalWindow(run[0].start, run[-1].end)),) if len(run) > 1 else ()
        )


def test_a_window_function_has_to_say_how_long_its_windows_can_be():
    assert refusal(WindowingError, lambda: retaining(window_fn=Touching())) == (
        'late_check="retain" keeps an expired session for as long as the window of one element '
        "can reach it, but how long such a window of Touching() can be is not known; for Sessions "
        'with a function for the gap, add max_duration="1 hour", or as long as a gap can be; for a '
        "window function of your own, define the property longest_own_window"
    )


def test_a_window_function_of_one_s_own_can_say_it():
    class Known(Touching):
        longest_own_window = 5

    assert retaining(window_fn=Known()).forgotten(bl.IntervalWindow(0, 5)) == 8


def test_a_gap_of_unknown_length_is_refused():
    with pytest.raises(WindowingError, match=r'add max_duration="1 hour"'):
        retaining(window_fn=bl.Sessions(lambda value: 3))

"""Elements that come with a window, alone or combined with others before they arrived."""

import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.machine.events import AdvanceWatermark, Bundle, Drop, DropReason, Element, Lifted
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import Collect, Stamped
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.script import Arrive
from tests.support.refusals import refusal

TEN = bl.FixedWindows(10)
END = AdvanceWatermark(MAX_TIMESTAMP)


def arrive(*items):
    return Arrive(tuple(("k", item) for item in items))


def given(at, start, end):
    return Element(at, at, bl.IntervalWindow(start, end))


def lifted(*times, window=(0, 10)):
    accumulator = tuple(Stamped(time, time) for time in sorted(times))
    return Lifted(accumulator, len(times), bl.IntervalWindow(*window), max(times))


# -- a window of its own ---------------------------------------------------------------------


def test_an_element_stays_in_the_window_that_it_comes_in(play):
    assert play(bl.WindowingStrategy(TEN), arrive(given(5, 0, 40)), [5], END) == [
        "2 [0,10) ON_TIME #0/0 first last [5] @9",
        "2 [0,40) ON_TIME #0/0 first last [5] @39",
    ]


def test_the_window_function_is_not_asked(play):
    def gap_of(value):
        raise AssertionError("asked")

    assert play(bl.WindowingStrategy(bl.Sessions(gap_of)), arrive(given(5, 0, 40)), END) == [
        "1 [0,40) ON_TIME #0/0 first last [5] @39"
    ]


def test_windows_that_come_with_elements_merge(play):
    assert play(bl.WindowingStrategy(bl.Sessions(10)), arrive(given(5, 0, 40)), [39], END) == [
        "2 [0,49) ON_TIME #0/0 first last [5, 39] @48"
    ]


def test_windows_that_a_grouping_has_merged_stay_apart_where_they_overlap(play):
    strategy = bl.WindowingStrategy(
        bl.Sessions(10), accumulation="accumulating", allowed_lateness=9
    )
    bundle = arrive(given(39, 0, 40), given(49, 39, 50), given(39, 0, 40))
    late = arrive(given(20, 0, 40), given(30, 30, 41), given(30, 30, 39))
    steps = bundle, AdvanceWatermark(48), late, END
    assert play(strategy.after_grouping(), *steps) == [
        "1 [0,40) ON_TIME #0/0 first [39, 39] @39",
        "2 [30,39) dropped 30, expired by 1",
        "2 [0,40) LATE #1/1 [20, 39, 39] @39",
        "2 [30,41) LATE #0/0 first [30] @40",
        "3 [39,50) ON_TIME #0/0 first last [49] @49",
    ]


def test_bounded_sessions_that_a_grouping_has_merged_are_not_cut_again(play):
    strategy = bl.WindowingStrategy(bl.Sessions(10, max_elements=2)).after_grouping()
    bundle = arrive(given(1, 0, 40), given(2, 0, 40), given(3, 0, 40))
    assert play(strategy, bundle, END) == ["1 [0,40) ON_TIME #0/0 first last [1, 2, 3] @39"]


def test_such_an_element_is_late_when_its_window_has_expired(play):
    assert play(bl.WindowingStrategy(TEN), AdvanceWatermark(41), arrive(given(45, 0, 40))) == [
        "1 [0,40) dropped 45, expired by 2"
    ]


def test_a_stage_that_only_assigns_windows_keeps_the_window_too():
    bundle = Bundle((given(5, 0, 40), Element(6, 6)))
    _, panes = PassThrough(TEN).step(KeyState(), bundle)
    assert [(pane.window, pane.value, pane.info) for pane in panes] == [
        (bl.IntervalWindow(0, 40), 5, NO_FIRING),
        (bl.IntervalWindow(0, 10), 6, NO_FIRING),
    ]


# -- combined before -------------------------------------------------------------------------


def test_elements_that_were_combined_count_one_by_one(play):
    strategy = bl.WindowingStrategy(TEN, bl.Repeatedly(bl.AfterCount(3)), "accumulating")
    assert play(strategy, arrive(lifted(1, 2)), [3], arrive(lifted(4, 5, 6))) == [
        "1 [0,10) EARLY #0/-1 first [1, 2, 3] @9",
        "2 [0,10) EARLY #1/-1 [1, 2, 3, 4, 5, 6] @9",
    ]


def test_combined_and_single_elements_may_arrive_together(play):
    step = arrive(Element(3, 3), lifted(1, 2), Element(4, 4), lifted(5))
    assert play(bl.WindowingStrategy(TEN), step, END) == [
        "1 [0,10) ON_TIME #0/0 first last [1, 2, 3, 4, 5] @9"
    ]


def test_combined_elements_keep_the_order_of_arrival_among_the_others(play):
    first, last = (Lifted((value,), 1, bl.IntervalWindow(0, 10), 1) for value in ("b", "d"))
    step = arrive(Element("a", 1), first, Element("c", 1), last)
    assert play(bl.WindowingStrategy(TEN), step, END, combine=Collect()) == [
        "1 [0,10) ON_TIME #0/0 first last ['a', 'b', 'c', 'd'] @9"
    ]


def test_combined_elements_make_sessions_merge(play):
    strategy = bl.WindowingStrategy(bl.Sessions(10))
    assert play(strategy, [0, 18], arrive(lifted(9, 9, window=(9, 19))), END) == [
        "2 [0,28) ON_TIME #0/0 first last [0, 9, 9, 18] @27"
    ]


@pytest.mark.parametrize("late_check", ["assigned", "element", "retain"])
def test_combined_elements_are_not_judged_a_second_time(play, late_check):
    strategy = bl.WindowingStrategy(TEN, late_check=late_check)
    assert play(strategy, AdvanceWatermark(10), arrive(lifted(1, 2)), AdvanceWatermark(10)) == [
        "1 [0,10) LATE #0/0 first [1, 2] @9"
    ]


def test_the_merged_window_is_judged_as_always():
    machine = Grouping(bl.WindowingStrategy(TEN, late_check="merged"), Collect())
    item = lifted(1, 2)
    _, effects = machine.step(KeyState.unseen(12, 0), Bundle((item,)))
    (drop,) = effects
    assert drop == Drop(item, item.window, DropReason.EXPIRED, 3, count=2)


def test_a_closed_window_drops_all_of_them():
    machine = Grouping(bl.WindowingStrategy(TEN, bl.AfterCount(1)), Collect())
    state, _ = machine.step(KeyState(), Bundle((Element(0, 0),)))
    item = lifted(1, 2)
    _, effects = machine.step(state, Bundle((item,)))
    assert effects == (Drop(item, item.window, DropReason.CLOSED, count=2),)


@pytest.mark.parametrize("combiner", ["earliest", "latest"])
def test_a_timestamp_that_is_lost_by_combining_is_refused(play, combiner):
    strategy = bl.WindowingStrategy(TEN, timestamp_combiner=combiner)
    assert refusal(WindowingError, lambda: play(strategy, arrive(lifted(1, 2)))) == (
        "2 elements of [00:00:00, 00:00:00.010) came combined already, and "
        f'timestamp_combiner="{combiner}" needs the time of each; combine them after they arrived, '
        'or write timestamp_combiner="end_of_window"'
    )


def test_a_stage_that_only_assigns_windows_takes_no_combined_elements():
    with pytest.raises(WindowingError) as refused:
        PassThrough(TEN).step(KeyState(), Bundle((lifted(1, 2),)))
    assert str(refused.value) == (
        "a stage that only assigns windows was given 2 elements already combined in "
        "[00:00:00, 00:00:00.010); combine before a grouping only"
    )

"""The end of time: the global window ends a day before it, and every other window with it."""

import pytest

import beamlike as bl
from beamlike.machine.events import AdvanceWatermark
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP

TEN = bl.FixedWindows(10)


def test_the_global_window_is_open_at_its_last_millisecond(play):
    assert (
        play(bl.WindowingStrategy(bl.GlobalWindows()), [5], AdvanceWatermark(END_OF_GLOBAL_WINDOW))
        == []
    )


def test_the_global_window_ends_a_day_before_time_does(play):
    strategy = bl.WindowingStrategy(bl.GlobalWindows())
    assert play(strategy, [5], AdvanceWatermark(END_OF_GLOBAL_WINDOW + 1), [6]) == [
        f"1 global ON_TIME #0/0 first last [5] @{END_OF_GLOBAL_WINDOW}",
        "2 global dropped 6, expired by 1",
    ]


def test_lateness_without_end_lasts_until_the_global_window_ends(play):
    strategy = bl.WindowingStrategy(TEN, None, "discarding", MAX_TIMESTAMP)
    late = "1 [0,10) LATE #0/0 first [5] @9"
    assert play(strategy, AdvanceWatermark(END_OF_GLOBAL_WINDOW), [5]) == [late]
    assert play(strategy, AdvanceWatermark(END_OF_GLOBAL_WINDOW + 1), [5]) == [
        "1 [0,10) dropped 5, expired by 1"
    ]


def test_the_last_fixed_window_is_cut_where_the_global_window_ends(play):
    start = END_OF_GLOBAL_WINDOW - END_OF_GLOBAL_WINDOW % 10
    strategy = bl.WindowingStrategy(TEN)
    assert play(strategy, [END_OF_GLOBAL_WINDOW], AdvanceWatermark(MAX_TIMESTAMP)) == [
        f"1 [{start},{END_OF_GLOBAL_WINDOW + 1}) ON_TIME #0/0 first last "
        f"[{END_OF_GLOBAL_WINDOW}] @{END_OF_GLOBAL_WINDOW}"
    ]


# -- the last day ----------------------------------------------------------------------------

LAST, LAST_OF_ALL = END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP - 1
TO_INFINITY = AdvanceWatermark(MAX_TIMESTAMP)
START_OF_TEN = LAST - 5
WINDOWS = [
    pytest.param(TEN, [(START_OF_TEN, LAST + 1)], id="fixed"),
    pytest.param(bl.FixedWindows("1 hour"), [(LAST - 54_775, LAST + 1)], id="fixed, long"),
    pytest.param(
        bl.SlidingWindows(10, period=5), [(START_OF_TEN, LAST + 1), (LAST, LAST + 1)], id="sliding"
    ),
    pytest.param(bl.Sessions(10), [(LAST, LAST + 1)], id="sessions"),
    pytest.param(bl.Sessions("2 days"), [(LAST, LAST + 1)], id="sessions, long"),
]


@pytest.mark.parametrize(("window_fn", "bounds"), WINDOWS)
def test_elements_of_the_last_day_get_the_last_windows_and_come_out_in_them(
    play, window_fn: bl.WindowFn, bounds: list[tuple[int, int]]
):
    assert play(bl.WindowingStrategy(window_fn), [LAST, LAST + 1], [LAST_OF_ALL], TO_INFINITY) == [
        f"2 [{start},{end}) ON_TIME #0/0 first last [{LAST}, {LAST + 1}, {LAST_OF_ALL}] @{LAST}"
        for start, end in bounds
    ]


@pytest.mark.parametrize(("window_fn", "bounds"), WINDOWS)
def test_an_early_pane_of_the_last_window_is_followed_by_one_on_time(
    play, window_fn: bl.WindowFn, bounds: list[tuple[int, int]]
):
    strategy = bl.WindowingStrategy(
        window_fn,
        bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1)),
        "discarding",
        5,
        timestamp_combiner="latest",
    )
    outputs = play(strategy, [LAST + 1, LAST_OF_ALL], [LAST + 2], TO_INFINITY)
    # The sliding windows fire in the order in which the element got them, the latest first.
    assert outputs == [
        *(
            f"0 [{start},{end}) EARLY #0/-1 first [{LAST + 1}, {LAST_OF_ALL}] @{LAST}"
            for start, end in reversed(bounds)
        ),
        *(f"2 [{start},{end}) ON_TIME #1/0 last [{LAST + 2}] @{LAST}" for start, end in bounds),
    ]


@pytest.mark.parametrize(("window_fn", "bounds"), WINDOWS)
def test_an_element_of_the_last_day_is_dropped_once_the_last_window_is_over(
    play, window_fn: bl.WindowFn, bounds: list[tuple[int, int]]
):
    strategy = bl.WindowingStrategy(window_fn, None, "discarding", 5)
    kept = play(strategy, AdvanceWatermark(LAST), [LAST_OF_ALL], AdvanceWatermark(LAST + 1))
    dropped = play(strategy, AdvanceWatermark(LAST + 1), [LAST_OF_ALL])
    assert kept == [
        f"2 [{start},{end}) ON_TIME #0/0 first last [{LAST_OF_ALL}] @{LAST}"
        for start, end in bounds
    ]
    assert dropped == [
        f"1 [{start},{end}) dropped {LAST_OF_ALL}, expired by 1" for start, end in reversed(bounds)
    ]


def test_an_element_of_the_last_day_of_the_global_window_is_stamped_inside_of_it(play):
    strategy = bl.WindowingStrategy(bl.GlobalWindows(), timestamp_combiner="latest")
    assert play(strategy, [LAST_OF_ALL, 5], TO_INFINITY) == [
        f"1 global ON_TIME #0/0 first last [5, {LAST_OF_ALL}] @{LAST}"
    ]

"""Which windows an element gets, on both sides of zero and at every edge."""

import pytest

from beamlike.errors import WindowError
from beamlike.model.sessions import Sessions
from beamlike.model.time import END_OF_GLOBAL_WINDOW, MAX_TIMESTAMP, MIN_TIMESTAMP
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, default_period
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, expiry
from tests.support.refusals import refusal


def starts(window_fn, timestamp):
    return [window.start for window in window_fn.assign(timestamp)]


# -- fixed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp", "start"),
    [(-11, -20), (-10, -10), (-1, -10), (0, 0), (9, 0), (10, 10), (19, 10), (20, 20)],
)
def test_a_fixed_window_starts_at_a_multiple_of_its_size(timestamp, start):
    assert FixedWindows(10).assign(timestamp) == (IntervalWindow(start, start + 10),)


@pytest.mark.parametrize(
    ("timestamp", "start"), [(-8, -17), (-7, -7), (2, -7), (3, 3), (12, 3), (13, 13)]
)
def test_an_offset_moves_the_starts_also_before_it(timestamp, start):
    assert FixedWindows(10, offset=3).assign(timestamp) == (IntervalWindow(start, start + 10),)


def test_a_fixed_window_is_cut_where_the_global_window_ends():
    window = FixedWindows(1000).assign(END_OF_GLOBAL_WINDOW)[0]
    assert window == IntervalWindow(END_OF_GLOBAL_WINDOW - 775, END_OF_GLOBAL_WINDOW + 1)
    assert window.max_timestamp == END_OF_GLOBAL_WINDOW


def test_fixed_windows_need_a_size():
    assert refusal(WindowError, lambda: FixedWindows(0)) == (
        'FixedWindows must have 0 <= offset < size, got size=0ms; give a size such as "1 minute"'
    )


def test_an_offset_of_a_whole_window_is_refused():
    assert FixedWindows(10, offset=9).offset == 9
    assert refusal(WindowError, lambda: FixedWindows(10, offset=10)) == (
        "FixedWindows must have 0 <= offset < size, got offset=10ms and size=10ms; "
        "use the offset modulo size"
    )


def test_a_negative_size_is_refused():
    assert refusal(WindowError, lambda: FixedWindows(-1)) == (
        'FixedWindows must have 0 <= offset < size, got size=-1ms; give a size such as "1 minute"'
    )


# -- sliding ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [(-1, [-5, -10]), (0, [0, -5]), (4, [0, -5]), (5, [5, 0]), (9, [5, 0]), (10, [10, 5])],
)
def test_sliding_windows_are_all_that_contain_the_element_the_latest_first(timestamp, expected):
    assert starts(SlidingWindows(10, period=5), timestamp) == expected


def test_a_size_that_is_no_multiple_of_the_period_gives_one_window_more_or_less():
    windows = SlidingWindows(10, period=4)
    assert [starts(windows, t) for t in (8, 9, 10, 11)] == [[8, 4, 0], [8, 4, 0], [8, 4], [8, 4]]


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [(-6, [-10]), (-5, []), (-1, []), (0, [0]), (4, [0]), (5, []), (9, []), (10, [10])],
)
def test_a_period_longer_than_the_size_leaves_gaps(timestamp, expected):
    assert starts(SlidingWindows(5, period=10), timestamp) == expected


def test_an_offset_moves_sliding_windows():
    assert starts(SlidingWindows(10, period=5, offset=2), 1) == [-3, -8]
    assert starts(SlidingWindows(10, period=5, offset=2), 2) == [2, -3]


@pytest.mark.parametrize(
    ("size", "period"),
    [(1, 1), (1_000, 1), (1_001, 1_000), (60_000, 1_000), (60_001, 60_000), (3_600_001, 3_600_000)],
)
def test_the_default_period_is_the_largest_unit_shorter_than_the_size(size, period):
    assert default_period(size) == SlidingWindows(size).period == period


@pytest.mark.parametrize(("size", "period"), [(0, 5), (5, 0)])
def test_sliding_windows_need_a_size_and_a_period(size, period):
    assert refusal(WindowError, lambda: SlidingWindows(size, period)) == (
        "SlidingWindows must have size > 0 and period > 0, "
        f"got size={size}ms and period={period}ms; "
        'give both such as "1 hour" and "5 minutes"'
    )


def test_sliding_windows_that_no_memory_holds_are_refused():
    assert refusal(WindowError, lambda: SlidingWindows("30 days", "1 ms")) == (
        "SlidingWindows of 30d every 1ms put each element into 2,592,000,000 windows, and no "
        "memory holds these; give a period of 2s 592ms or more"
    )
    assert SlidingWindows("30 days", "2592 ms").period == 2_592


def test_a_sliding_offset_of_a_whole_period_is_refused():
    assert refusal(WindowError, lambda: SlidingWindows(10, period=5, offset=5)) == (
        "SlidingWindows must have 0 <= offset < period, got offset=5ms and period=5ms; "
        "use the offset modulo period"
    )


# -- the last day of time --------------------------------------------------------------------

LAST_OF_ALL = MAX_TIMESTAMP - 1
LAST_TIMES = [
    END_OF_GLOBAL_WINDOW,
    END_OF_GLOBAL_WINDOW + 1,
    END_OF_GLOBAL_WINDOW + 43_200_000,
    LAST_OF_ALL,
]


@pytest.mark.parametrize("timestamp", LAST_TIMES)
@pytest.mark.parametrize(
    ("window_fn", "starts_before_the_end"),
    [
        (FixedWindows(10), [5]),
        (FixedWindows(1000, offset=999), [776]),
        (FixedWindows(1), [0]),
        (SlidingWindows(10, period=5), [0, 5]),
        (SlidingWindows(10, period=4, offset=2), [1, 5, 9]),
        (SlidingWindows(5, period=10), []),
        (Sessions(1), [0]),
        (Sessions("3 days"), [0]),
    ],
    ids=str,
)
def test_the_last_day_of_time_belongs_to_the_last_windows(
    window_fn, starts_before_the_end, timestamp
):
    assert window_fn.assign(timestamp) == tuple(
        IntervalWindow(END_OF_GLOBAL_WINDOW - before, END_OF_GLOBAL_WINDOW + 1)
        for before in starts_before_the_end
    )


def test_the_first_instant_of_time_has_whole_windows():
    assert Sessions(10).assign(MIN_TIMESTAMP) == (
        IntervalWindow(MIN_TIMESTAMP, MIN_TIMESTAMP + 10),
    )
    assert FixedWindows(10).assign(MIN_TIMESTAMP) == (
        IntervalWindow(MIN_TIMESTAMP - 5, MIN_TIMESTAMP + 5),
    )


# -- windows ---------------------------------------------------------------------------------


def test_windows_intersect_if_they_share_a_millisecond():
    window = IntervalWindow(0, 10)
    assert window.intersects(IntervalWindow(9, 11))
    assert not window.intersects(IntervalWindow(10, 11))
    assert not window.intersects(IntervalWindow(-1, 0))


@pytest.mark.parametrize(("start", "end"), [(5, 5), (5, 4)])
def test_a_window_without_a_millisecond_is_refused(start, end):
    assert refusal(WindowError, lambda: IntervalWindow(start, end)) == (
        f"a window needs start < end, got start=00:00:00.{start:03}, end=00:00:00.{end:03}; "
        "give an end that is later"
    )


def test_a_window_expires_at_its_last_millisecond_plus_the_lateness():
    assert expiry(IntervalWindow(0, 10), 0) == 9
    assert expiry(IntervalWindow(0, 10), 5) == 14


def test_no_window_expires_after_the_global_one():
    assert expiry(IntervalWindow(0, 10), END_OF_GLOBAL_WINDOW - 10) == END_OF_GLOBAL_WINDOW - 1
    assert expiry(IntervalWindow(0, 10), END_OF_GLOBAL_WINDOW - 9) == END_OF_GLOBAL_WINDOW
    assert expiry(IntervalWindow(0, 10), MAX_TIMESTAMP) == END_OF_GLOBAL_WINDOW
    assert expiry(GLOBAL_WINDOW, 1) == END_OF_GLOBAL_WINDOW


# -- compatible functions --------------------------------------------------------------------


def test_equal_parameters_are_compatible_and_different_ones_are_not():
    assert FixedWindows(10).compatible_with(FixedWindows("10 ms"))
    assert not FixedWindows(10).compatible_with(FixedWindows(10, offset=1))
    assert not SlidingWindows(10, 5).compatible_with(SlidingWindows(10, 2))
    assert GlobalWindows().compatible_with(GlobalWindows())
    assert not GlobalWindows().compatible_with(FixedWindows(10))


def test_window_functions_print_as_they_are_written():
    assert str(FixedWindows("1h")) == "FixedWindows(1h)"
    assert str(FixedWindows("1h", "5m")) == "FixedWindows(1h, offset=5m)"
    assert str(SlidingWindows("1h", "5m", "1m")) == "SlidingWindows(1h, period=5m, offset=1m)"
    assert str(GlobalWindows()) == "GlobalWindows()"

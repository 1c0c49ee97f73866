"""Which window of a side input an element looks into."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import WindowingError
from beamlike.model.side_inputs import side_input_window
from beamlike.model.windowfns import MappingWindowFn
from beamlike.model.windows import Window

W = bl.IntervalWindow
DAY = 86_400_000


@pytest.mark.parametrize(
    ("main", "window_fn", "expected"),
    [
        (W(0, 10), bl.FixedWindows(10), W(0, 10)),
        (W(0, 11), bl.FixedWindows(10), W(10, 20)),
        (W(-10, 0), bl.FixedWindows(10), W(-10, 0)),
        (W(0, 10), bl.FixedWindows(10, offset=5), W(5, 15)),
        (W(0, 10), bl.CalendarDays(1), W(0, DAY)),
        (W(0, DAY + 1), bl.CalendarDays(1), W(DAY, 2 * DAY)),
        (W(0, 10), bl.GlobalWindows(), bl.GLOBAL_WINDOW),
        (bl.GLOBAL_WINDOW, bl.GlobalWindows(), bl.GLOBAL_WINDOW),
    ],
    ids=str,
)
def test_it_is_the_window_that_holds_the_last_instant(main, window_fn, expected):
    assert side_input_window(main, window_fn) == expected


@pytest.mark.parametrize("end", range(-25, 26))
def test_of_sliding_windows_it_is_the_earliest(end):
    sliding = bl.SlidingWindows(10, period=4, offset=1)
    main = W(end - 3, end)
    assert side_input_window(main, sliding) == min(sliding.assign(end - 1))


@pytest.mark.parametrize(
    ("end", "expected"), [(4, W(0, 4)), (5, W(10, 14)), (11, W(10, 14)), (14, W(10, 14))]
)
def test_in_a_gap_between_sliding_windows_it_is_the_next_one(end, expected):
    assert side_input_window(W(end - 1, end), bl.SlidingWindows(4, period=10)) == expected


def refusal(main, window_fn):
    with pytest.raises(WindowingError) as refused:
        side_input_window(main, window_fn)
    return str(refused.value)


def test_sessions_cannot_be_looked_into():
    assert refusal(W(0, 10), bl.Sessions(10)) == (
        "Sessions is not allowed in side inputs: which window an instant belongs to depends on "
        "the other elements; window the side input with FixedWindows, SlidingWindows or "
        "GlobalWindows"
    )


def test_an_element_in_the_global_window_looks_only_into_the_global_window():
    assert refusal(bl.GLOBAL_WINDOW, bl.FixedWindows("1 hour")) == (
        "Attempted to get side input window for GlobalWindow from non-global WindowFn "
        "FixedWindows(1h); window the side input with GlobalWindows(), or the main input with "
        "FixedWindows(1h)"
    )


class Odd(bl.WindowFn):
    """Windows of ten and of twenty; none from 30 on."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return (W(0, 20), W(0, 10)) if timestamp < 30 else ()

    def __str__(self) -> str:
        return "Odd()"


def test_of_several_windows_of_ones_own_it_is_the_earliest_and_shortest():
    assert side_input_window(W(0, 5), Odd()) == W(0, 10)


def test_a_window_function_of_ones_own_must_have_a_window_there():
    assert refusal(W(0, 40), Odd()) == (
        "Odd() has no window at 00:00:00.039, the last instant of [00:00:00, 00:00:00.040); use a "
        "window function for the side input that leaves no gaps"
    )


class Before(MappingWindowFn):
    """Elements see the window of ten before their own; from the global window the first."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        return bl.FixedWindows(10).assign(timestamp)

    def side_window(self, main_window: Window) -> Window:
        if main_window == bl.GLOBAL_WINDOW:
            return W(0, 10)
        (window,) = self.assign(main_window.start - 1)
        return window


def test_a_side_input_may_say_itself_which_window_is_seen():
    assert side_input_window(W(20, 30), Before()) == W(10, 20)
    assert side_input_window(bl.GLOBAL_WINDOW, Before()) == W(0, 10)

"""When rows move a watermark so far at once that those to come are too late."""

import attrs
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beamlike.machine.input_clocks import SourceClock
from beamlike.model.calendar import CalendarDays, CalendarMonths, CalendarWeeks, CalendarYears
from beamlike.model.sessions import Sessions
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windowfns import FixedWindows, GlobalWindows, SlidingWindows, WindowFn
from beamlike.model.windows import Window
from beamlike.runtime.clock import Delivered, Jump, delivered_by, jump_over

HOUR = 3_600_000
DAY = 24 * HOUR
SOURCE = SourceClock(delay=5)
NOW = 10_000


@attrs.frozen
class Own(WindowFn):
    """Windows that do not say how long they are."""

    def assign(self, timestamp: int, value: object = None) -> tuple[Window, ...]:
        return FixedWindows(10).assign(timestamp)


def of(*times: int) -> Delivered:
    instants = pa.chunked_array([pa.array(times, pa.int64())])
    return delivered_by(0, instants, 0, f"the row at {max(times)}")


def jump(*rows: Delivered, known: int = 100, source: SourceClock = SOURCE) -> Jump | None:
    """With windows and lateness of 20 together."""
    return jump_over(source, rows, known, NOW, wait=20)


@pytest.mark.parametrize(
    ("windows", "longest"),
    [
        (FixedWindows("1 hour"), HOUR),
        (FixedWindows("1 hour", offset="10 minutes"), HOUR),
        (SlidingWindows("1 hour", "5 minutes"), HOUR),
        (Sessions("1 hour"), HOUR),
        (Sessions(lambda value: 5, max_duration="2 hours"), 2 * HOUR),
        (CalendarDays(2, "Europe/Warsaw"), 3 * DAY),
        (CalendarWeeks(), 8 * DAY),
        (CalendarMonths(2), 63 * DAY),
        (CalendarYears(), 367 * DAY),
        (Sessions(lambda value: 5), None),
        (GlobalWindows(), None),
        (Own(), None),
    ],
    ids=str,
)
def test_a_row_waits_for_its_window_and_for_the_allowed_lateness(
    windows: WindowFn, longest: int | None
) -> None:
    strategy = WindowingStrategy(windows, allowed_lateness=7)
    assert strategy.longest_wait == (None if longest is None else longest + 7)


@given(
    st.sampled_from([CalendarDays, CalendarWeeks, CalendarMonths, CalendarYears]),
    st.integers(1, 3),
    st.integers(-(10**13), 10**13),
)
def test_no_calendar_window_is_longer_than_it_says(kind: type[CalendarDays], number: int, at: int):
    windows = kind(number, "Europe/Warsaw")
    (window,) = windows.assign(at)
    assert window.end - window.start <= windows.longest_own_window


def test_a_row_far_from_all_others_makes_the_watermark_jump() -> None:
    assert jump(of(101, 103, 900, 102)) == Jump(98, 895, "the row at 900")


def test_a_row_may_be_as_far_as_delay_window_and_lateness_together() -> None:
    assert jump(of(125)) is None
    assert jump(of(126)) == Jump(95, 121, "the row at 126")


def test_rows_side_by_side_do_not_jump_however_many_they_are() -> None:
    assert jump(of(*range(110, 5_000, 10))) is None


def test_rows_of_other_tasks_lie_between() -> None:
    first, second = of(110, 160), of(135, 185)
    assert jump(first) == Jump(105, 155, "the row at 160")
    assert jump(first, second) is None
    assert jump(second, first) is None


def test_late_rows_are_no_gap() -> None:
    assert jump(of(-900, 20, 104)) is None


def test_a_time_ahead_of_the_clock_counts_as_far_as_it_is_believed() -> None:
    believing = SourceClock(5, max_ahead=HOUR)
    ahead = of(NOW - 50, NOW + 1_000)
    assert jump(ahead, known=NOW - 60, source=believing) == Jump(
        NOW - 55, NOW - 5, f"the row at {NOW + 1_000}"
    )
    assert jump(of(NOW - 10, NOW + 1_000), known=NOW - 20, source=believing) is None
    assert jump(of(NOW - 10, NOW + 1_000), known=NOW - 20) == Jump(
        NOW - 15, NOW + 995, f"the row at {NOW + 1_000}"
    )


def test_a_jump_says_how_far_from_where_to_where_and_by_what() -> None:
    assert Jump(43_500_000, 75_900_000, "device='d3', at 21:10:00").describe == (
        "the watermark jumps 9h, from 12:05:00 to 21:05:00 by device='d3', at 21:10:00"
    )


@given(st.lists(st.integers(-100, 2_000), min_size=1), st.integers(1, 5), st.integers(0, 99))
def test_it_does_not_matter_which_task_has_which_rows(times: list[int], tasks: int, known: int):
    """While there are no more gaps than are remembered."""
    times = sorted(times)[:16]
    dealt = [times[index::tasks] for index in range(tasks)]

    def bounds(found: Jump | None) -> tuple[int, int] | None:
        return None if found is None else (found.before, found.after)

    top, expected = known, None
    for time in times:
        if time - top > 25 and expected is None:
            expected = (top - 5, max(times) - 5)
        top = max(top, time)
    assert bounds(jump(of(*times), known=known)) == expected
    assert bounds(jump(*(of(*each) for each in dealt if each), known=known)) == expected

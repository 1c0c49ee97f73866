"""Which windows of panes are not those of their elements, where panes have the end of theirs."""

import pytest

import beamlike as bl
from beamlike.model.pane_times import loses_times
from beamlike.model.windowfns import WindowFn

HOUR = bl.FixedWindows("1 hour")
QUARTERS = bl.FixedWindows("15 minutes")
SESSIONS = bl.Sessions("5 minutes")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HOUR, SESSIONS),
        (HOUR, bl.Sessions("1 day")),
        (SESSIONS, SESSIONS),
        (bl.SlidingWindows("1 hour", "10 minutes"), SESSIONS),
        (bl.CalendarDays(), SESSIONS),
        (HOUR, QUARTERS),
        (HOUR, bl.FixedWindows("90 minutes")),
        (HOUR, bl.FixedWindows("1 hour", offset="30 minutes")),
        (HOUR, bl.SlidingWindows("2 hours", "30 minutes")),
        (HOUR, bl.SlidingWindows("90 minutes", "1 hour")),
        (HOUR, bl.SlidingWindows("1 hour", "90 minutes")),
        (HOUR, bl.CalendarDays(1, "Asia/Kathmandu")),
        (bl.FixedWindows("12 hours"), bl.CalendarDays(1, "Europe/Berlin")),
        (bl.FixedWindows("7 days"), bl.CalendarMonths()),
        (bl.CalendarDays(1, "Europe/Berlin"), bl.FixedWindows("1 day")),
        (bl.CalendarWeeks(), bl.CalendarMonths()),
        (bl.CalendarMonths(), bl.CalendarDays()),
        (bl.SlidingWindows("1 hour", "30 minutes"), QUARTERS),
        (bl.GlobalWindows(), HOUR),
        (bl.GlobalWindows(), bl.CalendarDays()),
        (bl.GlobalWindows(), SESSIONS),
    ],
    ids=str,
)
def test_they_are_others(before: WindowFn, after: WindowFn) -> None:
    assert loses_times(before, after)


class Halves(bl.WindowFn):
    """Windows of half a minute, of a user."""

    def assign(self, timestamp: int, value: object = None) -> tuple[bl.IntervalWindow, ...]:
        start = timestamp - timestamp % 30_000
        return (bl.IntervalWindow(start, start + 30_000),)

    def __repr__(self) -> str:
        return "Halves()"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (HOUR, HOUR),
        (HOUR, bl.FixedWindows("1 day")),
        (QUARTERS, bl.FixedWindows("1 hour", offset="15 minutes")),
        (HOUR, bl.SlidingWindows("1 day", "1 hour")),
        (HOUR, bl.GlobalWindows()),
        (HOUR, bl.CalendarDays(1, "Europe/Berlin")),
        (QUARTERS, bl.CalendarDays(1, "Asia/Kathmandu")),
        (HOUR, bl.CalendarMonths()),
        (bl.CalendarDays(1, "Europe/Berlin"), bl.CalendarMonths(1, "Europe/Berlin")),
        (bl.CalendarDays(), bl.FixedWindows("7 days")),
        (bl.SlidingWindows("1 hour", "10 minutes"), bl.FixedWindows("30 minutes")),
        (SESSIONS, HOUR),
        (SESSIONS, bl.CalendarDays()),
        (bl.GlobalWindows(), bl.GlobalWindows()),
        (Halves(), HOUR),
        (HOUR, Halves()),
    ],
    ids=str,
)
def test_they_are_the_same_or_nothing_better_is_known(before: WindowFn, after: WindowFn) -> None:
    assert not loses_times(before, after)

"""Calendar windows: local midnights, clock changes, counting on both sides of the start."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from beamlike.errors import WindowError
from beamlike.machine.columnar.assign import assign
from beamlike.model import calendar
from beamlike.model.calendar import (
    CalendarDays,
    CalendarMonths,
    CalendarWeeks,
    CalendarWindows,
    CalendarYears,
)
from beamlike.model.windows import IntervalWindow
from tests.support.refusals import refusal

HOUR = 3_600_000


def at(text: str, zone: str = "UTC") -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))
    return int(moment.timestamp()) * 1000


def span(start: str, end: str, zone: str = "UTC") -> tuple[IntervalWindow]:
    return (IntervalWindow(at(start, zone), at(end, zone)),)


def test_a_day_runs_from_midnight_to_midnight_in_its_time_zone() -> None:
    days = CalendarDays(1, "America/Los_Angeles")

    assert days.assign(at("2014-01-01T07:59")) == span(
        "2013-12-31", "2014-01-01", "America/Los_Angeles"
    )
    assert days.assign(at("2014-01-01T08:00")) == span(
        "2014-01-01", "2014-01-02", "America/Los_Angeles"
    )


@pytest.mark.parametrize(
    ("day", "hours"), [("2024-03-30", 24), ("2024-03-31", 23), ("2024-10-27", 25)]
)
def test_a_day_on_which_clocks_change_is_an_hour_shorter_or_longer(day: str, hours: int) -> None:
    (window,) = CalendarDays(1, "Europe/Warsaw").assign(at(f"{day}T12:00", "Europe/Warsaw"))

    assert window.start == at(day, "Europe/Warsaw")
    assert window.end - window.start == hours * HOUR


def test_both_runs_of_a_repeated_hour_are_in_the_same_day() -> None:
    days = CalendarDays(1, "Europe/Warsaw")
    first = at("2024-10-27T00:30")  # 02:30 in summer time
    second = at("2024-10-27T01:30")  # 02:30 again

    assert days.assign(first) == days.assign(second)


def test_a_day_whose_midnight_is_skipped_begins_when_the_clocks_jump() -> None:
    # Lebanon moves from 00:00 to 01:00.
    (window,) = CalendarDays(1, "Asia/Beirut").assign(at("2022-03-27T12:00", "Asia/Beirut"))

    assert window == IntervalWindow(at("2022-03-26T22:00"), at("2022-03-27T21:00"))


def test_where_clocks_go_back_across_midnight_every_instant_is_in_one_window() -> None:
    # In 1990 St John's went back from 00:01 to 23:01 of the day before.
    days = CalendarDays(1, "America/St_Johns")
    midnight = at("1990-10-28T02:30")
    before = IntervalWindow(at("1990-10-27T02:30"), midnight)
    after = IntervalWindow(midnight, at("1990-10-29T03:30"))

    assert days.assign(midnight - 1) == (before,)
    assert days.assign(midnight) == (after,)
    assert days.assign(midnight + HOUR // 2) == (after,)  # 23:30 for the second time
    assert days.assign(midnight + 2 * HOUR) == (after,)


def test_days_are_counted_from_the_start_date_in_both_directions() -> None:
    three_days = CalendarDays(3, start=(2014, 1, 1))

    assert three_days.assign(at("2014-01-03T23:59:59")) == span("2014-01-01", "2014-01-04")
    assert three_days.assign(at("2014-01-04")) == span("2014-01-04", "2014-01-07")
    assert three_days.assign(at("2013-12-31")) == span("2013-12-29", "2014-01-01")
    assert CalendarDays(1).assign(-1) == (IntervalWindow(-24 * HOUR, 0),)


def test_weeks_start_on_thursday_unless_told_otherwise() -> None:
    wednesday = at("2014-01-01")

    assert CalendarWeeks(1).assign(wednesday) == span("2013-12-26", "2014-01-02")
    assert CalendarWeeks(1, start_day_of_week=3).assign(wednesday) == span(
        "2014-01-01", "2014-01-08"
    )
    assert CalendarWeeks(1, start=(2014, 1, 6)).assign(wednesday) == span(
        "2013-12-30", "2014-01-06"
    )
    assert CalendarWeeks(2, start_day_of_week=1).assign(0) == span("1969-12-29", "1970-01-12")


def test_months_differ_in_length() -> None:
    months = CalendarMonths(1)

    assert months.assign(at("2024-02-29T23:59")) == span("2024-02-01", "2024-03-01")
    assert months.assign(at("2023-02-28")) == span("2023-02-01", "2023-03-01")
    assert months.assign(at("1969-12-31")) == span("1969-12-01", "1970-01-01")
    assert CalendarMonths(3).assign(at("2023-11-11")) == span("2023-10-01", "2024-01-01")


def test_months_may_begin_on_a_day_that_some_months_lack() -> None:
    months = CalendarMonths(1, day_of_month=31)

    assert months.assign(at("2023-02-27")) == span("2023-01-31", "2023-02-28")
    assert months.assign(at("2023-02-28")) == span("2023-02-28", "2023-03-31")
    assert months.assign(at("2023-03-30")) == span("2023-02-28", "2023-03-31")
    assert months.assign(at("2023-04-30")) == span("2023-04-30", "2023-05-31")


def test_years_may_begin_on_any_day() -> None:
    assert CalendarYears(1).assign(at("2023-06-01")) == span("2023-01-01", "2024-01-01")
    assert CalendarYears(10).assign(at("1969-06-01")) == span("1960-01-01", "1970-01-01")
    fiscal = CalendarYears(1, month_of_year=4, day_of_month=6)
    assert fiscal.assign(at("2023-04-05")) == span("2022-04-06", "2023-04-06")
    assert fiscal.assign(at("2023-04-06")) == span("2023-04-06", "2024-04-06")
    leap = CalendarYears(1, start=(2024, 2, 29))
    assert leap.assign(at("2025-03-01")) == span("2025-02-28", "2026-02-28")


def plain_months(timestamp: int, first: date, number: int, zone: str) -> tuple[date, date]:
    """The window of an instant, counted month by month from the first one."""
    local = datetime.fromtimestamp(timestamp / 1000, ZoneInfo(zone)).date()
    begins = [first]
    while begins[-1] <= local:
        months = first.year * 12 + first.month - 1 + len(begins) * number
        begins.append(date(months // 12, months % 12 + 1, first.day))
    return begins[-2], begins[-1]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
@pytest.mark.parametrize(
    ("windows", "first", "number"),
    [
        # months(7).withStartingMonth(2014, 3).beginningOnDay(5), and so on.
        (lambda zone: CalendarMonths(7, zone, (2014, 3, 1), day_of_month=5), (2014, 3, 5), 7),
        (lambda zone: CalendarMonths(7, zone, date(2014, 3, 9), day_of_month=5), (2014, 3, 5), 7),
        (lambda zone: CalendarMonths(3, zone, (2014, 1, 15)), (2014, 1, 15), 3),
        (lambda zone: CalendarMonths(2, zone, day_of_month=28), (1970, 1, 28), 2),
        (
            lambda zone: CalendarYears(2, zone, (2001, 1, 1), month_of_year=4, day_of_month=6),
            (2001, 4, 6),
            24,
        ),
        (lambda zone: CalendarYears(2, zone, (2001, 4, 1), day_of_month=6), (2001, 4, 6), 24),
        (lambda zone: CalendarYears(2, zone, (2001, 1, 6), month_of_year=4), (2001, 4, 6), 24),
        (lambda zone: CalendarYears(10, zone, month_of_year=5), (1970, 5, 1), 120),
    ],
)
def test_months_and_years_begin_on_a_day_of_the_start(
    windows: Callable[[str], CalendarWindows], first: tuple[int, int, int], number: int, zone: str
) -> None:
    window_fn = windows(zone)
    instants = [
        at(f"{year}-{month:02}-{day:02}T{hour:02}:59", zone)
        for year in (2014, 2015, 2016, 2031)
        for month in range(4, 13)
        for day in (4, 5, 6, 14, 15, 27, 28)
        for hour in (0, 23)
    ]
    expected = [
        span(*(day.isoformat() for day in plain_months(instant, date(*first), number, zone)), zone)
        for instant in instants
    ]
    assert [window_fn.assign(instant) for instant in instants] == expected
    assigned = assign(window_fn, np.array(instants, np.int64))
    assert list(zip(assigned.start.tolist(), assigned.end.tolist(), strict=True)) == [
        (window.start, window.end) for (window,) in expected
    ]


def test_equal_parameters_are_equal_windowings_however_they_were_written() -> None:
    assert CalendarWeeks(1, start_day_of_week=1) == CalendarWeeks(1, start=date(1969, 12, 29))
    assert CalendarMonths(7, start=(2014, 3, 1), day_of_month=5) == CalendarMonths(
        7, start=date(2014, 3, 5)
    )
    assert CalendarDays(1).compatible_with(CalendarDays(1, "UTC", date(1970, 1, 1)))
    assert not CalendarDays(1).compatible_with(CalendarDays(1, "Europe/Warsaw"))
    assert not CalendarDays(1).compatible_with(CalendarWeeks(1))
    assert str(CalendarDays(1, "Asia/Tokyo")) == "CalendarDays(1, Asia/Tokyo, from 1970-01-01)"


@pytest.mark.parametrize("year", [-5000, 10_000])
def test_a_window_beyond_the_calendar_is_refused(year: int) -> None:
    timestamp = (year - 1970) * 366 * 24 * HOUR

    with pytest.raises(WindowError, match=r"CalendarYears\(1, UTC, from 1970-01-01\) reaches from"):
        CalendarYears(1).assign(timestamp)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: CalendarDays(0), "CalendarDays number must be a whole number of 1 or more, got 0"),
        (
            lambda: CalendarDays(1, "Europe/Warschau"),
            "time zone 'Europe/Warschau' does not exist; did you mean 'Europe/Warsaw'?",
        ),
        (
            lambda: CalendarDays(1, "??"),
            "time zone '??' does not exist; write an IANA name such as \"Europe/Warsaw\"",
        ),
        (
            lambda: CalendarDays(1, start=(2023, 2, 29)),
            "a calendar window must start on a date that exists, got (2023, 2, 29) "
            "(day is out of range for month); write a date or (year, month, day)",
        ),
        (
            lambda: CalendarWeeks(1, start_day_of_week=0),
            "CalendarWeeks start_day_of_week must be 1 (Monday) to 7 (Sunday), got 0",
        ),
        (
            lambda: CalendarWeeks(1, start=(2020, 1, 1), start_day_of_week=2),
            "give CalendarWeeks either start or start_day_of_week, not both, because a date has "
            "its own day of the week; got start=(2020, 1, 1)",
        ),
        (
            lambda: CalendarMonths(1, start=(2023, 2, 1), day_of_month=29),
            "a calendar window must start on a date that exists, got (2023, 2, 29) "
            "(day is out of range for month); write a date or (year, month, day)",
        ),
        (
            lambda: CalendarYears(1, month_of_year=13),
            "a calendar window must start on a date that exists, got (1970, 13, 1) "
            "(month must be in 1..12); write a date or (year, month, day)",
        ),
    ],
)
def test_parameters_that_make_no_calendar_are_refused(make: object, says: str) -> None:
    assert refusal(WindowError, make) == says


def test_a_machine_without_time_zones_is_reported_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def no_zone(_name: str) -> ZoneInfo:
        raise KeyError("no database")

    monkeypatch.setattr(calendar, "ZoneInfo", no_zone)
    monkeypatch.setattr(calendar, "available_timezones", set)

    assert refusal(WindowError, lambda: CalendarDays(1, "Africa/Abidjan")) == (
        "time zone 'Africa/Abidjan' cannot be looked up: this machine has no time zone "
        "database; install one with: pip install tzdata"
    )
    assert CalendarDays(1, "UTC").assign(0) == (IntervalWindow(0, 24 * HOUR),)


def test_every_window_is_found_again_from_each_of_its_ends() -> None:
    kinds: list[CalendarWindows] = [
        CalendarDays(2, "America/Havana"),
        CalendarWeeks(3, "America/Sao_Paulo", start_day_of_week=7),
        CalendarMonths(1, "Africa/Cairo", day_of_month=30),
        CalendarYears(1, "Pacific/Apia"),
    ]
    for kind in kinds:
        instant = int(datetime(2009, 1, 1, tzinfo=UTC).timestamp()) * 1000
        while instant < at("2012-03-01"):
            (window,) = kind.assign(instant)

            assert kind.assign(window.start) == (window,)
            assert kind.assign(window.end - 1) == (window,)
            assert kind.assign(window.end)[0].start == window.end
            instant = window.end

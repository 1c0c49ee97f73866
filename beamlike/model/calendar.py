"""Windows of whole days, weeks, months and years in the local time of a time zone.

A calendar window runs from one local midnight to another, so its length in milliseconds
varies: a day with a change of clocks has 23 or 25 hours, a month 28 to 31 days.

Source: Beam Java, ``CalendarWindows``. Units are counted by floor arithmetic also before the
start date (Java rounds toward the start date and puts earlier instants into a window that
does not hold them).
"""

import difflib
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, ClassVar, Final
from zoneinfo import ZoneInfo, available_timezones

import attrs

from beamlike.errors import WindowError
from beamlike.model.described import HasDurations
from beamlike.model.options import whole_number
from beamlike.model.windowfns import WindowFn
from beamlike.model.windows import IntervalWindow

DateLike = date | Sequence[int]
"""A date, or ``(year, month, day)``."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAY: Final = 86_400_000
_START: Final = date(1970, 1, 1)
_FIRST_MONDAY: Final = date(1969, 12, 29)


@attrs.frozen(init=False)
class CalendarWindows(HasDurations, WindowFn):
    """Windows of ``number`` units each, counted from local midnight of a start date.

    Use one of its four kinds. ``start`` is the date on which one of the windows begins.
    """

    number: int
    time_zone: str
    start: date

    _days: ClassVar[int]
    """Days of a unit, at most."""
    _months: ClassVar[int] = 0
    """Months of a unit, if it is some."""

    @property
    def longest_own_window(self) -> int:
        """As long as its units can be, and a day for clocks that are put back."""
        return self.resolution.from_ms((self.number * self._days + 1) * _DAY)

    def __init__(
        self, number: int = 1, time_zone: str = "UTC", start: DateLike | None = None
    ) -> None:
        first = _date(start)
        whole_number(number, 1, f"{type(self).__name__} number", WindowError)
        if not isinstance(time_zone, str):
            raise WindowError(
                f'time_zone must be an IANA name such as "Europe/Warsaw", got {time_zone!r}'
            )
        _zone(time_zone)
        self.__attrs_init__(number, time_zone, first)

    def _after(self, units: int) -> date:
        """The date that many units after the start date; before it, if negative."""
        if self._months:
            return _plus_months(self.start, units * self._months)
        return self.start + timedelta(days=units * self._days)

    def _units_until(self, day: date) -> int:
        """Units from the start date to a day, correct to within one unit."""
        if not self._months:
            return (day - self.start).days // self._days
        years, months = day.year - self.start.year, day.month - self.start.month
        return (years * 12 + months) // self._months

    def assign(self, timestamp: int, value: Any = None) -> tuple[IntervalWindow, ...]:
        """The one window that holds the instant.

        Raises:
            WindowError: The window reaches out of the calendar, years 1 to 9999.
        """
        zone = _zone(self.time_zone)
        try:
            instant = _EPOCH + timestamp * self.resolution.micros * _MICROSECOND
            local = instant.astimezone(zone)
            index = self._units_until(local.date()) // self.number
            window = self._window(index, zone)
            # The bounds decide, not the local date: where clocks go back across midnight, a
            # date is left and entered again, and a window must still be one span of time.
            while not window.start <= timestamp < window.end:
                index += -1 if timestamp < window.start else 1
                window = self._window(index, zone)
        except (OverflowError, ValueError):
            raise WindowError(
                f"{self} reaches from year 1 to year 9999, and the window of timestamp "
                f"{self.resolution.show_exactly(timestamp)} does not lie inside; "
                "filter such elements out or use FixedWindows"
            ) from None
        return (window,)

    def _window(self, index: int, zone: tzinfo) -> IntervalWindow:
        first = index * self.number
        return IntervalWindow(
            self._midnight(self._after(first), zone),
            self._midnight(self._after(first + self.number), zone),
        )

    def _midnight(self, day: date, zone: tzinfo) -> int:
        """When a local day begins. The earlier midnight of two; a skipped one is the skip."""
        midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
        return self.resolution.from_ms((midnight - _EPOCH) // _MILLISECOND)

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.number}, {self.time_zone}, from {self.start})"


@attrs.frozen(init=False)
class CalendarDays(CalendarWindows):
    """Windows of whole days.

    Args:
        number: Days in a window.
        time_zone: IANA name of the zone whose midnights count, such as ``"Europe/Warsaw"``.
        start: A day on which a window begins. Default 1970-01-01.

    Raises:
        WindowError: The number is less than 1, or the time zone or the date do not exist.

    Source: Beam Java ``CalendarWindows.days``, Scio ``withWindowByDays``.

    >>> CalendarDays(1, "Europe/Warsaw").assign(0)
    (IntervalWindow(start=-3600000, end=82800000),)
    """

    _days: ClassVar[int] = 1


@attrs.frozen(init=False)
class CalendarWeeks(CalendarWindows):
    """Windows of whole weeks.

    Args:
        number: Weeks in a window.
        time_zone: IANA name of the zone whose midnights count.
        start: A day on which a window begins. Default 1970-01-01, a Thursday.
        start_day_of_week: In place of ``start``: 1 (Monday) to 7 (Sunday), counted from the
            week of 1969-12-29.

    Raises:
        WindowError: As `CalendarDays`; or both ``start`` and ``start_day_of_week`` were given.

    Source: Beam Java ``CalendarWindows.weeks``, Scio ``withWindowByWeeks``.

    >>> print(CalendarWeeks().assign(0)[0])
    [00:00:00, 1970-01-08 00:00:00)
    """

    _days: ClassVar[int] = 7

    def __init__(
        self,
        number: int = 1,
        time_zone: str = "UTC",
        start: DateLike | None = None,
        *,
        start_day_of_week: int | None = None,
    ) -> None:
        if start_day_of_week is not None:
            if start is not None:
                raise WindowError(
                    "give CalendarWeeks either start or start_day_of_week, not both, because a "
                    f"date has its own day of the week; got start={start!r}"
                )
            if start_day_of_week not in range(1, 8):
                raise WindowError(
                    "CalendarWeeks start_day_of_week must be 1 (Monday) to 7 (Sunday), "
                    f"got {start_day_of_week!r}"
                )
            start = _FIRST_MONDAY + timedelta(days=start_day_of_week - 1)
        super().__init__(number, time_zone, start)


@attrs.frozen(init=False)
class CalendarMonths(CalendarWindows):
    """Windows of whole months.

    Args:
        number: Months in a window.
        time_zone: IANA name of the zone whose midnights count.
        start: A day on which a window begins. Default 1970-01-01.
        day_of_month: That day of the month of ``start``, in place of its own. In months that are
            too short for it, windows begin on the last day.

    Raises:
        WindowError: As `CalendarDays`.

    Source: Beam Java ``CalendarWindows.months``, with ``withStartingMonth`` and
    ``beginningOnDay``; Scio ``withWindowByMonths``.

    >>> print(CalendarMonths(7, start=(2014, 3, 1), day_of_month=5))
    CalendarMonths(7, UTC, from 2014-03-05)
    """

    _days: ClassVar[int] = 31
    _months: ClassVar[int] = 1

    def __init__(
        self,
        number: int = 1,
        time_zone: str = "UTC",
        start: DateLike | None = None,
        *,
        day_of_month: int | None = None,
    ) -> None:
        super().__init__(number, time_zone, _on(start, None, day_of_month))


@attrs.frozen(init=False)
class CalendarYears(CalendarWindows):
    """Windows of whole years.

    Args:
        number: Years in a window.
        time_zone: IANA name of the zone whose midnights count.
        start: A day on which a window begins. Default 1970-01-01.
        month_of_year: That month of the year of ``start``, in place of its own.
        day_of_month: That day of the month, in place of that of ``start``.

    Raises:
        WindowError: As `CalendarDays`.

    Source: Beam Java ``CalendarWindows.years``, with ``withStartingYear`` and ``beginningOnDay``;
    Scio ``withWindowByYears``.

    >>> print(CalendarYears().assign(0)[0])
    [00:00:00, 1971-01-01 00:00:00)
    """

    _days: ClassVar[int] = 366
    _months: ClassVar[int] = 12

    def __init__(
        self,
        number: int = 1,
        time_zone: str = "UTC",
        start: DateLike | None = None,
        *,
        month_of_year: int | None = None,
        day_of_month: int | None = None,
    ) -> None:
        super().__init__(number, time_zone, _on(start, month_of_year, day_of_month))


def _plus_months(start: date, months: int) -> date:
    """The same day of a later month, or its last day if that month is shorter."""
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    _, last = monthrange(year, month + 1)
    return date(year, month + 1, min(start.day, last))


def _date(value: DateLike | None) -> date:
    if value is None:
        return _START
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    try:
        year, month, day = value
        return date(year, month, day)
    except (TypeError, ValueError) as error:
        raise WindowError(
            f"a calendar window must start on a date that exists, got {value!r} ({error}); "
            "write a date or (year, month, day)"
        ) from None


def _on(start: DateLike | None, month: int | None, day: int | None) -> DateLike | None:
    """The start date with another month or day, as far as they are given."""
    if month is None and day is None:
        return start
    first = _date(start)
    return first.year, first.month if month is None else month, first.day if day is None else day


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC  # needs no time zone database
    try:
        return ZoneInfo(name)
    except (OSError, TypeError, ValueError, KeyError):
        # zoneinfo reports an unknown name, a folder and a path as different errors.
        known = available_timezones()
    if not known:
        raise WindowError(
            f"time zone {name!r} cannot be looked up: this machine has no time zone database; "
            "install one with: pip install tzdata"
        )
    near = difflib.get_close_matches(str(name), sorted(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else 'write an IANA name such as "Europe/Warsaw"'
    raise WindowError(f"time zone {name!r} does not exist; {hint}")

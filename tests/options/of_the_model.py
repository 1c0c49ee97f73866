"""Options of windows, triggers, strategies, aggregates and test streams, in runs that differ in one
of them."""

from functools import partial
from typing import Any, Final

import beamlike as bl
from beamlike.model.combine import Sum
from beamlike.model.time import instant_ms
from tests.options.playing import HOUR, Differs, tested, windowed

AGAIN: Final[dict[str, Any]] = {"accumulation": "accumulating", "allowed_lateness": "1 day"}
EARLY: Final = bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1))
TIMES: Final = ("2020-01-01 12:00:00", "2020-02-29 12:00:00", "2020-02-29 12:30:00")


def assigned(window_fn: Any) -> Any:
    """The windows of three instants."""
    return [window_fn.assign(instant_ms(time, "time")) for time in TIMES]


def windows(cls: Any, *args: Any, **option: Any) -> Differs:
    """Window functions that differ in one option."""
    return Differs(lambda: assigned(cls(*args)), lambda: assigned(cls(*args, **option)))


def sessions(*args: Any, **option: Any) -> Differs:
    """Sessions of the rows of a query that differ in one option."""

    def run(*args: Any, **option: Any) -> Any:
        window = bl.Sessions(*args, **option)
        reads = callable(window.gap) or window.ends_with is not None
        return windowed(window=window, window_input="page" if reads else ())

    return Differs(partial(run, *args), partial(run, *args, **option))


def triggered(trigger: Any, *args: Any, **option: Any) -> Differs:
    """Triggers of a test stream that differ in one option."""

    def run(once: bl.Trigger) -> Any:
        return tested(trigger=bl.Repeatedly(once), **AGAIN)

    return Differs(lambda: run(trigger(*args)), lambda: run(trigger(*args, **option)))


def strategic(base: dict[str, Any] | None = None, **part: Any) -> Differs:
    """Strategies of a test stream that differ in one part."""
    both = {"window_fn": HOUR, **(base or {})}

    def run(**parts: Any) -> Any:
        windowing_strategy = bl.WindowingStrategy(**parts)
        return tested(window=None, strategy=windowing_strategy, allow_unsafe_trigger=True)

    return Differs(lambda: run(**both), lambda: run(**(both | part)))


def aggregated(aggregate: Any, *args: Any, **option: Any) -> Differs:
    """Aggregates of a query that differ in one option."""

    def run(part: bl.Aggregate) -> Any:
        return windowed(aggregate={"result": part})

    return Differs(lambda: run(aggregate(*args)), lambda: run(aggregate(*args, **option)))


DATE: Final = {"start": "1970-01-02"}
BERLIN: Final = {"time_zone": "Europe/Berlin"}
TWO: Final = {"number": 2}

RUNS: Final[dict[str, Differs]] = {
    "FixedWindows.offset": windows(bl.FixedWindows, "1 hour", offset="1 minute"),
    "SlidingWindows.period": windows(bl.SlidingWindows, "1 hour", period="30 minutes"),
    "SlidingWindows.offset": windows(bl.SlidingWindows, "1 hour", "30 minutes", offset="1 minute"),
    "CalendarDays.number": windows(bl.CalendarDays, **TWO),
    "CalendarDays.time_zone": windows(bl.CalendarDays, **BERLIN),
    "CalendarDays.start": windows(bl.CalendarDays, 2, **DATE),
    "CalendarWeeks.number": windows(bl.CalendarWeeks, **TWO),
    "CalendarWeeks.time_zone": windows(bl.CalendarWeeks, **BERLIN),
    "CalendarWeeks.start": windows(bl.CalendarWeeks, 2, start="1970-01-20"),
    "CalendarWeeks.start_day_of_week": windows(bl.CalendarWeeks, start_day_of_week=2),
    "CalendarMonths.number": windows(bl.CalendarMonths, **TWO),
    "CalendarMonths.time_zone": windows(bl.CalendarMonths, **BERLIN),
    "CalendarMonths.start": windows(bl.CalendarMonths, 2, start="1970-02-01"),
    "CalendarMonths.day_of_month": windows(bl.CalendarMonths, day_of_month=3),
    "CalendarYears.number": windows(bl.CalendarYears, **TWO),
    "CalendarYears.time_zone": windows(bl.CalendarYears, **BERLIN),
    "CalendarYears.start": windows(bl.CalendarYears, 2, start="1971-01-01"),
    "CalendarYears.month_of_year": windows(bl.CalendarYears, month_of_year=2),
    "CalendarYears.day_of_month": windows(bl.CalendarYears, day_of_month=3),
    "Sessions.max_duration": sessions(lambda page: 1_200_000, max_duration="10 minutes"),
    "Sessions.max_elements": sessions(lambda page: 1_800_000, max_elements=1),
    "Sessions.merge_touching": sessions(lambda page: 1_200_000, merge_touching=True),
    "Sessions.ends_with": sessions("30 minutes", ends_with="tea"),
    "AfterProcessingTime.delay": triggered(bl.AfterProcessingTime, delay="2 hours"),
    "AfterWatermark.early": triggered(bl.AfterWatermark, early=bl.AfterCount(1)),
    "AfterWatermark.late": triggered(bl.AfterWatermark, late=bl.AfterCount(5)),
    "EveryEventTime.offset": triggered(bl.EveryEventTime, "1 hour", offset="30 minutes"),
    "WindowingStrategy.trigger": strategic(AGAIN, trigger=EARLY),
    "WindowingStrategy.accumulation": strategic(
        {"allowed_lateness": "1 day"}, accumulation="accumulating"
    ),
    "WindowingStrategy.allowed_lateness": strategic(allowed_lateness="1 day"),
    "WindowingStrategy.timestamp_combiner": strategic(timestamp_combiner="earliest"),
    "WindowingStrategy.closing_behavior": strategic(AGAIN, closing_behavior="fire_always"),
    "WindowingStrategy.on_time_behavior": strategic(
        AGAIN | {"trigger": EARLY}, on_time_behavior="fire_if_non_empty"
    ),
    "WindowingStrategy.late_check": strategic(
        {"window_fn": bl.Sessions("59 minutes")}, late_check="element"
    ),
    "WindowingStrategy.unchanged": strategic(
        {**AGAIN, "accumulation": "retracting", "trigger": EARLY}, unchanged="omit"
    ),
    "WindowingStrategy.declared.unbounded": Differs(
        lambda: bl.WindowingStrategy.declared(bl.GlobalWindows()),
        lambda: bl.WindowingStrategy.declared(bl.GlobalWindows(), unbounded=True),
    ),
    "count.column": aggregated(bl.count, column="v"),
    "top.by": aggregated(bl.top, "page", 1, by="v"),
    "bottom.by": aggregated(bl.bottom, "page", 1, by="v"),
    "sample.seed": aggregated(bl.sample, "page", 1, seed=1),
    "combine.returns": aggregated(bl.combine, Sum(), "v", returns="bigint"),
    "testing.FinishedTestStream.run.window": Differs(
        tested, lambda: tested(window=bl.FixedWindows("1 minute"))
    ),
    "testing.FinishedTestStream.run.strategy": Differs(
        tested, lambda: tested(window=None, strategy=bl.WindowingStrategy(HOUR, **AGAIN))
    ),
    "testing.FinishedTestStream.run.aggregate": Differs(tested, lambda: tested(aggregate=Sum())),
    "testing.FinishedTestStream.run.allow_unsafe_trigger": Differs(
        lambda: tested(trigger=bl.AfterCount(1), **AGAIN),
        lambda: tested(trigger=bl.AfterCount(1), allow_unsafe_trigger=True, **AGAIN),
    ),
    "testing.FinishedTestStream.run.on_error": Differs(
        lambda: tested(window=bl.Sessions(lambda value: 1 // 0)),
        lambda: tested(window=bl.Sessions(lambda value: 1 // 0), on_error="drop"),
    ),
    "testing.FinishedTestStream.run.host": Differs(tested, lambda: tested(host="elsewhere")),
}

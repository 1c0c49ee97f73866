"""Functions of users know milliseconds, and work where a query counts microseconds."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly

COLUMNS = "k string, at timestamp, v int"


def noon(micros: int) -> datetime:
    return datetime(2024, 1, 1, 12, tzinfo=UTC) + timedelta(microseconds=micros)


def row(micros: int, v: int = 1) -> dict[str, Any]:
    return {"k": "a", "at": noon(micros), "v": v}


def spans(panes: Iterable[dict[str, Any]]) -> list[tuple[datetime, datetime, int]]:
    return [(pane["window"]["start"], pane["window"]["end"], pane["n"]) for pane in panes]


def grouped(df: Any, window: bl.WindowFn, **more: Any) -> Any:
    return hourly(df, watermark="0 s", window=window, **more)


@attrs.frozen
class Halves(bl.WindowFn):
    """The first half of each minute."""

    def assign(self, timestamp: int, value: Any = None) -> tuple[bl.IntervalWindow, ...]:
        start = timestamp - timestamp % 60_000
        return (bl.IntervalWindow(start, start + 30_000),) if timestamp < start + 30_000 else ()


def test_a_window_function_of_ones_own_is_asked_with_milliseconds() -> None:
    with QueryTest(lambda df: grouped(df, Halves()), COLUMNS) as test:
        test.send(row(0), row(29_999_999), row(30_000_000))
        test.advance_watermark_to_infinity()
        panes = test.rows
    assert spans(panes) == [(noon(0), noon(30_000_000), 2)]
    assert panes[0]["timestamp"] == noon(29_999_999)


@attrs.frozen
class SecondsOfQuiet(bl.CustomTrigger[int | None]):
    """Fires once the clock has been quiet for some seconds."""

    seconds: int
    firings = "repeated"
    keeps = "number"
    fires_on_arrival = False

    def on_elements(self, state: int | None, arrived: Any, now: bl.TriggerContext) -> int | None:
        return now.clock + 1_000 * self.seconds

    def is_ready(self, state: int | None, now: bl.TriggerContext) -> bool:
        return state is not None and now.clock > state

    def processing_time_timers(self, state: int | None) -> Iterable[int]:
        return () if state is None else (state,)

    def merge(self, states: Any, now: bl.TriggerContext) -> int | None:
        return max((state for state in states if state is not None), default=None)


def test_a_trigger_of_ones_own_waits_for_milliseconds() -> None:
    early = bl.AfterWatermark(early=SecondsOfQuiet(5))

    def job(df: Any) -> Any:
        return grouped(
            df,
            bl.FixedWindows("1 minute"),
            trigger=early,
            accumulation="discarding",
            allowed_lateness=0,
        )

    with QueryTest(job, COLUMNS) as test:
        test.send(row(999))
        assert test.advance_processing_time("5 seconds") == []
        assert spans(test.advance_processing_time("1 ms")) == [(noon(0), noon(60_000_000), 1)]


class Plain:
    """Says when a row came and when it was remembered for the last time."""

    forget = bl.timer("event")

    def process(self, row: Any, timestamp: Any, window: Any, forget: Any) -> Any:
        forget.set(timestamp + timedelta(microseconds=250))
        yield {"what": "came", "when": timestamp, "begin": window.start}

    def on_forget(self, timestamp: Any, window: Any) -> Any:
        yield {"what": "gone", "when": timestamp, "begin": window.start}


def test_a_plain_function_sees_microseconds() -> None:
    def job(df: Any) -> Any:
        rows = bl.stream(df, timestamp="at", watermark="0 s").window(bl.FixedWindows("1 minute"))
        return rows.apply_per_key("k", Plain(), "what string, when timestamp, begin timestamp")

    with QueryTest(job, COLUMNS) as test:
        rows = test.send(row(1_001)) + test.send(row(1_251, 2)) + test.send(row(1_252, 2))
    assert [(it["what"], it["when"], it["begin"]) for it in rows] == [
        ("came", noon(1_001), noon(0)),
        ("came", noon(1_251), noon(0)),
        ("came", noon(1_252), noon(0)),
    ]


COUNT = beam.transforms.userstate.CombiningValueStateSpec("count", sum)
LATER = beam.transforms.userstate.TimerSpec("later", beam.transforms.userstate.TimeDomain.WATERMARK)
THE_COUNT, THE_TIMER = beam.DoFn.StateParam(COUNT), beam.DoFn.TimerParam(LATER)


class Counting(beam.DoFn):
    """Numbers the rows of a key, and says which were there a millisecond after the last."""

    def process(
        self,
        row: Any,
        count: Any = THE_COUNT,
        later: Any = THE_TIMER,
        timestamp: Any = beam.DoFn.TimestampParam,
    ) -> Any:
        count.add(1)
        later.set(timestamp + 0.001)
        yield {"n": count.read()}

    @beam.transforms.userstate.on_timer(LATER)
    def on_later(self, count: Any = THE_COUNT) -> Any:
        yield {"n": -count.read()}


def test_a_dofn_sees_milliseconds_and_its_rows_keep_their_microseconds() -> None:
    def job(df: Any) -> Any:
        rows = bl.stream(df, timestamp="at", watermark="0 s").window(bl.FixedWindows("1 minute"))
        counted = rows.apply_per_key("k", Counting(), "n long")
        return counted.window(bl.FixedWindows("1 ms")).group("k", {"n": bl.collect("n")})

    with QueryTest(job, COLUMNS) as test:
        panes = test.send(row(999), row(1_000)) + test.advance_watermark_to_infinity()
    assert [(pane["window"]["start"], sorted(pane["n"])) for pane in panes] == [
        (noon(0), [1]),
        (noon(1_000), [2]),
        (noon(2_000), [-2]),
    ]


def test_rows_are_one_within_a_time_that_is_exact_to_the_microsecond() -> None:
    def job(df: Any) -> Any:
        rows = bl.stream(df, timestamp="at", watermark="0 s").window(bl.FixedWindows("1 minute"))
        return rows.deduplicate("k", within="1 ms")

    with QueryTest(job, COLUMNS) as test:
        sent = [test.send(row(at, v)) for v, at in enumerate((1, 1_001, 1_002, 1_003))]
    # The first is forgotten once the watermark is past 1,001 us, which the third row sees to.
    assert [[it["v"] for it in rows] for rows in sent] == [[0], [], [], [3]]


@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_days_of_a_calendar_end_at_midnight(machine: Any) -> None:
    days = bl.CalendarDays(1, "America/New_York")
    with QueryTest(lambda df: grouped(df, days, machine=machine), COLUMNS) as test:
        last = datetime(2024, 3, 11, 4, tzinfo=UTC) - timedelta(microseconds=1)
        rows = [{"k": "a", "at": at} for at in (last, last + timedelta(microseconds=1))]
        test.send(*rows)
        test.advance_watermark_to_infinity()
        panes = test.rows
    # The clocks are changed on the first of these days, which has 23 hours.
    assert spans(panes) == [
        (datetime(2024, 3, 10, 5, tzinfo=UTC), datetime(2024, 3, 11, 4, tzinfo=UTC), 1),
        (datetime(2024, 3, 11, 4, tzinfo=UTC), datetime(2024, 3, 12, 4, tzinfo=UTC), 1),
    ]

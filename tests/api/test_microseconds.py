"""Queries over DataFrames count microseconds, as timestamps of Spark do.

Functions of users know milliseconds, and work there.
"""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import attrs
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import StateError, TimeError, WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.queries.rows import ON_BOTH_AT_NIGHT

MACHINES = ("columnar", "reference")
COLUMNS = "k string, at timestamp, v int"
GAP = bl.Sessions("10 seconds", merge_touching=True)


def noon(micros: int) -> datetime:
    """So long after noon."""
    return datetime(2024, 1, 1, 12, tzinfo=UTC) + timedelta(microseconds=micros)


def spans(panes: Iterable[dict[str, Any]]) -> list[tuple[datetime, datetime, int]]:
    return [(pane["window"]["start"], pane["window"]["end"], pane["n"]) for pane in panes]


def rows_at(*micros: int) -> list[dict[str, Any]]:
    return [{"k": "a", "at": noon(micro), "v": number} for number, micro in enumerate(micros)]


def query(window: bl.WindowFn, host: Any = "local", **more: Any) -> QueryTest:
    """A query of these windows, with the first and last value of each by time."""
    aggregate = {
        "n": bl.count(),
        "first": bl.first("v"),
        "last": bl.last("v"),
        "least": bl.min("at"),
        "at_least": bl.min_by("v", by="at"),
        "at_greatest": bl.max_by("v", by="at"),
    }

    def job(df: Any) -> Any:
        how = {"watermark": "0 s", "output": "all"} | more
        return hourly(df, aggregate, window=window, **how)

    return QueryTest(job, COLUMNS, host=host)


def shown(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("machine", MACHINES)
def test_rows_of_one_millisecond_are_in_the_order_of_their_times(host: str, machine: Any) -> None:
    times = (471_010, 471_007, 471_001, 471_009, 471_005, 471_002)
    with query(bl.FixedWindows("1 minute"), host, machine=machine) as test:
        test.send(*rows_at(*times))
        panes = test.advance_watermark_to_infinity()
    names = ("n", "first", "last", "least", "at_least", "at_greatest")
    assert shown(panes, *names) == [(6, 2, 0, noon(471_001), 2, 0)]


@ON_BOTH_AT_NIGHT
@pytest.mark.parametrize("machine", MACHINES)
def test_a_session_begins_with_its_first_row_and_ends_a_gap_after_its_last(host: str, machine: Any):
    with query(GAP, host, machine=machine) as test:
        test.send(*rows_at(999, 10_000_500, 20_000_501))
        panes = test.advance_watermark_to_infinity()
    assert spans(panes) == [
        (noon(999), noon(20_000_500), 2),
        (noon(20_000_501), noon(30_000_501), 1),
    ]
    assert [pane["timestamp"] for pane in panes] == [noon(20_000_499), noon(30_000_500)]


@pytest.mark.parametrize("machine", MACHINES)
def test_a_row_is_in_time_until_the_watermark_is_at_the_end_of_its_window(machine: Any) -> None:
    with query(bl.FixedWindows("1 minute"), machine=machine) as test:
        test.send(*rows_at(30_000_000))
        assert test.advance_watermark_to("2024-01-01 12:00:59.999") == []
        assert test.send(*rows_at(59_999_999)) == []
        panes = test.advance_watermark_to("2024-01-01 12:01:00")
        late = test.send(*rows_at(59_999_999))
    assert shown(panes, "n", "timestamp") == [(2, noon(59_999_999))]
    (dropped,) = [row["dropped"] for row in late]
    known = ("reason", "timestamp", "watermark", "missed_ms")
    assert tuple(dropped[name] for name in known) == (
        *("expired", noon(59_999_999), noon(60_000_000), 1),
    )


def test_the_watermark_of_a_stream_follows_its_rows_to_the_microsecond() -> None:
    def job(df: Any) -> Any:
        rows = bl.stream(df, timestamp="at", watermark="0 s").window(bl.FixedWindows("1 minute"))
        return rows.group("k", {"n": bl.count()})

    with QueryTest(job, COLUMNS) as test:
        assert test.send(*rows_at(0, 59_999_999)) == []
        assert shown(test.send(*rows_at(60_000_000)), "n") == [(2,)]


@pytest.mark.parametrize("machine", MACHINES)
def test_milliseconds_are_counted_where_they_are_asked_for(machine: Any) -> None:
    with query(GAP, machine=machine, resolution="milliseconds") as test:
        test.send(*rows_at(999, 10_000_500))
        panes = test.advance_watermark_to_infinity()
    span = {"start": noon(0), "end": noon(20_000_000)}
    assert [(pane["window"], pane["n"], pane["timestamp"]) for pane in panes] == [
        (span, 2, noon(19_999_000))
    ]


def test_what_is_finer_than_the_resolution_is_refused_by_name() -> None:
    with pytest.raises(TimeError, match="FixedWindows size must be whole milliseconds, got 1ms 5"):
        query(bl.FixedWindows("1500 us"), resolution="milliseconds")
    with pytest.raises(TimeError, match="must be whole microseconds, got "):
        bl.Sessions(_HalfAMicrosecond())
    with pytest.raises(WindowingError, match=r"must be .milliseconds. or .microseconds., got 's'"):
        query(GAP, resolution="s")


class _HalfAMicrosecond:
    """A duration of half a microsecond."""

    @property
    def duration_ms(self) -> Any:
        return Fraction(1, 2_000)


# -- restarts --------------------------------------------------------------------------------------


def sessions_of(**more: Any) -> Any:
    def job(df: Any) -> Any:
        rows = bl.stream(df, timestamp="at", watermark="0 s", **more)
        sessions = rows.window(GAP, allowed_lateness="1 minute", accumulation="discarding")
        first = sessions.group("k", {"n": bl.count()}, name="first")
        return first.group("k", {"sessions": bl.count(), "n": bl.sum("n")}, name="second")

    return job


def test_a_query_goes_on_in_the_milliseconds_of_its_checkpoint() -> None:
    with QueryTest(sessions_of(resolution="milliseconds"), COLUMNS) as test:
        test.send(*rows_at(999))
        test.restart(sessions_of())
        test.send(*rows_at(10_000_500))
        panes = test.advance_watermark_to_infinity()
    # In microseconds these would be two sessions of 10 seconds, and begin elsewhere.
    assert spans(panes) == [(noon(0), noon(20_000_000), 2)]


@pytest.mark.parametrize("how", [{"hot_key_fanout": 2}, {"lift": True}, {"record": 10_000}])
@pytest.mark.parametrize("machine", MACHINES)
def test_so_does_one_that_combines_rows_before_or_records_them(how: Any, machine: Any) -> None:
    def job(df: Any, **more: Any) -> Any:
        parts = {"n": bl.count(), "last": bl.last("v")}
        window = bl.FixedWindows("1 minute")
        return hourly(df, parts, watermark="0 s", window=window, machine=machine, **how, **more)

    with QueryTest(lambda df: job(df, resolution="milliseconds"), COLUMNS) as test:
        test.send(*rows_at(1_001))
        test.restart(job)
        test.send(*rows_at(59_999_999))
        panes = test.advance_watermark_to("2024-01-01 12:01:00")
    assert shown(panes, "n", "timestamp") == [(2, noon(59_999_000))]


def test_a_checkpoint_of_microseconds_is_refused_by_a_query_of_milliseconds() -> None:
    with QueryTest(sessions_of(), COLUMNS) as test:
        test.send(*rows_at(999))
        test.restart(sessions_of(resolution="milliseconds"))
        with pytest.raises(StateError) as refused:
            test.send(*rows_at(10_000_500))
    said = "resolution: the checkpoint has 'microseconds', the query has 'milliseconds'"
    assert said in str(refused.value)


def test_a_checkpoint_of_milliseconds_is_refused_by_a_finer_window() -> None:
    def job(window: bl.WindowFn, **more: Any) -> Any:
        return lambda df: hourly(df, watermark="0 s", window=window, **more)

    with QueryTest(job(bl.FixedWindows("1 ms"), resolution="milliseconds"), COLUMNS) as test:
        test.send(*rows_at(999))
        test.restart(job(bl.FixedWindows("1500 us")))
        with pytest.raises(StateError, match="the checkpoint counts milliseconds: FixedWindows si"):
            test.send(*rows_at(10_000_500))


# -- functions of users know milliseconds ----------------------------------------------------------


def row(micros: int, v: int = 1) -> dict[str, Any]:
    return {"k": "a", "at": noon(micros), "v": v}


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

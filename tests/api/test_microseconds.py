"""Queries over DataFrames count microseconds, as timestamps of Spark do."""

from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import pytest

import beamlike as bl
from beamlike.errors import StateError, TimeError, WindowingError
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly

MACHINES = ("columnar", "reference")
COLUMNS = "k string, at timestamp, v int"
GAP = bl.Sessions("10 seconds", merge_touching=True)


def noon(micros: int) -> datetime:
    """So long after noon."""
    seconds, rest = divmod(micros, 1_000_000)
    return datetime(2024, 1, 1, 12, seconds // 60, seconds % 60, rest, UTC)


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


HOSTS = ("local", pytest.param("spark", marks=pytest.mark.spark))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("machine", MACHINES)
def test_rows_of_one_millisecond_are_in_the_order_of_their_times(host: str, machine: Any) -> None:
    times = (471_010, 471_007, 471_001, 471_009, 471_005, 471_002)
    with query(bl.FixedWindows("1 minute"), host, machine=machine) as test:
        test.send(*rows_at(*times))
        panes = test.advance_watermark_to_infinity()
    names = ("n", "first", "last", "least", "at_least", "at_greatest")
    assert shown(panes, *names) == [(6, 2, 0, noon(471_001), 2, 0)]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("machine", MACHINES)
def test_a_session_begins_with_its_first_row_and_ends_a_gap_after_its_last(host: str, machine: Any):
    with query(GAP, host, machine=machine) as test:
        test.send(*rows_at(999, 10_000_500, 20_000_501))
        panes = test.advance_watermark_to_infinity()
    assert [(pane["window"]["start"], pane["window"]["end"], pane["n"]) for pane in panes] == [
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
    assert [(pane["window"]["start"], pane["window"]["end"], pane["n"]) for pane in panes] == [
        (noon(0), noon(20_000_000), 2)
    ]


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

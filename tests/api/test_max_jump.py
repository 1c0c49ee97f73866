"""A row whose time is far from all others moves no watermark while the others come.

Where rows lie behind the clock, as in a backlog, no limit by the clock knows a wrong time.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
import beamlike.beam as beam
from beamlike.errors import (
    BeamlikeError,
    PipelineError,
    TestStreamError,
    UnsupportedError,
    WindowingError,
)
from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock, SourceProgress
from beamlike.runtime.progress import progress_of
from beamlike.testing import QueryTest
from tests.support.queries.hours import hourly
from tests.support.refusals import refusal

Row = dict[str, Any]
Query = Callable[[Any], Any]

READINGS = "device string, at string, n int"
HOUR = bl.FixedWindows("1 hour")
HELD: Mapping[str, Any] = {
    "watermark": "10 minutes",
    "max_jump": "1 day",
    "idle_after": "5 minutes",
}
COUNT = {"n": bl.sum("n")}


windowed = partial(hourly, key="device", aggregate=COUNT, **HELD)


def streamed(readings: Any, **changes: Any) -> Any:
    rows = bl.stream(readings, timestamp="at", **(HELD | changes))
    return rows.window(HOUR).group("device", COUNT)


def grouped_twice(readings: Any) -> Any:
    hours = bl.stream(readings, timestamp="at", **HELD).window(HOUR).group("device", COUNT)
    return hours.group("device", {"n": bl.sum("n")}, name="again")


QUERIES: dict[str, Query] = {
    "windowed": windowed,
    "one word": lambda readings: windowed(readings, idle_after=None),
    "one word of a stream": lambda readings: streamed(readings, idle_after=None),
    "reference machine": lambda readings: windowed(readings, machine="reference"),
    "lift": lambda readings: windowed(readings, lift=True),
    "hot keys": lambda readings: windowed(readings, hot_key_fanout=2),
    "milliseconds": lambda readings: windowed(readings, resolution="milliseconds"),
    "early panes": lambda readings: windowed(
        readings,
        trigger=bl.AfterWatermark(early=bl.AfterCount(100), late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness="1 hour",
    ),
    "by the clock": lambda readings: windowed(
        readings,
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("1 day"), late=bl.AfterCount(1)),
        accumulation="discarding",
        allowed_lateness="1 hour",
    ),
    "retracting": lambda readings: windowed(readings, accumulation="retracting"),
    "stream": streamed,
    "two groupings": grouped_twice,
}


@pytest.fixture(params=QUERIES)
def query(request: pytest.FixtureRequest) -> QueryTest:
    return QueryTest(QUERIES[request.param], READINGS, clock="2024-01-01")


def reading(device: str, at: str, n: int = 1) -> Row:
    return {"device": device, "at": f"{at[:16]:s}:{at[17:] or '00'}Z", "n": n}


def shown(rows: Any) -> list[str]:
    return sorted(
        f"{row['device']} {row['window']['start']:%Y-%m-%d %H:%M}: {row['n']}"
        for row in rows
        if row.get("n") is not None
    )


def reasons(query: QueryTest) -> list[Any]:
    return [row["dropped"]["reason"] for row in query.rows if row.get("dropped")]


def test_one_row_far_ahead_takes_no_row_of_others(query: QueryTest) -> None:
    query.send(reading("a", "2020-01-01 12:05"), reading("b", "2020-01-01 12:06"))
    query.send(reading("c", "2020-03-01 00:00"))
    query.send(reading("a", "2020-01-01 12:40"), reading("b", "2020-01-01 12:41"))

    assert shown(query.send(reading("a", "2020-01-01 13:10"))) == [
        "a 2020-01-01 12:00: 2",
        "b 2020-01-01 12:00: 2",
    ]
    assert reasons(query) == []
    query.advance_watermark_to_infinity()
    assert shown(query.rows)[-1] == "c 2020-03-01 00:00: 1", "the row itself is an element"


def test_one_key_far_ahead_takes_no_row_of_others(query: QueryTest) -> None:
    for minute in range(0, 50, 5):
        query.send(
            reading("a", f"2020-01-01 12:{minute:02}"),
            *(reading("wrong", f"2021-06-{day:02} 00:00") for day in range(1, 28)),
        )

    assert shown(query.send(reading("b", "2020-01-01 13:10"))) == ["a 2020-01-01 12:00: 10"]
    assert reasons(query) == []


def test_a_real_gap_is_passed_once_nothing_comes_from_before_it(query: QueryTest) -> None:
    query.send(reading("a", "2020-01-01 12:05"))
    query.send(reading("a", "2020-03-01 12:05"), reading("b", "2020-03-01 12:06"))
    query.advance_processing_time("6 minutes")

    assert shown(query.send(reading("a", "2020-03-01 12:07"))) == ["a 2020-01-01 12:00: 1"]
    assert shown(query.send(reading("a", "2020-03-01 13:20"))) == [
        "a 2020-03-01 12:00: 2",
        "b 2020-03-01 12:00: 1",
    ]
    assert reasons(query) == []


def test_one_key_alone_passes_a_gap_too(query: QueryTest) -> None:
    query.send(reading("a", "2020-01-01 12:05"))
    query.advance_processing_time("6 minutes")

    assert shown(query.send(reading("a", "2020-03-01 12:05"))) == ["a 2020-01-01 12:00: 1"]


def test_rows_of_long_ago_do_not_keep_a_watermark_before_a_gap(query: QueryTest) -> None:
    query.send(reading("a", "2020-01-01 12:05"), reading("a", "2020-01-01 12:15"))
    for day in range(1, 9):
        query.advance_processing_time("1 minute")
        query.send(reading("old", "1970-01-01 00:00"), reading("a", f"2020-03-01 12:0{day}"))

    assert "a 2020-01-01 12:00: 2" in shown(query.rows)
    late = [row["dropped"]["element"] for row in query.rows if row.get("dropped")]
    assert all('"old"' in element or '"1970' in element for element in late if element)


def test_the_first_rows_are_where_those_of_most_keys_are(query: QueryTest) -> None:
    query.send(
        *(reading("old", f"1970-01-01 00:0{minute}") for minute in range(5)),
        *(reading(device, "2020-01-01 12:05") for device in "ab"),
        *(reading("wrong", f"2021-01-01 00:0{minute}") for minute in range(5)),
    )

    assert "a 2020-01-01 12:00: 1" in shown(query.send(reading("a", "2020-01-01 13:10")))


def test_a_restart_changes_nothing(query: QueryTest) -> None:
    query.send(reading("a", "2020-01-01 12:05"))
    query.restart()
    query.send(reading("wrong", "2020-03-01 00:00"))
    query.restart()
    query.send(reading("a", "2020-01-01 12:40"))
    query.restart()

    assert shown(query.send(reading("b", "2020-01-01 13:10"))) == ["a 2020-01-01 12:00: 2"]
    assert reasons(query) == []


def by_part(readings: Any) -> Any:
    rows = bl.stream(readings, timestamp="at", watermark_by="part", **HELD)
    return rows.window(HOUR).group("device", COUNT)


def of_part(part: str, at: str) -> Row:
    return reading("a", at) | {"part": part}


def test_one_part_far_ahead_does_not_move_the_watermark_when_others_fall_silent() -> None:
    query = QueryTest(by_part, f"part string, {READINGS}", clock="2024-01-01")
    query.send(of_part("1", "2020-01-01 12:05"), of_part("2", "2020-01-01 12:06"))
    for _ in range(4):
        query.advance_processing_time("2 minutes")
        query.send(of_part("wrong", "2022-01-01 00:00"), of_part("1", "2020-01-01 12:10"))

    query.send(of_part("2", "2020-01-01 12:07"))
    assert shown(
        query.send(of_part("1", "2020-01-01 13:10"), of_part("2", "2020-01-01 13:11"))
    ) == ["a 2020-01-01 12:00: 7"]
    assert reasons(query) == []


def test_parts_pass_a_gap_together() -> None:
    query = QueryTest(by_part, f"part string, {READINGS}", clock="2024-01-01")
    query.send(of_part("1", "2020-01-01 12:05"), of_part("2", "2020-01-01 12:06"))
    query.advance_processing_time("6 minutes")

    after = of_part("1", "2020-03-01 12:05"), of_part("2", "2020-03-01 12:06")
    assert shown(query.send(*after)) == ["a 2020-01-01 12:00: 2"]


def joined(orders: Any, payments: Any) -> Any:
    ordered = bl.stream(orders, timestamp="at", **HELD).window(HOUR)
    paid = bl.stream(payments, timestamp="paid_at", **HELD).window(HOUR)
    return bl.join(ordered, paid, on="device")


def test_a_join_loses_nothing_to_one_row_of_one_side() -> None:
    inputs = {"orders": READINGS, "payments": "device string, paid_at string, paid int"}
    query = QueryTest(joined, inputs, clock="2024-01-01")

    def paid(device: str, at: str) -> Row:
        return {"device": device, "paid_at": f"{at}:00Z", "paid": 3}

    query.send(reading("a", "2020-01-01 12:05"), to="orders")
    query.send(paid("b", "2020-01-01 12:05"), to="payments")
    query.send(reading("wrong", "2020-03-01 00:00"), to="orders")
    query.send(paid("wrong", "2020-03-01 00:00"), to="payments")
    query.send(reading("b", "2020-01-01 12:30"), to="orders")
    query.send(paid("a", "2020-01-01 12:30"), to="payments")
    query.send(reading("c", "2020-01-01 13:11"), to="orders")
    rows = query.send(paid("c", "2020-01-01 13:11"), to="payments")

    assert sorted((row["device"], row["n"], row["paid"]) for row in rows) == [
        ("a", 1, 3),
        ("b", 1, 3),
    ]
    assert reasons(query) == []


def test_a_gap_of_just_max_jump_is_none() -> None:
    query = QueryTest(windowed, READINGS, clock="2024-01-01")
    query.send(reading("a", "2020-01-01 12:00"))
    assert shown(query.send(reading("b", "2020-01-02 12:00"))) == ["a 2020-01-01 12:00: 1"]

    query = QueryTest(windowed, READINGS, clock="2024-01-01")
    query.send(reading("a", "2020-01-01 12:00"))
    assert query.send(reading("b", "2020-01-02 12:00:01")) == []


def test_the_same_rows_without_max_jump_are_late() -> None:
    query = QueryTest(
        lambda readings: windowed(readings, max_jump=None, idle_after=None),
        READINGS,
        clock="2024-01-01",
    )
    query.send(reading("a", "2020-01-01 12:05"))
    query.send(reading("c", "2020-03-01 00:00"))
    query.send(reading("a", "2020-01-01 12:40"))

    assert reasons(query) == ["expired"]


class Streaming:
    isStreaming = True


REFUSED: dict[str, tuple[Callable[[Any], Any], type[BeamlikeError], str]] = {
    "idle_after alone": (
        lambda frame: windowed(frame, max_jump=None),
        WindowingError,
        "idle_after says when the watermark goes on after a gap that max_jump has held it at; add "
        "max_jump, or leave it out: a single input waits for no other",
    ),
    "shorter than the delay": (
        lambda frame: streamed(frame, max_jump="5 minutes"),
        WindowingError,
        "max_jump is 5m, and rows in time lie up to the delay of the watermark apart, 10m; give it "
        'the longest gap in the data, such as max_jump="1 day"',
    ),
    "zero": (
        lambda frame: streamed(frame, max_jump="0 s", watermark="0 s"),
        WindowingError,
        "max_jump is 0ms, and rows in time lie up to the delay of the watermark apart, 0ms; give "
        'it the longest gap in the data, such as max_jump="1 day"',
    ),
    "a watermark of each key": (
        lambda frame: (
            bl.stream(frame, timestamp="at", **HELD)
            .window(HOUR)
            .group("device", COUNT, watermark_per_key=True)
        ),
        UnsupportedError,
        "watermark_per_key=True in 'beamlike': the input has max_jump=, which keeps one key from "
        "moving the watermark of others, and here no key does; leave one of the two out",
    ),
    "a pipeline": (
        lambda _: beam.FromDataFrame(
            Streaming(),  # type: ignore[arg-type]
            timestamp="at",
            watermark="10 minutes",
            max_jump="5 minutes",
        ),
        PipelineError,
        "max_jump is 5m, and rows in time lie up to the delay of the watermark apart, 10m; give it "
        'the longest gap in the data, such as max_jump="1 day"',
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(case: tuple[Callable[[Any], Any], type[BeamlikeError], str]):
    job, error, text = case
    assert refusal(error, lambda: QueryTest(job, READINGS)) == text


def test_a_test_moves_no_watermark_that_one_row_cannot_move() -> None:
    query = QueryTest(windowed, READINGS, clock="2024-01-01")
    query.send(reading("a", "2020-01-01 12:05"))
    assert refusal(TestStreamError, lambda: query.advance_watermark_to("2020-06-01 00:00")) == (
        "'beamlike' reads an input with max_jump, whose watermark only rows move: send a later "
        "row, or where that lies beyond a gap, let idle_after pass by "
        "advance_processing_time(...) before; or write advance_watermark_to_infinity()"
    )


@pytest.mark.parametrize("workers", [1, 3])
def test_time_in_which_nothing_ran_is_no_silence(workers: int) -> None:
    """As after a restart, or in a run of ``availableNow`` a day later."""
    clocks = Clocks((SourceClock(delay=5, idle_after=10, max_jump=100),))
    states, first = clocks.update((), [SourceProgress(0, 1_000)], clock=1, clock_before=0)
    far = [SourceProgress(0, 5_000 + worker, None, 5_000) for worker in range(workers)]
    states, second = clocks.update(states, far, clock=500, clock_before=1)
    states, third = clocks.update(states, far, clock=501, clock_before=500)

    assert (first, second, third) == (995, 995, 5_000 + workers - 1 - 5)


def test_rows_that_leave_out_more_gaps_than_are_reported_move_nothing_by_them() -> None:
    clock = SourceClock(delay=0, idle_after=10, max_jump=100)
    times = pa.chunked_array([pa.array([*range(0, 2_000), *range(10_000, 1_000_000, 1_000)])])
    reported = list(progress_of(0, clock, times, None))

    assert len(reported) == 64
    assert reported[0] == SourceProgress(0, 1_999, None, 0, 1_000)


HELD_ROW = (
    5_140_500_000,
    "at 2020-01-01 11:55:00, not at 2020-02-29 23:50:00 by device='wrong', at 2020-03-01 00:00:00",
)


def held(stream: Any, name: str = "beamlike") -> list[tuple[int, str]]:
    observed = [it.observedMetrics[name] for it in stream.progress if name in it.observedMetrics]
    return [(it.watermark_held, it.jump_example) for it in observed if it.watermark_held]


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    "job",
    [windowed, streamed, grouped_twice, QUERIES["hot keys"]],
    ids=["windowed", "stream", "two groupings", "hot keys"],
)
def test_spark_holds_a_jump_over_a_restart_and_names_the_row(
    feed: Callable[[str], Any], job: Query
) -> None:
    stream = feed(READINGS)

    def start() -> None:
        query = job(stream.frame)
        stream.start(getattr(query, "rows", query))

    start()
    stream.send(reading("a", "2020-01-01 12:05"))
    stream.send(reading("wrong", "2020-03-01 00:00"))
    assert held(stream) == [HELD_ROW]
    stream.stop()
    start()
    stream.send(reading("a", "2020-01-01 12:40"))

    rows = stream.send(reading("b", "2020-01-01 13:10"))
    assert [(row["device"], row["n"]) for row in rows] == [("a", 2)]


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_passes_a_gap_once_nothing_comes_from_before_it(feed: Callable[[str], Any]) -> None:
    stream = feed(READINGS)
    stream.start(windowed(stream.frame, idle_after="1 second", wake_every="1 second"))
    stream.send(reading("a", "2020-01-01 12:05"))
    rows: list[Row] = []
    for minute in range(20):
        time.sleep(0.5)
        rows += stream.send(reading("b", f"2020-03-01 12:{minute:02}"))
        if rows:
            break

    assert [(row["device"], row["n"]) for row in rows] == [("a", 1)]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_pipeline_on_spark_holds_a_jump(spark: Any, feed: Callable[[str], Any]) -> None:
    stream = feed(READINGS)
    sums = (
        beam.Pipeline()
        | "Read" >> beam.FromDataFrame(stream.frame, timestamp="at", **HELD)
        | beam.Map(lambda row: (row.device, row.n))
        | beam.WindowInto(beam.FixedWindows("1 hour"))
        | "Sum" >> beam.CombinePerKey(sum)
    )
    stream.start(beam.to_data_frame(sums, "device string, n int", spark=spark))
    stream.send(reading("a", "2020-01-01 12:05"))
    stream.send(reading("wrong", "2020-03-01 00:00"))
    stream.send(reading("a", "2020-01-01 12:40"))

    rows = stream.send(reading("b", "2020-01-01 13:10"))
    assert [(row["device"], row["n"]) for row in rows] == [("a", 2)]
    ((size, _),) = held(stream, "Sum")
    assert size == HELD_ROW[0]

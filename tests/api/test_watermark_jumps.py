"""A watermark that jumps over rows to come is counted, with the row that made it jump.

Where the rows lie behind the clock, no limit by the clock knows a wrong time from a right one.
"""

import logging
import reprlib
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.inspect.metrics import MetricsListener
from beamlike.inspect.queries.progress import Progress
from beamlike.runtime.clock import Jump
from beamlike.runtime.logs import log_jump
from tests.support.queries.devices import SIGNALS, sums_of_devices
from tests.support.queries.hours import hourly
from tests.support.queries.reports import report
from tests.support.queries.rows import MakeFeed, Row, observed

FIVE = bl.FixedWindows("5 minutes")
LATENESS: dict[str, Any] = {"allowed_lateness": "10 minutes", "accumulation": "discarding"}
JUMP = (
    # 8h 53m 36s
    32_016_000,
    "from 2020-01-01 12:14:54 to 2020-01-01 21:08:30 by device='d5', at 2020-01-01 21:13:30",
)


def backlog(wrong: bool = True) -> list[list[Row]]:
    """Ten devices, a row every six seconds from 12:00 on, in four files.

    One clock is nine hours ahead in one row of the second file, and years behind this one.
    """
    rows = []
    for row in range(400):
        second = 12 * 3_600 + 6 * row + (9 * 3_600 if wrong and row == 135 else 0)
        at = f"{second // 3_600:02}:{second // 60 % 60:02}:{second % 60:02}"
        rows.append({"device": f"d{row % 10}", "at": f"2020-01-01 {at}Z", "n": row})
    return [rows[index : index + 100] for index in range(0, 400, 100)]


def jumps(stream: Any, name: str = "beamlike") -> list[tuple[int, str]]:
    reports = observed(stream, name)
    return [(it.watermark_jump, it.jump_example) for it in reports if it.watermark_jump is not None]


windowed = partial(
    hourly, key="device", watermark="5 minutes", window=FIVE, output="all", **LATENESS
)


def streamed(frame: Any, **changes: Any) -> Any:
    given = bl.stream(frame, timestamp="at", watermark="5 minutes", **changes)
    counts = given.window(FIVE, **LATENESS).group("device", {"n": bl.count()}, name="beamlike")
    return counts.group([], {"n": bl.sum("n")}, name="later").everything


def with_own_watermark(frame: Any) -> Any:
    timed = frame.withColumn("at", F.to_timestamp("at")).withWatermark("at", "5 minutes")
    return windowed(timed, watermark=None)


FACES: dict[str, Callable[[Any], Any]] = {
    "windowed": windowed,
    "reference machine": lambda frame: windowed(frame, machine="reference"),
    "lift": lambda frame: windowed(frame, lift=True),
    "hot keys": lambda frame: windowed(frame, hot_key_fanout=2),
    "own watermark": with_own_watermark,
    "stream": streamed,
    "advancing": lambda frame: streamed(frame, idle_after="1 hour", idle="advance"),
    "any time": lambda frame: streamed(frame, max_ahead=None),
}


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_a_row_that_moves_the_watermark_over_rows_to_come_is_named(
    feed: MakeFeed, face: Callable[[Any], Any]
) -> None:
    stream = feed(SIGNALS)
    stream.start(face(stream.frame))

    for rows in backlog():
        stream.send(*rows)

    assert jumps(stream) == [JUMP]
    # This is what it says: nothing keeps these rows, which no rule knows from wrong ones.
    assert sum(it.dropped_expired for it in observed(stream)) == 200
    assert [jump for jump in jumps(stream, "later") if jump] == []


@pytest.mark.nightly
@pytest.mark.spark
def test_neither_a_backlog_in_order_nor_first_rows_are_a_jump(feed: MakeFeed) -> None:
    stream = feed(SIGNALS)
    stream.start(windowed(stream.frame, window=bl.FixedWindows("1 minute"), allowed_lateness=0))
    for rows in backlog(wrong=False):
        stream.send(*rows)

    assert jumps(stream) == []


@pytest.mark.nightly
@pytest.mark.spark
def test_what_a_watermark_jumps_over_is_known_after_a_restart(feed: MakeFeed) -> None:
    stream = feed(SIGNALS)
    first, second, *_ = backlog()
    stream.start(streamed(stream.frame))
    stream.send(*first)
    stream.stop()
    stream.start(streamed(stream.frame))
    stream.send(*second)

    assert jumps(stream) == [JUMP]


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    ("window", "found"),
    [(bl.Sessions("1 hour"), [JUMP]), (bl.Sessions("9 hours"), []), (bl.GlobalWindows(), [])],
    ids=str,
)
def test_how_long_windows_are_decides_what_is_a_jump(feed: MakeFeed, window: Any, found: list[Any]):
    stream = feed(SIGNALS)
    stream.start(windowed(stream.frame, window=window, trigger=bl.Repeatedly(bl.AfterCount(100))))

    for rows in backlog():
        stream.send(*rows)

    assert jumps(stream) == found


@pytest.mark.nightly
@pytest.mark.spark
def test_an_input_that_holds_the_watermark_back_keeps_it_from_jumping(
    feed: MakeFeed, no_empty_batches: None
) -> None:
    signals, prices = feed(SIGNALS), feed("device string, since string")
    given = bl.stream(signals.frame, timestamp="at", watermark="5 minutes").window(FIVE)
    other = bl.stream(prices.frame, timestamp="since", watermark="5 minutes").window(FIVE)
    signals.start(bl.join(given, other, on="device", name="beamlike").everything)
    prices.put({"device": "d1", "since": "2020-01-01 12:00:00Z"})

    for rows in backlog():
        signals.send(*rows)

    assert jumps(signals) == []
    assert sum(it.dropped_expired for it in observed(signals)) == 0


@pytest.mark.nightly
@pytest.mark.spark
def test_a_pipeline_names_the_row_too(spark: Any, feed: MakeFeed) -> None:
    stream = feed(SIGNALS)
    stream.start(sums_of_devices(stream.frame, spark))

    for of_file in backlog():
        stream.send(*of_file)

    size, words = JUMP
    row = {"device": "d5", "at": "2020-01-01 21:13:30Z", "n": 135}
    assert jumps(stream, "Sum") == [
        (size, f"{words.partition(' by ')[0]} by {reprlib.repr(row)} at 2020-01-01 21:13:30")
    ]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_second_clock_in_the_rows_guards_a_backlog(feed: MakeFeed) -> None:
    """The way that the documentation names: the time at which a broker took the row."""
    stream = feed(f"{SIGNALS}, arrived string")
    late = F.expr("to_timestamp(at) > to_timestamp(arrived) + interval 1 hour")
    guarded = stream.frame.withColumn("at", F.when(~late, F.col("at")))
    stream.start(windowed(guarded))

    right = [row for rows in backlog(wrong=False) for row in rows]
    rows = [row for rows in backlog() for row in rows]
    for known, row in zip(right, rows, strict=True):
        row["arrived"] = known["at"]
    found = []
    for index in range(0, 400, 100):
        found += stream.send(*rows[index : index + 100])

    assert [it["dropped"]["reason"] for it in found if it["dropped"]] == ["null_timestamp"]
    assert jumps(stream) == []


HELD = (
    # 59d 11h 55m
    5_140_500_000,
    "at 2020-01-01 11:55:00, not at 2020-02-29 23:50:00 by device='wrong', at 2020-03-01 00:00:00",
)


@pytest.mark.parametrize(
    ("counted", "jump", "says", "numbers"),
    [
        ("watermark_jump", JUMP, f"jumps 8h 53m 36s, {JUMP[1]}", (1.0, 0.0)),
        ("watermark_held", HELD, f"does not jump 59d 11h 55m, {HELD[1]}", (0.0, 1.0)),
    ],
    ids=["a jump", "one that max_jump has held"],
)
def test_a_listener_counts_jumps_and_warns_of_each(
    caplog: pytest.LogCaptureFixture, counted: str, jump: Any, says: str, numbers: Any
) -> None:
    size, words = jump
    quiet = {"panes_early": 0, "panes_on_time": 0, "panes_late": 0, "elements": 100}
    listener = MetricsListener()
    with caplog.at_level(logging.WARNING, "beamlike.metrics"):
        for number, more in enumerate([{}, {counted: size, "jump_example": words}]):
            batch = report(number, metrics={"hours": quiet | more})
            listener.progressed(Progress.of(batch))

    assert [record.getMessage() for record in caplog.records] == [
        f"query sales, batch 1: the watermark of hours {says}"
    ]
    of_hours = '{grouping="hours",id="the query",query="sales"}'
    lines = listener.text().splitlines()
    assert [line for line in lines if line.startswith("beamlike_watermark_jumps")] == [
        f"beamlike_watermark_jumps_total{of_hours} {numbers[0]}",
        f"beamlike_watermark_jumps_held_total{of_hours} {numbers[1]}",
    ]


def test_a_worker_that_logs_warns_of_a_jump(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "beamlike.panes"):
        log_jump("hours", Jump(0, 60_000, "device='d5', at 00:02:00"))
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        (
            "WARNING",
            "hours: the watermark jumps 1m, from 00:00:00 to 00:01:00 by device='d5', at 00:02:00",
        )
    ]

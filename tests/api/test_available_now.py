"""Queries with ``trigger(availableNow=True)``: they take the backlog as a stream does, and end."""

from pathlib import Path
from typing import Any

import pytest

import beamlike as bl
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.shown import lines

pytestmark = pytest.mark.spark


EVENTS = "user string, at timestamp, v int"
ALL_THERE_IS: dict[str, Any] = {"availableNow": True}
AS_IT_COMES: dict[str, Any] = {"processingTime": "0 seconds"}
WINDOWS: dict[str, Any] = {
    "key": "user",
    "timestamp": "at",
    "watermark": "1 minute",
    "window": bl.FixedWindows("5 minutes"),
    "accumulation": "accumulating",
    "allowed_lateness": "1 hour",
    "aggregate": {"all": bl.collect("v")},
    "output": "all",
    **SMALL,
}


def event(time: str, v: int, user: str = "ann") -> Row:
    return {"user": user, "at": f"2020-01-01T{time}Z", "v": v}


def ran(feed: Any, out: Any, **trigger: Any) -> list[tuple[int, Row]]:
    """What comes out until all that is there has been taken, with the numbers of micro-batches."""
    before = len(feed.numbered)
    feed.start(out, **trigger)
    if trigger == ALL_THERE_IS:
        assert feed.query.awaitTermination(240)
        assert feed.query.exception() is None
    else:
        feed.query.processAllAvailable()
        feed.stop()
    return feed.numbered[before:]


@pytest.mark.parametrize(
    "early", [bl.AfterCount(5), bl.AfterProcessingTime("1 hour")], ids=["count", "clock"]
)
def test_a_backlog_has_its_on_time_and_late_panes(feed: MakeFeed, early: Any) -> None:
    events = feed(EVENTS)
    for number, time in enumerate(["12:00:10", "12:10:00", "12:00:20", "12:30:00"]):
        events.put(event(time, number))
    trigger = bl.AfterWatermark(early=early, late=bl.AfterCount(1))

    def run() -> list[tuple[int, str]]:
        out = bl.windowed(events.frame, trigger=trigger, **WINDOWS)
        return [(number, *lines([row])) for number, row in ran(events, out, **ALL_THERE_IS)]

    # The third micro-batch begins with the watermark of the second row, so its own row is late.
    # The last micro-batch has no data: it is for the watermark.
    assert run() == [
        (2, "ann [0] | 12:00-12:05 ON_TIME 0"),
        (2, "ann [0 2] | 12:00-12:05 LATE 1"),
        (4, "ann [1] | 12:10-12:15 ON_TIME 0"),
    ]
    assert [it.batchId for it in events.query.recentProgress] == [0, 1, 2, 3, 4]
    events.put(event("12:00:30", 4))
    events.put(event("12:11:00", 5))
    assert [line for _, line in run()] == [
        "ann [0 2 4] | 12:00-12:05 LATE 2",
        "ann [1 5] | 12:10-12:15 LATE 1",
    ]


@pytest.mark.nightly
def test_what_is_due_by_the_clock_comes_with_the_next_micro_batch_or_the_next_run(feed: MakeFeed):
    """A pane is due a millisecond after its first row: before the next micro-batch's rows."""
    events = feed(EVENTS)
    often = WINDOWS | {
        "trigger": bl.Repeatedly(bl.AfterProcessingTime("1 ms")),
        "accumulation": "discarding",
    }

    def runs(wake_every: str, **trigger: Any) -> list[tuple[int, str]]:
        out = bl.windowed(events.frame, wake_every=wake_every, **often)
        return [(number, *lines([row])) for number, row in ran(events, out, **trigger)]

    # With equal times the watermark stands still, and causes no micro-batch of its own.
    for v in range(3):
        events.put(event("12:00:10", v))
    # Ticks that come as fast as they can keep no run from its end.
    assert runs("1 ms", **ALL_THERE_IS) == [
        (1, "ann [0] | 12:00-12:05 EARLY 0"),
        (2, "ann [1] | 12:00-12:05 EARLY 1"),
    ]
    assert runs("1 ms", **ALL_THERE_IS) == [(3, "ann [2] | 12:00-12:05 EARLY 2")]
    assert runs("1 ms", **ALL_THERE_IS) == []
    # The checkpoint goes on as any other, and back again, also with ticks of another length.
    events.put(event("12:00:10", 3))
    events.put(event("12:00:10", 4))
    assert [line for _, line in runs("1 day", **AS_IT_COMES)] == ["ann [3] | 12:00-12:05 EARLY 3"]
    events.put(event("12:00:10", 5))
    assert [line for _, line in runs("1 day", **ALL_THERE_IS)] == ["ann [4] | 12:00-12:05 EARLY 4"]
    assert [line for _, line in runs("1 ms", **ALL_THERE_IS)] == ["ann [5] | 12:00-12:05 EARLY 5"]


@pytest.mark.nightly
@pytest.mark.usefixtures("no_empty_batches")
@pytest.mark.parametrize("trigger", [ALL_THERE_IS, AS_IT_COMES], ids=["now", "on"])
def test_a_join_goes_on_without_a_silent_side(feed: MakeFeed, trigger: dict[str, Any]) -> None:
    events, others = feed(EVENTS), feed("name string, on timestamp, w int")

    def joined() -> Any:
        windows = bl.FixedWindows("10 minutes")
        left = bl.stream(events.frame, timestamp="at", watermark="0 s")
        right = bl.stream(others.frame, timestamp="on", watermark="0 s", idle_after="1 ms")
        sides = (
            left.select("user", "v").window(windows),
            right.select("name", "w").window(windows),
        )
        on = {"left": "user", "right": "name"}
        return bl.join(*sides, on, "left", wake_every="1 day", **SMALL).everything

    def other(time: str, w: int) -> Row:
        return {"name": "ann", "on": f"2020-01-01T{time}Z", "w": w}

    for v, time in enumerate(["00:01:00", "00:15:00", "00:31:00"]):
        events.put(event(time, v))
    others.put(other("00:02:00", 7))

    # The second and the third file come alone: the watermark is that of their side.
    assert [(number, *lines([row])) for number, row in ran(events, joined(), **trigger)] == [
        (1, "ann 0 7 | 00:00-00:10 ON_TIME 0 last"),
        (2, "ann 1 - | 00:10-00:20 ON_TIME 0 last"),
    ]
    # A row of the silent side counts again, and for as long as the run takes it in.
    others.put(other("00:32:00", 8))
    events.put(event("00:45:00", 3))
    events.put(event("00:55:00", 4))
    assert [(number, *lines([row])) for number, row in ran(events, joined(), **trigger)] == [
        (4, "ann 2 8 | 00:30-00:40 ON_TIME 0 last"),
        (4, "ann 3 - | 00:40-00:50 ON_TIME 0 last"),
    ]
    assert ran(events, joined(), **trigger) == []


@pytest.mark.nightly
@pytest.mark.usefixtures("no_empty_batches")
@pytest.mark.parametrize("trigger", [ALL_THERE_IS, AS_IT_COMES], ids=["now", "on"])
def test_a_join_has_early_panes_by_the_clock(feed: MakeFeed, trigger: dict[str, Any]):
    """A pane is due a millisecond after its first row: before the next micro-batch's rows."""
    events, others = feed(EVENTS), feed("name string, on timestamp, w int")

    def joined() -> Any:
        windows: dict[str, Any] = {
            "window": bl.FixedWindows("10 minutes"),
            "trigger": bl.AfterWatermark(
                early=bl.AfterProcessingTime("1 ms"), late=bl.AfterCount(1)
            ),
            "accumulation": "accumulating",
            "allowed_lateness": "1 hour",
        }
        left = bl.stream(events.frame, timestamp="at", watermark="0 s").select("user", "v")
        right = bl.stream(others.frame, timestamp="on", watermark="0 s").select("name", "w")
        on = {"left": "user", "right": "name"}
        sides = left.window(**windows), right.window(**windows)
        return bl.join(*sides, on, "left", wake_every="1 day", **SMALL).everything

    def both(time: str, number: int) -> None:
        events.put(event(time, number))
        others.put({"name": "ann", "on": f"2020-01-01T{time}Z", "w": number})

    def run() -> list[tuple[int, str]]:
        return [(number, *lines([row])) for number, row in ran(events, joined(), **trigger)]

    both("00:01:00", 0)
    events.put(event("00:02:00", 1))
    assert run() == [(1, "ann 0 0 | 00:00-00:10 EARLY 0")]
    # The row that no pane has had yet comes when the checkpoint goes on.
    both("00:11:00", 2)
    both("00:12:00", 3)
    assert run() == [
        (2, "ann 0 0 | 00:00-00:10 EARLY 1"),
        (2, "ann 1 0 | 00:00-00:10 EARLY 1"),
        (2, "ann 0 0 | 00:00-00:10 ON_TIME 2"),
        (2, "ann 1 0 | 00:00-00:10 ON_TIME 2"),
        (3, "ann 2 2 | 00:10-00:20 EARLY 0"),
    ]


@pytest.mark.nightly
def test_a_query_with_a_clock_takes_its_backlog_before_it_is_drained(
    feed: MakeFeed, sink: Any, tmp_path: Path
) -> None:
    events = feed(EVENTS)
    out = bl.windowed(
        events.frame,
        trigger=bl.AfterWatermark(early=bl.AfterProcessingTime("1 hour"), late=bl.AfterCount(1)),
        **WINDOWS,
    )
    events.put(event("12:00:10", 0))
    assert ran(events, out, **ALL_THERE_IS) == []
    events.put(event("12:10:00", 1))
    events.put(event("12:11:00", 2))

    bl.drain(sink.of(out), tmp_path / "0" / "checkpoint")

    assert lines(sink.rows) == [
        "ann [0] | 12:00-12:05 ON_TIME 0",
        "ann [1 2] | 12:10-12:15 ON_TIME 0 last",
    ]

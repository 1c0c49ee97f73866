"""What a grouping tells of itself in the query's progress: open windows, and its watermark."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike as bl

pytestmark = pytest.mark.spark

MakeFeed = Callable[[str], Any]
EVENTS = "user string, at timestamp"


def event(user: str, time: str) -> dict[str, Any]:
    return {"user": user, "at": f"2020-01-01T{time}Z"}


def standing(query: Any, name: str) -> list[tuple[int, str | None]]:
    """Open windows and watermark after each micro-batch that tells something new."""
    found: list[tuple[int, str | None]] = []
    for progress in query.recentProgress:
        told = progress.observedMetrics[name]
        seconds = None if told.watermark is None else told.watermark // 1_000 - 1_577_836_800
        clock = None if seconds is None else f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
        if not found or found[-1] != (told.windows_open, clock):
            found.append((told.windows_open, clock))
    return found


@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("fanout", [None, 2])
def test_windows_are_open_from_their_first_element_until_they_expire(
    machine: Any, fanout: int | None, feed: MakeFeed
) -> None:
    events = feed(EVENTS)
    panes = bl.windowed(
        events.frame,
        key="user",
        timestamp="at",
        watermark="0 seconds",
        window=bl.FixedWindows("1 hour"),
        accumulation="discarding",
        allowed_lateness="1 hour",
        aggregate={"n": bl.count()},
        machine=machine,
        hot_key_fanout=fanout,
        name="hours",
        shards=2,
    )
    events.start(panes)
    events.send(event("ann", "00:10:00"), event("ann", "01:10:00"), event("bob", "01:20:00"))
    # 01:00 is past: the first hour is on time, and is kept for what is late.
    events.send(event("ann", "02:30:00"))

    assert standing(events.query, "hours") == [
        (3, None),
        (3, "01:20"),
        (4, "01:20"),
        (3, "02:30"),  # at 02:00 the first hour has expired
    ]


def test_each_grouping_of_a_query_tells_its_own(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    rows = bl.stream(events.frame, timestamp="at", watermark="0 seconds")
    by_user = rows.window(bl.FixedWindows("10 minutes")).group(
        "user", {"n": bl.count()}, name="users", shards=2
    )
    hours = by_user.window(bl.FixedWindows("1 hour"))
    events.start(hours.group([], {"n": bl.sum("n")}, name="all", shards=1).everything)
    events.send(event("ann", "00:01:00"), event("bob", "00:02:00"), event("bob", "00:12:00"))
    events.send(event("ann", "00:30:00"))

    # A micro-batch that only Spark's own watermark asks for steps no shard of the first grouping.
    assert standing(events.query, "users") == [
        (1, "00:12"),
        (None, None),
        (1, "00:30"),
        (None, None),
    ]
    assert standing(events.query, "all") == [(1, "00:12"), (1, "00:30")]


def test_sessions_that_merge_are_one_window_and_rows_that_are_dropped_open_none(
    feed: MakeFeed,
) -> None:
    events = feed(EVENTS)
    sessions = bl.windowed(
        events.frame,
        key="user",
        timestamp="at",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        aggregate={"n": bl.count()},
        output="all",
        shards=2,
    )
    events.start(sessions)
    events.send(event("ann", "01:00:00"), event("ann", "01:15:00"))
    events.send(event("ann", "01:08:00"))  # it joins the two
    events.send(event("bob", "00:30:00"))  # its session ended at 00:40
    assert standing(events.query, "beamlike") == [(2, None), (2, "01:05"), (1, "01:05")]
    told = [it.observedMetrics["beamlike"] for it in events.query.recentProgress]
    assert sum(it.dropped_expired for it in told) == 1

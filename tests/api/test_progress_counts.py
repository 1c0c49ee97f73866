"""What a grouping tells of itself in the query's progress, and what listens to it."""

import logging
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import beamlike as bl
from tests.support.queries.hours import hourly
from tests.support.queries.rows import MakeFeed, event

pytestmark = pytest.mark.spark

EVENTS = "user string, at timestamp, v int"


def standing(feed: Any, name: str) -> list[tuple[int, str | None]]:
    """Open windows and watermark after each micro-batch that tells something new."""
    found: list[tuple[int, str | None]] = []
    for progress in feed.progress:
        shown = progress.observedMetrics[name]
        seconds = None if shown.watermark is None else shown.watermark // 1_000 - 1_577_836_800
        clock = None if seconds is None else f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
        if not found or found[-1] != (shown.windows_open, clock):
            found.append((shown.windows_open, clock))
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("fanout", [None, 2])
def test_windows_are_open_from_their_first_element_until_they_expire(
    machine: Any, fanout: int | None, feed: MakeFeed
) -> None:
    events = feed(EVENTS)
    panes = hourly(
        events.frame,
        key="user",
        watermark="0 seconds",
        accumulation="discarding",
        allowed_lateness="1 hour",
        machine=machine,
        hot_key_fanout=fanout,
        name="hours",
        shards=2,
    )
    events.start(panes)
    events.send(event("ann", "00:10:00"), event("ann", "01:10:00"), event("bob", "01:20:00"))
    # 01:00 is past: the first hour is on time, and is kept for what is late.
    events.send(event("ann", "02:30:00"))

    assert standing(events, "hours") == [
        (3, None),
        (3, "01:20"),
        (4, "01:20"),
        (3, "02:30"),  # at 02:00 the first hour has expired
    ]


@pytest.mark.nightly
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
    assert standing(events, "users") == [(1, "00:12"), (None, None), (1, "00:30"), (None, None)]
    assert standing(events, "all") == [(1, "00:12"), (1, "00:30")]


@pytest.mark.nightly
def test_sessions_that_merge_are_one_window_and_rows_that_are_dropped_open_none(feed: MakeFeed):
    events = feed(EVENTS)
    sessions = hourly(
        events.frame,
        key="user",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        output="all",
        shards=2,
    )
    events.start(sessions)
    events.send(event("ann", "01:00:00"), event("ann", "01:15:00"))
    events.send(event("ann", "01:08:00"))  # it joins the two
    events.send(event("bob", "00:30:00"))  # its session ended at 00:40
    assert standing(events, "beamlike") == [(2, None), (2, "01:05"), (1, "01:05")]
    shown = [it.observedMetrics["beamlike"] for it in events.progress]
    assert sum(it.dropped_expired for it in shown) == 1


COUNTS = ("elements", "panes_early", "retractions", "merges", "dropped_null_key")


@pytest.mark.parametrize("machine", ["columnar", "reference"])
def test_elements_merges_retractions_and_deadlines_are_reported_and_listened_to(
    machine: Any, feed: MakeFeed, spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events, lines = feed(EVENTS), StringIO()
    sessions = hourly(
        events.frame,
        key="user",
        watermark="10 minutes",
        window=bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(1)),
        accumulation="retracting",
        allowed_lateness="0 s",
        machine=machine,
        name="sessions",
        shards=2,
    )
    events.start(sessions)
    events.send(event("ann", "01:00:00"), event("ann", "01:15:00"), event("bob", "01:16:00"))
    # It joins the two, and withdraws their panes. The other has no key.
    events.send(event("ann", "01:08:00"), {"user": None, "at": "2020-01-01T01:15:00Z"})
    shown = [it.observedMetrics["sessions"] for it in events.progress]
    file = tmp_path / "beamlike.prom"
    with (
        caplog.at_level(logging.WARNING, "beamlike.metrics"),
        # It catches up with what the query did before.
        bl.metrics_listener(spark, file=file, lines=lines) as listener,
    ):
        assert listener.text() == file.read_text()

    total = {name: sum(it[name] for it in shown) for name in COUNTS}
    assert total == {
        "elements": 5,
        "panes_early": 4 + total["retractions"],
        "retractions": 2,
        "merges": 1,
        "dropped_null_key": 1,
    }
    # The first of what is open ends at 01:25. The watermark stands at 01:06.
    end = 1_577_836_800_000 + 85 * 60_000
    assert (shown[-1].windows_open, shown[-1].deadline) == (2, end - 1)
    assert shown[-1].clock_deadline is None
    examples = {it.drop_example for it in shown} - {None}
    assert examples == {"null_key, user=None, at 2020-01-01T01:15:00+00:00"}
    parsed = {
        (sample.name, sample.labels.get("timing") or sample.labels.get("reason")): sample.value
        for family in text_string_to_metric_families(file.read_text())
        for sample in family.samples
        if sample.labels["id"] == str(events.query.id)
    }
    assert parsed["beamlike_elements_total", None] == 5
    assert parsed["beamlike_merges_total", None] == 1
    assert parsed["beamlike_panes_total", "early"] == total["panes_early"]
    assert parsed["beamlike_dropped_total", "null_key"] == 1
    assert parsed["beamlike_deadline_lag_seconds", None] == -1139.999
    # The session may have had other queries.
    own = f"query {str(events.query.id)[:8]}"
    warnings = [
        record.getMessage() for record in caplog.records if record.name == "beamlike.metrics"
    ]
    (warning,) = [warning for warning in warnings if warning.startswith(own)]
    assert warning.endswith(
        "sessions dropped 1 null_key (for example: null_key, user=None, "
        "at 2020-01-01T01:15:00+00:00)"
    )
    assert sum(line.startswith(own) for line in lines.getvalue().splitlines()) == len(shown)

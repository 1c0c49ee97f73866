"""Several groupings in one streaming query: each sees the panes of the one before on time."""

from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import WindowingError
from tests.support.queries.rows import SMALL, MakeFeed, Row
from tests.support.queries.rows import of_key as event

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_empty_batches")]


EVENTS = "k string, at timestamp, v int"
TEN_MINUTES = bl.FixedWindows("10 minutes")
LATE = bl.AfterWatermark(late=bl.AfterCount(1))


def span(row: Row) -> str | None:
    """A window as ``00:00-00:10``."""
    window = row["window"]
    return window and f"{window['start'][11:16]}-{window['end'][11:16]}"


def shown(rows: list[Row], *columns: str) -> list[tuple[Any, ...]]:
    """Each pane as its columns, its window, timing and index; each drop as stage and reason."""
    return sorted(
        (row["dropped"]["stage"], row["dropped"]["reason"], row["dropped"]["element"])
        if row["dropped"]
        else (
            *(row[name] for name in columns),
            span(row),
            row["pane"]["timing"],
            row["pane"]["index"],
        )
        for row in rows
    )


def counted(feed: Any, **windowing: Any) -> bl.Stream:
    """A count for each key, then how many keys there are and how many rows in all."""
    windowing = {
        "trigger": LATE,
        "accumulation": "discarding",
        "allowed_lateness": "1 hour",
        **windowing,
    }
    rows = bl.stream(feed.frame, timestamp="at", watermark="1 minute")
    by_key = rows.window(TEN_MINUTES, **windowing).group("k", {"n": bl.count()}, **SMALL)
    return by_key.group([], {"keys": bl.count(), "n": bl.sum("n")}, **SMALL)


def test_two_groupings_in_one_query(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    events.start(counted(events).everything)
    assert events.send(event("a", "00:01:00"), event("b", "00:02:00"), event("b", "00:03:00")) == []
    # The panes of both keys are one on-time pane of the second grouping.
    assert shown(events.send(event("a", "00:12:00")), "keys", "n") == [
        (2, 3, "00:00-00:10", "ON_TIME", 0)
    ]
    # Two late panes of the first are one late bundle of the second.
    assert shown(events.send(event("b", "00:05:00"), event("c", "00:06:00")), "keys", "n") == [
        (2, 2, "00:00-00:10", "LATE", 1)
    ]
    assert shown(events.send(event("a", "03:12:00")), "keys", "n") == [
        (1, 1, "00:10-00:20", "ON_TIME", 0)
    ]
    # What the first grouping drops passes by the second and comes out of the query.
    assert shown(events.send(event("b", "00:05:00")), "keys", "n") == [
        ("beamlike", "expired", '{"k":"b"}')
    ]


@pytest.mark.nightly
def test_a_restart_between_two_micro_batches_changes_nothing(feed: MakeFeed) -> None:
    steady, broken = feed(EVENTS), feed(EVENTS)
    batches = [
        [event("a", "00:01:00"), event("b", "00:02:00")],
        [event("a", "00:12:00"), event("b", "00:13:00")],
        [event("b", "00:05:00"), event("c", "00:06:00")],
        [event("a", "02:30:00"), event("a", "00:11:00")],
    ]
    steady.start(counted(steady).everything)
    expected = [shown(steady.send(*batch), "keys", "n") for batch in batches]
    steady.stop()
    came = []
    for number, batch in enumerate(batches):
        if number != 2:  # the late rows come to a query that has let out the first panes itself
            broken.stop()
            broken.start(counted(broken).everything)
        came.append(shown(broken.send(*batch), "keys", "n"))
    assert came == expected
    assert any(row[-2] == "ON_TIME" for batch in expected for row in batch)


@pytest.mark.nightly
def test_rows_that_are_left_out_still_move_the_watermark(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    rows = bl.stream(events.frame, timestamp="at", watermark="0 s").where("v > 0")
    events.start(rows.window(TEN_MINUTES).group("k", {"n": bl.count()}, **SMALL).everything)
    assert events.send(event("a", "00:01:00"), event("a", "00:02:00", v=0)) == []
    assert shown(events.send(event("a", "01:00:00", v=0)), "k", "n") == [
        ("a", 1, "00:00-00:10", "ON_TIME", 0)
    ]


@pytest.mark.nightly
def test_panes_are_put_into_windows_anew_by_their_time(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    rows = bl.stream(events.frame, timestamp="at", watermark="0 s").window(TEN_MINUTES)
    by_key = rows.group("k", {"n": bl.count()}, **SMALL)
    hours = by_key.with_columns({"twice": F.col("n") * 2}).window(bl.FixedWindows("1 hour"))
    events.start(hours.group("k", {"panes": bl.count(), "n": bl.sum("twice")}, **SMALL).everything)
    rows_of_an_hour = [event("a", f"00:{minute:02}:00") for minute in (1, 2, 15, 59)]
    assert events.send(*rows_of_an_hour) == []
    assert shown(events.send(event("b", "01:00:00")), "k", "panes", "n") == [
        ("a", 3, 8, "00:00-01:00", "ON_TIME", 0)
    ]


@pytest.mark.nightly
def test_each_grouping_counts_for_itself_in_the_progress_of_the_query(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    events.start(counted(events).everything)
    events.send(event("a", "00:01:00"), event("b", "00:02:00"))
    events.send(event("a", "04:00:00"))
    events.send(event("a", "00:01:00"), event("b", "00:02:00"))
    totals = [
        {name: dict(row.asDict()) for name, row in progress["observedMetrics"].items()}
        for progress in events.progress
    ]
    one = [total["beamlike"] for total in totals if "beamlike" in total]
    two = [total["beamlike 2"] for total in totals if "beamlike 2" in total]
    assert sum(row["panes_on_time"] for row in one) == 2
    assert sum(row["panes_on_time"] for row in two) == 1
    assert sum(row["dropped_expired"] for row in one) == 2
    assert sum(row["dropped_expired"] for row in two) == 0


@pytest.mark.nightly
@pytest.mark.parametrize("machine", ["columnar", "reference"])
@pytest.mark.parametrize("again", [False, True])
def test_sessions_that_merged_merge_again_only_if_somebody_says_so(
    feed: MakeFeed, again: bool, machine: Any
) -> None:
    events = feed(EVENTS)
    rows = bl.stream(events.frame, timestamp="at", watermark="1 minute")
    by_key = rows.window(bl.Sessions("10 minutes")).group("k", {"n": bl.count()}, **SMALL)
    merged = by_key.remerge() if again else by_key
    events.start(merged.group([], {"n": bl.sum("n")}, machine=machine, **SMALL).everything)
    events.send(event("a", "00:01:00"), event("a", "00:06:00"), event("b", "00:08:00"))
    assert shown(events.send(event("c", "01:00:00")), "n") == (
        [(3, "00:01-00:18", "ON_TIME", 0)]
        if again
        else [(1, "00:08-00:18", "ON_TIME", 0), (2, "00:01-00:16", "ON_TIME", 0)]
    )


def test_a_name_is_for_one_grouping(feed: MakeFeed) -> None:
    rows = bl.stream(feed(EVENTS).frame, timestamp="at", watermark="1 minute")
    by_key = rows.window(TEN_MINUTES).group("k", {"n": bl.count()}, name="counts")
    with pytest.raises(WindowingError, match="name='counts' is taken by a grouping before"):
        by_key.group([], {"n": bl.sum("n")}, name="counts")

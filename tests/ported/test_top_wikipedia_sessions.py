"""The longest session of edits by one user, for each month.

Original: ``TopWikipediaSessionsTest.scala`` of scio-examples; spotify/scio at 3b35141.

Rows are mappings. Windows and instants are written as Beam writes them, by a function here. The
original looks at the texts in the end; here the counts of the sessions on the way, and all panes of
both, are said too.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from beamlike.scio import ScioContext, SCollection
from beamlike.testing import element, emit_exactly, expect, on_time_pane

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = Mapping[str, Any]


def count_edits(rows: SCollection[Row], sampling_threshold: float) -> SCollection[tuple[str, int]]:
    """How many edits each session of a user has."""
    dice = Random(0)
    return (
        rows.collect(
            lambda row: (
                (row["contributor_username"], row["timestamp"])
                if row.get("contributor_username") is not None
                else None
            )
        )
        # The second of each edit is its event time.
        .timestamp_by(lambda edit: edit[1] * 1_000)
        .keys()
        .filter(lambda _: dice.random() < sampling_threshold)
        .with_session_windows("1 hour")
        .count_by_value()
    )


def top_of_each_month(edits: SCollection[tuple[str, int]]) -> SCollection[str]:
    """The session with the most edits, in words."""
    return (
        edits.to_windowed()
        .map(lambda it: it.with_value((f"{it.value[0]} : {text_of(it.window)}", it.value[1])))
        .to_scollection()
        .window_by_months(1)
        .top(1, key=lambda counted: counted[1])
        .to_windowed()
        .flat_map(
            lambda it: [
                it.with_value(f"{session} : {count} : {instant_text(it.window.start)}")
                for session, count in it.value
            ]
        )
        .to_scollection()
    )


def compute_top_sessions(rows: SCollection[Row], sampling_threshold: float) -> SCollection[str]:
    return top_of_each_month(count_edits(rows, sampling_threshold))


def text_of(window: Any) -> str:
    return f"[{instant_text(window.start)}..{instant_text(window.end)})"


def instant_text(instant: int) -> str:
    return f"{EPOCH + timedelta(milliseconds=instant):%Y-%m-%dT%H:%M:%S}.{instant % 1_000:03}Z"


DATA: list[Row] = [
    {"timestamp": 0, "contributor_username": "user1"},
    {"timestamp": 1, "contributor_username": "user1"},
    {"timestamp": 2, "contributor_username": "user1"},
    {"timestamp": 0, "contributor_username": "user2"},
    {"timestamp": 1, "contributor_username": "user2"},
    {"timestamp": 3601, "contributor_username": "user2"},
    {"timestamp": 3602, "contributor_username": "user2"},
    {"timestamp": 35 * 24 * 3600, "contributor_username": "user3"},
]


def test_compute_top_sessions_works(sc: ScioContext) -> None:
    expected = [
        "user1 : [1970-01-01T00:00:00.000Z..1970-01-01T01:00:02.000Z) : 3 : "
        "1970-01-01T00:00:00.000Z",
        "user3 : [1970-02-05T00:00:00.000Z..1970-02-05T01:00:00.000Z) : 1 : "
        "1970-02-01T00:00:00.000Z",
    ]
    p = compute_top_sessions(sc.parallelize(DATA), 1.0)

    january, february, march = "1970-01-01", "1970-02-01", "1970-03-01"
    expect(p).to(
        emit_exactly(
            element(expected[0], january, february, timing="ON_TIME"),
            element(expected[1], february, march, timing="ON_TIME"),
        )
    )


def test_the_sessions_on_the_way(sc: ScioContext) -> None:
    """Not in the original. Two sessions of one user touch, and do not merge."""
    expect(count_edits(sc.parallelize(DATA), 1.0)).to(
        emit_exactly(
            on_time_pane("user1", 3, "00:00:00", "01:00:02", is_last=True),
            on_time_pane("user2", 2, "00:00:00", "01:00:01", is_last=True),
            on_time_pane("user2", 2, "01:00:01", "02:00:02", is_last=True),
            on_time_pane("user3", 1, "1970-02-05 00:00:00", "1970-02-05 01:00:00", is_last=True),
        )
    )

"""Results that replace earlier ones: as retractions, as a changelog, and as upserts."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.errors import WindowingError
from tests.support.queries.hours import hourly
from tests.support.queries.rows import MakeFeed, Row
from tests.support.queries.rows import of_key as event
from tests.support.queries.shown import lines_in_order
from tests.support.refusals import refusal

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("no_empty_batches")]


EVENTS = "k string, at timestamp, v int"
RETRACTING: dict[str, Any] = {
    "window": bl.Sessions("10 minutes"),
    "trigger": bl.AfterWatermark(early=bl.AfterCount(1), late=bl.AfterCount(1)),
    "accumulation": "retracting",
    "allowed_lateness": "2 hours",
}
HOWS: dict[str, dict[str, Any]] = {
    "retractions": {},
    "changelog": {"render": "changelog"},
    "upserts": {"render": "upserts"},
    "only what differs": {"unchanged": "omit"},
}


def each_way(frame: Any, hows: Iterable[str]) -> Any:
    """The same sessions in one query, rendered in several ways that column ``how`` tells apart."""
    together = None
    for how in hows:
        options = dict(HOWS[how])
        unchanged = options.pop("unchanged", None)
        rows = bl.stream(frame, timestamp="at", watermark="1 hour")
        sessions = rows.window(**RETRACTING, unchanged=unchanged).group(
            "k", {"n": bl.count()}, name=how, shards=2, buckets=2, **options
        )
        shown = sessions.everything.withColumn("how", F.lit(how))
        together = (
            shown if together is None else together.unionByName(shown, allowMissingColumns=True)
        )
    return together


def by_how(rows: list[Row]) -> dict[str, list[Row]]:
    parted: dict[str, list[Row]] = {}
    for row in rows:
        parted.setdefault(row.pop("how"), []).append(row)
    return parted


def test_each_rendering_has_its_own_columns(feed: MakeFeed) -> None:
    rows = bl.stream(feed(EVENTS).frame, timestamp="at", watermark="1 hour").window(**RETRACTING)
    usual = ["k", "window", "n", "timestamp", "pane"]
    added = {
        "retractions": ["retraction"],
        "changelog": ["change"],
        "upserts": ["session_identity", "change"],
    }
    for render, columns in added.items():
        grouped = rows.group("k", {"n": bl.count()}, render=render)  # type: ignore[arg-type]
        assert grouped.columns == usual + columns


STORY: list[tuple[Row, dict[str, list[str]]]] = [
    (
        event("a", "01:00:00"),
        {
            "retractions": ["a 1 | 01:00-01:10 EARLY 0"],
            "changelog": ["a 1 | 01:00-01:10 EARLY 0 upsert"],
            "upserts": ["a 1 | 01:00-01:10 EARLY 0 upsert session 01:00-01:10"],
            "only what differs": ["a 1 | 01:00-01:10 EARLY 0"],
        },
    ),
    # The session grows, and keeps its name.
    (
        event("a", "01:05:00"),
        {
            "retractions": ["a 1 | 01:00-01:10 EARLY 0 withdrawn", "a 2 | 01:00-01:15 EARLY 0"],
            "changelog": ["a - | 01:00-01:10 delete", "a 2 | 01:00-01:15 EARLY 0 upsert"],
            "upserts": ["a 2 | 01:00-01:15 EARLY 0 upsert session 01:00-01:10"],
            "only what differs": [
                "a 1 | 01:00-01:10 EARLY 0 withdrawn",
                "a 2 | 01:00-01:15 EARLY 0",
            ],
        },
    ),
    # A second session begins.
    (
        event("a", "01:20:00"),
        {
            "retractions": ["a 1 | 01:20-01:30 EARLY 0"],
            "changelog": ["a 1 | 01:20-01:30 EARLY 0 upsert"],
            "upserts": ["a 1 | 01:20-01:30 EARLY 0 upsert session 01:20-01:30"],
            "only what differs": ["a 1 | 01:20-01:30 EARLY 0"],
        },
    ),
    # The two merge: the earlier one keeps its name, the other one goes.
    (
        event("a", "01:12:00"),
        {
            "retractions": [
                "a 2 | 01:00-01:15 EARLY 0 withdrawn",
                "a 1 | 01:20-01:30 EARLY 0 withdrawn",
                "a 4 | 01:00-01:30 EARLY 0",
            ],
            "changelog": [
                "a - | 01:00-01:15 delete",
                "a - | 01:20-01:30 delete",
                "a 4 | 01:00-01:30 EARLY 0 upsert",
            ],
            "upserts": [
                "a - | delete session 01:20-01:30",
                "a 4 | 01:00-01:30 EARLY 0 upsert session 01:00-01:10",
            ],
            "only what differs": [
                "a 2 | 01:00-01:15 EARLY 0 withdrawn",
                "a 1 | 01:20-01:30 EARLY 0 withdrawn",
                "a 4 | 01:00-01:30 EARLY 0",
            ],
        },
    ),
    # The watermark is at 03:00, and the session on time. Its count is what it was.
    (
        event("b", "04:00:00"),
        {
            "retractions": [
                "a 4 | 01:00-01:30 EARLY 0 withdrawn",
                "a 4 | 01:00-01:30 ON_TIME 1",
                "b 1 | 04:00-04:10 EARLY 0",
            ],
            "changelog": ["a 4 | 01:00-01:30 ON_TIME 1 upsert", "b 1 | 04:00-04:10 EARLY 0 upsert"],
            "upserts": [
                "a 4 | 01:00-01:30 ON_TIME 1 upsert session 01:00-01:10",
                "b 1 | 04:00-04:10 EARLY 0 upsert session 04:00-04:10",
            ],
            "only what differs": ["b 1 | 04:00-04:10 EARLY 0"],
        },
    ),
    # A late row makes the session longer.
    (
        event("a", "01:25:00"),
        {
            "retractions": ["a 4 | 01:00-01:30 ON_TIME 1 withdrawn", "a 5 | 01:00-01:35 LATE 0"],
            "changelog": ["a - | 01:00-01:30 delete", "a 5 | 01:00-01:35 LATE 0 upsert"],
            "upserts": ["a 5 | 01:00-01:35 LATE 0 upsert session 01:00-01:10"],
            "only what differs": [
                "a 4 | 01:00-01:30 EARLY 0 withdrawn",
                "a 5 | 01:00-01:35 LATE 0",
            ],
        },
    ),
]


@pytest.mark.nightly
def test_sessions_grow_and_merge(feed: MakeFeed) -> None:
    events = feed(EVENTS)
    events.start(each_way(events.frame, HOWS))
    for row, expected in STORY:
        came = by_how(events.send(row))
        # The sort leaves the rows of a key in their order.
        reported = {
            how: sorted(lines_in_order(came[how]), key=lambda line: line[0]) for how in HOWS
        }
        assert reported == expected


def place(row: Row, identity: str) -> tuple[str, ...]:
    named = row[identity]
    return (row["k"], named) if isinstance(named, str) else (row["k"], named["start"], named["end"])


def put_or_deleted(rows: list[Row], identity: str) -> list[tuple[Any, ...]]:
    """What is left of a table whose rows are put or deleted by key and identity."""
    table: dict[Any, Row] = {}
    for row in rows:
        if row["change"] == "delete":
            del table[place(row, identity)]  # a KeyError if it never stood there
        else:
            table[place(row, identity)] = row
    return sorted((*place(row, "window"), row["n"]) for row in table.values())


def what_stands(rows: list[Row]) -> list[tuple[Any, ...]]:
    """The panes that no later row withdraws."""
    standing: list[Row] = []
    for row in rows:
        pane = {name: value for name, value in row.items() if name != "retraction"}
        if row["retraction"]:
            standing.remove(pane)  # a ValueError if it never stood
        else:
            standing.append(pane)
    return sorted((*place(row, "window"), row["n"]) for row in standing)


@pytest.mark.nightly
def test_anyone_who_follows_the_changes_has_the_panes_that_stand(feed: MakeFeed) -> None:
    dice, events = Random(11), feed(EVENTS)
    came: dict[str, list[Row]] = {}
    events.start(each_way(events.frame, ["retractions", "changelog", "upserts"]))
    for number in range(6):
        minutes = (20 * number + dice.randrange(-60, 60) for _ in range(dice.randint(3, 8)))
        rows = [
            event(dice.choice("ab"), f"{2 + minute // 60:02}:{minute % 60:02}:00")
            for minute in minutes
        ]
        for how, own in by_how(events.send(*rows)).items():
            came.setdefault(how, []).extend(own)
        stands = what_stands(came["retractions"])
        assert put_or_deleted(came["changelog"], "window") == stands
        assert put_or_deleted(came["upserts"], "session_identity") == stands
    assert len(stands) > 3
    assert sum(row["retraction"] for row in came["retractions"]) > 5
    assert any(row["change"] == "delete" for row in came["upserts"])


@pytest.mark.parametrize("render", ["changelog", "upserts"])
@pytest.mark.parametrize("accumulation", ["accumulating", "discarding"])
def test_only_what_is_retracting_has_changes(feed: MakeFeed, render: Any, accumulation: str):
    frame = feed(EVENTS).frame
    windowing = RETRACTING | {"accumulation": accumulation}
    rows = bl.stream(frame, timestamp="at", watermark="1 hour").window(**windowing)
    text = (
        f"render='{render}' shows which results replace which, and only "
        f"accumulation=\"retracting\" knows that; this is '{accumulation}'"
    )
    with pytest.raises(WindowingError) as wrong:
        rows.group("k", {"n": bl.count()}, render=render)
    assert str(wrong.value) == text
    with pytest.raises(WindowingError) as wrong:
        hourly(frame, watermark="1 hour", render=render, **windowing)
    assert str(wrong.value) == text


def test_a_rendering_that_there_is_not_is_refused(feed: MakeFeed) -> None:
    rows = bl.stream(feed(EVENTS).frame, timestamp="at", watermark="1 hour").window(**RETRACTING)
    assert refusal(WindowingError, lambda: rows.group("k", {"n": bl.count()}, render="deltas")) == (
        "render must be one of 'retractions', 'changelog', 'upserts', got 'deltas'"
    )


def test_what_is_unchanged_is_asked_of_retracting_panes_only(feed: MakeFeed) -> None:
    rows = bl.stream(feed(EVENTS).frame, timestamp="at", watermark="1 hour")
    with pytest.raises(WindowingError) as wrong:
        rows.window(**(RETRACTING | {"accumulation": "accumulating"}), unchanged="omit")
    assert str(wrong.value) == (
        'unchanged="omit" leaves out a pane that would withdraw an equal one, but '
        'accumulation="accumulating" withdraws nothing; write unchanged="re_emit", or '
        'accumulation="retracting"'
    )

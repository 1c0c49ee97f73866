"""Works with more than one grouping or input: three groupings, a join, a look-up."""

from typing import Any, Final

import beamlike as bl
from tests.crash.frames import TREE, frame_work
from tests.crash.sinks import Unordered


def _three(rows: Any) -> Any:
    arrived = bl.stream(rows, timestamp="at", watermark="1 minute").window(
        bl.FixedWindows("2 minutes"),
        trigger=TREE,
        accumulation="retracting",
        allowed_lateness="5 minutes",
    )
    points = {"points": bl.sum("points"), "n": bl.count()}
    users = arrived.group("user", points, name="users", shards=2)
    tens = users.window(bl.FixedWindows("10 minutes"))
    again = {"points": bl.sum("points"), "n": bl.sum("n")}
    hours = tens.group("user", again, name="tens", shards=2).window(bl.FixedWindows("1 hour"))
    return hours.group([], again, name="hours", shards=1).everything


def _sides(rows: Any) -> tuple[Any, Any]:
    """Two streams of one source, so that their micro-batches are cut together."""
    known = rows.where("user is not null")
    few = known.where("points < 50").select("user", "at", "points", "tag")
    many = known.where("points >= 50").selectExpr("user", "at other_at", "points more", "tag other")
    return (
        bl.stream(few, timestamp="at", watermark="1 minute"),
        bl.stream(many, timestamp="other_at", watermark="1 minute"),
    )


def _joined(rows: Any) -> Any:
    left, right = (
        side.window(
            bl.FixedWindows("4 minutes"), accumulation="retracting", allowed_lateness="5 minutes"
        )
        for side in _sides(rows)
    )
    return bl.join(left, right, on="user", how="full", shards=2).everything


def _looked(rows: Any) -> Any:
    main, side = _sides(rows)
    return bl.look_up(
        main.window(bl.FixedWindows("2 minutes")),
        side.window(bl.FixedWindows("4 minutes")),
        on="user",
        shards=2,
    ).everything


GROUPED: Final = (
    frame_work("three", "three groupings in one query, retracting", _three, Unordered),
    frame_work("joined", "a full join, retracting", _joined, Unordered),
    frame_work("looked", "rows that look into a side input", _looked, Unordered),
)
"""Micro-batches are cut alike, so they do what an undisturbed run does."""

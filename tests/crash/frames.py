"""Works over DataFrames: ``windowed``, and ``stream`` with two groupings."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import beamlike as bl
from tests.crash.feed import arriving
from tests.crash.functions import visits
from tests.crash.sinks import Database, Files, Sink, lines_of
from tests.crash.work import KEEPS_ITS_LOG, NO_DATA, Work

TREE: Final = bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1))
SESSIONS: Final[Mapping[str, Any]] = {
    "window": bl.Sessions("1 minute"),
    "trigger": TREE,
    "accumulation": "retracting",
    "allowed_lateness": "5 minutes",
}
DAYS: Final[Mapping[str, Any]] = {
    "window": bl.FixedWindows("1 day"),
    "trigger": TREE,
    "accumulation": "accumulating",
    "allowed_lateness": "1 day",
}
BY_CLOCK: Final[Mapping[str, Any]] = {
    "window": bl.FixedWindows("5 minutes"),
    "trigger": bl.AfterWatermark(
        early=bl.AfterProcessingTime("1 second"), late=bl.AfterProcessingTime("1 second")
    ),
    "accumulation": "discarding",
    "allowed_lateness": "5 minutes",
}
BY_INTERVALS: Final[Mapping[str, Any]] = {
    **SESSIONS,
    "trigger": bl.AfterWatermark(
        early=bl.EveryProcessingTime("2 seconds"), late=bl.AfterProcessingTime("1 second")
    ),
}
WAKE_EVERY: Final = "1 second"


def windowed(rows: Any, windowing: Mapping[str, Any], **options: Any) -> Any:
    """Panes by user and the windows of a work."""
    aggregate = {"n": bl.count(), "points": bl.sum("points"), "tags": bl.collect("tag")}
    usual = {"key": "user", "timestamp": "at", "watermark": "1 minute", "output": "all"}
    given: dict[str, Any] = {**usual, "aggregate": aggregate, "shards": 2, **options}
    return bl.windowed(rows, **windowing, **given)


def _sessions(machine: str) -> Callable[[Any], Any]:
    return lambda rows: windowed(rows, SESSIONS, machine=machine)


def _days(rows: Any) -> Any:
    aggregate = {"points": bl.sum("points"), "last": bl.last("tag")}
    return windowed(rows, DAYS, aggregate=aggregate, shards=1)


def _stages(rows: Any) -> Any:
    arrived = bl.stream(rows, timestamp="at", watermark="1 minute").window(
        bl.FixedWindows("2 minutes"),
        trigger=TREE,
        accumulation="discarding",
        allowed_lateness="5 minutes",
    )
    by_user = arrived.group("user", {"points": bl.sum("points")}, name="users", shards=2)
    hours = by_user.window(bl.FixedWindows("10 minutes"))
    return hours.group([], {"points": bl.sum("points")}, name="all", shards=1).everything


def _read_parquet(spark: Any, home: Path) -> list[str]:
    return lines_of(spark.read.parquet(str(home / "out")))


def frame_work(
    name: str,
    title: str,
    panes: Callable[[Any], Any],
    sink: Callable[[Path], Sink] | None = Files,
    *,
    ballast: bool = False,
    **judged: Any,
) -> Work:
    """A query over a DataFrame, into a sink of a folder; None: Spark's own files."""

    def start(spark: Any, inbox: Path, home: Path) -> Any:
        writer = panes(arriving(spark, inbox, ballast=ballast)).writeStream
        if sink is None:
            writer = writer.format("parquet").option("path", str(home / "out"))
        else:
            writer = writer.foreachBatch(sink(home / "out"))
        return writer.option("checkpointLocation", str(home / "checkpoint")).start()

    return Work(name, title, start, **judged)


def _by_clock(name: str, title: str, windowing: Mapping[str, Any], machine: str) -> Work:
    def panes(rows: Any) -> Any:
        return windowed(rows, windowing, machine=machine, wake_every=WAKE_EVERY)

    return frame_work(name, title, panes, windowing=windowing, settings=KEEPS_ITS_LOG, ticks=True)


FRAMES: Final = (
    frame_work("sessions", "sessions, retracting, columnar", _sessions("columnar")),
    frame_work("days", "days, 1,200 windows open, columnar", _days, ballast=True),
    frame_work("reference", "sessions, key by key", _sessions("reference")),
    frame_work("stages", "two groupings in one query", _stages),
    frame_work("visits", "a function with states and timers over rows", visits),
    frame_work("database", "sessions, into a database", _sessions("columnar"), Database),
    frame_work(
        "parquet",
        "sessions, by Spark's file sink",
        _sessions("columnar"),
        None,
        obeys=False,
        read=_read_parquet,
    ),
)
"""Micro-batches are cut alike, so they do what an undisturbed run does."""

WITH_CLOCK: Final = (
    _by_clock("clock", "a delay by the clock, discarding, columnar", BY_CLOCK, "columnar"),
    _by_clock("intervals", "sessions, retracting by the clock, per key", BY_INTERVALS, "reference"),
)
"""The clock has a say in what comes out, and woke them while no data came."""

WITHOUT_DATA: Final = (
    frame_work(
        "no-data",
        "sessions, with micro-batches that have no data",
        _sessions("columnar"),
        windowing=SESSIONS,
        settings={**KEEPS_ITS_LOG, NO_DATA: "true"},
    ),
)
"""Spark adds micro-batches for the watermark, and leaves one out after a kill."""

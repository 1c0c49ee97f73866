"""The queries that are killed. All read the same files, and each has a folder of its own."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

import beamlike as bl
import beamlike.beam as beam
from tests.crash.feed import BALLAST, SCHEMA
from tests.crash.sinks import Database, Files

__all__ = ["WORKS", "Work"]

TOTALS: Final = "user string, points long, window string, pane string"
TREE: Final = bl.AfterWatermark(early=bl.AfterCount(2), late=bl.AfterCount(1))


@attrs.frozen
class Work:
    """A query: what it is called, what it covers, and how it starts in a folder."""

    name: str
    title: str
    start: Callable[[Any, Path, Path], Any]
    """Called with the session, the folder of arriving files and the work's own."""
    checkpoint: str = "checkpoint"
    """Where Spark's checkpoint is, below the folder of the work."""


def _arriving(spark: Any, inbox: Path, *, ballast: bool = False) -> Any:
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(inbox))
    return rows if ballast else rows.where(f"user is null or user not like '{BALLAST}%'")


def _sessions(rows: Any, machine: Any) -> Any:
    return bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.Sessions("1 minute"),
        trigger=TREE,
        accumulation="retracting",
        allowed_lateness="5 minutes",
        aggregate={"n": bl.count(), "points": bl.sum("points"), "tags": bl.collect("tag")},
        output="all",
        machine=machine,
        shards=2,
    )


def _days(rows: Any) -> Any:
    return bl.windowed(
        rows,
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.FixedWindows("1 day"),
        trigger=TREE,
        accumulation="accumulating",
        allowed_lateness="1 day",
        aggregate={"points": bl.sum("points"), "last": bl.last("tag")},
        output="all",
        shards=1,
    )


def _stages(rows: Any) -> Any:
    arriving = bl.stream(rows, timestamp="at", watermark="1 minute")
    arriving = arriving.window(
        bl.FixedWindows("2 minutes"),
        trigger=TREE,
        accumulation="discarding",
        allowed_lateness="5 minutes",
    )
    by_user = arriving.group("user", {"points": bl.sum("points")}, name="users", shards=2)
    hours = by_user.window(bl.FixedWindows("10 minutes"))
    return hours.group([], {"points": bl.sum("points")}, name="all", shards=1).everything


def _into_files(panes: Any, home: Path) -> Any:
    return panes.writeStream.foreachBatch(Files(home / "out"))


def _into_database(panes: Any, home: Path) -> Any:
    return panes.writeStream.foreachBatch(Database(home / "out"))


def _into_parquet(panes: Any, home: Path) -> Any:
    return panes.writeStream.format("parquet").option("path", str(home / "out"))


def _work(
    name: str,
    title: str,
    panes: Callable[[Any], Any],
    into: Callable[[Any, Path], Any] = _into_files,
    *,
    ballast: bool = False,
) -> Work:
    def start(spark: Any, inbox: Path, home: Path) -> Any:
        writer = into(panes(_arriving(spark, inbox, ballast=ballast)), home)
        return writer.option("checkpointLocation", str(home / "checkpoint")).start()

    return Work(name, title, start)


def _start_pipeline(spark: Any, inbox: Path, home: Path) -> Any:
    pipeline = beam.Pipeline()
    summed = (
        pipeline
        | "Rows" >> beam.FromDataFrame(_arriving(spark, inbox), timestamp="at", watermark="1 min")
        | "Pairs" >> beam.Map(lambda row: (row.user or "nobody", row.points))
        | beam.WindowInto(
            beam.Sessions("1 minute"),
            trigger=TREE,
            accumulation_mode=beam.AccumulationMode.ACCUMULATING,
            allowed_lateness="5 minutes",
        )
        | "Total" >> beam.CombinePerKey(sum)
        | "Row" >> beam.Map(_row_of)
    )
    summed | beam.WriteRows(TOTALS, Files(home / "out"))
    running: Any = pipeline.run("spark", spark, checkpoint=str(home / "checkpoint"), shards=2)
    return running.query


def _row_of(
    pair: tuple[str, int], window: Any = beam.DoFn.WindowParam, pane: Any = beam.DoFn.PaneInfoParam
) -> dict[str, Any]:
    return {"user": pair[0], "points": pair[1], "window": str(window), "pane": str(pane)}


WORKS: Final[Mapping[str, Work]] = {
    work.name: work
    for work in (
        _work("sessions", "sessions, retracting, columnar", lambda it: _sessions(it, "columnar")),
        _work("days", "days, 1,200 windows open, columnar", _days, ballast=True),
        _work("reference", "sessions, key by key", lambda it: _sessions(it, "reference")),
        _work("stages", "two groupings in one query", _stages),
        Work("beam", "a pipeline of Beam's words", _start_pipeline, "checkpoint/query"),
        _work(
            "database",
            "sessions, into a database",
            lambda it: _sessions(it, "columnar"),
            _into_database,
        ),
        _work(
            "parquet",
            "sessions, by Spark's file sink",
            lambda it: _sessions(it, "columnar"),
            _into_parquet,
        ),
    )
}

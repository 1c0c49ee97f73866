"""What metrics show of a query that does not grow: the signs of ``docs/pages/scaling.md``."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import beamlike as bl
from beamlike.cli.state_text import inputs_of

NOON = 1_714_564_800_000
"""2024-05-01 12:00 (ms)."""
MINUTE = 60_000


def write(folder: Path, batches: list[list[dict[str, Any]]]) -> None:
    folder.mkdir()
    for number, rows in enumerate(batches):
        path = folder / f"{number}.json"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(path, (number + 1, number + 1))


def counts(stream: bl.Stream, home: Path) -> list[Any]:
    """What each micro-batch with rows counts, and the largest window of the last state."""
    writer = stream.rows.writeStream.format("noop").trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(home / "checkpoint")).start()
    query.awaitTermination()
    return [it["observedMetrics"]["n"] for it in query.recentProgress if it["numInputRows"]]


@pytest.mark.spark
def test_a_hot_key_is_the_largest_window_of_its_state(spark: SparkSession, tmp_path: Path) -> None:
    lines = [
        {"user": "bot" if number % 4 else f"u{number}", "at": "2024-05-01T12:00:00Z"}
        for number in range(400)
    ]
    write(tmp_path / "in", [lines])
    files = spark.readStream.schema("user string, at timestamp").json(str(tmp_path / "in"))
    rows = bl.stream(files, timestamp="at", watermark="1 hour").window(bl.FixedWindows("1 hour"))

    counts(rows.group("user", {"n": bl.count()}, name="n", shards=2), tmp_path)

    windows = bl.open_state(spark, str(tmp_path / "checkpoint")).windows.to_pylist()
    elements = sorted(((window["new_elements"], window["key"]) for window in windows), reverse=True)
    assert elements[0] == (300, "bot")
    assert {count for count, _ in elements[1:]} == {1}


@pytest.mark.spark
def test_a_partition_that_hangs_holds_the_watermark_while_windows_pile_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    def row(partition: int, minute: int) -> dict[str, Any]:
        return {"part": partition, "user": f"u{minute}", "at": f"2024-05-01T12:{minute:02}:00Z"}

    # The second partition has one row, and then nothing.
    write(
        tmp_path / "in",
        [[row(0, 0), row(1, 1)], *[[row(0, minute)] for minute in (10, 20, 30, 40)]],
    )
    files = spark.readStream.schema("part int, user string, at timestamp")
    rows = bl.stream(
        files.option("maxFilesPerTrigger", 1).json(str(tmp_path / "in")),
        timestamp="at",
        watermark="0 s",
        watermark_by="part",
        idle_after="1 day",
    )
    windows = rows.window(bl.FixedWindows("5 minutes"))

    seen = counts(windows.group("user", {"n": bl.count()}, name="n", shards=2), tmp_path)

    assert [(it["watermark"] - NOON, it["windows_open"], it["panes_on_time"]) for it in seen] == [
        (0, 2, 0),
        *[(MINUTE, windows_open, 0) for windows_open in (3, 4, 5, 6)],
    ]
    (held_by,) = inputs_of(bl.open_state(spark, str(tmp_path / "checkpoint")).stage("n"))
    assert "2 parts, the last '1' at 2024-05-01 12:01:00" in held_by

"""Streams whose parts, such as partitions of Kafka, have watermarks of their own in a pipeline."""

from pathlib import Path
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import ColumnError, PipelineError
from beamlike.machine.input_clocks import ShardWatermark, SourceProgress
from beamlike.runtime.envelope import updates_in, updates_table

CLICKS = "part int, user string, at timestamp"


def clicks(spark: Any, folder: Path) -> Any:
    """A folder of Parquet files as a stream, a file in each micro-batch."""
    return spark.readStream.schema(CLICKS).option("maxFilesPerTrigger", 1).parquet(str(folder))


def put(spark: Any, folder: Path, *rows: tuple[int, str, str]) -> None:
    frame = spark.createDataFrame(list(rows), "part int, user string, at string")
    timed = frame.selectExpr("part", "user", "cast(concat('2020-01-01 ', at, 'Z') as timestamp) at")
    timed.coalesce(1).write.mode("append").parquet(str(folder))


def counted(rows: Any, home: Path, **options: Any) -> tuple[list[tuple[str, int]], int]:
    """Clicks by user and five minutes, without lateness, and how many were too late."""
    written: list[tuple[str, int]] = []
    pipeline = beam.Pipeline()
    counts = (
        pipeline
        | beam.FromDataFrame(rows, timestamp="at", watermark=0, idle_after="1 day", **options)
        | beam.Map(lambda row: (row.user, 1))
        | beam.WindowInto(beam.FixedWindows("5 minutes"))
        | beam.CombinePerKey(sum)
    )
    _ = counts | beam.WriteRows(
        "user string, n long",
        lambda rows, _number: written.extend((row.user, row.n) for row in rows.collect()),
    )
    result = pipeline.run(host="spark", checkpoint=str(home / "checkpoint"))
    result.query.processAllAvailable()
    result.cancel()
    late = sum(result.lost_counts.values())
    return sorted(written), late


@pytest.mark.spark
@pytest.mark.parametrize(
    ("options", "in_time", "late"),
    [
        pytest.param({"watermark_by": "part"}, [("ann", 1), ("bob", 2)], 0, id="by part"),
        pytest.param({}, [("ann", 1), ("bob", 1)], 1, id="as one"),
    ],
)
def test_a_part_that_lags_by_an_hour_is_not_late(
    options: Any, in_time: Any, late: int, spark: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    put(spark, folder, (0, "ann", "12:00:00"), (1, "bob", "11:00:00"))
    put(spark, folder, (0, "ann", "12:30:00"))
    put(spark, folder, (1, "bob", "11:01:00"))
    put(spark, folder, (1, "bob", "12:30:00"))

    assert counted(clicks(spark, folder), tmp_path, **options) == (in_time, late)


def test_how_far_a_part_has_come_travels_with_its_name() -> None:
    reached = [SourceProgress(3, 40, "clicks/1", 30, 2), ShardWatermark(4, 1, 50, 20)]

    assert updates_in(updates_table(reached)) == reached


@pytest.mark.spark
def test_what_names_no_part_is_refused(spark: Any, tmp_path: Path) -> None:
    put(spark, tmp_path, (0, "ann", "12:00:00"))
    rows = clicks(spark, tmp_path)

    with pytest.raises(PipelineError, match="watermark_by='part' needs idle_after"):
        beam.FromDataFrame(rows, timestamp="at", watermark=0, watermark_by="part")
    pipeline = beam.Pipeline()
    read = beam.FromDataFrame(
        rows, timestamp="at", watermark=0, watermark_by="at", idle_after="1 minute"
    )
    _ = pipeline | read | beam.WriteRows("at timestamp", lambda rows, number: None)
    with pytest.raises(ColumnError, match="column 'at' is timestamp; give one of text"):
        pipeline.run(host="spark", checkpoint=str(tmp_path / "checkpoint"))

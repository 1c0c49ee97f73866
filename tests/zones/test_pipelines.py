"""Rows with instants as elements of pipelines: the same ones in sessions of any time zone."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beamlike.beam as beam
from beamlike.api.pipelines.frames import FromDataFrame, to_data_frame
from beamlike.model.windowfns import FixedWindows

pytestmark = pytest.mark.spark

NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)
DAY = datetime(2020, 6, 1, tzinfo=UTC)
TOTALS = "day timestamp, key string, hours array<string>, ends timestamp"
InZone = Callable[[str], None]


def after(minutes: int) -> datetime:
    return NOON + timedelta(minutes=minutes)


def totals(rows: Any) -> Any:
    """The hours of the visits of a day, which is the key."""

    def row(pair: tuple[Any, Any], window: Any = beam.DoFn.WindowParam) -> dict[str, Any]:
        day, visits = pair
        hours = sorted(visit.strftime("%H:%M") for visit in visits)
        ends = window.end.to_utc_datetime(has_tz=True)
        return {"day": day, "key": str(day), "hours": hours, "ends": ends}

    pipeline = beam.Pipeline()
    return (
        pipeline
        | FromDataFrame(rows, timestamp="at", watermark="0 seconds")
        | "KeyedByDay" >> beam.Map(lambda row: (row.day, row.visits[0]))
        | beam.WindowInto(FixedWindows("1 hour"))
        | beam.GroupByKey()
        | "Row" >> beam.Map(row)
    )


def test_a_key_is_the_same_one_after_a_restart_in_another_zone(
    spark: Any, in_zone: InZone, tmp_path: Path
) -> None:
    inbox, came = tmp_path / "in", list[dict[str, Any]]()
    inbox.mkdir()
    instant = pa.timestamp("us", "UTC")
    schema = pa.schema([("at", instant), ("day", instant), ("visits", pa.list_(instant))])

    def run_with(zone: str, minutes: int) -> None:
        in_zone(zone)
        visit = {"at": after(minutes), "day": DAY, "visits": [after(minutes)]}
        pq.write_table(pa.Table.from_pylist([visit], schema), inbox / f"{minutes:04}.parquet")
        rows = spark.readStream.schema("at timestamp, day timestamp, visits array<timestamp>")
        frame = to_data_frame(totals(rows.parquet(str(inbox))), TOTALS)
        writer = frame.writeStream.foreachBatch(lambda batch, _: came.extend(_rows(batch)))
        query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    run_with("Asia/Kathmandu", 1)
    run_with("America/New_York", 2)
    assert came == []
    run_with("Europe/Berlin", 61)

    assert came == [
        {
            "day": DAY,
            "key": "2020-06-01 00:00:00+00:00",
            "hours": ["12:01", "12:02"],
            "ends": after(60),
        }
    ]


def _rows(batch: Any) -> list[dict[str, Any]]:
    return list(batch.toArrow().to_pylist())

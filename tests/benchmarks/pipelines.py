"""The pipeline that is timed: the same sessions in Beam's words, an element at a time."""

from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame

import beamlike.beam as beam
from tests.benchmarks.queries import DELAY, GAP

__all__ = ["pipeline_sessions"]

_ROWS = "key string, start timestamp, end timestamp, s long"


def pipeline_sessions(df: DataFrame) -> DataFrame:
    """Rows to pairs, sessions, the sum of each key and session, and rows again."""
    pipeline = beam.Pipeline()
    sums = (
        pipeline
        | beam.FromDataFrame(df, timestamp="ts", watermark=DELAY)
        | "Pair" >> beam.Map(_pair)
        | beam.WindowInto(beam.Sessions(GAP))
        | beam.CombinePerKey(sum)
        | "Row" >> beam.Map(_row)
    )
    return beam.to_data_frame(sums, _ROWS)


def _pair(row: Any) -> tuple[str, int]:
    return row.key, row.v


def _row(
    pair: tuple[str, int], window: Any = beam.DoFn.WindowParam
) -> tuple[str, datetime, datetime, int]:
    key, total = pair
    return key, _instant(window.start), _instant(window.end), total


def _instant(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)

"""The pipeline that is timed: the same sessions in Beam's words, an element at a time."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame

import beamlike.beam as beam
from tests.benchmarks.queries import DELAY, FIXED, GAP, Query

__all__ = ["PlainSum", "pipeline_globally", "pipeline_sessions", "pipeline_sessions_by"]

_ROWS = "key string, start timestamp, end timestamp, s long"
_TOTALS = "start timestamp, end timestamp, s long"


class PlainSum(beam.CombineFn):
    """A sum as a function of one's own, in plain Python."""

    def create_accumulator(self) -> int:
        return 0

    def add_input(self, accumulator: int, element: int) -> int:
        return accumulator + element

    def merge_accumulators(self, accumulators: Iterable[int]) -> int:
        return sum(accumulators)

    def extract_output(self, accumulator: int) -> int:
        return accumulator


def pipeline_sessions(df: DataFrame) -> DataFrame:
    """Rows to pairs, sessions, the sum of each key and session, and rows again."""
    return pipeline_sessions_by(sum)(df)


def pipeline_sessions_by(combine: Any) -> Query:
    """The same, with a function that combines the values."""

    def query(df: DataFrame) -> DataFrame:
        pipeline = beam.Pipeline()
        sums = (
            pipeline
            | beam.FromDataFrame(df, timestamp="ts", watermark=DELAY)
            | "Pair" >> beam.Map(_pair)
            | beam.WindowInto(beam.Sessions(GAP))
            | beam.CombinePerKey(combine)
            | "Row" >> beam.Map(_row)
        )
        return beam.to_data_frame(sums, _ROWS)

    return query


def pipeline_globally(df: DataFrame) -> DataFrame:
    """Rows to numbers, the sum of all in each fixed window, and rows again."""
    pipeline = beam.Pipeline()
    sums = (
        pipeline
        | beam.FromDataFrame(df, timestamp="ts", watermark=DELAY)
        | "Value" >> beam.Map(_value)
        | beam.WindowInto(beam.FixedWindows(FIXED))
        | beam.CombineGlobally(sum).without_defaults()
        | "Row" >> beam.Map(_total)
    )
    return beam.to_data_frame(sums, _TOTALS)


def _value(row: Any) -> int:
    return row.v  # type: ignore[no-any-return]


def _total(total: int, window: Any = beam.DoFn.WindowParam) -> tuple[datetime, datetime, int]:
    start, end = window.start, window.end
    return start.to_utc_datetime(has_tz=True), end.to_utc_datetime(has_tz=True), total


def _pair(row: Any) -> tuple[str, int]:
    return row.key, row.v


def _row(
    pair: tuple[str, int], window: Any = beam.DoFn.WindowParam
) -> tuple[str, datetime, datetime, int]:
    key, total = pair
    start, end = window.start, window.end
    return key, start.to_utc_datetime(has_tz=True), end.to_utc_datetime(has_tz=True), total

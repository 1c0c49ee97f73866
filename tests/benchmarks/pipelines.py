"""The pipeline that is timed: the same sessions in Beam's words, an element at a time."""

import atexit
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import beamlike.beam as beam
from beamlike.beam.pvalue import AsDict
from beamlike.beam.transforms.trigger import AccumulationMode, AfterCount, Repeatedly
from tests.benchmarks.queries import DELAY, FIXED, GAP, ITEMS, Query, item_name, with_items

ROWS = "key string, start timestamp, end timestamp, s long"
_ITEMS = "item long, ts timestamp, name string"
_NAMED = "key string, name string, v long"
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
            | "Pair" >> beam.Map(pair)
            | beam.WindowInto(beam.Sessions(GAP))
            | beam.CombinePerKey(combine)
            | "Row" >> beam.Map(row)
        )
        return beam.to_data_frame(sums, ROWS)

    return query


def pipeline_globally(df: DataFrame) -> DataFrame:
    """A column of the rows, the sum of all its numbers in each fixed window, and rows again.

    What a pipeline does not need it is not given, and all that has one key is in one shard.
    """
    return _sums_of(beam.Map(attrgetter("v")))(df)


def pipeline_globally_by_fn(df: DataFrame) -> DataFrame:
    """The same, where a function of Python makes a number of each row."""
    return _sums_of(beam.Map(_value))(df)


def _sums_of(numbers: Any) -> Query:
    def query(df: DataFrame) -> DataFrame:
        pipeline = beam.Pipeline()
        sums = (
            pipeline
            | beam.FromDataFrame(df.select("ts", "v"), timestamp="ts", watermark=DELAY)
            | "Value" >> numbers
            | beam.WindowInto(beam.FixedWindows(FIXED))
            | beam.CombineGlobally(sum).without_defaults()
            | "Row" >> beam.Map(_total)
        )
        return beam.to_data_frame(sums, _TOTALS, shards=1)

    return query


def pipeline_enriched(df: DataFrame) -> DataFrame:
    """Rows with the names of their items: a side input that comes to an end."""
    pipeline = beam.Pipeline()
    items = df.sparkSession.read.schema(_ITEMS).parquet(str(_folder_of_items()))
    names = pipeline | "Items" >> beam.FromDataFrame(items) | "Pairs" >> beam.Map(_item)
    return _named(df, pipeline, names)


def pipeline_enriched_by_stream(df: DataFrame) -> DataFrame:
    """Rows with the names of their items: a side input that never ends, and comes with the first
    rows."""
    pipeline = beam.Pipeline()
    items = df.sparkSession.readStream.schema(_ITEMS).parquet(str(_folder_of_items()))
    names = (
        pipeline
        | "Items" >> beam.FromDataFrame(items, timestamp="ts", watermark=DELAY)
        | "Whenever one comes"
        >> beam.WindowInto(
            beam.window.GlobalWindows(),
            trigger=Repeatedly(AfterCount(1)),
            accumulation_mode=AccumulationMode.ACCUMULATING,
        )
        | "Pairs" >> beam.Map(_item)
    )
    return _named(df, pipeline, names)


def _named(df: DataFrame, pipeline: Any, names: Any) -> DataFrame:
    numbered = with_items(df)
    rows = pipeline | "Rows" >> beam.FromDataFrame(numbered, timestamp="ts", watermark=DELAY)
    return beam.to_data_frame(rows | "Name" >> beam.Map(_with_name, names=AsDict(names)), _NAMED)


@cache
def _folder_of_items() -> Path:
    """A file of all items, which is gone at the end of this process."""
    kept = TemporaryDirectory(prefix="beamlike-items-")
    atexit.register(kept.cleanup)
    items = [(number, datetime.fromtimestamp(0, UTC), item_name(number)) for number in range(ITEMS)]
    numbers, times, names = map(pa.array, zip(*items, strict=True))
    table = pa.table({"item": numbers, "ts": times, "name": names})
    pq.write_table(table, Path(kept.name) / "items.parquet")
    return Path(kept.name)


def _item(row: Any) -> tuple[int, str]:
    return row.item, row.name


def _with_name(row: Any, names: Mapping[int, str]) -> tuple[str, str, int]:
    return row.key, names[row.item].upper(), row.v


def _value(row: Any) -> int:
    return row.v  # type: ignore[no-any-return]


def _total(total: int, window: Any = beam.DoFn.WindowParam) -> tuple[datetime, datetime, int]:
    start, end = window.start, window.end
    return start.to_utc_datetime(has_tz=True), end.to_utc_datetime(has_tz=True), total


def pair(keyed_row: Any) -> tuple[str, int]:
    return keyed_row.key, keyed_row.v


def row(
    keyed_sum: tuple[str, int], window: Any = beam.DoFn.WindowParam
) -> tuple[str, datetime, datetime, int]:
    key, total = keyed_sum
    start, end = window.start, window.end
    return key, start.to_utc_datetime(has_tz=True), end.to_utc_datetime(has_tz=True), total

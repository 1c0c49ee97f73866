"""The floor of a query of beamlike: the operators that Spark runs for it, with empty functions.

What such a query takes no code of beamlike's can save: reading, an operator that makes blobs of
rows, a shuffle, a stateful operator that sets a timer for each of its groups, and one that makes
rows of blobs. As many rows come out as of the query, with its columns, all alike.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

import beamlike.beam as beam
from beamlike.hosts.spark.unpack import unpacked_schema
from beamlike.runtime.options import SHARDS
from beamlike.runtime.output import PANE
from beamlike.runtime.row_metadata import MARKS, time_types
from tests.benchmarks import pipelines
from tests.benchmarks.data import Shape
from tests.benchmarks.queries import DELAY, Query

Batches = Iterator[pa.RecordBatch]

_TYPES = time_types(wall_clock=False)
_OUTPUT = unpacked_schema(
    pa.schema(
        [
            ("key", pa.string()),
            ("window", _TYPES.window),
            ("n", pa.int64()),
            ("s", pa.int64()),
            ("timestamp", _TYPES.timestamp),
            ("pane", PANE),
            (MARKS, _TYPES.marks),
        ]
    )
)
_COLUMNS_OF_SUMS = ["key", "start", "end", "s"]
_RETRACTION = pa.field("retraction", pa.bool_())
_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
_ROW = {
    "key": "user-1234",
    "window": {"start": _NOON, "end": _NOON},
    "n": 3,
    "s": 150,
    "timestamp": _NOON,
    "pane": {"timing": "ON_TIME", "index": 1, "is_first": False, "is_last": False},
    "retraction": False,
}


def empty_operators(shape: Shape, *rows: float, retracts: bool = False) -> Query:
    """The operators of as many groupings in a row as ``rows`` are given.

    Args:
        shape: The data.
        rows: How many rows come out of each grouping in a micro-batch, for each key that it meets.
        retracts: Whether rows say whether they withdraw another.
    """

    def query(df: DataFrame) -> DataFrame:
        met = len(np.unique(shape.columns(shape.measured.start)[0]))
        out = df.withWatermark("ts", DELAY).select("key", F.unix_millis("ts").alias("at"), "v")
        for row in rows:
            out = empty_grouping(out, round(met * row / SHARDS), retracts)
        said = ["retraction"] if retracts else []
        window = ("window.start", "window.end")
        return out.select("key", *window, "n", "s", "pane.timing", "pane.index", *said)

    return query


def empty_totals(df: DataFrame) -> DataFrame:
    """The operators of a grouping of all rows, of which no more is read than times and values."""
    columns = df.withWatermark("ts", DELAY).select(F.unix_millis("ts").alias("at"), "v")
    return empty_grouping(columns, 1, shards=1).select("window.start", "window.end", "s")


def empty_pipeline(shape: Shape) -> Query:
    """The operators of `tests.benchmarks.pipelines.pipeline_sessions`, which call its functions for
    each row and each sum, and do nothing else."""

    def query(df: DataFrame) -> DataFrame:
        met = len(np.unique(shape.columns(shape.measured.start)[0]))
        rows = df.withWatermark("ts", DELAY).select("key", F.unix_millis("ts").alias("at"), "v")
        pack = _Pack(SHARDS, _call_with_rows)
        blobs = rows.mapInArrow(pack, "shard int, blob binary").groupBy("shard")
        stepped = blobs.transformWithState(_Shard(), "blob binary", "append", "EventTime")
        return stepped.mapInArrow(_RowsOfSums(round(met / SHARDS)), pipelines.ROWS)

    return query


def empty_grouping(
    rows: DataFrame, panes: int, retracts: bool = False, shards: int = SHARDS
) -> DataFrame:
    """The operators of one grouping. Each shard gives so many equal panes, at least one."""
    schema = pa.schema([*_OUTPUT, *([_RETRACTION] if retracts else [])])
    blobs = rows.mapInArrow(_Pack(shards), "shard int, blob binary").groupBy("shard")
    stepped = blobs.transformWithState(_Shard(), "blob binary", "append", "EventTime")
    out = stepped.mapInArrow(_Unpack(panes, schema), from_arrow_schema(schema))
    return out.withColumn(MARKS, F.get(MARKS, 0)).filter(f"{MARKS}.kind is null")


class _Pack:
    """A blob for each shard, once all rows are read."""

    def __init__(self, shards: int, call: Callable[[pa.RecordBatch], None] | None = None) -> None:
        self._shards, self._call = shards, call

    def __call__(self, batches: Batches) -> Batches:
        for batch in batches:
            if self._call is not None:
                self._call(batch)
        blobs = {
            "shard": pa.array(range(self._shards), pa.int32()),
            "blob": pa.array([bytes(1_000)] * self._shards, pa.binary()),
        }
        yield from pa.table(blobs).to_batches()


class _Unpack:
    """So many rows for each shard."""

    def __init__(self, rows: int, schema: pa.Schema) -> None:
        self._rows, self._schema = rows, schema

    def __call__(self, batches: Batches) -> Batches:
        row = {name: _ROW.get(name) for name in self._schema.names}
        one = pa.RecordBatch.from_pylist([row], self._schema)
        out = one.take(pa.array(np.zeros(max(self._rows, 1), np.int64)))
        for batch in batches:
            for _ in range(batch.num_rows):
                yield out


class _KeyedRow(NamedTuple):
    key: str
    v: int


def _call_with_rows(batch: pa.RecordBatch) -> None:
    columns = (batch.column(name).to_pylist() for name in ("key", "v"))
    for row in map(_KeyedRow, *columns):
        pipelines.pair(row)


class _RowsOfSums:
    """The rows that the pipeline makes of so many sums for each shard."""

    def __init__(self, sums: int) -> None:
        self._sums = sums

    def __call__(self, batches: Batches) -> Batches:
        pairs = [(_ROW["key"], _ROW["s"])] * self._sums
        start = beam.utils.timestamp.Timestamp(_NOON.timestamp())
        end = start + beam.utils.timestamp.Duration(60)
        for batch in batches:
            for _ in range(batch.num_rows):
                windows = map(beam.window.IntervalWindow, repeat(start), repeat(end))
                columns = zip(*map(pipelines.row, pairs, windows), strict=True)
                yield pa.RecordBatch.from_arrays([*map(pa.array, columns)], _COLUMNS_OF_SUMS)


class _Shard(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle

    def handleInputRows(self, key: Any, rows: Iterable[Row], timerValues: Any) -> Iterator[Row]:
        for _ in rows:
            pass
        self._handle.registerTimer(timerValues.getCurrentWatermarkInMs() + 1)
        yield Row(blob=b"")

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        yield from ()

    def close(self) -> None:
        pass

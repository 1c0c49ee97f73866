"""Event times of rows, as `beamlike.hosts.spark.bind.source_rows` finds them in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from beamlike.errors import ColumnError
from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.texts import read_timestamp
from beamlike.hosts.spark.inputs import type_of
from beamlike.machine.clocks import SourceClock, is_far_ahead
from beamlike.machine.events import RowProblem
from beamlike.runtime.row_metadata import LEFT_OUT, MARKS, MARKS_TYPE

_DAY = 86_400_000


def source_rows(
    df: TableFrame,
    timestamp: str,
    delay: int | None,
    max_ahead: int | None,
    part: str | None = None,
) -> TableFrame:
    """See `beamlike.hosts.frames.Frames.source_rows`."""
    if MARKS in df.columns:
        raise ColumnError(f"the name {MARKS!r} is needed here; rename that column of df")
    kind = type_of(df, timestamp, "timestamp")
    if not isinstance(kind, T.StringType | T.TimestampType | T.TimestampNTZType | T.DateType):
        raise ColumnError(
            f"timestamp: column {timestamp!r} is {kind.simpleString()}; make it a timestamp first"
        )
    clock = SourceClock(0 if delay is None else delay, max_ahead=max_ahead)
    follow = None if delay is None else df.query.source(df.inputs, timestamp, clock)

    def make(batch: MicroBatch) -> pa.Table:
        table = df.table(batch)
        times, problems = event_times(table.column(timestamp), kind)
        believed = []
        for at, time in enumerate(times):
            if time is None:
                continue
            if max_ahead is not None and is_far_ahead(time, batch.clock, max_ahead):
                problems[at] = RowProblem.FAR_FUTURE.value
            else:
                believed.append(time if max_ahead is None else min(time, batch.clock))
        moves = [to + clock.delay for name, to in batch.moves.items() if name in df.inputs]
        if follow is not None:
            follow([*believed, *moves])
        nothing = pa.nulls(len(moves))
        columns = [
            pa.concat_arrays([column.combine_chunks(), nothing.cast(column.type)])
            for column in table.columns
        ]
        kinds = [None] * len(times) + [LEFT_OUT] * len(moves)
        known: dict[str, Sequence[Any]] = {
            "kind": kinds,
            "ts": [*times, *moves],
            "problem": [*problems, *[None] * len(moves)],
        }
        if part is not None:
            own = table.column(part).to_pylist()
            known["part"] = [*("" if it is None else str(it) for it in own), *[None] * len(moves)]
        marks = _marks(known, len(kinds))
        return pa.Table.from_arrays([*columns, marks], names=[*table.column_names, MARKS])

    field = T.StructField(MARKS, T.StringType())  # its type is never read
    return TableFrame(T.StructType([*df.schema.fields, field]), df.inputs, df.query, make)


def event_times(
    column: pa.ChunkedArray, kind: T.DataType
) -> tuple[list[int | None], list[str | None]]:
    """Event times (ms), and why there is none."""
    times: list[int | None]
    if isinstance(kind, T.StringType):
        times = [None if it is None else read_timestamp(it) for it in column.to_pylist()]
    elif isinstance(kind, T.DateType):
        times = [None if it is None else it * _DAY for it in column.cast(pa.int32()).to_pylist()]
    else:
        micros = column.cast(pa.int64()).to_pylist()
        times = [None if it is None else it // 1000 for it in micros]
    missing, bad = RowProblem.NULL_TIMESTAMP.value, RowProblem.BAD_TIMESTAMP.value
    problems = [
        missing if not was else bad if time is None else None
        for was, time in zip(column.is_valid().to_pylist(), times, strict=True)
    ]
    return times, problems


def _marks(known: Mapping[str, Sequence[Any]], count: int) -> pa.StructArray:
    fields = [
        pa.array(known[it.name], it.type) if it.name in known else pa.nulls(count, it.type)
        for it in MARKS_TYPE
    ]
    return pa.StructArray.from_arrays(fields, fields=list(MARKS_TYPE))

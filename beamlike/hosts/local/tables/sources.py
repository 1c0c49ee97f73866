"""Event times of rows, found as SQL of Spark finds them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.hosts.local.tables.frame import MicroBatch, TableFrame
from beamlike.hosts.local.tables.texts import read_timestamp
from beamlike.machine.clocks import is_far_ahead
from beamlike.machine.events import RowProblem
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.runtime.frame_columns import FrameColumns
from beamlike.runtime.row_metadata import LEFT_OUT, MARKS, time_types
from beamlike.runtime.sql_types import type_text

_DAY = 86_400_000_000
FURTHEST_AHEAD = 14 * 3_600_000_000
"""How far the clocks of some zone are ahead of UTC, and those of none further (us)."""


def source_rows(
    df: TableFrame,
    timestamp: str,
    delay: int | None,
    max_ahead: int | None,
    part: str | None = None,
    resolution: Resolution = MILLISECONDS,
) -> TableFrame:
    """See `beamlike.hosts.frames.Frames.source_rows`."""
    if MARKS in df.columns:
        raise ColumnError(f"the name {MARKS!r} is needed here; rename that column of df")
    field = FrameColumns(df.fields).field(timestamp, "timestamp")
    is_time = pa.types.is_timestamp(field.type) or pa.types.is_date32(field.type)
    if not is_time and not pa.types.is_string(field.type):
        raise ColumnError(
            f"timestamp: column {timestamp!r} is {type_text(field)}; make it a timestamp first"
        )
    wall_clock = bool(pa.types.is_timestamp(field.type)) and field.type.tz is None
    types = time_types(wall_clock)
    follow = None if delay is None else df.query.source(delay)

    def make(batch: MicroBatch) -> pa.Table:
        table = df.table(batch)
        times, problems = event_times(table.column(timestamp))
        believed, now = [], batch.clock * 1_000
        if wall_clock:
            now += FURTHEST_AHEAD
        for at, time in enumerate(times):
            if time is None:
                continue
            if max_ahead is not None and is_far_ahead(time, now, max_ahead * 1_000):
                problems[at] = RowProblem.FAR_FUTURE.value
            else:
                believed.append(time if max_ahead is None else min(time, now))
        moves = [
            (to + (delay or 0)) * 1_000 for name, to in batch.moves.items() if name in df.inputs
        ]
        if follow is not None:  # as Spark, whose watermark counts milliseconds
            follow([time // 1_000 for time in (*believed, *moves)])
        nothing = pa.nulls(len(moves))
        columns = [
            pa.concat_arrays([column.combine_chunks(), nothing.cast(column.type)])
            for column in table.columns
        ]
        kinds = [None] * len(times) + [LEFT_OUT] * len(moves)
        known: dict[str, Sequence[Any]] = {
            "kind": kinds,
            "ts": [None if it is None else it // resolution.micros for it in (*times, *moves)],
            "problem": [*problems, *[None] * len(moves)],
        }
        if part is not None:
            own = table.column(part).to_pylist()
            known["part"] = [*("" if it is None else str(it) for it in own), *[None] * len(moves)]
        marks = _marks(types.marks, known, len(kinds))
        return pa.Table.from_arrays([*columns, marks], names=[*table.column_names, MARKS])

    return TableFrame(df.fields.append(pa.field(MARKS, types.marks)), df.inputs, df.query, make)


def event_times(column: pa.ChunkedArray) -> tuple[list[int | None], list[str | None]]:
    """Event times (us), and why there is none."""
    times: list[int | None]
    if pa.types.is_string(column.type):
        times = [None if it is None else read_timestamp(it) for it in column.to_pylist()]
    elif pa.types.is_date32(column.type):
        times = [None if it is None else it * _DAY for it in column.cast(pa.int32()).to_pylist()]
    else:
        times = column.cast(pa.int64()).to_pylist()
    missing, bad = RowProblem.NULL_TIMESTAMP.value, RowProblem.BAD_TIMESTAMP.value
    problems = [
        missing if not was else bad if time is None else None
        for was, time in zip(column.is_valid().to_pylist(), times, strict=True)
    ]
    return times, problems


def _marks(dtype: pa.DataType, known: Mapping[str, Sequence[Any]], count: int) -> pa.StructArray:
    fields = [
        pa.array(known[it.name], it.type) if it.name in known else pa.nulls(count, it.type)
        for it in dtype
    ]
    return pa.StructArray.from_arrays(fields, fields=list(dtype))

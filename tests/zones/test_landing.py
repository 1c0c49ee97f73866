"""Results land as the same rows in whatever zone Spark hands them over, also after a restart."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import beamlike as bl
from tests.support.landing.places import places

NOON = datetime(2020, 6, 1, 12, tzinfo=UTC)


def results(zone: str, n: int) -> pa.Table:
    """The result of a key with an instant in it, as it arrives in a session of a zone."""
    instant = pa.timestamp("us", zone)
    end = NOON + timedelta(hours=1)
    return pa.table(
        {
            "visit": pa.array(
                [{"gate": "east", "at": NOON}], _struct(gate=pa.string(), at=instant)
            ),
            "day": pa.array([NOON], instant),
            "window": pa.array([{"start": NOON, "end": end}], _struct(start=instant, end=instant)),
            "n": [n],
            "stops": pa.array([[NOON, end]], pa.list_(instant)),
            "pane": pa.array([{"timing": "ON_TIME"}], _struct(timing=pa.string())),
        }
    )


def _struct(**fields: pa.DataType) -> pa.DataType:
    return pa.struct([*fields.items()])


@pytest.mark.parametrize("kind", ["sqlite", "duckdb", "delta", "iceberg"])
def test_a_result_is_replaced_under_another_zone_and_its_columns_stay(kind: str, tmp_path: Path):
    table = f"visits_{kind}"
    place = places(kind, tmp_path, table)
    write = bl.upsert_into(place.target, ["visit", "day"])

    rows: list[list[dict[str, Any]]] = []
    for number, zone in enumerate(["UTC", "Asia/Kathmandu", "America/New_York"]):
        write(results(zone, 1), number)
        rows.append(place.read(table))

    first, *later = rows
    assert len(first) == 1
    assert first[0]["row_key"] == (
        '[{"gate": "east", "at": "2020-06-01 12:00:00+00:00"}, "2020-06-01T12:00:00+00:00", '
        '"2020-06-01T12:00:00+00:00", "2020-06-01T13:00:00+00:00"]'
    )
    assert later == [first, first]

"""Rows from outside get one type for equal values: instants are in UTC, wherever they lie."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from beamlike.runtime.row_metadata import canonical

BERLIN = pa.timestamp("us", "Europe/Berlin")
IN_UTC = pa.timestamp("us", "UTC")
NEW_YEAR = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("dtype", "expected", "value"),
    [
        (BERLIN, IN_UTC, NEW_YEAR),
        (pa.timestamp("ms", "+05:45"), pa.timestamp("ms", "UTC"), NEW_YEAR),
        (pa.list_(BERLIN), pa.list_(IN_UTC), [NEW_YEAR, None]),
        (pa.large_list(BERLIN), pa.large_list(IN_UTC), [NEW_YEAR]),
        (pa.large_string(), pa.string(), "żółw"),
        (pa.list_(pa.large_binary()), pa.list_(pa.binary()), [b"a", None]),
        (
            pa.struct([pa.field("start", BERLIN, nullable=False), ("n", pa.int64())]),
            pa.struct([pa.field("start", IN_UTC, nullable=False), ("n", pa.int64())]),
            {"start": NEW_YEAR, "n": 1},
        ),
        (pa.map_(BERLIN, BERLIN), pa.map_(IN_UTC, IN_UTC), [(NEW_YEAR, NEW_YEAR)]),
        (
            pa.list_(pa.struct([("stops", pa.map_(pa.string(), pa.list_(BERLIN)))])),
            pa.list_(pa.struct([("stops", pa.map_(pa.string(), pa.list_(IN_UTC)))])),
            [{"stops": [("a", [NEW_YEAR])]}, None],
        ),
    ],
    ids=str,
)
def test_values_stay_and_have_the_types_of_plans(dtype: Any, expected: Any, value: Any) -> None:
    column = pa.array([value, None, value], dtype)

    for rows in (
        pa.table({"at": column, "n": [1, 2, 3]}),
        pa.record_batch({"at": column, "n": [1, 2, 3]}),
        pa.table({"at": pa.chunked_array([column.slice(1), column.slice(0, 1)]), "n": [1, 2, 3]}),
    ):
        converted = canonical(rows)

        assert converted.schema.types == [expected, pa.int64()]
        assert converted.to_pylist() == rows.to_pylist()
        converted.validate(full=True)


@pytest.mark.parametrize(
    "dtype", [IN_UTC, pa.timestamp("us"), pa.list_(IN_UTC), pa.map_(pa.string(), IN_UTC)], ids=str
)
def test_rows_that_have_these_types_come_back_themselves(dtype: Any) -> None:
    column = pa.nulls(1, dtype)
    for rows in (pa.table({"at": column}), pa.record_batch({"at": column})):
        assert canonical(rows) is rows


def test_an_hour_that_a_zone_has_twice_stays_two_instants() -> None:
    twice = [datetime(2020, 10, 25, hour, 30, tzinfo=UTC) for hour in (0, 1)]
    berlin = pa.table({"at": pa.array(twice, BERLIN)})

    assert [it.replace(tzinfo=None) for it in berlin.column("at").to_pylist()] == [
        datetime(2020, 10, 25, 2, 30)
    ] * 2
    assert canonical(berlin).column("at").to_pylist() == [
        it.astimezone(ZoneInfo("UTC")) for it in twice
    ]

"""A map in the ``element`` of a dropped row is an object if its keys are texts, else entries."""

from datetime import date
from typing import Any, Final

import pyarrow as pa
import pytest

import beamlike as bl

MAPS: Final[dict[str, tuple[pa.DataType, Any, str]]] = {
    "texts": (pa.map_(pa.string(), pa.int64()), [("a", 1), ("b", None)], '{"a":1,"b":null}'),
    "numbers": (
        pa.map_(pa.int64(), pa.string()),
        [(-1, "x"), (2, None)],
        '[{"key":-1,"value":"x"},{"key":2,"value":null}]',
    ),
    "bytes": (
        pa.map_(pa.binary(), pa.bool_()),
        [(b"\0\xff", True)],
        '[{"key":"AP8=","value":true}]',
    ),
    "maps": (
        pa.map_(pa.date32(), pa.list_(pa.map_(pa.int64(), pa.int64()))),
        [(date(1582, 10, 4), [[(1, 2)], []])],
        '[{"key":"1582-10-04","value":[[{"key":1,"value":2}],[]]}]',
    ),
    "none": (pa.map_(pa.int64(), pa.int64()), [], "[]"),
}


@pytest.mark.parametrize("keys", MAPS)
def test_a_map_is_written_so_that_it_can_be_read(keys: str) -> None:
    dtype, value, text = MAPS[keys]
    table = pa.table({"k": ["a"], "at": ["no idea"], "m": pa.array([value], dtype)})
    dropped = bl.windowed(
        table,
        key="k",
        timestamp="at",
        window=bl.FixedWindows("1 hour"),
        aggregate={"n": bl.count()},
        carry="m",
        output="dropped",
    )
    (row,) = dropped.to_pylist()
    assert row["dropped"]["element"] == f'{{"k":"a","at":"no idea","m":{text}}}'

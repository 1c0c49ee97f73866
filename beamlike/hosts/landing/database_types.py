"""Columns of Arrow as those of databases: the types, and the values that these take."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, cast

from beamlike.hosts.landing.value_types import USUAL, ValueType, value_type

if TYPE_CHECKING:
    import pyarrow as pa

Types = Mapping[ValueType, str]
"""What a database calls its types. Lists, structs and maps are JSON in a string."""

JSON_TYPES: Final[frozenset[ValueType]] = USUAL | {"time", "null"}
"""What may be inside of a list, a struct or a map that becomes JSON."""

_TYPES: Final = """
          SQLite   DuckDB                    Postgres
bool      BOOLEAN  BOOLEAN                   boolean
int       INTEGER  BIGINT                    bigint
float     REAL     DOUBLE                    double precision
string    TEXT     VARCHAR                   text
bytes     BLOB     BLOB                      bytea
date      TEXT     DATE                      date
time      TEXT     TIME                      time without time zone
instant   TEXT     TIMESTAMP WITH TIME ZONE  timestamp with time zone
local     TEXT     TIMESTAMP                 timestamp without time zone
decimal   TEXT     DECIMAL({precision},{scale})  numeric
interval  -        INTERVAL                  interval
"""


def types_of(database: str) -> Types:
    """What a database calls its types."""
    databases, *rows = (re.split("  +", line.strip()) for line in _TYPES.strip().splitlines())
    column = 1 + databases.index(database)
    types: Any = {row[0]: row[column] for row in rows if row[column] != "-"}
    return cast(Types, types)


_AS_STRING: Final = frozenset(("list", "struct", "map", "null"))


def sql_types(schema: "pa.Schema", types: Types) -> dict[str, str]:
    """The type of each column in a database."""
    return {field.name: _sql_type(field.type, types) for field in schema}


def _sql_type(dtype: "pa.DataType", types: Types) -> str:
    held = value_type(dtype)
    assert held is not None, f"{dtype} was to be refused"
    if held == "decimal":
        return types[held].format(precision=dtype.precision, scale=dtype.scale)
    return types["string" if held in _AS_STRING else held]


def column_types(types: Types) -> frozenset[ValueType]:
    """What a column of a database may be."""
    return frozenset(types) | {"list", "struct", "map", "null"}


def cells(rows: "pa.Table", *, instants_as_text: bool) -> Iterator[tuple[Any, ...]]:
    """The rows as statements take them.

    Args:
        instants_as_text: Dates, times and decimals are texts: instants in UTC, as ISO 8601.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, list | dict | tuple):
            return to_json(value)
        if instants_as_text and isinstance(value, date | time | Decimal):
            return plain(value)
        return value

    columns = [map(cell, column.to_pylist()) for column in rows.columns]
    yield from zip(*columns, strict=True)


def flat(rows: "pa.Table") -> "pa.Table":
    """Rows in which lists, structs and maps are JSON in a text."""
    import pyarrow as pa

    for index, field in enumerate(rows.schema):
        if pa.types.is_nested(field.type):
            texts = [
                None if value is None else to_json(value)
                for value in rows.column(index).to_pylist()
            ]
            rows = rows.set_column(index, field.name, pa.array(texts, pa.string()))
    return rows


def to_json(value: Any) -> str:
    """A value as JSON of ASCII, which every reader of JSON takes: see `plain`."""
    return json.dumps(plain(value), allow_nan=False)


def plain(value: Any) -> Any:
    """A value in what JSON has: numbers that are none by their names, as Spark's ``to_json`` does,
    bytes as hexadecimal digits, decimals and times as texts, a map as a list of pairs."""
    match value:
        case float() if not math.isfinite(value):
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
        case dict():
            return {name: plain(item) for name, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).isoformat(sep=" ")
        case date() | time():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return value.hex()
    return value

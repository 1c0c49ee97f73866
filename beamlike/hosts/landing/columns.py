"""Columns of Arrow as those of databases: the types, and the values that these take."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

Types = Mapping[
    Literal["bool", "int", "float", "string", "bytes", "date", "instant", "decimal"], str
]
"""What a database calls its types. Lists, structs and maps are JSON in a string."""


def sql_types(schema: "pa.Schema", types: Types) -> dict[str, str]:
    """The type of each column in a database."""
    return {field.name: _sql_type(field.type, types) for field in schema}


def _sql_type(kind: "pa.DataType", types: Types) -> str:
    import pyarrow.types as pt

    if pt.is_boolean(kind):
        return types["bool"]
    if pt.is_integer(kind):
        return types["int"]
    if pt.is_floating(kind):
        return types["float"]
    if pt.is_binary(kind) or pt.is_large_binary(kind):
        return types["bytes"]
    if pt.is_date(kind):
        return types["date"]
    if pt.is_timestamp(kind):
        return types["instant"]
    if pt.is_decimal(kind):
        return types["decimal"].format(precision=kind.precision, scale=kind.scale)
    return types["string"]


def cells(rows: "pa.Table", *, instants_as_text: bool) -> Iterator[tuple[Any, ...]]:
    """The rows as statements take them.

    Args:
        rows: The rows.
        instants_as_text: Dates, times and decimals are texts: times in UTC, as ISO 8601.
    """

    def cell(value: Any) -> Any:
        if isinstance(value, list | dict | tuple):
            return json.dumps(_plain(value))
        if instants_as_text and isinstance(value, datetime | date | Decimal):
            return _plain(value)
        return value

    columns = [map(cell, column.to_pylist()) for column in rows.columns]
    yield from zip(*columns, strict=True)


def flat(rows: "pa.Table") -> "pa.Table":
    """The same rows, where lists, structs and maps are JSON in a text."""
    import pyarrow as pa

    for at, field in enumerate(rows.schema):
        if pa.types.is_nested(field.type):
            texts = [
                None if value is None else json.dumps(_plain(value))
                for value in rows.column(at).to_pylist()
            ]
            rows = rows.set_column(at, field.name, pa.array(texts, pa.string()))
    return rows


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {name: _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case datetime():
            return (value.astimezone(UTC) if value.tzinfo else value).isoformat(sep=" ")
        case date():
            return value.isoformat()
        case Decimal():
            return str(value)
        case bytes():
            return value.hex()
    return value

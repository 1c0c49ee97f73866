"""Rows that a test sends to a query: their types, and what is wrong with them."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from beamlike.errors import ColumnError, TestStreamError, TimeError
from beamlike.hosts.finding import is_struct_type
from beamlike.model.time import event_time_us

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]

SchemaLike = Any
"""``"user string, at timestamp"``, a ``StructType`` of PySpark or a schema of pyarrow."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
ALONE: Final = "input"
"""The name of an input that has none."""


def input_schemas(inputs: SchemaLike | Mapping[str, SchemaLike]) -> dict[str, "pa.Schema"]:
    """The inputs of a query by name, with the types of their columns."""
    named = inputs if isinstance(inputs, Mapping) else {ALONE: inputs}
    if not named:
        raise TestStreamError(
            'inputs must have the columns of at least one frame, such as "user string, at '
            'timestamp", or {"orders": "...", "payments": "..."}'
        )
    for name in named:
        if not isinstance(name, str) or not name.isidentifier():
            raise TestStreamError(
                f"the name of an input is that of a parameter of the query's function, got {name!r}"
            )
    return {name: _schema(name, given) for name, given in named.items()}


def _schema(name: str, given: SchemaLike) -> "pa.Schema":
    import pyarrow as pa

    from beamlike.runtime.ddl import read_columns
    from beamlike.runtime.sql_types import arrow_type, type_text, usual_schema

    if isinstance(given, str):
        schema = read_columns(given)
    elif is_struct_type(given):
        from beamlike.hosts.pyspark_types import schema_of

        schema = schema_of(given)
    else:
        schema = given
    if not isinstance(schema, pa.Schema):
        raise TestStreamError(
            f'{name}: columns are given as "user string, at timestamp" or as a StructType of '
            f"pyspark, got {given!r}"
        )
    schema = usual_schema(schema, name)
    for field in schema:
        dtype = arrow_type(field, name)
        if pa.types.is_duration(dtype) or pa.types.is_null(dtype):
            raise ColumnError(
                f"{name}: a column of the type {type_text(field)} cannot be sent; "
                "make it in the query's function of another one"
            )
    return schema


def typed_rows(name: str, schema: "pa.Schema", rows: Sequence[Row]) -> "pa.Table":
    """Rows as a table with the types of an input. A column that a row leaves out is null."""
    import pyarrow as pa

    for row in rows:
        if not isinstance(row, Mapping):
            raise TestStreamError(
                f'a row is a mapping of columns to values, such as {{"user": "ann"}}, got {row!r}'
            )
        unknown = [column for column in row if column not in schema.names]
        if unknown:
            known = ", ".join(map(repr, schema.names))
            raise TestStreamError(
                f"{name} has no column {unknown[0]!r}; its columns are {known}, and the row is "
                f"{dict(row)!r}"
            )
    columns = [_column(name, field, [row.get(field.name) for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(name: str, field: "pa.Field", values: Sequence[Any]) -> "pa.Array":
    import pyarrow as pa

    if all(_fits(value, field.type) for value in values):
        return pa.array([_value(value, field.type) for value in values], field.type)
    wrong = next(value for value in values if not _fits(value, field.type))
    raise TestStreamError(
        f"column {field.name!r} of {name} is {field.type}, and {wrong!r} is no such value"
    )


def _fits(value: Any, kind: "pa.DataType") -> bool:
    import pyarrow as pa

    try:
        pa.array([_value(value, kind)], kind)
    except (pa.ArrowException, TimeError, TypeError, ValueError, OverflowError):
        return False
    return True


def _value(value: Any, kind: "pa.DataType") -> Any:
    """A value as Arrow takes it: times may be written as in a test stream."""
    import pyarrow as pa

    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        if isinstance(value, datetime):
            moment = value.replace(tzinfo=value.tzinfo or UTC)
        else:
            moment = _EPOCH + timedelta(microseconds=event_time_us(value, "time"))
        return moment if kind.tz else moment.astimezone(UTC).replace(tzinfo=None)
    if pa.types.is_date(kind) and isinstance(value, str):
        return date.fromisoformat(value)
    if isinstance(value, bool) != pa.types.is_boolean(kind) and not pa.types.is_nested(kind):
        raise TypeError(value)  # Arrow would take it for 1
    if pa.types.is_floating(kind) and isinstance(value, int):
        return float(value)
    return value

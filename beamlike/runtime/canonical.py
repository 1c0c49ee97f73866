"""Rows from outside in the types that plans, saved state and tables name.

Settings of a Spark session choose the types in which Arrow holds its columns:
``spark.sql.session.timeZone`` the zone of timestamps, which is no part of an instant, and
``spark.sql.execution.arrow.useLargeVarTypes`` how long texts are counted. The values are the same.
"""

from typing import TypeVar

import pyarrow as pa

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def canonical(rows: Rows) -> Rows:
    """The rows with each instant in UTC, and texts and bytes in their usual types, at any depth.

    Timestamps without a zone stay as they are: they are not instants. Rows that have these types
    come back themselves.
    """
    schema = rows.schema
    wanted = [_canonical_field(field) for field in schema]
    return rows if wanted == list(schema) else rows.cast(pa.schema(wanted, schema.metadata))


def canonical_type(dtype: pa.DataType) -> pa.DataType:
    """The type that equal values have under all settings.

    >>> str(canonical_type(pa.list_(pa.timestamp("us", "Europe/Berlin"))))
    'list<item: timestamp[us, tz=UTC]>'
    >>> str(canonical_type(pa.large_string()))
    'string'
    """
    if pa.types.is_timestamp(dtype):
        return dtype if dtype.tz is None else pa.timestamp(dtype.unit, "UTC")
    if pa.types.is_large_string(dtype):
        return pa.string()
    if pa.types.is_large_binary(dtype):
        return pa.binary()
    if pa.types.is_struct(dtype):
        return pa.struct([_canonical_field(field) for field in dtype])
    if pa.types.is_map(dtype):
        key, item = map(_canonical_field, (dtype.key_field, dtype.item_field))
        return pa.map_(key, item, dtype.keys_sorted)
    if pa.types.is_list(dtype):
        return pa.list_(_canonical_field(dtype.value_field))
    if pa.types.is_large_list(dtype):
        return pa.large_list(_canonical_field(dtype.value_field))
    return dtype


def _canonical_field(field: pa.Field) -> pa.Field:
    return field.with_type(canonical_type(field.type))

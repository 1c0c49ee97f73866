"""Instants that arrive from outside, all in one zone.

Spark hands timestamps over in the time zone of its session, files and tables in the one in which
they were written. The zone is part of the type in Arrow, and no part of an instant: plans, saved
state and tables name UTC.
"""

from typing import TypeVar

import pyarrow as pa

Rows = TypeVar("Rows", pa.Table, pa.RecordBatch)


def in_utc(rows: Rows) -> Rows:
    """The rows with each instant in UTC, also those in structs, arrays and maps.

    Timestamps without a zone stay as they are: they are not instants. Rows without another zone
    come back themselves.
    """
    schema = rows.schema
    wanted = [field.with_type(utc_type(field.type)) for field in schema]
    # A chunk at a time: Arrow only writes another type beside the same bytes.
    return rows if wanted == list(schema) else rows.cast(pa.schema(wanted, schema.metadata))


def utc_type(dtype: pa.DataType) -> pa.DataType:
    """The type with UTC in place of another zone, at any depth.

    >>> str(utc_type(pa.list_(pa.timestamp("us", "Europe/Berlin"))))
    'list<item: timestamp[us, tz=UTC]>'
    """
    if pa.types.is_timestamp(dtype):
        return dtype if dtype.tz is None else pa.timestamp(dtype.unit, "UTC")
    if pa.types.is_struct(dtype):
        return pa.struct([_in_utc(field) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(_in_utc(dtype.key_field), _in_utc(dtype.item_field), dtype.keys_sorted)
    if pa.types.is_list(dtype):
        return pa.list_(_in_utc(dtype.value_field))
    if pa.types.is_large_list(dtype):
        return pa.large_list(_in_utc(dtype.value_field))
    return dtype


def _in_utc(field: pa.Field) -> pa.Field:
    return field.with_type(utc_type(field.type))

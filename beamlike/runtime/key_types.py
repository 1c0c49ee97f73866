"""Types whose equal values have equal bytes here, so that keys are grouped as SQL groups them.

Keys and values are compared as Arrow has them. A collation makes values equal that differ there
(``a`` and ``A`` under ``UTF8_LCASE``), by rules that Spark has and SQL does not give away. Spark's
own stateful operators refuse such keys too.
"""

from typing import Final

import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.runtime.frame_columns import FrameColumns
from beamlike.runtime.sql_types import arrow_type, collation_in, type_text

_OF_PARTS: Final = ("array", "map", "struct", "variant")


def is_number(dtype: pa.DataType) -> bool:
    """Whether values of a type can be added."""
    return bool(
        pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal128(dtype)
    )


def is_comparable(field: pa.Field) -> bool:
    """Whether two values of a column can be compared here as SQL compares them."""
    dtype = field.type
    return collation_in(field) is None and (
        is_number(dtype)
        or pa.types.is_boolean(dtype)
        or pa.types.is_string(dtype)
        or pa.types.is_binary(dtype)
        or pa.types.is_date32(dtype)
        or pa.types.is_timestamp(dtype)
        or pa.types.is_time(dtype)
        or pa.types.is_duration(dtype)
    )


def check_key(columns: FrameColumns, name: str, argument: str) -> pa.DataType:
    """The type of a column that is to be a key.

    Raises:
        ColumnError: It is missing, or its type has no equality that holds here.
    """
    field = columns.field(name, argument)
    dtype = arrow_type(field, argument)
    if is_comparable(field):
        return dtype
    shown = f"{argument}: column {name!r} is {type_text(field)}"
    if pa.types.is_null(dtype):
        raise ColumnError(
            f"{shown}: all its values are null, and a row without a key is dropped; give it "
            "values, or leave it out of the key"
        )
    if pa.types.is_string(dtype):
        raise ColumnError(
            f"{shown}, which Spark groups by other rules than its characters; "
            f"{without_collation(field)}"
        )
    if not type_text(field).startswith(_OF_PARTS):
        raise ColumnError(
            f"{shown}, which cannot be grouped by; cast it first, to a string or binary for example"
        )
    raise ColumnError(
        f"{shown}, which cannot be grouped by; use its parts as key columns, or to_json of it"
    )


def has_map(dtype: pa.DataType) -> bool:
    """Whether values of a type are maps, or have maps in them."""
    if pa.types.is_list(dtype):
        return has_map(dtype.value_type)
    if pa.types.is_struct(dtype):
        return any(has_map(field.type) for field in dtype)
    return bool(pa.types.is_map(dtype))


def without_collation(field: pa.Field) -> str:
    """How to make a column of plain strings that are equal where those of a collation are."""
    collation = collation_in(field)
    if collation is None or not pa.types.is_string(field.type):
        return "cast it to a type with plain strings first"
    plain = f'F.collate("{field.name}", "UTF8_BINARY")'
    if collation.endswith("_RTRIM"):
        plain, collation = f"F.rtrim({plain})", collation.removesuffix("_RTRIM")
    if collation.endswith("_LCASE") or "_CI" in collation:
        plain = f"F.lower({plain})"
    return f'make it a plain string first, for example df.withColumn("{field.name}", {plain})'

"""Arrow types by the names that SQL has for them, and what Arrow does not say of a column.

A column is described by an Arrow field. Where a host knows more of its type than Arrow does, the
metadata of the field has it: `typed_field`.
"""

from typing import Final

import pyarrow as pa

from beamlike.errors import ColumnError
from beamlike.runtime.row_metadata import types_in

_SQL_TYPE: Final = b"beamlike.sql_type"
_COLLATION: Final = b"beamlike.collation"
_FOREIGN: Final = b"beamlike.foreign"

PLAIN: Final = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp_ntz",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.time64("ns"): "time(6)",
    pa.duration("us"): "interval day to second",
    pa.null(): "void",
}
"""The name in SQL of each type without parts."""


def typed_field(
    name: str,
    dtype: pa.DataType | None,
    sql_type: str,
    *,
    nullable: bool = True,
    collation: str | None = None,
) -> pa.Field:
    """A column of a host whose types are those of SQL.

    Args:
        name: Its name.
        dtype: Its type in Arrow; None: Arrow has none, so the column can only be passed by.
        sql_type: Its type in SQL.
        nullable: Whether it may be null.
        collation: That of its strings, at any depth; None: they are compared by their characters.
    """
    metadata = {}
    if dtype is None:
        dtype, metadata[_FOREIGN] = pa.null(), b"1"
    if sql_text(dtype) != sql_type or metadata:
        metadata[_SQL_TYPE] = sql_type.encode()
    if collation is not None:
        metadata[_COLLATION] = collation.encode()
    return pa.field(name, dtype, nullable or pa.types.is_null(dtype), metadata or None)


def sql_text(dtype: pa.DataType) -> str:
    """The name of a type in SQL; Arrow's own where SQL has none.

    >>> sql_text(pa.list_(pa.int64())), sql_text(pa.struct([("a", pa.decimal128(5, 2))]))
    ('array<bigint>', 'struct<a:decimal(5,2)>')
    """
    if dtype in PLAIN:
        return PLAIN[dtype]
    if pa.types.is_decimal128(dtype):
        return f"decimal({dtype.precision},{dtype.scale})"
    if pa.types.is_list(dtype):
        return f"array<{sql_text(dtype.value_type)}>"
    if pa.types.is_map(dtype):
        return f"map<{sql_text(dtype.key_type)},{sql_text(dtype.item_type)}>"
    if pa.types.is_struct(dtype):
        return f"struct<{','.join(f'{field.name}:{sql_text(field.type)}' for field in dtype)}>"
    return str(dtype)


def type_text(field: pa.Field) -> str:
    """The type of a column as its user knows it."""
    known = (field.metadata or {}).get(_SQL_TYPE)
    return sql_text(field.type) if known is None else known.decode()


def collation_in(field: pa.Field) -> str | None:
    """The collation of a column's strings, at any depth; None if characters are compared."""
    known = (field.metadata or {}).get(_COLLATION)
    return None if known is None else known.decode()


def has_arrow_type(field: pa.Field) -> bool:
    """Whether Arrow has the type of a column; of intervals of months, for one, it has none."""
    return _FOREIGN not in (field.metadata or {})


def arrow_type(field: pa.Field, argument: str) -> pa.DataType:
    """The type of a column as Arrow has it.

    Raises:
        ColumnError: Arrow has none for it.
    """
    if not has_arrow_type(field):
        raise ColumnError(
            f"{argument}: column {field.name!r} is {type_text(field)}, for which there is no Arrow "
            "type; cast it first, to a string for example"
        )
    return field.type


# -- types that SQL has not ------------------------------------------------------------------


def usual_type(dtype: pa.DataType) -> pa.DataType:
    """The type that stands for another one in queries; the same where SQL has none for it.

    >>> str(usual_type(pa.dictionary(pa.int32(), pa.large_string()))), str(usual_type(pa.uint32()))
    ('string', 'int64')
    """
    is_a = pa.types
    if is_a.is_dictionary(dtype) or is_a.is_run_end_encoded(dtype):
        return usual_type(dtype.value_type)
    if is_a.is_large_string(dtype) or is_a.is_string_view(dtype):
        return pa.string()
    if is_a.is_large_binary(dtype) or is_a.is_binary_view(dtype) or _is_fixed_binary(dtype):
        return pa.binary()
    if dtype in _WIDER:
        return _WIDER[dtype]
    if is_a.is_timestamp(dtype):
        return pa.timestamp("us", None if dtype.tz is None else "UTC")
    if is_a.is_duration(dtype):
        return pa.duration("us")
    if is_a.is_decimal(dtype) and dtype.precision <= 38:
        return pa.decimal128(dtype.precision, dtype.scale)
    if is_a.is_map(dtype):
        return pa.map_(usual_type(dtype.key_type), usual_type(dtype.item_type))
    if is_a.is_struct(dtype):
        return pa.struct([(field.name, usual_type(field.type)) for field in dtype])
    if is_a.is_nested(dtype) and hasattr(dtype, "value_type"):  # lists of each make
        return pa.list_(usual_type(dtype.value_type))
    return dtype


def _is_fixed_binary(dtype: pa.DataType) -> bool:
    return pa.types.is_fixed_size_binary(dtype) and not pa.types.is_decimal(dtype)


_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.time32("s"): pa.time64("ns"),
    pa.time32("ms"): pa.time64("ns"),
    pa.time64("us"): pa.time64("ns"),
}


def usual_schema(schema: pa.Schema, argument: str) -> pa.Schema:
    """Columns that a user declares, in types that SQL has, see `usual_type`.

    Raises:
        ColumnError: Nothing in SQL stands for the type of a column.
    """
    fields = [
        field if _is_usual(field.type) else field.with_type(usual_type(field.type))
        for field in schema
    ]
    for field in fields:
        if not _is_usual(field.type):
            raise ColumnError(
                f"{argument}: column {field.name!r} is {type_text(field)}, and SQL has no such "
                "type; declare another one"
            )
    return pa.schema(fields)


def _is_usual(dtype: pa.DataType) -> bool:
    """Whether SQL has a type."""
    is_a = pa.types
    known = (is_a.is_struct, is_a.is_map, is_a.is_list, is_a.is_decimal128)
    return all(part in PLAIN or any(is_such(part) for is_such in known) for part in types_in(dtype))

"""Arrow types by the names that SQL has for them, and what Arrow does not say of a column.

A column is described by an Arrow field. Where a host knows more of its type than Arrow does, the
metadata of the field has it: `typed_field`.
"""

from typing import Final

import pyarrow as pa

from beamlike.errors import ColumnError

_SQL_TYPE: Final = b"beamlike.sql_type"
_COLLATION: Final = b"beamlike.collation"
_FOREIGN: Final = b"beamlike.foreign"

_PLAIN: Final = {
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
    pa.duration("us"): "interval day to second",
    pa.null(): "void",
}


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
    if dtype in _PLAIN:
        return _PLAIN[dtype]
    if pa.types.is_decimal128(dtype):
        return f"decimal({dtype.precision},{dtype.scale})"
    if pa.types.is_list(dtype):
        return f"array<{sql_text(dtype.value_type)}>"
    if pa.types.is_map(dtype):
        return f"map<{sql_text(dtype.key_type)},{sql_text(dtype.item_type)}>"
    if pa.types.is_struct(dtype):
        return f"struct<{','.join(f'{it.name}:{sql_text(it.type)}' for it in dtype)}>"
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

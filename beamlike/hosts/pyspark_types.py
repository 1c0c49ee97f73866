"""Types of Spark as Arrow fields and back: the border between a session and everything else.

This module stands beside the hosts, because rows of the host ``local`` may be declared with types
of PySpark, and be changed by its expressions.
"""

import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type

from beamlike.runtime import sql_types
from beamlike.runtime.sql_types import typed_field

_TAKES_ZONE = "timezone" in inspect.signature(to_arrow_type).parameters
IN_UTC: dict[str, Any] = {"timezone": "UTC"} if _TAKES_ZONE else {}
"""What makes Arrow types of Spark's in UTC. PySpark 4.3 requires a zone; before that it was UTC.

Rows arrive in the zone of the session: see `beamlike.runtime.row_metadata`.
"""


def schema_of(columns: T.StructType) -> pa.Schema:
    """Columns of a DataFrame as fields of Arrow."""
    return pa.schema(
        [field_of(field.name, field.dataType, nullable=field.nullable) for field in columns.fields]
    )


def field_of(name: str, spark_type: T.DataType, *, nullable: bool = True) -> pa.Field:
    """A column, with what Arrow does not say of its type."""
    dtype = None
    if not is_sealed(spark_type):
        with suppress(PySparkException):
            dtype = to_arrow_type(spark_type, **IN_UTC)
    collation = _collation_in(spark_type)
    text = spark_type.simpleString()
    return typed_field(name, dtype, text, nullable=nullable, collation=collation)


def types_in(spark_type: T.DataType) -> Iterator[T.DataType]:
    """A type, and all types inside of it."""
    yield spark_type
    inner: list[T.DataType] = []
    match spark_type:
        case T.ArrayType():
            inner = [spark_type.elementType]
        case T.MapType():
            inner = [spark_type.keyType, spark_type.valueType]
        case T.StructType():
            inner = [field.dataType for field in spark_type.fields]
    for dtype in inner:
        yield from types_in(dtype)


def is_sealed(spark_type: T.DataType) -> bool:
    """Whether values of a type come as structs of bytes that only Spark can read, or have some."""
    sealed = ("VariantType", "GeometryType", "GeographyType")
    return any(type(dtype).__name__ in sealed for dtype in types_in(spark_type))


def arrow_type(spark_type: T.DataType, name: str, argument: str) -> pa.DataType:
    """The type of a column as Arrow has it."""
    return sql_types.arrow_type(field_of(name, spark_type), argument)


def spark_type(dtype: pa.DataType) -> T.DataType:
    """The type of Spark for values of an Arrow type."""
    return from_arrow_type(dtype, prefer_timestamp_ntz=True)


def spark_schema(schema: pa.Schema) -> T.StructType:
    """The columns of Spark that some fields describe."""
    return T.StructType(
        [T.StructField(field.name, _spark_type_of(field), field.nullable) for field in schema]
    )


def frame_of(spark: Any, rows: pa.Table) -> Any:
    """Rows of Arrow as a DataFrame: a time without a zone is a ``timestamp_ntz``.

    PySpark before 4.3 makes a ``timestamp`` of it, in the zone of the session.
    """
    return spark.createDataFrame(rows, spark_schema(rows.schema))


def _spark_type_of(field: pa.Field) -> T.DataType:
    text = sql_types.type_text(field)
    if text == sql_types.sql_text(field.type):
        return spark_type(field.type)
    return T.DataType.fromDDL(text)


def _collation_in(spark_type: T.DataType) -> str | None:
    """The collation of a string, or of one in a value of a type; None for plain strings."""
    strings = (dtype for dtype in types_in(spark_type) if isinstance(dtype, T.StringType))
    return next((dtype.collation for dtype in strings if not dtype.isUTF8BinaryCollation()), None)

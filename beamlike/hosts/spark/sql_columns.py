"""Columns of a DataFrame in SQL, and their types as `beamlike.runtime` knows them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from beamlike.hosts.landing.landed_columns import backquoted
from beamlike.hosts.pyspark_types import schema_of, spark_type, types_in
from beamlike.runtime.frame_columns import FrameColumns, Input
from beamlike.runtime.json_rows import TO_JSON
from beamlike.runtime.output import READABLE
from beamlike.runtime.row_metadata import MARKS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def column(name: str) -> "Column":
    """The column of exactly this name, dots and backticks included."""
    return F.col(backquoted(name))


def mark(field: str) -> "Column":
    """One field of the hidden column."""
    return F.col(f"{MARKS}.{field}")


def is_data() -> "Column":
    """Whether a row is data: one of the user's rows."""
    return mark("kind").isNull()


def columns_of(df: "DataFrame") -> FrameColumns:
    """The columns of a DataFrame, and how its session compares their names."""
    sensitive = df.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    return FrameColumns(schema_of(df.schema), sensitive)


def type_of(df: "DataFrame", name: str, argument: str) -> T.DataType:
    """The type of a column. There must be exactly one of this name."""
    columns_of(df).field(name, argument)
    return df.schema[name].dataType


def value_expression(df: "DataFrame", needed: Input) -> "Column":
    """A column as a value of a plan; null where it cannot be read."""
    source = column(needed.source)
    if needed.cast:
        return source.try_cast(spark_type(needed.dtype))
    return readable(source, df.schema[needed.source].dataType)


def readable(value: "Column", dtype: T.DataType) -> "Column":
    """A value, or null if it is a date or a time that Python cannot represent.

    A struct, an array or a map with such a value in it becomes null as a whole.
    """
    if isinstance(dtype, T.TimestampType):
        return F.when(F.unix_micros(value).between(READABLE[0], READABLE[-1]), value)
    if isinstance(dtype, T.DateType | T.TimestampNTZType):
        return F.when(F.year(value).between(1, 9999), value)
    if isinstance(dtype, T.StructType):
        return _readable_struct(value, dtype)
    if isinstance(dtype, T.ArrayType) and _has_times(dtype):
        return F.when(~_has_unreadable(value, dtype.elementType), value)
    if isinstance(dtype, T.MapType) and _has_times(dtype):
        keys = _has_unreadable(F.map_keys(value), dtype.keyType)
        return F.when(~(keys | _has_unreadable(F.map_values(value), dtype.valueType)), value)
    return value


def _has_times(dtype: T.DataType) -> bool:
    """Whether a date or a time may be in values of a type. Most arrays need no look inside."""
    times = T.DateType | T.TimestampType | T.TimestampNTZType
    return any(isinstance(inner, times) for inner in types_in(dtype))


def _has_unreadable(values: "Column", dtype: T.DataType) -> "Column":
    """Whether an array has a value that cannot be read; null if the array is null."""
    if not _has_times(dtype):
        return F.lit(False)
    return F.exists(values, lambda value: value.isNotNull() & readable(value, dtype).isNull())


def _readable_struct(value: "Column", struct: T.StructType) -> "Column":
    """A struct, or null if it has a value that cannot be read."""
    unreadable = F.lit(False)
    for item, dtype in _items_of(value, struct):
        if _has_times(dtype):
            unreadable |= item.isNotNull() & readable(item, dtype).isNull()
    return F.when(~unreadable, value)


def _items_of(value: "Column", struct: T.StructType) -> list[tuple["Column", T.DataType]]:
    """The fields of a struct, and their types.

    Spark cannot tell fields apart whose names differ only in case: these are numbered first.
    """
    names = struct.fieldNames()
    if len({name.lower() for name in names}) < len(names):
        names = [f"f{index}" for index in range(len(names))]
        numbered = zip(names, struct.fields, strict=True)
        fields = [T.StructField(name, field.dataType, field.nullable) for name, field in numbered]
        value = value.cast(T.StructType(fields))
    return [
        (value.getField(name), field.dataType)
        for name, field in zip(names, struct.fields, strict=True)
    ]


# -- rows as JSON ----------------------------------------------------------------------------


def as_json(row: Mapping[str, tuple["Column", T.DataType]]) -> "Column":
    """A row as `beamlike.runtime.json_rows` writes it."""
    fields = (_with_entries(value, dtype).alias(name) for name, (value, dtype) in row.items())
    return F.to_json(F.struct(*fields), dict(TO_JSON))


def _with_entries(value: "Column", dtype: T.DataType) -> "Column":
    """A value in which maps are arrays of their entries, unless their keys are strings."""
    if not _has_other_keys(dtype):
        return value
    match dtype:
        case T.ArrayType():
            return F.transform(value, lambda item: _with_entries(item, dtype.elementType))
        case T.MapType() if isinstance(dtype.keyType, T.StringType):
            return F.transform_values(value, lambda _, item: _with_entries(item, dtype.valueType))
        case T.MapType():
            return F.transform(
                F.map_entries(value),
                lambda entry: F.struct(
                    _with_entries(entry["key"], dtype.keyType).alias("key"),
                    _with_entries(entry["value"], dtype.valueType).alias("value"),
                ),
            )
    assert isinstance(dtype, T.StructType), "nothing else has parts"
    items = zip(dtype.fieldNames(), _items_of(value, dtype), strict=True)
    fields = (_with_entries(*item).alias(name) for name, item in items)
    return F.when(value.isNotNull(), F.struct(*fields))


def _has_other_keys(dtype: T.DataType) -> bool:
    """Whether maps may be in values of a type whose keys are no strings."""
    maps = (inner for inner in types_in(dtype) if isinstance(inner, T.MapType))
    return any(not isinstance(inner.keyType, T.StringType) for inner in maps)

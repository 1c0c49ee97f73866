"""Types whose equal values have equal bytes here, so that keys are grouped as Spark groups them.

Keys and values are compared as Arrow has them. A collation makes values equal that differ there
(``a`` and ``A`` under ``UTF8_LCASE``), by rules that Spark has and SQL does not give away. Spark's
own stateful operators refuse such keys too.
"""

from typing import TYPE_CHECKING, Final

from pyspark.sql import types as T

from beamlike.errors import ColumnError
from beamlike.hosts.spark.inputs import arrow_type, type_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COMPARABLE: Final = (
    T.BinaryType,
    T.BooleanType,
    T.DatetimeType,  # dates, both kinds of timestamps, times of the day
    T.DayTimeIntervalType,
    T.NumericType,
    T.StringType,
)
_OF_PARTS: Final = (T.ArrayType, T.MapType, T.StructType, T.VariantType)


def is_comparable(kind: T.DataType) -> bool:
    """Whether two values of a type can be compared here as Spark compares them."""
    return isinstance(kind, _COMPARABLE) and collation_in(kind) is None


def check_key(df: "DataFrame", name: str, argument: str) -> None:
    """Refuse a column that cannot be a key.

    Raises:
        ColumnError: It is missing, or its type has no equality that holds here.
    """
    kind = type_of(df, name, argument)
    if is_comparable(kind):
        return
    shown = f"{argument}: column {name!r} is {kind.simpleString()}"
    if isinstance(kind, T.NullType):
        raise ColumnError(
            f"{shown}: all its values are null, and a row without a key is dropped; give it "
            "values, or leave it out of the key"
        )
    if collation_in(kind) is not None and isinstance(kind, T.StringType):
        raise ColumnError(
            f"{shown}, which Spark groups by other rules than its characters; "
            f"{without_collation(kind, name)}"
        )
    if not isinstance(kind, _OF_PARTS):
        arrow_type(kind, name, argument)  # what has none is refused with that reason
        raise ColumnError(
            f"{shown}, which cannot be grouped by; cast it first, to a string or binary for example"
        )
    raise ColumnError(
        f"{shown}, which cannot be grouped by; use its parts as key columns, or to_json of it"
    )


def collation_in(kind: T.DataType) -> str | None:
    """The collation of a string, or of one in a value of a type; None for plain strings."""
    match kind:
        case T.StringType():
            return None if kind.isUTF8BinaryCollation() else kind.collation
        case T.ArrayType():
            return collation_in(kind.elementType)
        case T.MapType():
            return collation_in(kind.keyType) or collation_in(kind.valueType)
        case T.StructType():
            return next(filter(None, (collation_in(it.dataType) for it in kind.fields)), None)
    return None


def has_map(kind: T.DataType) -> bool:
    """Whether values of a type are maps, or have maps in them."""
    match kind:
        case T.ArrayType():
            return has_map(kind.elementType)
        case T.StructType():
            return any(has_map(it.dataType) for it in kind.fields)
    return isinstance(kind, T.MapType)


def without_collation(kind: T.DataType, name: str) -> str:
    """How to make a column of plain strings that are equal where those of a collation are."""
    if not isinstance(kind, T.StringType):
        return "cast it to a type with plain strings first"
    collation = kind.collation
    plain = f'F.collate("{name}", "UTF8_BINARY")'
    if collation.endswith("_RTRIM"):
        plain, collation = f"F.rtrim({plain})", collation.removesuffix("_RTRIM")
    if collation.endswith("_LCASE") or "_CI" in collation:
        plain = f"F.lower({plain})"
    return f'make it a plain string first, for example df.withColumn("{name}", {plain})'

"""Columns of a DataFrame: found by name, checked, and given a type in Arrow."""

import inspect
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from beamlike.errors import ColumnError
from beamlike.runtime.output import READABLE
from beamlike.runtime.row_metadata import MARKS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_TAKES_ZONE = "timezone" in inspect.signature(to_arrow_type).parameters
IN_UTC: dict[str, Any] = {"timezone": "UTC"} if _TAKES_ZONE else {}
"""What makes Arrow types of Spark's in UTC. PySpark 4.3 requires a zone; before that it was UTC.

Rows arrive in the zone of the session: see `beamlike.runtime.canonical`.
"""


class Frame(Protocol):
    """Rows of any host, as far as their columns go."""

    @property
    def columns(self) -> list[str]: ...
    @property
    def schema(self) -> T.StructType: ...
    @property
    def sparkSession(self) -> Any: ...


_NEEDED = (MARKS, "dropped")


def column(name: str) -> "Column":
    """The column of exactly this name, dots and backticks included."""
    return F.col("`" + name.replace("`", "``") + "`")


def mark(field: str) -> "Column":
    """One field of the hidden column."""
    return F.col(f"{MARKS}.{field}")


def is_data() -> "Column":
    """Whether a row is a row of the user's."""
    return mark("kind").isNull()


def type_of(df: Frame, name: str, argument: str) -> T.DataType:
    """The type of a column, which has to be there once.

    Raises:
        ColumnError: It is no name, or no column has it, or several have.
    """
    if not isinstance(name, str):
        raise ColumnError(f"{argument}: a column is given by its name, a string, got {name!r}")
    if name not in df.columns:
        known = ", ".join(map(repr, own_names(df)))
        raise ColumnError(f"{argument}: there is no column {name!r}; the columns are {known}")
    if duplicate(df, name, df.columns):
        raise ColumnError(
            f"{argument}: there is more than one column {name!r}; rename or drop the others"
        )
    return df.schema[name].dataType


def duplicate(df: Frame, name: str, names: Sequence[str]) -> bool:
    """Whether a name is there twice, as Spark reads names."""
    if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return names.count(name) > 1
    return Counter(other.lower() for other in names)[name.lower()] > 1


def own_names(df: Frame) -> list[str]:
    """The names of the columns, without the hidden one."""
    return [name for name in df.columns if name != MARKS]


def check_free(df: "DataFrame", names: Iterable[str], argument: str) -> None:
    """Refuse columns that the output of a stream would overwrite.

    Raises:
        ColumnError: A name is needed by the stream itself.
    """
    for name in names:
        if any(duplicate(df, needed, [needed, name]) for needed in _NEEDED):
            raise ColumnError(
                f"{argument}: the name {name!r} is needed here; give that column another one"
            )


def arrow_type(kind: T.DataType, name: str, argument: str) -> pa.DataType:
    """The type of a column as Arrow has it.

    Raises:
        ColumnError: Arrow has none for it.
    """
    try:
        return to_arrow_type(kind, **IN_UTC)
    except PySparkException as error:
        raise ColumnError(
            f"{argument}: column {name!r} is {kind.simpleString()}, for which there is no Arrow "
            "type; cast it first, to a string for example"
        ) from error


def has_arrow_type(kind: T.DataType) -> bool:
    """Whether Arrow has the type of a column; of intervals of months, for one, it has none."""
    try:
        to_arrow_type(kind, **IN_UTC)
    except PySparkException:
        return False
    return True


@attrs.frozen
class Input:
    """A value column of the plan: where it comes from and what it is cast to, if anything."""

    source: str
    kind: T.DataType
    cast: bool

    @property
    def expression(self) -> "Column":
        source = column(self.source)
        return source.try_cast(self.kind) if self.cast else readable(source, self.kind)


def readable(value: "Column", kind: T.DataType) -> "Column":
    """Null in place of the dates and times that Python has no value for.

    And in place of a struct, an array or a map in which there is one.
    """
    if isinstance(kind, T.TimestampType):
        return F.when(F.unix_millis(value).between(READABLE[0], READABLE[-1]), value)
    if isinstance(kind, T.DateType | T.TimestampNTZType):
        return F.when(F.year(value).between(1, 9999), value)
    if isinstance(kind, T.StructType):
        return _readable_struct(value, kind)
    if isinstance(kind, T.ArrayType) and _has_times(kind):
        return F.when(~_has_unreadable(value, kind.elementType), value)
    if isinstance(kind, T.MapType) and _has_times(kind):
        keys = _has_unreadable(F.map_keys(value), kind.keyType)
        return F.when(~(keys | _has_unreadable(F.map_values(value), kind.valueType)), value)
    return value


def _has_times(kind: T.DataType) -> bool:
    """Whether a date or a time may be in values of a type. Most arrays need no look inside."""
    match kind:
        case T.ArrayType():
            return _has_times(kind.elementType)
        case T.MapType():
            return _has_times(kind.keyType) or _has_times(kind.valueType)
        case T.StructType():
            return any(_has_times(field.dataType) for field in kind.fields)
    return isinstance(kind, T.DateType | T.TimestampType | T.TimestampNTZType)


def _has_unreadable(values: "Column", kind: T.DataType) -> "Column":
    """Whether anything in an array cannot be read; null if there is no array."""
    if not _has_times(kind):
        return F.lit(False)
    return F.exists(values, lambda it: it.isNotNull() & readable(it, kind).isNull())


def _readable_struct(value: "Column", kind: T.StructType) -> "Column":
    """Null in place of a struct in which anything cannot be read."""
    unreadable = F.lit(False)
    for field in kind.fields:
        own = value.getField(field.name)
        unreadable |= own.isNotNull() & readable(own, field.dataType).isNull()
    return F.when(~unreadable, value)

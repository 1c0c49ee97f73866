"""Binds a call of `beamlike.windowed` to the columns of a DataFrame.

Two things come out: the plan, and the SQL that turns any input row into the packer's columns,
with a reason for each row that cannot be grouped.
"""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import attrs
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from beamlike.errors import ColumnError
from beamlike.hosts.spark.columns import (
    AccumulatorColumns,
    ListColumn,
    MeanColumns,
    PlainColumn,
)
from beamlike.hosts.spark.output import READABLE, OutputTable
from beamlike.hosts.spark.plan import Part, Plan
from beamlike.model.aggregates import Aggregate
from beamlike.model.combine import Collect, CombineFn, Count, CountValues, Max, Mean, Min, Sum
from beamlike.model.strategy import WindowingStrategy

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["EVENT_TIME", "bind", "has_watermark", "packer_columns", "with_event_time"]

EVENT_TIME = "__beamlike_event_time"
WATERMARK_MARK = "spark.watermarkDelayMs"
"""How Spark marks the column of a watermark."""

# PySpark 4.3 asks for the zone of timestamps; before that it was always UTC.
_ASKS_FOR_ZONE = "timezone" in inspect.signature(to_arrow_type).parameters
_IN_UTC: dict[str, Any] = {"timezone": "UTC"} if _ASKS_FOR_ZONE else {}

_UNGROUPABLE = (T.ArrayType, T.MapType, T.StructType, T.VariantType)


def column(name: str) -> "Column":
    """The column of exactly this name, dots and backticks included."""
    return F.col("`" + name.replace("`", "``") + "`")


def _type_of(df: "DataFrame", name: str, argument: str) -> T.DataType:
    if not isinstance(name, str):
        raise ColumnError(f"{argument}: a column is given by its name, a string, got {name!r}")
    if name not in df.columns:
        known = ", ".join(repr(known) for known in df.columns)
        raise ColumnError(f"{argument}: there is no column {name!r}; the columns are {known}")
    if _duplicate(df, name, df.columns):
        raise ColumnError(
            f"{argument}: there is more than one column {name!r}; rename or drop the others"
        )
    return df.schema[name].dataType


def _duplicate(df: "DataFrame", name: str, names: Sequence[str]) -> bool:
    """Whether a name is there twice, as Spark reads names."""
    if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return names.count(name) > 1
    return Counter(other.lower() for other in names)[name.lower()] > 1


def _arrow_type(kind: T.DataType, name: str, argument: str) -> pa.DataType:
    try:
        return to_arrow_type(kind, **_IN_UTC)
    except PySparkException as error:
        raise ColumnError(
            f"{argument}: column {name!r} is {kind.simpleString()}, for which there is no Arrow "
            "type; cast it first, to a string for example"
        ) from error


@attrs.frozen
class Input:
    """A value column of the plan: where it comes from and what it is cast to, if anything."""

    source: str
    kind: T.DataType
    cast: bool

    @property
    def expression(self) -> "Column":
        source = column(self.source)
        return source.try_cast(self.kind) if self.cast else _readable(source, self.kind)


def bind(
    df: "DataFrame",
    strategy: WindowingStrategy,
    key: Sequence[str],
    timestamp: str,
    aggregate: Mapping[str, Aggregate],
    carry: Sequence[str],
    shards: int,
    buckets: int,
    on_error: Literal["drop", "fail"],
) -> tuple[Plan, dict[str, Input]]:
    """The plan of a grouping over ``df``, and the inputs of its aggregates by value name.

    Columns in ``carry`` go along as inputs that no aggregate asks for.

    Raises:
        ColumnError: A column is missing, has an unusable type, or a name is taken twice.
    """
    if EVENT_TIME in df.columns:
        raise ColumnError(f"the name {EVENT_TIME!r} is needed here; rename that column of df")
    keys = {name: _key_type(df, name) for name in key}
    _check_time(df, timestamp)
    inputs: dict[str, Input] = {}
    parts = [_part(df, name, wanted, inputs) for name, wanted in aggregate.items()]
    for name in carry:
        inputs.setdefault(name, Input(name, _type_of(df, name, "carry"), cast=False))
    values = {
        name: _arrow_type(given.kind, given.source, "aggregate") for name, given in inputs.items()
    }
    plan = Plan(strategy, keys, values, tuple(parts), shards, buckets, on_error)
    names = [*key, *OutputTable(plan).schema.names[len(keys) :]]
    for name in names:
        if _duplicate(df, name, names):
            raise ColumnError(
                f"the result would have two columns called {name!r} (it has {', '.join(names)}); "
                "rename the key column with withColumnRenamed, or the aggregate"
            )
    return plan, inputs


def _key_type(df: "DataFrame", name: str) -> pa.DataType:
    kind = _type_of(df, name, "key")
    if isinstance(kind, _UNGROUPABLE):
        raise ColumnError(
            f"key: column {name!r} is {kind.simpleString()}, which cannot be grouped by; use its "
            "parts as key columns, or to_json of it"
        )
    return _arrow_type(kind, name, "key")


def _check_time(df: "DataFrame", name: str) -> None:
    kind = _type_of(df, name, "timestamp")
    usable = (T.TimestampType, T.TimestampNTZType, T.DateType, T.StringType)
    if not isinstance(kind, usable):
        raise ColumnError(
            f"timestamp: column {name!r} is {kind.simpleString()}; make it a timestamp first, for "
            f'example df.withColumn("{name}", F.timestamp_millis("{name}"))'
        )


_NUMBERS = "a number"
_ORDERED = "a number, a string or a time"


def _part(df: "DataFrame", name: str, wanted: Aggregate, inputs: dict[str, Input]) -> Part:
    if not isinstance(wanted, Aggregate):
        raise ColumnError(
            f'aggregate: {name!r} must be an aggregate such as bl.count() or bl.sum("x"), '
            f"got {wanted!r}"
        )
    if wanted.column is None:
        return Part(name, Count(), None, PlainColumn(pa.int64()), pa.int64())
    kind = _type_of(df, wanted.column, f"aggregate {name!r}")
    target, fn, columns, result = _shape(name, wanted, kind)
    needed = Input(wanted.column, target, cast=target != kind)
    label = wanted.column
    if inputs.get(label, needed) != needed:  # two aggregates need it as different types
        label = f"{wanted.column} as {target.simpleString()}"
    if inputs.setdefault(label, needed) != needed:
        raise ColumnError(f"aggregate: rename the column {label!r}, the name is needed here")
    return Part(name, fn, list(inputs).index(label), columns, result)


def _shape(
    name: str, wanted: Aggregate, kind: T.DataType
) -> tuple[T.DataType, CombineFn, AccumulatorColumns, pa.DataType]:
    """Input type, function, state columns and result type of an aggregate over a column."""

    def refuse(needs: str) -> ColumnError:
        return ColumnError(
            f"aggregate {name!r}: {wanted.kind} needs {needs}, and column {wanted.column!r} is "
            f"{kind.simpleString()}; cast it first"
        )

    given = _arrow_type(kind, str(wanted.column), f"aggregate {name!r}")
    match wanted.kind:
        case "count":
            return kind, CountValues(), PlainColumn(pa.int64()), pa.int64()
        case "collect":
            return kind, Collect(keep_nulls=False), ListColumn(given), pa.list_(given)
        case "min" | "max":
            if isinstance(kind, _UNGROUPABLE):
                raise refuse(_ORDERED)
            fn = Min() if wanted.kind == "min" else Max()
            return kind, fn, PlainColumn(given), given
        case "mean":
            if not isinstance(kind, T.NumericType | T.StringType):
                raise refuse(_NUMBERS)
            return T.DoubleType(), Mean(), MeanColumns(), pa.float64()
    if isinstance(kind, T.DecimalType):
        target: T.DataType = T.DecimalType(38, kind.scale)
    elif isinstance(kind, T.IntegralType):
        target = T.LongType()
    elif isinstance(kind, T.NumericType | T.StringType):
        target = T.DoubleType()
    else:
        raise refuse(_NUMBERS)
    total = _arrow_type(target, str(wanted.column), f"aggregate {name!r}")
    return target, Sum(), PlainColumn(total), total


def has_watermark(df: "DataFrame") -> bool:
    """Whether a column of a stream carries a watermark."""
    return any(WATERMARK_MARK in field.metadata for field in df.schema.fields)


_DATED = r"^\s*[+-]?\d{4,6}-\d{1,2}-\d{1,2}"


def with_event_time(df: "DataFrame", timestamp: str) -> "DataFrame":
    """``df`` with the event time as a proper timestamp column, null where it is unreadable."""
    raw = column(timestamp)
    if isinstance(df.schema[timestamp].dataType, T.StringType):
        # Spark reads a bare time of day as today, and a bare year as its first of January: both
        # are taken for mistakes.
        moment = F.when(raw.rlike(_DATED), F.try_to_timestamp(raw))
    else:
        moment = raw.cast("timestamp")
    return df.withColumn(EVENT_TIME, moment)


def packer_columns(
    df: "DataFrame", plan: Plan, inputs: Mapping[str, Input], timestamp: str
) -> "DataFrame":
    """The columns that the packer reads, from a frame that has its event time.

    The event time goes on as a plain number. Were the watermark's own column still there,
    Spark would drop late rows before the machine could judge them.
    """
    reason = F.when(F.lit(False), F.lit(""))
    for name in plan.keys:
        reason = reason.when(column(name).isNull(), F.lit("null_key"))
        reason = reason.when(_clean_key(df, name).isNull(), F.lit("bad_key"))
    reason = reason.when(column(timestamp).isNull(), F.lit("null_timestamp"))
    reason = reason.when(column(EVENT_TIME).isNull(), F.lit("bad_timestamp"))
    for given in inputs.values():
        unreadable = column(given.source).isNotNull() & given.expression.isNull()
        reason = reason.when(unreadable, F.lit("bad_value"))
    told = [*plan.keys, timestamp, *(given.source for given in inputs.values())]
    told_struct = F.struct(*(column(name) for name in dict.fromkeys(told)))
    element = F.to_json(told_struct, {"ignoreNullFields": "false"})
    # Numbered, because not every name can be the name of a column on the way to Python.
    keys = [_clean_key(df, name).alias(f"key_{at}") for at, name in enumerate(plan.keys)]
    values = [given.expression.alias(f"value_{at}") for at, given in enumerate(inputs.values())]
    hashed = F.xxhash64(*(_clean_key(df, name) for name in plan.keys)) if plan.keys else F.lit(0)
    return df.select(
        *keys,
        F.unix_millis(column(EVENT_TIME)).alias("ts"),
        *values,
        hashed.cast("long").alias("hash"),
        reason.alias("reason"),
        F.when(reason.isNotNull(), element).alias("element"),
    )


def _readable(value: "Column", kind: T.DataType) -> "Column":
    """Null in place of the dates and times that Python has no value for."""
    if isinstance(kind, T.TimestampType):
        return F.when(F.unix_millis(value).between(READABLE[0], READABLE[-1]), value)
    if isinstance(kind, T.DateType | T.TimestampNTZType):
        return F.when(F.year(value).between(1, 9999), value)
    return value


def _clean_key(df: "DataFrame", name: str) -> "Column":
    """Minus zero is zero, as a key; a time that cannot be read is null."""
    key, kind = column(name), df.schema[name].dataType
    if isinstance(kind, T.FractionalType):
        return F.when(key == 0, F.abs(key)).otherwise(key)
    return _readable(key, kind)

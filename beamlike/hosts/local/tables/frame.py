"""A frame that stands for a DataFrame of Spark, and has its rows as Arrow tables."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

import attrs
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.hosts import expressions
from beamlike.hosts.expressions import RowChange
from beamlike.runtime.frame_columns import no_column
from beamlike.runtime.output import READABLE
from beamlike.runtime.row_metadata import MARKS, types_in
from beamlike.runtime.session_identity import check_renamed
from beamlike.runtime.sql_types import type_text, usual_type


@attrs.define(eq=False)
class MicroBatch:
    """What happens in one micro-batch, and what frames made of it so far.

    Args:
        moves: Where watermarks of inputs are moved to (ms).
        watermark: That of the query as it begins (ms), 0 if it has none yet.
        clock: Processing time (ms).
        ended: The query is drained: all inputs have come to their end.
    """

    rows: Mapping[str, pa.Table]
    moves: Mapping[str, int]
    watermark: int
    clock: int
    ended: bool = False
    tables: dict[int, pa.Table] = attrs.field(factory=dict, repr=False)


Make = Callable[[MicroBatch], pa.Table]


def needs_spark(request: str) -> UnsupportedError:
    """Why something is refused that only Spark can do."""
    return UnsupportedError(
        f'{request} needs Spark, and this test runs without it; test with host="spark"'
    )


class _NoSession:
    """In place of the session of a frame that has none."""

    def __init__(self) -> None:
        self.conf: dict[str, str] = {}

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise needs_spark(f"SparkSession.{name}")


class TableFrame:
    """Stands for a DataFrame where there is no Spark: a streaming one in a test, a bounded one over
    a table.

    It has the columns of one, by name: `select`, `drop` and ``withColumnRenamed`` make others.
    Expressions of Spark are computed by the session that they were made in, if there is one. What
    a DataFrame has besides is refused.

    Args:
        inputs: The inputs of the test that its rows come from.
        query: Makes its groupings: `BoundedTables`, or the streaming query of a test.
        make: Makes its rows, of which tables have the same columns.
    """

    def __init__(self, schema: pa.Schema, inputs: frozenset[str], query: Any, make: Make) -> None:
        self.fields, self.inputs, self.query, self._make = schema, inputs, query, make

    @property
    def isStreaming(self) -> bool:
        """Whether its rows come micro-batch by micro-batch."""
        return bool(self.query.is_streaming)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.fields.names)

    @property
    def schema(self) -> Any:
        """The columns as a ``StructType``, where there is PySpark."""
        if find_spec("pyspark") is None:
            raise needs_spark("DataFrame.schema")
        from beamlike.hosts.pyspark_types import spark_schema

        return spark_schema(self.fields)

    @property
    def sparkSession(self) -> _NoSession:
        """No session: it only says that settings are as they are by default."""
        return _NoSession()

    def table(self, batch: MicroBatch) -> pa.Table:
        """The rows of a micro-batch."""
        table = batch.tables.get(id(self))
        if table is None:
            table = batch.tables[id(self)] = self._make(batch)
        return table

    def select(self, *columns: Any) -> "TableFrame":
        """Other columns: names, a field as ``window.start``, or ``*`` for all.

        Raises:
            ColumnError: There is no such column.
            UnsupportedError: An expression of Spark, and no session.
        """
        named = columns[0] if len(columns) == 1 and isinstance(columns[0], list) else columns
        if not all(isinstance(name, str) for name in named):
            request = "select of an expression of Spark"
            return self.by_spark(request, lambda _, df: df.select(*named))
        chosen = [path for name in named for path in paths_of(self.fields, name, "select")]
        return self.with_fields([(path[-1], path) for path in chosen])

    def with_fields(self, fields: Sequence[tuple[str, Sequence[str]]]) -> "TableFrame":
        """Columns by their new names: each one of this frame, or a field inside of one."""
        schema = pa.schema([_field(self.fields, path).with_name(name) for name, path in fields])

        def make(batch: MicroBatch) -> pa.Table:
            table = self.table(batch)
            arrays = [_values(table, path) for _, path in fields]
            return pa.Table.from_arrays(arrays, schema=schema)

        return TableFrame(schema, self.inputs, self.query, make)

    def drop(self, *columns: Any) -> "TableFrame":
        """The other columns."""
        _check_names("drop", columns)
        return self.with_fields([(name, (name,)) for name in self.columns if name not in columns])

    def withColumnRenamed(self, existing: str, new: str) -> "TableFrame":
        """Its columns, one of them with another name."""
        _check_names("withColumnRenamed", (existing, new))
        named = [(new if name == existing else name, (name,)) for name in self.columns]
        return self.with_fields(named)

    def withMetadata(self, column: str, metadata: dict[str, Any]) -> "TableFrame":
        """Its rows, with a note at one of the columns."""
        index = self.columns.index(column)
        field = self.fields.field(index)
        field = field.with_metadata({**(field.metadata or {}), **metadata})
        return TableFrame(self.fields.set(index, field), self.inputs, self.query, self.table)

    def changed(self, change: Callable[[pa.Table], pa.Table]) -> "TableFrame":
        """Other rows with the same columns."""
        return TableFrame(
            self.fields, self.inputs, self.query, lambda batch: change(self.table(batch))
        )

    def rewritten(
        self, schema: pa.Schema, rewrite: Callable[[dict[str, Any]], Sequence[dict[str, Any]]]
    ) -> "TableFrame":
        """Rows that are made of each row."""

        def make(batch: MicroBatch) -> pa.Table:
            rows = (new for row in self.table(batch).to_pylist() for new in rewrite(row))
            return pa.Table.from_pylist(list(rows), schema)

        return TableFrame(schema, self.inputs, self.query, make)

    def by_spark(self, request: str, change: RowChange) -> "TableFrame":
        """Rows that the active session makes of these."""
        spark = expressions.active_session()
        if spark is None:
            raise UnsupportedError(f"{request} needs Spark, {self.query.without_spark}")
        schema, make = expressions.changed_by(spark, self.fields, change)
        return TableFrame(schema, self.inputs, self.query, lambda batch: make(self.table(batch)))

    def filter(self, condition: Any) -> "TableFrame":
        """The rows for which a condition holds, as ``DataFrame.filter``."""
        return self.by_spark("DataFrame.filter", lambda _, df: df.filter(condition))

    where = filter

    def withColumn(self, colName: str, col: Any) -> "TableFrame":
        """One more column, as ``DataFrame.withColumn``."""
        return self.by_spark("DataFrame.withColumn", lambda _, df: df.withColumn(colName, col))

    def withColumns(self, *colsMap: Any) -> "TableFrame":
        """More columns, as ``DataFrame.withColumns``."""
        return self.by_spark("DataFrame.withColumns", lambda _, df: df.withColumns(*colsMap))

    def __getattr__(self, name: str) -> NoReturn:
        known = expressions.is_of_dataframes(name) or name in self.columns
        if name.startswith("__") or not known:
            raise AttributeError(f"'DataFrame' object has no attribute {name!r}")
        raise needs_spark(f"DataFrame.{name}")

    def __getitem__(self, name: object) -> NoReturn:
        raise needs_spark(f"DataFrame[{name!r}]")

    def __repr__(self) -> str:
        fields = (f"{field.name}: {type_text(field)}" for field in self.fields)
        return f"TableFrame[{', '.join(fields)}]"


def paths_of(schema: pa.Schema, name: Any, argument: str) -> list[tuple[str, ...]]:
    """The columns that are meant by a name, as paths."""
    if not isinstance(name, str):
        raise needs_spark(f"{argument} of an expression of Spark")
    if name == "*":
        return [(column,) for column in schema.names if column != MARKS]
    if name in schema.names:
        return [(name,)]
    path = tuple(part.strip("`") for part in name.split("."))
    inside: Any = schema
    for part in path:
        if part not in [field.name for field in inside]:
            check_renamed(argument, name, schema.names)
            known = [column for column in schema.names if column != MARKS]
            raise ColumnError(f"{argument}: {no_column(name, known)}")
        dtype = inside.field(part).type
        inside = dtype if pa.types.is_struct(dtype) else ()
    return [path]


def _field(schema: pa.Schema, path: Sequence[str]) -> pa.Field:
    """A column, or a field inside of one."""
    first, *rest = path
    field = schema.field(first)
    for part in rest:
        field = field.type.field(part)
    return field


def _values(table: pa.Table, path: Sequence[str]) -> pa.ChunkedArray:
    first, *rest = path
    column = table.column(table.column_names.index(first))
    return pc.struct_field(column, rest) if rest else column


def _check_names(verb: str, names: Sequence[Any]) -> None:
    if not all(isinstance(name, str) for name in names):
        raise needs_spark(f"DataFrame.{verb} of an expression of Spark")


Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

_LAST = 2**63 - 1
_DAYS = (-719_162, 2_932_896)
"""The first and the last day that Python has a date for, since 1970."""


# -- types -----------------------------------------------------------------------------------


def usual_table(table: pa.Table) -> pa.Table:
    """A table in the types that SQL has: no dictionaries, no unsigned numbers, one unit of time.

    A column whose values do not fit there stays as it is, and is refused where it is used.
    """
    columns = [_usual(column) for column in table.columns]
    fields = [
        pa.field(field.name, column.type, metadata=field.metadata)
        for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _usual(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if isinstance(column.type, pa.BaseExtensionType):
        storage = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(storage, column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        column = pa.chunked_array(decoded, column.type.value_type)
    dtype = usual_type(column.type)
    if dtype == column.type:
        return column
    try:
        if pa.types.is_timestamp(column.type):
            return _in_micros(column).cast(dtype)
        return column.cast(dtype, safe=not _has_finer_times(column.type))
    except pa.ArrowException:
        return column


def _in_micros(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Instants in microseconds: what is finer goes, what lies beyond is as far off as can be."""
    unit = column.type.unit
    if unit == "ns":
        return pc.floor_temporal(column.cast(pa.timestamp("ns")), unit="microsecond")
    scale = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
    ticks, bound = column.cast(pa.int64()), _LAST // scale
    within = pc.if_else(pc.greater(ticks, bound), bound, ticks)
    within = pc.if_else(pc.less(within, -bound), -bound, within)
    return pc.multiply(within, scale).cast(pa.timestamp("us"))


def _has_finer_times(dtype: pa.DataType) -> bool:
    """Whether values of a type may have parts of a microsecond, which go."""
    return any(getattr(part, "unit", "") == "ns" for part in types_in(dtype))


# -- values ----------------------------------------------------------------------------------


def readable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null in place of the dates and times that Python has no value for.

    And in place of a struct, an array or a map in which there is one.
    """
    if not _has_times(column.type):
        return column
    chunks = [
        pc.if_else(pa.array(~_unreadable(chunk)), chunk, pa.scalar(None, chunk.type))
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _has_times(dtype: pa.DataType) -> bool:
    return any(pa.types.is_timestamp(part) or pa.types.is_date32(part) for part in types_in(dtype))


def _unreadable(values: pa.Array) -> Mask:
    """Which values of an array Python cannot have."""
    dtype = values.type
    if pa.types.is_timestamp(dtype):
        micros: Ints = pc.fill_null(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
        return (micros < READABLE[0]) | (micros > READABLE[-1])
    if pa.types.is_date32(dtype):
        days: Ints = pc.fill_null(values.cast(pa.int32()), 0).to_numpy(zero_copy_only=False)
        return (days < _DAYS[0]) | (days > _DAYS[1])
    if pa.types.is_struct(dtype):
        children = [_unreadable(child) for child in values.flatten()]
        return np.logical_or.reduce(children) if children else np.zeros(len(values), bool)
    if pa.types.is_map(dtype):
        return _unreadable(values.cast(pa.list_(dtype.field(0))))
    unreadable: Mask = np.zeros(len(values), bool)
    if pa.types.is_list(dtype):
        parents = pc.list_parent_indices(values).to_numpy(zero_copy_only=False)
        unreadable[parents[_unreadable(values.flatten())]] = True
    return unreadable

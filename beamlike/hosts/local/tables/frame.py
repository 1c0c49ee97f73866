"""A frame that stands for a DataFrame of Spark, and has its rows as Arrow tables."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NoReturn

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.hosts import expressions
from beamlike.hosts.expressions import Change
from beamlike.runtime.frame_columns import no_column
from beamlike.runtime.row_metadata import MARKS
from beamlike.runtime.session_identity import check_renamed
from beamlike.runtime.sql_types import type_text


@attrs.define(eq=False)
class MicroBatch:
    """What happens in one micro-batch, and what frames made of it so far.

    Args:
        rows: What arrives at the inputs.
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
    made: dict[int, pa.Table] = attrs.field(factory=dict, repr=False)


Make = Callable[[MicroBatch], pa.Table]


def needs_spark(what: str) -> UnsupportedError:
    """Why something is refused that only Spark can do."""
    return UnsupportedError(
        f'{what} needs Spark, and this test runs without it; test with host="spark"'
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
        schema: The names and types of its columns.
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
        made = batch.made.get(id(self))
        if made is None:
            made = batch.made[id(self)] = self._make(batch)
        return made

    def select(self, *columns: Any) -> "TableFrame":
        """Other columns: names, a field as ``window.start``, or ``*`` for all.

        Raises:
            ColumnError: There is no such column.
            UnsupportedError: An expression of Spark, and no session.
        """
        named = columns[0] if len(columns) == 1 and isinstance(columns[0], list) else columns
        if not all(isinstance(each, str) for each in named):
            what = "select of an expression of Spark"
            return self.by_spark(what, lambda _, df: df.select(*named))
        chosen = [it for given in named for it in found(self.fields, given, "select")]
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
        """The same columns, one of them with another name."""
        _check_names("withColumnRenamed", (existing, new))
        named = [(new if name == existing else name, (name,)) for name in self.columns]
        return self.with_fields(named)

    def withMetadata(self, column: str, metadata: dict[str, Any]) -> "TableFrame":
        """The same rows, with a note at one of the columns."""
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

    def by_spark(self, what: str, change: Change) -> "TableFrame":
        """Rows that the active session makes of these.

        Args:
            what: What is asked for, for the error.
            change: The step.

        Raises:
            UnsupportedError: There is no session.
        """
        spark = expressions.active_session()
        if spark is None:
            raise UnsupportedError(f"{what} needs Spark, {self.query.without_spark}")
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


def found(schema: pa.Schema, given: Any, argument: str) -> list[tuple[str, ...]]:
    """The columns that are meant by a name, as paths.

    Raises:
        ColumnError: There is none.
        UnsupportedError: It is no name.
    """
    if not isinstance(given, str):
        raise needs_spark(f"{argument} of an expression of Spark")
    if given == "*":
        return [(name,) for name in schema.names if name != MARKS]
    if given in schema.names:
        return [(given,)]
    path = tuple(part.strip("`") for part in given.split("."))
    inside: Any = schema
    for part in path:
        if part not in [field.name for field in inside]:
            check_renamed(argument, given, schema.names)
            known = [name for name in schema.names if name != MARKS]
            raise ColumnError(f"{argument}: {no_column(given, known)}")
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

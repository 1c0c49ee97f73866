"""A frame of a test: it stands for a streaming DataFrame, and has its rows as Arrow tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import attrs
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.hosts.spark.inputs import arrow_type
from beamlike.runtime.row_metadata import MARKS, MARKS_TYPE
from beamlike.runtime.session_identity import check_renamed


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


def schema_of(schema: pa.Schema) -> T.StructType:
    """The types of Spark of the columns of a grouping."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)


class _NoSession:
    """In place of the session of a frame that has none."""

    def __init__(self) -> None:
        self.conf: dict[str, str] = {}

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise needs_spark(f"SparkSession.{name}")


def active_session() -> SparkSession | None:
    """The session that expressions of Spark are made in."""
    return SparkSession.getActiveSession()


class TableFrame:
    """Stands for a streaming DataFrame in a test that runs without Spark.

    It has the columns of one, by name: `select`, `drop` and ``withColumnRenamed`` make others.
    Expressions of Spark are computed by the session that they were made in, if there is one. What
    a DataFrame has besides is refused.

    Args:
        schema: The names and types of its columns.
        inputs: The inputs of the test that its rows come from.
        query: What keeps the state of its groupings, a `TableQuery`.
        make: Makes its rows, of which tables have the same columns.
    """

    isStreaming = True

    def __init__(
        self, schema: T.StructType, inputs: frozenset[str], query: Any, make: Make
    ) -> None:
        self.schema, self.inputs, self.query, self._make = schema, inputs, query, make

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

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
            return self.by_spark(what, lambda df: df.select(*named))
        chosen = [it for given in named for it in found(self.schema, given, "select")]
        return self.with_fields([(path[-1], path) for path in chosen])

    def with_fields(self, fields: Sequence[tuple[str, Sequence[str]]]) -> "TableFrame":
        """Columns by their new names: each one of this frame, or a field inside of one."""
        schema = T.StructType(
            [attrs.evolve(_Field(self.schema, path), name=name).spark for name, path in fields]
        )

        def make(batch: MicroBatch) -> pa.Table:
            table = self.table(batch)
            arrays = [_values(table, path) for _, path in fields]
            return pa.Table.from_arrays(arrays, names=[name for name, _ in fields])

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
        fields = [
            T.StructField(it.name, it.dataType, it.nullable, metadata) if it.name == column else it
            for it in self.schema.fields
        ]
        return TableFrame(T.StructType(fields), self.inputs, self.query, self.table)

    def changed(self, change: Callable[[pa.Table], pa.Table]) -> "TableFrame":
        """Other rows with the same columns."""
        return TableFrame(
            self.schema, self.inputs, self.query, lambda batch: change(self.table(batch))
        )

    def rewritten(
        self, schema: T.StructType, rewrite: Callable[[dict[str, Any]], Sequence[dict[str, Any]]]
    ) -> "TableFrame":
        """Rows that are made of each row."""
        types = arrow_schema(schema)

        def make(batch: MicroBatch) -> pa.Table:
            rows = (new for row in self.table(batch).to_pylist() for new in rewrite(row))
            return pa.Table.from_pylist(list(rows), types)

        return TableFrame(schema, self.inputs, self.query, make)

    def by_spark(self, what: str, change: Callable[[DataFrame], DataFrame]) -> "TableFrame":
        """Rows that the active session makes of these.

        Args:
            what: What is asked for, for the error.
            change: A step that takes rows one by one.

        Raises:
            UnsupportedError: There is no session.
        """
        spark = active_session()
        if spark is None:
            raise UnsupportedError(
                f"{what} needs Spark, and this test runs without it; start a session before, such "
                'as bl.local_session(), or test with host="spark"'
            )
        # The hidden column is there too, as Spark has it: steps read and change it.
        before = _with_marks(self.schema, schema_of(pa.schema([(MARKS, MARKS_TYPE)]))[MARKS])
        schema = change(spark.createDataFrame([], before)).schema
        types = arrow_schema(schema)

        def make(batch: MicroBatch) -> pa.Table:
            table = self.table(batch)
            if not table.num_rows:
                return types.empty_table()
            rows: Any = spark.createDataFrame(table, before)
            changed: pa.Table = change(rows).toArrow()
            return changed.cast(types)

        if MARKS in self.columns:
            schema = _with_marks(schema, self.schema[MARKS])
        return TableFrame(schema, self.inputs, self.query, make)

    def filter(self, condition: Any) -> "TableFrame":
        """The rows for which a condition holds, as ``DataFrame.filter``."""
        return self.by_spark("DataFrame.filter", lambda df: df.filter(condition))

    where = filter

    def withColumn(self, colName: str, col: Any) -> "TableFrame":
        """One more column, as ``DataFrame.withColumn``."""
        return self.by_spark("DataFrame.withColumn", lambda df: df.withColumn(colName, col))

    def withColumns(self, *colsMap: Any) -> "TableFrame":
        """More columns, as ``DataFrame.withColumns``."""
        return self.by_spark("DataFrame.withColumns", lambda df: df.withColumns(*colsMap))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") or not (hasattr(DataFrame, name) or name in self.columns):
            raise AttributeError(f"'DataFrame' object has no attribute {name!r}")
        raise needs_spark(f"DataFrame.{name}")

    def __getitem__(self, name: object) -> NoReturn:
        raise needs_spark(f"DataFrame[{name!r}]")

    def __repr__(self) -> str:
        fields = (f"{it.name}: {it.dataType.simpleString()}" for it in self.schema.fields)
        return f"TableFrame[{', '.join(fields)}]"


def _with_marks(schema: T.StructType, marks: T.StructField) -> T.StructType:
    return T.StructType([marks if it.name == MARKS else it for it in schema.fields])


def arrow_schema(schema: T.StructType) -> pa.Schema:
    """The Arrow types of columns, the hidden one among them."""
    return pa.schema(
        [
            (
                it.name,
                MARKS_TYPE if it.name == MARKS else arrow_type(it.dataType, it.name, "schema"),
            )
            for it in schema.fields
        ]
    )


def found(schema: T.StructType, given: Any, argument: str) -> list[tuple[str, ...]]:
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
    kind: T.DataType = schema
    for part in path:
        if not isinstance(kind, T.StructType) or part not in kind.names:
            check_renamed(argument, given, schema.names)
            known = ", ".join(repr(name) for name in schema.names if name != MARKS)
            raise ColumnError(f"{argument}: there is no column {given!r}; the columns are {known}")
        kind = kind[part].dataType
    return [path]


@attrs.frozen
class _Field:
    """A column, or a field inside of one."""

    schema: T.StructType
    path: Sequence[str]
    name: str = ""

    @property
    def spark(self) -> T.StructField:
        first, *rest = self.path
        field = self.schema[first]
        for part in rest:
            inside: Any = field.dataType
            field = inside[part]
        return T.StructField(self.name, field.dataType, field.nullable, field.metadata)


def _values(table: pa.Table, path: Sequence[str]) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    first, *rest = path
    column = table.column(table.column_names.index(first))
    return pc.struct_field(column, rest) if rest else column


def _check_names(verb: str, names: Sequence[Any]) -> None:
    if not all(isinstance(name, str) for name in names):
        raise needs_spark(f"DataFrame.{verb} of an expression of Spark")

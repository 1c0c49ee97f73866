"""Tables in any database that has a JDBC driver, written by Spark's own writer.

Spark writes the rows of a micro-batch to tables beside the target, as it makes and fills tables of
that database. One transaction then moves them: it reads and keeps the number of the batch, as
`beamlike.hosts.landing.sql` has it, deletes what the batch replaces, and inserts its rows. A batch
that comes again writes the same tables beside it, and drops them.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.errors import EnvironmentProblem
from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.database_types import JSON_TYPES, flat
from beamlike.hosts.landing.sql import BATCHES, is_next_in, table_of_batches
from beamlike.hosts.landing.target import Target, check_columns, check_name
from beamlike.hosts.landing.value_types import USUAL, ValueType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_KEY_LENGTH: Final = 1000
_KEY_TYPE: Final = f"VARCHAR({_KEY_LENGTH})"
"""A text that databases compare. Some make texts of Spark's large objects, which they do not."""


@attrs.frozen
class JDBC(Target):
    """A table in a database that Spark reaches through JDBC.

    The driver of the database is a jar on the class path of Spark, ``spark.jars.packages`` for
    example. Needs the driver process of Spark, so not with Spark Connect.

    Args:
        url: Where the database is, as JDBC says it: ``"jdbc:mysql://host:3306/results"``.
        table: The table's name.
        properties: What the driver is given besides: ``user``, ``driver`` (its class) and the like.
            They are part of the query; a password is better in a file of the driver's.

    >>> JDBC("jdbc:mysql://db.example.com/results", "sessions").table
    'sessions'

    Source: Spark ``DataFrameWriter.jdbc``.
    """

    url: str = attrs.field(repr=False)
    table: str
    properties: Mapping[str, str] = attrs.field(factory=dict, repr=False)

    column_types: ClassVar[frozenset[ValueType] | None] = USUAL
    nested_types: ClassVar[frozenset[ValueType]] = JSON_TYPES

    def check(self) -> None:
        check_name("table", self.table)

    @property
    def place(self) -> str:
        return repr((self.url, self.table))

    def unlandable(self, batch: Batch) -> Mapping[int, str]:
        """See `Target.unlandable`: the column that names a result has an end."""
        return {
            index: f"what names it has {len(row_key)} letters, and there is room for {_KEY_LENGTH}"
            for index, row_key in enumerate(_row_keys(batch))
            if len(row_key) > _KEY_LENGTH
        }

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        spark: Any = _session()
        quoted = spark._jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.url).quoteIdentifier
        database = _Database(spark, self.url, dict(self.properties), quoted, batch.row_key)
        # No row has a longer key, and the table of keys has no room for it.
        gone = [row_key for row_key in batch.gone if len(row_key) <= _KEY_LENGTH]
        moves = [(self.table, flat(batch.rows), [*gone, *_row_keys(batch)])]
        if batch.dropped is not None and dead_letters is not None:
            moves.append((dead_letters, flat(batch.dropped), []))
        name = hashlib.sha256(f"{batch.query} {self.table}".encode()).hexdigest()[:12]
        with database.staging(f"beamlike_{name}_{batch.number}") as stage:
            staged = []
            for index, (table, rows, row_keys) in enumerate(moves):
                source = stage(f"rows_{index}", rows)
                database.make(table, rows, source)
                keys = None
                if row_keys:
                    keys = stage(f"keys_{index}", _table_of(batch.row_key, row_keys))
                staged.append((table, source, rows.column_names, keys))
            with database.transaction() as statements:
                if not statements.has_batches():
                    statements.execute(table_of_batches("VARCHAR(250)", "BIGINT"))
                if not is_next_in(statements, batch, self.table):
                    return False
                for table, source, names, keys in staged:
                    if keys is not None:
                        statements.delete(table, keys, batch.row_key)
                    statements.insert(table, source, names)
        return True


def _row_keys(batch: Batch) -> list[str]:
    return list(batch.rows.column(batch.row_key).to_pylist())


def _table_of(name: str, row_keys: Sequence[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.table({name: pa.array(list(dict.fromkeys(row_keys)), pa.string())})


def _session() -> "SparkSession":
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None or getattr(session, "_jvm", None) is None:
        raise EnvironmentProblem(
            "a table behind JDBC is written by the driver process of Spark, and there is none "
            "here: with Spark Connect write to another target, such as tables.Postgres"
        )
    return session


@attrs.frozen
class _Database:
    """A database as Spark sees it."""

    spark: Any
    url: str
    properties: dict[str, str]
    quoted: Any
    row_key: str

    def save(self, name: str, rows: "pa.Table", mode: str) -> None:
        """Write a table with Spark's writer."""
        from beamlike.hosts.pyspark_types import frame_of

        writer = frame_of(self.spark, rows).write
        if self.row_key in rows.column_names:
            writer = writer.option("createTableColumnTypes", f"{self.row_key} {_KEY_TYPE}")
        writer.jdbc(self.url, self.quoted(name), mode=mode, properties=self.properties)

    def make(self, name: str, rows: "pa.Table", like: str) -> None:
        """Make a table if there is none, and else compare it with one that Spark made."""
        self.save(name, rows.slice(0, 0), "ignore")
        check_columns(name, self._columns(name), self._columns(like))

    def _columns(self, name: str) -> dict[str, str]:
        read = self.spark.read.jdbc(self.url, self.quoted(name), properties=self.properties)
        return {field.name: field.dataType.simpleString() for field in read.schema}

    @contextmanager
    def staging(self, prefix: str) -> Iterator[Callable[[str, "pa.Table"], str]]:
        """What writes rows to a table beside the target, which is gone afterwards; its name."""
        written: list[str] = []

        def stage(part: str, rows: "pa.Table") -> str:
            self.save(f"{prefix}_{part}", rows, "overwrite")
            written.append(f"{prefix}_{part}")
            return written[-1]

        try:
            yield stage
        finally:
            with self.transaction() as statements:
                for name in written:
                    statements.execute(f"DROP TABLE {self.quoted(name)}")

    @contextmanager
    def transaction(self) -> Iterator["_Statements"]:
        """Statements of one transaction, which is kept if nothing is raised and else undone."""
        jvm = self.spark._jvm
        properties = jvm.java.util.Properties()
        for name, value in self.properties.items():
            if name != "driver":
                properties.setProperty(name, value)
        if "driver" in self.properties:
            registry = jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry
            registry.register(self.properties["driver"])
        connection = jvm.java.sql.DriverManager.getConnection(self.url, properties)
        try:
            connection.setAutoCommit(False)
            yield _Statements(connection, self.quoted)
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        finally:
            connection.close()


@attrs.define
class _Statements:
    """SQL that all databases understand, in one transaction, as a cursor of Python has it."""

    connection: Any
    quoted: Any
    _first: tuple[int] | None = None

    def execute(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Execute a statement; `fetchone` then gives the number in the first row of a query."""
        prepared = self.connection.prepareStatement(statement)
        try:
            for position, value in enumerate(values, 1):
                prepared.setObject(position, value)
            rows: Any = prepared.getResultSet() if prepared.execute() else None
            self._first = None
            if rows is not None and rows.next():
                self._first = (int(rows.getLong(1)),)
        finally:
            prepared.close()

    def fetchone(self) -> tuple[int] | None:
        """The first row of the last query; None: there is none."""
        return self._first

    def has_batches(self) -> bool:
        """Whether there is a table of the numbers of batches."""
        tables = self.connection.getMetaData().getTables(None, None, "%", None)
        while tables.next():
            if tables.getString("TABLE_NAME").lower() == BATCHES:
                return True
        return False

    def delete(self, table: str, keys: str, row_key: str) -> None:
        """Delete the rows whose keys are in another table."""
        key = self.quoted(row_key)
        self.execute(
            f"DELETE FROM {self.quoted(table)} WHERE {key} IN "
            f"(SELECT {key} FROM {self.quoted(keys)})"
        )

    def insert(self, table: str, rows: str, names: Sequence[str]) -> None:
        """Insert the rows of another table."""
        columns = ", ".join(map(self.quoted, names))
        self.execute(
            f"INSERT INTO {self.quoted(table)} ({columns}) "
            f"SELECT {columns} FROM {self.quoted(rows)}"
        )

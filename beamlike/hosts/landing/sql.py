"""Tables in databases that are asked in SQL: one transaction for each micro-batch.

A table ``beamlike_batches`` in the same database holds the number of the last batch of each query
and table. It is read and written in the transaction that changes the rows, so a batch that comes
again, after a crash at whatever moment, finds its own number there.
"""

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.batch import ROW_KEY, Batch
from beamlike.hosts.landing.columns import Types, cells, sql_types
from beamlike.hosts.landing.target import Target, check_columns, check_name

if TYPE_CHECKING:
    import pyarrow as pa

BATCHES: Final = "beamlike_batches"
"""The table of the numbers of batches."""


def quoted(name: str) -> str:
    """A name as SQL reads it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@attrs.frozen
class SqlTarget(Target):
    """A table of a database with transactions.

    Args:
        database: Where the database is.
        table: The table's name.
    """

    database: str
    table: str

    types: ClassVar[Types]
    """What the database calls its types."""
    mark: ClassVar[str] = "?"
    """How a statement leaves room for a value."""
    instants_as_text: ClassVar[bool] = False
    """Whether times are texts, because the database has no type for them."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """A cursor in a transaction, which is kept if nothing is raised and else undone. Two
        transactions that write to the same database wait for each other."""

    @abstractmethod
    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """The columns of a table and their types; none if there is no such table."""

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        """See `Target.write`."""
        with self.transaction() as cursor:
            if not self._is_next(cursor, batch):
                return False
            self._make(cursor, self.table, batch.rows, primary=ROW_KEY)
            gone = [(name,) for name in batch.gone]
            delete = f"DELETE FROM {quoted(self.table)} WHERE {ROW_KEY} = {self.mark}"
            self.execute_all(cursor, delete, gone)
            self._put(cursor, self.table, batch.rows, primary=ROW_KEY)
            if batch.dropped is not None and dead_letters is not None:
                self._make(cursor, dead_letters, batch.dropped)
                self._put(cursor, dead_letters, batch.dropped)
            return True

    def check(self) -> None:
        """See `Target.check`."""
        check_name("table", self.table)

    def execute_all(self, cursor: Any, statement: str, rows: Sequence[Any]) -> None:
        """A statement for each of these rows."""
        if rows:
            cursor.executemany(statement, rows)

    def _is_next(self, cursor: Any, batch: Batch) -> bool:
        """Whether a batch was not written yet; if so, that it is now."""
        text, whole = self.types["string"], self.types["int"]
        cursor.execute(
            f"CREATE TABLE IF NOT EXISTS {BATCHES} "
            f"(query {text}, landed_in {text}, batch {whole}, PRIMARY KEY (query, landed_in))"
        )
        own = batch.query, self.table
        mark = self.mark
        cursor.execute(
            f"SELECT batch FROM {BATCHES} WHERE query = {mark} AND landed_in = {mark}", own
        )
        before = cursor.fetchone()
        if before is not None and before[0] >= batch.number:
            return False
        cursor.execute(
            f"INSERT INTO {BATCHES} (query, landed_in, batch) VALUES ({mark}, {mark}, {mark}) "
            "ON CONFLICT (query, landed_in) DO UPDATE SET batch = excluded.batch",
            (*own, batch.number),
        )
        return True

    def _make(self, cursor: Any, table: str, rows: "pa.Table", primary: str = "") -> None:
        wanted = sql_types(rows.schema, self.types)
        known = self.columns_of(cursor, table)
        if known:
            check_columns(table, known, wanted)
            return
        columns = ", ".join(
            f"{quoted(name)} {kind}{' PRIMARY KEY' if name == primary else ''}"
            for name, kind in wanted.items()
        )
        cursor.execute(f"CREATE TABLE {quoted(table)} ({columns})")

    def _put(self, cursor: Any, table: str, rows: "pa.Table", primary: str = "") -> None:
        names = [quoted(name) for name in rows.column_names]
        marks = ", ".join([self.mark] * len(names))
        statement = f"INSERT INTO {quoted(table)} ({', '.join(names)}) VALUES ({marks})"
        if primary:
            others = [name for name in names if name != quoted(primary)]
            changes = ", ".join(f"{name} = excluded.{name}" for name in others)
            statement += f" ON CONFLICT ({primary}) DO UPDATE SET {changes}"
        self.execute_all(cursor, statement, list(self._cells(rows)))

    def _cells(self, rows: "pa.Table") -> Iterator[tuple[Any, ...]]:
        return cells(rows, instants_as_text=self.instants_as_text)


@contextmanager
def _committed(connection: Any, begin: str) -> Iterator[None]:
    """A transaction that this statement begins: committed at the end, undone by an exception."""
    connection.execute(begin)
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@attrs.frozen
class SQLite(SqlTarget):
    """A table in a file of SQLite, which needs no installation.

    SQLite has no types for times and decimals: these are texts, times in UTC.

    Args:
        database: The path of the file.
        table: The table's name.

    >>> SQLite("results.db", "sessions")
    SQLite(database='results.db', table='sessions')
    """

    types: ClassVar[Types] = {
        "bool": "BOOLEAN",
        "int": "INTEGER",
        "float": "REAL",
        "string": "TEXT",
        "bytes": "BLOB",
        "date": "TEXT",
        "instant": "TEXT",
        "decimal": "TEXT",
    }
    instants_as_text: ClassVar[bool] = True

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """See `SqlTarget.transaction`."""
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        with closing(connection), _committed(connection, "BEGIN IMMEDIATE"):
            yield connection.cursor()

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """See `SqlTarget.columns_of`."""
        rows = cursor.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        return {name: kind for _, name, kind, *_ in rows}


@attrs.frozen
class DuckDB(SqlTarget):
    """A table in a file of DuckDB. Needs ``pip install "beamlike[duckdb]"``.

    One process at a time can have the file open: while a batch is written nothing else reads it.

    Args:
        database: The path of the file.
        table: The table's name.

    >>> DuckDB("results.duckdb", "sessions")
    DuckDB(database='results.duckdb', table='sessions')
    """

    types: ClassVar[Types] = {
        "bool": "BOOLEAN",
        "int": "BIGINT",
        "float": "DOUBLE",
        "string": "VARCHAR",
        "bytes": "BLOB",
        "date": "DATE",
        "instant": "TIMESTAMP WITH TIME ZONE",
        "decimal": "DECIMAL({precision},{scale})",
    }

    def check(self) -> None:
        """See `Target.check`."""
        needs("a table in DuckDB", "duckdb")
        super().check()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """See `SqlTarget.transaction`."""
        import duckdb

        with closing(duckdb.connect(self.database)) as connection, _committed(connection, "BEGIN"):
            yield connection

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """See `SqlTarget.columns_of`."""
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = ? AND table_schema = current_schema() ORDER BY ordinal_position",
            [table],
        )
        return dict(cursor.fetchall())

    def execute_all(self, cursor: Any, statement: str, rows: Sequence[Any]) -> None:
        """See `SqlTarget.execute_all`."""
        for row in rows:
            cursor.execute(statement, list(row))


_LOCK = 0x6265616D6C696B65
"""The advisory lock of all writers: "beamlike" in letters of ASCII."""


@attrs.frozen
class Postgres(SqlTarget):
    """A table in PostgreSQL. Needs ``pip install "beamlike[postgres]"``.

    Args:
        database: How to connect, as libpq reads it: ``"postgresql://user@host:5432/name"``, or
            ``"host=... dbname=..."``. What a password is, is better said in ``PGPASSWORD`` or a
            file ``.pgpass`` of the driver: the text is part of the query.
        table: The table's name, in the schema that is first in ``search_path``.

    >>> Postgres("postgresql://reports@db.example.com/results", "sessions").table
    'sessions'
    """

    database: str = attrs.field(repr=False)
    table: str

    types: ClassVar[Types] = {
        "bool": "boolean",
        "int": "bigint",
        "float": "double precision",
        "string": "text",
        "bytes": "bytea",
        "date": "date",
        "instant": "timestamp with time zone",
        "decimal": "numeric",
    }
    mark: ClassVar[str] = "%s"

    def check(self) -> None:
        """See `Target.check`."""
        needs("a table in PostgreSQL", "postgres")
        super().check()

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """See `SqlTarget.transaction`."""
        import psycopg

        # Leaving the block commits; whatever is raised in it rolls back.
        with psycopg.connect(self.database) as connection, connection.cursor() as cursor:
            # A driver that was taken for dead may still be writing the same batch.
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield cursor

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """See `SqlTarget.columns_of`."""
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_name = %s AND table_schema = current_schema() ORDER BY ordinal_position",
            (table,),
        )
        return dict(cursor.fetchall())

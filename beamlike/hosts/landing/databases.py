"""SQLite, DuckDB and PostgreSQL: see `beamlike.hosts.landing.sql`."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os.path import realpath
from typing import Any, ClassVar

import attrs

from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.database_types import Types, column_types, types_of
from beamlike.hosts.landing.sql import SqlTarget, quoted
from beamlike.hosts.landing.target import problems_of
from beamlike.hosts.landing.value_types import ValueType, value_type


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
class _InFile(SqlTarget):
    """A table of a database that is a file."""

    reads_names_in_any_case: ClassVar[bool] = True

    @property
    def place(self) -> str:
        return repr((realpath(self.database), self.table.casefold()))


@attrs.frozen
class SQLite(_InFile):
    """A table in a file of SQLite, which needs no installation.

    SQLite has no types for times and decimals: these are texts, times in UTC.

    Args:
        database: The path of the file.
        table: The table's name.

    >>> SQLite("results.db", "sessions")
    SQLite(database='results.db', table='sessions')
    """

    types: ClassVar[Types] = types_of("SQLite")
    column_types: ClassVar[frozenset[ValueType] | None] = column_types(types)
    instants_as_text: ClassVar[bool] = True

    def errors_of_rows(self) -> tuple[type[Exception], ...]:
        return sqlite3.IntegrityError, sqlite3.DataError, OverflowError

    def unlandable(self, batch: Batch) -> Mapping[int, str]:
        """See `Target.unlandable`: SQLite keeps NaN as NULL."""
        return problems_of(
            batch.rows,
            lambda dtype: value_type(dtype) == "float",
            lambda value, _: value != value,
            "is NaN, which SQLite makes NULL",
        )

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
        with closing(connection), _committed(connection, "BEGIN IMMEDIATE"):
            yield connection.cursor()

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        rows = cursor.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        return {name: text for _, name, text, *_ in rows}


@attrs.frozen
class DuckDB(_InFile):
    """A table in a file of DuckDB. Needs ``pip install "beamlike[duckdb]"``.

    One process at a time can have the file open: while a batch is written nothing else reads it.

    Args:
        database: The path of the file.
        table: The table's name.

    >>> DuckDB("results.duckdb", "sessions")
    DuckDB(database='results.duckdb', table='sessions')
    """

    types: ClassVar[Types] = types_of("DuckDB")
    needed: ClassVar[tuple[str, str] | None] = ("a table in DuckDB", "duckdb")
    column_types: ClassVar[frozenset[ValueType] | None] = column_types(types)

    def errors_of_rows(self) -> tuple[type[Exception], ...]:
        import duckdb

        return (
            *(duckdb.ConstraintException, duckdb.ConversionException, duckdb.OutOfRangeException),
            *(duckdb.InvalidInputException, OverflowError),
        )

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        import duckdb

        with closing(duckdb.connect(self.database)) as connection, _committed(connection, "BEGIN"):
            yield connection

    def execute_all(self, cursor: Any, statement: str, rows: Sequence[Any]) -> None:
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

    types: ClassVar[Types] = types_of("Postgres")
    needed: ClassVar[tuple[str, str] | None] = ("a table in PostgreSQL", "postgres")
    column_types: ClassVar[frozenset[ValueType] | None] = column_types(types)
    mark: ClassVar[str] = "%s"
    longest_name: ClassVar[int | None] = 63

    def errors_of_rows(self) -> tuple[type[Exception], ...]:
        import psycopg
        from psycopg.errors import ProgramLimitExceeded

        return psycopg.DataError, psycopg.IntegrityError, ProgramLimitExceeded

    def unlandable(self, batch: Batch) -> Mapping[int, str]:
        """See `Target.unlandable`: PostgreSQL has no text with NUL."""
        return problems_of(
            batch.rows,
            lambda dtype: value_type(dtype) == "string",
            lambda value, _: "\0" in (value or ""),
            "has a NUL in it, which a text of PostgreSQL cannot have",
        )

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        import psycopg

        # Leaving the block commits; whatever is raised in it rolls back.
        with psycopg.connect(self.database) as connection, connection.cursor() as cursor:
            # A driver that was taken for dead may still be writing the same batch.
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            yield cursor

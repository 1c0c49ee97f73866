"""Tables in SQLite."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, ClassVar

import attrs

from beamlike.hosts.landing.columns import Types
from beamlike.hosts.landing.sql import SqlTarget, quoted


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
        with closing(connection):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection.cursor()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """See `SqlTarget.columns_of`."""
        rows = cursor.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        return {name: kind for _, name, kind, *_ in rows}

"""Tables in DuckDB."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, ClassVar

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.columns import Types
from beamlike.hosts.landing.sql import SqlTarget


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

        with closing(duckdb.connect(self.database)) as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

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

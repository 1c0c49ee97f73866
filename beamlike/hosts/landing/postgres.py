"""Tables in PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.columns import Types
from beamlike.hosts.landing.sql import SqlTarget

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

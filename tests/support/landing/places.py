"""Targets for tests, each with a way to read what is in its tables."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs
from pyspark.sql import SparkSession

from beamlike.tables import JDBC, Delta, DuckDB, Iceberg, Postgres, SQLite, Target

Row = dict[str, Any]


@attrs.frozen
class Place:
    """A target, and how the rows of a table beside it are read."""

    target: Target
    read: Callable[[str], list[Row]]


def places(kind: str, home: Path, table: str, server: str | None = None) -> Place:
    """A target of one kind in a folder, or in the database ``server``."""
    match kind:
        case "sqlite":
            path = str(home / "results.db")
            return Place(SQLite(path, table), lambda name: _sqlite_rows(path, name))
        case "duckdb":
            path = str(home / "results.duckdb")
            return Place(DuckDB(path, table), lambda name: _duck_rows(path, name))
        case "postgres":
            assert server is not None, "it needs a server"
            return Place(Postgres(server, table), lambda name: _postgres_rows(server, name))
        case "jdbc":
            url = f"jdbc:derby:{home / 'results'};create=true"
            return Place(JDBC(url, table), lambda name: _jdbc_rows(url, name))
        case "delta":
            return Place(Delta(str(home / table)), lambda name: _delta_rows(home / name))
        case "iceberg":
            properties = {
                "type": "sql",
                "uri": f"sqlite:///{home}/catalog.db",
                "warehouse": f"file://{home}/warehouse",
            }
            target = Iceberg("tests", f"web.{table}", properties)
            return Place(target, lambda name: _iceberg_rows(properties, f"web.{name}"))
    raise AssertionError(f"no such target: {kind}")


def _sqlite_rows(path: str, table: str) -> list[Row]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}"')]


def _duck_rows(path: str, table: str) -> list[Row]:
    import duckdb

    with closing(duckdb.connect(path)) as connection:
        connection.execute(f'SELECT * FROM "{table}"')
        names = [name for name, *_ in connection.description]
        return [_in_utc(dict(zip(names, row, strict=True))) for row in connection.fetchall()]


def _postgres_rows(server: str, table: str) -> list[Row]:
    import psycopg
    from psycopg.rows import dict_row

    # Python has no year 10,000, which the last day of 9999 is in part in some zones.
    options = "-c timezone=UTC"
    with psycopg.connect(server, row_factory=dict_row, options=options) as connection:
        rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()  # type: ignore[call-overload]
        return [*map(_in_utc, rows)]


def _in_utc(row: Row) -> Row:
    """The row with its instants in UTC; these libraries show them in the zone of the process."""
    return {
        name: value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
        for name, value in row.items()
    }


def _jdbc_rows(url: str, table: str) -> list[Row]:
    spark = SparkSession.getActiveSession()
    assert spark is not None
    rows = spark.read.jdbc(url, f'"{table}"').collect()
    # Instants come without a zone, in that of the process.
    return [
        {
            name: value.astimezone(UTC) if isinstance(value, datetime) else value
            for name, value in row.asDict().items()
        }
        for row in rows
    ]


def _delta_rows(folder: Path) -> list[Row]:
    import pyarrow as pa
    from deltalake import DeltaTable

    return pa.table(DeltaTable(str(folder)).to_pyarrow_table()).to_pylist()


def _iceberg_rows(properties: dict[str, str], table: str) -> list[Row]:
    from pyiceberg.catalog import load_catalog

    return load_catalog("tests", **properties).load_table(table).scan().to_arrow().to_pylist()

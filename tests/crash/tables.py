"""Works whose retracting panes keep a table up to date: `beamlike.upsert_into`."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import beamlike as bl
from beamlike.tables import Delta, DuckDB, Postgres, SQLite, Target
from tests.crash.feed import arriving
from tests.crash.frames import SESSIONS, windowed
from tests.crash.needed import SERVER_OF_POSTGRES
from tests.crash.work import Work

Row = dict[str, Any]


def _sqlite(home: Path) -> Target:
    return SQLite(str(home / "results.db"), "results")


def _duckdb(home: Path) -> Target:
    return DuckDB(str(home / "results.duckdb"), "results")


def _delta(home: Path) -> Target:
    return Delta(str(home / "results"))


def _postgres(home: Path) -> Target:
    # One server has the tables of all runs.
    name = "_".join(home.parts[-3:]).replace("-", "_").lower()[-40:]
    return Postgres(os.environ[SERVER_OF_POSTGRES], f"of_{name}")


def _work(name: str, target: Callable[[Path], Target], **more: Any) -> Work:
    def start(spark: Any, inbox: Path, home: Path) -> Any:
        aggregate = {"n": bl.count(), "points": bl.sum("points")}
        panes = windowed(arriving(spark, inbox), SESSIONS, output="panes", aggregate=aggregate)
        write = bl.upsert_into(target(home), "user")
        writer = panes.writeStream.foreachBatch(write)
        return writer.option("checkpointLocation", str(home / "checkpoint")).start()

    def read(spark: Any, home: Path) -> list[str]:
        return standing(target(home), home)

    title = f"sessions, retracting, into a table of {name}"
    return Work(name, title, start, obeys=False, read=read, **more)


def standing(target: Target, home: Path) -> list[str]:
    """The rows of a table as JSON, without those of its columns that tables write otherwise."""
    from tests.support.landing.places import places

    kind = type(target).__name__.lower()
    server = os.environ.get(SERVER_OF_POSTGRES)
    place = places(kind, home, "results", server)
    name = target.table if kind == "postgres" else "results"  # type: ignore[attr-defined]
    columns = ("user", "n", "points", "timing")
    return [json.dumps({column: row[column] for column in columns}) for row in place.read(name)]


TABLES: Final = (
    _work("sqlite", _sqlite),
    _work("duckdb", _duckdb),
    _work("delta", _delta),
    _work("postgres", _postgres, needs="postgres"),
)
"""What is in the table in the end is what stands of the panes."""

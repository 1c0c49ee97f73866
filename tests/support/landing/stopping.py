"""A table whose writer is killed at one point of one micro-batch."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from beamlike.hosts.landing import jdbc
from beamlike.hosts.landing.batch import Batch
from beamlike.tables import Target

POINTS: Final = ("before", "within", "after")
"""Nothing is written; all is written and does not count, or rows count and dead letters do not;
all counts, and Spark has not noted that the micro-batch has ended."""


def stop(target: Target, point: str, number: int) -> None:
    """Have this process killed when it is at a point of a micro-batch.

    Args:
        target: The table. Its class is changed, in this process.
        point: One of `POINTS`.
        number: That of the micro-batch.
    """
    cls: Any = type(target)
    write, is_inside = cls.write, False

    def stopping(self: Target, batch: Batch, dead_letters: str | None) -> bool:
        nonlocal is_inside
        is_inside = batch.number == number and point == "within"
        if (batch.number, point) == (number, "before"):
            _die()
        is_written: bool = write(self, batch, dead_letters)
        if (batch.number, point) == (number, "after"):
            _die()
        return is_written

    def dies_inside() -> None:
        if is_inside:
            _die()

    cls.write = stopping
    match cls.__name__:
        case "SQLite" | "DuckDB" | "Postgres":
            _stop_before_the_commit(cls, dies_inside)
        case "JDBC":
            insert = jdbc._Statements.insert

            def inserting(self: Any, table: str, beside: str, columns: list[str]) -> None:
                insert(self, table, beside, columns)
                dies_inside()

            jdbc._Statements.insert = inserting  # type: ignore[method-assign, assignment]
        case "Delta":
            append = cls._append

            def appending(self: Any, uri: str, batch: Batch) -> bool:
                dies_inside()
                return bool(append(self, uri, batch))

            cls._append = appending
        case "Iceberg":
            opened = cls._open

            def opening(self: Any, name: str, *others: Any) -> Any:
                if name != self.table:
                    dies_inside()
                return opened(self, name, *others)

            cls._open = opening


def _stop_before_the_commit(cls: Any, dies_inside: Any) -> None:
    transaction = cls.transaction

    @contextmanager
    def stopping(self: Target) -> Iterator[Any]:
        with transaction(self) as cursor:
            yield cursor
            dies_inside()

    cls.transaction = stopping


def _die() -> None:
    os.killpg(0, signal.SIGKILL)  # and the Java of Spark

"""Where panes go, so that a micro-batch that is run twice counts once.

`Files` is idempotent: a file for each micro-batch, replaced in one step. `Database` is
transactional: the rows and the number of their micro-batch in one transaction. Both compare what
comes twice, and note where it was not the same. Spark's own file sink needs nothing from here.

Either can be made to die, or to fail, at a point of a micro-batch: ``before`` anything is there,
``half``, when all is there and does not count, and ``after``, when it counts.
"""

import json
import os
import signal
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol


class SinkFailure(Exception):
    """What a sink raises that is to fail."""


class Sink(Protocol):
    """What is called in ``foreachBatch``."""

    def __call__(self, batch: Any, number: int) -> None: ...


def lines_of(frame: Any) -> list[str]:
    """The rows as JSON, by key. Rows of one key stay in the order in which they came out.

    What a first grouping has dropped has its key in the element; that of several keys comes by
    shard, and so by the partitions with which the checkpoint began.
    """
    from pyspark.sql import functions as F

    row = F.to_json(F.struct("*"), {"ignoreNullFields": "false", "timeZone": "UTC"})
    return by_key(text for (text,) in frame.select(row).collect())


def by_key(lines: Iterable[str]) -> list[str]:
    """Rows as JSON, those of a key together."""
    return sorted(lines, key=lambda line: json.dumps(_user_of(json.loads(line))))


def _user_of(row: Mapping[str, Any]) -> Any:
    element = (row.get("dropped") or {}).get("element")
    return row.get("user") or (json.loads(element).get("user") if element else None)


class _Sink:
    """What both have: the orders that they get in files of their folder.

    ``die`` holds a point and a micro-batch, at which all processes of the group are killed;
    ``fail`` the same, where the sink raises, once.
    """

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home

    def _reach(self, point: str, number: int) -> None:
        if self._is_told("die", point, number):
            os.killpg(0, signal.SIGKILL)
        if self._is_told("fail", point, number):
            raise SinkFailure(f"the sink is away, {point} micro-batch {number}")

    def _is_told(self, order: str, point: str, number: int) -> bool:
        path = self.home / order
        if not path.exists() or path.read_text() != f"{point} {number}":
            return False
        path.rename(self.home / f"{order} obeyed")
        return True

    def _compare(self, number: int, before: list[str], now: list[str]) -> None:
        """A micro-batch came twice; it must be the same."""
        with (self.home / "repeated").open("a") as file:
            file.write(f"{number}\n")
        if before != now:
            difference = {"batch": number, "before": before, "now": now}
            with (self.home / "differs").open("a") as file:
                file.write(json.dumps(difference) + "\n")


class Files(_Sink):
    """A file for each micro-batch."""

    def _lines(self, batch: Any) -> list[str]:
        return lines_of(batch)

    def __call__(self, batch: Any, number: int) -> None:
        lines = self._lines(batch)
        self._reach("before", number)
        path = self.home / f"{number:06}.lines"
        if path.exists():
            self._compare(number, path.read_text("utf-8").splitlines(), lines)
        hidden = path.with_suffix(".part")
        hidden.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        self._reach("half", number)
        hidden.replace(path)
        self._reach("after", number)


class Unordered(Files):
    """A file for each micro-batch, for rows of a key that come in any order."""

    def _lines(self, batch: Any) -> list[str]:
        return sorted(lines_of(batch))


class Database(_Sink):
    """A table of rows, and one of the micro-batches that are in it."""

    def __call__(self, batch: Any, number: int) -> None:
        lines = lines_of(batch)
        self._reach("before", number)
        with closing(sqlite3.connect(self.home / "panes.db", isolation_level=None)) as base:
            base.execute("create table if not exists batches (number integer primary key)")
            base.execute("create table if not exists rows (number integer, line text)")
            base.execute("begin immediate")
            known = base.execute("select 1 from batches where number = ?", (number,)).fetchone()
            if known:
                found = "select line from rows where number = ? order by rowid"
                self._compare(number, [line for (line,) in base.execute(found, (number,))], lines)
                base.execute("rollback")
                return
            base.execute("insert into batches values (?)", (number,))
            rows = ((number, line) for line in lines)
            base.executemany("insert into rows values (?, ?)", rows)
            self._reach("half", number)
            base.execute("commit")
        self._reach("after", number)

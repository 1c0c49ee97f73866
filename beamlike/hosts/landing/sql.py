"""Tables in databases that are asked in SQL: one transaction for each micro-batch.

A table ``beamlike_batches`` in the same database holds the number of the last batch of each query
and table. It is read and written in the transaction that changes the rows, so a batch that comes
again, after a crash at whatever moment, finds its own number there.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.database_types import JSON_TYPES, Types, cells, sql_types
from beamlike.hosts.landing.target import CannotLand, Target, check_columns, check_name, is_next
from beamlike.hosts.landing.value_types import ValueType

if TYPE_CHECKING:
    import pyarrow as pa

BATCHES: Final = "beamlike_batches"
"""The table of the numbers of batches."""


def quoted(name: str) -> str:
    """A name as SQL reads it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def table_of_batches(text: str, integer: str) -> str:
    """The statement that makes the table of the numbers of batches, with these types."""
    return (
        f"CREATE TABLE {BATCHES} (query {text} NOT NULL, landed_in {text} NOT NULL, "
        f"batch {integer} NOT NULL, PRIMARY KEY (query, landed_in))"
    )


def is_next_in(cursor: Any, batch: Batch, table: str, mark: str = "?") -> bool:
    """Whether a batch was not written yet; if so, that it is now. In SQL of all databases."""
    place, where = (batch.query, table), f"WHERE query = {mark} AND landed_in = {mark}"
    cursor.execute(f"SELECT batch FROM {BATCHES} {where}", place)
    before = cursor.fetchone()
    if not is_next(batch, None if before is None else before[0], table):
        return False
    if before is None:
        numbered = (
            f"INSERT INTO {BATCHES} (batch, query, landed_in) VALUES ({mark}, {mark}, {mark})"
        )
    else:
        numbered = f"UPDATE {BATCHES} SET batch = {mark} {where}"
    cursor.execute(numbered, (batch.number, *place))
    return True


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
    needed: ClassVar[tuple[str, str] | None] = None
    """What a user calls it, and the extra that it needs; None: it needs none."""
    instants_as_text: ClassVar[bool] = False
    """Whether times are texts, because the database has no type for them."""
    nested_types: ClassVar[frozenset[ValueType]] = JSON_TYPES

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """A cursor in a transaction, which is kept if nothing is raised and else undone. Two
        transactions that write to the same database wait for each other."""

    def columns_of(self, cursor: Any, table: str) -> dict[str, str]:
        """The columns of a table and their types; none if there is no such table."""
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            f"WHERE table_name = {self.mark} AND table_schema = current_schema() "
            "ORDER BY ordinal_position",
            (table,),
        )
        return dict(cursor.fetchall())

    @abstractmethod
    def errors_of_rows(self) -> tuple[type[Exception], ...]:
        """What the database raises where it is a row that cannot be put."""

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        try:
            return self._write(batch, dead_letters)
        except self.errors_of_rows() as error:
            problems = self._problems(batch, 0, batch.rows.num_rows)
            if not problems:
                raise
            raise CannotLand(problems) from error

    def _write(self, batch: Batch, dead_letters: str | None) -> bool:
        with self.transaction() as cursor:
            if not self.columns_of(cursor, BATCHES):
                cursor.execute(table_of_batches(self.types["string"], self.types["int"]))
            if not is_next_in(cursor, batch, self.table, self.mark):
                return False
            self._change(cursor, batch)
            if batch.dropped is not None and dead_letters is not None:
                self._make(cursor, dead_letters, batch.dropped)
                self._put(cursor, dead_letters, batch.dropped)
            return True

    def _change(self, cursor: Any, batch: Batch) -> None:
        self._make(cursor, self.table, batch.rows, primary=batch.row_key)
        gone = [(row_key,) for row_key in batch.gone]
        delete = f"DELETE FROM {quoted(self.table)} WHERE {quoted(batch.row_key)} = {self.mark}"
        self.execute_all(cursor, delete, gone)
        self._put(cursor, self.table, batch.rows, primary=batch.row_key)

    def _problems(self, batch: Batch, start: int, stop: int) -> Mapping[int, str]:
        """Which rows cannot be put, and why: half of them are tried, then half of these.

        Args:
            start: The first row that is tried.
            stop: The row behind the last one.
        """
        tried = attrs.evolve(batch, rows=batch.rows.slice(start, stop - start))
        try:
            with self.transaction() as cursor:
                self._change(cursor, tried)
                raise _OnlyTried
        except _OnlyTried:
            return {}
        except self.errors_of_rows() as error:
            if stop - start < 2:
                return {start: f"{type(error).__name__}: {error}".strip()} if stop > start else {}
        middle = (start + stop) // 2
        return {**self._problems(batch, start, middle), **self._problems(batch, middle, stop)}

    def check(self) -> None:
        if self.needed is not None:
            needs(*self.needed)
        check_name("table", self.table)

    def execute_all(self, cursor: Any, statement: str, rows: Sequence[Any]) -> None:
        """A statement for each of these rows."""
        if rows:
            cursor.executemany(statement, rows)

    def _make(self, cursor: Any, table: str, rows: "pa.Table", primary: str = "") -> None:
        wanted = sql_types(rows.schema, self.types)
        known = self.columns_of(cursor, table)
        if known:
            check_columns(table, known, wanted)
            return
        columns = ", ".join(
            f"{quoted(name)} {text}{' PRIMARY KEY' if name == primary else ''}"
            for name, text in wanted.items()
        )
        cursor.execute(f"CREATE TABLE {quoted(table)} ({columns})")

    def _put(self, cursor: Any, table: str, rows: "pa.Table", primary: str = "") -> None:
        names = [quoted(name) for name in rows.column_names]
        marks = ", ".join([self.mark] * len(names))
        statement = f"INSERT INTO {quoted(table)} ({', '.join(names)}) VALUES ({marks})"
        if primary:
            updated = [name for name in names if name != quoted(primary)]
            changes = ", ".join(f"{name} = excluded.{name}" for name in updated)
            statement += f" ON CONFLICT ({quoted(primary)}) DO UPDATE SET {changes}"
        self.execute_all(cursor, statement, [*cells(rows, instants_as_text=self.instants_as_text)])


class _OnlyTried(Exception):
    """Undoes a transaction that was to show whether rows can be put."""

"""Tables of Delta Lake, by its library for Python and without Spark."""

from os.path import realpath
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.landed_columns import backquoted
from beamlike.hosts.landing.target import Target, check_columns, check_name, is_next, kinds_of
from beamlike.hosts.landing.value_types import USUAL, ValueType

if TYPE_CHECKING:
    import pyarrow as pa

_HOLDS: Final[frozenset[ValueType]] = USUAL | {"null"}


@attrs.frozen
class Delta(Target):
    """A table of Delta Lake. Needs ``pip install "beamlike[delta]"``.

    The number of a batch is part of the commit that changes the rows, as an application's
    transaction: `the protocol <https://github.com/delta-io/delta/blob/master/PROTOCOL.md>`_ has
    that. Rows that were dropped are another table with commits of its own.

    Args:
        uri: The table's folder, or its address in an object store. That of dropped rows is beside
            it.
        storage_options: For the object store, see ``deltalake``.

    >>> Delta("lake/sessions")
    Delta(uri='lake/sessions')
    """

    uri: str
    storage_options: dict[str, str] | None = attrs.field(default=None, repr=False)

    column_types: ClassVar[frozenset[ValueType] | None] = _HOLDS
    nested_types: ClassVar[frozenset[ValueType]] = _HOLDS
    reads_names_in_any_case: ClassVar[bool] = True

    def check(self) -> None:
        needs("a table of Delta Lake", "delta")
        check_name("uri", self.uri)

    @property
    def place(self) -> str:
        return self.uri.rstrip("/") if "://" in self.uri else realpath(self.uri)

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        changed = self._merge(batch)
        if batch.dropped is not None and dead_letters is not None:
            folder = self.uri.rstrip("/").rpartition("/")[0]
            letters = f"{folder}/{dead_letters}".lstrip("/")
            letters = f"/{letters}" if self.uri.startswith("/") else letters
            changed |= self._append(letters, batch)
        return changed

    def _merge(self, batch: Batch) -> bool:
        table = self._open(self.uri, batch.rows, batch, batch.query)
        if table is None:
            return False
        key, names = batch.row_key, batch.rows.column_names
        source, is_gone = batch.with_gone()
        merge = table.merge(
            source,
            f"t.{backquoted(key)} = s.{backquoted(key)}",
            source_alias="s",
            target_alias="t",
            commit_properties=_numbered(batch.query, batch),
        )
        merge = merge.when_matched_delete(f"s.{backquoted(is_gone)}")
        columns = {backquoted(name): f"s.{backquoted(name)}" for name in names}
        merge = merge.when_matched_update(
            {f"t.{column}": value for column, value in columns.items()},
            f"NOT s.{backquoted(is_gone)}",
        )
        merge.when_not_matched_insert(columns, f"NOT s.{backquoted(is_gone)}").execute()
        return True

    def _append(self, uri: str, batch: Batch) -> bool:
        from deltalake import write_deltalake

        assert batch.dropped is not None, "only what was dropped is appended"
        # Writers to several tables may have one table of dead letters.
        writer = f"{batch.query} {self.place.rpartition('/')[2]}"
        table = self._open(uri, batch.dropped, batch, writer, batch.query)
        if table is None:
            return False
        numbered = _numbered(writer, batch)
        write_deltalake(table, batch.dropped, mode="append", commit_properties=numbered)
        return True

    def _open(self, uri: str, rows: "pa.Table", batch: Batch, *writers: str) -> Any:
        """The table, made if it is not there; None: it has this batch already.

        Args:
            writers: Under what the number of the last batch is; the first that is there counts.
        """
        import pyarrow as pa
        from deltalake import DeltaTable

        table = DeltaTable.create(
            uri, rows.schema, mode="ignore", storage_options=self.storage_options
        )
        numbers = (table.transaction_version(writer) for writer in writers)
        last = next((number for number in numbers if number is not None), None)
        if not is_next(batch, last, uri):
            return None
        schemas = pa.schema(table.schema().to_arrow()), rows.schema
        check_columns(uri, *(kinds_of(schema, "_view") for schema in schemas))
        return table


def _numbered(writer: str, batch: Batch) -> Any:
    from deltalake import CommitProperties, Transaction

    return CommitProperties(app_transactions=[Transaction(writer, batch.number)])

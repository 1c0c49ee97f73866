"""Tables of Delta Lake, by its library for Python and without Spark."""

from typing import TYPE_CHECKING, Any

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.batch import ROW_KEY, Batch
from beamlike.hosts.landing.target import Target, check_columns, check_name, kinds_of

if TYPE_CHECKING:
    import pyarrow as pa

_GONE = "beamlike_gone"


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

    def check(self) -> None:
        """See `Target.check`."""
        needs("a table of Delta Lake", "delta")
        check_name("uri", self.uri)

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        """See `Target.write`."""
        done = self._merge(batch)
        if batch.dropped is not None and dead_letters is not None:
            beside = f"{self.uri.rstrip('/').rpartition('/')[0]}/{dead_letters}".lstrip("/")
            beside = f"/{beside}" if self.uri.startswith("/") else beside
            done |= self._append(beside, batch)
        return done

    def _merge(self, batch: Batch) -> bool:
        import pyarrow as pa
        import pyarrow.compute as pc

        table = self._open(self.uri, batch.rows, batch)
        if table is None:
            return False
        gone = pa.table({ROW_KEY: pa.array(batch.gone, pa.string())})
        rows = batch.rows.append_column(_GONE, pa.array([False] * batch.rows.num_rows))
        source = pa.concat_tables(
            [rows, gone.append_column(_GONE, pa.array([True] * gone.num_rows))],
            promote_options="default",
        )
        assert pc.count_distinct(source.column(ROW_KEY)).as_py() == source.num_rows
        columns = {f"t.`{name}`": f"s.`{name}`" for name in batch.rows.column_names}
        merge = table.merge(
            source,
            f"t.{ROW_KEY} = s.{ROW_KEY}",
            source_alias="s",
            target_alias="t",
            commit_properties=_numbered(batch),
        )
        merge = merge.when_matched_delete(f"s.{_GONE}")
        merge = merge.when_matched_update(columns, f"NOT s.{_GONE}")
        inserted = {f"`{name}`": f"s.`{name}`" for name in batch.rows.column_names}
        merge.when_not_matched_insert(inserted, f"NOT s.{_GONE}").execute()
        return True

    def _append(self, uri: str, batch: Batch) -> bool:
        from deltalake import write_deltalake

        assert batch.dropped is not None, "only what was dropped is appended"
        table = self._open(uri, batch.dropped, batch)
        if table is None:
            return False
        write_deltalake(table, batch.dropped, mode="append", commit_properties=_numbered(batch))
        return True

    def _open(self, uri: str, rows: "pa.Table", batch: Batch) -> Any:
        """The table, made if it is not there; None: it has this batch already."""
        from deltalake import DeltaTable

        table = DeltaTable.create(
            uri, rows.schema, mode="ignore", storage_options=self.storage_options
        )
        before = table.transaction_version(batch.query)
        if before is not None and before >= batch.number:
            return None
        import pyarrow as pa

        known = kinds_of(pa.schema(table.schema().to_arrow()).empty_table())
        check_columns(uri, _alike(known), _alike(kinds_of(rows)))
        return table


def _alike(kinds: dict[str, str]) -> dict[str, str]:
    """Types without what a library chooses: views, and names of the items of lists."""
    return {
        name: kind.replace("_view", "").replace("large_", "").replace("item: ", "element: ")
        for name, kind in kinds.items()
    }


def _numbered(batch: Batch) -> Any:
    from deltalake import CommitProperties, Transaction

    return CommitProperties(app_transactions=[Transaction(batch.query, batch.number)])

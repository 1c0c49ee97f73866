"""Tables of Iceberg, by PyIceberg and without Spark."""

import warnings
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.extras import needs
from beamlike.hosts.landing.batch import ROW_KEY, Batch
from beamlike.hosts.landing.target import Target, check_columns, check_name, kinds_of

if TYPE_CHECKING:
    import pyarrow as pa


@attrs.frozen
class Iceberg(Target):
    """A table of Iceberg. Needs ``pip install "beamlike[iceberg]"``.

    The number of a batch is a property of the table, set in the commit that changes the rows. Rows
    that were dropped are another table with commits of its own.

    Args:
        catalog: The name of the catalog, as PyIceberg's configuration has it.
        table: The table's name with its namespace: ``"web.sessions"``.
        properties: Of the catalog, in place of a configuration: ``{"type": "sql", "uri":
            "sqlite:///catalog.db", "warehouse": "file:///warehouse"}``.

    >>> Iceberg("reports", "web.sessions").table
    'web.sessions'
    """

    catalog: str
    table: str
    properties: dict[str, str] = attrs.field(factory=dict, repr=False)

    def check(self) -> None:
        """See `Target.check`."""
        needs("a table of Iceberg", "iceberg")
        check_name("table", self.table)

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        """See `Target.write`."""
        from pyiceberg.expressions import In

        done = False
        table = self._open(self.table, batch.rows, batch)
        if table is not None:
            names = {*batch.gone, *batch.rows.column(ROW_KEY).to_pylist()}
            with _quiet(), table.transaction() as transaction:
                if names and table.current_snapshot() is not None:
                    transaction.delete(In(ROW_KEY, names))  # type: ignore[call-arg, arg-type]
                transaction.append(batch.rows)
                transaction.set_properties(_numbered(batch))
            done = True
        if batch.dropped is not None and dead_letters is not None:
            namespace = self.table.rpartition(".")[0]
            beside = self._open(f"{namespace}.{dead_letters}", batch.dropped, batch)
            if beside is not None:
                with beside.transaction() as transaction:
                    transaction.append(batch.dropped)
                    transaction.set_properties(_numbered(batch))
                done = True
        return done

    def _open(self, name: str, rows: "pa.Table", batch: Batch) -> Any:
        """The table, made if it is not there; None: it has this batch already."""
        from pyiceberg.catalog import load_catalog

        catalog = load_catalog(self.catalog, **self.properties)
        catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
        table = catalog.create_table_if_not_exists(name, schema=rows.schema)
        before = table.properties.get(_property(batch))
        if before is not None and int(before) >= batch.number:
            return None
        known = kinds_of(table.schema().as_arrow().empty_table())
        check_columns(name, _alike(known), _alike(kinds_of(rows)))
        return table


def _quiet() -> "warnings.catch_warnings[None]":
    """It warns of a delete that finds nothing: then all rows are new."""
    return warnings.catch_warnings(action="ignore", category=UserWarning)


def _alike(kinds: dict[str, str]) -> dict[str, str]:
    """Types without what a library chooses: how long strings are, and names of items."""
    return {
        name: kind.replace("large_", "").replace("item: ", "element: ").replace(" not null", "")
        for name, kind in kinds.items()
    }


def _property(batch: Batch) -> str:
    return f"beamlike.batch.{batch.query}"


def _numbered(batch: Batch) -> dict[str, str]:
    return {_property(batch): str(batch.number)}

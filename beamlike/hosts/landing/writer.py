"""What ``foreachBatch`` calls with each micro-batch: it lands in a table, once."""

from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.hosts.landing.batch import changes_of
from beamlike.hosts.landing.target import Target
from beamlike.model.readable import Readable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark says which query a micro-batch is of: a restart from its checkpoint keeps it."""


@attrs.frozen
class Upserting(metaclass=Readable):
    """Writes micro-batches to a table; made by `beamlike.upsert_into`.

    Args:
        target: The table.
        key: The key columns.
        dead_letters: The table for rows that were dropped; None: they are left out.
        name: What the numbers of the batches are kept under, together with the query's id.
    """

    target: Target
    key: tuple[str, ...]
    dead_letters: str | None
    name: str

    def __call__(self, batch: "DataFrame | pa.Table", number: int) -> None:
        """Write a micro-batch. One that is in the table already changes nothing.

        Args:
            batch: Rows of a query, as a DataFrame or as a table of Arrow.
            number: The number of the micro-batch.

        Raises:
            ColumnError: A column is missing, or the table has others.
        """
        from beamlike.runtime.canonical import canonical

        table: Any = batch if not hasattr(batch, "toArrow") else batch.toArrow()
        changes = changes_of(
            canonical(table),
            self.key,
            f"{self.name}{_query_of(batch)}",
            number,
            dead_letters=self.dead_letters is not None,
        )
        if changes.rows.num_rows or changes.gone or (changes.dropped or ()):
            self.target.write(changes, self.dead_letters)


def _query_of(batch: Any) -> str:
    """The id of the query, after a colon; nothing where it cannot be known."""
    session = getattr(batch, "sparkSession", None)
    # Spark Connect has no driver to ask.
    context = getattr(session, "_sc", None)
    found = None if context is None else context.getLocalProperty(_QUERY_ID)
    return f":{found}" if found else ""

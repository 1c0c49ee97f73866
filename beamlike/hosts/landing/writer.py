"""What ``foreachBatch`` calls with each micro-batch: it lands in a table, once."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID

import attrs

from beamlike.errors import ColumnError, StateError
from beamlike.hosts.landing.batch import Batch, changes_of
from beamlike.hosts.landing.target import CannotLand, Target
from beamlike.model.readable import Readable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_DEFAULT_NAME: Final = "beamlike"
_LOGGER: Final = logging.getLogger("beamlike.tables")

_QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark says which query a micro-batch is of: a restart from its checkpoint keeps it."""

_RUN_ID: Final = "spark.jobGroup.id"
"""Where Spark says which run of the query: a restart is another."""


def _is_uuid(text: str | None) -> bool:
    """Whether this is an id of Spark's, and not one that a user has set in its place."""
    try:
        return text is not None and bool(UUID(text))
    except ValueError:
        return False


_CONNECT: Final = "connect"
"""The run of a query over Spark Connect, which does not say whose micro-batch it is."""

_written: Final[dict[tuple[str, str, str], int]] = {}
"""The last micro-batch that this process wrote, by run, name and place of the table."""


@attrs.frozen
class Upserting(metaclass=Readable):
    """Writes micro-batches to a table; made by `beamlike.upsert_into`.

    Args:
        target: The table.
        key: The key columns.
        dead_letters: The table for rows that were dropped; None: they are left out.
        name: What the numbers of the batches are kept under, together with the query's id; None:
            the same for all writers.
        on_error: What becomes of a row that the table cannot take.
        accept_rollback: Whether a table takes micro-batches that are older than its last one.
    """

    target: Target
    key: tuple[str, ...]
    dead_letters: str | None
    name: str | None
    on_error: Literal["drop", "fail"] = "drop"
    accept_rollback: bool = False

    def __call__(self, batch: "DataFrame | pa.Table", number: int) -> None:
        """Write a micro-batch. One that is in the table already changes nothing.

        Args:
            batch: Rows of a query, as a DataFrame or as a table of Arrow.
            number: The number of the micro-batch.

        Raises:
            ColumnError: A column is missing, or of a type that the table cannot hold, or the table
                has others; a row cannot land, under ``on_error="fail"``.
            StateError: The table has a later micro-batch; another writer of the same name wrote
                this one; the query has no id, and the writer no name.
        """
        from beamlike.runtime.row_metadata import canonical

        run = _QueryRun.of(batch, self.name)
        run.check_first(self.target, number)
        changes = changes_of(
            canonical(_as_table(batch)),
            self.key,
            run.query,
            number,
            dead_letters=self.dead_letters is not None,
            accepts_rollback=self.accept_rollback,
            is_of_known_query=run.id != _CONNECT,
        )
        self.target.check_columns(changes.rows.schema)
        if problems := self.target.unlandable(changes):
            changes = self._without(changes, problems)
        if changes.changes_something:
            try:
                self.target.write(changes, self.dead_letters)
            except CannotLand as refused:
                changes = self._without(changes, refused.problems)
                self.target.write(changes, self.dead_letters)
        run.note(self.target, number)

    def _without(self, batch: Batch, problems: Mapping[int, str]) -> Batch:
        """The batch without these rows, which become dead letters."""
        first = min(problems)
        row_key = batch.rows.column(batch.row_key)[first].as_py()
        problem, *_ = problems[first].splitlines()
        refusal = f"the result {row_key} cannot land in {self.target}: {problem}"
        if self.on_error == "fail":
            raise ColumnError(
                f"upsert_into: {refusal}; mend the value before, or leave it out with "
                'on_error="drop"'
            )
        where = (
            "they are lost: give dead_letters= a table that keeps them"
            if self.dead_letters is None
            else f"they are in {self.dead_letters!r}"
        )
        _LOGGER.warning(
            "upsert_into: %d results of micro-batch %d cannot land, and %s. The first: %s",
            len(problems),
            batch.number,
            where,
            refusal,
        )
        return batch.without(problems)


def _as_table(batch: Any) -> "pa.Table":
    """The rows in Arrow."""
    if not hasattr(batch, "toArrow"):
        return batch
    import pyarrow as pa
    from pyspark.errors import PySparkException

    from beamlike.hosts.pyspark_types import arrow_type

    try:
        return batch.toArrow()
    except (PySparkException, pa.ArrowException):
        for field in batch.schema.fields:
            if "variant" in field.dataType.simpleString():
                raise ColumnError(
                    f"upsert_into: column {field.name!r} is {field.dataType.simpleString()}, which "
                    "no table can hold unchanged; make a text of it before, with F.to_json"
                ) from None
            arrow_type(field.dataType, field.name, "upsert_into")
        raise


@attrs.frozen
class _QueryRun:
    """The query whose micro-batch comes, and this run of the query.

    Attributes:
        query: What numbers of micro-batches are kept under.
        id: The run; None: it cannot be known.
    """

    query: str
    id: str | None

    @classmethod
    def of(cls, batch: Any, name: str | None) -> "_QueryRun":
        """The run that a micro-batch is of."""
        session = getattr(batch, "sparkSession", None)
        if session is None:
            return cls(name or _DEFAULT_NAME, None)
        context = getattr(session, "_sc", None)
        if context is None:
            # Each start of a query has a process of its own for its foreachBatch.
            if name is None:
                raise StateError(
                    "upsert_into: over Spark Connect a writer cannot know which query it is of; "
                    "give name= a text of its own for each query and each checkpoint, such as "
                    'name="visits, first checkpoint": the numbers of micro-batches are kept '
                    "under it"
                )
            return cls(name, _CONNECT)
        query = context.getLocalProperty(_QUERY_ID)
        named = name or _DEFAULT_NAME
        run = context.getLocalProperty(_RUN_ID)
        return cls(f"{named}:{query}" if query else named, run if query and _is_uuid(run) else None)

    def check_first(self, target: Target, number: int) -> None:
        """Refuse a micro-batch that was written in this run: a restart would be another run."""
        if self.id is not None and _written.get((self.id, self.query, target.place)) == number:
            raise StateError(
                f"upsert_into: two writers of one name write micro-batch {number} to {target}, and "
                "the second would be taken for the first; give each its own name=, or write the "
                "rows together"
            )

    def note(self, target: Target, number: int) -> None:
        """Keep in mind that a micro-batch was written."""
        if self.id is not None:
            _written[self.id, self.query, target.place] = number

"""Tables of Spark's own catalogs whose format knows ``MERGE``: Delta Lake, Iceberg and others.

A micro-batch is one ``MERGE`` by `row_key`, so that the same batch again leaves the table as it is.
Then its number is kept in the table ``beamlike_batches`` of the same namespace. A driver that dies
in between comes back with that batch: its rows are merged again and change nothing. Delta Lake also
takes the number into the commit of the rows, and leaves out a batch that it has, so that a driver
that was thought dead cannot put an older batch over a newer one.
"""

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from random import uniform
from typing import TYPE_CHECKING, Any, ClassVar, Final
from uuid import uuid4

import attrs

from beamlike.errors import ColumnError, EnvironmentProblem
from beamlike.extras import needs
from beamlike.hosts.landing.batch import Batch
from beamlike.hosts.landing.landed_columns import backquoted
from beamlike.hosts.landing.sql import BATCHES
from beamlike.hosts.landing.target import Target, check_columns, is_next
from beamlike.hosts.landing.value_types import USUAL, ValueType

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_LOGGER: Final = logging.getLogger("beamlike.tables")

_ATTEMPTS: Final = 8
"""How often a commit is tried that other writers of the table come before."""

_CONFLICT: Final = re.compile(
    r"Concurrent\w*Exception|DELTA_CONCURRENT|CommitFailedException|Found conflicting files|"
    r"Cannot commit|stale table metadata"
)
"""In Delta Lake's and Iceberg's errors where another writer came first."""

_DOT: Final = re.compile(r"\.(?=(?:[^`]*`[^`]*`)*[^`]*$)")
"""Between two parts of a name as SQL has it: dots within backticks belong to a part."""

_TRANSACTION: Final = (
    "spark.databricks.delta.write.txnAppId",
    "spark.databricks.delta.write.txnVersion",
)
"""Settings with which Delta Lake takes the number of a batch into its commit."""


@attrs.frozen
class SparkTable(Target):
    """A table of one of Spark's catalogs, written by ``MERGE INTO`` through the session.

    Its format has to know ``MERGE``, as Delta Lake and Iceberg do. Spark's own formats, such as
    Parquet, do not. The session needs the format's jar and settings.

    Rows that were dropped are another table of the same namespace, with the column ``query``.

    Args:
        table: The table's name as SQL has it, with its namespace and catalog if need be:
            ``"lake.web.visits"``.
        using: The format of a table that is made: ``"delta"``, ``"iceberg"``; None: what the
            catalog makes by itself.
        properties: Properties of a table that is made, as ``TBLPROPERTIES`` has them.

    >>> SparkTable("lake.web.visits").table
    'lake.web.visits'

    Source: Spark SQL, ``MERGE INTO``; Delta Lake, ``txnAppId`` and ``txnVersion``.
    """

    table: str
    using: str | None = None
    properties: Mapping[str, str] = attrs.field(factory=dict)

    column_types: ClassVar[frozenset[ValueType] | None] = USUAL
    nested_types: ClassVar[frozenset[ValueType]] = USUAL
    reads_names_in_any_case: ClassVar[bool] = True

    def check(self) -> None:
        needs("a table of Spark's catalogs", "spark")
        if not isinstance(self.table, str) or not self.table.strip():
            raise ColumnError(f"table must be the name of a table, got {self.table!r}")
        if self.using is not None and not (
            isinstance(self.using, str) and self.using.replace(".", "").isidentifier()
        ):
            raise ColumnError(
                'using must be the name of a format such as "delta" or "iceberg", got '
                f"{self.using!r}"
            )

    @property
    def place(self) -> str:
        return self.table

    def write(self, batch: Batch, dead_letters: str | None) -> bool:
        catalog = _Catalog(_session(), self)
        last, rollbacks = catalog.last_batch(batch.query)
        if not is_next(batch, last, self.table):
            return False
        is_rollback = last is not None and batch.number < last
        rollbacks += is_rollback
        if batch.dropped is not None and dead_letters is not None:
            self._write_letters(catalog, batch, dead_letters, is_rollback=is_rollback)
        if batch.rows.num_rows or batch.gone:
            self._merge(catalog, batch, rollbacks)
        catalog.keep(batch.query, batch.number, rollbacks)
        return True

    def _merge(self, catalog: "_Catalog", batch: Batch, rollbacks: int) -> None:
        catalog.make(self.table, batch.rows)
        rows, is_gone = batch.with_gone()
        key, marked = backquoted(batch.row_key), f"s.{backquoted(is_gone)}"
        columns = [*map(backquoted, batch.rows.column_names)]
        changes = ", ".join(f"t.{column} = s.{column}" for column in columns)
        values = ", ".join(f"s.{column}" for column in columns)
        # After a rollback numbers begin anew, for an application of another name.
        application = f"{batch.query} {rollbacks}" if rollbacks else batch.query
        # Queries of one session of Spark Connect have its settings together.
        is_alone = hasattr(catalog.spark, "_jsparkSession")
        numbered = catalog.numbered(application, batch.number) if is_alone else nullcontext()
        with catalog.view(rows) as source, numbered:
            catalog.commit(
                f"MERGE INTO {self.table} t USING {source} s ON t.{key} = s.{key} "
                f"WHEN MATCHED AND {marked} THEN DELETE "
                f"WHEN MATCHED THEN UPDATE SET {changes} "
                f"WHEN NOT MATCHED AND NOT {marked} "
                f"THEN INSERT ({', '.join(columns)}) VALUES ({values})"
            )

    def _write_letters(
        self, catalog: "_Catalog", batch: Batch, dead_letters: str, *, is_rollback: bool
    ) -> None:
        """Insert the letters of a batch, unless the table has letters of that batch."""
        import pyarrow as pa

        assert batch.dropped is not None, "only what was dropped is inserted"
        # Writers to several tables may have one table of dead letters.
        writer = f"{batch.query} {self.table}"
        letters = batch.dropped.append_column(
            "query", pa.array([writer] * batch.dropped.num_rows, pa.string())
        )
        name = catalog.in_namespace(dead_letters)
        catalog.make(name, letters)
        if is_rollback:
            catalog.commit(
                f"DELETE FROM {name} WHERE query = {_literal(writer)} AND batch >= {batch.number}"
            )
        columns = [*map(backquoted, letters.column_names)]
        values = ", ".join(f"s.{column}" for column in columns)
        with catalog.view(letters) as source:
            catalog.commit(
                f"MERGE INTO {name} t USING {source} s "
                "ON t.query = s.query AND t.batch = s.batch "
                f"WHEN NOT MATCHED THEN INSERT ({', '.join(columns)}) VALUES ({values})"
            )


@attrs.frozen
class _Catalog:
    """The session as one target uses it.

    Attributes:
        target: The target, which says where tables are and how they are made.
    """

    spark: Any
    target: SparkTable

    def in_namespace(self, name: str) -> str:
        """A table in the namespace of the target."""
        parts = _DOT.split(self.target.table)
        return ".".join([*parts[:-1], backquoted(name)])

    def make(self, name: str, rows: "pa.Table") -> None:
        """Make a table if there is none, and else compare its columns with these."""
        from pyspark.errors import AnalysisException

        from beamlike.hosts.pyspark_types import frame_of

        wanted = _types_of(frame_of(self.spark, rows.slice(0, 0)))
        if not self.spark.catalog.tableExists(name):
            columns = ", ".join(f"{backquoted(column)} {dtype}" for column, dtype in wanted.items())
            using = f" USING {self.target.using}" if self.target.using else ""
            properties = ", ".join(
                f"{_literal(key)} = {_literal(value)}"
                for key, value in self.target.properties.items()
            )
            stored = f" TBLPROPERTIES ({properties})" if properties else ""
            try:
                self.commit(f"CREATE TABLE IF NOT EXISTS {name} ({columns}){using}{stored}")
            except AnalysisException as error:
                reason, *_ = str(error).splitlines()
                raise ColumnError(
                    f"upsert_into: Spark cannot make the table {name}: {reason}"
                ) from error
        known = _types_of(self.spark.table(name))
        check_columns(name, known, _as_in_table(wanted, known))

    @contextmanager
    def view(self, rows: "pa.Table") -> Iterator[str]:
        """The name under which a statement reads these rows, while the context is open."""
        from beamlike.hosts.pyspark_types import frame_of

        name = f"beamlike_{uuid4().hex}"
        frame_of(self.spark, rows).createOrReplaceTempView(name)
        try:
            yield name
        finally:
            self.spark.catalog.dropTempView(name)

    @contextmanager
    def numbered(self, application: str, number: int) -> Iterator[None]:
        """Commits of Delta Lake have this application and number, while the context is open."""
        try:
            for setting, value in zip(_TRANSACTION, (application, str(number)), strict=True):
                self.spark.conf.set(setting, value)
            yield
        finally:
            for setting in _TRANSACTION:
                self.spark.conf.unset(setting)

    def commit(self, statement: str) -> None:
        """Run a statement, again if another writer of the table came first."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self.spark.sql(statement).collect()
                return
            except Exception as error:
                if attempt == _ATTEMPTS or not _CONFLICT.search(f"{type(error).__name__} {error}"):
                    raise
                table = self.target.table
                _LOGGER.info(
                    "upsert_into: another writer of %s came first; attempt %d", table, attempt
                )
                time.sleep(uniform(0.05, 0.2) * 2**attempt)

    def last_batch(self, query: str) -> tuple[int | None, int]:
        """The number of the last batch of a query in the table, None if none has landed; and how
        often it was set back."""
        name = self.in_namespace(BATCHES)
        self.make(name, self._number_of(query, 0, 0).slice(0, 0))
        rows = self.spark.sql(
            f"SELECT batch, rollbacks FROM {name} WHERE query = {_literal(query)} "
            f"AND landed_in = {_literal(self.target.table)}"
        ).collect()
        return (int(rows[0]["batch"]), int(rows[0]["rollbacks"])) if rows else (None, 0)

    def keep(self, query: str, number: int, rollbacks: int) -> None:
        """Keep the number of a batch that has landed."""
        with self.view(self._number_of(query, number, rollbacks)) as source:
            self.commit(
                f"MERGE INTO {self.in_namespace(BATCHES)} t USING {source} s "
                "ON t.query = s.query AND t.landed_in = s.landed_in "
                "WHEN MATCHED THEN UPDATE SET t.batch = s.batch, t.rollbacks = s.rollbacks "
                "WHEN NOT MATCHED THEN INSERT (query, landed_in, batch, rollbacks) "
                "VALUES (s.query, s.landed_in, s.batch, s.rollbacks)"
            )

    def _number_of(self, query: str, number: int, rollbacks: int) -> "pa.Table":
        import pyarrow as pa

        counts = pa.array([number], pa.int64()), pa.array([rollbacks], pa.int64())
        names = ["query", "landed_in", "batch", "rollbacks"]
        return pa.table([[query], [self.target.table], *counts], names)


def _session() -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise EnvironmentProblem(
            "a table of Spark's catalogs is written through a session, and none is active here; "
            "make one before, such as bl.local_session(), or write to another target"
        )
    return session


def _types_of(frame: "DataFrame") -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema.fields}


def _as_in_table(wanted: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """The types of results, where the table has a wider integer as the type of the table.

    Iceberg has no integers of 8 and 16 bits.
    """
    wider = {"tinyint": ("smallint", "int"), "smallint": ("int",)}
    return {
        name: known[name] if known.get(name) in wider.get(dtype, ()) else dtype
        for name, dtype in wanted.items()
    }


def _literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

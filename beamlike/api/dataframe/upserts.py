"""`upsert_into`: results land in a table, one row for each that stands."""

from collections.abc import Sequence
from typing import get_args

from beamlike.api.arguments import check_choice, column_names
from beamlike.api.arguments import check_name as check_text
from beamlike.errors import ColumnError, WindowingError
from beamlike.hosts.landing.target import Target, check_name
from beamlike.hosts.landing.writer import Upserting
from beamlike.runtime.options import OnError


def upsert_into(
    target: Target,
    key: str | Sequence[str],
    *,
    dead_letters: str | None = None,
    name: str | None = None,
    on_error: OnError = "drop",
    accept_rollback: bool = False,
) -> Upserting:
    """What writes the rows of a query to a table, given to ``writeStream.foreachBatch``.

    The table has a row for each result that stands: it is put when its pane comes, replaced when
    a later pane does, and deleted when its session merged into another one or all of its rows were
    withdrawn. What names a row is its key and window; with ``render="upserts"`` its key and
    session, which stays as the session grows. That is the column ``row_key``.

    Each micro-batch is written in one transaction together with its number, so it lands once,
    whenever the query is killed. The number is kept for the query, by its checkpoint: a query
    with a new checkpoint writes everything that it emits. A micro-batch with a smaller number than
    the last one in the table is refused: the checkpoint is older than the table.

    The table is made by the first micro-batch with rows. It has ``row_key``, the key columns, the
    aggregates, ``window_start`` and ``window_end``, ``timestamp``, ``timing`` (that of the pane)
    and with ``render="upserts"`` ``session_identity``: a text that stays as a session grows, and
    is not a time. One that is there must have these columns and types. Where a column of the
    results has one of these names, the table's own is called ``beamlike_row_key``, and so on.

    Values come back from the table as they were. A type for which the table has no such column is
    refused with the first micro-batch.

    The rows of a micro-batch are brought to the driver. A grouping that discards emits parts of
    results, of which the last one would stay: use it with retracting or accumulating panes. Do not
    repartition the rows on the way, or their order is lost.

    Args:
        target: The table: `beamlike.tables.SQLite`, ``DuckDB``, ``Postgres``, ``JDBC``,
            ``Delta``, ``Iceberg`` or ``SparkTable``.
        key: The columns of the rows that the grouping has as its key.
        dead_letters: The table for rows that were dropped, beside the target: the query then has
            to emit them, as `Stream.everything` or ``windowed(..., output="all")`` does.
        name: What the numbers of the micro-batches are kept under, together with the table and
            the query. Two writers of one query to one table need two names. Over Spark Connect,
            where the query cannot be known, each query and each checkpoint needs a name.
        on_error: What becomes of a row that the table cannot take, such as NaN in SQLite.
            ``"drop"``: it becomes a dead letter with the reason ``cannot_land``, and a line in the
            log ``beamlike.tables``; an older row of the same result is deleted. ``"fail"``: the
            query ends.
        accept_rollback: After an older checkpoint was restored: put the results of the
            micro-batches that come again over the rows that are there. Rows that only the lost
            micro-batches had put stay.

    Raises:
        ColumnError: The target is none; a name of a table is none.
        WindowingError: Another argument cannot be.
        EnvironmentProblem: What the target needs is not installed.

    >>> import tempfile
    >>> import beamlike as bl
    >>> from beamlike.tables import SQLite
    >>> folder = tempfile.mkdtemp()
    >>> write = bl.upsert_into(SQLite(f"{folder}/results.db", "visits"), key="user")
    >>> write.key
    ('user',)
    """
    if not isinstance(target, Target):
        raise ColumnError(
            f'target must be a table such as beamlike.tables.SQLite("results.db", "visits"), got '
            f"{target!r}"
        )
    target.check()
    if dead_letters is not None:
        check_name("dead_letters", dead_letters)
    if name is not None:
        check_text(name)
    check_choice("on_error", on_error, get_args(OnError))
    if not isinstance(accept_rollback, bool):
        raise WindowingError(f"accept_rollback must be True or False, got {accept_rollback!r}")
    names = tuple(column_names(key, "key"))
    return Upserting(target, names, dead_letters, name, on_error, accept_rollback)

"""`upsert_into`: results land in a table, one row for each that stands."""

from collections.abc import Sequence

from beamlike.api.dataframe.arguments import column_names
from beamlike.errors import ColumnError
from beamlike.hosts.landing.target import Target, check_name
from beamlike.hosts.landing.writer import Upserting


def upsert_into(
    target: Target,
    key: str | Sequence[str],
    *,
    dead_letters: str | None = None,
    name: str = "beamlike",
) -> Upserting:
    """What writes the rows of a query to a table, given to ``writeStream.foreachBatch``.

    The table has a row for each result that stands: it is put when its pane comes, replaced when
    a later pane does, and deleted when its session merged into another one or all of its rows were
    withdrawn. What names a row is its key and window; with ``render="upserts"`` its key and
    session, which stays as the session grows. That is the column ``row_key``.

    Each micro-batch is written in one transaction together with its number, so it lands once,
    whenever the query is killed. The number is kept for the query, by its checkpoint: a query
    with a new checkpoint writes everything that it emits.

    The table is made by the first micro-batch with rows. It has ``row_key``, the key columns, the
    aggregates, ``window_start`` and ``window_end``, ``timestamp``, ``timing`` (that of the pane)
    and with ``render="upserts"`` ``session_identity``: a text that stays as a session grows, and
    tells no time. One that is there must have these columns and types.

    The rows of a micro-batch are brought to the driver. A grouping that discards emits parts of
    results, of which the last one would stay: use it with retracting or accumulating panes. Do not
    repartition the rows on the way, or their order is lost.

    Args:
        target: The table: `beamlike.tables.SQLite`, ``DuckDB``, ``Postgres``, ``Delta`` or
            ``Iceberg``.
        key: The columns of the rows that the grouping has as its key.
        dead_letters: The table for rows that were dropped, beside the target: the query then has
            to emit them, as `Stream.everything` or ``windowed(..., output="all")`` does.
        name: Two writers of one query to one table need two names.

    Raises:
        ColumnError: The target is none; a name is none.
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
    return Upserting(target, tuple(column_names(key, "key")), dead_letters, name)

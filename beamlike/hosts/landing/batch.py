"""What one micro-batch changes in a table: rows to put, rows to delete, rows that were dropped.

The rows of a query say it in one of three ways, as its grouping renders them:

=================  =======================================================================
the rows have      what they say
=================  =======================================================================
``change``         ``upsert`` puts the result of the key and its session, or its window if
                   there is no column ``session_identity``; ``delete`` deletes it
``retraction``     a row that withdraws deletes the result of its key and window, any other
                   puts it
neither            each row puts the result of its key and window
=================  =======================================================================

Of several changes of one result in a batch the last one counts.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import attrs

from beamlike.errors import ColumnError
from beamlike.hosts.landing.landed_columns import ROW_KEY, LandedColumns, free_name
from beamlike.hosts.landing.letters import letters_of_dropped, letters_of_rows
from beamlike.hosts.landing.value_types import in_utc
from beamlike.runtime.session_identity import SESSION_IDENTITY, identity_bounds

if TYPE_CHECKING:
    import pyarrow as pa


@attrs.frozen(eq=False)
class Batch:
    """What one micro-batch changes.

    Attributes:
        query: Whose micro-batches are numbered.
        gone: The keys of the rows to delete.
        dropped: The rows that were dropped on the way; None if they are not wanted.
        columns: The columns of the micro-batch, by what they are.
        accepts_rollback: Whether a table that has a later micro-batch takes this one.
        is_of_known_query: Whether `query` is of one query alone. Else the last number in the table
            may be of another query, and a batch with that number is written again.
    """

    query: str
    number: int
    rows: "pa.Table"
    gone: Sequence[str]
    dropped: "pa.Table | None"
    columns: LandedColumns
    accepts_rollback: bool = False
    is_of_known_query: bool = True

    @property
    def row_key(self) -> str:
        """The column that names a result."""
        return self.columns.landed_names[ROW_KEY]

    @property
    def changes_something(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.rows.num_rows or self.gone or (self.dropped or ()))

    def with_gone(self) -> tuple["pa.Table", str]:
        """The rows to put and the keys of those to delete in one table, and the name of a column
        that says of which kind a row is."""
        import pyarrow as pa

        is_gone = free_name("beamlike_gone", self.rows.column_names)
        gone = pa.table({self.row_key: pa.array(self.gone, pa.string())})
        marked = [
            rows.append_column(is_gone, pa.array([is_deleted] * rows.num_rows, pa.bool_()))
            for rows, is_deleted in ((self.rows, False), (gone, True))
        ]
        return pa.concat_tables(marked, promote_options="default"), is_gone

    def without(self, problems: Mapping[int, str]) -> "Batch":
        """The batch without rows that the table cannot take, which become dead letters.

        An older row of such a result is deleted: it does not stand any longer.
        """
        import pyarrow as pa

        refused = sorted(problems)
        kept = [index for index in range(self.rows.num_rows) if index not in problems]
        lost = self.rows.take(pa.array(refused, pa.int64()))
        dropped = self.dropped
        if dropped is not None:
            errors = [problems[index] for index in refused]
            letters = letters_of_rows(lost, self.columns, self.number, errors)
            dropped = pa.concat_tables([dropped, letters])
        return attrs.evolve(
            self,
            rows=self.rows.take(pa.array(kept, pa.int64())),
            gone=[*self.gone, *lost.column(self.row_key).to_pylist()],
            dropped=dropped,
        )


def changes_of(
    table: "pa.Table",
    key: Sequence[str],
    query: str,
    number: int,
    *,
    dead_letters: bool,
    accepts_rollback: bool = False,
    is_of_known_query: bool = True,
) -> Batch:
    """What the rows of a micro-batch change."""
    import pyarrow as pa

    columns = LandedColumns.of(table.schema, key)
    if dead_letters and not columns.has_dropped:
        raise ColumnError(
            "upsert_into: dead_letters needs the rows that were dropped, and there is no column "
            "'dropped'; write Stream.everything, or windowed(..., output=\"all\")"
        )
    table = table.cast(pa.schema([field.with_type(in_utc(field.type)) for field in table.schema]))
    dropped = [False] * table.num_rows
    if columns.has_dropped:
        dropped = table.column("dropped").is_valid().to_pylist()
    last: dict[str, tuple[bool, int]] = {}
    row_keys = _row_keys(table, columns)
    is_gone = _is_gone(table, columns, dropped)
    for index, (row_key, gone) in enumerate(zip(row_keys, is_gone, strict=True)):
        if not dropped[index]:
            # Put where it changed last: so that the rows come in the order of their changes.
            last.pop(row_key, None)
            last[row_key] = (gone, index)
    puts = pa.array([index for gone, index in last.values() if not gone], pa.int64())
    return Batch(
        query,
        number,
        _shown(table, columns, row_keys).take(puts),
        [row_key for row_key, (gone, _) in last.items() if gone],
        letters_of_dropped(table.column("dropped"), number) if dead_letters else None,
        columns,
        accepts_rollback,
        is_of_known_query,
    )


def _is_gone(table: "pa.Table", columns: LandedColumns, dropped: Sequence[bool]) -> list[bool]:
    match columns.rendering:
        case "changelog" | "upserts":
            changes = table.column("change").to_pylist()
            for change, is_dropped in zip(changes, dropped, strict=True):
                if not is_dropped and change not in ("upsert", "delete"):
                    raise ColumnError(
                        "upsert_into: the column 'change' says whether a row is an upsert or a "
                        f"delete, got {change!r}; rename it, if it is a result of yours"
                    )
            return [change == "delete" for change in changes]
        case "retractions":
            return [bool(withdraws) for withdraws in table.column("retraction").to_pylist()]
    return [False] * table.num_rows


def _row_keys(table: "pa.Table", columns: LandedColumns) -> list[str]:
    of_session = columns.rendering == "upserts"
    ends_of: Callable[[Any], list[str | None]] = _ends_of_identity if of_session else _ends
    names = table.column(SESSION_IDENTITY if of_session else "window").to_pylist()
    keys = [table.column(name).to_pylist() for name in columns.key]
    return [
        json.dumps([*map(_plain, values), *ends_of(name)], default=str)
        for *values, name in zip(*keys, names, strict=True)
    ]


def _ends_of_identity(identity: str | None) -> list[str | None]:
    """The bounds in the identity of a session, in the form that keys of rows always had."""
    return [None, None] if identity is None else [*map(_instant, identity_bounds(identity))]


def _instant(micros: int) -> str | None:
    try:
        return _plain(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros))  # type: ignore[no-any-return]
    except OverflowError:  # the end of time
        return None


def _ends(span: Mapping[str, datetime | None] | None) -> list[str | None]:
    if span is None:
        return [None, None]
    return [_plain(span["start"]), _plain(span["end"])]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else value


def _shown(table: "pa.Table", columns: LandedColumns, row_keys: Sequence[str]) -> "pa.Table":
    """The columns of the rows to put: windows by their ends, panes by their timing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    shown: dict[str, Any] = {columns.landed_names[ROW_KEY]: pa.array(row_keys, pa.string())}
    for name in table.column_names:
        if name in columns.users:
            shown[name] = table.column(name)
        elif name == SESSION_IDENTITY:
            shown[columns.landed_names[name]] = table.column(name)
        elif name == "window":
            for end in ("start", "end"):
                shown[columns.landed_names[f"{name}_{end}"]] = pc.struct_field(
                    table.column(name), end
                )
        elif name == "pane":
            shown[columns.landed_names["timing"]] = pc.struct_field(table.column(name), "timing")
    return pa.table(shown)

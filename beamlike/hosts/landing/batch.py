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
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import ColumnError
from beamlike.runtime.session_identity import (
    SESSION_IDENTITY,
    check_renamed,
    identity_bounds,
)

if TYPE_CHECKING:
    import pyarrow as pa

ROW_KEY: Final = "row_key"
"""The column that names a result: its key and its session or window, as JSON."""

_LEFT_OUT: Final = frozenset(("pane", "retraction", "change", "dropped", "window"))


@attrs.frozen(eq=False)
class Batch:
    """What one micro-batch changes.

    Attributes:
        query: Whose micro-batches are numbered.
        number: Its number.
        rows: The rows to put, with `ROW_KEY`.
        gone: The keys of the rows to delete.
        dropped: The rows that were dropped on the way; None if they are not wanted.
    """

    query: str
    number: int
    rows: "pa.Table"
    gone: Sequence[str]
    dropped: "pa.Table | None"


def changes_of(
    table: "pa.Table", key: Sequence[str], query: str, number: int, *, dead_letters: bool
) -> Batch:
    """What the rows of a micro-batch change.

    Raises:
        ColumnError: A column of the key is missing, or there are no windows, or no dropped rows
            where these are wanted.
    """
    import pyarrow as pa

    _check(table, key, dead_letters)
    dropped = _is_dropped(table)
    last: dict[str, tuple[bool, int]] = {}
    names = _row_keys(table, key)
    for at, (name, gone) in enumerate(zip(names, _is_gone(table), strict=True)):
        if not dropped[at]:
            # Put where it changed last: so that the rows come in the order of their changes.
            last.pop(name, None)
            last[name] = (gone, at)
    puts = pa.array([at for gone, at in last.values() if not gone], pa.int64())
    return Batch(
        query,
        number,
        _shown(table, names).take(puts),
        [name for name, (gone, _) in last.items() if gone],
        _dead(table, number) if dead_letters else None,
    )


def _check(table: "pa.Table", key: Sequence[str], dead_letters: bool) -> None:
    for name in (*key, "window"):
        if name not in table.column_names:
            check_renamed("upsert_into key", name, table.column_names)
            known = ", ".join(map(repr, table.column_names))
            raise ColumnError(
                f"upsert_into: there is no column {name!r}; the rows have {known}. A result is "
                "known by its key and window: keep these columns"
            )
    if dead_letters and "dropped" not in table.column_names:
        raise ColumnError(
            "upsert_into: dead_letters needs the rows that were dropped, and there is no column "
            "'dropped'; write Stream.everything, or windowed(..., output=\"all\")"
        )


def _is_dropped(table: "pa.Table") -> list[bool]:
    if "dropped" not in table.column_names:
        return [False] * table.num_rows
    return table.column("dropped").is_valid().to_pylist()  # type: ignore[no-any-return]


def _is_gone(table: "pa.Table") -> list[bool]:
    if "change" in table.column_names:
        return [change == "delete" for change in table.column("change").to_pylist()]
    if "retraction" in table.column_names:
        return [bool(withdraws) for withdraws in table.column("retraction").to_pylist()]
    return [False] * table.num_rows


def _row_keys(table: "pa.Table", key: Sequence[str]) -> list[str]:
    of_session = SESSION_IDENTITY in table.column_names
    ends_of: Callable[[Any], list[str | None]] = _ends_of_identity if of_session else _ends
    names = table.column(SESSION_IDENTITY if of_session else "window").to_pylist()
    columns = [table.column(name).to_pylist() for name in key]
    return [
        json.dumps([*map(_plain, values), *ends_of(name)], default=str)
        for *values, name in zip(*columns, names, strict=True)
    ]


def _ends_of_identity(identity: str | None) -> list[str | None]:
    """The bounds in the identity of a session, in the form that keys of rows always had."""
    return [None, None] if identity is None else [*map(_instant, identity_bounds(identity))]


def _instant(millis: int) -> str | None:
    try:
        return _plain(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis))  # type: ignore[no-any-return]
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


def _shown(table: "pa.Table", names: Sequence[str]) -> "pa.Table":
    """The columns of the rows to put: windows by their ends, panes by their timing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns: dict[str, Any] = {ROW_KEY: pa.array(names, pa.string())}
    for name in table.column_names:
        if name == "window":
            for end in ("start", "end"):
                columns[f"{name}_{end}"] = _instants(pc.struct_field(table.column(name), end))
        elif name == "pane":
            columns["timing"] = pc.struct_field(table.column(name), "timing")
        elif name not in _LEFT_OUT:
            columns[name] = _instants(table.column(name))
    return pa.table(columns)


def _instants(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return column.cast(pa.timestamp("us", tz="UTC"))
    return column


def _dead(table: "pa.Table", number: int) -> "pa.Table":
    import pyarrow as pa

    rows = [row for row in table.column("dropped").to_pylist() if row is not None]
    instant, text, whole = pa.timestamp("us", tz="UTC"), pa.string(), pa.int64()
    columns = {
        "batch": (whole, [number] * len(rows)),
        "stage": (text, [row["stage"] for row in rows]),
        "reason": (text, [row["reason"] for row in rows]),
        "event_time": (instant, [row["timestamp"] for row in rows]),
        "watermark": (instant, [row["watermark"] for row in rows]),
        "missed_ms": (whole, [row["missed_ms"] for row in rows]),
        "window_start": (instant, [row["window"] and row["window"]["start"] for row in rows]),
        "window_end": (instant, [row["window"] and row["window"]["end"] for row in rows]),
        "count": (whole, [row["count"] for row in rows]),
        "error": (text, [row["error"] for row in rows]),
        "element": (text, [row["element"] for row in rows]),
    }
    return pa.table({name: pa.array(values, kind) for name, (kind, values) in columns.items()})

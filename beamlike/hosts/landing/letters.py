"""Dead letters: rows that a query dropped, and results that a table cannot take, as rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from beamlike.hosts.landing.landed_columns import ROW_KEY, LandedColumns

if TYPE_CHECKING:
    import pyarrow as pa

CANNOT_LAND: Final = "cannot_land"
"""The reason of a result that a table cannot take."""

_STAGE: Final = "upsert_into"


def letters_of_dropped(dropped: "pa.ChunkedArray", number: int) -> "pa.Table":
    """The rows that a query dropped in a micro-batch.

    Args:
        dropped: Structs; null for rows that are results.
    """
    rows = [row for row in dropped.to_pylist() if row is not None]
    spans = [row["window"] or {"start": None, "end": None} for row in rows]
    return _letters(
        [
            {
                **{name: row[name] for name in _OF_DROPPED},
                "batch": number,
                "event_time": row["timestamp"],
                "window_start": span["start"],
                "window_end": span["end"],
            }
            for row, span in zip(rows, spans, strict=True)
        ]
    )


def letters_of_rows(
    rows: "pa.Table", columns: LandedColumns, number: int, errors: Sequence[str]
) -> "pa.Table":
    """Results that a table cannot take."""
    from beamlike.runtime.json_rows import write_row

    names = columns.landed_names
    return _letters(
        [
            {
                "batch": number,
                "stage": _STAGE,
                "reason": CANNOT_LAND,
                "event_time": row.get("timestamp"),
                "window_start": row.get(names["window_start"]),
                "window_end": row.get(names["window_end"]),
                "count": 1,
                "error": error,
                "element": write_row(
                    {name: rows.column(name)[index] for name in (names[ROW_KEY], *columns.users)}
                ),
            }
            for index, (row, error) in enumerate(zip(rows.to_pylist(), errors, strict=True))
        ]
    )


_OF_DROPPED: Final = ("stage", "reason", "watermark", "missed_ms", "count", "error", "element")


def _letters(rows: Sequence[dict[str, Any]]) -> "pa.Table":
    import pyarrow as pa

    instant, text, integer = pa.timestamp("us", tz="UTC"), pa.string(), pa.int64()
    schema = pa.schema(
        [
            *(("batch", integer), ("stage", text), ("reason", text), ("event_time", instant)),
            *(("watermark", instant), ("missed_ms", integer), ("window_start", instant)),
            *(("window_end", instant), ("count", integer), ("error", text), ("element", text)),
        ]
    )
    return pa.Table.from_pylist([{name: _clean(row[name]) for name in row} for row in rows], schema)


def _clean(value: Any) -> Any:
    """A text that every database takes: some have none with NUL in it."""
    return value.replace("\0", "\\u0000") if isinstance(value, str) else value

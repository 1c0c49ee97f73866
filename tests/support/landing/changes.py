"""Micro-batches of changes for tables, without a query, and what stands after them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa

Row = dict[str, Any]

_INSTANT = pa.timestamp("us", tz="UTC")
_SPAN = pa.struct([("start", _INSTANT), ("end", _INSTANT)])
_PANE = pa.struct([("timing", pa.string()), ("index", pa.int64())])
_DROPPED = pa.struct(
    [
        *(("stage", pa.string()), ("reason", pa.string()), ("timestamp", _INSTANT)),
        *(("watermark", _INSTANT), ("missed_ms", pa.int64()), ("window", _SPAN)),
        *(("count", pa.int64()), ("error", pa.string()), ("element", pa.string())),
    ]
)
SCHEMA = pa.schema(
    [
        *(("user", pa.string()), ("window", _SPAN), ("n", pa.int64()), ("mean", pa.float64())),
        *(
            ("timestamp", _INSTANT),
            ("pane", _PANE),
            ("session_identity", pa.string()),
            ("change", pa.string()),
        ),
        ("dropped", _DROPPED),
    ]
)
"""The columns of a grouping with ``render="upserts"``, and its dropped rows."""


def at(minute: int) -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(minutes=minute)


def session_identity(began: int) -> str:
    """The identity of the session that began so: its first bounds (ms)."""
    return "..".join(str(round(at(it).timestamp() * 1000)) for it in (began, began + 5))


def put(user: str | None, began: int, ends: int, n: int) -> Row:
    """The session of a user that began so, with its end and count now."""
    return {
        "user": user,
        "window": {"start": at(began), "end": at(ends)},
        "n": n,
        "mean": n / 4,
        "timestamp": at(ends),
        "pane": {"timing": "EARLY", "index": 0},
        "session_identity": session_identity(began),
        "change": "upsert",
        "dropped": None,
    }


def gone(user: str | None, began: int) -> Row:
    none = dict.fromkeys(("window", "n", "mean", "timestamp", "pane"))
    return put(user, began, began, 0) | none | {"change": "delete"}


def lost(element: str) -> Row:
    none = dict.fromkeys(SCHEMA.names)
    dropped = {"stage": "visits", "reason": "expired", "count": 1, "element": element}
    return none | {"dropped": dropped}


def batch(*rows: Row) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCHEMA)


def _random_rows(number: int) -> Iterator[Row]:
    random = Random(number)
    for index in range(random.randrange(1, 12)):
        user, began = random.choice("abcd"), random.choice([0, 10, 20])
        match random.randrange(4):
            case 0:
                yield gone(user, began)
            case 1:
                yield lost(f"{number} {index}")
            case _:
                yield put(user, began, began + random.randrange(5, 9), random.randrange(100))


def random_batch(number: int) -> pa.Table:
    """The same rows for the same number."""
    return batch(*_random_rows(number))


def standing_after(numbers: Sequence[int]) -> tuple[list[tuple[str, int, int]], list[str]]:
    """User, end and count of the rows that stand after these batches; the letters of the dead."""
    rows: dict[tuple[str, str], tuple[str, int, int]] = {}
    letters = []
    for number in numbers:
        for row in _random_rows(number):
            if row["dropped"] is not None:
                letters.append(row["dropped"]["element"])
                continue
            name = row["user"], row["session_identity"]
            rows.pop(name, None)
            if row["change"] == "upsert":
                rows[name] = row["user"], row["window"]["end"].minute, row["n"]
    return sorted(rows.values()), sorted(letters)

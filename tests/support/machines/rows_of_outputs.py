"""Rows of a shard written by hand, each with a value for every column, and what came of them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.model.strategy import WindowingStrategy
from beamlike.runtime.plan import Plan
from tests.support.machines.rows_of_plans import PARTS, VALUES

_BUCKETS: Final = 4


@attrs.frozen
class Row:
    """A row of a shard: an element of one key."""

    at: int
    key: str | None = "k"
    whole: int | None = 1
    real: float | None = None
    text: str | None = None
    money: Decimal | None = None
    window: tuple[int, int] | None = None


def table(*rows: Row, buckets: int = _BUCKETS, windows: bool = False) -> pa.Table:
    """Rows as they reach a shard of a plan with so many buckets.

    They have columns for a window that comes along if one of them has one, or with ``windows``.
    """
    columns = {
        "key_key": pa.array([row.key for row in rows], pa.string()),
        "ts": pa.array([row.at for row in rows], pa.int64()),
        **{
            f"value_{name}": pa.array([getattr(row, name) for row in rows], kind)
            for name, kind in VALUES.items()
        },
        "bucket": pa.array([_bucket_of(row.key, buckets) for row in rows], pa.int32()),
    }
    if windows or any(row.window for row in rows):
        spans = [row.window or (None, None) for row in rows]
        columns["start"] = pa.array([start for start, _ in spans], pa.int64())
        columns["end"] = pa.array([end for _, end in spans], pa.int64())
    return pa.table(columns)


def _bucket_of(key: str | None, buckets: int) -> int:
    return sum(map(ord, str(key))) % buckets


def plan_of(strategy: WindowingStrategy, *names: str, buckets: int = _BUCKETS, **more: Any) -> Plan:
    """A plan with those of `PARTS` that are named, or with all."""
    parts = [part for part in PARTS if part.name in names] if names else PARTS
    keys = {"key": pa.string()}
    return Plan(strategy, keys, VALUES, tuple(parts), shards=1, buckets=buckets, **more)


def panes(rows: Sequence[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    """Key, start, timing and these aggregates of every pane, in order of key and start."""
    shown = [row for row in rows if row["pane"] is not None]
    shown.sort(key=lambda row: (str(row["key"]), row["__beamlike"]["start"]))
    return [
        (row["key"], row["__beamlike"]["start"], row["pane"]["timing"], *(row[n] for n in names))
        for row in shown
    ]


def combined(plan: Plan, rows: Sequence[tuple[Any, ...]], judged: bool = True) -> pa.Table:
    """Rows of key, start, end, event time and how many ones there are, combined."""
    ones = [(1,) * count for *_, count in rows]
    layout = plan.operation.accumulator
    accumulators = [
        tuple(part.fn.add(part.fn.create(), one, [at] * len(one)) for part in plan.parts)
        for one, (_, _, _, at, _) in zip(ones, rows, strict=True)
    ]
    key, start, end, at, count = zip(*rows, strict=True)
    return pa.table(
        {
            "key_key": pa.array(key, pa.string()),
            **{
                name: pa.array(values, pa.int64())
                for name, values in {"start": start, "end": end, "count": count, "ts": at}.items()
            },
            "judged": pa.array([judged] * len(rows)),
            "merged": pa.array([False] * len(rows)),
            **dict(zip(layout.types(), layout.encode(accumulators), strict=True)),
            "bucket": pa.array([_bucket_of(it, plan.buckets) for it in key], pa.int32()),
        }
    )

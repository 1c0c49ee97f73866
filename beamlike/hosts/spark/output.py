"""Panes and drops as rows: the schema of what a grouping emits, and the way there.

Columns, in this order: the keys, ``window`` (struct of start and end), the aggregates,
``timestamp``, ``pane`` (struct), ``retraction`` (in retracting mode only: the row withdraws the
pane that it repeats), ``dropped`` (struct, null for a pane). Instants at the end
of time have no SQL timestamp that Python can read: they are null.
"""

import json
import math
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from beamlike.errors import InputRowError
from beamlike.hosts.spark.plan import Part, Plan
from beamlike.hosts.spark.shard import KeyedEffect
from beamlike.machine.events import Drop, Pane
from beamlike.model.strategy import AccumulationMode
from beamlike.model.windows import IntervalWindow, Window

__all__ = ["READABLE", "OutputTable"]

TIMESTAMP = pa.timestamp("us", tz="UTC")
WINDOW = pa.struct([("start", TIMESTAMP), ("end", TIMESTAMP)])
PANE = pa.struct(
    [
        ("timing", pa.string()),
        ("index", pa.int64()),
        ("nonspeculative_index", pa.int64()),
        ("is_first", pa.bool_()),
        ("is_last", pa.bool_()),
    ]
)
DROPPED = pa.struct(
    [
        ("reason", pa.string()),
        ("timestamp", TIMESTAMP),
        ("missed_ms", pa.int64()),
        ("element", pa.string()),
    ]
)
READABLE = range(-62_135_596_800_000, 253_402_300_800_000)
"""Milliseconds of the years 1 to 9999, all that a Python datetime can hold."""


def _micros(milliseconds: int) -> int | None:
    return milliseconds * 1000 if milliseconds in READABLE else None


def _span(window: Window) -> dict[str, int | None] | None:
    if not isinstance(window, IntervalWindow):
        return {"start": None, "end": None}
    return {"start": _micros(window.start), "end": _micros(window.end)}


def show_json(value: Any) -> Any:
    """What JSON has no form for, in words."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    return repr(value)


class OutputTable:
    """Builds the output rows of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._retracting = plan.strategy.accumulation is AccumulationMode.RETRACTING
        self.schema = pa.schema(
            [
                *plan.keys.items(),
                ("window", WINDOW),
                *((part.name, part.result) for part in plan.parts),
                ("timestamp", TIMESTAMP),
                ("pane", PANE),
                *([("retraction", pa.bool_())] if self._retracting else []),
                ("dropped", DROPPED),
            ]
        )

    def build(self, effects: Sequence[KeyedEffect]) -> pa.Table:
        """One row for each pane and each drop, in their order."""
        panes = [effect if isinstance(effect, Pane) else None for _, effect in effects]
        columns: list[Any] = [[key[at] for key, _ in effects] for at in range(len(self.plan.keys))]
        columns.append([_span(effect.window) for _, effect in effects])
        columns += [
            _results(part, [pane and pane.value[at] for pane in panes])
            for at, part in enumerate(self.plan.parts)
        ]
        columns.append([pane and _micros(pane.timestamp) for pane in panes])
        columns.append([pane and _pane_row(pane) for pane in panes])
        if self._retracting:
            columns.append([pane and pane.retraction for pane in panes])
        columns.append(
            [self._drop_row(key, e) if isinstance(e, Drop) else None for key, e in effects]
        )
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, self.schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def refused(self, rows: Sequence[dict[str, Any]]) -> pa.Table:
        """Rows that could not be grouped at all, as drops; see `beamlike.hosts.spark.pack`."""
        columns: dict[str, list[Any]] = {name: [None] * len(rows) for name in self.schema.names}
        for name in self.plan.keys:
            columns[name] = [row["key"][name] for row in rows]
        columns["dropped"] = [
            {
                "reason": row["reason"],
                "timestamp": None if row["ts"] is None else _micros(row["ts"]),
                "missed_ms": None,
                "element": row["element"],
            }
            for row in rows
        ]
        arrays = [pa.array(columns[field.name], field.type) for field in self.schema]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _drop_row(self, key: tuple[Any, ...], drop: Drop) -> dict[str, Any]:
        fields = dict(zip(self.plan.keys, key, strict=True))
        fields |= dict(zip(self.plan.values, drop.element.value, strict=True))
        return {
            "reason": drop.reason.value,
            "timestamp": _micros(drop.element.timestamp),
            "missed_ms": drop.missed_by,
            "element": json.dumps(_plain(fields), default=show_json, allow_nan=False),
        }


def _plain(value: Any) -> Any:
    """The same without NaN and infinity, which JSON cannot write: they become their names."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _results(part: Part, values: list[Any]) -> Any:
    try:
        return pa.array(values, part.result)
    except (OverflowError, pa.ArrowInvalid) as error:
        raise InputRowError(
            f"aggregate {part.name!r} outgrew its type {part.result}: {error}; cast its input "
            "column to decimal(38, 0) or double before the call"
        ) from error


def _pane_row(pane: Pane) -> dict[str, Any]:
    return {
        "timing": pane.info.timing.value,
        "index": pane.info.index,
        "nonspeculative_index": pane.info.nonspeculative_index,
        "is_first": pane.info.is_first,
        "is_last": pane.info.is_last,
    }

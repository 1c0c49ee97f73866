"""Panes and drops as rows: the schema of what a grouping emits, and the way there.

Columns, in this order: the keys, ``window`` (struct of start and end), the aggregates,
``timestamp``, ``pane`` (struct), in retracting mode what the plan's rendering adds, and the
hidden column (see `marks`), which holds the dropped row if the row is one. Instants at the end
of time have no SQL timestamp that Python can read: they are null.

=================  =======================================================================
rendering          adds
=================  =======================================================================
``retractions``    ``retraction`` (bool): the row withdraws the pane that it repeats
``changelog``      ``change``: ``upsert`` or ``delete`` of the result for key and window
``upserts``        ``session_identity`` (text), which stays as sessions grow and merge, and
                   ``change`` of the result for key and session
=================  =======================================================================
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import attrs
import pyarrow as pa

from beamlike.machine.changelog import changelog, upserts
from beamlike.machine.events import Drop, Element, Pane
from beamlike.model.windows import IntervalWindow, Window, bounds
from beamlike.runtime.json_rows import write_row
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import (
    DROPPED_ROW,
    MARKS,
    REPORT,
    time_types,
)
from beamlike.runtime.session_identity import SESSION_IDENTITY, session_identity
from beamlike.runtime.shard import KeyedEffect
from beamlike.runtime.store.state import Key
from beamlike.safe_text import LONGEST, safe_text

PANE = pa.struct(
    [
        ("timing", pa.string()),
        ("index", pa.int64()),
        ("nonspeculative_index", pa.int64()),
        ("is_first", pa.bool_()),
        ("is_last", pa.bool_()),
    ]
)
READABLE = range(-62_135_596_800_000_000, 253_402_300_800_000_000)
"""Microseconds of the years 1 to 9999, all that a Python datetime can hold."""


@attrs.frozen
class _Row:
    """One row in the making. ``window`` is the one shown; ``marks`` is the hidden column."""

    key: Key
    window: Window | None
    marks: dict[str, Any] | None
    pane: Pane | None = None
    change: str | None = None
    session: Window | None = None


class OutputTable:
    """Builds the output rows of one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._tick, self.types = plan.resolution.micros, time_types(plan.wall_clock)
        self._extra: dict[str, pa.DataType] = {}
        if plan.retracts:
            self._extra = {
                "retractions": {"retraction": pa.bool_()},
                "changelog": {"change": pa.string()},
                "upserts": {SESSION_IDENTITY: pa.string(), "change": pa.string()},
            }[plan.render]
        self.schema = pa.schema(
            [
                *plan.keys.items(),
                ("window", self.types.window),
                *plan.operation.results.items(),
                ("timestamp", self.types.timestamp),
                ("pane", PANE),
                *self._extra.items(),
                (MARKS, self.types.marks),
            ]
        )

    @property
    def shown(self) -> list[str]:
        """The columns that users see."""
        return [name for name in self.schema.names if name != MARKS]

    def build(
        self, effects: Sequence[KeyedEffect], report: tuple[int, int] | None = None
    ) -> pa.Table:
        """One row for each pane and each drop, in their order.

        Rendered as changes of a table, the panes of a key become its changes, and its drops follow.
        """
        rows = list(self._rows(effects))
        if report is not None:
            shard, watermark = report
            nothing = (None,) * len(self.plan.keys)
            reached = watermark * self.plan.tick_of_rows
            dropped = {"kind": REPORT, "shard": shard, "watermark": reached}
            rows.append(_Row(nothing, None, dropped))
        panes = [row.pane for row in rows]
        columns: list[Any] = [[row.key[at] for row in rows] for at in range(len(self.plan.keys))]
        columns.append([row.window and self._span(row.window) for row in rows])
        columns += self.plan.operation.show([pane and pane.value for pane in panes])
        columns.append([pane and self._micros(pane.timestamp) for pane in panes])
        columns.append([pane and _pane_row(pane) for pane in panes])
        unit = self.plan.resolution
        shown: dict[str, Callable[[_Row], Any]] = {
            "retraction": lambda row: row.pane and row.pane.retraction,
            "change": lambda row: row.change,
            SESSION_IDENTITY: lambda row: row.session and session_identity(row.session, unit),
        }
        columns += [[shown[name](row) for row in rows] for name in self._extra]
        columns.append([row.marks for row in rows])
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, self.schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _rows(self, effects: Sequence[KeyedEffect]) -> Iterator[_Row]:
        if not self._extra or self.plan.render == "retractions":
            for key, effect in effects:
                yield (
                    self._pane(key, effect) if isinstance(effect, Pane) else self._drop(key, effect)
                )
            return
        for key, of_key in groupby(effects, key=itemgetter(0)):
            own = [effect for _, effect in of_key]
            yield from self._changes(key, [effect for effect in own if isinstance(effect, Pane)])
            yield from (self._drop(key, effect) for effect in own if isinstance(effect, Drop))

    def _pane(self, key: Key, pane: Pane) -> _Row:
        return _Row(key, pane.window, self._marks(pane), pane)

    def _marks(self, pane: Pane) -> dict[str, Any] | None:
        """What the next grouping has to know of a pane; nothing if there cannot be one."""
        if not self.plan.has_downstream:
            return None
        times = (pane.timestamp, *bounds(pane.window))
        instants = (instant * self.plan.tick_of_rows for instant in times)
        return dict(zip(("ts", "start", "end"), instants, strict=True))

    def _micros(self, instant: int) -> int | None:
        micros = instant * self._tick
        return micros if micros in READABLE else None

    def _span(self, window: Window) -> dict[str, int | None] | None:
        if not isinstance(window, IntervalWindow):
            return {"start": None, "end": None}
        return {"start": self._micros(window.start), "end": self._micros(window.end)}

    def _changes(self, key: Key, panes: Iterable[Pane]) -> Iterator[_Row]:
        by_session = self.plan.render == "upserts"
        for change in (upserts if by_session else changelog)(panes):
            session = change.identity if by_session else None
            if change.pane is None:
                window = None if by_session else change.identity
                yield _Row(key, window, None, None, change.op, session)
            else:
                pane = change.pane
                yield _Row(key, pane.window, self._marks(pane), pane, change.op, session)

    def _drop(self, key: Key, drop: Drop) -> _Row:
        plan, element = self.plan, drop.element
        shown = {
            name: pa.scalar(value, dtype)
            for (name, dtype), value in zip(plan.keys.items(), key, strict=True)
        }
        if isinstance(element, Element):
            shown |= plan.operation.fields(element.value)
        dropped = {
            "stage": self.plan.name,
            "reason": drop.reason.value,
            "timestamp": element and self._micros(element.timestamp),
            "watermark": None if drop.watermark is None else self._micros(drop.watermark),
            # A millisecond that has begun counts: nothing is late by 0.
            "missed_ms": drop.missed_by and -(-drop.missed_by // self.plan.resolution.per_ms),
            "window": drop.window and self._span(drop.window),
            "nearest_session": drop.nearest_session and self._span(drop.nearest_session),
            "count": drop.count,
            "error": None if drop.error is None else safe_text(drop.error, 2 * LONGEST),
            "element": write_row(shown),
        }
        return _Row(key, drop.window, {"kind": DROPPED_ROW, "dropped": dropped})

    def refused(self, rows: Sequence[dict[str, Any]]) -> pa.Table:
        """Rows that could not be grouped at all, as drops; see `beamlike.runtime.packing`."""
        keys = {name: [row["key"][name] for row in rows] for name in self.plan.keys}
        dropped = [
            {
                "stage": self.plan.name,
                "reason": row["reason"],
                "timestamp": None if row["ts"] is None else self._micros(row["ts"]),
                "count": 1,
                "element": row["element"],
            }
            for row in rows
        ]
        return self._only_dropped(dropped, keys)

    def dropped_before(self, dropped: Sequence[Any]) -> pa.Table:
        """Rows that a grouping before this one has dropped: they pass by."""
        return self._only_dropped([row.as_py() for row in dropped], {})

    def _only_dropped(self, dropped: Sequence[Any], keys: Mapping[str, list[Any]]) -> pa.Table:
        """Rows for what was dropped. The other columns are null, but for these keys."""
        columns: dict[str, list[Any]] = {name: [None] * len(dropped) for name in self.schema.names}
        columns |= keys
        columns[MARKS] = [{"kind": DROPPED_ROW, "dropped": one} for one in dropped]
        arrays = [pa.array(columns[field.name], field.type) for field in self.schema]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _pane_row(pane: Pane) -> dict[str, Any]:
    return {
        "timing": pane.info.timing.value,
        "index": pane.info.index,
        "nonspeculative_index": pane.info.nonspeculative_index,
        "is_first": pane.info.is_first,
        "is_last": pane.info.is_last,
    }

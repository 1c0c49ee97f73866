"""The layout of saved state: one row for each window of each key, in typed Arrow columns.

=====================  ===================  ================================================
column                 type                 holds
=====================  ===================  ================================================
one for each key       the key's type       the key
``start``, ``end``     int64                the window (ticks); the global window by its bounds
``output_watermark``   int64                the key's output watermark (ticks)
``finished``           int64                finished bits of the trigger tree, root lowest,
                                            parents before children
``t0``, ``t1`` ...     int64, nullable      count or clock target of each node that has one
``d0``, ``d1`` ...     binary, nullable     what a delta is measured from, pickled, of each node
                                            that keeps it
``new_elements``       int64                elements since the pane before
``element_hold``       int64, nullable      hold of the output watermark (ticks)
``end_timer_set``      bool                 a trigger waits for the end of the window
``processing_timers``  list<int64>          processing-time timers (ticks)
``timing``             string, nullable     last emitted pane; null if none
``index``              int64, nullable      its index
``nonspeculative``     int64, nullable      its nonspeculative index
``unretracted_panes``  list of structs      panes not yet withdrawn, each with its session; in
                                            retracting mode only; a field that is null is that
                                            of the window, and a timestamp its last instant
``size``               int64                what elements count for since the window opened:
                                            1, an end event 2**40 more; only if the window
                                            function needs
one or more            see `columns`        the accumulator
=====================  ===================  ================================================

The meaning of each field is on the card of `beamlike.machine.reference.state.WindowState`.
A machine without a trigger leaves null what only a trigger has. One more column, ``bucket``
(int32), says to which part of the shard the key belongs. How rows become blobs, see
`beamlike.runtime.store.pages`; what is known without reading them, `beamlike.runtime.store.index`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import cloudpickle
import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.machine.events import Pane
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.windows import Window, bounds, window_of
from beamlike.runtime.plan import Plan
from beamlike.runtime.row_metadata import table_of

Key = tuple[Any, ...]

_WINDOW_COLUMNS: Final = dict.fromkeys(("start", "end", "output_watermark", "finished"), pa.int64())
_PANE_COLUMNS: Final = {
    **dict.fromkeys(("new_elements", "element_hold"), pa.int64()),
    **{"end_timer_set": pa.bool_(), "processing_timers": pa.list_(pa.int64())},
    **{"timing": pa.string(), "index": pa.int64(), "nonspeculative": pa.int64()},
}
_BUCKET: Final = ("bucket", pa.int32())
ROW_COLUMNS: Final = {**_WINDOW_COLUMNS, **_PANE_COLUMNS, **dict([_BUCKET])}
"""The columns that every saved row has."""

_NAN = float("nan")


def key_tuples(columns: Sequence[pa.ChunkedArray], count: int) -> list[Key]:
    """The keys of ``count`` rows, fit for a dict: every NaN is the same NaN."""
    if not columns:
        return [()] * count  # everything is one group
    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    if any(pa.types.is_floating(column.type) for column in columns):
        rows = [tuple(_NAN if part != part else part for part in row) for row in rows]
    return rows


class StateLayout:
    """Turns keys with their states into Arrow rows and back, for one plan."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        grouping = plan.machine if isinstance(plan.machine, Grouping) else None
        self._fresh_trigger = grouping.trigger.start() if grouping else TriggerState()
        nodes = list(grouping.trigger.walk()) if grouping else []
        if len(nodes) > 62:
            raise UnsupportedError(
                f"the trigger has {len(nodes)} nodes; Spark state holds the bits of at most 62"
            )
        self._slots = [index for index, node in enumerate(nodes) if node.keeps_value]
        self._keepers = [index for index, node in enumerate(nodes) if node.keeps_element]
        self._kept_names = [f"d{slot}" for slot in range(len(self._keepers))]
        fields = [*plan.key_columns.items(), *_WINDOW_COLUMNS.items()]
        fields += ((f"t{slot}", pa.int64()) for slot in range(len(self._slots)))
        fields += ((name, pa.binary()) for name in self._kept_names)
        fields += _PANE_COLUMNS.items()
        self._retracting = plan.retracts
        self._has_one_value = plan.custom_operation is not None
        if self._retracting:
            fields.append(("unretracted_panes", pa.list_(self._pane_type())))
        self._sized = grouping is not None and grouping.needs_sizes
        if self._sized:
            fields.append(("size", pa.int64()))
        self._plain_names = [name for name, _ in fields[len(plan.keys) :]]
        self._accumulator = plan.operation.accumulator
        self._accumulator_types = self._accumulator.types()
        self.schema = pa.schema([*fields, *self._accumulator_types.items()])

    def encode(self, states: Mapping[Key, KeyState]) -> pa.Table:
        """All windows of these keys. A key without windows leaves no row."""
        rows = [
            (key, state.output_watermark, window, state.windows[window])
            for key, state in states.items()
            for window in sorted(state.windows, key=bounds)
        ]
        windows = [window for _, _, window, _ in rows]
        kept = [remembered for _, _, _, remembered in rows]
        panes = [w.last_pane for w in kept]
        columns: list[Any] = [
            [key[index] for key, _, _, _ in rows] for index in range(len(self.plan.keys))
        ]
        flat = [self._flatten(w.trigger) for w in kept]
        columns += [
            [w.start for w in windows],
            [w.end for w in windows],
            [output for _, output, _, _ in rows],
            [bits for bits, _, _ in flat],
            *([values[slot] for _, values, _ in flat] for slot in range(len(self._slots))),
            *([elements[slot] for *_, elements in flat] for slot in range(len(self._keepers))),
            [w.new_elements for w in kept],
            [w.element_hold for w in kept],
            [w.end_timer_set for w in kept],
            [list(w.processing_timers) for w in kept],
            [pane and pane.timing.value for pane in panes],
            [pane and pane.index for pane in panes],
            [pane and pane.nonspeculative_index for pane in panes],
        ]
        if self._retracting:
            columns.append(
                [
                    [self._pane_row(pane, window, w.last_pane) for pane in w.unretracted_panes]
                    for window, w in zip(windows, kept, strict=True)
                ]
            )
        if self._sized:
            columns.append([w.size for w in kept])
        # First of all: what outgrew its type here, did so in the panes that are not retracted, too.
        accumulators = self._accumulator.encode([w.accumulator for w in kept])
        return table_of([*columns, *accumulators], self.schema)

    def decode(
        self, table: pa.Table, watermark: int, clock: int, side: int | None = None
    ) -> dict[Key, KeyState]:
        """The keys that these rows belong to, at the clocks of the shard's last step.

        The output watermark is caught up by the machine (`KeyState.caught_up`) when a key is
        stepped, not here.
        """
        keys = key_tuples(table.columns[: len(self.plan.keys)], table.num_rows)
        column = {name: table.column(name).to_pylist() for name in self._plain_names}
        slots = [column[f"t{slot}"] for slot in range(len(self._slots))]
        elements = [column[name] for name in self._kept_names]
        unretracted_panes = (
            column["unretracted_panes"] if self._retracting else [()] * table.num_rows
        )
        sizes = column["size"] if self._sized else [0] * table.num_rows
        accumulators = self._accumulator.decode(
            [table.column(name) for name in self._accumulator_types]
        )
        windows: dict[Key, dict[Window, WindowState]] = {}
        output: dict[Key, int] = {}
        for row, key in enumerate(keys):
            window = window_of(column["start"][row], column["end"][row])
            timing = column["timing"][row]
            last_pane = timing and _pane_info(
                timing, column["index"][row], column["nonspeculative"][row]
            )
            remembered = WindowState(
                self._build(
                    column["finished"][row],
                    [values[row] for values in slots],
                    [kept[row] for kept in elements],
                ),
                accumulators[row],
                column["new_elements"][row],
                column["element_hold"][row],
                column["end_timer_set"][row],
                tuple(column["processing_timers"][row]),
                last_pane,
                tuple(self._build_pane(pane, window, last_pane) for pane in unretracted_panes[row]),
                sizes[row],
            )
            windows.setdefault(key, {})[window] = remembered
            output[key] = column["output_watermark"][row]
        return {
            key: KeyState(watermark, clock, output[key], of_key, side)
            for key, of_key in windows.items()
        }

    def _pane_type(self) -> pa.DataType:
        """A pane that is not retracted yet, as it was emitted."""
        values = [
            (f"value_{part.name}", pa.binary() if part.columns.pickles else part.result)
            for part in self.plan.shown_parts
        ]
        times = ("start", "end", "timestamp", "session_start", "session_end")
        numbers = [(name, pa.int64()) for name in times]
        info = [("timing", pa.string()), ("index", pa.int64()), ("nonspeculative", pa.int64())]
        info.append(("is_last", pa.bool_()))
        return pa.struct([*numbers, *info, *values])

    def _pane_row(self, pane: Pane, window: Window, last: PaneInfo | None) -> dict[str, Any]:
        row: dict[str, Any] = {
            "start": pane.window.start,
            "end": pane.window.end,
            "timestamp": pane.timestamp,
            "session_start": pane.session and pane.session.start,
            "session_end": pane.session and pane.session.end,
            "timing": pane.info.timing.value,
            "index": pane.info.index,
            "nonspeculative": pane.info.nonspeculative_index,
            "is_last": pane.info.is_last,
        }
        # Of nearly all panes these are those of their window, and nulls take no space.
        of_window = _of_window(window, last)
        row |= {name: None for name, value in of_window.items() if row[name] == value}
        values = (pane.value,) if self._has_one_value else pane.value
        for part, value in zip(self.plan.shown_parts, values, strict=True):
            row[f"value_{part.name}"] = cloudpickle.dumps(value) if part.columns.pickles else value
        return row

    def _build_pane(self, row: dict[str, Any], window: Window, last: PaneInfo | None) -> Pane:
        of_window = _of_window(window, last)
        row = row | {name: value for name, value in of_window.items() if row[name] is None}
        saved = [(part, row[f"value_{part.name}"]) for part in self.plan.shown_parts]
        values = tuple(cloudpickle.loads(v) if part.columns.pickles else v for part, v in saved)
        return Pane(
            window_of(row["start"], row["end"]),
            values[0] if self._has_one_value else values,
            row["timestamp"],
            _pane_info(row["timing"], row["index"], row["nonspeculative"], row["is_last"]),
            session=window_of(row["session_start"], row["session_end"]),
        )

    def _flatten(self, root: TriggerState) -> tuple[int, list[int | None], list[bytes | None]]:
        nodes = list(root.walk())
        bits = sum(1 << index for index, node in enumerate(nodes) if node.finished)
        elements = [nodes[keeper].kept for keeper in self._keepers]
        return (
            bits,
            [nodes[slot].value for slot in self._slots],
            [cloudpickle.dumps(kept[0]) if kept else None for kept in elements],
        )

    def _build(
        self, bits: int, values: Sequence[int | None], elements: Sequence[bytes | None]
    ) -> TriggerState:
        if bits == 0 and not any(value is not None for value in (*values, *elements)):
            return self._fresh_trigger
        by_node = dict(zip(self._slots, values, strict=True))
        kept = {
            keeper: (cloudpickle.loads(element),)
            for keeper, element in zip(self._keepers, elements, strict=True)
            if element is not None
        }
        counter = iter(range(64))

        def build(shape: TriggerState) -> TriggerState:
            place = next(counter)
            return TriggerState(
                bool(bits >> place & 1),
                by_node.get(place),
                tuple(build(sub) for sub in shape.subs),
                kept.get(place, ()),
            )

        return build(self._fresh_trigger)


def _of_window(window: Window, last: PaneInfo | None) -> dict[str, Any]:
    """What a saved pane has in the fields that are null: as its window, whose last pane is this."""
    fields: dict[str, Any] = {
        "start": window.start,
        "end": window.end,
        "timestamp": window.end - 1,
        "session_start": window.start,
        "session_end": window.end,
    }
    if last is not None:
        fields |= {
            "timing": last.timing.value,
            "index": last.index,
            "nonspeculative": last.nonspeculative_index,
        }
    return fields


def _pane_info(timing: str, index: int, nonspeculative: int, is_last: bool = False) -> PaneInfo:
    """A pane that is remembered. After a last one of its window none is counted."""
    return PaneInfo(Timing(timing), index, nonspeculative, index == 0, is_last)


def with_bucket(schema: pa.Schema) -> pa.Schema:
    """The schema of saved rows."""
    return schema.append(pa.field(*_BUCKET))

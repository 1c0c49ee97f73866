"""The layout of saved state: one row for each window of each key, in typed Arrow columns.

====================  ===================  ================================================
column                type                 holds
====================  ===================  ================================================
one for each key      the key's type       the key
``start``, ``end``    int64                the window, ms; the global window by its bounds
``output_watermark``  int64                the key's promise downstream, ms
``finished``          int64                finished bits of the trigger tree, root lowest,
                                           parents before children
``t0``, ``t1`` ...    int64, nullable      count or clock target of each node that has one
``fresh``             int64                elements since the pane before
``element_hold``      int64, nullable      hold of the output watermark, ms
``awaits_end``        bool                 a trigger waits for the end of the window
``alarms``            list<int64>          clock times to wake at, ms
``timing``            string, nullable     last emitted pane; null if none
``index``             int64, nullable      its index
``nonspeculative``    int64, nullable      its nonspeculative index
``outstanding``       list of structs      panes not yet withdrawn; in retracting mode only
one or two for each   see `columns`        the accumulator
aggregate
====================  ===================  ================================================

The meaning of each field is on the card of `beamlike.machine.reference.state.WindowState`.
A bucket is a blob of such rows. The index is one more blob: for each bucket its earliest
deadline of each clock, and in its header the clocks of the shard and the plan's identity.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import cloudpickle
import pyarrow as pa

from beamlike.errors import UnsupportedError
from beamlike.hosts.spark.plan import Plan
from beamlike.machine.events import Pane
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.strategy import AccumulationMode
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window, bounds

__all__ = ["Key", "StateLayout"]

Key = tuple[Any, ...]

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
        trigger = plan.grouping.trigger
        self._fresh_trigger = trigger.start()
        nodes = list(_preorder(trigger))
        if len(nodes) > 62:
            raise UnsupportedError(
                f"the trigger has {len(nodes)} nodes; Spark state holds the bits of at most 62"
            )
        self._slots = [at for at, node in enumerate(nodes) if node.keeps_value]
        fields = [pa.field(f"key_{name}", kind) for name, kind in plan.keys.items()]
        fields += [pa.field(name, pa.int64()) for name in ("start", "end", "output_watermark")]
        fields += [pa.field("finished", pa.int64())]
        fields += [pa.field(f"t{slot}", pa.int64()) for slot in range(len(self._slots))]
        fields += [
            pa.field("fresh", pa.int64()),
            pa.field("element_hold", pa.int64()),
            pa.field("awaits_end", pa.bool_()),
            pa.field("alarms", pa.list_(pa.int64())),
            pa.field("timing", pa.string()),
            pa.field("index", pa.int64()),
            pa.field("nonspeculative", pa.int64()),
        ]
        self._retracting = plan.strategy.accumulation is AccumulationMode.RETRACTING
        if self._retracting:
            fields.append(pa.field("outstanding", pa.list_(self._pane_type())))
        self._plain_names = [field.name for field in fields[len(plan.keys) :]]
        # Names of aggregates are the user's: only with its position is a column's name its own.
        self._accumulator_names = [
            [f"acc{at}_{part.name}{suffix}" for suffix in part.columns.types()]
            for at, part in enumerate(plan.parts)
        ]
        for names, part in zip(self._accumulator_names, plan.parts, strict=True):
            types = part.columns.types().values()
            fields += [pa.field(name, kind) for name, kind in zip(names, types, strict=True)]
        self.schema = pa.schema(fields)

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
            [key[at] for key, _, _, _ in rows] for at in range(len(self.plan.keys))
        ]
        columns += [[w.start for w in windows], [w.end for w in windows]]
        columns += [[promised for _, promised, _, _ in rows]]
        bits_and_values = [self._flatten(w.trigger) for w in kept]
        columns += [[bits for bits, _ in bits_and_values]]
        columns += [
            [values[slot] for _, values in bits_and_values] for slot in range(len(self._slots))
        ]
        columns += [
            [w.fresh for w in kept],
            [w.element_hold for w in kept],
            [w.awaits_end for w in kept],
            [list(w.alarms) for w in kept],
            [pane and pane.timing.value for pane in panes],
            [pane and pane.index for pane in panes],
            [pane and pane.nonspeculative_index for pane in panes],
        ]
        if self._retracting:
            columns.append([[self._pane_row(pane) for pane in w.outstanding] for w in kept])
        accumulators = sum(map(len, self._accumulator_names))
        fields = list(self.schema)[: len(self.schema) - accumulators]
        arrays = [
            pa.array(values, field.type) for values, field in zip(columns, fields, strict=True)
        ]
        for at, part in enumerate(self.plan.parts):
            arrays += part.columns.encode([w.accumulator[at] for w in kept])
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def decode(self, table: pa.Table, watermark: int, clock: int) -> dict[Key, KeyState]:
        """The keys of a bucket, at the clocks of the shard's last step.

        The output watermark is caught up by the machine (`KeyState.at`) when a key is
        stepped, not here.
        """
        keys = key_tuples(table.columns[: len(self.plan.keys)], table.num_rows)
        column = {name: table.column(name).to_pylist() for name in self._plain_names}
        slots = [column[f"t{slot}"] for slot in range(len(self._slots))]
        outstanding = column["outstanding"] if self._retracting else [()] * table.num_rows
        accumulators = self._decode_accumulators(table)
        windows: dict[Key, dict[Window, WindowState]] = {}
        promised: dict[Key, int] = {}
        for row, key in enumerate(keys):
            timing = column["timing"][row]
            remembered = WindowState(
                self._build(column["finished"][row], [values[row] for values in slots]),
                accumulators[row],
                column["fresh"][row],
                column["element_hold"][row],
                column["awaits_end"][row],
                tuple(column["alarms"][row]),
                timing and _pane_info(timing, column["index"][row], column["nonspeculative"][row]),
                tuple(map(self._build_pane, outstanding[row])),
            )
            window = _window(column["start"][row], column["end"][row])
            windows.setdefault(key, {})[window] = remembered
            promised[key] = column["output_watermark"][row]
        return {
            key: KeyState(watermark, clock, promised[key], of_key)
            for key, of_key in windows.items()
        }

    def _pane_type(self) -> pa.DataType:
        """A pane that still stands, as it was emitted."""
        values = [
            (f"value_{part.name}", pa.binary() if part.columns.pickles else part.result)
            for part in self.plan.parts
        ]
        whole = [(name, pa.int64()) for name in ("start", "end", "timestamp")]
        info = [("timing", pa.string()), ("index", pa.int64()), ("nonspeculative", pa.int64())]
        return pa.struct([*whole, *info, *values])

    def _pane_row(self, pane: Pane) -> dict[str, Any]:
        row = {
            "start": pane.window.start,
            "end": pane.window.end,
            "timestamp": pane.timestamp,
            "timing": pane.info.timing.value,
            "index": pane.info.index,
            "nonspeculative": pane.info.nonspeculative_index,
        }
        for part, value in zip(self.plan.parts, pane.value, strict=True):
            row[f"value_{part.name}"] = cloudpickle.dumps(value) if part.columns.pickles else value
        return row

    def _build_pane(self, row: dict[str, Any]) -> Pane:
        values = [(part, row[f"value_{part.name}"]) for part in self.plan.parts]
        return Pane(
            _window(row["start"], row["end"]),
            tuple(cloudpickle.loads(v) if part.columns.pickles else v for part, v in values),
            row["timestamp"],
            _pane_info(row["timing"], row["index"], row["nonspeculative"]),
        )

    def _decode_accumulators(self, table: pa.Table) -> list[tuple[Any, ...]]:
        decoded = [
            part.columns.decode([table.column(name) for name in names])
            for names, part in zip(self._accumulator_names, self.plan.parts, strict=True)
        ]
        return list(zip(*decoded, strict=True)) if decoded else [()] * table.num_rows

    def _flatten(self, root: TriggerState) -> tuple[int, list[int | None]]:
        nodes = list(_preorder(root))
        bits = sum(1 << at for at, node in enumerate(nodes) if node.finished)
        return bits, [nodes[at].value for at in self._slots]

    def _build(self, bits: int, values: Sequence[int | None]) -> TriggerState:
        if bits == 0 and not any(value is not None for value in values):
            return self._fresh_trigger
        by_node = dict(zip(self._slots, values, strict=True))
        counter = iter(range(64))

        def build(shape: TriggerState) -> TriggerState:
            at = next(counter)
            return TriggerState(
                bool(bits >> at & 1), by_node.get(at), tuple(build(sub) for sub in shape.subs)
            )

        return build(self._fresh_trigger)


def _preorder(node: Any) -> Iterator[Any]:
    """A `Running` or `TriggerState` and all below it, parents first."""
    yield node
    for sub in node.subs:
        yield from _preorder(sub)


def _pane_info(timing: str, index: int, nonspeculative: int) -> PaneInfo:
    """A pane that is remembered. A last one never is."""
    return PaneInfo(Timing(timing), index, nonspeculative, index == 0, False)


def _window(start: int, end: int) -> Window:
    is_global = (start, end) == bounds(GLOBAL_WINDOW)
    return GLOBAL_WINDOW if is_global else IntervalWindow(start, end)

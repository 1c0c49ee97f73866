"""A scenario through the columnar machine, and what it remembers as the reference machine would."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np

from beamlike.hosts.script import Arrive, Output, Script
from beamlike.machine.columnar.arrays import NOTHING
from beamlike.machine.columnar.columns import Arrivals, Drops, Panes, State
from beamlike.machine.columnar.folds import Values, fold_of
from beamlike.machine.columnar.nodes import Nodes
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.columnar.table import NO_PANE, TIMINGS
from beamlike.machine.events import AdvanceWatermark, Drop, DropReason, Element, Pane
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.model.combine import Count, Max, Mean, Min, Sum, Together
from beamlike.model.panes import PaneInfo, Timing
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow, Window, bounds

__all__ = ["FIGURES", "run_in_columns"]

_WHOLE: Final = np.dtype(np.int64)

FIGURES: Final = Together(
    {"n": (Count(), None), "sum": (Sum(), 0), "least": (Min(), 0), "most": (Max(), 0)}
    | {"mean": (Mean(), 0)}
)
"""The aggregates of every run. Elements are tuples of one whole number."""


def run_in_columns(
    strategy: WindowingStrategy, script: Script
) -> Iterator[tuple[list[Output], Mapping[Hashable, KeyState]]]:
    """What comes out of each step, and the state of every key after it, without accumulators.

    Raises:
        UnsupportedError: Only the reference machine can do this.
    """
    folds = [fold_of(fn, _WHOLE) for fn, _ in FIGURES.parts.values()]
    machine = ColumnarGrouping(strategy, folds)
    keys: dict[Hashable, int] = {}
    state = machine.start(0, MIN_TIMESTAMP, 0)
    for number, happens in enumerate(script):
        drops: list[Drops] = []
        elements: Sequence[tuple[Hashable, Element]] = ()
        if isinstance(happens, Arrive):
            elements = happens.elements
            new = [key for key in dict.fromkeys(key for key, _ in elements) if key not in keys]
            keys |= {key: len(keys) + at for at, key in enumerate(new)}
            unseen = np.full(len(new), state.watermark, np.int64)
            state = attrs.evolve(state, promised=np.concatenate([state.promised, unseen]))
            state, panes, drops = machine.add(state, _arrivals(keys, elements))
        elif isinstance(happens, AdvanceWatermark):
            state, panes = machine.advance_watermark(state, happens.to)
        else:
            state, panes = machine.advance_clock(state, happens.to)
        names = list(keys)
        outputs = [Output(number, names[key], pane) for one in panes for key, pane in _panes(one)]
        outputs += [
            Output(number, elements[row][0], drop)
            for one in drops
            for row, drop in _drops(one, elements, state.watermark)
        ]
        yield outputs, _states(machine, state, names)


def _arrivals(keys: Mapping[Hashable, int], elements: Sequence[tuple[Any, Element]]) -> Arrivals:
    values = np.array([element.value[0] for _, element in elements], np.int64)
    column = Values(values, np.ones(len(values), np.bool_))
    return Arrivals(
        np.array([keys[key] for key, _ in elements], np.int64),
        np.array([element.timestamp for _, element in elements], np.int64),
        tuple(None if at is None else column for _, at in FIGURES.parts.values()),
    )


def _panes(panes: Panes) -> Iterator[tuple[int, Pane]]:
    for at in range(len(panes.key)):
        info = PaneInfo(
            Timing(TIMINGS[panes.timing[at]]),
            int(panes.index[at]),
            int(panes.nonspeculative[at]),
            bool(panes.index[at] == 0),
            bool(panes.is_last[at]),
        )
        value = tuple(it.data[at].item() if it.present[at] else None for it in panes.values)
        window = _window(panes.start[at], panes.end[at])
        yield int(panes.key[at]), Pane(window, value, int(panes.timestamp[at]), info)


def _drops(
    drops: Drops, elements: Sequence[tuple[Hashable, Element]], watermark: int
) -> Iterator[tuple[int, Drop]]:
    for at, row in enumerate(drops.row.tolist()):
        window, missed = _window(drops.start[at], drops.end[at]), int(drops.missed_by[at])
        nearly = None
        if drops.nearly_start[at] != NOTHING:
            nearly = _window(drops.nearly_start[at], drops.nearly_end[at])
        element = elements[row][1]
        if missed == NOTHING:
            yield row, Drop(element, window, DropReason.CLOSED, watermark=watermark)
        else:
            yield row, Drop(element, window, DropReason.EXPIRED, missed, nearly, watermark)


def _states(
    machine: ColumnarGrouping, state: State, names: Sequence[Hashable]
) -> Mapping[Hashable, KeyState]:
    table, windows = state.table, dict[Hashable, dict[Window, WindowState]]()
    targets = machine.targets(table)
    for at in range(len(table)):
        waits = {int(column[at]) for column in targets}
        pane = None
        if table.timing[at] != NO_PANE:
            pane = PaneInfo(
                Timing(TIMINGS[table.timing[at]]),
                int(table.index[at]),
                int(table.nonspeculative[at]),
                bool(table.index[at] == 0),
                False,
            )
        remembered = WindowState(
            _tree(table.trigger, at),
            None,
            int(table.fresh[at]),
            None if table.hold[at] == NOTHING else int(table.hold[at]),
            bool(table.awaits_end[at]),
            tuple(sorted(target for target in waits if target >= state.clock)),
            pane,
        )
        of_key = windows.setdefault(names[table.key[at]], {})
        of_key[_window(table.start[at], table.end[at])] = remembered
    return {
        name: KeyState(
            state.watermark, state.clock, int(state.promised[number]), windows.get(name, {})
        )
        for number, name in enumerate(names)
    }


def _tree(nodes: Nodes, at: int) -> TriggerState:
    value = None if nodes.value is None or nodes.value[at] == NOTHING else int(nodes.value[at])
    return TriggerState(
        bool(nodes.finished[at]), value, tuple(_tree(sub, at) for sub in nodes.subs)
    )


def _window(start: Any, end: Any) -> Window:
    is_global = (int(start), int(end)) == bounds(GLOBAL_WINDOW)
    return GLOBAL_WINDOW if is_global else IntervalWindow(int(start), int(end))

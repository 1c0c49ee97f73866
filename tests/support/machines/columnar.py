"""A scenario through the columnar machine, and what it remembers as the reference machine would."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import numpy as np
import pyarrow as pa

import beamlike as bl
from beamlike.machine.columnar.arrays import NOTHING, Array, Ints
from beamlike.machine.columnar.assign import Arrivals, LiftedArrivals
from beamlike.machine.columnar.columns import (
    NO_PANE,
    TIMINGS,
    Drops,
    State,
    Table,
    UnretractedPanes,
    drops_of,
    panes_of,
)
from beamlike.machine.columnar.folds.base import Fold, Values
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.machine.columnar.folds.objects import Objects
from beamlike.machine.columnar.leaves import Nodes
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.events import AdvanceWatermark, Element, Item, Lifted, Pane
from beamlike.machine.reference.state import KeyState, TriggerState, WindowState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import Collect, Count, Sum, Together
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import Window, bounds, window_of
from beamlike.runtime.memory import MemoryStage
from beamlike.runtime.script import Arrive, Output, Run, Script
from tests.support.machines.laws import in_any_order

FIGURES: Final = Together({"n": (Count(), None), "sum": (Sum(), 0), "all": (Collect(), 0)})
"""Aggregates that have columns of their own. Elements are tuples of one whole number."""

Step = tuple[list[Output], Mapping[Hashable, KeyState]]
"""What came out of a step, and the state of every key after it, without accumulators."""


def run_in_columns(
    strategy: bl.WindowingStrategy, script: Script, combine: bl.CombineFn = FIGURES
) -> Run:
    """A whole script."""
    steps = play_in_columns(strategy, script, combine)
    return Run(script, tuple(output for outputs, _ in steps for output in outputs))


def play_in_columns(
    strategy: bl.WindowingStrategy, script: Script, combine: bl.CombineFn = FIGURES
) -> Iterator[Step]:
    """A script step by step.

    Args:
        strategy: Windows, trigger, lateness and pane rules.
        script: In each arrival, either all elements were combined before or none were.
        combine: `FIGURES`, or any other function, which is then called window by window.
    """
    host = _Host(strategy, combine)
    for number, happens in enumerate(script):
        if isinstance(happens, Arrive):
            outputs = host.add(number, happens.elements)
        elif isinstance(happens, AdvanceWatermark):
            outputs = host.advance(number, *host.machine.advance_watermark(host.state, happens.to))
        else:
            outputs = host.advance(number, *host.machine.advance_clock(host.state, happens.to))
        yield outputs, host.states()


def unlike_memory(
    strategy: bl.WindowingStrategy, script: Script, combine: bl.CombineFn = FIGURES
) -> list[str]:
    """In what the two machines differ, in sentences, at the first step where they do.

    What comes out is compared, and what is remembered but for the accumulators, which the panes
    tell of.
    """
    memory = MemoryStage(Grouping(strategy, combine))
    steps = play_in_columns(strategy, script, combine)
    for number, (happens, (outputs, states)) in enumerate(zip(script, steps, strict=True)):
        found, expected = in_any_order(outputs), in_any_order(memory.play(happens))
        unlike = [f"missing: {output}" for output in (expected - found).elements()]
        unlike += [f"unexpected: {output}" for output in (found - expected).elements()]
        unlike += [
            f"the state of {key!r}: {states.get(key)}, in memory {state}"
            for key, state in memory.states.items()
            if _shown(states.get(key, KeyState())) != _shown(state)
        ]
        if unlike:
            return [f"step {number}", *unlike]
    return []


def _shown(state: KeyState) -> tuple[object, ...]:
    """A state in words, which tell more than equality: panes are equal whatever their session."""
    windows = {
        window: repr(attrs.evolve(remembered, accumulator=None))
        for window, remembered in state.windows.items()
    }
    return state.watermark, state.clock, state.output_watermark, windows


class _Host:
    """Numbers keys, and turns elements into columns and back."""

    def __init__(self, strategy: bl.WindowingStrategy, combine: bl.CombineFn) -> None:
        self._figures = combine is FIGURES
        folds = _folds() if self._figures else [Objects(combine)]
        self.machine = ColumnarGrouping(strategy, folds)
        self.state = self.machine.start(0, MIN_TIMESTAMP, 0)
        self._keys: dict[Hashable, int] = {}

    def add(self, number: int, elements: Sequence[tuple[Hashable, Item]]) -> list[Output]:
        new = [key for key in dict.fromkeys(key for key, _ in elements) if key not in self._keys]
        self._keys |= {key: len(self._keys) + index for index, key in enumerate(new)}
        unseen = np.full(len(new), self.state.watermark, np.int64)
        promised = np.concatenate([self.state.output_watermark, unseen])
        before = attrs.evolve(self.state, output_watermark=promised)
        keys = _whole([self._keys[key] for key, _ in elements])
        items = [item for _, item in elements]
        plain = [item for item in items if isinstance(item, Element)]
        lifted = [item for item in items if isinstance(item, Lifted)]
        assert not plain or not lifted, "an arrival is either combined before or not"
        bundle = self._lifted(keys, lifted) if lifted else self._plain(keys, plain)
        after, panes, drops = self.machine.add(before, bundle)
        return self.advance(number, after, panes) + [
            Output(number, elements[row][0], drop)
            for one in drops
            for row, drop in _with_rows(one, items, before.watermark)
        ]

    def advance(self, number: int, after: State, panes: Sequence[Any]) -> list[Output]:
        self.state, names = after, list(self._keys)
        return [
            Output(number, names[key], pane)
            for one in panes
            for key, pane in panes_of(one, self._values(one.values))
        ]

    def states(self) -> Mapping[Hashable, KeyState]:
        """What is remembered of every key."""
        state, names = self.state, list(self._keys)
        windows: dict[int, dict[Window, WindowState]] = {}
        unretracted_panes = self._outstanding(state.table)
        processing_timers = self._alarms(state)
        for index, key in enumerate(state.table.key.tolist()):
            of_key = windows.setdefault(key, {})
            window = window_of(int(state.table.start[index]), int(state.table.end[index]))
            assert window not in of_key, f"{window} is there twice"
            of_key[window] = _remembered(
                state.table, index, processing_timers[index], unretracted_panes[index]
            )
        return {
            name: KeyState(
                state.watermark,
                state.clock,
                int(state.output_watermark[number]),
                windows.get(number, {}),
            )
            for number, name in enumerate(names)
        }

    def _plain(self, keys: Ints, elements: Sequence[Element]) -> Arrivals:
        if self._figures:
            column = pa.array(_whole([element.value[0] for element in elements]))
            values = tuple(
                fold.values_of([] if at is None else [column])
                for fold, (_, at) in zip(self.machine.folds, FIGURES.parts.values(), strict=True)
            )
        else:
            values = (Values.of_objects([element.value for element in elements]),)
        times = _whole([element.timestamp for element in elements])
        is_end = self._ends(elements)
        if all(element.window is None for element in elements):
            return Arrivals(keys, times, values, is_end=is_end)
        spans = [
            (NOTHING, NOTHING) if element.window is None else bounds(element.window)
            for element in elements
        ]
        return Arrivals(keys, times, values, *_whole(spans).T, is_end)

    def _ends(self, elements: Sequence[Element]) -> Array | None:
        window_fn = self.machine.strategy.window_fn
        if not isinstance(window_fn, bl.Sessions) or window_fn.ends_with is None:
            return None
        return np.array([window_fn.is_end(element.value) for element in elements], np.bool_)

    def _lifted(self, keys: Ints, lifted: Sequence[Lifted]) -> LiftedArrivals:
        assert not self._figures, "their accumulators are those of another machine"
        accumulators = Values.of_objects([item.accumulator for item in lifted]).data
        start, end = _whole([bounds(item.window) for item in lifted]).T
        return LiftedArrivals(
            keys,
            start,
            end,
            _whole([item.timestamp for item in lifted]),
            _whole([item.count for item in lifted]),
            np.array([item.judged for item in lifted]),
            np.array([item.merged for item in lifted]),
            ((accumulators,),),
        )

    def _values(self, values: Sequence[Values]) -> Iterator[Any]:
        columns = [column.to_pylist() for column in values]
        return zip(*columns, strict=True) if self._figures else iter(columns[0])

    def _alarms(self, state: State) -> list[tuple[int, ...]]:
        table = state.table
        if table.processing_timers is not None:
            return [tuple(times) for times in Values(table.processing_timers).to_pylist()]
        waits = zip(
            *(column.tolist() for column in self.machine.targets(table.trigger)), strict=True
        )
        targets = list(waits) or [()] * len(table)
        return [tuple(sorted({at for at in target if at >= state.clock})) for target in targets]

    def _outstanding(self, table: Table) -> list[tuple[Pane, ...]]:
        if table.unretracted_panes is None:
            return [()] * len(table)
        panes: UnretractedPanes = table.unretracted_panes.items.read()
        values = list(self._values(panes.values))
        columns = (getattr(panes, name) for name in ("start", "end", "timestamp", "is_last"))
        starts, ends, stamps, lasts = (column.tolist() for column in columns)
        sessions = zip(panes.session_start.tolist(), panes.session_end.tolist(), strict=True)
        known = [
            Pane(
                window_of(starts[index], ends[index]),
                values[index],
                stamps[index],
                _info(panes, index, lasts[index]),
                session=window_of(*session),
            )
            for index, session in enumerate(sessions)
        ]
        stops = np.cumsum(table.unretracted_panes.lengths).tolist()
        first = table.unretracted_panes.first.tolist()
        return [tuple(known[a:b]) for a, b in zip(first, stops, strict=True)]


def _folds() -> list[Fold]:
    parts = FIGURES.parts.values()
    return [fold_of(fn, () if at is None else (pa.int64(),)) for fn, at in parts]


def _whole(numbers: Sequence[Any]) -> Array:
    return np.array(numbers, np.int64)


def _with_rows(drops: Drops, items: Sequence[Item], watermark: int) -> Iterator[tuple[int, Any]]:
    rows = drops.row.tolist()
    return zip(rows, drops_of(drops, [items[row] for row in rows], watermark), strict=True)


def _info(columns: Table | UnretractedPanes, at: int, is_last: bool) -> bl.PaneInfo:
    index = int(columns.index[at])
    timing = bl.Timing(TIMINGS[columns.timing[at]])
    return bl.PaneInfo(timing, index, int(columns.nonspeculative[at]), index == 0, is_last)


def _remembered(
    table: Table, at: int, processing_timers: tuple[int, ...], unretracted_panes: tuple[Pane, ...]
) -> WindowState:
    return WindowState(
        _tree(table.trigger, at),
        None,
        int(table.new_elements[at]),
        None if table.hold[at] == NOTHING else int(table.hold[at]),
        bool(table.end_timer_set[at]),
        processing_timers,
        None if table.timing[at] == NO_PANE else _info(table, at, False),
        unretracted_panes,
        0 if table.size is None else int(table.size[at]),
    )


def _tree(nodes: Nodes, at: int) -> TriggerState:
    value = None if nodes.value is None or nodes.value[at] == NOTHING else int(nodes.value[at])
    return TriggerState(
        bool(nodes.finished[at]), value, tuple(_tree(sub, at) for sub in nodes.subs)
    )

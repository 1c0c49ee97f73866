"""What is compared: engines that each play many streams side by side.

An engine is a function from a strategy to a `Walk`: streams at one place of the tree. To compare
one more, add it to `ENGINES`. A function that plays a whole script joins with a line:
``"local": from_script(run_in_local)``. An engine that can go on from where it is has a walk of its
own, which is cheaper.
"""

import pickle
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, Self

import attrs
import numpy as np
import pyarrow as pa

from beamlike.machine.columnar.arrays import NOTHING, take, within
from beamlike.machine.columnar.columns import Arrivals, Drops, Panes, State
from beamlike.machine.columnar.folds import fold_of
from beamlike.machine.columnar.step import ColumnarGrouping
from beamlike.machine.columnar.table import TIMINGS
from beamlike.machine.events import AdvanceClock, AdvanceWatermark, Bundle, Drop, Effect, Element
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.model.combine import CombineFn, Sum
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.memory import run_in_memory
from beamlike.runtime.script import Arrive as ArriveTogether
from beamlike.runtime.script import Output, Run, Script
from tests.exhaustive import rules
from tests.exhaustive.events import BITS, END, Arrive, Clock, Row, Stream, Watermark
from tests.exhaustive.streams import Node

__all__ = [
    "ENGINES",
    "MODEL",
    "Engine",
    "Rows",
    "Walk",
    "columns",
    "from_history",
    "from_script",
    "in_memory",
    "played",
    "reference",
    "restarting",
    "row_of",
    "rows_of_keys",
    "script_of",
    "script_of_keys",
]

Rows = Sequence[Row]


class Walk(Protocol):
    """Many streams at one place of the tree. A value: walking on leaves it as it is."""

    def spread(self, parents: Sequence[int]) -> Self:
        """For each of these numbers a stream that begins as the one of that number."""
        ...

    def arrive(self, bundles: Sequence[Arrive]) -> Self:
        """A bundle for each stream."""
        ...

    def move(self, to: Watermark | Clock) -> Self:
        """The same move for all of them."""
        ...

    def outcomes(self) -> Sequence[Rows]:
        """For each stream everything that comes out of it, played to the end."""
        ...


Engine = Callable[[WindowingStrategy], Walk]


def _event(move: Watermark | Clock) -> AdvanceWatermark | AdvanceClock:
    return AdvanceWatermark(move.to) if isinstance(move, Watermark) else AdvanceClock(move.to)


def _elements(bundle: Arrive, arrived: int) -> tuple[Element, ...]:
    return tuple(
        Element(1 << BITS * number, time) for number, time in enumerate(bundle.times, arrived)
    )


def row_of(step: int, effect: Effect) -> Row:
    if isinstance(effect, Drop):
        assert effect.window is not None
        number = (effect.value.bit_length() - 1) // BITS
        span = effect.window.start, effect.window.end
        return (step, effect.reason.value, *span, number, effect.missed_by)
    info = effect.info
    return (
        *(step, "withdrawn" if effect.retraction else "pane"),
        *(effect.window.start, effect.window.end, effect.value, effect.timestamp),
        *(info.timing.value, info.index, info.nonspeculative_index, info.is_first, info.is_last),
    )


# -- the model ---------------------------------------------------------------------------------


@attrs.frozen
class _Streams:
    """Streams of which nothing but their history is kept."""

    strategy: WindowingStrategy
    streams: tuple[Stream, ...] = ((),)

    def spread(self, parents: Sequence[int]) -> Self:
        return attrs.evolve(self, streams=tuple(self.streams[at] for at in parents))

    def arrive(self, bundles: Sequence[Arrive]) -> Self:
        pairs = zip(self.streams, bundles, strict=True)
        return attrs.evolve(self, streams=tuple((*stream, bundle) for stream, bundle in pairs))

    def move(self, to: Watermark | Clock) -> Self:
        return attrs.evolve(self, streams=tuple((*stream, to) for stream in self.streams))


@attrs.frozen
class _Histories(_Streams):
    """Streams that are asked for one by one."""

    outcome: Callable[[WindowingStrategy, Stream], Rows] = attrs.field(kw_only=True)

    def outcomes(self) -> Sequence[Rows]:
        return [self.outcome(self.strategy, (*stream, END)) for stream in self.streams]


def from_history(outcome: Callable[[WindowingStrategy, Stream], Rows]) -> Engine:
    """An engine of a function that says what comes out of one whole stream."""
    return lambda strategy: _Histories(strategy, outcome=outcome)


# -- scripts -----------------------------------------------------------------------------------


@attrs.frozen
class _Scripts(_Streams):
    """Streams that are played from the beginning, all as keys of one script."""

    run: Callable[[WindowingStrategy, Script], Run] = attrs.field(kw_only=True)

    def outcomes(self) -> Sequence[Rows]:
        outputs = self.run(self.strategy, script_of(self.streams)).outputs
        found = rows_of_keys(outputs)
        return [found.get(str(at), []) for at in range(len(self.streams))]


def from_script(run: Callable[[WindowingStrategy, Script], Run]) -> Engine:
    """An engine of a function that plays a script. Its values are whole numbers to be summed."""
    return lambda strategy: _Scripts(strategy, run=run)


def script_of(streams: Sequence[Stream]) -> Script:
    """Streams with the same moves as one script, to its end; each is a key, by its number."""
    return script_of_keys(dict(enumerate(streams)))


def script_of_keys(streams: Mapping[Any, Stream]) -> Script:
    """The same, with keys of any kind. A bundle may be empty: then it does not come."""
    steps: list[ArriveTogether | AdvanceWatermark | AdvanceClock] = []
    arrived = dict.fromkeys(streams, 0)
    for together in zip(*streams.values(), strict=True):
        first = together[0]
        if not isinstance(first, Arrive):
            steps.append(_event(first))
            continue
        elements: list[tuple[str, Element]] = []
        for key, bundle in zip(streams, together, strict=True):
            assert isinstance(bundle, Arrive), bundle
            elements += ((str(key), one) for one in _elements(bundle, arrived[key]))
            arrived[key] += len(bundle.times)
        steps.append(ArriveTogether(tuple(elements)))
    return (*steps, AdvanceWatermark(END.to))


def rows_of_keys(outputs: Iterable[Output]) -> Mapping[str, list[Row]]:
    """What came out, by the texts of the keys."""
    found: dict[str, list[Row]] = defaultdict(list)
    for output in outputs:
        found[output.key].append(row_of(output.step, output.effect))
    return found


# -- the reference machine ---------------------------------------------------------------------


@attrs.frozen
class _One:
    """A stream in the reference machine."""

    state: KeyState | None
    rows: tuple[Row, ...]
    arrived: int


@attrs.frozen
class _Stepped:
    """Streams in the reference machine, each in the state that it is in."""

    machine: Grouping
    restart: Callable[[KeyState], KeyState]
    ones: tuple[_One, ...] = (_One(None, (), 0),)
    watermark: int = MIN_TIMESTAMP
    clock: int = 0
    step: int = 0

    def spread(self, parents: Sequence[int]) -> Self:
        return attrs.evolve(self, ones=tuple(self.ones[at] for at in parents))

    def arrive(self, bundles: Sequence[Arrive]) -> Self:
        ones = tuple(
            self._stepped(
                one, Bundle(_elements(bundle, one.arrived)), one.arrived + len(bundle.times)
            )
            for one, bundle in zip(self.ones, bundles, strict=True)
        )
        return attrs.evolve(self, ones=ones, step=self.step + 1)

    def move(self, to: Watermark | Clock) -> Self:
        event = _event(to)
        ones = tuple(
            one if one.state is None else self._stepped(one, event, one.arrived)
            for one in self.ones
        )
        moved = attrs.evolve(self, ones=ones, step=self.step + 1)
        if isinstance(to, Watermark):
            return attrs.evolve(moved, watermark=to.to)
        return attrs.evolve(moved, clock=to.to)

    def outcomes(self) -> Sequence[Rows]:
        return [one.rows for one in self.move(END).ones]

    def _stepped(
        self, one: _One, event: Bundle | AdvanceWatermark | AdvanceClock, arrived: int
    ) -> _One:
        before = one.state or KeyState.unseen(self.watermark, self.clock)
        state, effects = self.machine.step(self.restart(before), event)
        rows = tuple(row_of(self.step, effect) for effect in effects)
        return _One(state, one.rows + rows, arrived)


def reference(strategy: WindowingStrategy, combine: CombineFn | None = None) -> Walk:
    """The reference machine, one key at a time."""
    return _Stepped(Grouping(strategy, combine or Sum()), lambda state: state)


def restarting(strategy: WindowingStrategy) -> Walk:
    """The reference machine, whose state is saved and loaded before each step."""
    return _Stepped(Grouping(strategy, Sum()), lambda state: pickle.loads(pickle.dumps(state)))


# -- the columnar machine ----------------------------------------------------------------------


@attrs.frozen
class _Columns:
    """Streams in the columnar machine: each is a key, and all of them are stepped together."""

    machine: ColumnarGrouping
    state: State
    rows: tuple[tuple[Row, ...], ...] = ((),)
    arrived: tuple[int, ...] = (0,)
    step: int = 0

    def spread(self, parents: Sequence[int]) -> Self:
        if list(parents) == list(range(len(self.rows))):
            return self
        at = np.array(parents, np.int64)
        return attrs.evolve(
            self,
            state=_copied(self.state, at),
            rows=tuple(self.rows[one] for one in parents),
            arrived=tuple(self.arrived[one] for one in parents),
        )

    def arrive(self, bundles: Sequence[Arrive]) -> Self:
        places = [
            (key, time, number)
            for key, (bundle, arrived) in enumerate(zip(bundles, self.arrived, strict=True))
            for number, time in enumerate(bundle.times, arrived)
        ]
        keys, times, numbers = np.array(places, np.int64).T
        values = pa.array(np.int64(1) << BITS * numbers)
        (fold,) = self.machine.folds
        arrivals = Arrivals(keys, times, (fold.values_of([values]),))
        state, panes, drops = self.machine.add(self.state, arrivals)
        new = [row for one in panes for row in _rows_of(self.step, one)]
        for drop in drops:
            new += _dropped(self.step, drop, keys, numbers)
        after = self._after(state, new)
        counts = zip(self.arrived, bundles, strict=True)
        return attrs.evolve(after, arrived=tuple(was + len(b.times) for was, b in counts))

    def move(self, to: Watermark | Clock) -> Self:
        advance = (
            self.machine.advance_watermark
            if isinstance(to, Watermark)
            else self.machine.advance_clock
        )
        state, panes = advance(self.state, to.to)
        return self._after(state, [row for one in panes for row in _rows_of(self.step, one)])

    def outcomes(self) -> Sequence[Rows]:
        return self.move(END).rows

    def _after(self, state: State, new: Sequence[tuple[int, Row]]) -> Self:
        rows = list(self.rows)
        for key, row in new:
            rows[key] += (row,)
        return attrs.evolve(self, state=state, rows=tuple(rows), step=self.step + 1)


def _copied(state: State, parents: Any) -> State:
    """A state in which key ``n`` is as key ``parents[n]`` was."""
    order = np.argsort(state.table.key, kind="stable")
    lengths = np.bincount(state.table.key, minlength=len(state.promised))
    first, lengths = (np.cumsum(lengths) - lengths)[parents], lengths[parents]
    rows = order[np.repeat(first, lengths) + within(lengths)]
    key = np.repeat(np.arange(len(parents)), lengths)
    table = attrs.evolve(take(state.table, rows), key=key)
    return State(state.watermark, state.clock, state.promised[parents], table)


def _rows_of(step: int, panes: Panes) -> list[tuple[int, Row]]:
    (values,) = panes.values
    timings = [TIMINGS[at] for at in panes.timing.tolist()]
    indexes = panes.index.tolist()
    kinds = ["pane"] * len(timings)
    if panes.retraction is not None:
        kinds = ["withdrawn" if one else "pane" for one in panes.retraction.tolist()]
    columns = (
        *([step] * len(timings), kinds, panes.start.tolist(), panes.end.tolist()),
        *(values.to_pylist(), panes.timestamp.tolist(), timings, indexes),
        *(panes.nonspeculative.tolist(), [at == 0 for at in indexes], panes.is_last.tolist()),
    )
    return list(zip(panes.key.tolist(), zip(*columns, strict=True), strict=True))


def _dropped(step: int, drops: Drops, keys: Any, numbers: Any) -> list[tuple[int, Row]]:
    columns = (drops.row, drops.start, drops.end, drops.missed_by)
    return [
        (
            int(keys[at]),
            (step, "closed", start, end, int(numbers[at]), None)
            if missed == NOTHING
            else (step, "expired", start, end, int(numbers[at]), missed),
        )
        for at, start, end, missed in zip(*(c.tolist() for c in columns), strict=True)
    ]


def columns(strategy: WindowingStrategy) -> Walk:
    """The columnar machine."""
    machine = ColumnarGrouping(strategy, [fold_of(Sum(), (pa.int64(),))])
    return _Columns(machine, machine.start(1, MIN_TIMESTAMP, 0))


# -- all of them -------------------------------------------------------------------------------


def in_memory(strategy: WindowingStrategy, script: Script) -> Run:
    """The memory host, with values that are summed."""
    return run_in_memory(Grouping(strategy, Sum()), script)


MODEL: Final = from_history(rules.outcome)
"""The rules in the plainest way. Everything else is compared with it."""

ENGINES: Final[dict[str, Engine]] = {"reference": reference, "columnar": columns}
"""What is compared with the model, by name."""


def played(engine: Engine, strategy: WindowingStrategy, node: Node) -> Sequence[Rows]:
    """What an engine makes of the streams of a node, from the beginning."""
    walk = engine(strategy).spread([0] * len(node.streams))
    for step, move in enumerate(node.moves):
        if move is None:
            walk = walk.arrive([_bundle(stream[step]) for stream in node.streams])
        else:
            walk = walk.move(move)
    return walk.outcomes()


def _bundle(event: object) -> Arrive:
    assert isinstance(event, Arrive), event
    return event

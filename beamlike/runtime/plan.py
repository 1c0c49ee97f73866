"""Everything that one stage of a query needs to run on any host, as one value for its workers.

A stage is a grouping, a look-up or a function with states.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypedDict

import attrs
import pyarrow as pa

from beamlike.machine.clocks import Clocks
from beamlike.machine.input_clocks import SourceClock, StageClock
from beamlike.machine.lifting import Lifting
from beamlike.machine.reference.step import Grouping
from beamlike.machine.side_input import SideInputs
from beamlike.machine.userstate.machine import StatefulParDo
from beamlike.model.combine import CombineFn, Together
from beamlike.model.combine.corrected import Corrected
from beamlike.model.options import MAX_FAILURES, AccumulationMode
from beamlike.model.resolution import MILLISECONDS, Resolution
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import IntervalWindow
from beamlike.runtime.accumulator_columns import AccumulatorColumns
from beamlike.runtime.changes import LAYOUTS, RESOLUTION, strategy_words
from beamlike.runtime.checked_combine_fns import Checked
from beamlike.runtime.json_rows import scalars
from beamlike.runtime.operation import Operation, types_in_words
from beamlike.runtime.options import (
    BUCKETS,
    SHARDS,
    STAGE,
    MachineName,
    OnError,
    Render,
)
from beamlike.runtime.script import Machine

LAYOUT_VERSION: Final = LAYOUTS[-1]
"""Goes up whenever an older version and this one would misread the state that the other saved."""


@attrs.frozen
class Part:
    """One aggregate of the result.

    ``input`` is the position of its column among the plan's values, None if it needs none, a
    tuple of positions if its elements are tuples of several columns.
    ``result`` is the Arrow type of its value in the output. Where values have no Arrow type,
    ``read`` makes them of the contents of their column. A part that is not ``shown`` is not a
    column of the output: where rows withdraw others, the last part, which counts the rows left.
    """

    name: str
    fn: CombineFn
    input: int | tuple[int, ...] | None
    columns: AccumulatorColumns
    result: pa.DataType
    read: Callable[[Iterable[Any]], Iterable[Any]] | None = None
    shown: bool = True

    @property
    def checked(self) -> CombineFn:
        """The combine function, which here refuses values that do not fit the columns."""
        return Checked(self.name, self.fn, self.columns, self.result)


def _together(parts: Sequence[Part], *, checked: bool = False) -> Together:
    cls = Together if all(part.shown for part in parts) else Corrected
    return cls({part.name: (part.checked if checked else part.fn, part.input) for part in parts})


@attrs.frozen
class Aggregation(Operation):
    """A windowed, triggered grouping. An element is a row, a pane has a value for each part."""

    strategy: WindowingStrategy
    values: Mapping[str, pa.DataType]
    parts: tuple[Part, ...]
    on_error: OnError

    @property
    def machine(self) -> Grouping:
        return Grouping(self.strategy, _together(self.parts), self.on_error)

    @property
    def accumulator(self) -> AccumulatorColumns:
        return _PartsColumns(self.parts)

    @property
    def results(self) -> Mapping[str, pa.DataType]:
        return {part.name: part.result for part in self.parts if part.shown}

    @property
    def why_key_by_key(self) -> str | None:
        return None

    @property
    def state_identity(self) -> Mapping[str, str]:
        return {
            **strategy_words(self.strategy),
            "aggregates": ", ".join(
                f"{part.name}={part.fn}{self._of_columns(part.input)}" for part in self.parts
            ),
        }

    def _of_columns(self, paths: int | tuple[int, ...] | None) -> str:
        if paths is None:
            return ""
        values = list(self.values.items())
        inputs = [values[path] for path in (paths if isinstance(paths, tuple) else (paths,))]
        return f" of {' and '.join(f'{name} {dtype}' for name, dtype in inputs)}"

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return rows

    def fields(self, value: Any) -> Mapping[str, pa.Scalar]:
        return scalars(self.values, value)


@attrs.frozen
class _PartsColumns(AccumulatorColumns):
    """The accumulators of all aggregates, side by side."""

    parts: tuple[Part, ...]

    def types(self) -> dict[str, pa.DataType]:
        # Names of aggregates are the user's: only with its position is a column's name its own.
        return {
            f"acc{index}_{part.name}{suffix}": dtype
            for index, part in enumerate(self.parts)
            for suffix, dtype in part.columns.types().items()
        }

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return [
            array
            for index, part in enumerate(self.parts)
            for array in part.columns.encode([accumulator[index] for accumulator in accumulators])
        ]

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        rest, decoded = iter(columns), []
        for part in self.parts:
            part_columns = [next(rest) for _ in part.columns.types()]
            decoded.append(part.columns.decode(part_columns))
        return list(zip(*decoded, strict=True))


class PlanOptions(TypedDict, total=False):
    """The fields of a plan that have a default, see `Plan`."""

    shards: int
    buckets: int
    on_error: OnError
    name: str
    render: Render
    clocks: Clocks | None
    source: SourceClock | None
    reports: bool
    lift: bool
    fanout: int
    machine_name: MachineName
    has_downstream: bool
    record: int
    key_clock: SourceClock | None
    max_failures: float


@attrs.frozen(slots=False)
class Plan:
    """What a stage does, with which rows, and how its state is laid out.

    It aggregates ``parts`` by ``strategy``, or does the ``custom_operation`` if it has one.

    Keys are spread over ``shards`` groups of Spark, and within each over ``buckets``. The shard's
    index has the earliest deadlines of each bucket, so that the reference machine steps only the
    buckets that are touched. Both numbers are part of the layout: they cannot change while a
    checkpoint is in use.

    ``clocks`` are the clocks of the inputs if each has a watermark of its own; None: there is one
    input, with Spark's watermark. Then ``source`` says how that follows its rows, None if that is
    not known. With ``reports`` each shard reports its output watermark to the next stage.
    ``render`` says how retractions are shown. ``name`` names the stage in drops and in Spark's
    query progress.

    Elements are combined before they reach their shard with ``lift``, where they are read, or with
    a ``fanout``, the number of groups among which they are dealt out. ``machine_name`` says which
    machine steps the shards; both leave the same state. ``has_downstream`` says that another
    grouping may follow in the query: then rows carry what that needs. With ``record`` shards keep
    what they are sent, each at most so many bytes.

    ``key_clock`` says how the elements of a key move a watermark of its own; None: there is one
    watermark for all keys.

    ``max_failures`` is the share of calls of the user's functions that may fail, where what fails
    is dropped, see `beamlike.runtime.failing`.

    With ``wall_clock`` event times are wall-clock times, which are in no zone: they are computed
    as if they were in UTC, and shown without a zone. Rows that come out count ticks of ``of_rows``;
    None: those of the plan.
    """

    strategy: WindowingStrategy
    keys: Mapping[str, pa.DataType]
    values: Mapping[str, pa.DataType]
    parts: tuple[Part, ...]
    shards: int = SHARDS
    buckets: int = BUCKETS
    on_error: OnError = "drop"
    name: str = STAGE
    render: Render = "retractions"
    clocks: Clocks | None = None
    source: SourceClock | None = None
    reports: bool = False
    custom_operation: Operation | None = None
    lift: bool = False
    fanout: int = 0
    machine_name: MachineName = "auto"
    has_downstream: bool = True
    record: int = 0
    key_clock: SourceClock | None = None
    max_failures: float = MAX_FAILURES
    wall_clock: bool = False
    of_rows: Resolution | None = None

    @property
    def resolution(self) -> Resolution:
        """What a tick of its times is."""
        return self.strategy.resolution

    @property
    def key_columns(self) -> dict[str, pa.DataType]:
        """The columns of the key among rows and in saved state, each after a key of the plan."""
        return {f"key_{name}": dtype for name, dtype in self.keys.items()}

    @property
    def value_columns(self) -> list[str]:
        """The columns of the values among rows, each after a value of the plan."""
        return [f"value_{name}" for name in self.values]

    @property
    def tick_of_rows(self) -> int:
        """How many ticks of output rows make one tick of the plan."""
        of_rows = self.resolution if self.of_rows is None else self.of_rows
        return self.resolution.micros // of_rows.micros

    @cached_property
    def longest_wait(self) -> int | None:
        """See `WindowingStrategy.longest_wait`."""
        return self.strategy.longest_wait

    def in_resolution(self, resolution: Resolution) -> "Plan":
        """This plan with all times in ticks of a resolution.

        Raises:
            TimeError: A duration is finer than such a tick.
        """
        return attrs.evolve(
            self,
            strategy=self.strategy.in_resolution(resolution),
            clocks=self.clocks and self.clocks.in_resolution(resolution),
            source=self.source and self.source.in_resolution(resolution),
            key_clock=self.key_clock and self.key_clock.in_resolution(resolution),
            custom_operation=self.custom_operation
            and self.custom_operation.in_resolution(resolution),
        )

    @property
    def needs_ticks(self) -> bool:
        """Whether something may become due by processing time alone."""
        by_input = self.clocks is not None and self.clocks.needs_clock
        return by_input or self.machine.needs_clock

    @property
    def retracts(self) -> bool:
        """Whether some panes withdraw others."""
        retracting = self.strategy.accumulation is AccumulationMode.RETRACTING
        return retracting and isinstance(self.machine, Grouping)

    @property
    def corrects(self) -> bool:
        """Whether some rows that go in withdraw others."""
        return not all(part.shown for part in self.parts)

    @property
    def shown_parts(self) -> tuple[Part, ...]:
        """The aggregates that a pane has values of."""
        return tuple(part for part in self.parts if part.shown)

    @cached_property
    def operation(self) -> Operation:
        if self.custom_operation is not None:
            return self.custom_operation
        return Aggregation(self.strategy, self.values, self.parts, self.on_error)

    @cached_property
    def machine(self) -> Machine:
        return self.operation.machine

    @cached_property
    def checking_machine(self) -> Machine:
        """A machine that refuses single elements whose aggregate outgrows its type."""
        if self.custom_operation is not None:
            return self.machine
        return Grouping(self.strategy, _together(self.parts, checked=True), self.on_error)

    def lifting(self, *, checks: bool = False) -> Lifting:
        """What combines elements before they reach their shard; with ``checks`` as
        `checking_machine` does."""
        machine = self.checking_machine if checks else self.machine
        assert isinstance(machine, Grouping), "nothing else combines elements"
        return Lifting(self.strategy, machine.combine, self.on_error)

    @cached_property
    def fanout_ids(self) -> tuple[int, ...]:
        """The grouping keys of the fanout's groups; none without a fanout."""
        return spread_shards(self.fanout)

    @cached_property
    def shard_ids(self) -> tuple[int, ...]:
        """The grouping keys of the shards, chosen so that Spark spreads them evenly."""
        return spread_shards(self.shards)

    @cached_property
    def identity(self) -> dict[str, str]:
        """What saved state depends on, in words. Plans with equal words can use the same state.

        `beamlike.runtime.changes` says which words may change between two starts.
        """
        return {
            "layout version": str(LAYOUT_VERSION),
            **self.operation.state_identity,
            "key": types_in_words(self.keys),
            "inputs": self._input_words(),
            "shards": str(self.shards),
            "buckets": str(self.buckets),
            # Its groups remember which watermark judged their rows; new ones would not know.
            "hot key fanout": str(self.fanout or "none"),
        } | self._more_words

    @property
    def _more_words(self) -> dict[str, str]:
        identity = {} if self.key_clock is None else {"watermarks": "one for each key"}
        if self.resolution is not MILLISECONDS:
            identity[RESOLUTION] = self.resolution.word
        if self.wall_clock:
            identity["event times"] = "wall-clock times, in no zone"
        return identity

    @cached_property
    def about(self) -> dict[str, str | int | None]:
        """Facts for readers of saved state (`beamlike.inspect.state`). Nothing depends on them."""
        about: dict[str, str | int | None] = {"stage": self.name}
        if isinstance(self.machine, Grouping):
            strategy = self.machine.strategy
            span = IntervalWindow(0, 1)
            about["trigger"] = str(strategy.trigger)
            about["allowed lateness"] = strategy.allowed_lateness
            about["retained"] = strategy.forgotten(span) - strategy.expiry(span)
        elif isinstance(self.machine, SideInputs | StatefulParDo):
            about["allowed lateness"] = self.machine.allowed_lateness
        return about

    def _input_words(self) -> str:
        if self.clocks is None:
            return "one, with the watermark of the query"
        return ", ".join(
            f"a grouping of {clock.shards} shards" if isinstance(clock, StageClock) else "a source"
            for clock in self.clocks.inputs
        )

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again, from what they received.
        fields = {field.name for field in attrs.fields(type(self))}
        return {name: value for name, value in self.__dict__.items() if name in fields}


def spread_shards(count: int) -> tuple[int, ...]:
    """Shard ids whose Spark hashes are all different modulo ``count``.

    Spark places a group by the hash of its key modulo the number of shuffle partitions. Ids
    0, 1, 2, ... collide: one task would get three shards and another none. These ids fall
    evenly into any number of partitions that divides ``count``.
    """
    by_rest: dict[int, int] = {}
    candidate = 0
    while len(by_rest) < count:
        by_rest.setdefault(_murmur3_int(candidate) % count, candidate)
        candidate += 1
    return tuple(by_rest[rest] for rest in sorted(by_rest))


def number_of_shard(group: int, count: int) -> int:
    """The position of an id among `spread_shards`, without computing all of them.

    >>> [number_of_shard(group, 3) for group in spread_shards(3)]
    [0, 1, 2]
    """
    return _murmur3_int(group) % count


def _murmur3_int(value: int) -> int:
    """Spark's hash of an integer column (Murmur3 x86 32), as a signed number."""
    mask = 0xFFFFFFFF

    def rotate(x: int, by: int) -> int:
        return ((x << by) | (x >> (32 - by))) & mask

    mixed = rotate((value * 0xCC9E2D51) & mask, 15) * 0x1B873593 & mask
    hashed = (rotate(42 ^ mixed, 13) * 5 + 0xE6546B64) & mask
    hashed ^= 4
    hashed = ((hashed ^ (hashed >> 16)) * 0x85EBCA6B) & mask
    hashed = ((hashed ^ (hashed >> 13)) * 0xC2B2AE35) & mask
    hashed ^= hashed >> 16
    return hashed - (1 << 32) if hashed >> 31 else hashed

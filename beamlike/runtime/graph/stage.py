"""A node that keeps state, on a shard: takes the tables that arrive, makes the bundles that
leave."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, ClassVar

import attrs
import pyarrow as pa

from beamlike.errors import UserFunctionError
from beamlike.machine.clocks import Clocks
from beamlike.machine.columnar.columns import Panes
from beamlike.machine.events import Drop, Element, Merged, Pane
from beamlike.model.bundle import Bundle
from beamlike.model.combine import Mean
from beamlike.model.graph import MAIN, GroupNode, Node, SideInputNode, StatefulParDoNode
from beamlike.model.options import MAX_FAILURES
from beamlike.model.strategy import WindowingStrategy
from beamlike.model.windows import window_of
from beamlike.runtime.accumulator_columns import (
    ARROW,
    AccumulatorColumns,
    PickledColumn,
    columns_of,
)
from beamlike.runtime.changes import strategy_words, unnumbered
from beamlike.runtime.clock import ShardInput, ShardStatus
from beamlike.runtime.column_shard import ARRIVAL, ColumnShard, Pass
from beamlike.runtime.envelope import elements_of
from beamlike.runtime.graph.keyed_tables import (
    SeenKeys,
    bundle_of,
    each_pane,
    read_values,
    together,
)
from beamlike.runtime.graph.keys import key_of
from beamlike.runtime.graph.machine_node import UsersMachine
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.graph.tracing import ShardTrace, TracedShard
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.lift import Lifter, combine_the_rest
from beamlike.runtime.operation import Operation, function_words
from beamlike.runtime.options import STAGE
from beamlike.runtime.output import drops_of_step, key_names, keyed_merges
from beamlike.runtime.plan import Part, Plan
from beamlike.runtime.script import Machine
from beamlike.runtime.shard import KeyedMerge, Shard
from beamlike.runtime.stepping import Stepper, stepper_of
from beamlike.runtime.store.index import Index
from beamlike.runtime.store.stores import Store

Read = Callable[[Iterable[Any]], Iterable[Any]]


@attrs.define
class HeldValues:
    """Values in this process: their column holds the position of each."""

    positions: ClassVar = pa.uint64()  # of no declared type

    values: Sequence[Any] = ()

    def read(self, positions: Iterable[int]) -> Iterator[Any]:
        """The values at these positions."""
        return map(self.values.__getitem__, positions)


@attrs.frozen
class NodeOperation(Operation):
    """The machine of a node, as an operation.

    ``typed`` says how accumulators are saved if the type of values is declared; ``read`` makes
    values of the contents of their column.
    """

    machine: Machine
    node: Node
    read: Read
    untyped: "_OverWire"
    typed: AccumulatorColumns | None = None

    @property
    def results(self) -> Mapping[str, pa.DataType]:
        return {"value": pa.binary()}

    @property
    def accumulator(self) -> AccumulatorColumns:
        return self.untyped if self.typed is None else _Named(self.typed)

    @property
    def why_key_by_key(self) -> str | None:
        if isinstance(self.node, GroupNode):
            return None
        if isinstance(self.node, SideInputNode):
            return "elements of a window look into side inputs together"
        return f"{type(self.machine).__name__} takes one key after the other"

    def elements(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[Any]:
        return self.read(value for (value,) in rows)

    @property
    def state_identity(self) -> Mapping[str, str]:
        fields = {"machine": type(self.machine).__name__, "transform": unnumbered(self.node.label)}
        if isinstance(self.node, GroupNode):
            fields |= strategy_words(self.node.strategy) | {"combine": str(self.node.combine)}
            if self.typed is not None and self.node.value_type is not None:
                fields["values"] = self.node.value_type.__name__
        elif isinstance(self.node, SideInputNode):
            sides = ", ".join(map(str, self.node.sides))
            fields |= {"main": str(self.node.main), "side inputs": sides}
        elif isinstance(self.node, StatefulParDoNode):
            fields |= function_words(self.node.fn)
        elif isinstance(self.machine, UsersMachine):
            fields |= self.machine.state_identity
        return fields


@attrs.frozen
class _OverWire(PickledColumn):
    """Any Python value, on the wire. ``checks`` says whether coders have to show that it comes
    back, because it is made of values that were not checked yet."""

    wire: Wire
    checks: bool = False

    def dumps(self, accumulators: Sequence[Any]) -> list[bytes]:
        return self.wire.blobs_of(accumulators, checks=self.checks)

    def loads(self, blob: bytes) -> Any:
        return self.wire.loads(blob)


@attrs.frozen
class _Named(AccumulatorColumns):
    """Typed accumulators in columns with a name of their own."""

    columns: AccumulatorColumns

    def types(self) -> dict[str, pa.DataType]:
        return {f"acc{suffix}": dtype for suffix, dtype in self.columns.types().items()}

    def encode(self, accumulators: Sequence[Any]) -> list[pa.Array]:
        return self.columns.encode(accumulators)

    def decode(self, columns: Sequence[pa.ChunkedArray]) -> list[Any]:
        return self.columns.decode(columns)


def plan_of(
    node: Node,
    machine: Machine,
    wire: Wire,
    shards: int = 1,
    buckets: int = 1,
    *,
    clocks: Clocks | None = None,
    held: HeldValues | None = None,
) -> Plan:
    """The plan of the shards of a node.

    Args:
        node: The node.
        machine: Its machine.
        wire: How its keys and values are bytes.
        shards: The groups that share its keys.
        buckets: See `Plan`.
        clocks: The clocks of the sources and stateful nodes that its watermark follows from; None:
            the host gives the watermark.
        held: Where values without a declared type are read from; None: from their column.
    """
    unit = node.resolution
    strategy, parts = _windowing(node).in_resolution(unit), list[Part]()
    values = pa.binary() if held is None else HeldValues.positions
    read: Read = partial(read_values, wire=wire) if held is None else held.read
    untyped = _OverWire(wire, checks=held is not None)
    typed: AccumulatorColumns | None = None
    if isinstance(node, GroupNode):
        part = Part("value", node.combine, 0, untyped, pa.binary(), read)
        if node.value_type is not None:
            dtype = ARROW[node.value_type]
            # Python's mean of whole numbers is exact, and that of typed columns is not.
            rounds = node.value_type is int and isinstance(node.combine, Mean)
            as_pickles = rounds or node.value_type is bool
            typed_columns = None if as_pickles else columns_of(node.combine, dtype)
            if typed_columns is not None:
                (typed, result), values = typed_columns, dtype
                part = Part("value", node.combine, 0, typed, result)
        parts = [part]
    share = MAX_FAILURES
    if isinstance(node, GroupNode | StatefulParDoNode):
        share = node.max_failures
    return Plan(
        strategy,
        {"key": pa.binary()},
        {"value": values},
        tuple(parts),
        shards=shards,
        buckets=buckets,
        on_error="drop" if isinstance(node, GroupNode) and node.drops_failures else "fail",
        name=node.label or STAGE,  # that of a scenario has none
        clocks=None if clocks is None else clocks.in_resolution(unit),
        custom_operation=NodeOperation(machine, node, read, untyped, typed),
        max_failures=share,
    )


def _windowing(node: Node) -> WindowingStrategy:
    """By which a node judges what is too late."""
    match node:
        case GroupNode():
            return node.strategy
        case SideInputNode():
            return node.main
        case StatefulParDoNode():
            return node.windowing
    return WindowingStrategy.unwindowed()


@attrs.frozen
class StageStepped:
    """What a step of a shard brought out.

    Args:
        out: The elements that panes become, by the tag of the output.
        drops: What was dropped, by key.
        merges: The merges of live windows, by key, for a log: to be read once, as ``panes``.
        status: The status of the shard then.
        outputs: For traces: what came out of which key in which phase, see `ShardTrace`.
        trace: For traces: what the machine traced.
        panes: For a log: the panes by key.
    """

    out: dict[str, Bundle]
    drops: list[tuple[Any, Drop]]
    merges: Iterable[tuple[Any, Merged]]
    status: ShardStatus
    outputs: Callable[[], list[Any]] = list
    trace: list[Any] = attrs.field(factory=list)
    panes: Iterable[tuple[Any, Pane]] = ()


@attrs.frozen(slots=False)
class Stage:
    """The shards of a node of a layer.

    Args:
        worker: The worker of the node.
        plan: The plan of its shards.
        wire: How keys and values are bytes.
        notes: Whether the inside of the node is recorded.
        seen: The keys in order of arrival, if panes are to come out in that order, as on the memory
            host; None: the order is not defined.
    """

    worker: StatefulWorker
    plan: Plan
    wire: Wire
    notes: bool
    seen: SeenKeys | None = None

    @cached_property
    def _stepper(self) -> Stepper:
        return stepper_of(self.plan)

    @cached_property
    def _lifter(self) -> Lifter:
        return Lifter(self.plan)

    @cached_property
    def _shard(self) -> Shard:
        return TracedShard(self.plan) if self.notes else Shard(self.plan)

    def prepare(self) -> None:
        """Make everything that all steps need, before the first element."""
        _ = self._stepper, self.plan.identity, self.plan.about

    def step(self, store: Store, batch: ShardInput) -> StageStepped:
        """Take a shard through a micro-batch, by the columnar machine if that can do it.

        Args:
            store: The state of the shard.
            batch: The tables that arrive, as `together` returns them, and what its origins report.

        Raises:
            UserFunctionError: A function of the user's raised.
        """
        with self._keys_named():
            stepped = self._stepper.attempt(
                store,
                Index.load(self.plan, store),
                partial(self._by_columns, batch),
                partial(self._key_by_key, batch),
            )
        closing = self.worker.closing()
        if closing:
            stepped.out.setdefault(MAIN, Bundle()).extend(closing)
        return stepped

    def together(self, tables: Sequence[pa.Table]) -> list[pa.Table]:
        """What arrives in a micro-batch, in order of arrival."""
        return together(tables, self.wire)

    def count(self, tables: Sequence[pa.Table]) -> int:
        """How many elements arrive."""
        return sum(map(elements_of, tables))

    def lift(self, tables: Sequence[pa.Table], watermark: int | None) -> pa.Table:
        """Elements combined by key and window, none of which is late; see `Lifter.lift`.

        Raises:
            UserFunctionError: A function of the user's raised.
        """
        with self._keys_named():
            lifted, _ = self._lifter.lift(tables, watermark)
            return lifted

    def _by_columns(
        self, batch: ShardInput, columns: ColumnShard, store: Store, index: Index, passes: int
    ) -> StageStepped:
        plan = self.plan
        late = list[tuple[tuple[Any, ...], Drop]]()
        if len(batch.tables) > 1:  # one table has one form
            begin, _ = batch.moves(index.clocks, plan)
            together = combine_the_rest(lambda: self._lifter, batch.tables, begin.watermark)
            batch, late = attrs.evolve(batch, tables=together[0]), together[1]
        stepped = columns.step(store, batch, passes, index)
        out, panes = Bundle(), list[tuple[Pass, list[bytes]]]()
        for passed in stepped.passes:
            blobs = [blob for (blob,) in key_names(plan, passed.keys)]
            panes.append((passed, blobs))
            for phase, came in zip(passed.phases, passed.panes, strict=True):
                bundle = bundle_of(came, blobs, self.key_of)
                if self.seen is not None:
                    bundle = bundle.take(self._in_order(phase, came, blobs))
                out.extend(bundle)
        drops = [*late, *drops_of_step(plan, stepped)]
        return StageStepped(
            {MAIN: out} if out else {},
            [(self.key_of(blob), drop) for (blob,), drop in drops],
            self._named(keyed_merges(plan, stepped)),
            stepped.status,
            lambda: [*((ARRIVAL, blob, drop) for (blob,), drop in drops), *each_pane(panes)],
            panes=((self.key_of(blob), pane) for _, blob, pane in each_pane(panes)),
        )

    def _in_order(self, phase: int, panes: Panes, blobs: Sequence[bytes]) -> list[int]:
        """The places of panes in the order in which their keys came, in this bundle or ever."""
        assert self.seen is not None, "else they are in any order"
        ranks = panes.key.tolist()
        if phase != ARRIVAL:
            ranks = [self.seen.ranks[blobs[number]] for number in ranks]
        return sorted(range(len(ranks)), key=ranks.__getitem__)

    def _key_by_key(self, batch: ShardInput, _: Shard, store: Store, index: Index) -> StageStepped:
        shard = self._shard
        stepped = shard.step(store, batch, index)
        out, drops, panes = Bundle(), list[tuple[Any, Drop]](), list[tuple[Any, Pane]]()
        effects = stepped.effects
        if self.seen is not None:  # saved keys have an order of their own
            ranks = self.seen.ranks
            effects = sorted(effects, key=lambda keyed_effect: ranks[keyed_effect[0][0]])
        for (blob,), effect in effects:
            key = self.key_of(blob)
            if isinstance(effect, Drop):
                drops.append((key, effect))
            else:
                panes.append((key, effect))
                out.append(self.worker.shown(key, effect))
        merges = self._named(stepped.merges)
        outputs, trace = shard.taken() if isinstance(shard, TracedShard) else ([], [])
        tagged = {MAIN: out} if out else {}
        return StageStepped(tagged, drops, merges, stepped.status, lambda: outputs, trace, panes)

    def trace(
        self, stepped: StageStepped, tables: Sequence[pa.Table], clock: int, node: int, shard: int
    ) -> ShardTrace:
        """What happened inside of a step at this processing time (ms), in which these elements
        arrived, one by one."""
        arrived = list[tuple[bytes, Any, Element]]()
        for table in tables:
            names = ("key_key", "value_value", "ts", "start", "end")
            columns = [table.column(name).to_pylist() for name in names]
            for key, value, ts, start, end in zip(*columns, strict=True):
                window = None if start is None else window_of(start, end)
                arrived.append((key, value, Element(None, ts, window)))
        watermark, outputs = stepped.status.watermark, stepped.outputs()
        return ShardTrace(node, shard, clock, watermark, arrived, outputs, stepped.trace)

    def key_of(self, blob: bytes) -> Hashable:
        """The key that has these bytes."""
        if self.seen is not None:
            return self.seen.keys[blob]
        key: Hashable = key_of(blob, self.wire.coders)
        return key

    def _named(self, merges: Iterable[KeyedMerge]) -> Iterator[tuple[Any, Merged]]:
        return ((self.key_of(blob), merged) for (blob,), merged in merges)

    @contextmanager
    def _keys_named(self) -> Iterator[None]:
        """Errors of the block name the key itself, not its bytes."""
        try:
            yield
        except UserFunctionError as error:
            match error.known_key:
                case (bytes() as blob,):
                    raise error.of_key(self.key_of(blob)) from error.__cause__
            raise

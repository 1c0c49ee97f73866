"""Nodes of a pipeline on the local host: those that keep state are shards of production.

Their state is saved as bytes between any two steps. So is that of a stage for which a script is
played: it is stepped as a shard is in a streaming query.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

import pyarrow as pa

from beamlike.hosts.in_process import run_pipeline
from beamlike.machine.failures import OnFailure
from beamlike.machine.input_clocks import HostWatermark, ShardWatermark, StageClock
from beamlike.model.bundle import Bundle
from beamlike.model.combine import CombineFn
from beamlike.model.graph import GroupNode, Node, SideInputNode, StatefulParDoNode
from beamlike.runtime.clock import ShardInput
from beamlike.runtime.graph.keyed_tables import SeenKeys, key_blobs, shard_tables, together
from beamlike.runtime.graph.machine_node import MachineNode
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.scripted_graph import Stage as ScriptStage
from beamlike.runtime.graph.scripted_graph import played
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import SideInputStage, dealt_out, side_clocks
from beamlike.runtime.graph.stage import Stage, StageStepped, plan_of
from beamlike.runtime.graph.stateful import StatefulWorker, is_before_all_windows
from beamlike.runtime.graph.tracing import Inside
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import Recorded, Tagged, Worker
from beamlike.runtime.script import Run, Script
from beamlike.runtime.store.stores import DictStore

_BUCKETS: Final = 1
_FOLDED_BYTES: Final = 4 << 20
"""So much arrives at least before it is folded into the state."""


def local_worker_of(node: Node) -> Worker:
    """What does the work of a node, before anything has happened.

    Raises:
        UnsupportedError: A node of a kind that is not in `beamlike.model.graph`.
    """
    match node:
        case GroupNode() | StatefulParDoNode() | MachineNode():
            return _OnlyShard(node)
        case SideInputNode():
            return _OnlySideShard(node)
    return worker_of(node)


def run_in_local(
    stage: ScriptStage,
    combine: CombineFn | None,
    script: Script,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> Run:
    """Run a script for a stage, each step as a micro-batch of its own: see `played`."""
    stages = [(stage, combine, script)]
    (run,) = played(stages, lambda nodes: [run_pipeline(nodes, local_worker_of)], on_error)
    return run


class _SingleShard(Worker):
    """The only shard of a node."""

    def __init__(self, node: Node, worker: Worker) -> None:
        super().__init__(node)
        self._node_worker, self._wire = worker, Wire.local()
        self._store, self._arrived = DictStore(), list[pa.Table]()
        self._output_watermark = self.watermark

    @property
    def output_watermark(self) -> int:
        return self._output_watermark

    def setup(self) -> None:
        self._node_worker.setup()

    def teardown(self) -> None:
        self._node_worker.teardown()

    def _outputs_of(self, stepped: StageStepped) -> Tagged:
        """What came out of a step."""
        self._output_watermark = stepped.status.output_watermark
        self._drops += stepped.drops
        return stepped.out.items()


class _OnlyShard(_SingleShard, Recorded):
    """The only shard of a node that keeps state by key."""

    def __init__(self, node: GroupNode | StatefulParDoNode | MachineNode) -> None:
        worker = worker_of(node)
        assert isinstance(worker, StatefulWorker), "it keeps state"
        super().__init__(node, worker)
        self._worker = worker
        self._seen, self._plan = SeenKeys(), plan_of(node, worker.machine, self._wire)
        self._clock, self._moved = 0, False
        self._wakes_at: int | None = None
        self._number = -1
        self._steps: list[tuple[int, int, list[pa.Table], StageStepped]] = []

    @cached_property
    def _stage(self) -> Stage:
        return Stage(self._worker, self._plan, self._wire, notes=self.records, seen=self._seen)

    def setup(self) -> None:
        super().setup()
        self._stage.prepare()

    @property
    def outlasts_input(self) -> bool:
        return self._worker.outlasts_input

    @property
    def wakes_at(self) -> int | None:
        return self._wakes_at

    @property
    def run(self) -> Run:
        inside = Inside(self._stage.key_of, self._wire, self._worker.machine)
        for number, clock, tables, stepped in self._steps:
            inside.add(number, [self._stage.trace(stepped, tables, clock, node=0, shard=0)])
        return inside.run

    def advance_clock(self, to: int) -> Tagged:
        self._clock, self._moved = to, True
        return ()

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        keyed, wire = self._worker.keyed(bundles), self._wire
        blobs = key_blobs(keyed.keys, wire.coders)
        self._seen.add(blobs, keyed.keys, wire.coders)
        self._arrived += (table for _, table in shard_tables(keyed, blobs, wire, 1, _BUCKETS))
        return self._step() if self._can_fold() else ()

    def _can_fold(self) -> bool:
        """Whether what arrived so far may be folded into the state now, and it is time to.

        The state is read and written as a whole. So as much arrives in between as it has.
        """
        if self.records or not (self._worker.folds and is_before_all_windows(self.watermark)):
            return False
        arrived: int = sum(table.nbytes for table in self._arrived)
        return arrived >= max(_FOLDED_BYTES, sum(map(len, self._store.blobs.values())))

    def advance_sources(self, watermarks: Sequence[int]) -> Tagged:
        self._number += 1
        to = min(watermarks)
        if to <= self.watermark and not self._moved and not self._arrived:
            return ()
        self.watermark, self._moved = max(to, self.watermark), False
        return self._step()

    def _step(self) -> Tagged:
        tables, self._arrived = together(self._arrived, self._wire), []
        batch = ShardInput(tables, [HostWatermark(self.watermark)], self._clock)
        stepped = self._stage.step(self._store, batch)
        if self.records:
            self._steps.append((self._number, self._clock, tables, stepped))
        self._wakes_at = stepped.status.clock_deadline
        return self._outputs_of(stepped)


class _OnlySideShard(_SingleShard):
    """The only shard of a function that looks into side inputs."""

    def __init__(self, node: SideInputNode) -> None:
        worker = SideInputWorker(node)
        super().__init__(node, worker)
        main, *sides = inputs = range(len(node.sources))
        clocks = side_clocks(inputs, [main], [[side] for side in sides], lambda _: StageClock(1))
        self._stage = SideInputStage(worker, self._wire, 1, clocks)
        self._known: Sequence[int] = ()

    def take(self, bundles: Sequence[Bundle]) -> Tagged:
        self._arrived += (table for _, table in dealt_out(bundles, self._wire, 1))
        return ()

    def advance_sources(self, watermarks: Sequence[int]) -> Tagged:
        if watermarks == self._known and not self._arrived:
            return ()
        tables, self._arrived, self._known = self._arrived, [], watermarks
        self.watermark = max(self.watermark, watermarks[0])
        updates = [ShardWatermark(source, 0, to) for source, to in enumerate(watermarks)]
        stepped = self._stage.step(self._store, ShardInput(tables, updates, 0))
        return self._outputs_of(stepped)

"""Nodes of a pipeline on the local host: a grouping is stepped as a shard of production is, and so
is a function with states and timers.

Its state is saved as bytes between any two steps. The other nodes that keep state take one key
after the other in production, too: they are those of `beamlike.runtime.graph.staged`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa

from beamlike.machine.clocks import HostWatermark
from beamlike.machine.events import Drop
from beamlike.model.bundle import Bundle
from beamlike.model.graph import MAIN, GroupNode, Node, StatefulParDoNode
from beamlike.runtime.graph.keyed import key_blobs, read_values, shard_tables, together
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.pane_elements import SeenKeys
from beamlike.runtime.graph.stage import Stage, StageStepped, plan_of
from beamlike.runtime.graph.staged import StagedWorker
from beamlike.runtime.graph.tracing import Inside, ShardTrace
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.graph.worker import Recorded, Tagged, Worker
from beamlike.runtime.script import Run
from beamlike.runtime.store.stores import DictStore

_BUCKETS = 1


def local_worker_of(node: Node) -> Worker:
    """What does the work of a node, before anything has happened.

    Raises:
        UnsupportedError: A node of a kind that is not in `beamlike.model.graph`.
    """
    return _OnlyShard(node) if isinstance(node, GroupNode | StatefulParDoNode) else worker_of(node)


class _OnlyShard(Worker, Recorded):
    """The only shard of a node that keeps state."""

    def __init__(self, node: GroupNode | StatefulParDoNode) -> None:
        super().__init__(node.label)
        worker, self._wire = worker_of(node), Wire.local()
        assert isinstance(worker, StagedWorker), "it keeps state"
        self._worker = worker
        plan = plan_of(node, worker.machine, self._wire, shards=1, buckets=_BUCKETS, clocks=None)
        self._seen = SeenKeys()
        self._stage = Stage(worker, plan, self._wire, notes=True, seen=self._seen)
        self._store, self._clock, self._moved = DictStore(), 0, False
        self._output_watermark = self.watermark
        self._arrived: list[pa.Table] = []
        self._drops: list[tuple[Any, Drop]] = []
        self._steps: list[tuple[int, int, list[pa.Table], StageStepped]] = []

    def setup(self) -> None:
        self._worker.setup()

    def teardown(self) -> None:
        self._worker.teardown()

    @property
    def output_watermark(self) -> int:
        return self._output_watermark

    @property
    def run(self) -> Run:
        inside = Inside(
            self._stage.key_of,
            lambda value: next(read_values([value], self._wire)),
            self._worker.machine,
        )
        for clock, watermark, tables, stepped in self._steps:
            given = list(self._stage.given(tables))
            noted = ShardTrace(0, 0, clock, watermark, given, stepped.outputs(), stepped.trace)
            inside.add([noted])
        return inside.run

    def clock(self, to: int) -> Tagged:
        self._clock, self._moved = to, True
        return ()

    def take(self, given: Sequence[Bundle]) -> Tagged:
        keyed, wire = self._worker.keyed(given), self._wire
        blobs = key_blobs(keyed.keys, wire.coders)
        self._seen.add(blobs, keyed.keys, wire.coders)
        self._arrived += (table for _, table in shard_tables(keyed, blobs, wire, 1, _BUCKETS))
        return ()

    def reached(self, watermarks: Sequence[int]) -> Tagged:
        to = min(watermarks)
        if to <= self.watermark and not self._moved and not self._arrived:
            return ()
        self.watermark = max(to, self.watermark)
        tables = together(self._arrived, self._wire)
        self._arrived, self._moved = [], False
        stepped = self._stage.step(
            self._store, tables, [HostWatermark(self.watermark)], self._clock
        )
        self._steps.append((self._clock, self.watermark, tables, stepped))
        self._output_watermark = stepped.output_watermark
        self._drops += stepped.drops
        return [(MAIN, stepped.out)] if stepped.out else []

    def dropped(self) -> Iterable[tuple[Any, Drop]]:
        drops, self._drops = self._drops, []
        return drops

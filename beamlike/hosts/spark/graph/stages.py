"""Between two layers: elements go through all nodes that only look at them one by one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker
from beamlike.machine.liftable import why_one_by_one
from beamlike.model.bundle import Bundle
from beamlike.model.graph import Edge, GroupNode, Node
from beamlike.runtime.graph.early import (
    Combined,
    EarlyCombiner,
    WatermarkBound,
    watermark_bound,
)
from beamlike.runtime.graph.keyed import key_blobs, shard_tables
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.messages import Messages, Parcel
from beamlike.runtime.graph.metrics import Recorder
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.pacing import paced_by, taken
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import dealt_out
from beamlike.runtime.graph.staged import StagedWorker
from beamlike.runtime.graph.worker import Worker
from beamlike.runtime.plan import spread_shards
from beamlike.runtime.store.blobs import pack_blob
from beamlike.runtime.tally import TALLIES, tallies_array

MESSAGE: Final = "blob binary"
"""What comes to a layer."""
SHOWN: Final = "shown"
LEFT: Final = f"{SHOWN} int, {MESSAGE}"
"""What leaves a pipeline."""
SENT: Final = f"shard int, {MESSAGE}"
"""What goes to the shards of a layer."""
SPREAD: Final = f"{SENT}, way int"
"""The same, and combined elements without a shard, by the tasks that combine them further."""
Shows = Sequence[tuple[int, Callable[[Sequence[Any]], pa.Table]]]
"""Positions of wanted edges, and what makes rows of their elements."""


Take = Callable[[Batches], Messages]
"""Makes what comes to a task of it."""


def messages(layers: Layers) -> Take:
    """Takes messages, which are in a column ``blob``."""

    def take(batches: Batches) -> Messages:
        return layers.load(blob for batch in batches for blob in batch.column("blob").to_pylist())

    return take


def sender(layers: Layers, take: Take) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes a message of what comes."""

    def send(batches: Batches) -> Batches:
        with paused_gc():
            blob = layers.dump(take(batches))
        yield pa.RecordBatch.from_pydict({"blob": pa.array([blob], pa.binary())})

    return send


def fused_stage(
    layers: Layers,
    layer: int,
    shards: int,
    buckets: int,
    take: Take | None = None,
    *,
    notes: bool = False,
    bounded: bool = False,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes what comes out of a layer to the next one.

    Output: `SENT`, or `SPREAD` where some grouping of the next layer has a fanout.

    Args:
        layer: The layer before.
        take: Reads what comes; by default messages.
        notes: As the layer that follows has it.
        bounded: Whether everything happens in one step.
    """
    ids, taking = spread_shards(shards), take or messages(layers)
    spreads = has_fanout(layers, layer)

    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        ease_worker()
        context = TaskContext.get()
        part = context.partitionId() if context else 0
        with paused_gc(), _Stage.over(layers, layer) as stage:
            early = EarlyCombining(layers, layer, shards, buckets, notes=notes, bounded=bounded)
            sent, spread = stage.sent(taking(batches), shards, part, early)
        blobs = [layers.dump(message) for message in (*sent, *spread.values())]
        received = [*ids, *(None for _ in spread)]
        columns = [pa.array(received, pa.int32()), pa.array(blobs, pa.binary())]
        if spreads:
            columns.append(pa.array([*ids, *(ids[position] for position in spread)], pa.int32()))
        names = ["shard", "blob", "way"]
        yield pa.RecordBatch.from_arrays(columns, names[: len(columns)])

    return run


def has_fanout(layers: Layers, layer: int) -> bool:
    """Whether a grouping of the next layer has a fanout."""
    nodes = (layers.nodes[number] for number in layers.staged(layer + 1))
    return any(isinstance(node, GroupNode) and node.fanout is not None for node in nodes)


def fanout_stage(
    layers: Layers, layer: int, shards: int, buckets: int
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that combines further what is spread by a fanout.

    Input: `SPREAD`. What is on its way to a shard passes by. Output: `SENT`.

    Args:
        layer: The layer before.
    """
    ids = spread_shards(shards)

    def run(batches: Batches) -> Batches:
        ease_worker()
        spread: list[bytes] = []
        for batch in batches:
            to_shard = batch.column("shard").is_valid()
            spread += batch.filter(pc.invert(to_shard)).column("blob").to_pylist()
            yield batch.filter(to_shard).select(["shard", "blob"])
        if not spread:
            return
        with paused_gc():
            early = EarlyCombining(layers, layer, shards, buckets)
            sent = early.merged(layers.load(spread))
            blobs = [layers.dump(message) for message in sent.values()]
        columns = [
            pa.array([ids[shard] for shard in sent], pa.int32()),
            pa.array(blobs, pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["shard", "blob"])

    return run


def output_stage(
    layers: Layers,
    take: Take | None = None,
    *,
    shows: Shows = (),
    tallied: bool = False,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer, with what is wanted.

    Output: `LEFT`. A blob is an Arrow table of rows, and ``shown`` says of which of ``shows``; or
    it is a message with everything else.

    Args:
        tallied: Whether what its nodes count stands beside the blobs, in a column of its own; a
            row with nothing else in it has no blob.
    """
    taking = take or messages(layers)

    def finish(batches: Batches) -> Batches:
        ease_worker()
        with paused_gc(), _Stage.over(layers, layers.depth) as stage:
            received = stage.through(taking(batches))
            left: list[tuple[int | None, bytes | None]] = []
            for number, (wanted, show) in enumerate(shows):
                if wanted in received.came:
                    elements = received.came[wanted].open(layers.wire)
                    left.append((number, pack_blob(show(elements.values), {})))
            for wanted, _ in shows:
                received.came.pop(wanted, None)
        if received.came or received.lost or received.noted or received.metrics != Recorder():
            done = Messages(
                came=received.came,
                lost=received.lost,
                metrics=received.metrics,
                noted=received.noted,
            )
            left.append((None, layers.dump(done)))
        if tallied and received.tallies and not left:
            left.append((None, None))
        if left:
            columns = {
                SHOWN: pa.array([number for number, _ in left], pa.int32()),
                "blob": pa.array([blob for _, blob in left], pa.binary()),
            }
            if tallied:
                columns[TALLIES] = tallies_array(received.tallies, len(left))
            yield pa.RecordBatch.from_pydict(columns)

    return finish


@attrs.frozen(slots=False)
class EarlyCombining:
    """What is combined on the way to the stateful operator of the next layer, in one task.

    Args:
        layer: The layer before.
        shards: The groups that share the keys.
        buckets: See `beamlike.runtime.plan.Plan`.
        notes: As the layer that follows has it.
        bounded: Whether everything happens in one step: then nothing is late.
    """

    layers: Layers
    layer: int
    shards: int
    buckets: int
    notes: bool = False
    bounded: bool = False

    def combined(
        self, number: int, inputs: Sequence[Bundle], received: Messages, part: int
    ) -> Combined:
        """What goes to the shards of a node."""
        node, wire = self.layers.nodes[number], self.layers.wire
        worker = worker_of(node)
        if isinstance(worker, SideInputWorker):
            with worker.blamed():
                return Combined([*dealt_out(inputs, wire, self.shards)])
        assert isinstance(worker, StagedWorker), "a node of a layer has a machine"
        with received.metrics.step(str(number)), worker.blamed():
            keyed = worker.keyed(inputs)
            blobs = key_blobs(keyed.keys, wire.coders)
            if _comes_one_by_one(node):
                return Combined([*shard_tables(keyed, blobs, wire, self.shards, self.buckets)])
            bound = WatermarkBound(is_certain=True)
            if not self.bounded:
                bound = watermark_bound(self.layers, number, received.reached)
            return self._combiner(number).combined(keyed, blobs, bound, part)

    def merged(self, spread: Messages) -> dict[int, Messages]:
        """What a fanout spread to this task, combined, as messages to shards."""
        sent: dict[int, Messages] = {}
        for number, tables in spread.arriving.items():
            with worker_of(self.layers.nodes[number]).blamed():
                for shard, table in self._combiner(number).merged(tables):
                    message = sent.setdefault(shard, Messages(order=spread.order))
                    message.arriving[number].append(table)
        return sent

    def _combiner(self, number: int) -> EarlyCombiner:
        node = self.layers.nodes[number]
        assert isinstance(node, GroupNode), "nothing else combines"
        sizes = {"shards": self.shards, "buckets": self.buckets}
        return EarlyCombiner(node, self.layers.wire, **sizes, notes=self.notes)


def _comes_one_by_one(node: Node) -> bool:
    """Whether the elements of a node reach it as they are."""
    if not isinstance(node, GroupNode) or node.assigns:
        return True
    return why_one_by_one(node.strategy, node.combine) is not None


@attrs.define
class _Stage:
    """The nodes between two layers, in one task."""

    layers: Layers
    layer: int
    workers: dict[int, Worker]
    pending: dict[tuple[int, int], Bundle] = attrs.field(factory=lambda: defaultdict(Bundle))
    """What nodes of this stage are given, by their numbers and sources."""

    @classmethod
    @contextmanager
    def over(cls, layers: Layers, layer: int) -> Iterator["_Stage"]:
        """A stage whose functions are set up, and torn down at its end."""
        workers = {number: worker_of(layers.nodes[number]) for number in layers.between(layer)}
        for number in layers.sharing.intersection(workers):
            workers[number].shares_elements = True
        with ExitStack() as stack:
            for worker in workers.values():
                worker.setup()
                stack.callback(worker.teardown)
            yield cls(layers, layer, workers)

    def through(self, received: Messages) -> Messages:
        """The messages as they leave for the next layer."""
        left = attrs.evolve(received, out={}, addressed=defaultdict(Parcel))
        for to, parcel in received.addressed.items():
            if to[0] in self.workers:
                self.pending[to].extend(parcel.open(self.layers.wire))
            else:
                left.addressed[to] = parcel
        for (node, tag), bundle in received.out.items():
            self._route(node, tag, bundle, left)
        for at in self.workers:
            self._take(at, left)
        return left

    def _take(self, at: int, left: Messages) -> None:
        """Let a node take what it is given, and those that it paces what comes of each of it."""
        node, worker = self._node(at), self.workers[at]
        given = [self.pending.pop((at, source), Bundle()) for source in range(len(node.sources))]
        if not any(given):
            return
        after = paced_by(node, map(self._node, self.workers)) if worker.paces else ()
        for found in taken(worker, given, left.metrics, str(at)):
            for tag, bundle in found:
                self._route(at, tag, bundle, left)
            for each in after:
                self._take(self.layers.number[each], left)

    def sent(
        self, received: Messages, shards: int, part: int, early: "EarlyCombining"
    ) -> tuple[list[Messages], dict[int, Messages]]:
        """A message to each shard of the next layer, and what a fanout spreads, by position."""
        received = self.through(received)
        # Watermarks concern every shard; what passes by goes any way.
        sent = [
            Messages(
                reached=list(received.reached),
                delivered=received.delivered,
                clock=dict(received.clock),
                order=part,
            )
            for _ in range(shards)
        ]
        by_way = sent[part % shards]
        by_way.came, by_way.lost, by_way.metrics = received.came, received.lost, received.metrics
        by_way.tallies, by_way.noted = received.tallies, received.noted
        spread: dict[int, Messages] = {}
        staged = self.layers.staged(self.layer + 1)
        for (at, source), parcel in received.addressed.items():
            if at not in staged:
                by_way.addressed[at, source] = parcel
        for at in staged:
            sources = range(len(self._node(at).sources))
            given = [
                received.addressed[at, source].open(self.layers.wire)
                if (at, source) in received.addressed
                else Bundle()
                for source in sources
            ]
            if any(given):
                combined = early.combined(at, given, received, part)
                for shard, table in combined.to_shards:
                    sent[shard].arriving[at].append(table)
                for position, table in combined.to_fanout:
                    message = spread.setdefault(position, Messages(order=part))
                    message.arriving[at].append(table)
        return sent, spread

    def _node(self, at: int) -> Node:
        return self.layers.nodes[at]

    def _route(self, node: int, tag: str, bundle: Bundle, left: Messages) -> None:
        edge = Edge(self._node(node), tag)
        wanted = self.layers.positions.get(edge)
        if wanted is not None:
            left.came[wanted].bundle.extend(bundle)
        for reader in self.layers.readers.get(edge, ()):
            self._given((reader.node, reader.source), left).extend(bundle)

    def _given(self, to: tuple[int, int], left: Messages) -> Bundle:
        """The bundle of a reader: a node of this stage, or of a later one."""
        return self.pending[to] if to[0] in self.workers else left.addressed[to].bundle

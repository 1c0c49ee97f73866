"""Between two layers: elements go through all nodes that only look at them one by one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.workers import ease_worker
from beamlike.machine.liftable import why_one_by_one
from beamlike.model.bundle import Bundle
from beamlike.model.graph import Edge, GroupNode, Node
from beamlike.runtime.envelope import Kind, sealed
from beamlike.runtime.graph.early import (
    Combined,
    EarlyCombiner,
    WatermarkBound,
    watermark_bound,
)
from beamlike.runtime.graph.keyed import key_blobs, shard_tables
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail, Parcel
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.pacing import paced_by, taken
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import dealt_out
from beamlike.runtime.graph.staged import StagedWorker
from beamlike.runtime.graph.worker import Worker
from beamlike.runtime.packing import Batches
from beamlike.runtime.plan import spread_shards
from beamlike.runtime.store.blobs import stream_of
from beamlike.runtime.store.room import check_message
from beamlike.runtime.tally import TALLIES, tallies_array

MESSAGE: Final = "blob binary"
"""What comes to a layer: batches of `beamlike.runtime.envelope`."""
SHOWN: Final = "shown"
LEFT: Final = f"{SHOWN} int, {MESSAGE}"
"""What leaves a pipeline."""
SENT: Final = f"shard int, {MESSAGE}"
"""What goes to the shards of a layer."""
SPREAD: Final = f"{SENT}, way int"
"""The same, and combined elements without a shard, by the tasks that combine them further."""
Shows = Sequence[tuple[int, Callable[[Sequence[Any]], pa.Table]]]
"""Numbers of wanted edges, and what makes rows of their elements."""


Take = Callable[[Batches], Mail]
"""Makes mail of what comes to a task."""


def mail_in(batches: Batches) -> Mail:
    """The mail in batches, which are in a column ``blob``."""
    return Mail.opened(blob for batch in batches for blob in batch.column("blob").to_pylist())


def sender(layers: Layers, take: Take) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes batches of what comes."""

    def send(batches: Batches) -> Batches:
        with paused_gc():
            blobs = layers.sent(take(batches))
        yield pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})

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
        take: Reads what comes; by default mail.
        notes: As the layer that follows has it.
        bounded: Whether everything happens in one step.
    """
    ids, taking = spread_shards(shards), take or mail_in
    spreads = has_fanout(layers, layer)

    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        ease_worker()
        context = TaskContext.get()
        part = context.partitionId() if context else 0
        with paused_gc(), _Stage.over(layers, layer) as stage:
            early = EarlyCombining(layers, layer, shards, buckets, notes=notes, bounded=bounded)
            sent = stage.sent(taking(batches), shards, part, early)
        columns = [
            pa.array([None if it.spread else ids[it.position] for it in sent], pa.int32()),
            pa.array([it.blob for it in sent], pa.binary()),
        ]
        if spreads:
            columns.append(pa.array([ids[it.position] for it in sent], pa.int32()))
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
            sent = early.merged(Mail.opened(spread))
        columns = [
            pa.array([ids[it.position] for it in sent], pa.int32()),
            pa.array([it.blob for it in sent], pa.binary()),
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
    it is a batch with something else.

    Args:
        tallied: Whether what its nodes count stands beside the blobs, in a column of its own; a
            row with nothing else in it has no blob.
    """
    taking = take or mail_in

    def finish(batches: Batches) -> Batches:
        ease_worker()
        with paused_gc(), _Stage.over(layers, layers.depth) as stage:
            left = stage.through(taking(batches))
            rows: list[tuple[int | None, bytes | None]] = []
            for number, (edge, show) in enumerate(shows):
                if edge in left.bundles:
                    elements = left.bundles[edge].open(layers.wire)
                    rows.append((number, stream_of(show(elements.values))))
            for edge, _ in shows:
                left.bundles.pop(edge, None)
            report = left.at_the_end(layers.wire)
            tallies, report.tallies = report.tallies, {}
            left = Mail(bundles=left.bundles, report=report)
            rows += ((None, blob) for blob in layers.handed_on(left))
        if tallied and tallies and not rows:
            rows.append((None, None))
        if rows:
            columns = {
                SHOWN: pa.array([number for number, _ in rows], pa.int32()),
                "blob": pa.array([blob for _, blob in rows], pa.binary()),
            }
            if tallied:
                columns[TALLIES] = tallies_array(tallies, len(rows))
            yield pa.RecordBatch.from_pydict(columns)

    return finish


@attrs.frozen
class Sent:
    """A batch on its way to a shard, or to the task of a fanout that combines it further.

    Args:
        position: That of the shard or of the task.
        blob: The batch.
        spread: Whether a fanout spreads it.
    """

    position: int
    blob: bytes
    spread: bool = False


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

    def combined(self, number: int, inputs: Sequence[Bundle], mail: Mail, part: int) -> Combined:
        """What goes to the shards of a node."""
        node, wire = self.layers.nodes[number], self.layers.wire
        worker = worker_of(node)
        if isinstance(worker, SideInputWorker):
            with worker.blamed():
                return Combined([*dealt_out(inputs, wire, self.shards)])
        assert isinstance(worker, StagedWorker), "a node of a layer has a machine"
        with mail.report.metrics.step(str(number)), worker.blamed():
            keyed = worker.keyed(inputs)
            blobs = key_blobs(keyed.keys, wire.coders)
            if _comes_one_by_one(node):
                return Combined([*shard_tables(keyed, blobs, wire, self.shards, self.buckets)])
            bound = WatermarkBound(is_certain=True)
            if not self.bounded:
                bound = watermark_bound(self.layers, number, mail.reached)
            return self._combiner(number).combined(keyed, blobs, bound, part)

    def merged(self, spread: Mail) -> list[Sent]:
        """What a fanout spread to this task, combined, for the shards."""
        sent = []
        for number, tables in spread.tables.items():
            with worker_of(self.layers.nodes[number]).blamed():
                for shard, table in self._combiner(number).merged(tables):
                    sent.append(Sent(shard, _elements(number, table)))
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

    def through(self, received: Mail) -> Mail:
        """The mail as it leaves for the next layer."""
        bundles: dict[int, Parcel] = defaultdict(Parcel)
        left = attrs.evolve(received, bundles=bundles)
        for edge, parcel in received.bundles.items():
            readers = self._readers_here(edge)
            if readers:
                bundle = parcel.open(self.layers.wire)
                for to in readers:
                    self.pending[to].extend(bundle)
            if self.layers.read_until[edge] > self.layer:
                bundles[edge] = parcel
        for at in self.workers:
            self._take(at, left)
        return left

    def _readers_here(self, edge: int) -> list[tuple[int, int]]:
        """The nodes of this stage that read an edge, each with as which of its sources."""
        readers = self.layers.readers.get(self.layers.edges[edge], ())
        return [(it.node, it.source) for it in readers if it.node in self.workers]

    def _take(self, at: int, left: Mail) -> None:
        """Let a node take what it is given, and those that it paces what comes of each of it."""
        node, worker = self._node(at), self.workers[at]
        given = [self.pending.pop((at, source), Bundle()) for source in range(len(node.sources))]
        if not any(given):
            return
        after = paced_by(node, map(self._node, self.workers)) if worker.paces else ()
        for found in taken(worker, given, left.report.metrics, str(at)):
            for tag, bundle in found:
                self._route(at, tag, bundle, left)
            for each in after:
                self._take(self.layers.number[each], left)

    def sent(self, received: Mail, shards: int, part: int, early: "EarlyCombining") -> list[Sent]:
        """What goes to the shards of the next layer."""
        mail, layers = self.through(received), self.layers
        # Watermarks concern every shard.
        sent = [Sent(shard, blob) for blob in mail.news(part) for shard in range(shards)]
        for at in layers.staged(self.layer + 1):
            edges = [layers.edge_number[edge] for edge in self._node(at).sources]
            given = [
                mail.bundles[edge].open(layers.wire) if edge in mail.bundles else Bundle()
                for edge in edges
            ]
            if any(given):
                combined = early.combined(at, given, mail, part)
                for shard, table in combined.to_shards:
                    sent.append(Sent(shard, _elements(at, table, part)))
                for position, table in combined.to_fanout:
                    sent.append(Sent(position, _elements(at, table, part), spread=True))
        for edge in [*mail.bundles]:
            if layers.sent_until[edge] <= self.layer:
                del mail.bundles[edge]
        # What passes by goes any way.
        sent += (Sent(part % shards, blob) for blob in layers.handed_on(mail, part))
        return sent

    def _node(self, at: int) -> Node:
        return self.layers.nodes[at]

    def _route(self, node: int, tag: str, bundle: Bundle, left: Mail) -> None:
        edge = self.layers.edge_number.get(Edge(self._node(node), tag))
        if edge is None:
            return
        for to in self._readers_here(edge):
            self.pending[to].extend(bundle)
        if self.layers.read_until[edge] > self.layer:
            left.bundles[edge].added.extend(bundle)


def _elements(node: int, table: pa.Table, place: int = 0) -> bytes:
    """Elements for the machine of a node as a batch.

    Raises:
        UnsupportedError: They are more than Spark can carry.
    """
    blob = sealed(Kind.ELEMENTS, table, node, (place, 0, 0))
    check_message(blob)
    return blob

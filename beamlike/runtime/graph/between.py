"""Between two layers: elements go through the nodes that keep no state.

Then they are sent to the next layer: elements to the shard of their key, combined before where that
changes no pane; watermarks to every shard; and batches that are only handed on to any shard.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

import attrs
import pyarrow as pa

from beamlike.machine.liftable import why_one_by_one
from beamlike.model.bundle import Bundle
from beamlike.model.column_bundle import JoinedBundle
from beamlike.model.graph import Edge, GroupNode, StatefulNode
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.runtime.envelope import Kind, sealed
from beamlike.runtime.graph.early import (
    EarlyCombiner,
    PlacedTable,
    to_shards,
    watermark_bound,
)
from beamlike.runtime.graph.keyed_tables import key_blobs, shard_tables
from beamlike.runtime.graph.layers import Layers, ReaderNode, Spread
from beamlike.runtime.graph.mail import Mail, Parcel
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.side_inputs import SideInputWorker
from beamlike.runtime.graph.side_shards import dealt_out
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.graph.worker import Worker
from beamlike.runtime.store.blobs import check_message


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


def _elements_for(
    spread: Spread, number: int, inputs: Sequence[Bundle], mail: Mail, part: int
) -> list[PlacedTable]:
    """The elements for the shards of a node, combined before where that changes no pane."""
    layers, wire, shards = spread.layers, spread.layers.wire, spread.shards
    node = layers.nodes[number]
    worker = worker_of(node)
    if isinstance(worker, SideInputWorker):
        with worker.errors_name_this_node():
            return to_shards(dealt_out(inputs, wire, shards))
    assert isinstance(worker, StatefulWorker), "a node of a layer has a machine"
    with mail.report.metrics.step(str(number)), worker.errors_name_this_node():
        keyed = worker.keyed(inputs)
        blobs = key_blobs(keyed.keys, wire.coders)
        if (
            not isinstance(node, GroupNode)
            or node.assigns
            or why_one_by_one(node.strategy, node.combine) is not None
        ):
            return to_shards(shard_tables(keyed, blobs, wire, shards, spread.buckets))
        bound: int | None = MIN_TIMESTAMP
        if not spread.bounded:
            bound = watermark_bound(layers, number, mail.reached)
        return EarlyCombiner(node, spread).combined(keyed, blobs, bound, part)


def merged(spread: Spread, received: Mail) -> list[Sent]:
    """Combined elements that a fanout sent to this task, combined further, for the shards."""
    sent = []
    for number, tables in received.tables.items():
        node = spread.layers.nodes[number]
        assert isinstance(node, GroupNode), "nothing else combines"
        with worker_of(node).errors_name_this_node():
            for shard, table, _ in EarlyCombiner(node, spread).merged(tables):
                sent.append(Sent(shard, _elements(number, table)))
    return sent


@attrs.define
class Between:
    """The nodes between two layers, in one task."""

    layers: Layers
    layer: int
    workers: dict[int, Worker]
    pending: dict[tuple[int, int], Bundle] = attrs.field(factory=lambda: defaultdict(JoinedBundle))
    """The elements that these nodes have not taken yet, by node and source."""

    @classmethod
    @contextmanager
    def over(cls, layers: Layers, layer: int) -> Iterator["Between"]:
        """The nodes after a layer. Their functions are set up, and torn down after the block."""
        workers = {number: worker_of(layers.nodes[number]) for number in layers.between(layer)}
        for number in layers.sharing.intersection(workers):
            workers[number].shares_elements = True
        with ExitStack() as stack:
            for worker in workers.values():
                worker.setup()
                stack.callback(worker.teardown)
            yield cls(layers, layer, workers)

    def passed_on(self, received: Mail) -> Mail:
        """The mail as it leaves for the next layer."""
        bundles: dict[int, Parcel] = defaultdict(Parcel)
        left = attrs.evolve(received, bundles=bundles)
        for edge, parcel in received.bundles.items():
            for reader in self._readers_here(edge):
                self.pending[reader].extend(parcel.unpacked(self.layers.wire))
            if self.layers.read_until[edge] > self.layer:
                bundles[edge] = parcel
        for worker in self.workers:
            self._take(worker, left)
        return left

    def _readers_here(self, edge: int) -> list[tuple[int, int]]:
        """The nodes of this stage that read an edge, each with as which of its sources."""
        readers = self.layers.readers.get(self.layers.edges[edge], ())
        return [(reader.node, reader.source) for reader in readers if reader.node in self.workers]

    def _take(self, number: int, left: Mail) -> None:
        """Let a node take what it is given."""
        node, worker = self.layers.nodes[number], self.workers[number]
        ports = range(len(node.sources))
        arriving = [self.pending.pop((number, port), Bundle()) for port in ports]
        if not any(arriving):
            return
        with left.report.metrics.step(str(number)), worker.errors_name_this_node():
            outputs = [*worker.take(arriving)]
        for tag, bundle in outputs:
            edge = self.layers.edge_number.get(Edge(node, tag))
            if edge is not None:
                self._route(edge, bundle, left.bundles)

    def sent(self, received: Mail, part: int, spread: Spread) -> list[Sent]:
        """What goes to the shards of the next layer."""
        mail, layers, shards = self.passed_on(received), self.layers, spread.shards
        sent = [Sent(shard, blob) for blob in mail.news(part) for shard in range(shards)]
        sent += (Sent(0, blob) for blob in mail.deliveries(part))
        sent += (Sent(envelope.order[1], envelope.blob) for envelope in mail.passing)
        mail.passing = []
        for index, node in enumerate(layers.nodes):
            if not isinstance(node, StatefulNode) or layers.layer[index] <= self.layer:
                continue
            bundles = [
                self._formed_here(mail, index, source) for source in range(len(node.sources))
            ]
            if any(bundles):
                for place, table, is_hot in _elements_for(spread, index, bundles, mail, part):
                    blob = _elements(index, table, part, 0 if is_hot else place)
                    sent.append(Sent(place, blob, is_hot))
        for edge in [*mail.bundles]:
            if layers.sent_until[edge] <= self.layer:
                del mail.bundles[edge]
        # What no node here reads may go to any shard.
        sent += (Sent(part % shards, blob) for blob in layers.handed_on(mail, part))
        return sent

    def _formed_here(self, mail: Mail, node: int, source: int) -> Bundle:
        """The elements of a source of a node that are brought into its form after this layer."""
        layers = self.layers
        edge = layers.edge_number[layers.nodes[node].sources[source]]
        if edge not in mail.bundles or layers.formed_after(ReaderNode(node, source)) != self.layer:
            return Bundle()
        return mail.bundles[edge].unpacked(layers.wire)

    def _route(self, edge: int, bundle: Bundle, left: Mapping[int, Parcel]) -> None:
        for reader in self._readers_here(edge):
            self.pending[reader].extend(bundle)
        if self.layers.read_until[edge] > self.layer:
            left[edge].added.extend(bundle)


def _elements(node: int, table: pa.Table, place: int = 0, shard: int = 0) -> bytes:
    """Elements for the machine of a node, on a shard, as a batch."""
    blob = sealed(Kind.ELEMENTS, table, node, (place, shard, 0))
    check_message(blob)
    return blob

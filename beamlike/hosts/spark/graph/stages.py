"""Between two layers: elements go through all nodes that only look at them one by one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import attrs
import pyarrow as pa

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.workers import ease_worker
from beamlike.model.bundle import Bundle
from beamlike.model.graph import Edge, Node
from beamlike.runtime.graph.keyed import key_blobs, shard_tables
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.messages import Messages
from beamlike.runtime.graph.metrics import Recorder
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.staged import StagedWorker
from beamlike.runtime.graph.tally import TALLIES, tallies_array
from beamlike.runtime.graph.worker import Worker
from beamlike.runtime.plan import spread_shards
from beamlike.runtime.store.blobs import pack_blob

__all__ = [
    "LEFT",
    "LETTERS",
    "SHOWN",
    "Shows",
    "Take",
    "fused_stage",
    "letters",
    "output_stage",
    "sender",
]

LETTERS: Final = "blob binary"
"""What comes to a layer."""
SHOWN: Final = "shown"
LEFT: Final = f"{SHOWN} int, {LETTERS}"
"""What leaves a pipeline."""
Shows = Sequence[tuple[int, Callable[[Sequence[Any]], pa.Table]]]
"""Positions of wanted edges, and what makes rows of their elements."""


Take = Callable[[Batches], Messages]
"""Makes what comes to a task of it."""


def letters(layers: Layers) -> Take:
    """Takes letters, which are in a column ``blob``."""

    def take(batches: Batches) -> Messages:
        return layers.load(blob for batch in batches for blob in batch.column("blob").to_pylist())

    return take


def sender(layers: Layers, take: Take) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes a letter of what comes."""

    def send(batches: Batches) -> Batches:
        with paused_gc():
            blob = layers.dump(take(batches))
        yield pa.RecordBatch.from_pydict({"blob": pa.array([blob], pa.binary())})

    return send


def fused_stage(
    layers: Layers, layer: int, shards: int, buckets: int, take: Take | None = None
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes what comes out of a layer to the next one.

    Output: ``shard int, blob binary``.

    Args:
        layers: The pipeline.
        layer: The layer before.
        shards: The groups of Spark that share the keys of a layer.
        buckets: See `Plan`.
        take: Reads what comes; by default letters.
    """
    ids, taking = spread_shards(shards), take or letters(layers)

    def walk(batches: Batches) -> Batches:
        from pyspark import TaskContext

        ease_worker()
        context = TaskContext.get()
        part = context.partitionId() if context else 0
        with paused_gc(), _Walk.over(layers, layer) as walking:
            sent = walking.sent(taking(batches), shards, buckets, part)
        blobs = [layers.dump(mail) for mail in sent]
        columns = [pa.array(ids, pa.int32()), pa.array(blobs, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["shard", "blob"])

    return walk


def output_stage(
    layers: Layers,
    take: Take | None = None,
    *,
    shows: Shows = (),
    tallied: bool = False,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer, with what is wanted.

    Output: `LEFT`. A blob is an Arrow table of rows, and ``shown`` says of which of ``shows``; or
    it is a letter with everything else.

    Args:
        layers: The pipeline.
        take: Reads what comes; by default letters.
        shows: The edges whose elements are wanted as rows.
        tallied: Whether what its nodes count stands beside the blobs, in a column of its own; a
            row with nothing else in it has no blob.
    """
    taking = take or letters(layers)

    def finish(batches: Batches) -> Batches:
        ease_worker()
        with paused_gc(), _Walk.over(layers, layers.depth) as walking:
            mail = walking.through(taking(batches))
            left: list[tuple[int | None, bytes | None]] = []
            for number, (wanted, show) in enumerate(shows):
                elements = mail.came.get(wanted)
                if elements:
                    left.append((number, pack_blob(show(elements.values), {})))
            for wanted, _ in shows:
                mail.came.pop(wanted, None)
        if mail.came or mail.lost or mail.noted or mail.metrics != Recorder():
            done = Messages(came=mail.came, lost=mail.lost, metrics=mail.metrics, noted=mail.noted)
            left.append((None, layers.dump(done)))
        if tallied and mail.tallies and not left:
            left.append((None, None))
        if left:
            columns = {
                SHOWN: pa.array([number for number, _ in left], pa.int32()),
                "blob": pa.array([blob for _, blob in left], pa.binary()),
            }
            if tallied:
                columns[TALLIES] = tallies_array(mail.tallies, len(left))
            yield pa.RecordBatch.from_pydict(columns)

    return finish


@attrs.define
class _Walk:
    """One task's walk."""

    layers: Layers
    layer: int
    workers: dict[int, Worker]
    pending: dict[tuple[int, int], Bundle] = attrs.field(factory=lambda: defaultdict(Bundle))
    """What nodes of this walk are given, by their numbers and sources."""

    @classmethod
    @contextmanager
    def over(cls, layers: Layers, layer: int) -> Iterator["_Walk"]:
        """A walk whose functions are set up, and torn down at its end."""
        workers = {at: worker_of(layers.nodes[at]) for at in layers.between(layer)}
        with ExitStack() as stack:
            for worker in workers.values():
                worker.setup()
                stack.callback(worker.teardown)
            yield cls(layers, layer, workers)

    def through(self, mail: Messages) -> Messages:
        """The mail as it leaves for the next layer."""
        left = attrs.evolve(mail, out={}, addressed=defaultdict(Bundle))
        for to, bundle in mail.addressed.items():
            self._given(to, left).extend(bundle)
        for (node, tag), bundle in mail.out.items():
            self._route(node, tag, bundle, left)
        for at, worker in self.workers.items():
            given = [self.pending[at, source] for source in range(len(self._node(at).sources))]
            if not any(given):
                continue
            with mail.metrics.step(str(at)), worker.blamed():
                found = list(worker.take(given))
            for tag, bundle in found:
                self._route(at, tag, bundle, left)
        return left

    def sent(self, mail: Messages, shards: int, buckets: int, part: int) -> list[Messages]:
        """A letter to each shard of the next layer."""
        mail = self.through(mail)
        # What clocks tell concerns every shard; what passes by goes any way.
        sent = [
            Messages(
                reached=list(mail.reached),
                delivered=mail.delivered,
                clock=dict(mail.clock),
                order=part,
            )
            for _ in range(shards)
        ]
        by_way = sent[part % shards]
        by_way.came, by_way.lost, by_way.metrics = mail.came, mail.lost, mail.metrics
        by_way.tallies, by_way.noted = mail.tallies, mail.noted
        staged = self.layers.staged(self.layer + 1)
        for (at, source), bundle in mail.addressed.items():
            if at not in staged:
                by_way.addressed[at, source] = bundle
        for at in staged:
            sources = range(len(self._node(at).sources))
            given = [mail.addressed.get((at, source), Bundle()) for source in sources]
            if any(given):
                for shard, table in self._arriving(at, given, shards, buckets):
                    sent[shard].arriving[at].append(table)
        return sent

    def _arriving(
        self, at: int, given: Sequence[Bundle], shards: int, buckets: int
    ) -> list[tuple[int, pa.Table]]:
        worker = worker_of(self._node(at))
        assert isinstance(worker, StagedWorker), "a node of a layer has a machine"
        with worker.blamed():
            keyed, wire = worker.keyed(given), self.layers.wire
            blobs = key_blobs(keyed.keys, wire.coders)
            return list(shard_tables(keyed, blobs, wire, shards, buckets))

    def _node(self, at: int) -> Node:
        return self.layers.nodes[at]

    def _route(self, node: int, tag: str, bundle: Bundle, left: Messages) -> None:
        edge = Edge(self._node(node), tag)
        wanted = self.layers.positions.get(edge)
        if wanted is not None:
            left.came[wanted].extend(bundle)
        for reader in self.layers.readers.get(edge, ()):
            self._given((reader.node, reader.source), left).extend(bundle)

    def _given(self, to: tuple[int, int], left: Messages) -> Bundle:
        """The bundle of a reader: a node of this walk, or of a later one."""
        return (self.pending if to[0] in self.workers else left.addressed)[to]

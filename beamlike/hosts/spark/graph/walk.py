"""Between two layers: elements go through all nodes that only look at them one by one."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from zlib import crc32

import attrs
import pyarrow as pa

from beamlike.hosts.keys import key_bytes
from beamlike.hosts.metrics import Recorder
from beamlike.hosts.nodes import worker_of
from beamlike.hosts.spark.graph.layers import Layers, Reader
from beamlike.hosts.spark.graph.mail import Addressed, Arriving, Came, Mail
from beamlike.hosts.spark.graph.tally import TALLIES, tallies_array
from beamlike.hosts.spark.pack import Batches
from beamlike.hosts.spark.plan import spread_shards
from beamlike.hosts.spark.processor import paused_gc
from beamlike.hosts.spark.workers import ease_worker
from beamlike.hosts.staged import StagedWorker
from beamlike.hosts.worker import Worker
from beamlike.model.graph import Edge, Windowed

__all__ = ["finisher", "walker"]


def walker(layers: Layers, layer: int, shards: int) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes what comes out of a layer to the next one.

    Input: a column ``blob`` of letters. Output: ``shard int, blob binary``.
    """
    ids = spread_shards(shards)

    def walk(batches: Batches) -> Batches:
        from pyspark import TaskContext

        ease_worker()
        context = TaskContext.get()
        part = context.partitionId() if context else 0
        with paused_gc(), _Walk.over(layers, layer) as walking:
            letters = [blob for batch in batches for blob in batch.column("blob").to_pylist()]
            sent = walking.sent(layers.load(letters), shards, part)
        blobs = [layers.dump(mail) for mail in sent]
        columns = [pa.array(ids, pa.int32()), pa.array(blobs, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["shard", "blob"])

    return walk


def finisher(layers: Layers, *, tallied: bool = False) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer: letters with what is wanted.

    Args:
        layers: The pipeline.
        tallied: Whether what its nodes count stands beside the letters, in a column of its own;
            a row with nothing else in it has no letter.
    """

    def finish(batches: Batches) -> Batches:
        ease_worker()
        with paused_gc(), _Walk.over(layers, layers.depth) as walking:
            letters = [blob for batch in batches for blob in batch.column("blob").to_pylist()]
            mail = walking.through(layers.load(letters))
        blob = None
        if mail.came or mail.lost or mail.noted or mail.metrics != Recorder():
            done = Mail(came=mail.came, lost=mail.lost, metrics=mail.metrics, noted=mail.noted)
            blob = layers.dump(done)
        columns = {"blob": pa.array([blob], pa.binary())}
        if tallied:
            columns[TALLIES] = tallies_array(mail.tallies)
        if blob is not None or (tallied and mail.tallies):
            yield pa.RecordBatch.from_pydict(columns)

    return finish


@attrs.frozen
class _Way:
    """Where the elements of an edge go."""

    wanted: int | None
    here: Sequence[list[Windowed]]
    """The bundles of nodes of this walk."""
    later: Sequence[Reader]


@attrs.define
class _Walk:
    """One task's walk."""

    layers: Layers
    layer: int
    workers: dict[int, Worker]
    ways: dict[tuple[int, str], _Way] = attrs.field(factory=dict)
    came: list[Came] = attrs.field(factory=list)
    addressed: list[Addressed] = attrs.field(factory=list)
    pending: dict[int, dict[int, list[Windowed]]] = attrs.field(
        factory=lambda: defaultdict(lambda: defaultdict(list))
    )

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

    def through(self, mail: Mail) -> Mail:
        """The mail as it leaves for the next layer."""
        for addressed in mail.addressed:
            self._deliver(addressed)
        for out in mail.out:
            self._route(out.node, out.tag, out.element)
        for at, worker in self.workers.items():
            given = self.pending[at]
            if not any(given.values()):
                continue
            sources = range(len(self.layers.nodes[at].sources))
            with mail.metrics.step(str(at)), worker.blamed():
                found = list(worker.take([given.get(source, []) for source in sources]))
            for tag, element in found:
                self._route(at, tag, element)
        return attrs.evolve(mail, out=[], addressed=self.addressed, came=[*mail.came, *self.came])

    def sent(self, mail: Mail, shards: int, part: int) -> list[Mail]:
        """A letter to each shard of the next layer."""
        mail = self.through(mail)
        staged = self.layers.staged(self.layer + 1)
        # What clocks tell concerns every shard; what passes by goes any way.
        sent = [
            Mail(
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
        given: dict[int, list[list[Windowed]]] = {
            at: [[] for _ in self.layers.nodes[at].sources] for at in staged
        }
        for it in mail.addressed:
            if it.node in given:
                given[it.node][it.source].append(it.element)
            else:
                by_way.addressed.append(it)
        for at, elements in given.items():
            if any(elements):
                for arriving in self._arriving(at, elements):
                    sent[crc32(arriving.key) % shards].arriving.append(arriving)
        return sent

    def _arriving(self, at: int, given: list[list[Windowed]]) -> Iterator[Arriving]:
        worker = worker_of(self.layers.nodes[at])
        assert isinstance(worker, StagedWorker), "a node of a layer has a machine"
        with worker.blamed():
            arriving = list(worker.arriving(given))
            values = self.layers.wire.each(element.value for _, element in arriving)
            for (key, it), value in zip(arriving, values, strict=True):
                blob = key_bytes(key, self.layers.wire.coders)
                first = worker.comes_first(it)
                yield Arriving(at, blob, value, it.timestamp, it.window, first)

    def _route(self, node: int, tag: str, element: Windowed) -> None:
        way = self.ways.get((node, tag))
        if way is None:
            way = self.ways[node, tag] = self._way(Edge(self.layers.nodes[node], tag))
        if way.wanted is not None:
            self.came.append(Came(way.wanted, element))
        for bundle in way.here:
            bundle.append(element)
        for reader in way.later:
            self.addressed.append(Addressed(reader.node, reader.source, element))

    def _way(self, edge: Edge) -> _Way:
        readers = self.layers.readers.get(edge, ())
        return _Way(
            self.layers.positions.get(edge),
            [self.pending[it.node][it.source] for it in readers if it.node in self.workers],
            [it for it in readers if it.node not in self.workers],
        )

    def _deliver(self, addressed: Addressed) -> None:
        if addressed.node in self.workers:
            self.pending[addressed.node][addressed.source].append(addressed.element)
        else:
            self.addressed.append(addressed)

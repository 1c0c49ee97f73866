"""Whole pipelines in this process: every node of a graph, step by step.

A step is one event of a source: elements, a move of its watermark or of the clock. It runs
through the graph once, in the order of the nodes, before the next one happens. A node that
groups first sees the clock, then the elements as one bundle for each key, at the watermark that
it has had so far, and then the watermark becomes the least output watermark of its sources. So what
one watermark lets out is on time for the next grouping, as in Beam. A node with a side input gets
the watermark of that one separately.

Many elements of a step go through the graph part by part, so that they are never in memory
together. All parts but the last one meet elements only; the clock and the watermark come with
the last one. Where parts would bring out other panes than the whole, they wait for the last one.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from sys import maxsize
from typing import Final

from beamlike.errors import UnsupportedError
from beamlike.hosts.garbage import collect_young, paused_gc
from beamlike.model.bundle import BUNDLE_SIZE, Bundle
from beamlike.model.column_bundle import JoinedBundle
from beamlike.model.graph import Edge, FlattenNode, Node, StatefulNode, in_order
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.outputs import DroppedElement, PipelineRun, RunRecord
from beamlike.runtime.graph.source_steps import SourceStep, steps_of
from beamlike.runtime.graph.stateful import folds_parts
from beamlike.runtime.graph.worker import Recorded, Tagged, Worker

Wait = Callable[[int], int]
"""Waits until processing time is past an instant, and returns the time then; both in ticks of the
graph."""

_NOTHING: Final = Bundle()
_DEEPEST: Final = 50
"""At most so many nodes split their output into parts inside of each other: each plays its parts
while the part before is being played, and Python's stack has a limit."""


def run_pipeline(
    ends: Sequence[Node],
    worker_of: Callable[[Node], Worker] = worker_of,
    *,
    kept: Container[Edge] | None = None,
    records: bool = True,
    part_size: int = BUNDLE_SIZE,
    wait: Wait | None = None,
) -> PipelineRun:
    """Run these nodes and all that they read, from the beginning of time to its end.

    The ``origin`` of each source is a `Script`. The keys of its elements mean nothing.

    Args:
        worker_of: What does the work of a node: on the memory host the reference machine, on the
            local host the runtime of production.
        kept: The edges whose elements are kept; None: all of them.
        records: Whether it is recorded what happens inside of nodes that keep state.
        part_size: How many elements of a step go through the graph together.
        wait: What waits for processing time where a function has work left after its input has
            ended; None: such a function is refused.

    Raises:
        TransformError: A function of the user's raised.
        PipelineError: An element that is not a pair of key and value reached a grouping.
        UnsupportedError: A source has an origin that only Spark can read.
    """
    workers = {node: worker_of(node) for node in in_order(ends)}
    return _PipelineRun(workers, kept, records, part_size, wait).play()


Passing = defaultdict[Edge, Bundle]
"""The elements on their way through the graph in one part of a step, by edge."""


class _PipelineRun:
    def __init__(
        self,
        workers: Mapping[Node, Worker],
        kept: Container[Edge] | None,
        records: bool,
        part_size: int,
        wait: Wait | None,
    ) -> None:
        self._workers, self._order, self._wait = workers, list(workers), wait
        self._kept, self._records, self._part_size = kept, records, part_size
        for worker in workers.values():
            worker.shares_elements = True  # with other nodes, or the record of what came out
            worker.records = records
        self._gathering = _gathering(self._order)
        self._waiting: dict[Node, list[Bundle]] = {}
        """What came in parts to nodes that take a step as a whole."""
        self._record = RunRecord()
        self._metrics = self._record.metrics
        self._clock = 0
        self._behind = set[Node]()
        """The nodes that have not seen the clock of this step yet."""
        self._step = 0
        self._depth = 0
        """How many nodes are playing parts of what they bring out, one inside of the other."""

    def play(self) -> PipelineRun:
        started: list[Worker] = []
        has_ended = False
        try:
            for node, worker in self._workers.items():
                with self._metrics.step(node.label):
                    worker.setup()
                started.append(worker)
            for step in steps_of(self._workers):
                with paused_gc():
                    self._play(step)
            self._play_on()
            has_ended = True
        finally:
            self._end(started, has_ended)
        for node, worker in self._workers.items():
            if self._records and isinstance(worker, Recorded):
                self._record.inside[node] = worker
        return self._record.run(self._workers, self._kept)

    def _play_on(self) -> None:
        """After the input has ended: let time pass until no function has work left."""
        while True:
            going = [worker for worker in self._workers.values() if worker.outlasts_input]
            left = [worker for worker in going if worker.wakes_at is not None]
            if not left:
                return
            if self._wait is None:
                raise UnsupportedError(
                    f"{left[0].label!r} has work left after its input has ended, and this run has "
                    "no clock for it; run it where processing time passes"
                )
            instants = (worker.wakes_at for worker in self._workers.values())
            clock = self._wait(min(instant for instant in instants if instant is not None))
            with paused_gc():
                self._play(SourceStep(None, (), clock))

    def _end(self, started: Sequence[Worker], has_ended: bool) -> None:
        """Tear down all workers that were set up, also if one fails there."""
        failures = []
        for worker in started:
            try:
                worker.teardown()
            except Exception as failure:
                failures.append(failure)
        # What failed before is the cause of everything after it.
        if failures and has_ended:
            raise failures[0]

    def _play(self, step: SourceStep) -> None:
        self._behind = {*self._workers} if step.clock > self._clock else set()
        self._clock = step.clock
        passing = Passing(JoinedBundle)
        for position, (node, worker) in enumerate(self._workers.items()):
            self._show_clock(node, passing)
            if node is step.source:
                self._pass_on(position, passing, lambda: worker.happen(step.events))  # noqa: B023
            if node.sources:
                self._take(position, passing, is_last=True)
                source_watermarks = [
                    self._workers[edge.node].output_watermark for edge in node.sources
                ]
                self._pass_on(position, passing, lambda: worker.advance_sources(source_watermarks))  # noqa: B023
            self._record.lost.add(
                DroppedElement(self._step, node.label, key, drop) for key, drop in worker.dropped()
            )
        self._keep(passing)
        self._step += 1

    def _play_part(self, first: int, part: Passing) -> None:
        """Pass elements through the nodes from this position on, before others of their step."""
        self._depth += 1
        for position in range(first, len(self._order)):
            if self._order[position].sources:
                self._take(position, part, is_last=False)
        self._keep(part)
        self._depth -= 1

    def _keep(self, passing: Passing) -> None:
        for edge, bundle in passing.items():
            if self._kept is None or edge in self._kept:
                self._record.came[edge].add(self._step, bundle)

    def _show_clock(self, node: Node, passing: Passing) -> None:
        if node in self._behind:
            self._behind.discard(node)
            with self._metrics.step(node.label), self._workers[node].errors_name_this_node():
                for tag, bundle in self._workers[node].advance_clock(self._clock):
                    passing[Edge(node, tag)].extend(bundle)

    def _take(self, position: int, passing: Passing, *, is_last: bool) -> None:
        """Let a node take its elements, if it is its turn."""
        node = self._order[position]
        worker = self._workers[node]
        arriving = [passing.get(edge, _NOTHING) for edge in node.sources]
        if not is_last and (node in self._gathering or not worker.takes_parts):
            if any(arriving):
                waiting = self._waiting.setdefault(node, [Bundle() for _ in arriving])
                for bundle, added in zip(waiting, arriving, strict=True):
                    bundle.extend(added)
            return
        if node in self._waiting:
            waiting = self._waiting.pop(node)
            for bundle, added in zip(waiting, arriving, strict=True):
                bundle.extend(added)
            arriving = waiting
        if not any(arriving):
            return
        self._show_clock(node, passing)
        self._pass_on(position, passing, lambda: worker.take(arriving))

    def _pass_on(self, position: int, passing: Passing, outputs_of: Callable[[], Tagged]) -> None:
        """Pass what a node brings out on: part by part, of which the last stays in this pass."""
        node, worker = self._order[position], self._workers[self._order[position]]
        parts = self._parts(node, outputs_of)
        part: list[tuple[Edge, Bundle]] = []
        while True:
            with self._metrics.step(node.label), worker.errors_name_this_node():
                following = next(parts, None)
            if following is None:
                break
            if part:
                elements = Passing(JoinedBundle)
                for edge in [edge for edge in passing if edge.node is node]:
                    elements[edge] = passing.pop(edge)  # what came out before goes on before
                for edge, bundle in part:
                    elements[edge].extend(bundle)
                self._play_part(position + 1, elements)
                collect_young()
            part = following
        for edge, bundle in part:
            passing[edge].extend(bundle)

    def _parts(
        self, node: Node, outputs_of: Callable[[], Tagged]
    ) -> Iterator[list[tuple[Edge, Bundle]]]:
        """What a node brings out, in parts of so many elements; the last one has the rest."""
        size = self._part_size if self._depth < _DEEPEST else maxsize
        part, room = list[tuple[Edge, Bundle]](), size
        for tag, bundle in outputs_of():
            edge, start = Edge(node, tag), 0
            while start < len(bundle):
                if room == 0:
                    yield part
                    part, room = [], size
                count = min(room, len(bundle) - start)
                piece = bundle if count == len(bundle) else bundle.part(start, start + count)
                part.append((edge, piece))
                start, room = start + count, room - count
        yield part


def _gathering(nodes: Sequence[Node]) -> frozenset[Node]:
    """The Flatten nodes that must wait for all parts of a step, because elements of one node reach
    them on several ways, before a node that takes a step as a whole: it is to get all elements of
    one way before those of the next, as in a step of one part."""
    before = set[Node]()
    for node in reversed(nodes):
        takes_all = isinstance(node, StatefulNode) and not folds_parts(node)
        if node in before or takes_all:
            before.update(edge.node for edge in node.sources)
    return frozenset(
        node for node in before if isinstance(node, FlattenNode) and _meet(node.sources)
    )


def _meet(edges: Sequence[Edge]) -> bool:
    """Whether two of these edges have an upstream node in common."""
    upstream = set[Node]()
    for edge in edges:
        nodes = in_order([edge.node])
        if not upstream.isdisjoint(nodes):
            return True
        upstream.update(nodes)
    return False

"""Whole pipelines in this process: every node of a graph, step by step.

A step is one event of a source: elements, a move of its watermark or of the clock. It runs
through the graph once, in the order of the nodes, before the next one happens. A node that
groups first sees the clock, then the elements as one bundle for each key, at the watermark that
it has had so far, and then the watermark becomes the least output watermark of its sources. So what
one watermark lets out is on time for the next grouping, as in Beam. A node with a side input gets
the watermark of that one separately.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import attrs

from beamlike.hosts.garbage import paused_gc
from beamlike.machine.events import Drop
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import Edge, GroupNode, Node, in_order
from beamlike.runtime.graph.metrics import Recorder
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.pacing import paced_by, taken
from beamlike.runtime.graph.scripts import Step, steps_of
from beamlike.runtime.graph.worker import Recorded, Tagged, Worker
from beamlike.runtime.script import Run

_NOTHING: Final = Bundle()


@attrs.frozen
class OutputElement:
    """An element that came out of an edge, and the step that brought it out."""

    step: int
    element: Windowed


@attrs.frozen
class DroppedElement:
    """An element that a node dropped, and the step in which it did."""

    step: int
    label: str
    key: Any
    drop: Drop


class OutOf(Sequence[OutputElement]):
    """All elements that came out of an edge. Their objects are made on access."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._elements = Bundle()

    def add(self, step: int, bundle: Bundle) -> None:
        """What a step brought out."""
        self._steps += [step] * len(bundle)
        self._elements.extend(bundle)

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[OutputElement]:
        return map(OutputElement, self._steps, self._elements)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [*self][at]
        return OutputElement(self._steps[at], self._elements[at])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


@attrs.frozen
class PipelineRun:
    """Everything that came out of every edge of a graph, in order, and what was dropped."""

    came: Mapping[Edge, Sequence[OutputElement]]
    lost: tuple[DroppedElement, ...]
    metrics: Recorder = attrs.field(factory=Recorder, eq=False, repr=False)
    _inside: Mapping[Node, Recorded] = attrs.field(factory=dict, eq=False, repr=False)

    def inside(self, node: Node) -> Run | None:
        """What a node that groups was given, step by step, and all that came of it.

        None if it does not group, or if the host keeps no record of it, as Spark does not where
        DataFrames are read or written.
        """
        known = self._inside.get(node)
        return None if known is None else known.run

    @property
    def groupings(self) -> tuple[GroupNode, ...]:
        """The groupings whose inside is known, in the order of the pipeline."""
        return tuple(node for node in self._inside if isinstance(node, GroupNode))

    def out_of(self, edge: Edge) -> tuple[OutputElement, ...]:
        """What came out of an edge; nothing if it was not part of the graph."""
        return tuple(self.came.get(edge, ()))


def run_pipeline(
    ends: Sequence[Node], worker_of: Callable[[Node], Worker] = worker_of
) -> PipelineRun:
    """Run these nodes and all that they read, from the beginning of time to its end.

    The ``origin`` of each source is a `Script`. The keys of its elements mean nothing.

    Args:
        ends: The nodes that are to be reached.
        worker_of: What does the work of a node: on the memory host the reference machine, on the
            local host the runtime of production.

    Raises:
        TransformError: A function of the user's raised.
        PipelineError: An element that is no pair of key and value reached a grouping.
        UnsupportedError: A source has an origin that only Spark can read.
    """
    return _Run({node: worker_of(node) for node in in_order(ends)}).play()


class _Run:
    def __init__(self, workers: Mapping[Node, Worker]) -> None:
        self._workers = workers
        for worker in workers.values():
            worker.shares_elements = True  # with the record of what came out
        self._paced = {
            node: paced_by(node, workers) for node, worker in workers.items() if worker.paces
        }
        self._taken = frozenset(chain.from_iterable(self._paced.values()))
        """The nodes that have taken everything when it is their turn."""
        self._metrics = Recorder()
        self._came: dict[Edge, OutOf] = defaultdict(OutOf)
        self._lost: list[DroppedElement] = []
        self._clock = 0
        self._step = 0

    def play(self) -> PipelineRun:
        started: list[Worker] = []
        done = False
        try:
            for node, worker in self._workers.items():
                with self._metrics.step(node.label):
                    worker.setup()
                started.append(worker)
            for step in steps_of(self._workers):
                with paused_gc():
                    self._play(step)
            done = True
        finally:
            self._end(started, done)
        staged = {
            node: worker for node, worker in self._workers.items() if isinstance(worker, Recorded)
        }
        return PipelineRun(dict(self._came), tuple(self._lost), self._metrics, staged)

    def _end(self, started: Sequence[Worker], done: bool) -> None:
        """Let all that began come to its end, also if one of them fails there."""
        failures = []
        for worker in started:
            try:
                worker.teardown()
            except Exception as failure:
                failures.append(failure)
        # What failed before is the cause of everything after it.
        if failures and done:
            raise failures[0]

    def _play(self, step: Step) -> None:
        moved, self._clock = step.clock > self._clock, step.clock
        out: dict[Edge, Bundle] = defaultdict(Bundle)
        for node, worker in self._workers.items():
            with self._metrics.step(node.label), worker.blamed():
                if moved:
                    _add(out, node, worker.clock(self._clock))
                if node is step.source:
                    _add(out, node, worker.happen(step.events))
            if node.sources:
                if node not in self._taken:
                    self._take(node, out)
                with self._metrics.step(node.label), worker.blamed():
                    before = (self._workers[edge.node] for edge in node.sources)
                    _add(out, node, worker.reached([each.output_watermark for each in before]))
            self._lost += (
                DroppedElement(self._step, node.label, key, drop) for key, drop in worker.dropped()
            )
        for edge, bundle in out.items():
            self._came[edge].add(self._step, bundle)
        self._step += 1

    def _take(self, node: Node, out: dict[Edge, Bundle]) -> None:
        """Let a node take its elements, and those that it paces what comes of each of them."""
        worker = self._workers[node]
        given = [out.get(edge, _NOTHING) for edge in node.sources]
        if not any(given):
            return
        for found in taken(worker, given, self._metrics, node.label):
            if not worker.paces:
                _add(out, node, found)
                continue
            made: dict[Edge, Bundle] = defaultdict(Bundle)
            _add(made, node, found)
            for each in self._paced[node]:
                self._take(each, made)
            for edge, bundle in made.items():
                out[edge].extend(bundle)


def _add(out: dict[Edge, Bundle], node: Node, found: Tagged) -> None:
    for tag, bundle in found:
        out[Edge(node, tag)].extend(bundle)

"""The result of a run of a pipeline: the elements of its edges, and what was dropped."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import PipelineError
from beamlike.machine.events import Drop
from beamlike.model.bundle import Bundle, Windowed
from beamlike.model.graph import Edge, GroupNode, Node
from beamlike.runtime.graph.metrics import MetricsRecorder
from beamlike.runtime.graph.worker import Recorded
from beamlike.runtime.script import Run

if TYPE_CHECKING:
    from beamlike.runtime.graph.mail import Report


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


KEPT_LOST: Final = 10_000
"""How many lost elements a run keeps: the newest."""


@attrs.define
class LostElements:
    """Elements that nodes dropped: the newest of them, and how many by label and reason in all."""

    newest: tuple[DroppedElement, ...] = ()
    counts: Mapping[tuple[str, str], int] = attrs.field(factory=dict)

    def add(self, elements: Iterable[DroppedElement]) -> None:
        """Add elements that were dropped."""
        added = [*elements]
        if not added:
            return
        # New objects, because another thread may be reading the old ones.
        self.newest = (*self.newest, *added)[-KEPT_LOST:]
        counts = Counter(self.counts)
        for dropped in added:
            counts[dropped.label, dropped.drop.reason.value] += dropped.drop.count
        self.counts = counts


class EdgeOutput(Sequence[OutputElement]):
    """All elements that came out of an edge. Their objects are made on access."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._elements = Bundle()

    def add(self, step: int, bundle: Bundle) -> None:
        """Add the elements of a step."""
        self._steps += [step] * len(bundle)
        self._elements.extend(bundle)

    def __len__(self) -> int:
        return len(self._steps)

    def __iter__(self) -> Iterator[OutputElement]:
        return map(OutputElement, self._steps, self._elements)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [*self][index]
        return OutputElement(self._steps[index], self._elements[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


STREAMED_ON: Final = (
    "a run keeps what no other transform reads and a variable holds, and streams everything else "
    "on; call pipeline.keep(collection) before run()"
)
"""Why an output was not kept, and what to do."""


@attrs.frozen
class PipelineRun:
    """What came out of the edges of a graph that are kept, in order, and what was dropped.

    Args:
        came: The elements of each edge.
        lost: What was dropped, the newest of it; see `LostElements`.
        metrics: What functions counted.
        inside: The record of what happened inside of groupings, where one is kept.
        kept: The edges whose elements were kept; None: all.
        nodes: The graph.
        why_not: Why other edges were not kept, and what to do.
        lost_counts: How many elements were dropped, by label and reason.
    """

    came: Mapping[Edge, Sequence[OutputElement]]
    lost: tuple[DroppedElement, ...]
    metrics: MetricsRecorder = attrs.field(factory=MetricsRecorder, eq=False, repr=False)
    _inside: Mapping[Node, Recorded] = attrs.field(factory=dict, eq=False, repr=False)
    kept: Container[Edge] | None = attrs.field(default=None, eq=False, repr=False)
    _nodes: frozenset[Node] = attrs.field(default=frozenset(), eq=False, repr=False)
    _why_not: str = attrs.field(default=STREAMED_ON, eq=False, repr=False)
    lost_counts: Mapping[tuple[str, str], int] = attrs.field(factory=dict, eq=False, repr=False)

    def inside(self, node: Node) -> Run | None:
        """The record of a grouping: its input step by step, and all its outputs.

        None if the node does not group, or if no record of it is kept: a pipeline keeps one in a
        test, or if `Pipeline.keep` asks for it, unless it reads or writes DataFrames on Spark.
        """
        known = self._inside.get(node)
        return None if known is None else known.run

    @property
    def groupings(self) -> tuple[GroupNode, ...]:
        """The groupings with a record, in the order of the pipeline."""
        return tuple(node for node in self._inside if isinstance(node, GroupNode))

    def out_of(self, edge: Edge) -> tuple[OutputElement, ...]:
        """The elements of an edge; none if it was not part of the graph.

        Raises:
            PipelineError: Its elements were not kept.
        """
        if self.kept is not None and edge not in self.kept and edge.node in self._nodes:
            output = f", output {edge.tag!r}" if edge.tag else ""
            raise PipelineError(
                f"what came out of {edge.node.label!r}{output} was not kept: {self._why_not}"
            )
        return tuple(self.came.get(edge, ()))


@attrs.define
class RunRecord:
    """Collects the result of a run while it goes on.

    Args:
        came: The elements of each edge.
        lost: What was dropped.
        metrics: What functions counted.
        inside: What happened inside of groupings, where a record is kept.
    """

    came: dict[Edge, EdgeOutput] = attrs.field(factory=lambda: defaultdict(EdgeOutput))
    lost: LostElements = attrs.field(factory=LostElements)
    metrics: MetricsRecorder = attrs.field(factory=MetricsRecorder)
    inside: dict[Node, Recorded] = attrs.field(factory=dict)

    def note(self, report: "Report", labels: Mapping[int, str], step: int = 0) -> None:
        """What nodes with these labels, by their numbers, dropped and counted in a step."""
        self.lost.add(
            DroppedElement(step, labels[gone.node], gone.key, gone.drop)
            for gone in report.lost
            if gone.node in labels
        )
        self.metrics.merge(report.metrics, {str(number): label for number, label in labels.items()})

    def run(
        self, nodes: Iterable[Node], kept: Container[Edge] | None, why_not: str = STREAMED_ON
    ) -> PipelineRun:
        """The result of a graph with these nodes so far; for the arguments see `PipelineRun`."""
        return PipelineRun(
            *(dict(self.came), self.lost.newest, self.metrics, dict(self.inside), kept),
            *(frozenset(nodes), why_not, self.lost.counts),
        )

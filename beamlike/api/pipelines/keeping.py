"""Which outputs of a pipeline its result keeps, and which are only streamed on."""

from collections.abc import Iterable
from typing import Any
from weakref import ref

import attrs

from beamlike.model.graph import Edge, Node


@attrs.frozen
class EdgesToKeep:
    """The edges whose elements a run keeps.

    Args:
        edges: Those that are known.
        nodes: Nodes of which every output that nothing reads is kept, whatever its tag.
        read: The edges that a transform or a sink reads.
        wanted: Those of ``edges`` that the pipeline was asked to keep.
    """

    edges: frozenset[Edge]
    nodes: frozenset[Node]
    read: frozenset[Edge]
    wanted: frozenset[Edge] = frozenset()

    def __contains__(self, edge: object, /) -> bool:
        if edge in self.edges:
            return True
        return isinstance(edge, Edge) and edge.node in self.nodes and edge not in self.read


class Keeping:
    """What a pipeline keeps of what comes out.

    By default that is each output which no transform reads, as long as a variable holds its
    collection: no other can be asked for after a run.
    """

    def __init__(self) -> None:
        self._holders: list[tuple[ref[Any], Edge | Node]] = []
        self._wanted: set[Edge] = set()

    def hold(self, holder: Any, output: Edge | Node) -> None:
        """Keep an output as long as this object lives; or all outputs of a node."""
        self._holders.append((ref(holder), output))

    def want(self, edge: Edge) -> None:
        """Keep an output also if a transform reads it, and nothing holds its collection."""
        self._wanted.add(edge)

    def kept(self, nodes: Iterable[Node], sinks: Iterable[Edge]) -> EdgesToKeep:
        """The edges that a run of these nodes keeps now."""
        read = frozenset((*sinks, *(edge for node in nodes for edge in node.sources)))
        held = {output for holder, output in self._holders if holder() is not None}
        edges = {output for output in held if isinstance(output, Edge) and output not in read}
        of_any_name = frozenset(output for output in held if isinstance(output, Node))
        wanted = frozenset(self._wanted)
        return EdgesToKeep(wanted | edges, of_any_name, read, wanted)

"""How a graph is cut into layers, and what reads what."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs
import cloudpickle

from beamlike.errors import CoderError, PipelineError
from beamlike.machine.clocks import InputClock
from beamlike.model.graph import (
    Edge,
    FlattenNode,
    GroupNode,
    Node,
    ReadNode,
    SideInputNode,
    StatefulParDoNode,
    WindowNode,
    in_order,
)
from beamlike.runtime.graph.machine_node import MachineNode
from beamlike.runtime.graph.messages import Messages
from beamlike.runtime.graph.sending import packed
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.store.room import check_message

STAGED: Final = (GroupNode, SideInputNode, StatefulParDoNode, MachineNode)
"""The nodes that keep state: each belongs to the stateful operator of its layer."""


_PARTS: Final = ("nodes", "wanted", "clocks", "wire")


@attrs.frozen
class Reader:
    """What reads an edge: a node by its number, and as which of its sources."""

    node: int
    source: int


@attrs.frozen(slots=False)
class Layers:
    """A graph, its nodes by number.

    Sources are in layer 0. A node that keeps state is one layer further than what it reads, any
    other in the last of the layers that it reads from.

    Args:
        nodes: Each after its sources.
        wanted: The edges whose elements are to come out of the query.
        clocks: The clock of each source.
        wire: How values become bytes.
    """

    nodes: tuple[Node, ...]
    wanted: tuple[Edge, ...]
    clocks: Mapping[int, InputClock]
    wire: Wire

    @classmethod
    def of(
        cls,
        ends: Sequence[Node],
        wanted: Sequence[Edge],
        clock_of: Callable[[ReadNode], InputClock],
    ) -> "Layers":
        """The layers of a graph, from the nodes and edges that are to be reached.

        Coders are those that are declared now.

        Raises:
            PipelineError: A function in it cannot go to another process.
        """
        nodes = tuple(in_order([*ends, *(edge.node for edge in wanted)]))
        clocks = {at: clock_of(node) for at, node in enumerate(nodes) if isinstance(node, ReadNode)}
        layers = cls(nodes, tuple(dict.fromkeys(wanted)), clocks, Wire.declared())
        # Raise here what is wrong with a function: Spark hides it in an error of its own.
        _ = layers.packed
        return layers

    @cached_property
    def sources(self) -> Sequence[ReadNode]:
        """The nodes that read from outside."""
        return [node for node in self.nodes if isinstance(node, ReadNode)]

    @cached_property
    def positions(self) -> Mapping[Edge, int]:
        """The wanted edges by their numbers."""
        return {edge: at for at, edge in enumerate(self.wanted)}

    @cached_property
    def number(self) -> Mapping[Node, int]:
        return {node: at for at, node in enumerate(self.nodes)}

    @cached_property
    def layer(self) -> Sequence[int]:
        """The layer of each node."""
        found: list[int] = []
        for node in self.nodes:
            deepest = max((found[self.number[it.node]] for it in node.sources), default=0)
            found.append(deepest + isinstance(node, STAGED))
        return found

    @cached_property
    def depth(self) -> int:
        """The number of the last layer."""
        return max(self.layer, default=0)

    @cached_property
    def readers(self) -> Mapping[Edge, Sequence[Reader]]:
        found: dict[Edge, list[Reader]] = defaultdict(list)
        for at, node in enumerate(self.nodes):
            for source, edge in enumerate(node.sources):
                found[edge].append(Reader(at, source))
        return found

    @cached_property
    def sharing(self) -> frozenset[int]:
        """The nodes whose elements another node reads, too, or a result."""
        return frozenset(self.number[node] for node in sharing(self.nodes, self.positions))

    def staged(self, layer: int) -> list[int]:
        """The nodes of a layer that keep state."""
        return [
            at
            for at, node in enumerate(self.nodes)
            if isinstance(node, STAGED) and self.layer[at] == layer
        ]

    def between(self, layer: int) -> list[int]:
        """The nodes after a layer, and before the next, that keep none; in order."""
        return [
            at
            for at, node in enumerate(self.nodes)
            if not isinstance(node, (*STAGED, ReadNode)) and self.layer[at] == layer
        ]

    @cached_property
    def origins(self) -> Sequence[tuple[int, ...]]:
        """Of each node the sources and stateful nodes whose watermarks are its own."""
        found: list[tuple[int, ...]] = []
        for node in self.nodes:
            own: dict[int, None] = {}
            for edge in node.sources:
                own.update(dict.fromkeys(self._origins_of(edge, found)))
            found.append(tuple(own))
        return found

    def origins_of(self, edge: Edge) -> Sequence[int]:
        """The sources and stateful nodes whose watermarks are those of an edge."""
        return self._origins_of(edge, self.origins)

    def _origins_of(self, edge: Edge, origins: Sequence[tuple[int, ...]]) -> Sequence[int]:
        before = self.number[edge.node]
        return (before,) if isinstance(edge.node, (*STAGED, ReadNode)) else origins[before]

    @cached_property
    def roots(self) -> Sequence[frozenset[int]]:
        """Of each node the sources that it depends on."""
        found: list[frozenset[int]] = []
        for at, node in enumerate(self.nodes):
            own = {at} if isinstance(node, ReadNode) else set()
            found.append(
                frozenset(own.union(*(found[self.number[it.node]] for it in node.sources)))
            )
        return found

    def dump(self, messages: Messages) -> bytes:
        """As a message.

        Raises:
            PipelineError: An element cannot go to another process; says which node has it.
            UnsupportedError: All of them together are more than a message can hold.
        """
        try:
            message = messages.dump(self.wire)
            check_message(message)
            return message
        except CoderError:
            for label, value in self._labelled(messages):
                try:
                    self.wire.dumps(value)
                except CoderError as error:
                    raise PipelineError(f"{label!r}: {error}" if label else str(error)) from error
            raise

    def _labelled(self, messages: Messages) -> Iterator[tuple[str, Any]]:
        for (node, _), bundle in messages.out.items():
            yield from ((self.nodes[node].label, value) for value in bundle.values)
        for (node, source), parcel in messages.addressed.items():
            label = self.nodes[node].sources[source].node.label
            yield from ((label, value) for value in parcel.bundle.values)
        for wanted, parcel in messages.came.items():
            label = self.wanted[wanted].node.label
            yield from ((label, value) for value in parcel.bundle.values)

    def load(self, messages: Iterable[bytes]) -> Messages:
        """All messages as one, in their order.

        Raises:
            StateError: Something in them has no class or no coder here.
        """
        return Messages.load(messages, self.wire)

    @cached_property
    def packed(self) -> bytes:
        """The graph as bytes.

        Raises:
            PipelineError: A function in it cannot go to another process.
        """
        return packed([getattr(self, part) for part in _PARTS], self.nodes)

    def __getstate__(self) -> dict[str, Any]:
        # Derived values stay behind: workers derive them again. Elements go by cloudpickle, so
        # functions do too: Spark's own copy of it would make other classes of the user's, and it
        # does not know which modules are to travel with what they define.
        return {"pickled": self.packed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        parts = zip(_PARTS, cloudpickle.loads(state["pickled"]), strict=True)
        self.__dict__.update(parts)


def sharing(nodes: Iterable[Node], recorded: Container[Edge]) -> frozenset[Node]:
    """The nodes whose elements something else holds, too: another node, or a record.

    A function may change what it is given, and must not change what the others see.

    Args:
        nodes: All nodes, each after those that it reads.
        recorded: The edges whose elements are kept.
    """
    nodes = list(nodes)
    readers = Counter(edge for node in nodes for edge in node.sources)
    outputs: dict[Node, list[Edge]] = defaultdict(list)
    for edge in readers:
        outputs[edge.node].append(edge)
    shared: set[Edge] = set()
    for node in nodes:
        # These hand the objects on that they are given.
        passed = isinstance(node, WindowNode | FlattenNode) and not shared.isdisjoint(node.sources)
        read = outputs[node]
        shared.update(edge for edge in read if passed or readers[edge] > 1 or edge in recorded)
    return frozenset(node for node in nodes if not shared.isdisjoint(node.sources))

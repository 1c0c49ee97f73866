"""How a graph is cut into layers, and what reads what."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final

import attrs
import cloudpickle

from beamlike.errors import CoderError, PipelineError
from beamlike.machine.input_clocks import InputClock, StageClock
from beamlike.model.bundle import Bundle
from beamlike.model.graph import (
    Edge,
    FlattenNode,
    Node,
    ReadNode,
    SideInputNode,
    StatefulNode,
    WindowNode,
    in_order,
)
from beamlike.model.resolution import Resolution
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.sending import packed
from beamlike.runtime.graph.wire import Wire
from beamlike.runtime.plan import spread_shards
from beamlike.runtime.store.blobs import check_message

_PARTS: Final = ("nodes", "wanted", "clocks", "wire")


@attrs.frozen
class ReaderNode:
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
    def of(cls, ends: Sequence[Node], wanted: Sequence[Edge]) -> "Layers":
        """The layers of a graph, from the nodes and edges that are to be reached.

        Coders are those that are declared now.

        Raises:
            PipelineError: A function in it cannot go to another process.
        """
        nodes = tuple(in_order([*ends, *(edge.node for edge in wanted)]))
        clocks = {
            index: _clock_of(node) for index, node in enumerate(nodes) if isinstance(node, ReadNode)
        }
        layers = cls(nodes, tuple(dict.fromkeys(wanted)), clocks, Wire.declared())
        # Raise here what is wrong with a function: Spark hides it in an error of its own.
        _ = layers.packed
        return layers

    @cached_property
    def resolution(self) -> Resolution:
        """What the times of its nodes count."""
        return max((node.resolution for node in self.nodes), key=lambda unit: unit.per_ms)

    @cached_property
    def sources(self) -> Sequence[ReadNode]:
        """The nodes that read from outside."""
        return [node for node in self.nodes if isinstance(node, ReadNode)]

    @cached_property
    def edges(self) -> Sequence[Edge]:
        """The edges that something reads, or that are wanted: each goes by its number."""
        read = (edge for node in self.nodes for edge in node.sources)
        return [*dict.fromkeys((*read, *self.wanted))]

    @cached_property
    def edge_number(self) -> Mapping[Edge, int]:
        return {edge: index for index, edge in enumerate(self.edges)}

    @cached_property
    def read_until(self) -> Sequence[int]:
        """For each edge the last layer with a node that reads it; for a wanted edge the end of the
        query, which counts as one layer more than the last."""
        layer_of: Callable[[ReaderNode], int] = lambda reader: self.layer[reader.node]  # noqa: E731
        return [self._last(edge, self.depth + 1, layer_of) for edge in self.edges]

    @cached_property
    def sent_until(self) -> Sequence[int]:
        """For each edge the last layer up to which its elements travel as they are, see
        `formed_after`."""
        return [self._last(edge, self.depth, self.formed_after) for edge in self.edges]

    def formed_after(self, reader: ReaderNode) -> int:
        """The layer after which elements get the form that a reader takes.

        A node that keeps state takes tables by key: elements become these as they leave the layer
        before the node's. The main input of a node with side inputs becomes tables earlier, after
        the layer that it comes from; these then pass the layers in between unread.
        """
        node = self.nodes[reader.node]
        if isinstance(node, SideInputNode) and reader.source == 0:
            return self.layer[self.number[node.sources[0].node]]
        return self.layer[reader.node] - isinstance(node, StatefulNode)

    def _last(self, edge: Edge, end: int, layer_of: Callable[[ReaderNode], int]) -> int:
        return end if edge in self.wanted else max(map(layer_of, self.readers[edge]))

    @cached_property
    def number(self) -> Mapping[Node, int]:
        return {node: index for index, node in enumerate(self.nodes)}

    @cached_property
    def layer(self) -> Sequence[int]:
        """The layer of each node."""
        layers: list[int] = []
        for node in self.nodes:
            deepest = max((layers[self.number[source.node]] for source in node.sources), default=0)
            layers.append(deepest + isinstance(node, StatefulNode))
        return layers

    @cached_property
    def depth(self) -> int:
        """The number of the last layer."""
        return max(self.layer, default=0)

    @cached_property
    def readers(self) -> Mapping[Edge, Sequence[ReaderNode]]:
        readers: dict[Edge, list[ReaderNode]] = defaultdict(list)
        for index, node in enumerate(self.nodes):
            for source, edge in enumerate(node.sources):
                readers[edge].append(ReaderNode(index, source))
        return readers

    @cached_property
    def sharing(self) -> frozenset[int]:
        """The nodes whose elements another node reads, too, or a result.

        A function may change what it is given, and must not change what the others see.
        """
        outputs: dict[Node, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            outputs[edge.node].append(edge)
        several = {edge for edge in self.edges if len(self.readers.get(edge, ())) > 1}
        shared = several.union(self.wanted)
        for node in self.nodes:
            # These hand the objects on that they are given.
            if isinstance(node, WindowNode | FlattenNode) and not shared.isdisjoint(node.sources):
                shared.update(outputs[node])
        nodes = enumerate(self.nodes)
        return frozenset(number for number, node in nodes if not shared.isdisjoint(node.sources))

    def stateful_nodes(self, layer: int) -> list[int]:
        """The nodes of a layer that keep state."""
        return [
            index
            for index, node in enumerate(self.nodes)
            if isinstance(node, StatefulNode) and self.layer[index] == layer
        ]

    def between(self, layer: int) -> list[int]:
        """The nodes after a layer, and before the next, that keep none; in order."""
        return [
            index
            for index, node in enumerate(self.nodes)
            if not isinstance(node, StatefulNode | ReadNode) and self.layer[index] == layer
        ]

    @cached_property
    def origins(self) -> Sequence[tuple[int, ...]]:
        """Of each node the sources and stateful nodes whose watermarks are its own."""
        origins: list[tuple[int, ...]] = []
        for node in self.nodes:
            before = (self._origins_of(edge, origins) for edge in node.sources)
            origins.append(tuple(dict.fromkeys(chain.from_iterable(before))))
        return origins

    def origins_of(self, edge: Edge) -> Sequence[int]:
        """The sources and stateful nodes whose watermarks are those of an edge."""
        return self._origins_of(edge, self.origins)

    def _origins_of(self, edge: Edge, origins: Sequence[tuple[int, ...]]) -> Sequence[int]:
        before = self.number[edge.node]
        return (before,) if isinstance(edge.node, StatefulNode | ReadNode) else origins[before]

    @cached_property
    def roots(self) -> Sequence[frozenset[int]]:
        """Of each node the sources that it depends on."""
        roots: list[frozenset[int]] = []
        for index, node in enumerate(self.nodes):
            before = (roots[self.number[source.node]] for source in node.sources)
            roots.append(frozenset({index} if isinstance(node, ReadNode) else ()).union(*before))
        return roots

    def put(self, mail: Mail, node: int, tag: str, bundle: Bundle) -> None:
        """Put what came out of a node into mail, if something reads it."""
        edge = self.edge_number.get(Edge(self.nodes[node], tag))
        if edge is not None:
            mail.bundles[edge].added.extend(bundle)

    def sent(self, mail: Mail, place: int = 0) -> list[bytes]:
        """Mail as batches, at least one. It must not have tables for machines.

        Args:
            place: Their place in the order of arrival.

        Raises:
            PipelineError: An element cannot go to another process; says which node has it.
            UnsupportedError: A batch is more than Spark can carry.
        """
        return [*mail.news(place), *mail.deliveries(place), *self.handed_on(mail, place)]

    def handed_on(self, mail: Mail, place: int = 0) -> list[bytes]:
        """The bundles in mail, and what is for the end of the query, as batches.

        Raises:
            PipelineError: As `sent`.
            UnsupportedError: As `sent`.
        """
        try:
            blobs = [*mail.handed_on(self.wire, place)]
        except CoderError:
            for label, value in self._labelled(mail):
                try:
                    self.wire.dumps(value)
                except CoderError as error:
                    raise PipelineError(f"{label!r}: {error}" if label else str(error)) from error
            raise
        for blob in blobs:
            check_message(blob)
        return blobs

    def _labelled(self, mail: Mail) -> Iterator[tuple[str, Any]]:
        for number, parcel in mail.bundles.items():
            label = self.edges[number].node.label
            yield from ((label, value) for value in parcel.added.values)

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


def _clock_of(source: ReadNode) -> InputClock:
    """What follows the watermark of a source: rows of a stream show it themselves; any other says
    how far it is."""
    clock: InputClock = getattr(source.origin, "clock", StageClock(1))
    return StageClock(1) if source.bounded else clock


@attrs.frozen
class Spread:
    """How a graph is spread over the groups of a host.

    Args:
        layers: The graph.
        shards: The groups that share the keys of a layer.
        buckets: See `beamlike.runtime.plan.Plan`.
        notes: Whether it is noted what happens inside of groupings, where scripts say so.
        bounded: Whether everything happens in one step: then nothing is late.
    """

    layers: Layers
    shards: int
    buckets: int
    notes: bool = False
    bounded: bool = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The grouping keys of the shards, see `spread_shards`."""
        return spread_shards(self.shards)

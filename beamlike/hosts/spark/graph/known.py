"""Side inputs that come to an end: Spark computes them before the query that looks there."""

from typing import TYPE_CHECKING

from beamlike.hosts.spark.graph.frames import Frame, bounded_messages, clock_of
from beamlike.model.graph import Edge, Node, ReadNode, rebuilt
from beamlike.runtime.graph.known_sides import computable_first, known
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_known_side_inputs(
    spark: "SparkSession", layers: Layers, shards: int
) -> tuple[Layers, dict[Node, Node], list[tuple[Layers, Mail]]]:
    """Compute the side inputs that can be known before a query runs, in a job of their own.

    Args:
        shards: The groups of Spark that share the keys of a grouping.

    Returns:
        The graph in which these side inputs are known, what stands there for each node, and what
        the job left, with its layers; the same graph and nothing, if there are none.
    """
    read = {edge.node for node in layers.nodes for edge in node.sources}
    ends = [node for node in layers.nodes if node not in read]
    ends += (edge.node for edge in layers.wanted if edge.node in read)
    nodes = computable_first(ends, _comes_to_end)
    if not nodes:
        return layers, {node: node for node in layers.nodes}, []
    sides = [*dict.fromkeys(edge for node in nodes for edge in node.sources[1:])]
    first = Layers.of([], sides, clock_of)
    left = bounded_messages(spark, first, shards, ()).where("blob is not null").select("blob")
    mail = Mail.opened(bytes(blob) for (blob,) in left.collect())

    def panes_of(edge: Edge) -> list[bytes]:
        number = first.edge_number[edge]
        return (
            [envelope.blob for envelope in mail.bundles[number].sent]
            if number in mail.bundles
            else []
        )

    new = rebuilt(ends, {node: known(node, panes_of, first.wire) for node in nodes})
    wanted = [Edge(new[edge.node], edge.tag) for edge in layers.wanted]
    rest = Layers.of([new[end] for end in ends], wanted, clock_of)
    return rest, new, [(first, mail)]


def _comes_to_end(source: ReadNode) -> bool:
    origin = source.origin
    return not origin.rows.isStreaming if isinstance(origin, Frame) else source.bounded

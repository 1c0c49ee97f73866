"""The elements of a collection as a DataFrame."""

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from beamlike.errors import UnsupportedError
from beamlike.hosts.spark.graph.frames import (
    Shown,
    bounded_messages,
    clock_of,
    is_stream,
    stream_messages,
    streams,
    with_known_side_inputs,
)
from beamlike.model.coders import Coder
from beamlike.model.graph import Edge, Node
from beamlike.runtime.graph.layers import Layers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame_of(
    spark: "SparkSession",
    edge: Edge,
    schema: str | Coder,
    *,
    shards: int,
    wake_every_ms: int,
) -> "DataFrame":
    """The elements of an edge as rows, in one query: streaming if a source is.

    Args:
        schema: The Spark schema of the rows. An element is a `Row`, a mapping, a named tuple or
            another tuple with its columns; any other element is the only column.
        wake_every_ms: How often a query that waits on processing time gets one without data.
    """
    layers, owner = Layers.of([], [edge], clock_of), f"to_data_frame of {edge.node.label!r}"
    shown = Shown.of(schema, owner)
    if not is_stream(layers):
        rows = shown.rows_of(layers.edge_number[edge])
        return bounded_messages(spark, layers, shards, rows)
    layers, _, _ = with_known_side_inputs(spark, layers, shards)
    (edge,) = layers.wanted
    still = [node.label for node in layers.sources if not streams(node)]
    if still:
        stream = next(node.label for node in layers.sources if streams(node))
        raise UnsupportedError(
            f"{still[0]!r} comes to an end and {stream!r} is a stream; Spark cannot read both in "
            "one query of a DataFrame: write the result with WriteRows(...) and run() the "
            "pipeline, or read the first one as a stream too"
        )
    return stream_messages(
        spark,
        layers,
        shown.rows_of(layers.edge_number[edge]),
        shards=shards,
        wake_every_ms=wake_every_ms,
        names=_name_of,
    )


_asked: Final[WeakKeyDictionary[Node, int]] = WeakKeyDictionary()
"""How many DataFrames are based on a node."""


def _name_of(node: Node) -> str:
    """A name for what a node counts: another one in each DataFrame, since two may be united."""
    _asked[node] = number = _asked.get(node, 0) + 1
    return node.label if number == 1 else f"{node.label} {number}"

"""DataFrames as sources of a pipeline, and its collections as DataFrames.

Spark computes side inputs that come to an end before the query that looks into them.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import attrs
from pyspark.sql import functions as F
from pyspark.sql import types as T

from beamlike.errors import ColumnError, UnsupportedError
from beamlike.hosts.spark.bind import event_time
from beamlike.hosts.spark.graph.element_rows import Shown
from beamlike.hosts.spark.graph.query import Entry, stepped_through
from beamlike.hosts.spark.graph.reading import AHEAD, AT, Reader
from beamlike.hosts.spark.graph.scripts import mails_of
from beamlike.hosts.spark.graph.stages import MESSAGE, Shows, rows_column, sender
from beamlike.hosts.spark.observing import Observed
from beamlike.hosts.spark.sql_columns import type_of
from beamlike.hosts.spark.ticks import pace_ms, ticks
from beamlike.hosts.spark.worker_errors import reported
from beamlike.machine.input_clocks import (
    ShardWatermark,
    SourceClock,
    is_far_ahead,
)
from beamlike.model.coders import Coder
from beamlike.model.graph import Edge, Node, ReadNode, StatefulNode, rebuilt
from beamlike.runtime.graph.known_sides import computable_first, known
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.options import BUCKETS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@attrs.frozen(eq=False)
class Frame:
    """A DataFrame whose rows are elements.

    Args:
        timestamp: The column of event time; None: the minimum timestamp, for a batch.
        clock: How far event time may be out of order, and ahead of the clock, for a stream.
        encoded: The column that holds the elements as bytes; None: the rows are the elements.
        part: The column that names the part of a stream that a row is of; None: it has none.
    """

    rows: "DataFrame"
    timestamp: str | None
    clock: SourceClock
    encoded: str | None = None
    coder: Coder | None = None
    part: str | None = None

    def entry(self, layers: Layers, node: int) -> Entry:
        """Its rows as an entry of a pipeline, from the source with this number."""
        rows = self.rows
        for name in (AT, AHEAD):
            if name in rows.columns:
                raise ColumnError(f"the name {name!r} is needed here; rename that column")
        ticks, ahead = F.lit(layers.resolution.earliest), F.lit(False)
        if self.timestamp is not None:
            unit = layers.resolution
            in_ticks = F.unix_micros if unit.micros == 1 else F.unix_millis
            ticks = in_ticks(event_time(rows, self.timestamp))
            if rows.isStreaming and self.clock.max_ahead is not None:
                now = in_ticks(F.current_timestamp())  # of the micro-batch, as it was kept
                ahead = is_far_ahead(ticks, now, unit.from_ms(self.clock.max_ahead))
        numbered = rows.withColumns({AT: ticks.cast("long"), AHEAD: ahead})
        if self.encoded is not None:
            dtype = type_of(rows, self.encoded, "encoded")
            if not isinstance(dtype, T.BinaryType):
                raise ColumnError(
                    f"encoded: column {self.encoded!r} is {dtype.simpleString()}, and encoded "
                    "elements are binary; cast it, or leave encoded= out"
                )
        if self.part is not None:
            dtype = type_of(rows, self.part, "watermark_by")
            if not isinstance(dtype, (T.StringType, T.IntegralType)):
                raise ColumnError(
                    f"watermark_by: column {self.part!r} is {dtype.simpleString()}; give one of "
                    "text or whole numbers"
                )
        part = self.part if rows.isStreaming else None
        encoded, coder = self.encoded, self.coder
        read = Reader(layers, node, self.timestamp, rows.isStreaming, encoded, coder, part)
        return Entry(numbered, read)


def is_stream(layers: Layers) -> bool:
    """Whether any source of a pipeline is a stream."""
    return any(map(streams, layers.sources))


def streams(source: ReadNode) -> bool:
    """Whether a source is a DataFrame that is a stream."""
    return isinstance(source.origin, Frame) and source.origin.rows.isStreaming


def stream_messages(
    spark: "SparkSession",
    layers: Layers,
    shows: Shows,
    *,
    reports: bool = True,
    shards: int,
    wake_every_ms: int,
    extra_batches: "DataFrame | None" = None,
    names: Callable[[Node], str] | None = None,
) -> "DataFrame":
    """The output of a pipeline over streams. Other sources enter it by ``extra_batches``.

    Args:
        shows: See `output_stage`, and so for ``reports``.
        extra_batches: Batches that enter it besides those of the streams.
        names: How Spark's progress calls what a node counts; by default by its label.
    """
    streams = [(number, frame) for number, frame in _frames(layers) if frame.rows.isStreaming]
    entries = [frame.entry(layers, number) for number, frame in streams]
    entries += [] if extra_batches is None else [Entry(extra_batches)]
    by_trigger, silences_ms = _waits_for_trigger(layers), _silences_ms(layers)
    if by_trigger or silences_ms:
        every_ms = pace_ms(wake_every_ms, by_trigger=by_trigger, idle_after_ms=silences_ms)
        (blob,) = layers.sent(Mail())
        entries.append(Entry(ticks(spark, every_ms).select(F.lit(blob).alias("blob"))))
    observed = [
        Observed(
            number, node.label if names is None else names(node), isinstance(node, StatefulNode)
        )
        for number, node in enumerate(layers.nodes)
        if isinstance(node, StatefulNode) or isinstance(getattr(node, "origin", None), Frame)
    ]
    spread = Spread(layers, shards, BUCKETS)
    return stepped_through(entries, spread, shows=shows, reports=reports, observed=observed)


def _frames(layers: Layers) -> list[tuple[int, Frame]]:
    """The DataFrames that a pipeline reads, each with the number of its node."""
    origins = [(layers.number[source], source.origin) for source in layers.sources]
    return [(number, origin) for number, origin in origins if isinstance(origin, Frame)]


def waits_for_clock(layers: Layers) -> bool:
    """Whether a node or a source waits on processing time, so that its query has to be woken."""
    return _waits_for_trigger(layers) or bool(_silences_ms(layers))


def _waits_for_trigger(layers: Layers) -> bool:
    """Whether a trigger or a timer of a node waits on processing time."""
    workers = map(worker_of, layers.nodes)
    return any(isinstance(of, StatefulWorker) and of.machine.needs_clock for of in workers)


def _silences_ms(layers: Layers) -> list[int]:
    """After how long without rows each source that can be idle is idle (ms)."""
    return [
        clock.resolution.to_ms(clock.idle_after)
        for clock in layers.clocks.values()
        if isinstance(clock, SourceClock) and clock.idle_after is not None
    ]


def bounded_messages(
    spark: "SparkSession", layers: Layers, shards: int, shows: Shows, *, reports: bool = True
) -> "DataFrame":
    """The output of a pipeline over data that ends: everything happens in one step."""
    unbounded = [
        node.label
        for node in layers.sources
        if not isinstance(node.origin, Frame) and not node.bounded
    ]
    if unbounded:
        raise UnsupportedError(
            f"{unbounded[0]!r} is a script of a stream; it can be played with run(), and not be "
            "part of a DataFrame"
        )
    sent, frames = _ending(layers)
    blobs = [(blob,) for place, mail in enumerate(sent) for blob in layers.sent(mail, place)]
    created = spark.createDataFrame(blobs, MESSAGE)
    entries = [*(frame.entry(layers, number) for number, frame in frames), Entry(created)]
    spread = Spread(layers, shards, 1, bounded=True)
    return stepped_through(entries, spread, shows=shows, reports=reports)


def with_known_side_inputs(
    spark: "SparkSession", layers: Layers, shards: int
) -> tuple[Layers, dict[Node, Node], list[tuple[Layers, Mail]]]:
    """Compute the side inputs that can be known before a query runs, in a job of their own.

    Returns:
        The graph in which these side inputs are known; for each node of the old graph its node in
        this one; and the mail that the job left, with its layers. If there are no such side inputs,
        the same graph and no mail.
    """
    read = {edge.node for node in layers.nodes for edge in node.sources}
    ends = [node for node in layers.nodes if node not in read]
    ends += (edge.node for edge in layers.wanted if edge.node in read)
    nodes = computable_first(ends)
    if not nodes:
        return layers, {node: node for node in layers.nodes}, []
    sides = [*dict.fromkeys(edge for node in nodes for edge in node.sources[1:])]
    first = Layers.of([], sides)
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
    rest = Layers.of([new[end] for end in ends], wanted)
    return rest, new, [(first, mail)]


def ending(layers: Layers) -> tuple[list[Mail], list["DataFrame"]]:
    """The batches of the sources that come to an end, as mail and as DataFrames."""
    mails, frames = _ending(layers)
    entries = [frame.entry(layers, number) for number, frame in frames]
    sent = [(entry.rows, entry.take) for entry in entries]
    return mails, [
        rows.mapInArrow(reported(sender(layers, take)), MESSAGE) for rows, take in sent if take
    ]


def _ending(layers: Layers) -> tuple[list[Mail], list[tuple[int, Frame]]]:
    frames = [(number, frame) for number, frame in _frames(layers) if not frame.rows.isStreaming]
    scripts = [node for node in layers.sources if not isinstance(node.origin, Frame)]
    mails = list(mails_of(layers, scripts)) if scripts else []
    # Not by the function that reads the rows: a DataFrame may have no partition to call it for.
    end = layers.resolution.end_of_time
    mails.append(Mail(reached=[ShardWatermark(number, 0, end) for number, _ in frames]))
    return mails, frames


def rows_in(left: "DataFrame", number: int = 0) -> "DataFrame":
    """The rows of one of the edges that are shown, in what leaves a pipeline."""
    return left.selectExpr(f"inline({rows_column(number)})")


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
        wake_every_ms: How often a query that waits on processing time gets a micro-batch without
            data (ms).
    """
    layers, owner = Layers.of([], [edge]), f"to_data_frame of {edge.node.label!r}"
    shown = Shown.of(schema, owner)
    if not is_stream(layers):
        shows = [(layers.edge_number[edge], shown)]
        return rows_in(bounded_messages(spark, layers, shards, shows, reports=False))
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
    left = stream_messages(
        spark,
        layers,
        [(layers.edge_number[edge], shown)],
        reports=False,
        shards=shards,
        wake_every_ms=wake_every_ms,
        names=_name_of,
    )
    return rows_in(left)


_asked: Final[WeakKeyDictionary[Node, int]] = WeakKeyDictionary()
"""How many DataFrames were made of a node."""


def _name_of(node: Node) -> str:
    """A name for the counts of a node: a new one in each DataFrame, since two may be united."""
    _asked[node] = number = _asked.get(node, 0) + 1
    return node.label if number == 1 else f"{node.label} {number}"

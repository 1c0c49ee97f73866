"""A pipeline with DataFrames at its edges, run as one query."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.spark.graph.checkpoint import PipelineCheckpoint
from beamlike.hosts.spark.graph.element_rows import Shown
from beamlike.hosts.spark.graph.frames import (
    bounded_messages,
    rows_in,
    stream_messages,
    waits_for_clock,
    with_known_side_inputs,
)
from beamlike.hosts.spark.graph.query import Scripted, run_pipelines_on_spark
from beamlike.hosts.spark.graph.stages import MESSAGE, Shows
from beamlike.hosts.spark.requirements import check_session, notice_partitions
from beamlike.hosts.spark.ticks import is_tick
from beamlike.hosts.spark.worker_errors import as_raised
from beamlike.machine.input_clocks import ShardWatermark, SourceClock
from beamlike.model.coders import Coder
from beamlike.model.graph import Edge, Node, StatefulNode
from beamlike.runtime.graph.layers import Layers
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.outputs import PipelineRun, RunRecord
from beamlike.runtime.options import SHARDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_LOOKS_EVERY: Final = 0.1
"""The time between two looks whether a micro-batch has ended (s)."""

Write = Callable[["DataFrame", int], Any]
"""Writes rows of one micro-batch, with its number, as the function of Spark's ``foreachBatch``."""


@attrs.frozen
class Sink:
    """Where the elements of an edge go, as rows of a schema.

    Args:
        schema: The Spark schema of the rows, or how they are encoded.
        label: The full name of the transform that writes them.
    """

    edge: Edge
    schema: str | Coder
    write: Write
    label: str


@attrs.define
class RunReport(RunRecord):
    """Everything that micro-batches reported besides rows."""

    ended: set[tuple[int, int]] = attrs.field(factory=set)
    """The shards of nodes whose output watermark is at the end of time."""

    def add(self, layers: Layers, mail: Mail) -> None:
        """What was dropped and counted in a micro-batch."""
        labels = {number: node.label for number, node in enumerate(layers.nodes)}
        self.note(mail.at_the_end(layers.wire), labels)


@attrs.define
class PipelineQuery:
    """A query that runs, or did. ``end`` is the state in which it is when it runs no more."""

    query: "StreamingQuery"
    report: RunReport
    layers: Layers
    _checkpoint: PipelineCheckpoint
    _is_woken: bool
    end: str = "DONE"

    @property
    def state(self) -> str:
        """How far it is, in Beam's words."""
        if self.query.isActive:
            return "RUNNING"
        return self.end if self.query.exception() is None else "FAILED"

    def stop(self, end: str) -> None:
        """End it in this state, if it runs."""
        if self.query.isActive:
            self.end = end
            self.query.stop()

    @property
    def has_ended(self) -> bool:
        """Whether no more output can come: all streams and all nodes with state have ended."""
        clocks = self.layers.clocks.items()
        waited_for = {(source, 0) for source, clock in clocks if isinstance(clock, SourceClock)}
        shards = range(self._checkpoint.shards)
        for number, node in enumerate(self.layers.nodes):
            if isinstance(node, StatefulNode):
                waited_for |= {(number, shard) for shard in shards}
        return waited_for <= self.report.ended

    def end_sources(self) -> None:
        """Declare the end of all streams: whatever arrives from now on is late."""
        end = self.layers.resolution.end_of_time
        self._checkpoint.send(
            [Mail(reached=[ShardWatermark(source, 0, end) for source in self.layers.clocks])]
        )

    def drain(self) -> None:
        """End every window with the elements that have arrived, and stop the query.

        Elements that arrive from now on are late.
        """
        # A micro-batch may hold the end without what came before it: where a source is read a few
        # files at a time, or was looked at before the file came that this one was written after.
        self.take_all()
        self.end_sources()
        self.take_all()
        self.query.stop()

    def take_all(self) -> None:
        """Wait until all rows that are there now have been read.

        ``processAllAvailable`` waits for a query to be idle. A query that is woken more often than
        its micro-batches take is never idle: this waits for a micro-batch of it that begins from
        now on and reads only the row that woke it.
        """
        asked_ms = wall_clock_ms()
        while self._is_woken and self.query.isActive:
            progress = self.query.lastProgress
            if progress is not None and _is_idle_since(asked_ms, progress):
                return
            time.sleep(_LOOKS_EVERY)
        self.query.processAllAvailable()


def _is_idle_since(instant_ms: int, progress: Any) -> bool:
    """Whether a micro-batch began after an instant and read nothing but ticks."""
    began = datetime.fromisoformat(progress["timestamp"])
    if began.timestamp() * 1_000 < instant_ms:
        return False
    return all(
        not source["numInputRows"] or is_tick(source["endOffset"]) for source in progress["sources"]
    )


@attrs.frozen(slots=False)
class SparkGraph:
    """A graph on a session of Spark.

    Args:
        shards: The groups that share the keys of a grouping; None: as many as is usual there.
    """

    spark: "SparkSession"
    nodes: Sequence[Node]
    sinks: Sequence[Sink]
    shards: int | None

    def play(self, outputs: Sequence[Edge] = (), kept: Any = None) -> PipelineRun:
        """Play its scripts step by step."""
        shards = {} if self.shards is None else {"shards": self.shards}
        scripted = Scripted(self.nodes, outputs, kept)
        (run,) = run_pipelines_on_spark([scripted], self.spark, **shards)
        return run

    @cached_property
    def layers(self) -> Layers:
        """What of it runs together."""
        return Layers.of(self.nodes, [sink.edge for sink in self.sinks])

    def run_bounded(self) -> RunReport:
        """Run it over data that ends."""
        run_report, shards = RunReport(), self.shards or SHARDS
        with as_raised():
            rest, new, jobs = with_known_side_inputs(self.spark, self.layers, shards)
            for first, mail in jobs:
                run_report.add(first, mail)
            sinks = [
                attrs.evolve(sink, edge=Edge(new[sink.edge.node], sink.edge.tag))
                for sink in self.sinks
            ]
            left = bounded_messages(self.spark, rest, shards, _shows(rest, sinks))
            _write(left, 0, rest, sinks, run_report)
        return run_report

    def start(
        self, checkpoint: str, trigger: Mapping[str, Any], wake_every_ms: int
    ) -> PipelineQuery:
        """Start it over streams.

        Args:
            checkpoint: The folder that the query restarts from.
            trigger: As Spark's ``trigger`` takes it.
            wake_every_ms: How often a query that waits on processing time gets a micro-batch
                without data.

        Raises:
            EnvironmentProblem: The session lacks what a query over streams needs.
            StateError: Another pipeline went on from this folder.
        """
        spark, layers, sinks, shards = self.spark, self.layers, self.sinks, self.shards or SHARDS
        check_session(spark, checkpoint)
        notice_partitions(spark, shards)
        folder = PipelineCheckpoint(spark, checkpoint.rstrip("/"), layers, shards)
        folder.prepare()
        messages = spark.readStream.schema(MESSAGE).parquet(folder.messages)
        left = stream_messages(
            spark,
            layers,
            _shows(layers, sinks),
            shards=shards,
            wake_every_ms=wake_every_ms,
            extra_batches=messages,
        )
        run_report = RunReport()

        def write(batch: "DataFrame", number: int) -> None:
            _write(batch, number, layers, sinks, run_report)

        writer = left.writeStream.foreachBatch(write).trigger(**trigger)
        query = writer.option("checkpointLocation", folder.query).start()
        return PipelineQuery(query, run_report, layers, folder, waits_for_clock(layers))


def _shows(layers: Layers, sinks: Sequence[Sink]) -> Shows:
    return [
        (layers.edge_number[sink.edge], Shown.of(sink.schema, repr(sink.label))) for sink in sinks
    ]


def _write(
    left: "DataFrame", number: int, layers: Layers, sinks: Sequence[Sink], run_report: RunReport
) -> None:
    """Give each sink its rows. The output is computed once for all sinks."""
    kept = left.persist()
    try:
        blobs = kept.where("blob is not null").select("blob").collect()
        mail = Mail.opened(bytes(blob) for (blob,) in blobs)
        run_report.add(layers, mail)
        for index, sink in enumerate(sinks):
            sink.write(rows_in(kept, index), number)
        # Last: who waits for the end stops the query, and the rows have to be written by then.
        run_report.ended |= {(update.input, getattr(update, "shard", 0)) for update in mail.reached}
    finally:
        kept.unpersist()

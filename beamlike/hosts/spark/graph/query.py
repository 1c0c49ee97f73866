"""The query of a whole pipeline, and scripts that are played on it."""

import shutil
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs
import pyarrow as pa
import pyarrow.parquet as pq

from beamlike.hosts.failed_starts import all_processed
from beamlike.hosts.spark.deferred import Deferred, blobs_of_nodes
from beamlike.hosts.spark.graph.job import answers_of_job
from beamlike.hosts.spark.graph.scripts import mails_of
from beamlike.hosts.spark.graph.stages import (
    MESSAGE,
    SENT,
    SPREAD,
    Shows,
    Take,
    fanout_stage,
    fused_stage,
    has_fanout,
    left_schema,
    output_stage,
)
from beamlike.hosts.spark.observing import Observed, observing
from beamlike.hosts.spark.processor import GroupProcessor, at_once
from beamlike.hosts.spark.requirements import PARTITIONS
from beamlike.hosts.spark.scratch import scratch_folder, without_snapshots
from beamlike.hosts.spark.session import local_session
from beamlike.hosts.spark.state_cache import may_copy
from beamlike.hosts.spark.worker_errors import as_raised, reported, reported_group
from beamlike.machine.failures import OnFailure
from beamlike.model.combine import CombineFn
from beamlike.model.graph import Edge, Node, ReadNode, in_order
from beamlike.runtime.graph.keys import key_of
from beamlike.runtime.graph.layer_work import NOTED, Layer
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.graph.outputs import PipelineRun, RunRecord
from beamlike.runtime.graph.scripted_graph import ScriptedNode, Stage, played
from beamlike.runtime.graph.stateful import StatefulWorker
from beamlike.runtime.graph.tracing import Inside, ShardTrace
from beamlike.runtime.script import Run, Script
from beamlike.runtime.tally import TALLIES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@attrs.frozen
class Entry:
    """A DataFrame that enters a pipeline.

    Args:
        take: Reads its rows; None: they are batches.
    """

    rows: "DataFrame"
    take: Take | None = None


def stepped_through(
    entries: Sequence[Entry],
    spread: Spread,
    *,
    shows: Shows = (),
    reports: bool = True,
    observed: Sequence[Observed] | None = None,
) -> "DataFrame":
    """What leaves a pipeline, from what enters it: one query.

    Args:
        shows: See `output_stage`, and so for ``reports``.
        observed: The nodes whose counts Spark's progress is to show.
    """
    layers = spread.layers
    for index in range(layers.depth):
        sent = _sent(entries, spread, index).groupBy("shard")
        work = Layer(spread, index + 1)
        if spread.bounded:
            stepped = sent.applyInArrow(reported_group(at_once(work, ["blob"])), MESSAGE)
        else:
            processor = GroupProcessor(work, copies=may_copy(entries[0].rows.sparkSession))
            stepped = sent.transformWithState(
                Deferred(processor, blobs_of_nodes), MESSAGE, "append", "EventTime"
            )
        entries = [Entry(stepped)]
    tallied = observed is not None
    step = partial(output_stage, layers, shows=shows, reports=reports, tallied=tallied)
    left = _mapped_entries(entries, step, left_schema(shows, tallied=tallied))
    return left if observed is None else observing(left, observed).drop(TALLIES)


def _sent(entries: Sequence[Entry], spread: Spread, layer: int) -> "DataFrame":
    """The batches for the shards of a layer; those of a fanout are combined further."""
    walk = partial(fused_stage, spread, layer)
    if not has_fanout(spread.layers, layer):
        return _mapped_entries(entries, walk, SENT)
    sent = _mapped_entries(entries, walk, SPREAD).repartition(spread.shards, "way")
    return sent.mapInArrow(fanout_stage(spread), SENT)


def _mapped_entries(
    entries: Sequence[Entry], step: Callable[[Take | None], Any], schema: Any
) -> "DataFrame":
    """All entries through a function for ``mapInArrow``."""
    frames = (entry.rows.mapInArrow(reported(step(entry.take)), schema) for entry in entries)
    return reduce(lambda rows, other: rows.unionByName(other), frames)


@attrs.frozen
class Scripted:
    """A pipeline whose sources have scripts.

    Args:
        wanted: Outputs whose elements are wanted although nothing reads them, besides the main
            output of each node.
        kept: The outputs that come to the driver; None: all.
        notes: Whether the inside of groupings is recorded. By default if all outputs are kept.
    """

    ends: Sequence[Node]
    wanted: Sequence[Edge] = ()
    kept: Container[Edge] | None = None
    notes: bool = attrs.field()

    @notes.default
    def _keeps_all(self) -> bool:
        return self.kept is None

    @property
    def edges(self) -> list[Edge]:
        """The outputs of its graph: those that are read, the main ones, and the wanted ones."""
        nodes = in_order(self.ends)
        read = [edge for node in nodes for edge in node.sources]
        return list(dict.fromkeys([*map(Edge, nodes), *read, *self.wanted]))

    @property
    def shown(self) -> list[Edge]:
        """The outputs whose elements come to the driver."""
        return [edge for edge in self.edges if self.kept is None or edge in self.kept]


def run_pipelines_on_spark(
    pipelines: Sequence[Scripted], spark: "SparkSession", *, shards: int = 2, buckets: int = 1
) -> list[PipelineRun]:
    """Play pipelines side by side on one real streaming query, a step in each micro-batch.

    If all of them come to an end by themselves, they run as one batch job.

    The outputs are those of `beamlike.hosts.in_process.run_pipeline`, and so is the record of the
    inside of groupings, which the workers write.

    Raises:
        TransformError: A function of the user's raised.
        PipelineError: An element reached a node that cannot take it.
        UnsupportedError: A source has an origin that is not a script.
    """
    ends = [node for pipeline in pipelines for node in pipeline.ends]
    wanted = [edge for pipeline in pipelines for edge in pipeline.shown]
    notes = any(pipeline.notes for pipeline in pipelines)
    layers = Layers.of(ends, wanted)
    spread, answers = Spread(layers, shards, buckets, notes), Answers(layers, pipelines)
    if all(source.bounded for source in layers.sources):
        mails = [*mails_of(layers, *answers.sources)]
        with as_raised():
            for answer in answers_of_job(spark, spread, mails):
                answers.add(answer)
        return answers.runs()
    with _playing(spark, spread) as play:
        for mail in mails_of(layers, *answers.sources):
            answers.add(play(mail))
    return answers.runs()


def replay_on_spark(
    stages: Sequence[tuple[Stage, CombineFn | None, Script]],
    spark: "SparkSession | None" = None,
    *,
    on_error: OnFailure = OnFailure.FAIL,
) -> list[Run]:
    """Run many scripts side by side in one streaming query, step n of all in one micro-batch.

    Returns what `run_in_memory` returns for each, without trace: see `played`.

    Args:
        spark: The session; None takes the active one or starts one.
    """

    def run(nodes: Sequence[ScriptedNode]) -> list[PipelineRun]:
        pipelines = [Scripted([node], kept=frozenset(), notes=True) for node in nodes]
        session = spark or local_session("beamlike replay")
        return run_pipelines_on_spark(pipelines, session, shards=1)

    return played(stages, run, on_error)


class Answers:
    """The outputs of several pipelines, from the mail that leaves their common query."""

    def __init__(self, layers: Layers, pipelines: Sequence[Scripted]) -> None:
        self._layers, self._steps = layers, 0
        self._graphs = [(RunRecord(), in_order(run.ends), run.kept) for run in pipelines]
        self.sources = [
            [node for node in nodes if isinstance(node, ReadNode)] for _, nodes, _ in self._graphs
        ]
        key_of_blob = partial(key_of, coders=layers.wire.coders)
        self._record_of = dict[int, RunRecord]()
        self._inside = dict[int, Inside]()
        for pipeline, (record, nodes, _) in zip(pipelines, self._graphs, strict=True):
            for node in nodes:
                number = layers.number[node]
                self._record_of[number] = record
                if isinstance(node, NOTED) and pipeline.notes:
                    worker = worker_of(node)
                    assert isinstance(worker, StatefulWorker), "a node that is noted has a machine"
                    inside = Inside(key_of_blob, layers.wire, worker.machine)
                    self._inside[number] = record.inside[node] = inside

    def add(self, answer: Mail) -> None:
        """Add the output of one step."""
        layers, step = self._layers, self._steps
        report = answer.at_the_end(layers.wire)
        for edge_number, parcel in answer.bundles.items():
            edge, bundle = layers.edges[edge_number], parcel.unpacked(layers.wire)
            self._record_of[layers.number[edge.node]].came[edge].add(step, bundle)
        for record, nodes, _ in self._graphs:
            record.note(report, {layers.number[node]: node.label for node in nodes}, step)
        traces_of: dict[int, list[ShardTrace]] = defaultdict(list)
        for trace in report.traces:
            traces_of[trace.node].append(trace)
        for node, traces in traces_of.items():
            if node in self._inside:
                self._inside[node].add(step, traces)
        self._steps += 1

    def runs(self) -> list[PipelineRun]:
        """The run of each pipeline, in their order."""
        return [record.run(nodes, kept) for record, nodes, kept in self._graphs]


@contextmanager
def _playing(spark: "SparkSession", spread: Spread) -> Iterator[Callable[[Mail], Mail]]:
    """A query that runs during the block. The function takes mail in, and returns the output."""
    home = scratch_folder("pipeline")
    inbox, table = home / "in", f"beamlike_pipeline_{home.name[-8:]}"
    inbox.mkdir()
    rows = spark.readStream.schema(MESSAGE).option("maxFilesPerTrigger", 1).parquet(str(inbox))
    left = stepped_through([Entry(rows)], spread)
    writer = left.writeStream.format("memory")
    writer = writer.queryName(table).option("checkpointLocation", str(home / "checkpoint"))

    def start() -> Any:
        # This sink cannot go on from a checkpoint. A query is started again before it has any rows.
        shutil.rmtree(home / "checkpoint", ignore_errors=True)
        partitions = spark.conf.get(PARTITIONS)
        spark.conf.set(PARTITIONS, str(spread.shards))
        try:
            with without_snapshots(spark):
                return writer.start()
        finally:
            spark.conf.set(PARTITIONS, str(partitions))

    query, seen, numbers = start(), 0, count()

    def play(mail: Mail) -> Mail:
        nonlocal query, seen
        hidden = inbox / f".{next(numbers):08}.parquet"
        pq.write_table(pa.table({"blob": pa.array(spread.layers.sent(mail), pa.binary())}), hidden)
        hidden.rename(inbox / hidden.name[1:])
        with as_raised():
            if seen:
                query.processAllAvailable()
            else:
                query = all_processed(query, start)
        blobs = [bytes(row.blob) for row in spark.table(table).collect()]
        new, seen = blobs[seen:], len(blobs)
        return Mail.opened(new)

    try:
        yield play
    finally:
        query.stop()
        spark.catalog.dropTempView(table)
        shutil.rmtree(home, ignore_errors=True)

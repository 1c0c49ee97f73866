"""Between two layers as functions for ``mapInArrow``; see `beamlike.runtime.graph.between`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.graph.element_rows import Shown
from beamlike.hosts.spark.workers import task_number, tune_worker_process
from beamlike.machine.input_clocks import InputUpdate, SourceProgress
from beamlike.model.graph import GroupNode
from beamlike.runtime.graph.between import Between, merged
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail, Report
from beamlike.runtime.packing import Batches
from beamlike.runtime.tally import TALLIES, TALLIES_TYPE, tallies_array

MESSAGE: Final = "blob binary"
"""What comes to a layer: batches of `beamlike.runtime.envelope`."""
SENT: Final = f"shard int, {MESSAGE}"
"""The Spark schema of batches for the shards of a layer."""
SPREAD: Final = f"{SENT}, way int"
"""`SENT`, and combined elements without a shard, by the tasks that combine them further."""
Shows = Sequence[tuple[int, Shown]]
"""Numbers of wanted edges, and what makes rows of their elements."""


Take = Callable[[Batches], Mail]
"""Makes mail of the rows that a task gets."""


def mail_in(batches: Batches) -> Mail:
    """The mail in batches, which are in a column ``blob``."""
    blobs = (blob for batch in batches for blob in batch.column("blob").to_pylist())
    return Mail.opened(blobs, nodes=())


def sender(layers: Layers, take: Take) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes batches of the rows that it gets."""

    def send(batches: Batches) -> Batches:
        with paused_gc():
            blobs = layers.sent(take(batches))
        yield pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})

    return send


def fused_stage(
    spread: Spread, layer: int, take: Take | None = None
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes the output of a layer to the next one.

    Output: `SENT`, or `SPREAD` where some grouping of the next layer has a fanout.
    """
    ids, taking = spread.ids, take or mail_in
    spreads = has_fanout(spread.layers, layer)

    def run(batches: Batches) -> Batches:
        tune_worker_process()
        with paused_gc(), Between.over(spread.layers, layer) as stage:
            sent = stage.sent(taking(batches), task_number(), spread)
        columns = [
            pa.array([None if item.spread else ids[item.position] for item in sent], pa.int32()),
            pa.array([item.blob for item in sent], pa.binary()),
        ]
        if spreads:
            columns.append(pa.array([ids[item.position] for item in sent], pa.int32()))
        names = ["shard", "blob", "way"]
        yield pa.RecordBatch.from_arrays(columns, names[: len(columns)])

    return run


def has_fanout(layers: Layers, layer: int) -> bool:
    """Whether a grouping of the next layer has a fanout."""
    nodes = (layers.nodes[number] for number in layers.stateful_nodes(layer + 1))
    return any(isinstance(node, GroupNode) and node.fanout is not None for node in nodes)


def fanout_stage(spread: Spread) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that combines further the elements that a fanout spreads.

    Input: `SPREAD`. Batches for a shard only pass through. Output: `SENT`.
    """
    ids = spread.ids

    def run(batches: Batches) -> Batches:
        tune_worker_process()
        blobs: list[bytes] = []
        for batch in batches:
            to_shard = batch.column("shard").is_valid()
            blobs += batch.filter(pc.invert(to_shard)).column("blob").to_pylist()
            yield batch.filter(to_shard).select(["shard", "blob"])
        if not blobs:
            return
        with paused_gc():
            sent = merged(spread, Mail.opened(blobs))
        columns = [
            pa.array([ids[item.position] for item in sent], pa.int32()),
            pa.array([item.blob for item in sent], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["shard", "blob"])

    return run


def rows_column(number: int) -> str:
    """The column of lists of rows of one of several edges; null where a row says something else."""
    return f"rows_{number}"


def left_schema(shows: Shows, *, tallied: bool) -> T.StructType:
    """The columns of what leaves a pipeline: see `output_stage`."""
    rows = [
        T.StructField(rows_column(index), shown.dtype) for index, (_, shown) in enumerate(shows)
    ]
    tallies: Any = T.DataType.fromDDL(TALLIES_TYPE) if tallied else ()
    return T.StructType([T.StructField("blob", T.BinaryType()), *rows, *tallies])


def output_stage(
    layers: Layers,
    take: Take | None = None,
    *,
    shows: Shows = (),
    reports: bool = True,
    tallied: bool = False,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer.

    Output: `left_schema`. In each row all but one of the columns are null, or all but two: a list
    of rows of an edge; a batch with something else; what nodes count.

    Args:
        shows: The edges whose elements are wanted as rows.
        reports: Whether anything else is wanted, but for what nodes count.
        tallied: Whether what nodes count has a column of its own.
    """
    taking = take or mail_in
    types: dict[str, pa.DataType] = {"blob": pa.binary()}
    types |= {rows_column(index): shown.lists for index, (_, shown) in enumerate(shows)}
    types |= {TALLIES: tallies_array(None, 0).type} if tallied else {}

    def of_columns(columns: dict[str, pa.Array]) -> pa.RecordBatch:
        size = len(next(iter(columns.values())))
        full = {name: pa.nulls(size, dtype) for name, dtype in types.items()}
        return pa.RecordBatch.from_pydict(full | columns)

    def record_batches(batches: Batches) -> Batches:
        with Between.over(layers, layers.depth) as stage:
            left = stage.passed_on(taking(batches))
            for index, (edge, shown) in enumerate(shows):
                wanted = left.bundles.get(edge)
                for part in () if wanted is None else wanted.unpacked(layers.wire).parts():
                    yield of_columns({rows_column(index): shown.listed(part.values)})
            for edge, _ in shows:
                left.bundles.pop(edge, None)
            report = left.at_the_end(layers.wire)
            tallies, report.tallies = report.tallies, {}
            blobs: list[bytes | None] = [*(_rest(layers, left, report) if reports else ())]
        if tallied and tallies and not blobs:
            blobs.append(None)
        if blobs:
            columns = {"blob": pa.array(blobs, pa.binary())}
            if tallied:
                columns[TALLIES] = tallies_array(tallies, len(blobs))
            yield of_columns(columns)

    def finish(batches: Batches) -> Batches:
        tune_worker_process()
        # What the generator held is free before garbage is looked for again, in all of it.
        with paused_gc():
            yield from record_batches(batches)

    return finish


def _rest(layers: Layers, left: Mail, report: Report) -> Iterator[bytes]:
    """What leaves a pipeline besides rows, as batches."""
    end_of_time = layers.resolution.end_of_time
    ended = [update for update in left.reached if _instant_of(update) >= end_of_time]
    rest = Mail(bundles=left.bundles, reached=ended, report=report)
    yield from layers.handed_on(rest)
    if ended:
        yield from rest.news(0)


def _instant_of(update: InputUpdate) -> int:
    """The watermark of an update, or the greatest event time of a source (ticks)."""
    return update.greatest if isinstance(update, SourceProgress) else update.watermark

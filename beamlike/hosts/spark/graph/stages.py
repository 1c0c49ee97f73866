"""Between two layers as functions for ``mapInArrow``; see `beamlike.runtime.graph.between`."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as T

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.workers import task_number, tune_worker_process
from beamlike.machine.input_clocks import InputUpdate, SourceProgress
from beamlike.model.graph import GroupNode
from beamlike.runtime.graph.between import Between, merged
from beamlike.runtime.graph.layers import Layers, Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.packing import Batches
from beamlike.runtime.store.blobs import stream_of
from beamlike.runtime.tally import TALLIES, tallies_array

MESSAGE: Final = "blob binary"
"""What comes to a layer: batches of `beamlike.runtime.envelope`."""
SHOWN: Final = "shown"
LEFT: Final = f"{SHOWN} int, {MESSAGE}"
"""What leaves a pipeline."""
SENT: Final = f"shard int, {MESSAGE}"
"""What goes to the shards of a layer."""
SPREAD: Final = f"{SENT}, way int"
"""`SENT`, and combined elements without a shard, by the tasks that combine them further."""
Shows = Sequence[tuple[int, Callable[[Sequence[Any]], pa.Table]]]
"""Numbers of wanted edges, and what makes rows of their elements."""


Take = Callable[[Batches], Mail]
"""Makes mail of what comes to a task."""


def mail_in(batches: Batches) -> Mail:
    """The mail in batches, which are in a column ``blob``."""
    blobs = (blob for batch in batches for blob in batch.column("blob").to_pylist())
    return Mail.opened(blobs, nodes=())


def sender(layers: Layers, take: Take) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that makes batches of what comes."""

    def send(batches: Batches) -> Batches:
        with paused_gc():
            blobs = layers.sent(take(batches))
        yield pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})

    return send


def fused_stage(
    spread: Spread, layer: int, take: Take | None = None
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes what comes out of a layer to the next one.

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
    """The function for ``mapInArrow`` that combines further what is spread by a fanout.

    Input: `SPREAD`. What is on its way to a shard passes by. Output: `SENT`.
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


@attrs.frozen
class RowsOfEdge:
    """What makes rows of the elements of an edge, and columns of lists of these rows.

    Args:
        schema: The column of these lists, `ROWS`.
    """

    edge: int
    table: Callable[[Sequence[Any]], pa.Table]
    lists: pa.ListType
    schema: T.StructType

    def listed(self, elements: Sequence[Any]) -> pa.Array:
        """Elements as lists of rows, which Spark takes apart faster than another worker does."""
        table = self.table(elements)
        columns = [column.combine_chunks() for column in table.columns]
        rows = pa.StructArray.from_arrays(columns, fields=[*self.lists.value_type])
        size = max(1, min(_MOST_ROWS, _MOST_BYTES * len(rows) // max(1, table.nbytes)))
        offsets = [*range(0, len(rows), size), len(rows)]
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rows, type=self.lists)


ROWS: Final = "rows"
"""The column of lists of rows, null where a row says something else."""
_MOST_ROWS: Final = 10_000
_MOST_BYTES: Final = 8 * 1024 * 1024
"""As many rows, and bytes, a list has at most."""


def finished_by(record_batches: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that runs a generator without garbage collection.

    What the generator held is free before the collection is enabled again, which would otherwise
    look at all of it.
    """

    def finish(batches: Batches) -> Batches:
        tune_worker_process()
        with paused_gc():
            yield from record_batches(batches)

    return finish


def rows_stage(
    layers: Layers, rows: RowsOfEdge, take: Take | None = None, *, tallied: bool = False
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer, where the rows of one edge are wanted
    and nothing else.

    Output: `ROWS`; and with ``tallied`` what nodes count, beside a null in a row of its own.
    """
    taking = take or mail_in

    def record_batches(batches: Batches) -> Batches:
        with Between.over(layers, layers.depth) as stage:
            left = stage.passed_on(taking(batches))
            wanted = left.bundles.get(rows.edge)
            for part in () if wanted is None else wanted.unpacked(layers.wire).parts():
                columns = {ROWS: rows.listed(part.values)}
                if tallied:
                    columns[TALLIES] = tallies_array(None, len(columns[ROWS]))
                yield pa.RecordBatch.from_pydict(columns)
            tallies = left.at_the_end(layers.wire).tallies
            if tallied and tallies:
                columns = {ROWS: pa.nulls(1, rows.lists), TALLIES: tallies_array(tallies)}
                yield pa.RecordBatch.from_pydict(columns)

    return finished_by(record_batches)


def output_stage(
    layers: Layers,
    take: Take | None = None,
    *,
    shows: Shows = (),
    tallied: bool = False,
) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` after the last layer, with what is wanted.

    Output: `LEFT`. A blob is an Arrow table of rows, and ``shown`` says of which of ``shows``; or
    it is a batch with something else.

    Args:
        tallied: Whether what its nodes count stands beside the blobs, in a column of its own; a
            row with nothing else in it has no blob.
    """
    taking = take or mail_in

    def record_batches(batches: Batches) -> Batches:
        with Between.over(layers, layers.depth) as stage:
            left = stage.passed_on(taking(batches))
            rows: list[tuple[int | None, bytes | None]] = []
            for number, (edge, show) in enumerate(shows):
                if edge in left.bundles:
                    elements = left.bundles[edge].unpacked(layers.wire)
                    rows += ((number, stream_of(show(part.values))) for part in elements.parts())
            for edge, _ in shows:
                left.bundles.pop(edge, None)
            report, end_of_time = left.at_the_end(layers.wire), layers.resolution.end_of_time
            tallies, report.tallies = report.tallies, {}
            ended = [update for update in left.reached if _instant_of(update) >= end_of_time]
            left = Mail(bundles=left.bundles, reached=ended, report=report)
            rows += ((None, blob) for blob in layers.handed_on(left))
            if ended:
                rows += ((None, blob) for blob in left.news(0))
        if tallied and tallies and not rows:
            rows.append((None, None))
        if rows:
            columns = {
                SHOWN: pa.array([number for number, _ in rows], pa.int32()),
                "blob": pa.array([blob for _, blob in rows], pa.binary()),
            }
            if tallied:
                columns[TALLIES] = tallies_array(tallies, len(rows))
            yield pa.RecordBatch.from_pydict(columns)

    return finished_by(record_batches)


def _instant_of(update: InputUpdate) -> int:
    """The watermark, or the greatest event time of a source (ms)."""
    return update.greatest if isinstance(update, SourceProgress) else update.watermark

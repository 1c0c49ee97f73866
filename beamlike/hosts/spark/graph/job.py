"""Scripts that end, played as one batch job.

A streaming query takes seconds to start, and about a second for each micro-batch. Scripts that end
by themselves need no such query: each task takes its part through all steps, with its state in
memory. A step does what a micro-batch would do, so the output is the same.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from beamlike.hosts.garbage import paused_gc
from beamlike.hosts.spark.graph.stages import (
    MESSAGE,
    fanout_stage,
    fused_stage,
    has_fanout,
    output_stage,
)
from beamlike.hosts.spark.worker_errors import reported, reported_group
from beamlike.runtime.graph.layer_work import Layer
from beamlike.runtime.graph.layers import Spread
from beamlike.runtime.graph.mail import Mail
from beamlike.runtime.packing import Batches
from beamlike.runtime.store.stores import DictStore
from beamlike.runtime.work import HostReport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STEP: Final = "step int"
_STEPPED: Final = f"{_STEP}, {MESSAGE}"


def answers_of_job(spark: "SparkSession", spread: Spread, mails: Sequence[Mail]) -> Iterator[Mail]:
    """The output of a pipeline in each step, from its input in each step."""
    layers = spread.layers
    sent = [(step, blob) for step, mail in enumerate(mails) for blob in layers.sent(mail)]
    rows = spark.createDataFrame(sent, _STEPPED).coalesce(1)
    for index in range(layers.depth):
        walk = _by_step(_to_shards(spread, index))
        groups = rows.mapInArrow(reported(walk), f"{_STEP}, shard int, {MESSAGE}").groupBy("shard")
        work = Layer(spread, index + 1)
        rows = groups.applyInArrow(reported_group(_steps_of_shard(work)), _STEPPED)
    left = rows.mapInArrow(reported(_by_step(output_stage(layers))), _STEPPED)
    of_step: dict[int, list[bytes]] = defaultdict(list)
    for row in left.collect():
        of_step[row.step].append(bytes(row.blob))
    return (Mail.opened(of_step[step]) for step in range(len(mails)))


def _to_shards(spread: Spread, layer: int) -> Callable[[Batches], Batches]:
    """The function for ``mapInArrow`` that takes the output of a layer to the next one."""
    fused = fused_stage(spread, layer)
    if not has_fanout(spread.layers, layer):
        return fused
    combine_further = fanout_stage(spread)
    # All of a step is in one task: nothing is spread any further.
    return lambda batches: combine_further(fused(batches))


def _blobs(tables: Batches) -> dict[int, list[bytes]]:
    """The batches of each step, in the order of the steps."""
    of_step: dict[int, list[bytes]] = defaultdict(list)
    for table in tables:
        steps, blobs = (table.column(name).to_pylist() for name in ("step", "blob"))
        for step, blob in zip(steps, blobs, strict=True):
            of_step[step].append(blob)
    return dict(sorted(of_step.items()))


def _by_step(run: Callable[[Batches], Batches]) -> Callable[[Batches], Batches]:
    """Makes of a function for ``mapInArrow`` that takes one step one that takes all steps."""

    def walk(batches: Batches) -> Batches:
        for step, blobs in _blobs(batches).items():
            batch = pa.RecordBatch.from_pydict({"blob": pa.array(blobs, pa.binary())})
            for output in run(iter([batch])):
                number = pa.array([step] * output.num_rows, pa.int32())
                yield pa.RecordBatch.from_arrays(
                    [number, *output.columns], ["step", *output.schema.names]
                )

    return walk


def _steps_of_shard(work: Layer) -> Callable[[pa.Table], pa.Table]:
    """The function for ``applyInArrow`` that takes a shard from the beginning to the end."""

    def walk(group: pa.Table) -> pa.Table:
        number = group.column("shard")[0].as_py()
        stores = defaultdict[int, DictStore](DictStore)
        try:
            # Without data it is the beginning of processing time, as on the other hosts.
            with paused_gc():
                left = [
                    (step, blob)
                    for step, blobs in _blobs(group.to_batches()).items()
                    for (blob,) in work.step(number, stores.__getitem__, blobs, HostReport([], 0))
                ]
        finally:
            work.close()
        steps, blobs = zip(*left, strict=True)
        return pa.table({"step": pa.array(steps, pa.int32()), "blob": pa.array(blobs, pa.binary())})

    return walk

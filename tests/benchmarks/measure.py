"""Runs a query over files: once for its results, and then for its times."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from attrs import field, frozen
from pyspark.sql import DataFrame, SparkSession

from tests.benchmarks.data import FILES_OF_A_BATCH, SCHEMA, FileCache
from tests.benchmarks.workers import CpuSeconds, WorkerMemory, cpu_seconds
from tests.benchmarks.works import Contender

_EXAMPLES = 5


class Unequal(Exception):
    """Two contenders disagree, so there is no point in their times."""


@frozen
class Run:
    """What one run of one contender took."""

    times_ms: dict[int, list[int]] = field(factory=dict)
    """By events in the micro-batch, the ``triggerExecution`` of those that are measured."""
    worker_bytes: int | None = None
    """The peak of the largest Python worker; None if there was none."""
    cpu: CpuSeconds | None = None
    """Of all micro-batches together."""


def timed_run(spark: SparkSession, files: FileCache, contender: Contender) -> Run:
    """Run all micro-batches into a sink that drops the rows."""
    shape = contender.shape
    with files.folder() as home, WorkerMemory() as memory:
        before = cpu_seconds()
        folder = files.of(shape).timed
        results = contender.query(_source(spark, folder))
        writer = results.writeStream.format("noop").option("checkpointLocation", str(home))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        cpu = cpu_seconds() - before
        batches = [progress for progress in query.recentProgress if progress["numInputRows"]]
    found = tuple(_events(batch, folder) for batch in batches)
    if found != shape.sizes:
        raise RuntimeError(f"{contender.name}: micro-batches of {found}, wanted {shape.sizes}")
    times: dict[int, list[int]] = {}
    for at in shape.measured:
        took = batches[at]["durationMs"]["triggerExecution"]
        times.setdefault(shape.sizes[at], []).append(took)
    # Spark's own windows use no Python; the workers there are waiting for a run that does.
    return Run(times, None if contender.engine == "native" else memory.peak_bytes, cpu)


def _events(batch: Any, folder: Path) -> int:
    """How many events a micro-batch had. Other sources may have had rows, too."""
    sources = batch["sources"]
    # A query that reads the folder for each side of a join takes the same rows twice.
    rows = (source["numInputRows"] for source in sources if str(folder) in source["description"])
    return max(rows, default=0)


def check(spark: SparkSession, files: FileCache, one: Contender, other: Contender) -> int:
    """Run both, whose results must be equal, and count these."""
    return refuse_unequal(
        (one.name, results(spark, files, one)), (other.name, results(spark, files, other))
    )


def results(spark: SparkSession, files: FileCache, contender: Contender) -> pa.Table:
    """What is to be compared of all that comes out, once every window is closed."""
    with files.folder() as home:
        panes = contender.query(_source(spark, files.of(contender.shape).checked))
        writer = panes.writeStream.format("parquet").option("path", str(home / "out"))
        writer = writer.option("checkpointLocation", str(home / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        return contender.comparable(spark.read.parquet(str(home / "out"))).toArrow()


def refuse_unequal(one: tuple[str, pa.Table], other: tuple[str, pa.Table]) -> int:
    """The number of results, when two named contenders have the same ones."""
    (name, found), (other_name, wanted) = one, other
    if found.column_names != wanted.column_names:
        raise Unequal(f"{name} has {found.column_names}, {other_name} {wanted.column_names}")
    wanted = wanted.cast(found.schema)
    by_all = [(column, "ascending") for column in found.column_names]
    if found.num_rows == 0 and wanted.num_rows == 0:
        raise Unequal(f"neither {name} nor {other_name} has any result")
    if found.sort_by(by_all).equals(wanted.sort_by(by_all)):
        return int(found.num_rows)
    left, right = (
        Counter(zip(*table.to_pydict().values(), strict=True)) for table in (found, wanted)
    )
    lines = [f"{name} has {found.num_rows:,} results and {other_name} {wanted.num_rows:,}"]
    for owner, only in ((name, left - right), (other_name, right - left)):
        lines.append(f"only {owner}: {only.total():,}")
        lines += [f"  {row}" for row in list(only)[:_EXAMPLES]]
    raise Unequal("\n".join(lines))


def _source(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", FILES_OF_A_BATCH)
    return reader.parquet(str(folder))

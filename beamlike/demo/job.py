"""The streaming query of the demo, and where its panes go."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import beamlike as bl
from beamlike.demo.flights import SCHEDULED
from beamlike.hosts.failed_starts import advising
from beamlike.inspect.queries.progress import spark_instant_ms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WATERMARK_DELAY: Final = "30 minutes"
ALLOWED_LATENESS: Final = "6 hours"
_BATCH: Final = "batch"
_POLL_SECONDS: Final = 1


def flight_panes(flights: "DataFrame") -> "DataFrame":
    """Departures, mean delay and aircraft for each carrier and hour, as panes and drops.

    An early pane comes with every fifth departure. It counts and does not look at the clock,
    so that every run gives the same panes, however fast the machine is.
    """
    return bl.windowed(
        flights,
        key=["carrier"],
        timestamp=SCHEDULED,
        watermark=WATERMARK_DELAY,
        window=bl.FixedWindows("1 hour"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(5), late=bl.AfterCount(1)),
        accumulation="accumulating",
        allowed_lateness=ALLOWED_LATENESS,
        aggregate={
            "departures": bl.count(),
            "delay": bl.mean("dep_delay"),
            "tails": bl.collect("tailnum"),
        },
        output="all",
        shards=2,
    )


@attrs.frozen
class FlightBatch:
    """One micro-batch: rows read, and the watermark (epoch ms) that it brought, if any."""

    number: int
    rows: int
    watermark_ms: int | None


class ResultFolders:
    """The folder of the result: ``panes/`` and ``dropped/``, a Parquet file for each batch.

    A file is named for its batch and appears whole or not at all, so a batch that Spark
    repeats after a failure writes the same files again and adds nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.panes_folder = folder / "panes"
        self.dropped_folder = folder / "dropped"
        self.counted: dict[int, Counter[str]] = {}
        """Of each micro-batch that was written, its panes by timing, and ``DROPPED``."""

    def prepare(self) -> None:
        """Make the folders, and remove the batches of an earlier run. Touches nothing else."""
        for folder in (self.panes_folder, self.dropped_folder):
            folder.mkdir(parents=True, exist_ok=True)
            for old in _batches(folder):
                old.unlink()

    def save(self, everything: "DataFrame", batch: int) -> None:
        """Write one micro-batch; the function for ``foreachBatch``."""
        # Few rows per batch come out of a grouping, and asking twice would step it twice:
        # take both kinds in one pass.
        table = everything.toArrow()
        is_pane = pc.is_null(table.column("dropped"))
        panes = table.filter(is_pane).drop_columns(["dropped"])
        aggregates = ["departures", "delay", "tails", "timestamp", "pane"]
        dropped = table.filter(pc.invert(is_pane)).drop_columns(aggregates)
        self._write(panes, self.panes_folder, batch)
        self._write(dropped, self.dropped_folder, batch)
        timings = pc.struct_field(panes.column("pane"), "timing").to_pylist()
        self.counted[batch] = Counter(timings, DROPPED=dropped.num_rows)

    def panes(self) -> pa.Table:
        """All panes written, with the column ``batch``."""
        return pq.read_table(_batches(self.panes_folder))

    def dropped(self) -> pa.Table:
        """All dropped rows written, with the column ``batch``."""
        return pq.read_table(_batches(self.dropped_folder))

    def _write(self, rows: pa.Table, folder: Path, batch: int) -> None:
        numbers = pa.array([batch] * rows.num_rows, pa.int64())
        path = folder / f"batch-{batch:05}.parquet"
        partial = path.with_suffix(".partial")
        pq.write_table(rows.append_column(_BATCH, numbers), partial)
        os.replace(partial, path)


def _batches(folder: Path) -> list[Path]:
    return sorted(folder.glob("batch-*.parquet"))


def run_query(
    spark: "SparkSession",
    arrivals: Path,
    checkpoint: Path,
    output: ResultFolders,
    report: Callable[[Sequence[Counter[str]], int | None], None],
) -> list[FlightBatch]:
    """Stream all files through the windows, one file a micro-batch, until they are done.

    Their folder is one that `write_arrivals` filled, that of the checkpoint is empty, those of the
    output are prepared. ``report`` is called every second with what the micro-batches so far
    have counted, and with Spark's watermark (epoch ms; None while it knows none). Returns the
    micro-batches in order.
    """
    # The history of the watermark is drawn later: keep the progress of every batch.
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "100000")
    flights = (
        spark.readStream.schema(spark.read.parquet(str(arrivals)).schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(arrivals))
    )
    query = (
        flight_panes(flights)
        .writeStream.foreachBatch(output.save)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .queryName("beamlike demo")
        .start()
    )
    try:
        with advising():
            while not query.awaitTermination(_POLL_SECONDS):
                last = query.lastProgress
                watermark = _micro_batch(last).watermark_ms if last else None
                report(list(output.counted.values()), watermark)
        batches = [_micro_batch(progress) for progress in query.recentProgress]
    finally:
        query.stop()
    report(list(output.counted.values()), batches[-1].watermark_ms if batches else None)
    return batches


def _micro_batch(progress: Any) -> FlightBatch:
    """One of Spark's progress reports."""
    watermark = spark_instant_ms(progress["eventTime"].get("watermark"))
    return FlightBatch(progress["batchId"], progress["numInputRows"], watermark)

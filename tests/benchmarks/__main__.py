"""How fast is the Spark host? ``python -m tests.benchmarks`` from the top of the checkout.

Sessions of two minutes, count and sum, default trigger, over the same Parquet files:

* Spark's own ``session_window``;
* a plain ``transformWithState`` processor that keeps each key's sessions itself;
* beamlike.

Each contender is a fresh query over all files, and the contenders take turns, so that the
machine's moods hit all of them. The figure is the median time of a micro-batch after the
second; results are checked to be equal before any time is printed.
"""

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.hosts.spark.session import local_session
from tests.benchmarks.data import BATCH_SPAN, SCHEMA, write_batches
from tests.benchmarks.perkey import per_key_sessions

GAP = "2 minutes"
DELAY = "1 minute"


def native(df: DataFrame) -> DataFrame:
    grouped = df.withWatermark("ts", DELAY).groupBy(F.session_window("ts", GAP).alias("w"), "key")
    counted = grouped.agg(F.count("*").alias("n"), F.sum("v").alias("s"))
    return counted.select("key", "w.start", "w.end", "n", "s")


def beamlike(df: DataFrame) -> DataFrame:
    panes = bl.windowed(
        df,
        key="key",
        timestamp="ts",
        watermark=DELAY,
        window=bl.Sessions(GAP),
        aggregate={"n": bl.count(), "s": bl.sum("v")},
    )
    return panes.select("key", "window.start", "window.end", "n", "s")


CONTENDERS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "native session_window": native,
    "per-key transformWithState": lambda df: per_key_sessions(df.withWatermark("ts", DELAY), GAP),
    "beamlike": beamlike,
}


def run(
    spark: SparkSession, data: Path, make: Callable[[DataFrame], DataFrame]
) -> tuple[list[int], set[Any]]:
    """Batch times after the second (ms), and the sessions that came out."""
    home = Path(tempfile.mkdtemp(prefix="beamlike-bench-"))
    try:
        df = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(data))
        query = (
            make(df)
            .writeStream.format("parquet")
            .option("path", str(home / "out"))
            .option("checkpointLocation", str(home / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        batches = [progress for progress in query.recentProgress if progress["numInputRows"]]
        times = [batch["durationMs"]["triggerExecution"] for batch in batches]
        rows = {tuple(row) for row in spark.read.parquet(str(home / "out")).collect()}
        return times[2:], rows
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="events in a micro-batch")
    parser.add_argument("--keys", type=int, default=50_000, help="distinct keys")
    parser.add_argument("--batches", type=int, default=6, help="micro-batches in a run")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each contender")
    options = parser.parse_args()
    spark = local_session("beamlike benchmarks")
    data = Path(tempfile.mkdtemp(prefix="beamlike-bench-data-"))
    times: dict[str, list[int]] = {name: [] for name in CONTENDERS}
    results: dict[str, set[Any]] = {}
    try:
        write_batches(data, options.batches, options.events, options.keys)
        for _ in range(options.rounds):
            for name, make in CONTENDERS.items():
                took, results[name] = run(spark, data, make)
                times[name] += took
                print(f"  {name}: {took} ms", flush=True)
    finally:
        shutil.rmtree(data, ignore_errors=True)
        spark.stop()
    reference = results["native session_window"]
    for name, found in results.items():
        if found != reference:
            raise SystemExit(
                f"{name} found {len(found)} sessions, native {len(reference)}; they differ in "
                f"{len(found ^ reference)}, so no time is worth printing"
            )
    medians = {name: statistics.median(took) for name, took in times.items()}
    print(
        f"\nsessions, count and sum: {options.events:,} events a batch, {options.keys:,} keys, "
        f"{BATCH_SPAN // 1000} s of event time a batch; {len(reference):,} sessions, all equal"
    )
    print(f"{'':30}{'median batch':>14}{'x per-key':>12}{'x native':>12}")
    for name, median in medians.items():
        per_key = medians["per-key transformWithState"] / median
        to_native = medians["native session_window"] / median
        print(f"{name:30}{median:11.0f} ms{per_key:12.2f}{to_native:12.2f}")


if __name__ == "__main__":
    main()

"""The sessions on Spark, with beamlike and with Spark's own windows.

``python -m tests.benchmarks.peers.spark_jobs NAME EVENTS HOME RUNS GAP_MS DELAY_MS``, see `jobs`.
A session of Spark serves all runs. Each starts with an empty checkpoint.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import beamlike as bl
from beamlike.cli.silence_spark import quiet_session
from tests.benchmarks.data import FILES_OF_A_BATCH, SCHEMA
from tests.benchmarks.peers.jobs import Task, play

Query = Callable[[DataFrame, str, str], DataFrame]


def _beamlike(events: DataFrame, gap: str, delay: str) -> DataFrame:
    return bl.windowed(
        events,
        key="key",
        timestamp="ts",
        watermark=delay,
        window=bl.Sessions(gap),
        aggregate={"n": bl.count(), "s": bl.sum("v")},
    )


def _native(events: DataFrame, gap: str, delay: str) -> DataFrame:
    window = F.session_window("ts", gap).alias("window")
    sessions = events.withWatermark("ts", delay).groupBy(window, "key")
    return sessions.agg(F.count("*").alias("n"), F.sum("v").alias("s"))


def _on_spark(query: Query) -> Callable[[Task], None]:
    def job(task: Task) -> None:
        reader = SparkSession.active().readStream.schema(SCHEMA)
        events = reader.option("maxFilesPerTrigger", FILES_OF_A_BATCH).parquet(str(task.source))
        durations = (f"{ms // 1000} seconds" for ms in (task.gap_ms, task.delay_ms))
        bounds = (F.unix_millis(f"window.{name}").alias(name) for name in ("start", "end"))
        sessions = query(events, *durations).select("key", *bounds, "n", "s")
        writer = sessions.writeStream.format("parquet").option("path", str(task.results))
        writer = writer.option("checkpointLocation", str(task.work)).trigger(availableNow=True)
        writer.start().awaitTermination()

    return job


JOBS: Final[Mapping[str, Callable[[Task], None]]] = {
    "beamlike": _on_spark(_beamlike),
    "native": _on_spark(_native),
}

if __name__ == "__main__":
    with quiet_session("peers"):
        play(JOBS[sys.argv[1]], sys.argv[2:])

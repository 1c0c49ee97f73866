"""What is timed on clusters of several sizes: ``scaling_job.py SOURCE CHECKPOINT GROUPINGS``.

Sessions by key, with a count and a sum, and sums of these in longer and longer windows. The last
line that is printed is how long each micro-batch took (ms).
"""

import json
import sys
from typing import Any

from pyspark.sql import SparkSession

SHARDS = 6


def sums(files: Any, bl: Any, groupings: int) -> Any:
    """The query."""
    rows = bl.stream(files, timestamp="ts", watermark="1 minute", max_ahead=None)
    panes = rows.window(bl.Sessions("2 minutes")).group(
        "key", {"n": bl.count(), "s": bl.sum("v")}, shards=SHARDS
    )
    for number in range(1, groupings):
        wider = panes.window(bl.FixedWindows(f"{5 * number} minutes"))
        panes = wider.group("key", {"n": bl.sum("n"), "s": bl.sum("s")}, shards=SHARDS)
    return panes.rows


def main(source: str, checkpoint: str, groupings: str) -> None:
    spark = SparkSession.builder.getOrCreate()
    import beamlike as bl

    files = spark.readStream.schema("key string, ts timestamp, v long")
    files = files.option("maxFilesPerTrigger", 2)
    rows = sums(files.parquet(source), bl, int(groupings))
    writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    batches = [progress for progress in query.recentProgress if progress["numInputRows"]]
    print(json.dumps([batch["durationMs"]["triggerExecution"] for batch in batches]), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])

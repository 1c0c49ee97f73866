"""The job that a trial submits: ``job.py SOURCE TARGET CHECKPOINT [--remote URL] [--tick]``.

Visits of users, early and on time, with retractions; after them a second grouping, by country and
hour. Each micro-batch lands in a folder with its number, in place of what an attempt before left.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

COLUMNS = "line int, user string, country string, at string"


def hours(files: Any, bl: Any, shards: int = 6) -> Any:
    """The query."""
    lines = bl.stream(files, timestamp="at", watermark="5 minutes", max_ahead=None)
    visits = lines.window(
        bl.Sessions("10 minutes"),
        trigger=bl.AfterWatermark(early=bl.AfterCount(3)),
        accumulation="retracting",
        allowed_lateness="0 s",
    ).group(["user", "country"], {"hits": bl.count()}, name="visits", shards=shards)
    by_hour = visits.window(
        bl.FixedWindows("1 hour"), trigger=bl.AfterWatermark(), accumulation="accumulating"
    )
    wanted = {"visits": bl.count(), "hits": bl.sum("hits"), "longest": bl.max("hits")}
    return by_hour.group("country", wanted, name="hours", shards=shards)


def writing_to(target: str) -> Any:
    """What is called with each micro-batch. It runs elsewhere over Spark Connect."""

    def write(batch: Any, number: int) -> None:
        rows = batch.selectExpr(
            "country",
            "date_format(window.start, 'yyyy-MM-dd HH:mm:ss') AS hour",
            "visits",
            "hits",
            "longest",
        )
        rows.coalesce(1).write.mode("overwrite").json(f"{target}/{number:04}")

    return write


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("checkpoint")
    parser.add_argument("--remote")
    parser.add_argument("--shards", type=int, default=6)
    parser.add_argument("--link", help="the unpacked archive, for the working folder of the driver")
    options = parser.parse_args()
    if options.link and not os.path.lexists("environment"):
        Path("environment").symlink_to(options.link)
    builder: Any = SparkSession.builder
    spark = (builder.remote(options.remote) if options.remote else builder).getOrCreate()
    import beamlike as bl

    files = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1).json(options.source)
    rows = hours(files, bl, options.shards).rows
    writer = rows.writeStream.foreachBatch(writing_to(options.target))
    writer = writer.option("checkpointLocation", options.checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()
    print("job: all is read, with beamlike of", Path(bl.__file__).parent, flush=True)
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())

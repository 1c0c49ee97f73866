"""A query over files that counts the rows of each user and minute."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import beamlike as bl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def counted(spark: "SparkSession", folder: Path, **options: Any) -> "DataFrame":
    """The counts of the rows in JSON files; ``options`` are those of `beamlike.windowed`."""
    return bl.windowed(
        spark.readStream.schema("user string, at timestamp").json(str(folder)),
        key="user",
        timestamp="at",
        watermark="1 minute",
        window=bl.FixedWindows("1 minute"),
        aggregate={"n": bl.count()},
        **options,
    )

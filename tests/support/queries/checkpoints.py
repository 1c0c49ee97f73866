"""Checkpoints that real queries leave behind, to be opened by tests."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]


def leave_checkpoint(
    spark: "SparkSession",
    home: Path,
    schema: str,
    query: "Callable[[DataFrame], DataFrame]",
    *arrivals: Sequence[Row],
) -> Path:
    """Run a query over rows that arrive one after the other, stop it, and return its checkpoint."""
    inbox, checkpoint = home / "in", home / "checkpoint"
    inbox.mkdir(parents=True)
    rows = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(inbox))
    writer = query(rows).writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    running = writer.start()
    try:
        for number, together in enumerate(arrivals):
            hidden = inbox / f".{number:04}.json"
            hidden.write_text("".join(f"{json.dumps(row)}\n" for row in together))
            hidden.rename(inbox / hidden.name[1:])
            running.processAllAvailable()
    finally:
        running.stop()
    return checkpoint

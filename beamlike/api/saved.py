"""Saved state, opened: what the query of a checkpoint remembers."""

from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.saved.report import SavedState

__all__ = ["open_state"]


def open_state(
    spark: "SparkSession", path: str | PathLike[str], *, batch: int | None = None
) -> "SavedState":
    """Open the state of a streaming query, which may be running.

    Nothing is unpickled, and nothing in the checkpoint changes.

    Args:
        spark: A session with the RocksDB state store, as `local_session` has.
        path: The query's ``checkpointLocation``, or the checkpoint of a pipeline.
        batch: After which micro-batch; the last one that was finished if None.

    Returns:
        ``windows`` and ``shards`` are Arrow tables, ``to_dataframe()`` has the windows as a
        DataFrame, ``stage("name").windows`` has the key's columns and the accumulators too. What
        the columns hold is said in `beamlike.hosts.spark.saved`.

    Raises:
        EnvironmentProblem: The session has another state store.
        StateError: There is no checkpoint, none with windows of beamlike, no such batch, or
            another version of beamlike has written it.
    """
    from beamlike.hosts.spark.saved.report import SavedState

    return SavedState.open(spark, fspath(path), batch)

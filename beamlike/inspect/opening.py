"""The state of a query, opened."""

from os import PathLike
from typing import TYPE_CHECKING

from beamlike.api.arguments import folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.inspect.state.report import SavedState


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
        DataFrame, ``stage("name").windows`` has the key's columns and the accumulators too. The
        columns are described in `beamlike.inspect.state`. ``cells`` and ``timers`` are Arrow
        tables of the states and timers of functions.

    Raises:
        EnvironmentProblem: The session has another state store.
        StateError: There is no checkpoint, none with windows of beamlike, no such batch, or
            another version of beamlike has written it.

    For example::

        state = bl.open_state(spark, "/data/checkpoints/orders")
        state.to_dataframe().show()
    """
    from beamlike.inspect.state.report import SavedState

    return SavedState.open(spark, folder("path", path), batch)

"""Saved state: opened, and drained."""

from os import PathLike, fspath
from typing import TYPE_CHECKING

from beamlike.errors import StateError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from beamlike.hosts.spark.saved.report import SavedState

__all__ = ["drain", "open_state"]


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
        columns are described in `beamlike.hosts.spark.saved`. ``cells`` and ``timers`` are Arrow
        tables of the states and timers of functions.

    Raises:
        EnvironmentProblem: The session has another state store.
        StateError: There is no checkpoint, none with windows of beamlike, no such batch, or
            another version of beamlike has written it.

    For example::

        state = bl.open_state(spark, "/data/checkpoints/orders")
        state.to_dataframe().show()
    """
    from beamlike.hosts.spark.saved.report import SavedState

    return SavedState.open(spark, _folder("path", path), batch)


def drain(writer: "DataStreamWriter", checkpoint: str | PathLike[str]) -> None:
    """Bring all windows of a query to their end, and stop.

    First what has arrived is read, as usual. Then, in a micro-batch of its own that reads
    nothing, the watermark goes to the end of time: each open window emits its last pane, on time if
    its end was still ahead and late if it was not, through the query's own sink. Nothing is open
    after that. An interrupted drain continues when it is called again; a drained query stays as it
    is.

    What arrives after the drain is not read. If the query is started once more, it is late for
    every window; read it with another query, with a checkpoint of its own.

    A pipeline is drained by ``drain()`` of what ``run()`` returned.

    Args:
        writer: What starts the query, as ``panes.writeStream.foreachBatch(save)``, with the frame
            that it has had. Its trigger and ``checkpointLocation`` are set here. The query itself
            has to be stopped.
        checkpoint: The query's ``checkpointLocation``.

    Raises:
        StateError: There is no checkpoint, it is that of a pipeline, or of a version of Spark
            that keeps its offsets otherwise; or ``writer`` is none.
        StreamingQueryException: The query failed; the message has the cause.

    Source: Dataflow's drain.

    For example::

        query.stop()
        bl.drain(panes.writeStream.foreachBatch(save), "/data/checkpoints/orders")
    """
    from beamlike.hosts.spark.drain import drain as drain_query

    drain_query(writer, _folder("checkpoint", checkpoint))


def _folder(argument: str, given: str | PathLike[str]) -> str:
    if not isinstance(given, str | PathLike):
        raise StateError(f"{argument} must be the folder of a query's checkpoint, got {given!r}")
    return fspath(given)

"""A query brought to its end, and a stopped one with another number of partitions."""

from os import PathLike
from typing import TYPE_CHECKING

from beamlike.api.arguments import counted, folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter


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

    drain_query(writer, folder("checkpoint", checkpoint))


def repartition(
    spark: "SparkSession",
    checkpoint: str | PathLike[str],
    partitions: int,
    *,
    output: str | PathLike[str] | None = None,
) -> int:
    """Spread the saved state of a stopped query over another number of partitions.

    Spark keeps ``spark.sql.shuffle.partitions`` in the checkpoint, and takes no other from then on.
    This changes it there. The query goes on with the same panes and indices; its ``shards`` stay,
    so more partitions than shards have nothing to do.

    Spark writes a micro-batch of its own into the checkpoint, which reads no rows and goes to no
    sink. ``foreachBatch`` does not see its number. Spark's file sink has no note of it, and then
    Spark can no longer read the folder that it writes to; with ``output`` the note is written here.

    Args:
        spark: A session of PySpark 4.2 or later, with the RocksDB state store, as `local_session`
            has, and not over Spark Connect.
        checkpoint: The query's ``checkpointLocation``. The query must not be running.
        partitions: How many, at least 1.
        output: The folder that the query writes to, if its sink is one of files (``parquet``,
            ``json``, ``csv``, ``text``, ``orc``). It has to be on a disk of this machine.

    Returns:
        The number of the micro-batch that was written.

    Raises:
        WindowingError: ``partitions`` is no whole number of 1 or more.
        UnsupportedError: The session cannot do it.
        StateError: There is no checkpoint, its last micro-batch has not run to its end, or Spark
            refuses: it has that number of partitions already, for example. ``output`` is no folder
            of Spark's file sink.

    For example::

        query.stop()
        bl.repartition(spark, "/data/checkpoints/orders", 16)
    """
    from beamlike.hosts.spark.repartition import repartition as repartition_state

    written = None if output is None else folder("output", output)
    state, wanted = folder("checkpoint", checkpoint), counted("partitions", partitions)
    return repartition_state(spark, state, wanted, written)

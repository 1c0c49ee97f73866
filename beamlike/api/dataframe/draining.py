"""A query brought to its end."""

from os import PathLike
from typing import TYPE_CHECKING

from beamlike.api.dataframe.arguments import folder

if TYPE_CHECKING:
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

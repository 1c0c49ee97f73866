"""`to_data_frame`: a collection of a pipeline of Beam as a DataFrame of Spark."""

from typing import TYPE_CHECKING

from beamlike.api.arguments import counted
from beamlike.errors import UnsupportedError
from beamlike.extras import needs
from beamlike.model.time import DurationLike, duration_ms
from beamlike.runners.beam.frames import with_retraction
from beamlike.runners.beam.options import main_program_of
from beamlike.runners.beam.sdk import pipeline_proto, transforms_of
from beamlike.runners.beam.translation import Translation
from beamlike.runtime.options import SHARDS, WAKE_EVERY

if TYPE_CHECKING:
    from apache_beam.pvalue import PCollection
    from pyspark.sql import DataFrame, SparkSession


def to_data_frame(
    pcoll: "PCollection",
    schema: str,
    *,
    spark: "SparkSession | None" = None,
    shards: int = SHARDS,
    wake_every: DurationLike = WAKE_EVERY,
) -> "DataFrame":
    """The elements of a collection as rows: a DataFrame like any other, streaming if a source is.

    Everything that the collection stands on is one query of Spark, and the pipeline needs no
    ``run``. Each call makes a query of its own.

    Args:
        pcoll: The collection of the Beam SDK.
        schema: The Spark schema of the rows, as ``"user string, n long"``. An element is a
            ``beam.Row``, a mapping, a named tuple or a tuple of the columns; any other element is
            the only column. A ``Timestamp`` is an instant.
        spark: The session; None: the active one, or one for this machine.
        shards: The groups of Spark that share the keys of a grouping.
        wake_every: How often a query that waits on processing time runs without data.

    Raises:
        PipelineError: It is not a schema, or the pipeline's functions are pickled by dill. In the
            query: an element does not fit the schema.
        UnsupportedError: A source is a splittable function without an end, or some sources are
            streams and others are not.
        WindowingError: ``shards`` is not a whole number of 1 or more.
        TimeError: ``wake_every`` cannot be read.
    """
    needs("to_data_frame", "spark")
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.frames import Frame, frame_of
    from beamlike.hosts.spark.session import local_session
    from beamlike.model.graph import ReadNode

    groups, every_ms = counted("shards", shards), duration_ms(wake_every, "wake_every")
    options = pcoll.pipeline.options
    proto, context = pipeline_proto(pcoll.pipeline, options)
    main = main_program_of(options)
    translation = Translation(proto, transforms_of(pcoll.pipeline), on_spark=True, main=main)
    origins = [node.origin for node in translation.nodes if isinstance(node, ReadNode)]
    reads_stream = any(isinstance(origin, Frame) and origin.rows.isStreaming for origin in origins)
    if translation.streams and not translation.has_script and not reads_stream:
        raise UnsupportedError(
            "to_data_frame: a splittable function without an end runs only in a pipeline with a "
            "checkpoint; write the rows with WriteRows(schema, write) and run() the pipeline"
        )
    name = context.pcollections.get_id(pcoll)
    edge = translation.rows(name, "to_data_frame")
    schema = with_retraction(schema, retracts=translation.retracts(name))
    session = spark or SparkSession.getActiveSession() or local_session()
    return frame_of(session, edge, schema, shards=groups, wake_every_ms=every_ms)

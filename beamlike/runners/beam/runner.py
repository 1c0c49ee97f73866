"""The runner, its options, and a collection of a pipeline as a DataFrame of Spark."""

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from apache_beam.options.pipeline_options import PipelineOptions, SetupOptions

from beamlike.api.arguments import counted
from beamlike.errors import PipelineError, UnsupportedError
from beamlike.extras import needs
from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.model.time import DurationLike, duration_ms
from beamlike.runners.beam.frames import with_retraction
from beamlike.runners.beam.on_spark import EndedResult, SparkSettings, raising_causes, run_on_spark
from beamlike.runners.beam.sdk import (
    PipelineResult,
    PipelineRunner,
    pipeline_proto,
    transforms_of,
    with_packed_combiners,
)
from beamlike.runners.beam.translation import Translation
from beamlike.runners.beam.windows import UNIT
from beamlike.runtime.graph.main_program import MainProgram
from beamlike.runtime.graph.nodes import worker_of
from beamlike.runtime.options import SHARDS, WAKE_EVERY

if TYPE_CHECKING:
    from apache_beam.pvalue import PCollection
    from pyspark.sql import DataFrame, SparkSession


class BeamlikeOptions(PipelineOptions):  # type: ignore[misc]
    """Where and how `BeamlikeRunner` runs a pipeline."""

    @classmethod
    def _add_argparse_args(cls, parser: Any) -> None:
        parser.add_argument(
            "--beamlike_host",
            choices=("local", "memory", "spark"),
            default="local",
            help="local and memory run the pipeline in this process; spark on Spark",
        )
        for name, value_type, says in (
            ("checkpoint", str, "the folder that a stream on Spark restarts from"),
            ("shards", int, "over how many groups Spark spreads the keys of a grouping"),
            (
                "trigger_interval",
                str,
                "how often a stream on Spark starts a micro-batch, such as '1 second'",
            ),
        ):
            parser.add_argument(f"--{name}", type=value_type, help=says)


def main_program_of(options: Any) -> MainProgram:
    """What goes to Spark's workers of the main program besides what functions use: its classes,
    and its functions if ``--save_main_session`` asks for them."""
    setup = options.view_as(SetupOptions)
    library: str = setup.pickle_library
    if library.startswith("dill"):
        raise PipelineError(
            f"--pickle_library={library} leaves the functions of the main program behind, and "
            "Spark's workers have no copy of it; leave it out: Beam's own choice, cloudpickle, "
            "takes them along"
        )
    return MainProgram.of_this_process(with_functions=bool(setup.save_main_session))


def wait_until(instant: int) -> int:
    """Sleep until processing time is past an instant of the graph; what it is then."""
    while (now := UNIT.from_ms(wall_clock_ms())) <= instant:
        time.sleep(UNIT.to_ms(instant + UNIT.per_ms - now) / 1_000)
    return now


class BeamlikeRunner(PipelineRunner):  # type: ignore[misc]
    """Runs pipelines of the Beam SDK on beamlike: in this process, or on Spark.

    Args:
        host: ``"local"``, ``"memory"`` or ``"spark"``; None: what the options say.
        is_drain: Whether sources end where they are.
    """

    def __init__(self, host: str | None = None, *, is_drain: bool = False) -> None:
        self._host, self._is_drain = host, is_drain

    def run_pipeline(self, pipeline: Any, options: Any) -> PipelineResult:
        proto, _ = pipeline_proto(pipeline, options)
        return self._run(proto, transforms_of(pipeline), options)

    def run_portable_pipeline(self, pipeline: Any, options: Any) -> PipelineResult:
        return self._run(pipeline, {}, options)

    def _run(self, pipeline: Any, transforms: Mapping[str, Any], options: Any) -> PipelineResult:
        chosen = options.view_as(BeamlikeOptions)
        host = self._host or chosen.beamlike_host
        packed = with_packed_combiners(pipeline)
        main = main_program_of(options) if host == "spark" else None

        def translated(is_drain: bool) -> Translation:
            if host == "spark":
                return Translation(packed, transforms, is_drain=is_drain, on_spark=True, main=main)
            clock = UNIT.from_ms(wall_clock_ms())
            return Translation(packed, transforms, is_drain=is_drain, clock=clock)

        settings = SparkSettings(chosen.checkpoint, chosen.shards, chosen.trigger_interval)
        if host == "spark":
            return run_on_spark(translated, settings, is_drain=self._is_drain)
        why = f"has no effect on the host {host}; leave it out, or add --beamlike_host=spark"
        settings.refuse(why, "checkpoint", "shards", "trigger_interval")
        workers = local_worker_of if host == "local" else worker_of
        translation = translated(self._is_drain)
        with raising_causes():
            run = run_pipeline(
                translation.nodes, workers, kept=frozenset(), records=False, wait=wait_until
            )
        return EndedResult([run.metrics])


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

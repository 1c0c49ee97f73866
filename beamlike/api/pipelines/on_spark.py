"""Pipelines on Spark: which query they become, and what it reports while it runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.api.arguments import counted
from beamlike.api.pipelines.keeping import EdgesToKeep
from beamlike.api.pipelines.result import PipelineResult, PipelineState, with_own_types
from beamlike.errors import PipelineError, TransformError, UnsupportedError
from beamlike.extras import needs
from beamlike.hosts.failed_starts import advising
from beamlike.model.graph import Edge, Node, ReadNode
from beamlike.model.time import DurationLike, duration_ms
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.runtime.options import WAKE_EVERY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.running import PipelineQuery, RunReport, Sink


@attrs.frozen
class SparkOptions:
    """How a pipeline runs on Spark.

    The checkpoint, the trigger and ``wake_every`` are for pipelines over streams of DataFrames.

    Args:
        checkpoint: The folder that a query over streams continues from when it is started again,
            with the same transforms that keep state, in the same places.
        trigger: When its micro-batches start, as Spark's ``trigger`` takes it; by default as
            soon as there is data.
        wake_every: How often a query that waits on processing time runs without data.
    """

    spark: "SparkSession | None" = None
    checkpoint: str | None = None
    trigger: Mapping[str, Any] | None = None
    shards: int | None = None
    wake_every: DurationLike | None = None

    @property
    def groups(self) -> int | None:
        """How many groups of Spark share the keys of a grouping; None: as many as is usual."""
        return None if self.shards is None else counted("shards", self.shards)

    @property
    def wake_every_ms(self) -> int:
        """How often a query that waits is woken without data, ms."""
        every = WAKE_EVERY if self.wake_every is None else self.wake_every
        return duration_ms(every, "wake_every")


class RunningResult(PipelineResult):
    """A pipeline over streams, which runs until it is stopped.

    ``outputs`` has what was dropped so far, the newest 10,000 elements of it, and ``lost_counts``
    how many were dropped in all; the others went where the pipeline writes them. ``query`` is
    Spark's own.
    """

    def __init__(self, running: "PipelineQuery") -> None:
        super().__init__(PipelineRun({}, ()))
        self._running, self.query = running, running.query

    @property
    def state(self) -> str:
        """How far the pipeline is."""
        return self._running.state

    def wait_until_finish(self, duration: DurationLike | None = None) -> str:
        """Wait for the end, or for so long; the state then.

        Raises:
            TransformError: A function of the user's raised, as `Pipeline.run`.
            StreamingQueryException: The query failed for another reason.
            TimeError: The duration cannot be read.
        """
        # Parts of seconds too, whatever its type hint says; but no 0.
        seconds: Any = None
        if duration is not None:
            seconds = max(1, duration_ms(duration, "duration")) / 1000
        from beamlike.hosts.spark.worker_errors import AFTER_A_TRANSFORM_FAILED, as_raised

        try:
            with with_own_types(), as_raised(), advising():
                self.query.awaitTermination(seconds)
        except TransformError as error:
            error.add_note(AFTER_A_TRANSFORM_FAILED)
            raise
        return self.state

    def cancel(self) -> str:
        """End the query. Its checkpoint stays as it is; another run continues from it."""
        self._running.stop(PipelineState.CANCELLED)
        return self.state

    def drain(self) -> str:
        """Let every window come to its end with what has arrived, and end the query.

        What arrives after that is late, also when the pipeline is run again.

        Source: Dataflow's drain.
        """
        if self.query.isActive:
            self._running.end = PipelineState.DRAINED
            self._running.drain()
        return self.state

    @property
    def outputs(self) -> PipelineRun:
        """What was dropped and counted since it was started."""
        return _without_outputs(self._running.report, self._running.layers.nodes)


_WRITTEN: Final = (
    "a pipeline that reads DataFrames, or writes on Spark, keeps nothing in the driver; read what "
    'it wrote, or run it over created elements with host="local"'
)


def _without_outputs(report: "RunReport", nodes: Sequence[Node]) -> PipelineRun:
    return report.run(nodes, frozenset(), _WRITTEN)


def _refuse_what_only_streams_take(options: SparkOptions) -> None:
    for name in ("checkpoint", "trigger", "wake_every"):
        value = getattr(options, name)
        if value is not None:
            raise PipelineError(
                f"{name}={value!r} counts only where a stream of Spark is read, and this pipeline "
                "comes to its end by itself; leave it out"
            )


def run_on_spark(
    nodes: Sequence[Node],
    outputs: Sequence[Edge],
    sinks: "Sequence[Sink]",
    options: SparkOptions,
    *,
    writes: bool = False,
    kept: EdgesToKeep | None = None,
) -> PipelineResult:
    """Run a pipeline on Spark.

    One that reads scripts only and writes nothing is played step by step, and its outputs are
    kept: in a batch job if the scripts end by themselves, else in a streaming query. Any other
    is one query, over data that ends or over streams.

    Args:
        nodes: All of it.
        outputs: The edges of which there is a collection.
        sinks: Where elements go as rows.
        options: How it runs.
        writes: Whether functions of it write, to files.
        kept: The outputs that the result keeps, nothing if it writes; None: all, also where it
            writes: it is a test's.
    """
    needs("the Spark host", "spark")
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.frames import is_stream
    from beamlike.hosts.spark.graph.running import SparkGraph
    from beamlike.hosts.spark.session import local_session

    sources = [node for node in nodes if isinstance(node, ReadNode)]
    if all(node.bounded or isinstance(node.origin, tuple) for node in sources):
        _refuse_what_only_streams_take(options)
    spark = (
        options.spark or SparkSession.getActiveSession() or local_session(short_lived=kept is None)
    )
    graph = SparkGraph(spark, nodes, sinks, options.groups)
    scripts = [node for node in sources if isinstance(node.origin, tuple)]
    wanted = sorted(edge.node.label for edge in kept.wanted) if kept is not None else []
    is_over = writes and kept is not None and not wanted and all(node.bounded for node in scripts)
    if len(scripts) == len(sources) and not sinks and not is_over:
        return PipelineResult(graph.play(outputs, kept))
    if wanted:
        raise PipelineError(f"keep cannot keep what comes out of {wanted[0]!r}: {_WRITTEN}")
    streams = [node.label for node in scripts if not node.bounded]
    if streams:
        raise UnsupportedError(
            f"{streams[0]!r} is a script of a stream, which only a pipeline of scripts can play; "
            "read DataFrames in its place, or leave out what reads and writes them"
        )
    if not is_stream(graph.layers):
        return PipelineResult(_without_outputs(graph.run_bounded(), graph.layers.nodes))
    if not sinks and not writes:
        raise PipelineError(
            "the pipeline reads a stream and writes nothing; apply WriteRows(schema, write) to "
            "what is to be kept"
        )
    if options.checkpoint is None:
        raise PipelineError(
            "a pipeline over a stream needs a folder to go on from: write "
            'run(host="spark", checkpoint="/path/of/its/own")'
        )
    trigger = options.trigger or {"processingTime": "0 seconds"}
    return RunningResult(graph.start(options.checkpoint, trigger, options.wake_every_ms))

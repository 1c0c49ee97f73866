"""A pipeline on Spark: a batch job for data that ends, a query for streams, scripts by steps."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import attrs

from beamlike.errors import PipelineError, TransformError, UnsupportedError
from beamlike.extras import needs
from beamlike.hosts.failed_starts import advising
from beamlike.model.graph import Node, ReadNode
from beamlike.model.time import duration_ms
from beamlike.runners.beam.metrics import BeamMetricResults
from beamlike.runners.beam.sdk import PipelineResult, PipelineState
from beamlike.runners.beam.translation import Translation
from beamlike.runtime.graph.metrics import MetricsRecorder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.running import PipelineQuery


@contextmanager
def raising_causes() -> Iterator[None]:
    """Raise what a user's function raised itself: Beam has said in which transform."""
    try:
        yield
    except TransformError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from error.__cause__.__cause__


_OF_STREAMS: Final = ("checkpoint", "trigger_interval")
_ENDS: Final = "is for a stream, and this pipeline {}; leave it out"
_LOOKS_EVERY: Final = 0.2
"""How often it is looked whether a stream has come to its end (s)."""
WAKE_EVERY_MS: Final = 1_000
"""How often a query that waits on processing time gets a micro-batch without data."""


@attrs.frozen
class SparkSettings:
    """How a pipeline runs on Spark.

    Args:
        checkpoint: The folder that a stream restarts from; None: one that goes with the process.
        shards: The groups that share the keys of a grouping.
        trigger_interval: How often a micro-batch starts, as Spark writes it; None: when there is
            data.
    """

    checkpoint: str | None
    shards: int | None
    trigger_interval: str | None

    @property
    def groups(self) -> int | None:
        """The groups that share the keys of a grouping; None: as many as is usual."""
        if self.shards is not None and self.shards < 1:
            raise PipelineError(f"--shards={self.shards} is not a number of groups; give 1 or more")
        return self.shards

    @property
    def trigger(self) -> Mapping[str, Any]:
        """When micro-batches start, as Spark's ``trigger`` takes it."""
        interval = self.trigger_interval or "0 seconds"
        duration_ms(interval, "--trigger_interval")
        return {"processingTime": interval}

    def refuse(self, why: str, *names: str) -> None:
        """Refuse options that have no effect."""
        for name in names:
            value = getattr(self, name)
            if value is not None:
                raise PipelineError(f"--{name}={value} {why}")


def run_on_spark(
    translated: Callable[[bool], Translation], settings: SparkSettings, *, is_drain: bool
) -> PipelineResult:
    """Run a pipeline.

    Args:
        translated: Makes its nodes; the argument says whether its sources end where they are.
        settings: How it runs.
        is_drain: Whether they do from the beginning.
    """
    needs("the host spark", "spark")
    from pyspark.sql import SparkSession

    from beamlike.hosts.spark.graph.running import SparkGraph
    from beamlike.hosts.spark.session import local_session

    translation = translated(is_drain)
    spark = SparkSession.getActiveSession() or local_session()
    if translation.has_script:
        settings.refuse(_ENDS.format("plays a TestStream"), *_OF_STREAMS)
        return EndedResult([_play(spark, translation.nodes, settings)])
    if not translation.streams:
        settings.refuse(_ENDS.format("ends by itself"), *_OF_STREAMS)
        graph = SparkGraph(spark, translation.nodes, translation.sinks, settings.groups)
        with raising_causes():
            return EndedResult([graph.run_bounded().metrics])
    return StreamResult(spark, translated, settings, is_drain=is_drain)


def _play(spark: "SparkSession", nodes: list[Node], settings: SparkSettings) -> MetricsRecorder:
    frames = [
        node.label
        for node in nodes
        if isinstance(node, ReadNode) and not isinstance(node.origin, tuple)
    ]
    if frames:
        raise UnsupportedError(
            f"{frames[0]!r} reads a DataFrame, and a TestStream is beside it, which only a "
            "pipeline without DataFrames can play; leave out one of them"
        )
    from beamlike.hosts.spark.graph.running import SparkGraph

    with raising_causes():
        return SparkGraph(spark, nodes, (), settings.groups).play(kept=frozenset()).metrics


class EndedResult(PipelineResult):  # type: ignore[misc]
    """A run that is over when it is returned."""

    def __init__(self, recorders: list[MetricsRecorder]) -> None:
        super().__init__(PipelineState.DONE)
        self._recorders = recorders

    def wait_until_finish(self, duration: int | None = None) -> str:
        """Nothing is left to wait for, to cancel or to drain."""
        return str(self._state)

    cancel = drain = wait_until_finish

    def metrics(self) -> BeamMetricResults:
        """What functions counted."""
        return BeamMetricResults(self._recorders)


class StreamResult(PipelineResult):  # type: ignore[misc]
    """A stream, which runs until its sources end or it is stopped.

    ``query`` is Spark's own.
    """

    def __init__(
        self,
        spark: "SparkSession",
        translated: Callable[[bool], Translation],
        settings: SparkSettings,
        *,
        is_drain: bool,
    ) -> None:
        from beamlike.hosts.spark.scratch import scratch_folder

        super().__init__(PipelineState.RUNNING)
        self._spark, self._translated, self._settings = spark, translated, settings
        self._recorders: list[MetricsRecorder] = []
        self._checkpoint = settings.checkpoint or str(scratch_folder("beam"))
        self._running = self._start(is_drain=is_drain)

    def _start(self, *, is_drain: bool) -> "PipelineQuery":
        from beamlike.hosts.spark.graph.running import SparkGraph

        translation, shards = self._translated(is_drain), self._settings.groups
        graph = SparkGraph(self._spark, translation.nodes, translation.sinks, shards)
        running = graph.start(self._checkpoint, self._settings.trigger, WAKE_EVERY_MS)
        self._recorders.append(running.report.metrics)
        return running

    @property
    def query(self) -> Any:
        """The query."""
        return self._running.query

    @property
    def state(self) -> str:
        """How far the pipeline is."""
        if self._running.has_ended:
            self._running.stop(PipelineState.DONE)
        return self._running.state

    def wait_until_finish(self, duration: int | None = None) -> str:
        """Wait until the pipeline has ended, or for so long (ms); the state then.

        Raises:
            Exception: What a user's function raised, or why the query failed.
        """
        from beamlike.hosts.spark.worker_errors import as_raised

        until = None if duration is None else time.monotonic() + duration / 1_000
        while self.state == PipelineState.RUNNING:
            if until is not None and time.monotonic() >= until:
                return str(PipelineState.RUNNING)
            with raising_causes(), as_raised(), advising():
                self.query.awaitTermination(_LOOKS_EVERY)
        with raising_causes(), as_raised(), advising():
            self.query.awaitTermination(_LOOKS_EVERY)
        return self.state

    def cancel(self) -> str:
        """End the query. Another run continues from its checkpoint."""
        self._running.stop(PipelineState.CANCELLED)
        return self.state

    def drain(self) -> str:
        """Let sources end where they are and every window come to its end, and end the query."""
        if self.state != PipelineState.RUNNING:
            return self.state
        self._running.take_all()
        self.query.stop()
        self._running = self._start(is_drain=True)
        self._running.end_sources()
        self.wait_until_finish()
        self._running.end = PipelineState.DRAINED
        return self.state

    def metrics(self) -> BeamMetricResults:
        """What functions counted so far."""
        return BeamMetricResults(self._recorders)

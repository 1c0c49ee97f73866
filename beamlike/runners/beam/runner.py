"""The runner, and what a run leaves behind."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from beamlike.errors import TransformError
from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.runners.beam.metrics import Results
from beamlike.runners.beam.options import BeamlikeOptions
from beamlike.runners.beam.sdk import (
    PipelineResult,
    PipelineRunner,
    PipelineState,
    PipelineVisitor,
    pipeline_proto,
    with_packed_combiners,
)
from beamlike.runners.beam.translation import Translation
from beamlike.runtime.graph.nodes import worker_of


def wait_until(instant: int) -> int:
    """Sleep until processing time is past an instant (ms); what it is then."""
    while (now := wall_clock_ms()) <= instant:
        time.sleep((instant + 1 - now) / 1_000)
    return now


@contextmanager
def raising_causes() -> Iterator[None]:
    """Raise what a user's function raised itself: Beam has said in which transform."""
    try:
        yield
    except TransformError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from error.__cause__.__cause__


class _ByLabel(PipelineVisitor):  # type: ignore[misc]
    """The transforms of a pipeline by their full labels."""

    def __init__(self) -> None:
        self.transforms: dict[str, Any] = {}

    def visit_transform(self, transform_node: Any) -> None:
        self.transforms[transform_node.full_label] = transform_node.transform

    def enter_composite_transform(self, transform_node: Any) -> None:
        self.visit_transform(transform_node)


class BeamlikeRunner(PipelineRunner):  # type: ignore[misc]
    """Runs pipelines of the Beam SDK on beamlike: in this process, or on Spark.

    Args:
        host: ``"local"``, ``"memory"`` or ``"spark"``; None: what the options say.
        is_drain: Whether sources end where they are.
    """

    def __init__(self, host: str | None = None, *, is_drain: bool = False) -> None:
        self._host, self._is_drain = host, is_drain

    def run_pipeline(self, pipeline: Any, options: Any) -> "BeamlikeResult":
        visitor = _ByLabel()
        pipeline.visit(visitor)
        return self._run(pipeline_proto(pipeline, options), visitor.transforms, options)

    def run_portable_pipeline(self, pipeline: Any, options: Any) -> "BeamlikeResult":
        return self._run(pipeline, {}, options)

    def _run(self, pipeline: Any, transforms: dict[str, Any], options: Any) -> "BeamlikeResult":
        chosen = options.view_as(BeamlikeOptions)
        host = self._host or chosen.beamlike_host
        translation = Translation(
            with_packed_combiners(pipeline), transforms, is_drain=self._is_drain
        )
        workers = local_worker_of if host == "local" else worker_of
        with raising_causes():
            run = run_pipeline(
                translation.nodes, workers, kept=frozenset(), records=False, wait=wait_until
            )
        return BeamlikeResult(run)


class BeamlikeResult(PipelineResult):  # type: ignore[misc]
    """A run of a pipeline in this process: it is over."""

    def __init__(self, run: Any) -> None:
        super().__init__(PipelineState.DONE)
        self._run = run

    def wait_until_finish(self, duration: int | None = None) -> str:
        return str(self._state)

    def cancel(self) -> str:
        return str(self._state)

    def metrics(self) -> Results:
        return Results([self._run.metrics])

"""The runner, and what a run leaves behind."""

import time
from collections.abc import Mapping
from typing import Any

from beamlike.hosts.clock import wall_clock_ms
from beamlike.hosts.in_process import run_pipeline
from beamlike.hosts.local.nodes import local_worker_of
from beamlike.runners.beam.errors import raising_causes
from beamlike.runners.beam.on_spark import EndedResult, SparkSettings, run_on_spark
from beamlike.runners.beam.options import BeamlikeOptions, main_program_of
from beamlike.runners.beam.sdk import (
    PipelineResult,
    PipelineRunner,
    pipeline_proto,
    transforms_of,
    with_packed_combiners,
)
from beamlike.runners.beam.times import UNIT
from beamlike.runners.beam.translation import Translation
from beamlike.runtime.graph.nodes import worker_of


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

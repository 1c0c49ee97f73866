"""Runners in Beam's words: each is a name for a host.

Source: Beam Python ``runners``.
"""

from typing import Any, ClassVar

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.beams_own import OfBeamsSDK
from beamlike.api.pipelines.options import Host

__all__ = [
    "BundleBasedDirectRunner",
    "DirectRunner",
    "FnApiRunner",
    "InteractiveRunner",
    "PipelineRunner",
    "PrismRunner",
    "SparkRunner",
    "SwitchingDirectRunner",
]


class PipelineRunner:
    """What runs pipelines: ``Pipeline(runner=DirectRunner())``."""

    host: ClassVar[Host] = "local"

    run: ClassVar[Any] = OfBeamsSDK("PipelineRunner.run")
    run_pipeline: ClassVar[Any] = OfBeamsSDK("PipelineRunner.run_pipeline")

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Settings of Beam's runner have no effect, and are warned of."""
        for name, value in {**({"arguments": arguments} if arguments else {}), **settings}.items():
            why = "a runner only says where a pipeline runs"
            warn_of_hint(type(self).__name__, name, value, why)


class DirectRunner(PipelineRunner):
    """This process."""


SwitchingDirectRunner = BundleBasedDirectRunner = FnApiRunner = DirectRunner
PrismRunner = InteractiveRunner = DirectRunner


class SparkRunner(PipelineRunner):
    """Spark."""

    host = "spark"

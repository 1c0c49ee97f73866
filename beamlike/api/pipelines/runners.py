"""Runners in Beam's words: each is a name for a host.

Source: Beam Python ``runners``.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from beamlike.api.arguments import warn_of_hint
from beamlike.api.pipelines.options import Host, PipelineOptions, host_of
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.transform import PTransform
from beamlike.errors import PipelineError

__all__ = [
    "BundleBasedDirectRunner",
    "DirectRunner",
    "FnApiRunner",
    "InteractiveRunner",
    "PipelineRunner",
    "PrismRunner",
    "SparkRunner",
    "SwitchingDirectRunner",
    "create_runner",
]


class Runnable(Protocol):
    """A pipeline, to what runs it."""

    def __or__(self, transform: Any, /) -> Any: ...

    def run(self, host: Host | None = None, /) -> PipelineResult: ...


class PipelineRunner:
    """What runs pipelines: ``Pipeline(runner=DirectRunner())``. Source: Beam ``PipelineRunner``."""

    host: ClassVar[Host] = "local"

    new_pipeline: ClassVar[Callable[["PipelineRunner", PipelineOptions | None], Runnable]]
    """Makes a pipeline for a runner. `Pipeline` sets it: pipelines name their runners."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        """Settings of Beam's runner have no effect, and are warned of."""
        for name, value in {**({"arguments": arguments} if arguments else {}), **settings}.items():
            why = "a runner only says where a pipeline runs"
            warn_of_hint(type(self).__name__, name, value, why)

    def run(
        self, transform: PTransform[Any, Any], options: PipelineOptions | None = None
    ) -> PipelineResult:
        """Run a transform that starts from nothing, as a pipeline of its own."""
        pipeline = PipelineRunner.new_pipeline(self, options)
        _ = pipeline | transform
        return pipeline.run()

    def run_pipeline(
        self, pipeline: Runnable, options: PipelineOptions | None = None
    ) -> PipelineResult:
        """Run a pipeline here, whatever runner it was made for."""
        return pipeline.run(self.host)


class DirectRunner(PipelineRunner):
    """This process."""


class SwitchingDirectRunner(DirectRunner):
    """This process."""


class BundleBasedDirectRunner(DirectRunner):
    """This process."""


class FnApiRunner(DirectRunner):
    """This process."""


class PrismRunner(DirectRunner):
    """This process."""


class InteractiveRunner(DirectRunner):
    """This process."""


class SparkRunner(PipelineRunner):
    """Spark."""

    host = "spark"


def create_runner(runner_name: str) -> PipelineRunner:
    """The runner of this name.

    Raises:
        PipelineError: There is none here.

    Source: Beam ``create_runner``.
    """
    host = host_of(runner_name)
    if host is None:
        raise PipelineError('create_runner needs the name of a runner, such as "DirectRunner"')
    return SparkRunner() if host == "spark" else DirectRunner()

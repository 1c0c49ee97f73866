"""Cases: functions that build a part of a pipeline and say what comes out of it.

Each runs alone in memory and on the local host; all of them run side by side in one query of Spark.
"""

from collections.abc import Callable
from typing import Any

from beamlike.beam import PTransform
from beamlike.beam.testing.test_pipeline import TestPipeline

__all__ = ["Case", "Cases"]


class Cases:
    """The cases of a suite, by name. It decorates the functions that build them."""

    def __init__(self) -> None:
        self.builds: dict[str, Callable[[Any], None]] = {}

    def __call__(self, build: Callable[[Any], None]) -> Callable[[Any], None]:
        self.builds[build.__name__] = build
        return build

    def run(self, name: str, host: Any) -> None:
        """Run one of them, and check what it says."""
        with TestPipeline(host=host) as pipeline:
            pipeline | name >> Case(self.builds[name])

    def run_side_by_side(self, spark: Any, apart: str = "") -> None:
        """Run all of them in one query of Spark, and check what they say.

        Streams of one query share its clock. ``apart`` names a case that needs one of its own.
        """
        with TestPipeline(host="spark", spark=spark) as pipeline:
            for name, build in self.builds.items():
                if name != apart:
                    pipeline | name >> Case(build)
        if apart:
            with TestPipeline(host="spark", spark=spark) as pipeline:
                pipeline | apart >> Case(self.builds[apart])


class Case(PTransform[Any, Any]):
    """A part of a pipeline."""

    def __init__(self, build: Callable[[Any], None]) -> None:
        super().__init__()
        self.build = build

    def expand(self, given: Any) -> Any:
        self.build(given)
        return given

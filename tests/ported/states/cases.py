"""Cases: functions that build a part of a pipeline and say what comes out of it.

Each runs alone in memory and on the local host; all of them run side by side in one query of Spark.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from beamlike.beam import PTransform
from beamlike.beam.testing.test_pipeline import TestPipeline


class Cases:
    """The cases of a suite, by name. It decorates the functions that build them."""

    def __init__(self) -> None:
        self.builds: dict[str, Callable[[Any], None]] = {}

    def __call__(self, build: Callable[[Any], None]) -> Callable[[Any], None]:
        self.builds[build.__name__] = build
        return build

    def tests(self, apart: str = "") -> tuple[Callable[..., None], Callable[..., None]]:
        """A test of each of them in memory and on the local host, and one of all on Spark.

        Streams of one query share its clock. ``apart`` names a case that needs one of its own.
        """

        @pytest.mark.parametrize("host", ["memory", "local"])
        @pytest.mark.parametrize("name", self.builds)
        def test_ported(name: str, host: Any) -> None:
            self._run([name], host=host)

        @pytest.mark.spark
        @pytest.mark.nightly
        def test_all_of_them_on_spark(spark: Any) -> None:
            self._run([name for name in self.builds if name != apart], host="spark", spark=spark)
            if apart:
                self._run([apart], host="spark", spark=spark)

        return test_ported, test_all_of_them_on_spark

    def _run(self, names: Sequence[str], **host: Any) -> None:
        """Run these side by side, and check what they say."""
        with TestPipeline(**host) as pipeline:
            for name in names:
                pipeline | name >> Case(self.builds[name])


class Case(PTransform[Any, Any]):
    """A part of a pipeline."""

    def __init__(self, build: Callable[[Any], None]) -> None:
        super().__init__()
        self.build = build

    def expand(self, given: Any) -> Any:
        self.build(given)
        return given

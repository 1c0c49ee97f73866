"""Beam's own conformance of runners, ``FnApiRunnerTest``, on our runner. pytest collects this file
where it is named."""

from typing import Any

import apache_beam as beam
from apache_beam.runners.portability.fn_api_runner import fn_runner_test

from beamlike.runners.beam import BeamlikeRunner
from tests.beam_runner.plugin import HOST


class BeamlikeRunnerTest(fn_runner_test.FnApiRunnerTest):  # type: ignore[misc]
    """All tests of Beam's class."""

    def create_pipeline(self, is_drain: bool = False) -> Any:
        return beam.Pipeline(runner=BeamlikeRunner(HOST, is_drain=is_drain))


del fn_runner_test

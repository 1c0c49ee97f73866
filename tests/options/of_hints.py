"""Hints of Beam's and Scio's programs that have no effect here: a warning names each."""

from functools import partial
from typing import Any, Final

import beamlike.beam as beam
from beamlike.testing import TestPipeline
from tests.options.playing import Differs, beamed


def created(**option: Any) -> Any:
    return beamed(lambda numbers: numbers.pipeline | "Again" >> beam.Create([1], **option))


def reshuffled(**option: Any) -> Any:
    return beamed(lambda numbers: numbers | beam.Reshuffle(**option))


RUNS: Final[dict[str, Differs]] = {
    "beam.Create.reshuffle": Differs(created, partial(created, reshuffle=False)),
    "beam.Reshuffle.num_buckets": Differs(reshuffled, partial(reshuffled, num_buckets=4)),
    "testing.TestPipeline.blocking": Differs(
        lambda: TestPipeline().run().state, lambda: TestPipeline(blocking=False).run().state
    ),
    "testing.TestPipeline.timeout": Differs(
        lambda: TestPipeline().run().state, lambda: TestPipeline(timeout=1000).run().state
    ),
}

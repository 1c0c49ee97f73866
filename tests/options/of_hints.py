"""Hints of Beam's and Scio's programs that have no effect here: a warning names each."""

from functools import partial
from typing import Any, Final

import beamlike.beam as beam
from tests.options.playing import Differs, beamed


def created(**option: Any) -> Any:
    return beamed(lambda numbers: numbers.pipeline | "Again" >> beam.Create([1], **option))


def reshuffled(**option: Any) -> Any:
    return beamed(lambda numbers: numbers | beam.Reshuffle(**option))


RUNS: Final[dict[str, Differs]] = {
    "beam.Create.reshuffle": Differs(created, partial(created, reshuffle=False)),
    "beam.Reshuffle.num_buckets": Differs(reshuffled, partial(reshuffled, num_buckets=4)),
}

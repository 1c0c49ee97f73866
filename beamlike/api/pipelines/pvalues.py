"""What transforms are given and what they make, by the classes that programs of Beam name.

Source: Beam Python ``pvalue``.
"""

from abc import ABCMeta
from typing import Any

from beamlike.api.pipelines.pipeline import PCollection, Pipeline

__all__ = ["PBegin", "PDone", "PValue"]


class PValue(metaclass=ABCMeta):  # noqa: B024 - others are registered below it
    """A collection, the start of a pipeline, or the end of a branch."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline


class PBegin(PValue):
    """What starts a pipeline: the `Pipeline` itself is one.

    class Numbers(beam.PTransform):
        def expand(self, pbegin):
            assert isinstance(pbegin, beam.pvalue.PBegin)
            return pbegin | beam.Create([1, 2])
    """

    def __new__(cls, pipeline: Pipeline) -> Any:
        return pipeline


class PDone(PValue):
    """What a transform makes that has no output, such as one that writes. Nothing reads it."""


PBegin.register(Pipeline)
PValue.register(PCollection)

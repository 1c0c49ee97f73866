"""Mistakes raise what Beam Python raises, so that ``except`` and ``assertRaises`` find it."""

from collections.abc import Callable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.beam.transforms import window
from beamlike.errors import BeamlikeError


def built(build: Callable[[beam.Pipeline], Any]) -> Callable[[], None]:
    def run() -> None:
        with beam.Pipeline() as p:
            build(p)

    return run


def ones(p: beam.Pipeline) -> beam.PCollection[int]:
    return p | beam.Create([1])


MISTAKES: dict[str, tuple[type[Exception], Callable[[], Any]]] = {
    "Create of no list": (TypeError, lambda: beam.Create(5)),
    "Create of a text": (TypeError, lambda: beam.Create("abc")),
    "Map of no function": (TypeError, lambda: beam.Map(5)),
    "FlatMap of no function": (TypeError, lambda: beam.FlatMap("x")),
    "MapTuple of no function": (TypeError, lambda: beam.MapTuple(5)),
    "Filter of no function": (TypeError, lambda: beam.Filter(None)),
    "ParDo of no DoFn": (TypeError, lambda: beam.ParDo(5)),
    "CombinePerKey of no function": (TypeError, lambda: beam.CombinePerKey(5)),
    "what is no transform": (TypeError, built(lambda p: ones(p) | 5)),
    "a class of transforms": (TypeError, built(lambda p: ones(p) | beam.Map)),
    "a collection as a list": (TypeError, built(lambda p: list(ones(p)))),
    "Flatten of a pipeline": (ValueError, built(lambda p: p | beam.Flatten())),
    "a text as an instant": (TypeError, lambda: window.TimestampedValue(1, "x")),
    "a text as a bound": (TypeError, lambda: window.IntervalWindow("a", 2)),
    "no expand": (NotImplementedError, built(lambda p: p | beam.PTransform())),
    "no process": (NotImplementedError, built(lambda p: ones(p) | beam.ParDo(beam.DoFn()))),
    "no such file": (OSError, built(lambda p: p | beam.io.ReadFromText("no/such/file"))),
    "the same name twice": (RuntimeError, built(lambda p: (ones(p), ones(p)))),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_raises_what_beam_raises(mistake: str) -> None:
    kind, make = MISTAKES[mistake]
    with pytest.raises(kind) as raised:
        make()
    assert isinstance(raised.value, BeamlikeError)

"""Transforms that let elements pass, and those of texts."""

import beamlike.beam as beam
from tests.support.pipelines.results_of_runs import values


def test_an_impulse_is_one_element():
    assert values(beam.Pipeline() | beam.Impulse()) == [b""]

"""Beam's ``apache_beam.testing``: what is here of it."""

from beamlike.beam.testing import test_pipeline as test_pipeline
from beamlike.beam.testing import test_stream as test_stream
from beamlike.beam.testing import util as util

"""Beam's ``apache_beam.testing.test_utils``: what is here of it."""

from beamlike.testing.pipelines.beam import TempDir as TempDir

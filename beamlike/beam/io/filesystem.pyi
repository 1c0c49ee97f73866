"""Beam's ``apache_beam.io.filesystem``: what is here of it."""

from beamlike.api.pipelines.io.files import BeamIOError as BeamIOError
from beamlike.api.pipelines.io.files import CompressionTypes as CompressionTypes

"""Beam's ``apache_beam.io.filesystem``: what is here of it."""

from beamlike.api.pipelines.text_files import BeamIOError as BeamIOError
from beamlike.api.pipelines.text_files import CompressionTypes as CompressionTypes

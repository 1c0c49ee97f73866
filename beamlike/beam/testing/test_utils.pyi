"""Beam's ``apache_beam.testing.test_utils``: what is here of it."""

from beamlike.api.pipelines.io.filesystems import FileSystems as FileSystems
from beamlike.beam.utils import retry as retry
from beamlike.testing.pipelines.beam import TempDir as TempDir

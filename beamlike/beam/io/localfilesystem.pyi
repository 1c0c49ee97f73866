"""Beam's ``apache_beam.io.localfilesystem``: what is here of it."""

from beamlike.api.pipelines.io.compression import CompressionTypes as CompressionTypes
from beamlike.api.pipelines.io.errors import BeamIOError as BeamIOError
from beamlike.api.pipelines.io.file_systems import FileMetadata as FileMetadata
from beamlike.api.pipelines.io.file_systems import FileSystem as FileSystem
from beamlike.api.pipelines.io.file_systems import LocalFileSystem as LocalFileSystem
